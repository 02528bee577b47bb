//! Places for the attribute, and the absence of warnings there.

use std::fs;

use crate::project::{Draft, Project, echo_set, set, target};

fn draft_of_ungated() -> Draft {
    Draft::new("ungated").file("evals/greetings.evalset.json", echo_set(&[("hello", "Hello!")]))
}

fn ungated() -> Project {
    draft_of_ungated().dependencies("[dependencies]\neval-core = { {evals} }\n").shared()
}

#[test]
fn evals_stand_in_a_private_module_of_a_library_under_cfg_test() {
    let project = Draft::new("in_src")
        .file("evals/greetings.evalset.json", set(&[("hello", "Hello", "Hello yourself!")]))
        .shared();
    project.cargo(&["build"]).passes().never_says("warning").never_says("Compiling eval-core");
    project.cargo(&["test"]).passes().never_says("warning").ran(&[("evals::nested::greetings::hello", "ok")]);
}

#[test]
fn outside_of_cfg_test_nothing_is_dead_code() {
    let project = ungated();
    project.cargo(&["build"]).passes().never_says("warning");
    let tests = [
        ("greetings::greetings::hello", "ok"),
        ("greetings::is_current", "ok"),
        ("variants::Flash::a::greetings::hello", "ok"),
        ("variants::gpt_4::a::greetings::hello", "ok"),
        ("variants::is_current", "ok"),
    ];
    project.cargo(&["test", "--lib"]).passes().never_says("warning").ran(&tests);
}

#[test]
fn a_build_without_tests_holds_no_set() {
    let project = ungated();
    project.cargo(&["build"]).passes();
    let built = fs::read_dir(target().join("debug/deps")).expect("it was just built");
    let dep_info = built.filter_map(|entry| {
        let path = entry.expect("a folder can be listed").path();
        let name = path.file_name()?.to_str()?;
        (name.starts_with("ungated-") && path.extension().is_some_and(|extension| extension == "d"))
            .then(|| fs::read_to_string(&path).ok())?
    });
    // A library for others to use is an `.rlib`; tests are an executable.
    let of_library: Vec<_> = dep_info.filter(|text| text.contains(".rlib: ")).collect();
    assert!(!of_library.is_empty());
    for text in of_library {
        assert!(!text.contains("evalset.json"), "{text}");
    }
}

#[test]
fn a_crate_without_prelude_can_have_evals() {
    let tests = [("greetings::hello", "ok")];
    ungated().cargo(&["test", "--test", "no_prelude"]).passes().never_says("warning").ran(&tests);
}

#[test]
fn names_of_the_crate_do_not_meet_those_of_the_expansion() {
    let tests = [
        ("case::hello", "ok"),
        ("nested::set::hello", "ok"),
        ("r#match::greetings::hello", "ok"),
        ("r#match::is_current", "ok"),
    ];
    ungated().cargo(&["test", "--test", "own_names"]).passes().never_says("warning").ran(&tests);
}

#[test]
fn clippy_finds_nothing_in_the_expansion() {
    // Clippy checks what tests build, all over again: the crates with few features are the fewest.
    let project = draft_of_ungated()
        .named("ungated_without_features")
        .dependencies("[dependencies]\neval-core.path = \"{workspace}/eval-core\"\n")
        .shared();
    if !project.has(&["clippy", "--version"]) {
        return;
    }
    project.cargo(&["clippy", "--all-targets"]).passes().never_says("warning");
}

#[test]
fn the_crate_may_have_another_name() {
    Draft::new("renamed")
        .dependencies("[dev-dependencies]\nevals = { package = \"eval-core\", {evals} }\n")
        .file("evals/greetings.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared()
        .cargo(&["test"])
        .passes()
        .ran(&[("renamed::hello", "ok"), ("through_a_facade::hello", "ok")]);
}
