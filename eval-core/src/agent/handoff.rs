//! A place where one thread leaves a value and another awaits it.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Room for one value. Tokio's channels would be one more feature of it in every build.
#[derive(Debug)]
pub(super) struct Handoff<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    is_closed: bool,
    /// Who awaits the value, and who awaits the end.
    wakers: Vec<Waker>,
}

impl<T> Default for Handoff<T> {
    fn default() -> Self {
        Self(Mutex::new(State { value: None, is_closed: false, wakers: Vec::new() }))
    }
}

impl<T> Handoff<T> {
    /// Leaves a value.
    pub(super) fn put(&self, value: T) {
        let mut state = self.state();
        state.value = Some(value);
        state.wake();
    }

    /// Says that nobody is there any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.wake();
    }

    /// Waits for a value and takes it; `None` once the place is closed.
    pub(super) async fn take(&self) -> Option<T> {
        poll_fn(|context| {
            let mut state = self.state();
            match state.value.take() {
                Some(value) => Poll::Ready(Some(value)),
                None if state.is_closed => Poll::Ready(None),
                None => state.wait(context.waker()),
            }
        })
        .await
    }

    /// Waits until the place is closed.
    pub(super) async fn closed(&self) {
        poll_fn(|context| {
            let mut state = self.state();
            if state.is_closed { Poll::Ready(()) } else { state.wait(context.waker()) }
        })
        .await;
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn wait<R>(&mut self, waker: &Waker) -> Poll<R> {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}
