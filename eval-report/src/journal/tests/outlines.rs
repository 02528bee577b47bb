//! Outlines of journals: the records that remain, and the lines that are refused.

use eval_core::Scores;
use eval_core::agent::Event;
use eval_core::journal::JudgeQuestion;
use eval_core::metric::arithmetic::TOKEN_USAGE;
use eval_core::report::{MetricOutcome, MetricReport, ModelUse, TurnRecord, TurnVerdict};
use eval_core::{Criterion, Invocation};
use eval_format::UsageMetadata;

use super::*;

fn asked() -> JudgeUse {
    let question = with(JudgeQuestion::default(), |it| it.prompt = "Is it right?".to_owned());
    with(JudgeUse::default(), |it| {
        (it.model, it.asked, it.failed, it.replayed) = ("m".to_owned(), 3, 1, Some(0));
        it.questions = vec![question];
    })
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
        Event::empty("agent").with_usage(usage)
    };
    let turn = |totals: &[i64]| TurnRecord {
        events: totals.iter().map(|total| event(*total)).collect(),
        invocation: Invocation::user("Hi"),
    };
    Transcript { turns: vec![turn(&[1, 20]), turn(&[300])], ..Transcript::default() }
}

/// A journal with one run, and its attempt as it is read in whole and in outline.
fn both(records: &[Vec<u8>]) -> [Attempt; 2] {
    let temporary = TempDir::new().unwrap();
    let begun = [line(&head("p")), line(&started(1, "s::a"))];
    fs::write(temporary.path().join("a.jsonl"), journal(&[&begun, records].concat())).unwrap();
    let read = [RecordedRun::read(temporary.path()), RecordedRun::outline(&[temporary.path()])];
    read.map(|run| {
        let mut run = run.unwrap();
        assert_eq!((run.torn, run.lost, run.unreadable.len()), (0, 0, 0));
        run.tests.remove(0).attempts.remove(0)
    })
}

#[test]
fn an_outline_of_a_run_has_its_tokens_its_error_and_what_its_user_cost() {
    let error = RunError::new(Role::Agent, Some(2), "gone");
    let ran = ran_line(1, 2, 1, &Transcript { error: Some(error.clone()), ..transcript() }, &[asked()]);
    let [whole, outline] = both(&[ran]).map(|attempt| attempt.evaluations[0].ran.clone());
    assert_eq!((outline.test, outline.run, outline.evaluation), (1, 2, 1));
    assert_eq!((outline.tokens, outline.transcript.error.as_ref()), (Some(321), Some(&error)));
    let counted = with(asked(), |it| it.questions = Vec::new());
    assert_eq!(outline.simulator, [counted], "without what was asked");
    assert!(outline.transcript.turns.is_empty());
    assert_eq!((whole.tokens, whole.transcript.turns.len()), (Some(321), 2));
    assert_eq!(whole.simulator, [asked()]);
}

#[test]
fn an_outline_has_the_tokens_that_the_gateway_saw() {
    let mut of_model = ModelUse::default();
    of_model.usage.total_token_count = Some(36);
    let silent = Transcript { models: vec![of_model], ..Transcript::default() };
    let told = Transcript { models: silent.models.clone(), ..transcript() };
    for (transcript, expected) in [(silent, 36), (told, 321)] {
        let read = both(&[ran_line(1, 1, 1, &transcript, &[])]);
        assert_eq!(read.map(|attempt| attempt.evaluations[0].ran.tokens), [Some(expected); 2]);
    }
}

#[test]
fn an_outline_of_an_unfinished_test_has_its_scores_without_what_judges_were_asked() {
    let metrics = [
        metric(TOKEN_USAGE, false, Vec::new()),
        metric("response_match_score", false, Vec::new()),
        metric("judged", false, vec![asked()]),
    ];
    let records = [ran(1, 1), scored_line(1, 1, 1, &metrics)];
    let names = |attempt: Attempt| {
        let scored = attempt.evaluations[0].scored.clone().unwrap();
        let questions: usize =
            scored.metrics.iter().flat_map(|it| &it.judge).map(|it| it.questions.len()).sum();
        (scored.metrics.into_iter().map(|metric| metric.name).collect::<Vec<_>>().join(" "), questions)
    };
    let [whole, outline] = both(&records).map(names);
    assert_eq!(whole, (format!("{TOKEN_USAGE} response_match_score judged"), 1));
    assert_eq!(outline, (whole.0, 0));
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
        loosened: None,
        arithmetic: None,
        verdict,
        notes: Vec::new(),
    };
    let ended = with(decided(1), |it| {
        it.metrics = vec![
            decided_metric(TOKEN_USAGE, None, Verdict::Informational),
            decided_metric("response_match_score", Some(Criterion::new(0.5)), Verdict::Passed),
            decided_metric("judged", None, Verdict::Informational),
        ];
    });
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

/// The run that a folder with one file of these bytes is read as.
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
