//! The program as users run it: over folders of files, judged by what it prints, its exit code and what is on disk.

mod broken;
mod check;
mod fix;
mod fmt;
mod folder;
mod journal;
mod metrics;
mod migrate;
mod plan;
mod report;
mod rerun;
mod rescore;
