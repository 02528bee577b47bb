//! Functions that generated code calls. They are hidden, and always have the version of the macro.
//!
//! The modules below this one know nothing of generated tests. Here the compiled-in data becomes a
//! [`CaseRunner`](crate::case_runner::CaseRunner) and an [`IdentifiedCase`](crate::case_runner::IdentifiedCase), and a
//! verdict becomes a test that returns or unwinds.

mod eval_run;
mod function;
mod is_current;
#[cfg(feature = "judges")]
mod judges_of_test;
mod prepare;
mod test;

use crate::metric::{BoxMetric, MetricFn, of_function};

pub use crate::compiled::{
    CaseSource, ConfigSource, FileSource, ModelsSource, RecordingSource, SetSource, Target, VariantSource,
};
pub use crate::options::Options;
pub use crate::setup::shape;
pub use ::tokio;
pub use eval_format::reader::SetFormat;
pub use eval_format::{PassRule, ToolSource, TurnAggregation};
pub use eval_run::EvalRun;
pub use function::{Annotated, Driven, Driving, EvalFn, Functions, VariantFn, annotated, annotated_variant};
pub use is_current::is_current;
pub use test::{CaseTest, run, run_should_panic};

/// The metric of a function.
pub fn metric<Shape, F: MetricFn<Shape>>(function: F) -> BoxMetric {
    of_function(function)
}

#[cfg(feature = "judges")]
pub use judges_of_test::judge;

/// The first part if eval-core has the feature `multi-thread`, else the second.
#[cfg(feature = "multi-thread")]
#[doc(hidden)]
#[macro_export]
macro_rules! __multi_thread {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($with)* };
}

#[cfg(not(feature = "multi-thread"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __multi_thread {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($without)* };
}
pub use __multi_thread as multi_thread;

/// The first part if eval-core has the feature `judges`, else the second.
#[cfg(feature = "judges")]
#[doc(hidden)]
#[macro_export]
macro_rules! __judges {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($with)* };
}

#[cfg(not(feature = "judges"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __judges {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($without)* };
}
pub use __judges as judges;
