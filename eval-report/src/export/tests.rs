//! The exports: against what google-adk makes of the same data, and for any report.

mod any_report;
mod files;
mod fixture;
mod recorded;
mod rubrics;
mod secrets;
mod statuses;
pub(crate) mod strategies;
mod vectors;
