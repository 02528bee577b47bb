//! The exports: against what google-adk makes of the same data, and for any report.

mod any_report;
mod files;
mod fixture;
#[cfg(feature = "judges")]
mod rubrics;
mod statuses;
mod vectors;
