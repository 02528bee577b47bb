//! Running sets from a program, without the attribute.
#![cfg_attr(any(not(doctest), feature = "reports"), doc = crate::pages::page!("../docs/programs.md"))]

mod builder;
#[cfg(feature = "reports")]
mod command;
mod directory;
mod error;
mod job;
mod judges;
mod on_case;
mod places;
mod plan;
mod precedence;
mod prepare;
#[cfg(feature = "reports")]
mod recorded;
mod rescore;
mod run;
mod selected;
#[cfg(feature = "reports")]
mod selectors;
mod setup_fn;

pub use builder::EvalRunner;
#[cfg(feature = "reports")]
pub use command::EvalCommand;
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use command::pressed;
pub use error::{RunDirError, RunnerError};
#[cfg(feature = "reports")]
pub use plan::RunPlan;
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use selectors::{cases_of_selector, files_of_selector};
pub use setup_fn::Setup;

#[cfg(test)]
mod tests;
