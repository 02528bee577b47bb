//! The command under its two names: what it prints can be typed by a person who has that one.

use crate::folder::{Folder, Ran, set};
use crate::run;

const EVALSET: &str = env!("CARGO_BIN_EXE_evalset");
const CARGO_EVALSET: &str = env!("CARGO_BIN_EXE_cargo-evalset");

fn ran(folder: &Folder, program: &str, args: &[&str]) -> Ran {
    folder.command_of(program, args).output().expect("the program runs").into()
}

/// All that the program prints.
fn printed(folder: &Folder, program: &str, args: &[&str]) -> String {
    let ran = ran(folder, program, args);
    ran.out + &ran.err
}

/// The commands, as the help lists them.
fn commands(folder: &Folder) -> Vec<String> {
    let help = printed(folder, EVALSET, &["--help"]);
    let (_, listed) = help.split_once("Commands:\n").expect("the help lists the commands");
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_help_of_each_command_names_the_program_that_was_started() {
    let folder = Folder::new("program-help");
    let commands = commands(&folder);
    assert!(commands.len() > 20, "{commands:?}");
    let mut with_examples = 0;
    for command in commands.iter().map(String::as_str) {
        let [plain, cargo] =
            [EVALSET, CARGO_EVALSET].map(|program| printed(&folder, program, &[command, "--help"]));
        // The package has one name, whatever started.
        let plain = plain.replace(" cargo-evalset --features", " evalset --features");
        assert!(!plain.contains("cargo evalset") && !plain.contains("cargo-evalset"), "{command}: {plain}");
        // Lines may be broken elsewhere.
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        let renamed = cargo.replace("cargo evalset", "evalset").replace("cargo-evalset", "evalset");
        assert_eq!(words(&plain), words(&renamed), "{command}");
        with_examples += usize::from(plain.contains(&format!("  evalset {command} ")));
    }
    assert!(with_examples > 15, "{with_examples} of {commands:?}");
}

#[test]
fn the_version_and_wrong_usage_name_the_program_that_was_started() {
    let folder = Folder::new("program-usage");
    for (program, name, usage) in
        [(EVALSET, "evalset ", "evalset"), (CARGO_EVALSET, "cargo-evalset ", "cargo evalset")]
    {
        let version = ran(&folder, program, &["--version"]);
        assert_eq!((version.code, version.out.starts_with(name)), (Some(0), true), "{}", version.out);
        for (args, rest) in
            [(&["run"][..], "run [OPTIONS] <AGENT>"), (&["fmt"], "fmt <PATH"), (&["record"], "record [")]
        {
            let wrong = ran(&folder, program, args);
            assert_eq!(wrong.code, Some(2), "{args:?}: {}", wrong.err);
            assert!(wrong.err.contains(&format!("Usage: {usage} {rest}")), "{args:?}: {}", wrong.err);
        }
    }
}

#[test]
fn only_cargo_puts_a_word_before_the_command() {
    let folder = Folder::new("program-word");
    assert_eq!(ran(&folder, CARGO_EVALSET, &["evalset", "metrics"]).code, Some(0));
    let refused = ran(&folder, EVALSET, &["evalset", "metrics"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("unrecognized subcommand 'evalset'"), "{}", refused.err);
}

#[test]
fn messages_say_what_can_be_typed() {
    let folder = run::folder("program-messages");
    let failing =
        "import sys\nprint('{\"type\": \"hello\", \"protocol\": 1}', flush=True)\nsys.stdin.read()\n";
    folder.write("silent.py", failing);
    folder.write("evals/drafts.evalset.json", set(r#", "_draft": { "from": "x" }"#));
    folder
        .write("evals/old.test.json", r#"[{"query": "Hi", "expected_tool_use": [], "reference": "Hello"}]"#);
    folder.write("evals/trace.evalset.json", r#"{"resourceSpans": []}"#);
    folder.write("prompts.txt", "What is the weather in Lima?\n");
    let agent = ["--agent-cmd", "python3 weather.py"];
    let of_agent = |args: &[&'static str]| [args, &agent[..]].concat();
    for (args, said) in [
        (
            of_agent(&["run", "evals/mixed.evalset.json:lost"]),
            "evalset run evals/mixed.evalset.json:lost --agent-cmd",
        ),
        (of_agent(&["run", "fine:none"]), "`evalset run "),
        (of_agent(&["run", "evals/drafts.evalset.json"]), "`evalset accept evals/drafts.evalset.json:sunny`"),
        (of_agent(&["record", "prompts.txt", "-o", "new.evalset.json"]), "`evalset accept new.evalset.json`"),
        (
            vec!["check", "evals/drafts.evalset.json"],
            "`evalset accept evals/drafts.evalset.json:sunny`; or `evalset remove-case`",
        ),
        (vec!["check", "evals/trace.evalset.json"], "`evalset import FILE -o SET`"),
        (vec!["check", "evals/trace.evalset.json", "--format", "json"], "`evalset import FILE -o SET`"),
        (vec!["fmt", "evals/old.test.json"], "`evalset migrate`"),
        (vec!["fmt", "--check", "evals/more"], "`evalset fmt` without `--check`"),
        (vec!["create", "x.json"], "`evalset create x.evalset.json`"),
        (vec!["create", "x.evalset.json"], "`evalset add-case x.evalset.json FILE`"),
        (
            vec!["accept", "evals/mixed.evalset.json:sunny"],
            "`evalset list evals/mixed.evalset.json --drafts`",
        ),
        (vec!["metrics"], "`evalset metrics NAME`"),
        (vec!["metrics", "nonsense"], "`evalset metrics`"),
        (vec!["report"], "evalset run evals/mixed.evalset.json:lost --agent-cmd"),
    ] {
        let printed = printed(&folder, EVALSET, &args);
        assert!(printed.contains(said), "{args:?}: {printed}");
        assert!(!printed.contains("cargo evalset"), "{args:?}: {printed}");
    }
    // Texts of others stay: a folder that is named like a command.
    let named = printed(&folder, EVALSET, &["check", "cargo evalset check/none.evalset.json"]);
    assert!(named.contains("cargo evalset check/none.evalset.json"), "{named}");
}

#[test]
fn a_run_of_either_name_is_reported_by_both() {
    let folder = run::folder("program-report");
    let args = ["run", "fine", "--agent-cmd", "python3 weather.py"];
    for program in [EVALSET, CARGO_EVALSET] {
        assert_eq!(ran(&folder, program, &args).code, Some(0));
        for reader in [EVALSET, CARGO_EVALSET] {
            let report = ran(&folder, reader, &["report"]);
            assert_eq!(report.code, Some(0), "{}{}", report.out, report.err);
        }
    }
}

#[test]
fn completions_complete_the_program_that_was_started() {
    let folder = Folder::new("program-completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let [plain, cargo] =
            [EVALSET, CARGO_EVALSET].map(|program| ran(&folder, program, &["completions", shell]).out);
        assert!(plain.contains("evalset") && !plain.contains("cargo-evalset"), "{shell}");
        assert!(cargo.contains("cargo-evalset"), "{shell}");
    }
}
