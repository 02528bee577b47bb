//! Whatever is recorded is read again as it was.

use std::fmt::Debug;
use std::fs;
use std::time::{Duration, SystemTime};

use eval_format::{Criterion, EvalCase, Gate, Invocation, Map, Pass};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::report::tests::strategies::{expected, metric, run};
use crate::report::{CaseReport, RunReport, ScoredMetric};
use crate::runner::EvalRunner;
use crate::transcript::Transcript;
use crate::verdict::{Role, Verdict};

mod complete;
mod outlines;
mod runner;
mod written;

use written::{all_sealed, broke_line, journal, line, ran_line, scored_line, sealed};

fn again(line: &[u8]) -> Record {
    let line = std::str::from_utf8(line).unwrap();
    let text = line.strip_suffix('\n').unwrap();
    assert!(!text.contains('\n'), "{text}");
    serde_json::from_str(text).unwrap()
}

fn outline_of(line: &[u8]) -> Record {
    let Outline(record) = serde_json::from_slice(line).unwrap();
    record
}

/// `NaN` is not equal to itself, but looks the same.
fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

fn transcript_again(transcript: &Transcript) -> Transcript {
    match again(&ran_line(1, 1, 1, transcript, &[])) {
        Record::Ran(ran) => ran.transcript,
        other => panic!("{other:?}"),
    }
}

/// As it is recorded: the criterion is in the verdict on the case.
fn scored(report: &RunReport) -> Scored {
    let metrics = report.metrics.iter().map(|metric| ScoredMetric { criterion: None, ..metric.clone() });
    Scored { test: 7, run: 2, evaluation: 3, metrics: metrics.collect() }
}

/// A turn without what no file may hold: a case with it is refused before anything is scored.
fn as_in_a_file(mut turn: Invocation) -> Invocation {
    let contents = [Some(&mut turn.user_content), turn.final_response.as_mut()];
    for part in contents.into_iter().flatten().flat_map(|content| content.parts.iter_mut().flatten()) {
        part.other = Map::new();
        if let Some(call) = &mut part.function_call {
            call.other = Map::new();
        }
    }
    turn
}

fn score(case: &EvalCase, runs: Vec<Transcript>) -> CaseReport {
    let names = [
        "tool_trajectory_avg_score",
        "response_match_score",
        "trajectory_recall",
        "trajectory_match_ratio",
        "final_response_match_v1",
        "final_session_state_match",
    ];
    let one = |runner: EvalRunner, name| runner.criterion(name, Criterion::new(0.5));
    let runner = names.into_iter().fold(EvalRunner::new(), one);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(runner.score_case(case, runs)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_run_is_read_as_it_was_recorded(report in run()) {
        prop_assert_eq!(shown(&transcript_again(&report.transcript)), shown(&report.transcript));
        let line = ran_line(3, 2, 1, &report.transcript, &[]);
        let (Record::Ran(whole), Record::Ran(outline)) = (again(&line), outline_of(&line)) else { panic!("a run") };
        let transcript = Transcript { error: whole.transcript.error.clone(), ..Transcript::default() };
        prop_assert_eq!(shown(&outline), shown(&Ran { transcript, ..whole }));
        let mut scored = scored(&report);
        let line = scored_line(scored.test, scored.run, scored.evaluation, &report.metrics);
        prop_assert_eq!(shown(&again(&line)), shown(&Record::Scored(scored.clone())));
        outline::shorten_scored(&mut scored);
        prop_assert_eq!(shown(&outline_of(&line)), shown(&Record::Scored(scored)));
    }

    #[test]
    fn any_verdict_is_read_as_it_was_recorded(metrics in prop::collection::vec(metric(), 0..3), text in ".*") {
        for verdict in [
            Verdict::Passed,
            Verdict::Failed,
            Verdict::NotEvaluated(text.clone()),
            Verdict::Error { role: Role::Simulator, message: text.clone() },
            Verdict::Skipped(text.clone()),
            Verdict::Informational,
        ] {
            let decided = Decided {
                test: 1,
                verdict,
                metrics: metrics.clone(),
                passed_runs: Some(0),
                elapsed: Duration::from_millis(1500),
                notes: vec![text.clone()],
                repeated: 2,
                headline: Some(text.clone()).filter(|text| !text.is_empty()),
                failure: Some(text.clone()).filter(|text| !text.is_empty()),
                at: SystemTime::UNIX_EPOCH,
            };
            let line = line(&decided);
            prop_assert_eq!(shown(&again(&line)), shown(&Record::Decided(decided.clone())));
            let mut short = decided;
            short.metrics.retain(|metric| metric.verdict != Verdict::Informational);
            prop_assert_eq!(shown(&outline_of(&line)), shown(&Record::Decided(short)));
        }
    }

    #[test]
    fn what_is_read_again_scores_the_same(
        runs in prop::collection::vec(run(), 1..3),
        turns in prop::collection::vec(expected(), 1..3),
    ) {
        let case = turns.into_iter().map(as_in_a_file).fold(EvalCase::new("any"), EvalCase::turn);
        let runs: Vec<Transcript> = runs.into_iter().map(|run| run.transcript).collect();
        let read = runs.iter().map(transcript_again).collect();
        prop_assert_eq!(shown(&score(&case, read)), shown(&score(&case, runs)));
    }

    #[test]
    fn no_line_panics(line in any::<String>(), at in any::<prop::sample::Index>(), report in run()) {
        for begin in ["", "{\"record\":\"ran\",", "{\"record\":\"scored\",\"metrics\":[", "{\"record\":\"decided\","] {
            for keep in [parse::Keep::All, parse::Keep::Outline] {
                drop(parse::parse(format!("{begin}{line}").as_bytes(), keep));
            }
        }
        let mut line = String::from_utf8(ran_line(1, 1, 1, &report.transcript, &[])).unwrap();
        let cut = (0..=at.index(line.len() - 1)).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
        line.truncate(cut);
        prop_assert!(serde_json::from_str::<Record>(&line).is_err(), "a torn line is no record: {}", line);
    }
}

fn started(test: u32, name: &str) -> Started {
    Started {
        test,
        name: name.to_owned(),
        of_program: false,
        label: None,
        eval_set_id: Some("weather".into()),
        eval_id: "sunny".to_owned(),
        file: Some("evals/weather.evalset.json".into()),
        set_file: Some("evals/weather.evalset.json".into()),
        line: Some(4),
        column: Some(5),
        asks: "00ff".to_owned(),
        expects: "ff".to_owned(),
        set_cases: Some(4),
        runs: 3,
        pass: Pass::AtLeast(2),
        gate: Gate::EveryTurn,
        attempt: 1,
        at: SystemTime::UNIX_EPOCH,
    }
}

fn head(package: &str) -> Head {
    Head {
        schema: SCHEMA,
        evalset: "0.1.0".to_owned(),
        run: "r".to_owned(),
        package: Some(package.to_owned()),
        workspace: Some("/w".to_owned()),
        version: None,
        binary: Some("evals".to_owned()),
        pid: 1,
        started: SystemTime::UNIX_EPOCH,
        args: vec!["--exact".to_owned()],
        again: Some(vec!["--runs".to_owned(), "3".to_owned()]),
        program: Some("evals".to_owned()),
        built: None,
        env: [("CI".to_owned(), "true".to_owned())].into(),
    }
}

fn decided(test: u32) -> Decided {
    Decided {
        test,
        verdict: Verdict::Passed,
        metrics: Vec::new(),
        passed_runs: None,
        elapsed: Duration::ZERO,
        notes: Vec::new(),
        repeated: 0,
        headline: None,
        failure: None,
        at: SystemTime::UNIX_EPOCH,
    }
}

fn ran(test: u32, evaluation: u32) -> Vec<u8> {
    ran_line(test, evaluation as usize, evaluation, &Transcript::default(), &[])
}

#[test]
fn beginnings_are_read_as_they_were_written() {
    let started = started(1, "weather::sunny");
    assert_eq!(again(&line(&started)), Record::Started(started.clone()));
    for pass in [Pass::Mean, Pass::All, Pass::Any, Pass::AtLeast(2)] {
        let started = Started { pass, gate: Gate::Mean, ..started.clone() };
        assert_eq!(again(&line(&started)), Record::Started(started));
    }
    let of_program = Started {
        of_program: true,
        label: Some("nightly".into()),
        set_file: Some("/srv/evals/weather.evalset.json".into()),
        ..started
    };
    assert_eq!(again(&line(&of_program)), Record::Started(of_program));
    assert_eq!(again(&line(&head("p"))), Record::Head(head("p")));
}

#[test]
fn files_of_several_processes_are_one_run() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let scored = Scored { test: 1, run: 2, evaluation: 2, metrics: Vec::new() };
    let first = [
        line(&head("b")),
        line(&started(1, "weather::late")),
        ran(1, 1),
        ran(1, 2),
        line(&scored),
        line(&started(2, "weather::killed")),
        ran(2, 1),
    ];
    let retry = Started { attempt: 2, ..started(1, "weather::late") };
    let second = [line(&head("b")), line(&retry), line(&decided(1))];
    let third = [line(&head("a")), line(&started(1, "x::y")), line(&decided(1))];
    fs::write(folder.join("2.jsonl"), journal(&first)).unwrap();
    fs::write(folder.join("1.jsonl"), journal(&second)).unwrap();
    fs::write(folder.join("3.jsonl"), journal(&third)).unwrap();
    fs::write(folder.join("report.xml"), "not a journal").unwrap();

    let run = RecordedRun::read(folder).unwrap();
    let names: Vec<_> =
        run.tests.iter().map(|test| (test.package(), test.name(), test.is_unfinished())).collect();
    let expected = [
        (Some("a"), "x::y", false),
        (Some("b"), "weather::killed", true),
        (Some("b"), "weather::late", false),
    ];
    assert_eq!(names, expected);
    let late = &run.tests[2];
    assert_eq!(late.attempts.iter().map(|attempt| attempt.started.attempt).collect::<Vec<_>>(), [1, 2]);
    let scores: Vec<bool> = late.attempts[0].evaluations.iter().map(|ran| ran.scored.is_some()).collect();
    assert_eq!(scores, [false, true]);
    assert_eq!((run.torn, run.unreadable.len(), run.ids), (0, 0, vec!["r".to_owned()]));
}

#[test]
fn folders_of_several_machines_are_one_run() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(one.path().join("a.jsonl"), journal(&[line(&head("p")), line(&started(1, "s::a"))])).unwrap();
    fs::write(two.path().join("a.jsonl"), journal(&[line(&head("p")), line(&started(1, "s::b"))])).unwrap();
    let run = RecordedRun::read_all(&[one.path(), two.path()]).unwrap();
    assert_eq!(run.tests.iter().map(RecordedTest::name).collect::<Vec<_>>(), ["s::a", "s::b"]);
}

#[test]
fn a_torn_last_line_is_counted_and_the_rest_is_read() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let lines = all_sealed(&[line(&head("p")), line(&started(1, "s::a")), ran(1, 1)]);
    let whole = lines.concat();
    for cut in 1..lines[2].len() {
        fs::write(folder.join("a.jsonl"), &whole[..whole.len() - cut]).unwrap();
        let run = RecordedRun::read(folder).unwrap();
        assert_eq!((run.torn, run.unreadable.len(), run.tests.len()), (1, 0, 1), "{cut} bytes are missing");
        assert!(run.tests[0].attempts[0].evaluations.is_empty());
    }
    fs::write(folder.join("a.jsonl"), &whole[..10]).unwrap();
    assert_eq!(RecordedRun::read(folder).unwrap().torn, 1, "a torn head");
    fs::write(folder.join("a.jsonl"), "").unwrap();
    assert_eq!(
        RecordedRun::read(folder).unwrap(),
        RecordedRun { lost: 1, ..RecordedRun::default() },
        "killed before the head"
    );
}

#[test]
fn a_torn_line_may_tell_of_a_test_that_is_in_no_other() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let lines = all_sealed(&[line(&head("p")), line(&started(1, "s::a")), line(&started(2, "s::b"))]);
    let [head, a, b] = lines.as_slice() else { panic!("{lines:?}") };
    let lost = |bytes: &[u8]| {
        fs::write(folder.join("a.jsonl"), bytes).unwrap();
        RecordedRun::read(folder).unwrap().lost
    };
    let before = [&head[..], a].concat();
    for (torn, expected) in [
        (&b[..3], 1),
        (&b[..b.len() - 1], 1),
        (&ran(1, 1)[..20], 0),
        (b"{\"record\":\"scored\",", 0),
        (b"{\"record\":\"decided\",\"test\":1", 0),
        (b"", 0),
    ] {
        let torn_text = String::from_utf8_lossy(torn);
        assert_eq!(lost(&[&before[..], torn].concat()), expected, "{torn_text}");
    }
    assert_eq!(lost(&head[..9]), 1, "a process that has a journal has begun a test");
    // Tried again, the test is known.
    fs::write(folder.join("b.jsonl"), journal(&[line(&self::head("p")), line(&started(2, "s::b"))])).unwrap();
    assert_eq!(lost(&[&before[..], &b[..b.len() - 1]].concat()), 0);
}

#[test]
fn lines_that_cannot_be_read_are_named_and_passed_over() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let mut lines = all_sealed(&[
        line(&head("p")),
        b"{\"record\":\"of a later version\",\"text\":[]}\n".to_vec(),
        b"{\"record\":\"ran\",\"test\":9}\n".to_vec(),
        line(&decided(9)),
        b"{\"record\":\"ran\",}\n".to_vec(),
        line(&head("p")),
        line(&started(1, "s::a")),
    ]);
    lines.insert(5, b"\n".to_vec());
    lines.push(b"\xff\n".to_vec());
    fs::write(folder.join("a.jsonl"), lines.concat()).unwrap();
    let newer = Head { schema: SCHEMA + 1, evalset: "9.9.9".to_owned(), ..head("p") };
    fs::write(folder.join("b.jsonl"), journal(&[line(&newer)])).unwrap();
    let older = Head { schema: SCHEMA - 1, evalset: "0.0.9".to_owned(), ..head("p") };
    fs::write(folder.join("c.jsonl"), journal(&[line(&older)])).unwrap();
    let run = RecordedRun::read(folder).unwrap();
    let found: Vec<_> = run.unreadable.iter().map(|line| (line.line, line.error.to_string())).collect();
    assert_eq!(run.tests.len(), 1);
    let found: Vec<_> = found.iter().map(|(line, error)| (*line, error.as_str())).collect();
    let expected = [
        (3, "run is missing (column 56)"),
        (4, "test 9 did not begin"),
        (5, "key must be a string (column 17)"),
        (7, "a second head"),
        (9, "it was changed after it was written: its checksum is another"),
        (
            1,
            "it was written by evalset 9.9.9, whose records (schema 3) this version does not read; update cargo-evalset",
        ),
        (
            1,
            "it was written by evalset 0.0.9, whose records (schema 1) this version does not read; run the tests again \
             with this version",
        ),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_folder_without_journals_is_an_error_that_names_it() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let error = RecordedRun::read(folder).unwrap_err().to_string();
    assert_eq!(error, format!("`{}` holds no journal (no file `*.jsonl`)", folder.display()));
    let missing = folder.join("missing");
    let error = RecordedRun::read(&missing).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot read `{}`: ", missing.display())), "{error}");
    assert!(std::error::Error::source(&error).is_none(), "the text has the cause already");
}

#[test]
fn of_one_attempt_the_worst_process_counts_and_later_attempts_hide_earlier_ones() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let file = |name: &str, attempt: u32, at: u64, verdict: Option<Verdict>| {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
        let begun = Started { attempt, at, ..started(1, "s::a") };
        let ended = verdict.map(|verdict| line(&Decided { verdict, ..decided(1) })).unwrap_or_default();
        fs::write(folder.join(name), journal(&[line(&head("p")), line(&begun), ended])).unwrap();
    };
    let counts = || {
        let run = RecordedRun::read(folder).unwrap();
        let last = run.tests[0].last().unwrap();
        (last.started.attempt, last.decided.as_ref().map(|decided| decided.verdict.clone()))
    };
    file("a.jsonl", 1, 10, Some(Verdict::Failed));
    file("b.jsonl", 1, 20, Some(Verdict::Passed));
    assert_eq!(counts(), (1, Some(Verdict::Failed)), "the later one does not win");
    file("c.jsonl", 1, 5, None);
    assert_eq!(counts(), (1, None), "it may stand for any verdict");
    file("d.jsonl", 2, 1, Some(Verdict::Passed));
    assert_eq!(counts(), (2, Some(Verdict::Passed)), "whatever its clock says");
    file("e.jsonl", 2, 0, Some(Verdict::error(Role::Agent, "503")));
    assert_eq!(counts(), (2, Some(Verdict::error(Role::Agent, "503"))));
}

#[test]
fn cases_that_differ_in_anything_are_never_taken_for_attempts_at_one() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let of_program = |change: fn(&mut Started)| {
        let mut started = Started { of_program: true, ..started(0, "s/a") };
        change(&mut started);
        started
    };
    let of_test = || started(0, "s::a");
    let written = |file: &str, cases: &[(Started, Verdict)]| {
        let mut lines = vec![line(&head("p"))];
        for ((started, verdict), test) in cases.iter().zip(1..) {
            lines.push(line(&Started { test, ..started.clone() }));
            lines.push(line(&Decided { verdict: verdict.clone(), ..decided(test) }));
        }
        fs::write(folder.join(file), journal(&lines)).unwrap();
    };
    let counted = || {
        let run = RecordedRun::read(folder).unwrap();
        let tests = run.tests.iter();
        tests
            .map(|test| {
                (test.attempts.len(), test.last().unwrap().decided.as_ref().unwrap().verdict.passed())
            })
            .collect::<Vec<_>>()
    };
    for (what, other) in [
        ("a label", (|it| it.label = Some("b".into())) as fn(&mut Started)),
        ("a file", |it| it.file = Some("z/weather.evalset.json".into())),
        ("what it asks", |it| it.asks = "ff00".to_owned()),
        ("what it expects", |it| it.expects = "ff00".to_owned()),
        ("nothing", |_| {}),
    ] {
        written("a.jsonl", &[(of_program(|_| {}), Verdict::Failed), (of_program(other), Verdict::Passed)]);
        assert_eq!(counted(), [(1, false), (1, true)], "{what}: each counts");
    }
    // Another process that ran the same case.
    written("a.jsonl", &[(of_program(|_| {}), Verdict::Failed)]);
    written("b.jsonl", &[(of_program(|_| {}), Verdict::Passed)]);
    assert_eq!(counted(), [(1, false), (1, true)]);
    // What a test runner tried again, and says so, is one case.
    written("b.jsonl", &[(of_program(|it| it.attempt = 2), Verdict::Passed)]);
    assert_eq!(counted(), [(2, true)]);
    written("a.jsonl", &[(of_test(), Verdict::Failed)]);
    written("b.jsonl", &[(of_test(), Verdict::Passed)]);
    assert_eq!(counted(), [(2, false)], "of one attempt at a test the worst counts");
    let edited = Started { asks: "ff00".to_owned(), ..of_test() };
    written("b.jsonl", &[(edited, Verdict::Passed)]);
    assert_eq!(counted(), [(1, false), (1, true)], "a test whose case was edited is another one");
}

#[test]
fn what_whoever_copied_a_run_says_is_missing_is_kept() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    fs::write(folder.join("a.jsonl"), journal(&[line(&head("p")), line(&started(1, "s/a"))])).unwrap();
    assert!(RecordedRun::read(folder).unwrap().missing_parts.is_empty());
    fs::write(folder.join("missing-parts.txt"), "one journal\ntwo journals\n").unwrap();
    assert_eq!(RecordedRun::outline(&[folder]).unwrap().missing_parts, ["one journal", "two journals"]);
}

#[test]
fn a_sealed_journal_tells_what_was_changed_lost_moved_or_added() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let lines = all_sealed(&[
        line(&head("p")),
        line(&started(1, "s::a")),
        ran(1, 1),
        line(&decided(1)),
        line(&started(2, "s::b")),
        line(&decided(2)),
    ]);
    let said = |lines: &[&[u8]]| {
        fs::write(folder.join("a.jsonl"), lines.concat()).unwrap();
        let run = RecordedRun::read(folder).unwrap();
        assert_eq!(RecordedRun::outline(&[folder]).unwrap().unreadable, run.unreadable);
        run.unreadable.iter().map(|line| format!("{}: {}", line.line, line.error)).collect::<Vec<_>>()
    };
    let all: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    assert_eq!(said(&all), [""; 0]);
    let changed = "it was changed after it was written: its checksum is another";
    for at in 0..all.len() {
        let flipped = String::from_utf8(all[at].to_vec())
            .unwrap()
            .replacen("\"test\"", "\"tent\"", 1)
            .replacen("\"run\"", "\"rum\"", 1);
        let mut with = all.clone();
        with[at] = flipped.as_bytes();
        assert_eq!(said(&with)[0], format!("{}: {changed}", at + 1));
    }
    let unsealed = line(&head("p"));
    let mut with = all.clone();
    with[0] = &unsealed;
    assert_eq!(said(&with), [format!("1: {changed}")]);
    let mut with = all.clone();
    let unsealed = line(&decided(1));
    with[3] = &unsealed;
    assert_eq!(said(&with)[0], format!("4: {changed}"));
    let lost = [all[0], all[1], all[2], all[4], all[5]];
    assert_eq!(said(&lost), ["4: it is line 5 of the journal, and 1 line before it cannot be read"]);
    let swapped = [all[0], all[1], all[2], all[4], all[3], all[5]];
    assert_eq!(said(&swapped)[1], "5: it is line 4 of the journal again, or was moved behind line 5");
    let twice = [&all[..], &all[3..4]].concat();
    assert_eq!(said(&twice), ["7: it is line 4 of the journal again, or was moved behind line 6"]);
    let joined = [&all[..], &all[..]].concat();
    assert_eq!(said(&joined).len(), all.len());
}

#[test]
fn an_outline_has_what_a_report_needs() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let lines = all_sealed(&[line(&head("p")), line(&started(1, "s::a")), ran(1, 1), line(&decided(1))]);
    fs::write(folder.join("a.jsonl"), lines.concat()).unwrap();
    let (whole, outline) = (RecordedRun::read(folder).unwrap(), RecordedRun::outline(&[folder]).unwrap());
    let (whole, outline) = (whole.tests[0].last().unwrap(), outline.tests[0].last().unwrap());
    assert_eq!((&whole.started, &whole.decided), (&outline.started, &outline.decided));
    let [whole, outline] = [whole, outline].map(|attempt| &attempt.evaluations[0]);
    assert_eq!((whole.passed, whole.ran.tokens), (outline.passed, outline.ran.tokens));
    assert_eq!(whole.ran.transcript.error, outline.ran.transcript.error);
    assert!(outline.ran.transcript.turns.is_empty());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_journal() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let made = std::process::Command::new("mkfifo").arg(folder.join("a.jsonl")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    assert!(
        RecordedRun::read(folder).unwrap_err().to_string().contains("holds no journal"),
        "it does not wait"
    );
}
