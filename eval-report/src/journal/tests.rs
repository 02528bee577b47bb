//! Journals as they are read: several files, damaged lines, cases that are told apart.

use std::fs;
use std::time::{Duration, SystemTime};

use eval_core::Verdict;
use eval_core::journal::{
    Decided, Field, Head, JudgeUse, Ran, RunInvalidated, SCHEMA, Scored, Started, TurnBegan, record_text,
    sealed as sealed_text,
};
use eval_core::report::{Role, RunError, ScoredMetric, Transcript};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

mod complete;
mod outlines;
mod runner;

/// A record with these fields.
fn made<T: DeserializeOwned>(fields: Value) -> T {
    serde_json::from_value(fields).unwrap()
}

/// A record that is changed.
fn with<T>(mut record: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut record);
    record
}

fn started(test: u32, name: &str) -> Started {
    made(json!({
        "test": test, "name": name, "eval_set_id": "weather", "eval_id": "sunny",
        "file": "evals/weather.evalset.json", "set_file": "evals/weather.evalset.json", "line": 4, "column": 5,
        "asks": "00ff", "expects": "ff", "set_cases": 4, "runs": 3, "pass": "at_least(2)", "gate": "every_turn",
        "attempt": 1, "at": "1970-01-01T00:00:00.000Z",
    }))
}

fn head(package: &str) -> Head {
    made(json!({
        "schema": SCHEMA, "evalset": "0.1.0", "run": "r", "package": package, "workspace": "/w", "binary": "evals",
        "pid": 1, "started": "1970-01-01T00:00:00.000Z", "args": ["--exact"], "program": "evals",
        "env": { "CI": "true" },
    }))
}

fn decided(test: u32) -> Decided {
    made(json!({
        "test": test, "verdict": { "is": "passed" }, "elapsed": 0.0, "at": "1970-01-01T00:00:00.000Z",
    }))
}

fn ran_line(
    test: u32,
    run: usize,
    evaluation: u32,
    transcript: &Transcript,
    simulator: &[JudgeUse],
) -> Vec<u8> {
    let ran = made(json!({ "test": test, "run": run, "evaluation": evaluation, "transcript": {} }));
    line(&with(ran, |it: &mut Ran| {
        it.tokens = transcript.tokens();
        (it.transcript, it.simulator) = (transcript.clone(), simulator.to_vec());
    }))
}

fn ran(test: u32, evaluation: u32) -> Vec<u8> {
    ran_line(test, evaluation as usize, evaluation, &Transcript::default(), &[])
}

fn turn(test: u32, run: usize, turn: usize) -> Vec<u8> {
    let at = "2026-11-22T02:31:08.000Z";
    line(&made::<TurnBegan>(json!({ "test": test, "run": run, "turn": turn, "turns": 3, "at": at })))
}

fn scored_line(test: u32, run: usize, evaluation: u32, metrics: &[ScoredMetric]) -> Vec<u8> {
    let scored = made(json!({ "test": test, "run": run, "evaluation": evaluation, "metrics": [] }));
    line(&with(scored, |it: &mut Scored| it.metrics = metrics.to_vec()))
}

fn broke_line(test: u32, run: usize, evaluation: u32, error: &RunError) -> Vec<u8> {
    let error = json!({ "role": error.role.to_string(), "message": error.message });
    line(&made::<RunInvalidated>(
        json!({ "test": test, "run": run, "evaluation": evaluation, "error": error }),
    ))
}

/// A record on a line of its own, which has no seal yet.
fn line(record: &impl Field) -> Vec<u8> {
    (record_text(record) + "\n").into_bytes()
}

/// A line with its seal.
fn sealed(line: &[u8], number: usize) -> Vec<u8> {
    sealed_text(std::str::from_utf8(line).unwrap().trim_end(), number).into_bytes()
}

/// The lines of a journal as a process writes it, without empty ones.
fn all_sealed(lines: &[Vec<u8>]) -> Vec<Vec<u8>> {
    lines.iter().filter(|line| !line.is_empty()).zip(1..).map(|(line, number)| sealed(line, number)).collect()
}

/// A journal as a process writes it.
fn journal(lines: &[Vec<u8>]) -> Vec<u8> {
    all_sealed(lines).concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_panics(text in any::<String>(), said in any::<String>(), at in any::<prop::sample::Index>()) {
        for begin in ["", "{\"record\":\"ran\",", "{\"record\":\"scored\",\"metrics\":[", "{\"record\":\"decided\","] {
            drop(Record::parse(format!("{begin}{text}").as_bytes()));
        }
        let broke = made(json!({ "test": 1, "run": 1, "evaluation": 1, "error": { "role": "agent", "message": "" } }));
        let mut torn = record_text(&with(broke, |it: &mut RunInvalidated| it.error.message = said));
        let cut = (0..=at.index(torn.len() - 1)).rev().find(|at| torn.is_char_boundary(*at)).unwrap_or_default();
        torn.truncate(cut);
        prop_assert!(Record::parse(torn.as_bytes()).is_err(), "a torn line is no record: {}", torn);
    }
}

#[test]
fn files_of_several_processes_are_one_run() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let first = [
        line(&head("b")),
        line(&started(1, "weather::late")),
        ran(1, 1),
        ran(1, 2),
        scored_line(1, 2, 2, &[]),
        line(&started(2, "weather::killed")),
        ran(2, 1),
    ];
    let retry = with(started(1, "weather::late"), |it| it.attempt = 2);
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
fn a_turn_is_in_work_until_its_run_or_its_test_ends() {
    let temporary = TempDir::new().unwrap();
    let lines = [
        line(&head("p")),
        line(&started(1, "s::a")),
        turn(1, 1, 1),
        turn(1, 1, 2),
        ran(1, 1),
        turn(1, 2, 1),
        line(&started(2, "s::b")),
        line(&decided(1)),
    ];
    let at = |count: usize| {
        fs::write(temporary.path().join("a.jsonl"), journal(&lines[..count])).unwrap();
        let run = RecordedRun::outline(&[temporary.path()]).unwrap();
        assert_eq!(run.unreadable, []);
        run.tests[0].attempts[0].turn.as_ref().map(|it| (it.run, it.turn, it.turns))
    };
    let found: Vec<_> = (2..=8).map(at).collect();
    let (first, second, third) = (Some((1, 1, Some(3))), Some((1, 2, Some(3))), Some((2, 1, Some(3))));
    assert_eq!(found, [None, first, second, None, third, third, None]);
}

#[test]
fn folders_of_several_machines_are_one_run() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(one.path().join("a.jsonl"), journal(&[line(&head("p")), line(&started(1, "s::a"))])).unwrap();
    let other = with(head("p"), |head| head.pid = 2);
    fs::write(two.path().join("a.jsonl"), journal(&[line(&other), line(&started(1, "s::b"))])).unwrap();
    let run = RecordedRun::read_all(&[one.path(), two.path()]).unwrap();
    assert_eq!(run.tests.iter().map(RecordedTest::name).collect::<Vec<_>>(), ["s::a", "s::b"]);
    // A copied folder has the same processes.
    fs::copy(one.path().join("a.jsonl"), two.path().join("b.jsonl")).unwrap();
    let twice = RecordedRun::read_all(&[one.path(), two.path()]).unwrap_err().to_string();
    assert_eq!(twice, format!("`{}` is named twice, and its tests would count twice", two.path().display()));
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
        (&turn(1, 1, 2)[..20], 0),
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
        turn(9, 1, 1),
        b"{\"record\":\"ran\",}\n".to_vec(),
        line(&head("p")),
        line(&started(1, "s::a")),
    ]);
    lines.insert(5, b"\n".to_vec());
    lines.push(b"\xff\n".to_vec());
    fs::write(folder.join("a.jsonl"), lines.concat()).unwrap();
    let newer = with(head("p"), |it| (it.schema, it.evalset) = (SCHEMA + 1, "9.9.9".to_owned()));
    fs::write(folder.join("b.jsonl"), journal(&[line(&newer)])).unwrap();
    let older = with(head("p"), |it| (it.schema, it.evalset) = (SCHEMA - 1, "0.0.9".to_owned()));
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

/// The schema says what can be read, not the version.
#[test]
fn a_journal_of_another_version_with_the_same_schema_is_read() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    for (file, version) in [("a.jsonl", "0.0.9"), ("b.jsonl", "9.9.9")] {
        let head = with(head("p"), |it| it.evalset = version.to_owned());
        fs::write(folder.join(file), journal(&[line(&head), line(&started(1, file))])).unwrap();
    }
    let run = RecordedRun::read(folder).unwrap();
    assert_eq!((run.tests.len(), run.unreadable.len()), (2, 0));
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
        let begun = with(started(1, "s::a"), |it| (it.attempt, it.at) = (attempt, at));
        let ended =
            verdict.map(|verdict| line(&with(decided(1), |it| it.verdict = verdict))).unwrap_or_default();
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
    let error = Verdict::Error { role: Role::Agent, message: "503".to_owned() };
    file("e.jsonl", 2, 0, Some(error.clone()));
    assert_eq!(counts(), (2, Some(error.clone())));
    file("f.jsonl", 3, 30, Some(Verdict::Skipped("no judge".to_owned())));
    assert_eq!(counts(), (2, Some(error)), "what was skipped hides nothing");
}

#[test]
fn cases_that_differ_in_anything_are_never_taken_for_attempts_at_one() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let of_program = |change: fn(&mut Started)| {
        let mut started = with(started(0, "s/a"), |it| it.of_program = true);
        change(&mut started);
        started
    };
    let of_test = || started(0, "s::a");
    let written = |file: &str, cases: &[(Started, Verdict)]| {
        let mut lines = vec![line(&head("p"))];
        for ((started, verdict), test) in cases.iter().zip(1..) {
            lines.push(line(&with(started.clone(), |it| it.test = test)));
            lines.push(line(&with(decided(test), |it| it.verdict = verdict.clone())));
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
    // A test that the runner retried, and says so, is one case.
    written("b.jsonl", &[(of_program(|it| it.attempt = 2), Verdict::Passed)]);
    assert_eq!(counted(), [(2, true)]);
    written("a.jsonl", &[(of_test(), Verdict::Failed)]);
    written("b.jsonl", &[(of_test(), Verdict::Passed)]);
    assert_eq!(counted(), [(2, false)], "of one attempt at a test the worst counts");
    let edited = with(of_test(), |it| it.asks = "ff00".to_owned());
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
