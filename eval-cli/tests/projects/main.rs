//! The command line in whole projects, over what their tests recorded.
//!
//! The projects are in `tests/projects` of the workspace. They are built in the same folder.

#[cfg(unix)]
mod ci;
mod first_steps;
mod gated;
#[allow(dead_code, reason = "the tests of the workspace use the rest")]
#[path = "../../../tests/projects/project.rs"]
mod project;
mod readme;
mod reported;
#[allow(dead_code, reason = "the tests of the workspace use the rest")]
#[path = "../../../tests/projects/run.rs"]
mod run;
#[cfg(feature = "serve")]
mod serve_drafts;

/// The folder of this workspace.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
