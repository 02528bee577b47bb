use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

fn run(test: &str) -> Folder {
    let folder = Folder::new(test);
    let mut journal = Journal::new(&folder, "r1");
    for (name, verdict) in [
        ("weather::sunny", passed()),
        ("weather::oslo", failed()),
        ("weather::r#match", failed()),
        ("weather::broken", error("agent", "503")),
    ] {
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
    }
    journal.started("weather::killed", 1);
    journal.write_torn();
    folder
}

#[test]
fn each_flag_names_its_tests_exactly() {
    let folder = run("rerun-flags");
    for (flag, names) in [
        ("--failed", "weather::oslo 'weather::r#match'"),
        ("--errors", "weather::broken"),
        ("--unfinished", "weather::killed"),
    ] {
        let ran = folder.run(&["rerun", flag, "--dry-run"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out, format!("cargo test --no-fail-fast -p app -- --exact {names}\n"));
    }
    let all = folder.run(&["rerun", "--dry-run"]).out;
    assert!(all.ends_with("weather::broken weather::killed weather::oslo 'weather::r#match'\n"), "{all}");
    let nextest = folder.run(&["rerun", "--errors", "--nextest", "--dry-run", "--", "--release"]).out;
    let expected = "cargo nextest run --no-fail-fast --release -E 'package(=app) & test(=weather::broken)'\n";
    assert_eq!(nextest, expected);
}

#[test]
fn nothing_to_run_again_is_fine_and_says_so() {
    let folder = Folder::new("rerun-nothing");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("a::x", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    for (args, says) in [
        (&["rerun"][..], "nothing to run again: every test passed\n"),
        (&["rerun", "--failed"], "nothing to run again: no test failed\n"),
        (
            &["rerun", "--unfinished"],
            "nothing to run again: every test that began has a verdict (tests that never began are in no record)\n",
        ),
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), says), "{}", ran.err);
    }
}

#[test]
fn cases_that_cargo_did_not_run_are_named() {
    let folder = Folder::new("rerun-program");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather/$(rm -rf ~)", 1);
    journal.decided(test, &failed(), None, "");
    journal.write();
    let ran = folder.run(&["rerun", "--failed"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("cargo did not run it: `weather/$(rm -rf ~)`"), "{}", ran.err);
}

#[test]
fn the_exit_code_of_cargo_is_handed_on() {
    let folder = run("rerun-code");
    // There is no package here, which cargo says by itself.
    let ran = folder.run(&["rerun", "--failed"]);
    assert_eq!(ran.code, Some(101), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("running cargo test --no-fail-fast -p app -- --exact weather::oslo"),
        "{}",
        ran.err
    );
}
