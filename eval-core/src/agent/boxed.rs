//! Errors and futures behind a pointer.

use std::future::Future;
use std::pin::Pin;

/// Any error: `?` converts the errors of every agent framework into it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
