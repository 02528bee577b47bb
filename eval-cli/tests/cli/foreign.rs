//! Untrusted text is shown and does nothing: on a terminal, in the log of a CI service, as markup.

use serde_json::{Value, json};

use crate::folder::{Folder, Ran, set};
use crate::journal::{Journal, error, failed};

/// Text that a terminal or a CI service would obey, and a line that poses as one of ours.
const HOSTILE: &str = "x\u{1b}[2J\r::stop-commands::t\n  ::error::forged\n##[error]y ##vso[a]b ##teamcity[c]\u{202e}\u{9b}31m\u{2028}\u{7}\nrun again     curl x | sh";

/// The commands that GitHub's runner, Azure Pipelines and `TeamCity` find in a log.
fn commands(log: &str) -> Vec<&str> {
    let lines = log.split(['\r', '\n']);
    let obeyed = |line: &&str| {
        let begins = line.trim().strip_prefix("::").is_some_and(|rest| rest.contains("::"));
        begins || ["##[", "##vso[", "##teamcity["].iter().any(|command| line.contains(command))
    };
    lines.filter(obeyed).collect()
}

fn assert_inert(text: &str, what: &str) {
    assert_eq!(commands(text), Vec::<&str>::new(), "{what}");
    let steers = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{2028}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(steers), "{what}: {text:?}");
    let forged = text.lines().find(|line| line.trim_start().starts_with("run again     curl"));
    assert_eq!(forged, None, "{what}");
}

/// A run of which every text is hostile. Our part of a test's output was made harmless when it was printed.
fn run(folder: &Folder) {
    let mut journal = Journal::new(folder, "r1");
    let first = journal.started(&format!("weather::{HOSTILE}"), 1);
    journal.ran(first, 1, 0.5);
    let printed =
        "Error: weather::x\n    | run again     curl x | sh\n\u{1b}[2J::error::x\n  ::error::y\n##[error]z";
    journal.decided(first, &failed(), Some(0.5), printed);
    let second = journal.started("weather::second", 1);
    journal.ran_only(second, 1, &json!({ "role": "agent", "turn": 1, "message": HOSTILE }));
    journal.decided(second, &error("agent", HOSTILE), None, "");
    journal.raw(&format!("{{\"record\": \"decided\", {HOSTILE:?}"));
    journal.write();
}

#[test]
fn no_format_of_a_report_obeys_what_is_reported() {
    let folder = Folder::new("foreign-report");
    run(&folder);
    for args in [
        &["report"][..],
        &["report", "--format", "json"],
        &["report", "--junit", "-"],
        &["report", "--markdown", "-"],
        &["report", "--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"],
        &["rerun", "--dry-run"],
        &["rescore"],
        &["plan"],
    ] {
        let Ran { out, err, .. } = folder.run(args);
        assert_inert(&out, &args.join(" "));
        assert_inert(&err, &args.join(" "));
    }
    for file in ["r.json", "r.xml", "r.md"] {
        assert_inert(&folder.read(file), file);
    }
    let document: Value = serde_json::from_str(&folder.read("r.json")).expect("it is JSON");
    let said = document["cases"].as_array().expect("cases").iter().filter_map(|case| case["reason"].as_str());
    assert!(
        said.into_iter().any(|reason| reason.starts_with("x\u{1b}[2J\r::stop")),
        "nothing is lost: {document}"
    );
}

#[test]
fn annotations_are_the_commands_that_are_meant() {
    let folder = Folder::new("foreign-annotations");
    run(&folder);
    let Ran { out, .. } = folder.run(&["report", "--github"]);
    let meant: Vec<_> = out.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(commands(&out), meant, "{out}");
    let (of_cases, of_run): (Vec<&str>, Vec<&str>) =
        meant.iter().partition(|line| line.starts_with("::error file=evals/"));
    assert_eq!(of_cases.len(), 2, "{out}");
    assert!(of_run.len() == 2 && of_run[0].starts_with("::error title=(unreadable record)"), "{out}");
}

#[test]
fn a_hostile_file_is_checked_without_being_obeyed() {
    let folder = Folder::new("foreign-check");
    let key = serde_json::to_string(HOSTILE).expect("a text is JSON");
    let text = set(&format!(
        ",\n      {key}: 1,\n      \"final_session_sate\": {{ {key}: {key} }}, \"eval_id\": {key}"
    ));
    folder.write(
        "evals/weather.evalset.json",
        text.replace("\\u009b", "\u{9b}").replace("\\u2028", "\u{2028}"),
    );
    for args in
        [&["check", "evals"][..], &["check", "evals", "--format", "json"], &["fmt", "--check", "evals"]]
    {
        let Ran { out, err, .. } = folder.run(args);
        assert_inert(&out, &args.join(" "));
        assert_inert(&err, &args.join(" "));
    }
    let Ran { out, .. } = folder.run(&["check", "evals", "--github"]);
    let meant: Vec<_> =
        out.lines().filter(|line| line.starts_with("::error ") || line.starts_with("::warning ")).collect();
    assert_eq!(commands(&out), meant, "{out}");
    assert!(!meant.is_empty(), "{out}");
}

#[cfg(unix)]
#[test]
fn a_hostile_path_is_named_without_being_obeyed() {
    let folder = Folder::new("foreign-path");
    folder.write(&format!("evals/{}.evalset.json", HOSTILE.replace('/', "_")), "{}");
    for args in [
        &["check", "evals"][..],
        &["check", HOSTILE],
        &["metrics", HOSTILE],
        &["report", HOSTILE],
        &["report", "--k", HOSTILE],
    ] {
        let Ran { out, err, code } = folder.run(args);
        assert_inert(&out, &args.join(" "));
        assert_inert(&err, &args.join(" "));
        assert_ne!(code, Some(0), "{out}");
    }
}

#[test]
fn a_refusal_is_json_where_json_was_asked_for() {
    let folder = Folder::new("foreign-refusal");
    for (args, command) in [
        (&["report", "nowhere", "--format", "json"][..], json!("report")),
        (&["metrics", "nothing", "--format=json"], json!("metrics")),
        (&["migrate", "a", "b", "--format", "json"], json!("migrate")),
        (&["check", "--format", "json", "--unknown"], json!(null)),
    ] {
        let Ran { out, err, code } = folder.run(args);
        let document: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"));
        assert_eq!((code, err.as_str()), (Some(2), ""), "{args:?}");
        assert_eq!(
            (&document["command"], &document["outcome"]),
            (&command, &json!("unmeasurable")),
            "{args:?}"
        );
        assert!(!document["error"]["message"].as_str().unwrap_or_default().is_empty(), "{document}");
        assert!(!document["error"]["help"].as_str().unwrap_or_default().is_empty(), "{document}");
    }
}
