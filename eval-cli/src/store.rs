//! Runs, reports and ADK's files in object storage: `gs://`, `s3://`, and `file://` for a folder.
//!
//! [`layout`] names the objects. [`push`] and [`fetch`] move journals, [`adk`] the files that google-adk
//! reads and writes.

mod adk;
mod error;
mod fetch;
mod layout;
mod manifest;
mod open;
mod push;
mod url;

#[cfg(test)]
pub(crate) use adk::parse_result;
pub(crate) use adk::{App, CaseOutcome, PutSet, StoredResult, apps, fetch_sets, put_set, read_result};
#[cfg(feature = "serve")]
pub(crate) use fetch::fetch_last;
pub(crate) use fetch::{Fetched, StoredRun, fetch_run, runs};
pub(crate) use open::{Store, StoreArg, runtime};
pub(crate) use push::{publish, push};
