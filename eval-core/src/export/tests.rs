//! The exports: against what google-adk makes of the same data, and for any report.

pub(crate) mod any_report;
mod files;
mod fixture;
mod rubrics;
mod statuses;
mod vectors;
