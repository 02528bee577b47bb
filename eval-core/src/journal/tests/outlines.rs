//! What is kept of a journal that is read as an outline, and which of its lines are refused.

use eval_format::UsageMetadata;

use super::*;
use crate::agent::Event;
use crate::judge_outcome::{JudgeQuestion, JudgeUse};
use crate::metric::{Scores, TOKEN_USAGE};
use crate::report::{MetricOutcome, MetricReport, TurnVerdict};
use crate::transcript::{RunError, TurnRecord};

fn asked() -> JudgeUse {
    JudgeUse {
        model: "m".to_owned(),
        asked: 3,
        failed: 1,
        replayed: Some(0),
        usage: UsageMetadata::default(),
        questions: vec![JudgeQuestion { prompt: "Is it right?".to_owned(), ..JudgeQuestion::default() }],
    }
}

fn metric(name: &str, custom: bool, judge: Vec<JudgeUse>) -> ScoredMetric {
    ScoredMetric {
        name: name.to_owned(),
        custom,
        criterion: None,
        outcome: MetricOutcome::Scored(Scores::whole_run(1.0)),
        judge,
        verdict: if name == TOKEN_USAGE { Verdict::Informational } else { Verdict::Passed },
        turns: vec![TurnVerdict::Informational],
    }
}

/// A run whose events used 1, 20 and 300 tokens.
fn transcript() -> Transcript {
    let event = |total| {
        let mut usage = UsageMetadata::default();
        usage.total_token_count = Some(total);
        Event::of("agent").with_usage(usage)
    };
    let turn = |totals: &[i64]| TurnRecord {
        events: totals.iter().map(|total| event(*total)).collect(),
        invocation: Invocation::user("Hi"),
    };
    Transcript { turns: vec![turn(&[1, 20]), turn(&[300])], ..Transcript::default() }
}

#[test]
fn an_outline_leaves_out_metrics_that_only_inform_and_asked_no_judge() {
    let metrics = [
        metric(TOKEN_USAGE, false, Vec::new()),
        metric(TOKEN_USAGE, true, Vec::new()),
        metric(TOKEN_USAGE, false, vec![asked()]),
        metric("response_match_score", false, Vec::new()),
        metric("mine", false, Vec::new()),
    ];
    let line = scored_line(1, 2, 3, &metrics);
    let Record::Scored(outline) = outline_of(&line) else { panic!("a score") };
    assert_eq!((outline.test, outline.run, outline.evaluation), (1, 2, 3));
    let kept: Vec<_> =
        outline.metrics.iter().map(|metric| (&*metric.name, metric.custom, metric.judge.len())).collect();
    let expected = [
        (TOKEN_USAGE, true, 0),
        (TOKEN_USAGE, false, 1),
        ("response_match_score", false, 0),
        ("mine", false, 0),
    ];
    assert_eq!(kept, expected);
}

#[test]
fn an_outline_of_a_run_has_its_tokens_its_error_and_what_its_user_cost() {
    let error = RunError::new(Role::Agent, Some(2), "gone");
    let line = ran_line(3, 2, 1, &Transcript { error: Some(error.clone()), ..transcript() }, &[asked()]);
    let Record::Ran(outline) = outline_of(&line) else { panic!("a run") };
    assert_eq!((outline.test, outline.run, outline.evaluation), (3, 2, 1));
    assert_eq!((outline.tokens, outline.transcript.error.as_ref()), (Some(321), Some(&error)));
    let counted = JudgeUse { questions: Vec::new(), ..asked() };
    assert_eq!(outline.simulator, std::slice::from_ref(&counted), "without what was asked");
    assert!(outline.transcript.turns.is_empty());
    let Record::Ran(whole) = again(&line) else { panic!("a run") };
    assert_eq!((whole.tokens, whole.transcript.turns.len()), (Some(321), 2));
    assert_eq!(whole.simulator, [asked()]);
}

#[test]
fn an_outline_of_a_file_keeps_what_decides_and_what_judges_cost() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let decided_metric = |name: &str, criterion: Option<Criterion>, verdict| MetricReport {
        name: name.to_owned(),
        criterion,
        score: Some(1.0),
        scored: 1,
        total: 1,
        passed_runs: None,
        verdict,
        notes: Vec::new(),
    };
    let ended = Decided {
        metrics: vec![
            decided_metric(TOKEN_USAGE, None, Verdict::Informational),
            decided_metric("response_match_score", Some(Criterion::new(0.5)), Verdict::Passed),
            decided_metric("judged", None, Verdict::Informational),
        ],
        ..decided(1)
    };
    let scores = [
        metric(TOKEN_USAGE, false, Vec::new()),
        ScoredMetric {
            verdict: Verdict::Passed,
            turns: vec![TurnVerdict::Passed],
            ..metric("response_match_score", false, Vec::new())
        },
        metric("judged", true, vec![asked()]),
    ];
    let lines = [
        line(&head("p")),
        line(&started(1, "s::a")),
        ran_line(1, 1, 1, &transcript(), &[]),
        scored_line(1, 1, 1, &scores),
        line(&ended),
    ];
    fs::write(folder.join("a.jsonl"), journal(&lines)).unwrap();
    let sizes = |run: RecordedRun| {
        assert_eq!((run.torn, run.lost, run.unreadable), (0, 0, Vec::new()));
        let attempt = run.tests[0].last().unwrap();
        let evaluation = &attempt.evaluations[0];
        assert_eq!(evaluation.passed, Some(true), "it is decided before its scores are dropped");
        let names = |metrics: Vec<&str>| metrics.join(" ");
        (
            names(attempt.decided.as_ref().unwrap().metrics.iter().map(|it| &*it.name).collect()),
            names(evaluation.scored.as_ref().unwrap().metrics.iter().map(|it| &*it.name).collect()),
            evaluation.ran.transcript.turns.len(),
        )
    };
    let all = format!("{TOKEN_USAGE} response_match_score judged");
    assert_eq!(sizes(RecordedRun::read(folder).unwrap()), (all.clone(), all, 2));
    let outline = ("response_match_score".to_owned(), "judged".to_owned(), 0);
    assert_eq!(sizes(RecordedRun::outline(&[folder]).unwrap()), outline);
}

/// What a folder with one file of these bytes is read as.
fn read(bytes: &[u8]) -> RecordedRun {
    let temporary = TempDir::new().unwrap();
    fs::write(temporary.path().join("a.jsonl"), bytes).unwrap();
    RecordedRun::read(temporary.path()).unwrap()
}

fn said(run: &RecordedRun) -> Vec<String> {
    run.unreadable.iter().map(|line| format!("{}: {}", line.line, line.error)).collect()
}

#[test]
fn records_that_cannot_stand_where_they_do_are_named() {
    let error = RunError::new(Role::Agent, None, "gone");
    let lines = [
        line(&head("p")),
        line(&started(1, "s::a")),
        line(&decided(1)),
        line(&decided(1)),
        scored_line(1, 1, 9, &[]),
        broke_line(1, 1, 9, &error),
        scored_line(7, 1, 1, &[]),
        line(&started(1, "s::a")),
    ];
    let expected = [
        "4: test 1 ends a second time",
        "5: a score of a run that is not recorded",
        "6: an error of a run that is not recorded",
        "7: test 7 did not begin",
        "8: test 1 begins a second time",
    ];
    assert_eq!(said(&read(&journal(&lines))), expected);
}

#[test]
fn records_behind_a_repeated_beginning_stay_with_their_test() {
    let lines = [
        line(&head("p")),
        line(&started(1, "s::a")),
        line(&started(1, "s::a")),
        line(&started(2, "s::b")),
        ran(1, 1),
        line(&decided(1)),
    ];
    let run = read(&journal(&lines));
    assert_eq!(said(&run), ["3: test 1 begins a second time"]);
    let found: Vec<_> = run
        .tests
        .iter()
        .map(|test| (test.name(), test.attempts[0].evaluations.len(), test.is_unfinished()))
        .collect();
    assert_eq!(found, [("s::a", 1, false), ("s::b", 0, true)]);
}

#[test]
fn a_score_and_an_error_belong_to_their_own_evaluation() {
    let error = RunError::new(Role::Agent, None, "gone");
    let lines = [
        line(&head("p")),
        line(&started(1, "s::a")),
        ran(1, 1),
        ran(1, 2),
        ran(1, 3),
        scored_line(1, 2, 2, &[]),
        broke_line(1, 1, 1, &error),
    ];
    let run = read(&journal(&lines));
    assert_eq!(said(&run), [""; 0]);
    let found: Vec<_> = run.tests[0].attempts[0]
        .evaluations
        .iter()
        .map(|it| (it.scored.is_some(), it.ran.transcript.error.is_some()))
        .collect();
    assert_eq!(found, [(false, true), (true, false), (false, false)]);
}

#[test]
fn the_first_line_is_the_head() {
    let plain = line(&head("p"));
    let changed = "1: it was changed after it was written: its checksum is another";
    for (first, expected) in [
        (sealed(&plain, 1), None),
        (sealed(&plain, 2), Some("1: a journal begins with its head")),
        (plain.clone(), Some(changed)),
        (sealed(&line(&started(1, "s::a")), 1), Some("1: a journal begins with its head")),
    ] {
        assert_eq!(said(&read(&first)), Vec::from_iter(expected), "{}", String::from_utf8_lossy(&first));
    }
    let empty = read(&[b"\n".to_vec(), sealed(&plain, 1)].concat());
    assert_eq!((empty.lost, empty.torn, empty.unreadable.len(), empty.processes.len()), (1, 0, 0, 0));
}
