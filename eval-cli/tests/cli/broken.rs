//! Missing, broken and hostile input, and readers that stop reading.

use std::io::Read;
use std::process::Stdio;

use crate::folder::{Folder, set};

#[test]
fn paths_that_stand_for_nothing_are_named_and_the_others_checked() {
    let folder = Folder::new("broken-paths");
    folder
        .write("evals/good.evalset.json", set(""))
        .write("empty/readme.txt", "")
        .write("evals/x/y.json", "1");
    let ran = folder.run(&[
        "check",
        "evals",
        "eval",
        "empty",
        "evals/*.yaml",
        "evals/[",
        "evals/good.evalset.json/a",
    ]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn wrong_usage_is_2() {
    let folder = Folder::new("broken-usage");
    for args in
        [&["check"][..], &[], &["chek", "."], &["check", ".", "--format", "xml"], &["check", ".", "--hepl"]]
    {
        assert_eq!(folder.run(args).code, Some(2), "{args:?}");
    }
    assert_eq!(folder.run(&["check", ".", "--github", "--format", "json"]).code, Some(2));
    assert_eq!(folder.run(&["--help"]).code, Some(0));
}

#[test]
fn every_command_shows_examples() {
    let folder = Folder::new("broken-help");
    let help = folder.run(&["--help"]).out;
    let (_, commands) = help.split_once("Commands:\n").expect("the help lists the commands");
    // Longer descriptions go on in further lines, which are indented deeper.
    let names =
        commands.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' '));
    let commands: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 9, "{help}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let ran = folder.run(&[command, "--help"]);
        if ran.err.contains("which this build lacks") {
            continue;
        }
        assert!(ran.out.contains("Examples:\n  cargo evalset "), "{command}: {}", ran.out);
        assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{command}: {}", ran.out);
    }
}

#[test]
fn bytes_that_are_no_json_are_errors_of_the_file() {
    let folder = Folder::new("broken-bytes");
    let deep = "[".repeat(200_000);
    for (name, bytes, expected) in [
        ("empty", &b""[..], "the file is empty"),
        ("latin", b"{\"caf\xe9\": 1}", "the file is not UTF-8"),
        ("wide", b"\xff\xfe{\0}\0", "the file is UTF-16, not UTF-8"),
        ("marked", b"\xef\xbb\xbf{}", "the file begins with a byte order mark"),
        ("zeros", &[0; 1000], "expected"),
        ("deep", deep.as_bytes(), "nesting is too deep"),
        ("cut", br#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "#, "the file ends"),
    ] {
        let file = format!("{name}.evalset.json");
        folder.write(&file, bytes);
        for command in
            [&["check", &file][..], &["check", "--fix", &file], &["fmt", &file], &["migrate", &file, "new"]]
        {
            let ran = folder.run(command);
            assert_eq!(ran.code, Some(1), "{command:?}: {}", ran.shown());
            assert!(ran.out.contains(expected), "{command:?}: {}", ran.shown());
        }
        assert_eq!(
            std::fs::read(folder.path(&file)).expect("the file is there"),
            bytes,
            "{name} is left alone"
        );
    }
    assert!(!folder.path("new").exists());
}

#[test]
fn a_line_of_thousands_of_problems_takes_one_pass() {
    let folder = Folder::new("broken-line");
    let cases = vec![r#"{"eval_id": 1}"#; 10_000].join(",");
    folder.write("s.evalset.json", format!(r#"{{"eval_set_id": "s", "eval_cases": [{cases}]}}"#));
    let human = folder.run(&["check", "s.evalset.json"]);
    assert!(human.out.contains("... and 19980 more problems in `s.evalset.json`"), "{}", human.out);
    // Each of the 20,000 problems finds its column in a line of 140 kB.
    let annotated = folder.run(&["check", "s.evalset.json", "--github"]);
    assert_eq!(annotated.out.lines().filter(|line| line.starts_with("::error")).count(), 20_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_2_and_the_others_are_checked() {
    let folder = Folder::new("broken-unreadable");
    folder.write("typo.evalset.json", set(",\n \"final_session_sate\": {}"));
    // This file exists, and no user can read it from its beginning.
    let ran = folder.run(&["check", "/proc/self/mem", "typo.evalset.json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("error: cannot read `/proc/self/mem`: "), "{}", ran.out);
    assert!(ran.out.ends_with("2 files, 1 case: 1 error, 1 path not checked\n"), "{}", ran.out);
    assert_eq!(folder.run(&["fmt", "--check", "/proc/self/mem"]).code, Some(2));
    assert_eq!(folder.run(&["migrate", "/proc/self/mem", "new.json"]).code, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_the_output_is_told() {
    let folder = Folder::new("broken-full");
    folder.write("s.evalset.json", set(""));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
    let output =
        folder.command(&["check", "s.evalset.json"]).stdout(full).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: cannot write the output: "), "{said}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_changes_neither_the_exit_code_nor_the_fix() {
    let folder = Folder::new("broken-pipe");
    folder.write("a.test.json", r#"[{"query": "Hi"}]"#);
    for number in 0..200 {
        folder.write(&format!("{number}.evalset.json"), "{");
    }
    let mut child = folder
        .command(&["check", ".", "--fix"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(said, "");
    assert!(folder.read("a.test.json").starts_with("{\n  \"eval_set_id\": \"a\""));
}

#[test]
fn a_variable_that_nothing_reads_is_an_error_of_every_command() {
    let folder = Folder::new("broken-variable");
    for command in [&["check", "."][..], &["report"], &["metrics"], &["plan", "."]] {
        let output = folder.command(command).env("EVALSET_JUGDE", "live").output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(
            said.contains("nothing reads the variable `EVALSET_JUGDE`; did you mean `EVALSET_JUDGE`?"),
            "{said}"
        );
    }
    let help = folder.command(&["--help"]).env("EVALSET_JUGDE", "live").output().expect("it runs");
    assert!(help.status.success(), "help is there in any case");
}
