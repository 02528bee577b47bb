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
