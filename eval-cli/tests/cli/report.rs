use eval_format::Value;
use serde_json::json;

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, outcome, passed};

const FAILURE: &str = "Error: weather::oslo: response_match_score is 0.5, below 0.8\n  --> evals/weather.evalset.json:12:5  case `oslo`\n\nexpected  Rain\nactual    Sun";

/// A run with a case of every kind.
fn mixed(folder: &Folder) {
    let mut journal = Journal::new(folder, "r1");
    let sunny = journal.started("weather::sunny", 3);
    (1..=3).for_each(|run| journal.ran(sunny, run, 1.0));
    journal.decided(sunny, &passed(), Some(1.0), "");

    let oslo = journal.started("weather::oslo", 3);
    (1..=3).for_each(|run| journal.ran(oslo, run, 0.5));
    journal.decided(oslo, &failed(), Some(0.5), FAILURE);

    let sometimes = journal.started("weather::sometimes", 3);
    [1.0, 0.7, 1.0].into_iter().zip(1..).for_each(|(score, run)| journal.ran(sometimes, run, score));
    journal.decided(sometimes, &passed(), Some(0.9), "");

    let broken = journal.started("weather::broken", 3);
    journal.ran(broken, 1, 1.0);
    let refused = json!({ "role": "agent", "turn": 1, "message": "connection refused" });
    journal.ran_only(broken, 2, &refused);
    journal.ran_only(broken, 3, &refused);
    let reason = "run 2 of 3: agent error in turn 1: connection refused";
    let text = format!("Error: weather::broken: {reason}\n\nrun again  ..");
    journal.decided(broken, &error("agent", reason), None, &text);

    let killed = journal.started("weather::killed", 3);
    journal.ran(killed, 1, 1.0);
    journal.write_torn();
}

/// A run in which everything passed.
fn good(folder: &Folder, run: &str) {
    let mut journal = Journal::new(folder, run);
    for name in ["weather::sunny", "weather::oslo"] {
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &passed(), Some(1.0), "");
    }
    journal.write();
}

#[test]
fn a_run_is_shown_as_far_as_it_came() {
    let folder = Folder::new("report-mixed");
    mixed(&folder);
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2), "what is unknown is worse than what failed");
    insta::assert_snapshot!(ran.shown());
    let (shown, _) = ran.out.split_once("           agent ").expect("the tokens follow");
    assert!(include_str!("../../README.md").contains(shown), "the README shows it");
}

#[test]
fn the_exit_code_says_passed_failed_or_unknown() {
    let folder = Folder::new("report-codes");
    good(&folder, "r1");
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("2 cases: 2 passed · 2/2 runs have a verdict"), "{}", ran.out);

    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "others");
    let test = journal.started("weather::rome", 1);
    journal.ran(test, 1, 0.5);
    journal.decided(test, &failed(), Some(0.5), FAILURE);
    journal.write();
    assert_eq!(folder.run(&["report"]).code, Some(1));

    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "more");
    journal.raw("{\"record\": \"decided\", \"test\": 7, \"verdict\": {\"is\": \"passed\"}}");
    journal.write();
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2), "a line that cannot be read may be any verdict");
    assert!(ran.out.contains("app-more-4711-0.jsonl:2 cannot be read"), "{}", ran.out);
}

#[test]
fn replayed_answers_are_counted_where_the_journal_tells_of_them() {
    let folder = Folder::new("report-replayed");
    let written = |judge: serde_json::Value| {
        let mut journal = Journal::new(&folder, "r1");
        let test = journal.started("weather::sunny", 1);
        journal.ran_only(test, 1, &json!(null));
        let metric = json!({ "name": "m", "outcome": outcome(&[1.0]), "judge": judge });
        let scored =
            json!({ "record": "scored", "test": test, "run": 1, "evaluation": 1, "metrics": [metric] });
        journal.raw(&scored.to_string());
        journal.decided(test, &passed(), Some(1.0), "");
        journal.write();
    };
    let all = json!({ "model": "a", "asked": 12, "replayed": 10, "usage": {} });
    let none = json!({ "model": "b", "asked": 1, "failed": 1, "replayed": 0, "usage": {} });
    let untold = json!({ "model": "c", "asked": 2, "usage": {} });
    for (judge, said, replayed) in [
        (json!([all]), "judges 12 questions (10 replayed, 2 asked), ", "10"),
        (json!([all, none]), "judges 13 questions (10 replayed, 2 asked, 1 without an answer), ", "10"),
        (json!([all, none, untold]), "judges 15 questions (1 without an answer), ", "null"),
        (json!([untold]), "judges 2 questions, ", "null"),
    ] {
        written(judge);
        let ran = folder.run(&["report", "--json", "r.json", "--markdown", "r.md"]);
        assert!(ran.out.contains(said), "{}{}", ran.out, ran.err);
        assert!(folder.read("r.md").contains(said), "{}", folder.read("r.md"));
        let field = format!("\"judge_replayed\": {replayed}\n");
        assert!(folder.read("r.json").contains(&field), "{}", folder.read("r.json"));
    }
}

#[test]
fn a_beginning_that_was_torn_is_no_pass() {
    let folder = Folder::new("report-torn");
    good(&folder, "r1");
    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "others");
    let rome = journal.started("weather::rome", 1);
    journal.ran(rome, 1, 1.0);
    journal.decided(rome, &passed(), Some(1.0), "");
    journal.write_torn_at("{\"record\":\"started\",\"te");
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("of 3 cases: 1 more test began, and its record is incomplete"), "{}", ran.out);
    let ran = folder.run(&["rerun"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("left over     (1 test more): 1 test more began"), "{}", ran.out);
}

#[test]
fn skipped_alone_is_nothing_checked() {
    let folder = Folder::new("report-skipped");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.ran_only(test, 1, &json!(null));
    journal.scored(test, 1, &json!({ "unjudged": "no judge" }));
    journal.decided(test, &json!({ "is": "skipped", "reason": "no judge" }), None, "");
    journal.write();
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("all skipped, so nothing was checked"), "{}", ran.out);
    assert!(ran.out.contains("0/1 run has a verdict"), "{}", ran.out);
}

#[test]
fn two_errors_of_three_are_not_full_marks() {
    let folder = Folder::new("report-errors");
    let mut journal = Journal::new(&folder, "r1");
    for (name, verdict) in
        [("a::x", passed()), ("a::y", error("agent", "503")), ("a::z", error("judge", "unreadable"))]
    {
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
    }
    journal.write();
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("pass rate 1/3 = 33% of cases"), "{}", ran.out);
}

#[test]
fn pass_at_more_than_the_runs_is_an_error() {
    let folder = Folder::new("report-k");
    mixed(&folder);
    assert!(folder.run(&["report", "-k", "2"]).out.contains("pass@2 "));
    let ran = folder.run(&["report", "-k", "5"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("k is 5, and there are no more than 3 runs"), "{}", ran.err);
    let ran = folder.run(&["report", "-k", "0"]);
    assert!(ran.err.contains("k is 0, and it is at least 1"), "{}", ran.err);
    assert_eq!(folder.run(&["report", "-k", "0"]).code, Some(2));
}

#[test]
fn a_run_is_named_by_its_id_its_folder_or_not_at_all() {
    let folder = Folder::new("report-named");
    let none = folder.run(&["report"]);
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("holds no recorded run"), "{}", none.err);
    good(&folder, "first");
    mixed(&folder);
    folder.write(".evalset/latest", "first");
    assert_eq!(folder.run(&["report"]).code, Some(0), "the last is the one that was written last");
    assert_eq!(folder.run(&["report", "r1"]).code, Some(2));
    assert_eq!(folder.run(&["report", ".evalset/first"]).code, Some(0));
    assert_eq!(folder.run(&["report", ".evalset"]).code, Some(0));
    let wrong = folder.run(&["report", "fist"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean `first`?"), "{}", wrong.err);
    assert!(folder.run(&["report", "evals"]).err.contains("there is no run `evals`"));
    folder.write("empty/x.txt", "");
    assert!(folder.run(&["report", "empty"]).err.contains("`empty` holds no journal"));
}

#[test]
fn partitions_are_merged() {
    let folder = Folder::new("report-merge");
    for (part, name) in [("one", "a::x"), ("two", "a::y")] {
        let mut journal = Journal::at(&folder, &format!("{part}/evalset/{part}"), part, "evals");
        let test = journal.started(name, 1);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &passed(), Some(1.0), "");
        journal.write();
    }
    let ran = folder.run(&["report", "--merge", "one/evalset", "two/evalset/two"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("one + two") && ran.out.contains("2 cases: 2 passed"), "{}", ran.out);
}

#[test]
fn what_passed_only_when_tried_again_says_so() {
    let folder = Folder::new("report-retried");
    let mut journal = Journal::new(&folder, "r1");
    let first = journal.attempted("a::x", 1, 1);
    journal.ran(first, 1, 0.5);
    journal.decided(first, &failed(), Some(0.5), FAILURE);
    let second = journal.attempted("a::x", 1, 2);
    journal.ran(second, 1, 1.0);
    journal.decided(second, &passed(), Some(1.0), "");
    journal.write();
    let ran = folder.run(&["report", "--github", "--junit", "junit.xml"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("(attempt 2, 1 attempt before it did not pass)"), "{}", ran.out);
    assert!(ran.out.contains("1 case passed only when the runner tried again"), "{}", ran.out);
    assert!(ran.out.contains("::warning file=evals/weather.evalset.json"), "{}", ran.out);
    assert!(folder.read("junit.xml").contains("<flakyFailure"), "{}", folder.read("junit.xml"));
}

#[test]
fn a_case_whose_agent_was_not_reached_at_first_is_named() {
    let folder = Folder::new("report-repeated");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("trip::oslo", 1);
    journal.ran(test, 1, 1.0);
    let note = "run 1 was repeated 2 times, as the agent was not reached: connection refused";
    let decided = json!({
        "record": "decided", "test": test, "verdict": passed(), "metrics": [], "elapsed": 1.0, "notes": [note],
        "repeated": 2, "at": "2026-11-22T02:31:38.500Z",
    });
    journal.raw(&decided.to_string());
    journal.write();
    let ran = folder.run(&["report", "--markdown", "report.md"]);
    let told = "`retry` repeated runs of 1 case, as the agent was not reached: trip::oslo";
    assert!(ran.out.contains(told), "{}{}", ran.out, ran.err);
    assert!(folder.read("report.md").contains("repeated runs of 1 case"), "{}", folder.read("report.md"));
    assert!(folder.run(&["report", "--format", "json"]).out.contains(note));
}

#[test]
fn continuous_integration_gets_its_formats() {
    let folder = Folder::new("report-formats");
    mixed(&folder);
    let args =
        ["report", "--junit", "junit.xml", "--json", "report.json", "--markdown", "summary.md", "--github"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let annotations: Vec<_> = ran.out.lines().filter(|line| line.starts_with("::")).collect();
    insta::assert_snapshot!("report_github", annotations.join("\n"));
    insta::assert_snapshot!("report_junit", folder.read("junit.xml"));
    insta::assert_snapshot!("report_markdown", folder.read("summary.md"));
    insta::assert_snapshot!("report_json", folder.read("report.json"));
    let printed = folder.run(&["report", "--format", "json"]).out;
    assert_eq!(printed, folder.read("report.json"));
    Value::parse(&printed).expect("it is JSON");
}

#[test]
fn a_dash_sends_one_report_to_standard_output() {
    let folder = Folder::new("report-dash");
    good(&folder, "r1");
    folder.run(&["report", "--markdown", "summary.md"]);
    let ran = folder.run(&["report", "--markdown", "-", "--junit", "junit.xml"]);
    assert_eq!((ran.code, &ran.out), (Some(0), &folder.read("summary.md")));
    for others in [&["--json", "-"][..], &["--github"]] {
        let ran = folder.run(&[&["report", "--markdown", "-"], others].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("only one report can go to standard output (`-`)"), "{}", ran.err);
    }
}

#[test]
fn a_file_of_an_earlier_run_is_named_where_no_other_is_written() {
    let folder = Folder::new("report-earlier");
    good(&folder, "r1");
    assert_eq!(folder.run(&["report", "--junit", "j.xml", "--json", "r.json"]).code, Some(0));
    let before = folder.read("j.xml");
    let ran = folder.run(&["report", "r2", "--junit", "j.xml", "--json", "r.json", "--markdown", "m.md"]);
    assert_eq!(ran.code, Some(2));
    let said = "; `j.xml` and `r.json` are of an earlier run: do not take them for this one";
    assert!(ran.err.contains(said), "{}", ran.err);
    assert_eq!(folder.read("j.xml"), before);
    // The set is not here, so that the second of the two files cannot be written.
    folder.write("t.csv", "eval_status\nPASSED\n");
    let ran = folder.run(&["report", "--junit", "j.xml", "--csv", "t.csv"]);
    assert_eq!(ran.code, Some(2));
    let said = "; `t.csv` is of an earlier run: do not take it for this one";
    assert!(ran.err.contains(said) && !ran.err.contains("j.xml"), "{}", ran.err);
    // There is no agent, so nothing runs.
    let ran = folder.run(&["run", "none", "--agent-cmd", "true", "--json", "r.json"]);
    assert!(ran.code == Some(2) && ran.err.contains("; `r.json` is of an earlier run"), "{}", ran.err);
}

#[test]
fn transcripts_are_not_obeyed() {
    let folder = Folder::new("report-hostile");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("a::x", 1);
    journal.ran(test, 1, 0.5);
    let text = "Error: a::x: \u{1b}[2J ::error::x\nactual </script>]]> \u{0}\u{ffff}\u{202e}```\n::error::forged\n| x |";
    journal.decided(test, &failed(), Some(0.5), text);
    journal.write();
    let args = ["report", "--junit", "junit.xml", "--json", "report.json", "--markdown", "summary.md"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    for text in [&ran.out, &folder.read("junit.xml"), &folder.read("summary.md")] {
        assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']), "{text:?}");
    }
    let junit = folder.read("junit.xml");
    assert!(junit.contains("&lt;/script&gt;") && !junit.contains('\u{ffff}'), "{junit}");
    let parsed = quick_junit::Report::deserialize_from_str(&junit);
    assert_eq!(parsed.expect("it is XML").test_suites.len(), 1);
    assert!(folder.read("summary.md").contains("\n````text\n"), "{}", folder.read("summary.md"));
    Value::parse(&folder.read("report.json")).expect("it is JSON");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let folder = Folder::new("report-unwritten");
    good(&folder, "r1");
    let ran = folder.run(&["report", "--junit", "nowhere/junit.xml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("cannot write `nowhere/junit.xml`"), "{}", ran.err);
}

#[test]
fn keys_in_a_journal_are_in_no_report() {
    const KEY: &str = "sk-canary-0123456789abcdef";
    let folder = Folder::new("report-secrets");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started(&format!("a::{KEY}"), 1);
    journal.ran(test, 1, 0.5);
    let text =
        format!("Error: a::x: the key is {KEY}\n| DATABASE_URL=postgres://me:canary-password@db.test/x");
    journal.decided(test, &failed(), Some(0.5), &text);
    journal.write();
    let files = ["--junit", "junit.xml", "--json", "report.json", "--markdown", "summary.md"];
    let written = ["report"].into_iter().chain(files).collect::<Vec<_>>();
    for args in
        [&written[..], &["report", "--format", "json"], &["report", "--github"], &["plan"], &["rescore"]]
    {
        let ran = folder.run(args);
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains("canary"), "{args:?}: {text}");
        }
    }
    for file in ["junit.xml", "report.json", "summary.md"] {
        let text = folder.read(file);
        assert!(text.contains("(a key)") && !text.contains("canary"), "{file}: {text}");
    }
}
