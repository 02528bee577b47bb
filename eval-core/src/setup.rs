//! The shapes of the user's functions, and the result of a test body.

use std::fmt::Display;

use crate::agent::BoxError;

/// The result of a test body: `()`, or a `Result` of it.
pub trait IntoOutcome {
    /// Success, or the error.
    fn into_outcome(self) -> Result<(), BoxError>;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Display> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Result<(), BoxError> {
        self.map_err(|error| format!("{error:#}").into())
    }
}

/// The shapes of functions, one type each.
///
/// A trait for functions of several shapes has one of these types as its parameter, so that its implementations do not
/// overlap.
pub mod shape {
    /// `fn() -> impl Agent`.
    #[derive(Debug)]
    pub struct Plain;
    /// `async fn() -> impl Agent`.
    #[derive(Debug)]
    pub struct Async;
    /// `fn(&EvalCase) -> impl Agent`.
    #[derive(Debug)]
    pub struct PlainOfCase;
    /// `async fn(&EvalCase) -> impl Agent`.
    #[derive(Debug)]
    pub struct AsyncOfCase;
    /// A function of the shape `Shape` in a lock, which may change its captures.
    #[derive(Debug)]
    pub struct Locked<Shape>(std::marker::PhantomData<Shape>);
    /// `fn(EvalRun)`.
    #[derive(Debug)]
    pub struct Body;
    /// `async fn(EvalRun)`.
    #[derive(Debug)]
    pub struct AsyncBody;
}
