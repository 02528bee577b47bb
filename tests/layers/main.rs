//! Holds the architecture: the order of the crates and of their modules, no circles among files, the sizes of files,
//! and how errors are told.
//!
//! ```text
//! cargo test --test layers
//! EVALSET_LAYERS=print cargo test --test layers print     # the graph of each crate, and an order for it
//! ```
//!
//! The sources are parsed, without code for tests. A file uses another if a path in it, resolved through imports and
//! re-exports, leads to an item that the other file defines. The declaration of a module is not a use, and neither is
//! the re-export of an item that a file below defines.

mod errors;
mod finder;
mod graph;
mod krate;
mod members;
mod order;
mod resolve;
mod show;
mod size;
mod small;
mod source;
mod tree;
mod uses;
mod workspace;

use std::io::{self, Write};
use std::sync::LazyLock;
use std::{env, fs};

use krate::Crate;
use tree::Sources;
use workspace::Member;

/// The crates by their folders, each with those that it may depend on.
const CRATES: [(&str, &[&str]); 9] = [
    ("eval-support", &[]),
    ("eval-format", &["eval-support"]),
    ("eval-macros", &["eval-support", "eval-format"]),
    ("eval-gateway", &["eval-support", "eval-format"]),
    ("eval-core", &["eval-support", "eval-format", "eval-macros", "eval-gateway"]),
    ("eval-report", &["eval-support", "eval-format", "eval-core"]),
    ("eval-agents", &["eval-support", "eval-gateway", "eval-core", "eval-report"]),
    ("eval-server", &["eval-support", "eval-format", "eval-core", "eval-report", "eval-agents"]),
    ("eval-cli", &["eval-support", "eval-format", "eval-core", "eval-report", "eval-agents", "eval-server"]),
];

/// The most lines of any file.
const MAX_LINES: usize = 600;

/// The median of the lines of the crates' files is below this.
const MEDIAN_BELOW: usize = 300;

/// The most functions of the workspace that are `#[inline]`.
const MAX_INLINES: usize = 40;

/// The folders of Rust files beside the crates.
const FOLDERS: [&str; 6] = ["tests", "samples", "examples", "eval-cli/templates", "fuzz", "benches"];

static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(workspace::members);

static PARSED: LazyLock<Vec<Crate>> = LazyLock::new(|| {
    MEMBERS.iter().map(parse).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
});

fn parse(member: &Member) -> Result<Crate, String> {
    Crate::parse(&member.folder, &member.folder, &member.sources)
}

/// Fails with all sentences, and with what to do about them.
fn assert_none(found: &[String], help: &str) {
    assert!(found.is_empty(), "{} found:\n\n{}\n\nhelp: {help}\n", found.len(), found.join("\n"));
}

#[test]
fn modules_use_lower_layers_only() {
    let text =
        fs::read_to_string(workspace::root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md can be read");
    let lists = order::read(&text).unwrap_or_else(|error| panic!("ARCHITECTURE.md: {error}"));
    assert_none(
        &order::check_all(&PARSED, &lists),
        "move the item down, or to a lower module of its own; hand in what it needs as an argument; or change the \
         order in ARCHITECTURE.md, section `The layers`. `EVALSET_LAYERS=print cargo test --test layers print` shows \
         the graph",
    );
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let circles =
        PARSED.iter().flat_map(|of| of.circles().into_iter().map(|circle| show::circle_text(of, &circle)));
    assert_none(
        &circles.collect::<Vec<_>>(),
        "move what both sides use to a file below them. A file may define what files below it use, but then its own \
         code uses none of these; it may declare and re-export them",
    );
}

#[test]
fn crates_depend_on_lower_crates_only() {
    assert_none(
        &workspace::check(&MEMBERS, &CRATES),
        "each crate may depend on those that `CRATES` in tests/layers/main.rs names; its tests may depend on any",
    );
}

#[test]
fn files_are_of_a_size_to_read() {
    assert_none(
        &size::too_long(&all_files(), MAX_LINES),
        &format!("a file has at most {MAX_LINES} lines: split it"),
    );
    let sources = MEMBERS.iter().flat_map(|member| member.sources.clone()).collect();
    let median = size::median(&sources);
    assert!(median > 0 && median < MEDIAN_BELOW, "the median of {} files is {median} lines", sources.len());
}

#[test]
fn few_functions_are_inline_and_each_is_measured() {
    let inlines = size::inlines(&all_files()).unwrap_or_else(|error| panic!("{error}"));
    let unmeasured: Vec<_> =
        inlines.iter().filter(|inline| !inline.is_measured).map(|inline| inline.place.clone()).collect();
    assert_none(
        &unmeasured,
        "say in a comment right above `#[inline]` what was measured, with its number; or remove it",
    );
    assert!(
        inlines.len() <= MAX_INLINES,
        "{} functions are `#[inline]`; at most {MAX_INLINES} may be",
        inlines.len()
    );
}

#[test]
fn errors_say_their_cause_and_have_no_source_beside_it() {
    let sources = MEMBERS.iter().flat_map(|member| member.sources.clone()).collect();
    assert_none(
        &errors::with_source(&sources).unwrap_or_else(|error| panic!("{error}")),
        "let the text of the error contain the cause, and let a field of the variant hold it: printers of chains would say \
         it twice",
    );
}

/// The Rust files of the workspace and of the folders beside the crates.
fn all_files() -> Sources {
    let members = MEMBERS.iter().map(|member| &*member.folder);
    members.chain(FOLDERS).flat_map(workspace::rust_files).collect()
}

/// Prints the graph of each crate if `EVALSET_LAYERS` is `print`.
#[test]
fn print() {
    if env::var_os("EVALSET_LAYERS").is_some_and(|value| value == "print") {
        // A crate that cannot be walked does not hide the others.
        let texts = MEMBERS.iter().map(|member| match parse(member) {
            Ok(of) => show::show(&of),
            Err(error) => format!("\n===== {} =====\n\n{error}\n", member.folder),
        });
        let text: String = texts.collect();
        io::stdout().write_all(text.as_bytes()).expect("the graph can be printed");
    }
}
