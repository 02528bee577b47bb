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

/// A function that `#[eval_set]` can annotate if it has a matrix. `V` is the type of its variants.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot drive a variant of the matrix",
    label = "takes no variant as its last argument",
    note = "with `matrix(..)` the function takes the variant: `fn weather(case: &EvalCase, variant: &weather::Variant) -> impl Agent`, or without the case, plain or async, also as `Result<impl Agent, E>`",
    note = "or a test body of your own: `fn(EvalRun, &weather::Variant)`, plain or async, returning `()` or `Result<(), E>`"
)]
pub trait VariantFn<V, Shape>: Copy + 'static {
    /// Whether the function is a test body: it runs the case itself and has no time limit of its own.
    const IS_BODY: bool = false;

    /// Calls the function for one run of a case with a variant.
    fn call(self, case: &'static EvalCase, run: EvalRun, variant: &'static V) -> Driving;
}

/// The annotated function of a matrix with one of its variants.
pub fn annotated_variant<V: 'static, Shape, F: VariantFn<V, Shape>>(
    function: F,
    variant: &'static V,
) -> Annotated {
    Annotated { is_body: F::IS_BODY, call: Box::new(move |case, run| function.call(case, run, variant)) }
}

/// Implements [`EvalFn`], and [`VariantFn`] with a variant as the last argument, for plain and async functions with these
/// arguments.
macro_rules! eval_fn {
    (
        $plain:ident, $async:ident, $is_body:literal, fn($($of:ty)?) -> $result:ident,
        |$case:ident, $run:ident| $driven:ident($($argument:ident)?)
    ) => {
        impl<F, R> EvalFn<shape::$plain> for F
        where
            F: Fn($($of)?) -> R + Copy + 'static,
            R: $result + 'static,
        {
            const IS_BODY: bool = $is_body;

            fn call(self, $case: &'static EvalCase, $run: EvalRun) -> Driving {
                Box::pin(async move { $driven(self($($argument)?)) })
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
                Box::pin(async move { $driven(self($($argument)?).await) })
            }
        }

        impl<F, R, V: 'static> VariantFn<V, shape::$plain> for F
        where
            F: Fn($($of,)? &'static V) -> R + Copy + 'static,
            R: $result + 'static,
        {
            const IS_BODY: bool = $is_body;

            fn call(self, $case: &'static EvalCase, $run: EvalRun, variant: &'static V) -> Driving {
                Box::pin(async move { $driven(self($($argument,)? variant)) })
            }
        }

        impl<F, Fut, R, V: 'static> VariantFn<V, shape::$async> for F
        where
            F: Fn($($of,)? &'static V) -> Fut + Copy + 'static,
            Fut: Future<Output = R> + 'static,
            R: $result + 'static,
        {
            const IS_BODY: bool = $is_body;

            fn call(self, $case: &'static EvalCase, $run: EvalRun, variant: &'static V) -> Driving {
                Box::pin(async move { $driven(self($($argument,)? variant).await) })
            }
        }
    };
}

eval_fn!(Plain, Async, false, fn() -> IntoAgent, |_case, _run| agent());
eval_fn!(PlainOfCase, AsyncOfCase, false, fn(&'static EvalCase) -> IntoAgent, |case, _run| agent(case));
eval_fn!(Body, AsyncBody, true, fn(EvalRun) -> IntoOutcome, |_case, run| body(run));
