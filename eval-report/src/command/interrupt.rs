//! Ctrl-C while cases run.
//!
//! A thread of its own waits for it, so that the program ends at the second one also where an agent blocks the runtime.

use std::future::poll_fn;
use std::pin::pin;
use std::process::exit;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use eval_support::message::show;

/// The exit code of a program that Ctrl-C ends.
const ENDED_BY_CTRL_C: i32 = 130;

/// Ends when Ctrl-C is pressed. Never, if that cannot be noticed: Ctrl-C then ends the program.
pub async fn pressed() {
    let listener = Listener::start();
    poll_fn(|context| {
        let mut state = listener.0.state();
        state.waits = Some(context.waker().clone());
        if state.is_pressed { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Waits for Ctrl-C on a thread until it is dropped. After a first one the thread waits on for a second.
struct Listener(Arc<Shared>);

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    is_pressed: bool,
    is_over: bool,
    /// Who waits for the first Ctrl-C.
    waits: Option<Waker>,
    /// The thread.
    listens: Option<Waker>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let its = shared.clone();
        let (listens, listening) = channel();
        let thread = std::thread::Builder::new().name("evalset-ctrl-c".to_owned());
        // Without the thread Ctrl-C does what it does by default.
        let _ = thread.spawn(move || listen(&its, listens));
        // An agent may block the runtime at once. Ctrl-C is noticed before that.
        let _ = listening.recv();
        Self(shared)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_over = true;
        let listens = state.listens.take();
        drop(state);
        listens.into_iter().for_each(Waker::wake);
    }
}

/// Tells `listens` once Ctrl-C is noticed, or drops it if it cannot be.
fn listen(shared: &Shared, listens: Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut listens = Some(listens);
    runtime.block_on(async {
        while next(shared, &mut listens).await {
            let mut state = shared.state();
            if state.is_pressed {
                exit(ENDED_BY_CTRL_C);
            }
            state.is_pressed = true;
            let waits = state.waits.take();
            drop(state);
            show("interrupted: the report follows; Ctrl-C again ends the program at once");
            waits.into_iter().for_each(Waker::wake);
        }
    });
}

/// Waits for the next Ctrl-C; `false` if it is over before the first one, or if it cannot be noticed.
async fn next(shared: &Shared, listens: &mut Option<Sender<()>>) -> bool {
    let mut pressed = pin!(tokio::signal::ctrl_c());
    poll_fn(|context| {
        let mut state = shared.state();
        if state.is_over && !state.is_pressed {
            return Poll::Ready(false);
        }
        state.listens = Some(context.waker().clone());
        drop(state);
        let noticed = pressed.as_mut().poll(context).map(|noticed| noticed.is_ok());
        if let Some(listens) = listens.take() {
            // Who started the thread waits for this.
            let _ = listens.send(());
        }
        noticed
    })
    .await
}
