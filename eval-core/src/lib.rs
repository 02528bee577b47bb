//! Stand-in.
#![allow(missing_docs, missing_debug_implementations, clippy::all, clippy::pedantic)]
pub use eval_format::*;
pub use eval_macros::eval_set;
use std::{future::Future, pin::Pin};
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub struct EvalRun;
pub trait Agent: Send {}
pub struct Echo;
pub struct BoxAgent;
impl Agent for BoxAgent {}
impl Agent for Echo {}
pub trait IntoAgent {}
impl<A: Agent> IntoAgent for A {}
impl<A: Agent, E: std::fmt::Display> IntoAgent for Result<A, E> {}
pub trait IntoOutcome {}
impl IntoOutcome for () {}
impl<E: std::fmt::Display> IntoOutcome for Result<(), E> {}
pub struct Sync0;
pub struct Async0;
pub struct Sync1;
pub struct Async1;
pub struct BodySync;
pub struct BodyAsync;
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot drive an eval case",
    label = "wrong shape",
    note = "expected `fn() -> impl Agent`, `fn(&EvalCase) -> impl Agent` or `fn(EvalRun)`, each plain or async, each also as `Result`"
)]
pub trait EvalFn<M>: Copy + 'static {}
impl<F, R> EvalFn<Sync0> for F
where
    F: Fn() -> R + Copy + 'static,
    R: IntoAgent + 'static,
{
}
impl<F, Fut, R> EvalFn<Async0> for F
where
    F: Fn() -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoAgent + 'static,
{
}
impl<F, R> EvalFn<Sync1> for F
where
    F: Fn(&'static EvalCase) -> R + Copy + 'static,
    R: IntoAgent + 'static,
{
}
impl<F, Fut, R> EvalFn<Async1> for F
where
    F: Fn(&'static EvalCase) -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoAgent + 'static,
{
}
impl<F, R> EvalFn<BodySync> for F
where
    F: Fn(EvalRun) -> R + Copy + 'static,
    R: IntoOutcome + 'static,
{
}
impl<F, Fut, R> EvalFn<BodyAsync> for F
where
    F: Fn(EvalRun) -> Fut + Copy + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoOutcome + 'static,
{
}
pub struct BoxMetric;
#[diagnostic::on_unimplemented(message = "`{Self}` is not a metric")]
pub trait MetricFn<M> {}
impl<F> MetricFn<()> for F where F: Fn(&Invocation, Option<&Invocation>, &Criterion) -> f64 {}
#[doc(hidden)]
pub mod __private {
    use super::*;
    pub use crate::__multi_thread as multi_thread;
    pub use eval_format::Form;
    pub use tokio;
    pub struct SetSource {
        pub manifest_dir: &'static str,
        pub package: &'static str,
        pub file: &'static str,
        pub text: &'static str,
        pub hash: u64,
        pub form: Form,
        pub cases: &'static [CaseSource],
        pub config: ConfigSource,
        pub session: Option<FileSource>,
        pub absent: &'static [&'static str],
        pub options: Options,
        pub metrics: &'static [(&'static str, fn() -> BoxMetric)],
    }
    pub struct CaseSource {
        pub eval_id: &'static str,
        pub test: &'static str,
        pub start: usize,
        pub end: usize,
        pub line: u32,
        pub column: u32,
    }
    pub struct FileSource {
        pub file: &'static str,
        pub text: &'static str,
        pub hash: u64,
    }
    pub enum ConfigSource {
        Default,
        Inline(&'static str),
        File(FileSource),
    }
    pub struct Options {
        pub runs: u32,
        pub pass: Pass,
        pub gate: Gate,
        pub timeout_ms: u64,
    }
    pub enum Pass {
        Mean,
        All,
        Any,
        AtLeast(u32),
    }
    pub enum Gate {
        Mean,
        EveryTurn,
    }
    pub const fn check<M, F: EvalFn<M>>(_: F) {}
    pub fn run<M, F: EvalFn<M>>(
        set: &'static SetSource,
        case: usize,
        module: &'static str,
        _: F,
    ) -> Pin<Box<dyn Future<Output = ()>>> {
        let case = &set.cases[case];
        assert!(module.ends_with(case.test.rsplit_once("::").unwrap().0));
        println!("{} {} {}", case.test, case.line, &set.text[case.start..case.end]);
        if let ConfigSource::Inline(t) = set.config {
            println!("{t}")
        }
        Box::pin(async {})
    }
    pub fn metric<M, F: MetricFn<M>>(_: F) -> BoxMetric {
        BoxMetric
    }
    pub fn is_current(dir: &'static str, pattern: &'static str, files: &'static [&'static str]) {
        assert_eq!(find_sets(dir, pattern).unwrap(), files);
    }
}
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
