//! Running sets from a program, without the attribute.
//!
//! ```
//! use eval_core::{EvalCase, EvalRunner, Invocation, Replay};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let case = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
//! let report = EvalRunner::new().run_case(&case, || Replay::new([["It is sunny."]])).await?;
//! assert!(report.verdict.passed());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! [`EvalRunner`] runs a case, a set or a directory of sets, and scores recorded runs again. `EvalCommand` (feature
//! `reports`) makes evals a command of a program. Both give reports as values; see [`report`](crate::report).

mod builder;
#[cfg(feature = "reports")]
mod command;
mod directory;
mod error;
mod judges;
mod prepare;
mod rescore;
mod run;
mod setup_fn;

pub use builder::EvalRunner;
#[cfg(feature = "reports")]
pub use command::EvalCommand;
pub use error::{RunDirError, RunnerError};
pub use setup_fn::Setup;

#[cfg(test)]
mod tests;
