//! Runs, reports and ADK's files in object storage: `gs://`, `s3://`, and `file://` for a folder.
//!
//! [`layout`] says what lies where. [`push`] and [`fetch`] move journals, [`adk`] the files that google-adk reads and writes.

mod adk;
mod args;
mod error;
mod fetch;
#[cfg(feature = "serve")]
mod history;
mod layout;
mod manifest;
mod missing;
mod open;
mod parts;
mod patience;
mod publish;
mod push;
mod url;

#[cfg(test)]
pub(crate) use adk::parse_result;
pub(crate) use adk::{
    App, CaseOutcome, PutSet, StoredResult, apps, fetch_sets, put_results, put_set, read_result,
};
pub(crate) use args::StoreArg;
pub(crate) use fetch::{Fetched, StoredRun, fetch_run, runs};
#[cfg(feature = "serve")]
pub(crate) use history::fetch_last;
pub(crate) use open::{Store, runtime};
pub(crate) use publish::publish;
pub(crate) use push::push;
