//! `review` on a terminal of its own: keys that decide, and keys that do nothing.

use std::path::Path;

use serde_json::json;

use crate::folder::{AGENT, Folder, Ran, plain};
use crate::review::{DRAFT, PARTS, SET, file, ran, with_part};

/// The set of the example with its sixth case, a draft.
pub(crate) fn six() -> String {
    file(SET).replacen("\n  ]\n}\n", DRAFT, 1)
}

/// A folder in which the set ran and has the draft too. Sets with drafts do not run.
pub(crate) fn folder(test: &str) -> Folder {
    let folder = ran(test, &file(SET));
    folder.write(SET, six());
    folder
}

/// Reviews on a terminal. A step is the text to wait for and what is typed then; a third element is a file that takes the place of
/// the set before.
pub(crate) fn typed(folder: &Folder, args: &[&str], steps: &[(&str, &str)]) -> Ran {
    let steps: Vec<_> = steps.iter().map(|(wanted, typed)| json!([wanted, typed])).collect();
    typed_with(folder, args, &steps, |_| {})
}

pub(crate) fn typed_with(
    folder: &Folder,
    args: &[&str],
    steps: &[serde_json::Value],
    change: impl FnOnce(&mut std::process::Command),
) -> Ran {
    let words = driver(folder, args, steps);
    let mut command = plain("python3".as_ref());
    command.args(&words[1..]).env("TERM", "xterm").env("NO_COLOR", "1").current_dir(folder.path(""));
    change(&mut command);
    let ran: Ran = command.output().expect("Python runs").into();
    assert!(!ran.out.contains("never shown: "), "{}{}", ran.out, ran.err);
    ran
}

/// The command of a review on a terminal, in words.
pub(crate) fn driver(folder: &Folder, args: &[&str], steps: &[serde_json::Value]) -> Vec<String> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review/typed.py");
    let program = folder.command(&[]).get_program().to_string_lossy().into_owned();
    let words = ["python3".to_owned(), driver.display().to_string(), json!(steps).to_string(), program];
    words.into_iter().chain(["review".to_owned()]).chain(args.iter().map(|&arg| arg.to_owned())).collect()
}

/// The prompt of a case with an offer, of its parts, and of a second question.
pub(crate) const CASE: &str = "q quit  ? > ";
pub(crate) const PART: &str = "/q] > ";
pub(crate) const YES: &str = "[y/N] > ";

#[test]
fn the_six_cases_of_the_example_are_decided_by_their_keys() {
    let folder = folder("typed-six");
    let steps = [
        (CASE, "a"),
        (YES, "y"),
        (CASE, "m"),
        ("number > ", "1"),
        (YES, "y"),
        (CASE, "a"),
        (PART, "a"),
        (PART, "r"),
        (CASE, "m"),
        ("number > ", "1"),
        (YES, "y"),
        // The answer varies still, so the case is shown again.
        (CASE, "s"),
        (CASE, "a"),
    ];
    let ran = typed(&folder, &[], &steps);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let expected = six()
        .replace("It is sunny in Paris.", "Paris has clear skies today, 23 November 2026.")
        .replace(
            r#""day": "2026-11-22"}}]}}]}"#,
            r#""day": "2026-11-22"}}]}}], "_expect": {"1": {"calls": {"get_weather": {"day": "date"}}}}}"#,
        )
        .replace(r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#)
        .replace("Hello!", "Good morning to you.")
        .replace(
            r#""args": {"a": 2, "b": 3}}]}}]}"#,
            r#""args": {"a": 2, "b": 3}}]}}], "_expect": {"1": {"optional": ["add"]}}}"#,
        )
        .replace(r#", "_draft": {"from": "a conversation of 3 May"}"#, "");
    assert_eq!(folder.read(SET), expected, "{}", ran.out);
    for says in [
        "6 cases, 5 failed",
        "4 can be accepted, 1 varies, 1 draft",
        "1 of 6  answer   desk.evalset.json:5   failed 5 of 5 runs, the same each time",
        "! turn 1, the answer: `23 November 2026` is ",
        "(a lower threshold is not offered: it would be fitted to these runs)",
        "will still fail: response_match_score 0.67",
        "would pass all of 5 runs of this record",
        "5 cases accepted, 1 skipped",
        "cargo evalset rescore",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
}

#[test]
fn a_red_run_is_green_once_its_cases_are_reviewed_and_the_agent_is_mended() {
    let folder = folder("typed-green");
    let steps = [
        (CASE, "a"),
        (YES, "y"),
        (CASE, "a"),
        (YES, "y"),
        (CASE, "a"),
        (PART, "a"),
        (PART, "a"),
        // Its answer varies: nothing of it is right.
        (CASE, "r"),
        (CASE, "a"),
    ];
    let reviewed = typed(&folder, &[], &steps);
    assert_eq!(reviewed.code, Some(0), "{}", reviewed.out);
    let set = folder.read(SET);
    let run = |cases: &str| folder.run(&["run", cases, "--agent-cmd", AGENT, "--runs", "3"]);
    let accepted = run("desk:answer,argument,new_call,two_turns,same");
    assert_eq!(accepted.code, Some(0), "{}", accepted.shown());
    assert_eq!(run(SET).code, Some(1), "what was not accepted fails still");
    let mended = file("agent.py")
        .replace("number % 5 != 3", "True")
        .replace("][number % 5]", "][0]")
        .replace("\"Hi\": \"Good", "\"Weather in Oslo?\": \"It rains in Oslo.\", \"Hi\": \"Good");
    folder.write("agent.py", mended);
    let green = run(SET);
    assert!(green.code == Some(0) && green.out.contains("all 7 cases passed"), "{}", green.shown());
    assert_eq!(folder.read(SET), set, "a run changes no set");
    let list = folder.run(&["review", "--list"]);
    assert!(list.out.ends_with("nothing is left to review\n"), "{}", list.shown());
}

#[test]
fn one_call_one_argument_and_the_answer_are_accepted_by_keys() {
    let folder = ran("typed-parts", PARTS);
    // Its call, the arguments of the call, the next call, the answer.
    for (keys, part) in [
        (&[(PART, "a"), (YES, "y"), (PART, "r"), (PART, "r")][..], ":1:1"),
        (&[(PART, "t"), (PART, "a"), (PART, "r"), (PART, "r"), (PART, "r")], ":1:1:city"),
        (&[(PART, "t"), (PART, "r"), (PART, "a"), (YES, "y"), (PART, "r"), (PART, "r")], ":1:1:day"),
        (&[(PART, "r"), (PART, "a"), (PART, "s")], ":1:2"),
        (&[(PART, "s"), (PART, "r"), (PART, "a")], ":1:answer"),
    ] {
        folder.write(SET, PARTS);
        let ran = typed(&folder, &[], &[&[(CASE, "t")], keys].concat());
        assert_eq!((ran.code, folder.read(SET)), (Some(0), with_part(part)), "{part}: {}", ran.out);
        assert!(ran.out.contains("1 case accepted"), "{part}: {}", ran.out);
    }
}

#[test]
fn enter_escape_a_paste_and_the_end_accept_nothing() {
    let folder = folder("typed-nothing");
    let nothing = ["\r", "\n", "\u{1b}", "\u{1b}[A", "aaaa", "yyyy", "a\r", "\u{1b}a"];
    let mut steps: Vec<(&str, &str)> = nothing.iter().map(|keys| (CASE, *keys)).collect();
    // The second question has no other yes.
    for keys in nothing.iter().chain(&["Y", "n", "a"]) {
        steps.extend([(CASE, "a"), (YES, *keys)]);
    }
    for end in ["q", "\u{3}", "\u{4}"] {
        let steps = [steps.as_slice(), &[(CASE, end)]].concat();
        let ran = typed(&folder, &["desk:answer"], &steps);
        assert_eq!(ran.code, Some(0), "{}", ran.out);
        assert!(ran.out.contains("0 cases accepted, 1 left"), "{}", ran.out);
        assert_eq!(folder.read(SET), six(), "{end:?}");
    }
    // A paste at each of the other prompts.
    let steps = [
        ("1 of 6", ""),
        (CASE, "s"),
        (CASE, "m"),
        ("number > ", "1111"),
        (CASE, "m"),
        ("number > ", "1"),
        (YES, "yyyy"),
        (CASE, "s"),
        (CASE, "aaaa"),
        (CASE, "s"),
        (PART, "aaaa"),
        (PART, "r"),
        (PART, "aaaa"),
        (PART, "r"),
        (CASE, "s"),
        (CASE, "aaaa"),
        (CASE, "r"),
        (YES, "yyyy"),
        (CASE, "\u{4}"),
    ];
    let ran = typed(&folder, &[], &steps);
    assert_eq!((ran.code, folder.read(SET)), (Some(0), six()), "{}", ran.out);
}

#[test]
fn the_rest_of_a_set_is_accepted_after_a_list_and_a_yes_in_full_and_never_with_a_warning() {
    let folder = folder("typed-rest");
    for line in ["y\n", "Yes\n", "\n", "yes yes\n"] {
        let ran = typed(&folder, &[], &[(CASE, "A"), ("type `yes` > ", line), (CASE, "q")]);
        assert_eq!((ran.code, folder.read(SET)), (Some(0), six()), "{line:?}: {}", ran.out);
    }
    let steps = [(CASE, "A"), ("accept 2 cases? type `yes` > ", "yes\n"), (CASE, "q")];
    let ran = typed(&folder, &[], &steps);
    let expected = six()
        .replace(r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#)
        .replace(r#", "_draft": {"from": "a conversation of 3 May"}"#, "");
    assert_eq!((ran.code, folder.read(SET)), (Some(0), expected), "{}", ran.out);
    assert!(ran.out.contains("4 cases have a warning, vary or still fail"), "{}", ran.out);

    folder.write(SET, six());
    let ran = typed(
        &folder,
        &[],
        &[(CASE, "R"), ("reject 5 cases? type `yes` > ", "yes\n"), (CASE, "S"), ("type `yes` > ", "yes\n")],
    );
    assert!(ran.out.contains("0 cases accepted, 5 rejected, 1 skipped"), "{}", ran.out);
    assert_eq!(folder.read(SET), six());
}

#[test]
fn a_write_is_taken_back_and_a_draft_is_removed_after_a_question() {
    let folder = folder("typed-undo");
    let steps = [
        (CASE, "u"),
        ("nothing is written yet", ""),
        (CASE, "s"),
        (CASE, "s"),
        (CASE, "a"),
        ("written", ""),
        (PART, "u"),
        ("taken back", ""),
        ("3 of 6", ""),
        (CASE, "s"),
        (PART, "q"),
    ];
    let ran = typed(&folder, &[], &steps);
    assert_eq!((ran.code, folder.read(SET)), (Some(0), six()), "{}", ran.out);

    let draft = ["desk:rain in Oslo"];
    let ran = typed(&folder, &draft, &[(CASE, "r"), (YES, "n"), (CASE, "r"), (YES, "y")]);
    assert_eq!((ran.code, folder.read(SET)), (Some(0), file(SET)), "{}", ran.out);
    folder.write(SET, six());
    let ran = typed(&folder, &draft, &[(CASE, "a")]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(folder.read(SET), six().replace(r#", "_draft": {"from": "a conversation of 3 May"}"#, ""));
}

#[test]
fn the_case_is_edited_in_the_users_editor_checked_and_shown() {
    let folder = folder("typed-edit");
    folder.write("ed.py", "import sys\npath = sys.argv[-1]\ntext = open(path).read()\nopen(path, 'w').write(text.replace(sys.argv[1], sys.argv[2]))\n");
    let edited = |from: &str, to: &str, steps: &[(&str, &str)]| {
        folder.write(SET, six());
        let steps: Vec<_> = steps.iter().map(|(wanted, typed)| json!([wanted, typed])).collect();
        let editor = format!("python3 '{}' '{from}' '{to}'", folder.path("ed.py").display());
        typed_with(&folder, &["desk:answer"], &steps, |command| {
            command.env("EDITOR", editor).env_remove("VISUAL");
        })
    };
    let ran = edited("sunny", "clear", &[(CASE, "e"), ("+ ", ""), (YES, "n"), (CASE, "q")]);
    assert_eq!(folder.read(SET), six(), "{}", ran.out);
    // It fails still, so it is shown again: the run is of another case.
    let ran = edited("sunny", "clear", &[(CASE, "e"), (YES, "y"), ("written", ""), (CASE, "q")]);
    assert_eq!(folder.read(SET), six().replace("sunny", "clear"), "{}", ran.out);
    let ran = edited("conversation", "conversations", &[(CASE, "e"), ("error: ", ""), (CASE, "q")]);
    assert_eq!(folder.read(SET), six(), "{}", ran.out);
    let ran = edited("no such text", "x", &[(CASE, "e"), ("nothing was changed", ""), (CASE, "q")]);
    assert_eq!((ran.code, folder.read(SET)), (Some(0), six()), "{}", ran.out);
    let steps = [json!([CASE, "e"]), json!(["no editor is set", ""]), json!([CASE, "q"])];
    let ran = typed_with(&folder, &["desk:answer"], &steps, |command| {
        command.env_remove("EDITOR").env_remove("VISUAL");
    });
    assert_eq!(ran.code, Some(0), "{}", ran.out);
}

#[test]
fn a_case_runs_five_times_more_and_its_record_is_shown() {
    let folder = Folder::new("typed-again");
    folder.write("agent.py", file("agent.py")).write(SET, file(SET)).write("counter", "1");
    let run = ["run", "desk:argument,unstable", "--agent-cmd", AGENT];
    assert_eq!(folder.run(&run).code, Some(1));
    let id = folder.read(".evalset/latest").trim().to_owned();
    let steps = [
        ("1 run: nothing shows whether it varies", ""),
        (CASE, "d"),
        ("run 1 of 1: failed", ""),
        (r#"call      get_weather(city: "Oslo", day: "2026-11-23")"#, ""),
        ("score     tool_trajectory_avg_score 0.0: failed", ""),
        (CASE, "x"),
        ("failed 6 of 6 runs, the same each time", ""),
        (CASE, "a"),
        (YES, "y"),
        ("2 of 2", ""),
        (CASE, "x"),
        ("not offered: no behaviour is common to all 6 runs", ""),
        (CASE, "s"),
    ];
    let ran = typed(&folder, &[], &steps);
    assert_eq!(
        (ran.code, folder.read(SET)),
        (Some(0), file(SET).replace("2026-11-22", "2026-11-23")),
        "{}",
        ran.out
    );
    // The further runs are no sample of the build, and no run to review by themselves.
    let list = folder.run(&["review", "--list"]);
    assert!(list.code == Some(0) && list.out.contains(&format!("run {id}")), "{}", list.shown());
    let bless = folder.run(&["bless", "--format", "json"]);
    let document: serde_json::Value =
        serde_json::from_str(&bless.out).unwrap_or_else(|_| panic!("{}", bless.shown()));
    assert_eq!(document["runs"], json!([id]), "{document}");
}

#[test]
fn a_case_that_was_changed_while_it_was_shown_is_shown_anew_and_not_written() {
    let folder = folder("typed-stale");
    let other = six().replace(r#"{"id": 7}"#, r#"{"id": 8}"#);
    folder.write("other.json", &other);
    let paths = json!([folder.path("other.json"), folder.path(SET)]);
    let steps = [
        json!([CASE, "a", paths]),
        json!(["the case `new_call` was changed meanwhile", ""]),
        json!(["not offered: the case was edited since it ran", ""]),
        json!([CASE, "a"]),
        json!([CASE, "q"]),
    ];
    let ran = typed_with(&folder, &["desk:new_call"], &steps, |_| {});
    assert_eq!((ran.code, folder.read(SET)), (Some(0), other), "{}", ran.out);
}

#[test]
fn what_was_accepted_before_a_kill_stays() {
    let folder = folder("typed-kill");
    let new_call = six()
        .replace(r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#);
    let steps = [(CASE, "s"), (CASE, "s"), (CASE, "a"), ("written", ""), (PART, "kill")];
    let ran = typed(&folder, &[], &steps);
    assert_ne!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(folder.read(SET), new_call, "{}", ran.out);
    // The next review goes on with the others.
    let list = folder.run(&["review", "--list"]);
    assert!(list.out.contains("3 can be accepted, 1 varies, 1 not offered, 1 draft"), "{}", list.out);
}

#[test]
fn a_terminal_that_shows_no_keys_and_the_terminal_of_a_job_are_refused() {
    let folder = folder("typed-dumb");
    for (name, value) in [("TERM", "dumb"), ("CI", "true")] {
        let steps = [json!(["cargo evalset review --list", ""])];
        let ran = typed_with(&folder, &[], &steps, |command| {
            command.env(name, value);
        });
        assert_eq!((ran.code, folder.read(SET)), (Some(2), six()), "{}", ran.out);
    }
}
