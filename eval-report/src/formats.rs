//! The formats of a report of a run.
//!
//! Each format is a module with a function that makes it of [`RunResults`](crate::recorded::RunResults).

mod exported;
mod github;
mod human;
mod json;
mod junit;
mod markdown;

pub use exported::{csv, report, save_adk_results};
pub use github::annotations as github;
pub use human::{body as human_body, text as human};
pub use json::text as json;
pub use junit::text as junit;
pub use markdown::text as markdown;
