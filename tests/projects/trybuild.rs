//! Compile tests of a user's own: trybuild builds in a package of its own, far from the files.

use std::fs;

use crate::project::{Draft, echo_set};
use crate::run::Run;

#[test]
fn paths_are_those_of_the_package_whose_tests_trybuild_runs() {
    let project = Draft::new("in_trybuild")
        .dependencies("[dev-dependencies]\neval-core = {evals}\ntrybuild = \"1\"\n")
        .file("evals/good.evalset.json", echo_set(&[("hello", "Hello")]))
        .owned();
    Run::of(project.command().arg("test").env("TRYBUILD", "overwrite")).passes();
    let error = fs::read_to_string(project.folder().join("tests/ui/bad.stderr")).expect("trybuild wrote it");
    let found = "error: there is no file or directory `evals/bad.evalset.json`\n       = help: did you mean `evals/good";
    assert!(error.starts_with(found), "{error}");
}
