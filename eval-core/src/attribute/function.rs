//! The annotated function, told apart by its type.
//!
//! The attribute does not read the signature of the annotated function. The trait here infers the shape from
//! the type, so type aliases, macros and re-exports all work, and a wrong shape is explained in a sentence.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use eval_format::EvalCase;

use super::eval_run::EvalRun;
use crate::agent::{BoxAgent, BoxError, IntoAgent};
use crate::judge::Making;
use crate::metric::MakeMetric;
use crate::setup::{IntoOutcome, shape};

/// The outcome of a call of the annotated function.
#[derive(Debug)]
pub enum Driven {
    /// An agent to run the case with.
    Agent(BoxAgent),
    /// The function is a test body; it ran the case itself.
    Body,
}

/// The future of a call. It is not `Send`: a test stays on its thread.
pub type Driving = Pin<Box<dyn Future<Output = Result<Driven, BoxError>>>>;

/// A function that `#[eval_set]` can annotate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot drive an eval case",
    label = "wrong shape for `#[eval_set]`",
    note = "expected `fn() -> impl Agent` or `fn(&EvalCase) -> impl Agent`, plain or async, also as `Result<impl Agent, E>`",
    note = "or a test body of your own: `fn(EvalRun)`, plain or async, returning `()` or `Result<(), E>`"
)]
pub trait EvalFn<Shape>: Copy + 'static {
    /// Whether the function is a test body: it runs the case itself and has no time limit of its own.
    const IS_BODY: bool = false;

    /// Calls the function for one run of a case.
    fn call(self, case: &'static EvalCase, run: EvalRun) -> Driving;
}

/// The functions of an attribute: the annotated function, and the functions that its arguments name.
#[derive(Debug)]
pub struct Functions {
    /// The annotated function.
    pub annotated: Annotated,
    /// The functions that make the custom metrics, by name.
    pub metrics: &'static [(&'static str, MakeMetric)],
    /// Calls the function that makes the judge, if the attribute names one.
    pub judge: Option<fn() -> Making>,
}

/// The annotated function, whatever its shape.
pub struct Annotated {
    /// Whether the function is a test body: it runs the case itself and has no time limit of its own.
    pub(super) is_body: bool,
    /// Calls the function for one run of a case.
    pub(super) call: Box<dyn Fn(&'static EvalCase, EvalRun) -> Driving>,
}

impl fmt::Debug for Annotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Annotated").field("is_body", &self.is_body).finish_non_exhaustive()
    }
}

/// The annotated function as a value. Compiles only for functions that `#[eval_set]` can annotate.
pub fn annotated<Shape, F: EvalFn<Shape>>(function: F) -> Annotated {
    Annotated { is_body: F::IS_BODY, call: Box::new(move |case, run| function.call(case, run)) }
}

fn agent(value: impl IntoAgent) -> Result<Driven, BoxError> {
    value.into_agent().map(Driven::Agent)
}

fn body(value: impl IntoOutcome) -> Result<Driven, BoxError> {
    value.into_outcome().map(|()| Driven::Body)
}

/// Implements [`EvalFn`] for plain and async functions with these arguments.
macro_rules! eval_fn {
    (
        $plain:ident, $async:ident, $is_body:literal, fn($($of:ty)?) -> $result:ident,
        |$function:ident, $case:ident, $run:ident| $driven:ident($called:expr)
    ) => {
        impl<F, R> EvalFn<shape::$plain> for F
        where
            F: Fn($($of)?) -> R + Copy + 'static,
            R: $result + 'static,
        {
            const IS_BODY: bool = $is_body;

            fn call(self, $case: &'static EvalCase, $run: EvalRun) -> Driving {
                let $function = self;
                Box::pin(async move { $driven($called) })
            }
        }

        impl<F, Fut, R> EvalFn<shape::$async> for F
        where
            F: Fn($($of)?) -> Fut + Copy + 'static,
            Fut: Future<Output = R> + 'static,
            R: $result + 'static,
        {
            const IS_BODY: bool = $is_body;

            fn call(self, $case: &'static EvalCase, $run: EvalRun) -> Driving {
                let $function = self;
                Box::pin(async move { $driven($called.await) })
            }
        }
    };
}

eval_fn!(Plain, Async, false, fn() -> IntoAgent, |f, _case, _run| agent(f()));
eval_fn!(PlainOfCase, AsyncOfCase, false, fn(&'static EvalCase) -> IntoAgent, |f, case, _run| agent(f(case)));
eval_fn!(Body, AsyncBody, true, fn(EvalRun) -> IntoOutcome, |f, _case, run| body(f(run)));
