//! What is kept of a journal that is read as an outline, and which of its lines are refused.

use eval_format::UsageMetadata;

use super::*;
use crate::agent::Event;
use crate::judge_outcome::{JudgeQuestion, JudgeUse};
use crate::metric::{Scores, TOKEN_USAGE};
use crate::report::{MetricOutcome, MetricReport};
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
        verdict: Verdict::Informational,
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
    let Some(Record::Scored(outline)) = outline::record(line.trim_ascii_end()) else { panic!("a score") };
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
    let Some(Record::Ran(outline)) = outline::record(line.trim_ascii_end()) else { panic!("a run") };
    assert_eq!((outline.test, outline.run, outline.evaluation), (3, 2, 1));
    assert_eq!((outline.tokens, outline.transcript.error.as_ref()), (Some(321), Some(&error)));
    let counted = JudgeUse { questions: Vec::new(), ..asked() };
    assert_eq!(outline.simulator, std::slice::from_ref(&counted), "without what was asked");
    assert!(outline.transcript.turns.is_empty());
    let Record::Ran(mut whole) = again(&line) else { panic!("a run") };
    assert_eq!((whole.tokens, whole.transcript.turns.len()), (Some(321), 2));
    assert_eq!(whole.simulator, [asked()]);
    outline::shorten_ran(&mut whole);
    assert_eq!(whole.simulator, [counted]);
    assert_eq!((whole.transcript.error, whole.transcript.turns.len()), (Some(error), 0));
}

#[test]
fn a_file_has_the_same_outline_with_seals_and_without() {
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
        metric("response_match_score", false, Vec::new()),
        metric("judged", true, vec![asked()]),
    ];
    for has_seals in [false, true] {
        let lines = [
            Head { sealed: has_seals, ..head("p") }.line(),
            started(1, "s::a").line(),
            ran_line(1, 1, 1, &transcript(), &[]),
            scored_line(1, 1, 1, &scores),
            ended.line(),
        ];
        let lines = if has_seals { all_sealed(&lines) } else { lines.to_vec() };
        fs::write(folder.join("a.jsonl"), lines.concat()).unwrap();
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
        head("p").line(),
        started(1, "s::a").line(),
        decided(1).line(),
        decided(1).line(),
        scored_line(1, 1, 9, &[]),
        broke_line(1, 1, 9, &error),
        scored_line(7, 1, 1, &[]),
        started(1, "s::a").line(),
    ];
    let expected = [
        "4: test 1 ends a second time",
        "5: a score of a run that is not recorded",
        "6: an error of a run that is not recorded",
        "7: test 7 did not begin",
        "8: test 1 begins a second time",
    ];
    assert_eq!(said(&read(&lines.concat())), expected);
}

#[test]
fn records_behind_a_repeated_beginning_stay_with_their_test() {
    let lines = [
        head("p").line(),
        started(1, "s::a").line(),
        started(1, "s::a").line(),
        started(2, "s::b").line(),
        ran(1, 1),
        decided(1).line(),
    ];
    let run = read(&lines.concat());
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
        head("p").line(),
        started(1, "s::a").line(),
        ran(1, 1),
        ran(1, 2),
        ran(1, 3),
        scored_line(1, 2, 2, &[]),
        broke_line(1, 1, 1, &error),
    ];
    let run = read(&lines.concat());
    assert_eq!(said(&run), [""; 0]);
    let found: Vec<_> = run.tests[0].attempts[0]
        .evaluations
        .iter()
        .map(|it| (it.scored.is_some(), it.ran.transcript.error.is_some()))
        .collect();
    assert_eq!(found, [(false, true), (true, false), (false, false)]);
}

#[test]
fn the_first_line_is_the_head_and_says_whether_there_are_seals() {
    let (plain, claims) = (head("p").line(), Head { sealed: true, ..head("p") }.line());
    let changed = "1: it was changed after it was written: its checksum is another";
    for (first, expected) in [
        (plain.clone(), None),
        (sealed(&claims, 1), None),
        (sealed(&claims, 2), Some(changed)),
        (claims, Some(changed)),
        (sealed(&plain, 1), Some(changed)),
        (started(1, "s::a").line(), Some("1: a journal begins with its head")),
    ] {
        assert_eq!(said(&read(&first)), Vec::from_iter(expected), "{}", String::from_utf8_lossy(&first));
    }
    let empty = read(&[b"\n".to_vec(), head("p").line()].concat());
    assert_eq!((empty.lost, empty.torn, empty.unreadable.len(), empty.processes.len()), (1, 0, 0, 0));
}
