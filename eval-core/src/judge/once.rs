//! A value that is made once, however many ask for it at the same time. tokio's cell would do; all of its channels
//! and locks come with it, and every user would compile them.

use std::future::poll_fn;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::{Poll, Waker};

/// A value, once something made it.
#[derive(Debug)]
pub(super) struct Once<T> {
    value: OnceLock<T>,
    /// Those that wait while somebody makes it; none while nobody does.
    queue: Mutex<Option<Vec<Waker>>>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), queue: Mutex::new(None) }
    }
}

impl<T> Once<T> {
    /// The value. `make` is polled where there is none and nobody else is making it; who gives up leaves the making
    /// to the next.
    pub(super) async fn get_or_make(&self, make: impl Future<Output = T>) -> &T {
        if let Some(value) = self.value.get() {
            return value;
        }
        let _turn = self.turn().await;
        match self.value.get() {
            Some(value) => value,
            None => {
                let made = make.await;
                self.value.get_or_init(|| made)
            }
        }
    }

    /// Waits until nobody else has the turn.
    async fn turn(&self) -> Turn<'_> {
        poll_fn(|context| {
            // Nothing panics while it is locked.
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *queue {
                Some(waiting) => {
                    if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                        waiting.push(context.waker().clone());
                    }
                    Poll::Pending
                }
                None => {
                    *queue = Some(Vec::new());
                    Poll::Ready(Turn { queue: &self.queue })
                }
            }
        })
        .await
    }
}

/// The right to make the value, passed on when it is dropped.
struct Turn<'a> {
    queue: &'a Mutex<Option<Vec<Waker>>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        for waker in waiting.into_iter().flatten() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Bell(AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Bell {
        fn rung(&self) -> usize {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn those_that_come_meanwhile_wait_and_get_the_same() {
        let (once, made, go) = (Once::default(), Cell::new(0), Cell::new(false));
        let make = || async {
            poll_fn(|_| if go.get() { Poll::Ready(()) } else { Poll::Pending }).await;
            made.set(made.get() + 1);
            made.get()
        };
        let bells = [Arc::new(Bell::default()), Arc::new(Bell::default())];
        let [first_waker, second_waker] = bells.clone().map(Waker::from);
        let (mut first_context, mut second_context) =
            (Context::from_waker(&first_waker), Context::from_waker(&second_waker));
        let (mut first, mut second) = (pin!(once.get_or_make(make())), pin!(once.get_or_make(make())));
        assert!(first.as_mut().poll(&mut first_context).is_pending());
        for _ in 0..3 {
            assert!(second.as_mut().poll(&mut second_context).is_pending());
        }
        go.set(true);
        assert!(second.as_mut().poll(&mut second_context).is_pending(), "it is not the second one's turn");
        assert_eq!(first.poll(&mut first_context), Poll::Ready(&1));
        assert_eq!(second.poll(&mut second_context), Poll::Ready(&1));
        assert_eq!(made.get(), 1);
        assert_eq!(bells.map(|bell| bell.rung()), [0, 1], "who waits is woken, and once");
    }

    #[test]
    fn who_gives_up_leaves_it_to_the_next() {
        let (once, bell) = (Once::default(), Arc::new(Bell::default()));
        let waker = Waker::from(bell.clone());
        let mut context = Context::from_waker(&waker);
        let mut second = pin!(once.get_or_make(async { 2 }));
        {
            let mut first = pin!(once.get_or_make(std::future::pending()));
            assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(second.as_mut().poll(&mut context).is_pending());
            assert_eq!(bell.rung(), 0);
        }
        assert_eq!(bell.rung(), 1);
        assert_eq!(second.poll(&mut context), Poll::Ready(&2));
    }
}
