//! Values that the tests of a binary share.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Once, OnceLock};

use tokio::sync::Semaphore;

use crate::agent::{BoxError, BoxFuture};
use crate::guard::panic_message;

/// A value that is made once per test binary, by async code, and that all its tests share: a mock server, a pool, a
/// client.
///
/// ```
/// # #[cfg(feature = "macros")] mod tests {
/// use eval_core::testing::Fixture;
/// use eval_core::{Agent, BoxError, agent_fn, eval_set};
///
/// static SERVER: Fixture<Server> = Fixture::new(|| Box::pin(Server::start()));
///
/// #[eval_set("evals/weather.evalset.json")]
/// async fn weather() -> Result<impl Agent, BoxError> {
///     let server = SERVER.get().await?;
///     Ok(agent_fn(move |text, _| server.answer(text)))
/// }
///
/// struct Server { /* .. */ }
///
/// impl Server {
///     async fn start() -> Result<Self, BoxError> {
///         Ok(Self {})
///     }
///
///     async fn answer(&self, text: String) -> String {
///         format!("You said: {text}")
///     }
/// }
/// # }
/// ```
///
/// Each test has a tokio runtime of its own, which ends with the test. So a value that needs a runtime (a
/// server, open connections, a spawned task) must not be made in a test for others. A fixture makes it on a
/// thread of its own, whose runtime lasts as long as the process. What a test does with the value runs in the
/// runtime of that test.
///
/// - The value is made when the first test asks for it. Meanwhile the others wait.
/// - If making it fails or panics, each test that asks is an ERROR with the role `setup` that says why.
/// - It is never dropped: the process ends first. What must be cleaned up has to be done elsewhere.
/// - nextest runs each test in a process of its own, and so makes it once per test.
///
/// A value that needs no async code is a plain [`LazyLock`](std::sync::LazyLock).
pub struct Fixture<T> {
    make: fn() -> BoxFuture<'static, Result<T, BoxError>>,
    value: OnceLock<Result<T, String>>,
    begun: Once,
    /// Closed when there is a value.
    made: Semaphore,
}

impl<T> fmt::Debug for Fixture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture").field("is_made", &self.value.get().is_some()).finish_non_exhaustive()
    }
}

impl<T> Fixture<T> {
    /// A value that `make` makes when it is asked for.
    pub const fn new(make: fn() -> BoxFuture<'static, Result<T, BoxError>>) -> Self {
        Self { make, value: OnceLock::new(), begun: Once::new(), made: Semaphore::const_new(0) }
    }
}

impl<T: Send + Sync + 'static> Fixture<T> {
    /// The value, once it is made. Fails if it could not be made.
    pub async fn get(&'static self) -> Result<&'static T, BoxError> {
        self.begun.call_once(|| {
            let begun = std::thread::Builder::new().name("fixture".to_owned()).spawn(|| self.serve());
            if let Err(error) = begun {
                self.set(Err(error.to_string()));
            }
        });
        // The semaphore gives no permits: this ends when it is closed.
        drop(self.made.acquire().await);
        let value = self.value.wait();
        value.as_ref().map_err(|error| format!("the fixture was not made: {error}").into())
    }

    /// Sets the value. A single thread makes it, so it is set once.
    fn set(&self, value: Result<T, String>) {
        let _ = self.value.set(value);
        self.made.close();
    }

    fn serve(&self) {
        let made = catch_unwind(AssertUnwindSafe(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let value = runtime.block_on((self.make)())?;
            Ok::<_, BoxError>((value, runtime))
        }));
        let (value, runtime) = match made {
            Ok(Ok((value, runtime))) => (Ok(value), Some(runtime)),
            Ok(Err(error)) => (Err(format!("{error:#}")), None),
            Err(panic) => (Err(format!("panicked: {}", panic_message(&*panic))), None),
        };
        self.set(value);
        if let Some(runtime) = runtime {
            runtime.block_on(std::future::pending::<()>());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// Like a test: a runtime that ends with it.
    fn test<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn a_fixture_is_made_once_and_outlives_the_runtime_of_the_test_that_asked_first() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static TICKS: Fixture<Arc<AtomicUsize>> = Fixture::new(|| {
            Box::pin(async {
                MADE.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                let ticks = Arc::new(AtomicUsize::new(0));
                let counted = Arc::clone(&ticks);
                tokio::spawn(async move {
                    loop {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                });
                Ok(ticks)
            })
        });
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| test(async { TICKS.get().await.unwrap() }));
            }
        });
        test(async {
            let ticks = TICKS.get().await.unwrap();
            let before = ticks.load(Ordering::SeqCst);
            let ticked = async {
                while ticks.load(Ordering::SeqCst) == before {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), ticked).await.unwrap();
        });
        assert_eq!(MADE.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_fixture_that_is_not_made_says_why_to_each_test() {
        static REFUSED: Fixture<()> = Fixture::new(|| Box::pin(async { Err("no port is free".into()) }));
        static BROKEN: Fixture<()> = Fixture::new(|| Box::pin(async { panic!("index out of bounds") }));
        for (fixture, why) in [(&REFUSED, "no port is free"), (&BROKEN, "panicked: index out of bounds")] {
            for _ in 0..2 {
                let error = test(async { fixture.get().await.unwrap_err() });
                assert_eq!(error.to_string(), format!("the fixture was not made: {why}"));
            }
        }
    }
}
