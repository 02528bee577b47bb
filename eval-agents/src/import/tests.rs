//! Sessions that google-adk stored, tables, foreign sets, and mutilated files.

#[cfg(feature = "sqlite")]
mod databases;
mod mutilated;
mod sessions;
mod stored_traces;
mod tables_and_sets;

use std::path::PathBuf;

use super::*;

/// A file beside the tests of this crate.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn parse(text: &str) -> Imported {
    Import::new().parse("here", text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn refused(text: &str) -> String {
    Import::new().parse("here", text.as_bytes()).unwrap_err().to_string()
}
