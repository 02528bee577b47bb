//! Whole projects that use the attribute as a user does: behaviour that only cargo itself can show.
//!
//! Each module tells one story. Its project comes from `fixtures/`, is written below the target folder and
//! built there by cargo, with the versions of this workspace's `Cargo.lock`. Crates that no earlier build fetched are
//! fetched. All of them share one target folder, so that what they depend on is built once.

mod configs;
mod directories;
mod examples;
mod failures;
mod features;
mod journaled;
mod judged;
mod names;
mod nextest;
mod package_names;
mod placement;
mod project;
mod recorded;
mod run;
mod runtime;
mod served;
mod shapes;
mod should_panic;
mod targets;
mod tracking;

/// The folder of this workspace.
const WORKSPACE: &str = env!("CARGO_MANIFEST_DIR");
