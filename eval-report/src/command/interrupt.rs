//! Ctrl-C while cases run.
//!
//! A thread of its own waits for it, so that the program ends at the second one also where an agent blocks the runtime.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::process::exit;
use std::sync::mpsc;
use std::task::Poll;

use eval_support::message::show;
use tokio::signal::ctrl_c;
use tokio::sync::oneshot;

/// The exit code of a program that Ctrl-C ends.
const ENDED_BY_CTRL_C: i32 = 130;

/// Ends when Ctrl-C is pressed. Never, if that cannot be noticed: Ctrl-C then ends the program.
///
/// The thread ends with this future, unless Ctrl-C was pressed: then it waits on for a second one.
pub async fn pressed() {
    let (listens, listening) = mpsc::channel();
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new().name("evalset-ctrl-c".to_owned());
    // Without the thread Ctrl-C does what it does by default.
    let _ = thread.spawn(move || listen(&listens, tell));
    // An agent may block the runtime at once. Ctrl-C is noticed before that.
    let _ = listening.recv();
    if told.await.is_err() {
        pending::<()>().await;
    }
}

/// Tells `listens` once Ctrl-C is noticed, or drops it if it cannot be. Tells the first Ctrl-C, and ends the program at the second.
fn listen(listens: &mpsc::Sender<()>, mut tell: oneshot::Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let mut pressed = pin!(ctrl_c());
        let first = poll_fn(|context| {
            if tell.poll_closed(context).is_ready() {
                return Poll::Ready(false);
            }
            let noticed = pressed.as_mut().poll(context).map(|noticed| noticed.is_ok());
            // Whoever started the thread waits for this once.
            let _ = listens.send(());
            noticed
        });
        if !first.await {
            return;
        }
        show("interrupted: the report follows; Ctrl-C again ends the program at once");
        let _ = tell.send(());
        if ctrl_c().await.is_ok() {
            exit(ENDED_BY_CTRL_C);
        }
    });
}
