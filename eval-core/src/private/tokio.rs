//! What `#[tokio::test(crate = "..")]` of a generated test stands on in place of tokio: the same
//! steps, none of them generic and nothing to drop between them.
//!
//! Tokio's own types would be checked, instantiated and cleaned up after in every test anew, and an
//! `.await` makes a state machine of every test: together most of what it costs to compile a test of one
//! line. So the body of a test only says what to run, with `run_next`, and the runtime runs it.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

pub use ::tokio::{pin, test};

/// A test on its way.
pub(super) type Running = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// What the body of the test asked for; the runtime polls the body on the thread of the test.
    static NEXT: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Hands the test to the runtime that polls this.
pub(super) fn run_next(test: Running) {
    NEXT.with_borrow_mut(|next| *next = Some(test));
}

/// The runtime of a test.
pub mod runtime {
    use std::future::Future;
    use std::pin::Pin;

    use super::NEXT;
    use crate::private::exit;

    /// The steps towards a runtime.
    #[derive(Clone, Copy, Debug)]
    pub struct Builder {
        multi_thread: bool,
        worker_threads: Option<usize>,
    }

    impl Builder {
        /// A runtime on the thread of the test.
        pub fn new_current_thread() -> Self {
            Self { multi_thread: false, worker_threads: None }
        }

        /// A runtime with threads of its own.
        #[cfg(feature = "multi-thread")]
        pub fn new_multi_thread() -> Self {
            Self { multi_thread: true, worker_threads: None }
        }

        /// How many threads.
        #[must_use]
        pub fn worker_threads(self, count: usize) -> Self {
            Self { worker_threads: Some(count), ..self }
        }

        /// The clock and whatever I/O tokio was built with: always on, here.
        #[must_use]
        pub fn enable_all(self) -> Self {
            self
        }

        /// Only a step: the runtime is built where it is used.
        #[must_use]
        pub fn build(self) -> Self {
            self
        }

        /// Only a step.
        #[must_use]
        pub fn expect(self, _: &str) -> Self {
            self
        }

        /// Builds the runtime and runs the test on it.
        ///
        /// # Panics
        ///
        /// Where the system refuses tokio a runtime, and where the body asked for nothing.
        pub fn block_on(self, test: Pin<&mut dyn Future<Output = ()>>) {
            let mut builder = if self.multi_thread { multi_thread() } else { current_thread() };
            if let Some(count) = self.worker_threads {
                builder.worker_threads(count);
            }
            builder.on_thread_start(exit::enter_runtime).on_thread_stop(exit::leave_runtime);
            match builder.enable_all().build() {
                Ok(runtime) => runtime.block_on(async {
                    test.await;
                    let Some(next) = NEXT.take() else { panic!("Error: the test has nothing to run") };
                    next.await;
                }),
                Err(error) => panic!("Error: tokio could not build a runtime for the test: {error}"),
            }
        }
    }

    fn current_thread() -> ::tokio::runtime::Builder {
        ::tokio::runtime::Builder::new_current_thread()
    }

    #[cfg(feature = "multi-thread")]
    fn multi_thread() -> ::tokio::runtime::Builder {
        ::tokio::runtime::Builder::new_multi_thread()
    }

    #[cfg(not(feature = "multi-thread"))]
    fn multi_thread() -> ::tokio::runtime::Builder {
        current_thread()
    }
}
