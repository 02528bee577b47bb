//! Running sets from a program, without the attribute.
#![doc = crate::pages::page!("../docs/programs.md")]

pub(crate) mod builder;
mod directory;
mod error;
mod judges;
mod plan;
mod prepare;
mod rescore;
mod run;
mod selectors;
mod setup_fn;

pub use error::{RunDirError, RunnerError};
pub use plan::RunPlan;
#[doc(hidden)]
pub use selectors::{KnownCases, files_of_selector};
pub use setup_fn::Setup;

#[cfg(test)]
mod tests;
