//! The formats of a report of a run.
//!
//! Each format is a module with a function that prints [`RunResults`](crate::recorded::RunResults).

mod exported;
mod github;
mod human;
mod junit;
mod markdown;

pub use exported::{csv, report, save_adk_results};
pub use github::annotations as github;
pub use human::{body as human_body, new_golden, summary as human_summary, text as human};
pub use junit::text as junit;
pub use markdown::text as markdown;

use crate::document::Document;
use crate::output::{self, CommandError};
use crate::recorded::RunResults;

pub fn json(results: &RunResults<'_>) -> Result<String, CommandError> {
    output::json_document(&Document::new(results))
}
