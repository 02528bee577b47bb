//! Directories and globs: a module for each file, and a test that tells when there are others.

use crate::project::{Draft, Project, echo_set};

const CONFIG: &str = r#"{"criteria": {"response_match_score": 1.0}}"#;

const CURRENT: [(&str, &str); 2] = [("folder::is_current", "ok"), ("glob::is_current", "ok")];

fn project(fixture: &'static str) -> Project {
    Draft::new(fixture)
        .file("evals/weather.evalset.json", echo_set(&[("sunny", "Sunny.")]))
        .file("evals/refunds/old-ones.test.json", echo_set(&[("declined", "No."), ("granted", "Yes.")]))
        .file("evals/refunds/2024/type.evalset.json", echo_set(&[("first", "One.")]))
        .file("evals/refunds/notes.json", "not a set")
        .file("evals/test_config.json", CONFIG)
        .file("evals/refunds/test_config.json", CONFIG)
        .file("evals/refunds/2024/test_config.json", CONFIG)
        .owned()
}

#[test]
fn files_and_folders_are_modules_and_is_current_tells_of_others() {
    let project = project("directories");
    let at_first = [
        ("folder::weather::sunny", "ok"),
        ("folder::refunds::old_ones::declined", "ok"),
        ("folder::refunds::old_ones::granted", "ok"),
        ("folder::refunds::case_2024::type_::first", "ok"),
        ("glob::weather::sunny", "ok"),
    ];
    project.cargo(&["test"]).passes().ran(&[&at_first[..], &CURRENT].concat());

    // Cargo does not look for new files.
    project.write("evals/refunds/new.evalset.json", &echo_set(&[("third", "Three.")]));
    let run = project.cargo(&["test"]).fails();
    assert!(!run.compiled("directories"), "{run}");
    let added = run.ran(&[&at_first[..], &[("folder::is_current", "FAILED"), CURRENT[1]]].concat());
    let text = added.failure("folder::is_current");
    for part in [
        "Error: the eval sets of `evals` are not those that were compiled in\n",
        "  new:     evals/refunds/new.evalset.json\n",
        "touch",
        "println!(\"cargo::rerun-if-changed=evals\");",
    ] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }

    // What the message says helps.
    project.touch("tests/evals.rs");
    let with_new = [&at_first[..], &[("folder::refunds::new::third", "ok")], &CURRENT].concat();
    project.cargo(&["test"]).passes().ran(&with_new);

    // A test binary from before the removal, as in an IDE or a cached build.
    let before = project.test_binary("tests/evals.rs");
    project.remove("evals/weather.evalset.json");
    project.write("evals/rain.evalset.json", &echo_set(&[("rainy", "Rainy.")]));
    let run = before.run(&["is_current"]).fails();
    for test in ["folder::is_current", "glob::is_current"] {
        let text = run.failure(test);
        assert!(text.contains("  new:     evals/rain.evalset.json\n"), "{text}");
        assert!(text.contains("  removed: evals/weather.evalset.json\n"), "{text}");
    }

    // A file that is gone makes cargo build again.
    project.cargo(&["test", "sun"]).passes().ran(&[]);
    project
        .cargo(&["test", "rainy"])
        .passes()
        .ran(&[("folder::rain::rainy", "ok"), ("glob::rain::rainy", "ok")]);
}

#[test]
fn with_a_build_script_cargo_sees_new_files_by_itself() {
    let project = project("build_script");
    project.cargo(&["test", "is_current"]).passes().ran(&CURRENT[..1]);
    project.write("evals/refunds/new.evalset.json", &echo_set(&[("third", "Three.")]));
    project.cargo(&["test", "new"]).passes().ran(&[("folder::refunds::new::third", "ok")]);
    project.cargo(&["test", "is_current"]).passes().ran(&CURRENT[..1]);
}

#[test]
fn without_the_sources_the_tests_say_that_nothing_was_compared() {
    let project = Draft::new("directories")
        .named("directories_absent")
        .file("evals/weather.evalset.json", echo_set(&[("sunny", "Sunny."), ("rainy", "Rainy.")]))
        .owned();
    let binary = project.test_binary("tests/evals.rs");
    project.rename("evals", "elsewhere");
    let run = binary.run(&["folder"]).passes();
    for said in [
        "`evals`: the sources are not on this machine, so it was not checked whether sets are new or removed",
        "`evals/weather.evalset.json` is not on this machine, so it was not compared with the one compiled in",
    ] {
        assert_eq!(run.stderr().matches(said).count(), 1, "{run}");
    }
}
