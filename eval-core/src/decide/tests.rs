use super::*;
use crate::metric::Score;
use crate::report::ScoredMetric;
use crate::transcript::{RunError, Transcript};
use crate::verdict::Role;

/// Decides on a case none of whose runs was repeated.
fn decide<'a>(
    rules: impl IntoIterator<Item = &'a Rule>,
    runs: &[RunReport],
    pass: PassRule,
    gate: TurnAggregation,
) -> Decision {
    super::decide(rules, runs, &[], pass, gate)
}

/// A run with an outcome for each rule.
fn run(rules: &[Rule], outcomes: Vec<MetricOutcome>) -> RunReport {
    run_under(rules, outcomes, TurnAggregation::Mean)
}

fn run_under(rules: &[Rule], outcomes: Vec<MetricOutcome>, gate: TurnAggregation) -> RunReport {
    assert_eq!(rules.len(), outcomes.len());
    let scored = |(Rule { name, criterion }, outcome): (&Rule, MetricOutcome)| ScoredMetric {
        name: name.clone(),
        custom: false,
        criterion: criterion.clone(),
        verdict: verdict_of_run(criterion.as_ref(), &outcome, gate),
        turns: verdicts_of_turns(criterion.as_ref(), &outcome),
        outcome,
        judge: Vec::new(),
    };
    let metrics = rules.iter().zip(outcomes).map(scored).collect();
    RunReport { number: 1, transcript: Transcript::default(), error: None, metrics }
}

/// These reports as runs, numbered from 1.
fn numbered<const N: usize>(runs: [RunReport; N]) -> [RunReport; N] {
    let mut number = 0;
    runs.map(|run| {
        number += 1;
        RunReport { number, ..run }
    })
}

fn broken(message: &str) -> RunReport {
    let error = RunError::new(Role::Agent, Some(2), message);
    RunReport { number: 1, transcript: Transcript::default(), error: Some(error), metrics: Vec::new() }
}

fn turns(values: &[f64]) -> MetricOutcome {
    MetricOutcome::Scored(values.iter().map(|value| Score::from(*value)).collect())
}

fn one(threshold: f64) -> Vec<Rule> {
    vec![Rule { name: "m".to_owned(), criterion: Some(Criterion::new(threshold)) }]
}

fn verdict(threshold: f64, runs: &[&[f64]], pass: PassRule, gate: TurnAggregation) -> Verdict {
    let rules = one(threshold);
    let run = |(at, values): (usize, &&[f64])| RunReport {
        number: at + 1,
        ..run_under(&rules, vec![turns(values)], gate)
    };
    let runs: Vec<RunReport> = runs.iter().enumerate().map(run).collect();
    decide(&rules, &runs, pass, gate).verdict
}

#[test]
fn a_built_in_metric_is_recorded_with_the_number_of_its_arithmetic_if_that_is_not_the_first() {
    for info in eval_format::metric::METRICS {
        let rule = Rule { name: info.name.to_owned(), criterion: None };
        assert!(info.arithmetic >= 1, "{}", info.name);
        assert_eq!(arithmetic(&rule, &[]), (info.arithmetic > 1).then_some(info.arithmetic), "{}", info.name);
    }
    assert_eq!(arithmetic(&Rule { name: "my_own".to_owned(), criterion: None }, &[]), None);
}

#[test]
fn a_criterion_of_at_most_decides_turns_runs_and_cases_in_its_direction() {
    let rules = vec![Rule { name: "cost".to_owned(), criterion: Some(Criterion::at_most(5.0)) }];
    let decided = |values: &[&[f64]], pass, gate| {
        let run = |(at, values): (usize, &&[f64])| RunReport {
            number: at + 1,
            ..run_under(&rules, vec![turns(values)], gate)
        };
        let runs: Vec<RunReport> = values.iter().enumerate().map(run).collect();
        decide(&rules, &runs, pass, gate)
    };
    for (values, pass, gate, passes) in [
        (&[&[3.0][..]][..], PassRule::Mean, TurnAggregation::Mean, true),
        (&[&[5.0]], PassRule::Mean, TurnAggregation::Mean, true),
        (&[&[10.0]], PassRule::Mean, TurnAggregation::Mean, false),
        (&[&[2.0, 6.0]], PassRule::Mean, TurnAggregation::Mean, true),
        (&[&[2.0, 6.0]], PassRule::Mean, TurnAggregation::EveryTurn, false),
        (&[&[9.0], &[1.0]], PassRule::Mean, TurnAggregation::Mean, true),
        (&[&[9.0], &[1.0]], PassRule::All, TurnAggregation::Mean, false),
        (&[&[9.0], &[1.0]], PassRule::Any, TurnAggregation::Mean, true),
        (&[&[9.0], &[1.0], &[2.0]], PassRule::AtLeast(2), TurnAggregation::EveryTurn, true),
        (&[&[9.0], &[1.0], &[6.0]], PassRule::AtLeast(2), TurnAggregation::EveryTurn, false),
    ] {
        let verdict = if passes { Verdict::Passed } else { Verdict::Failed };
        assert_eq!(decided(values, pass, gate).verdict, verdict, "{values:?} {pass} {gate}");
    }
    let of_turns = verdicts_of_turns(rules[0].criterion.as_ref(), &turns(&[5.0, 5.1]));
    assert_eq!(of_turns, [TurnVerdict::Passed, TurnVerdict::Failed]);
    let hidden = &decided(&[&[2.0, 6.0]], PassRule::Mean, TurnAggregation::Mean).metrics[0].notes;
    assert_eq!(
        *hidden,
        ["1 score of 2 above the threshold; the mean passes (`gate = \"every_turn\"` compares each)"]
    );
    let rounded = rounding_note(5.000_000_000_000_001, Bound::at_most(5.0)).unwrap();
    assert!(rounded.ends_with("Set the threshold to 5.01 if this is meant to pass"), "{rounded}");
}

#[test]
fn the_mean_over_all_turns_of_all_runs_decides() {
    let third = 0.333_333_333_333_333_3;
    assert_eq!(verdict(0.6, &[&[1.0, third]], PassRule::Mean, TurnAggregation::Mean), Verdict::Passed);
    assert_eq!(verdict(0.6, &[&[1.0, third]], PassRule::Mean, TurnAggregation::EveryTurn), Verdict::Failed);
    assert_eq!(
        verdict(0.6, &[&[1.0], &[1.0], &[0.0]], PassRule::Mean, TurnAggregation::Mean),
        Verdict::Passed
    );
    assert_eq!(
        verdict(0.7, &[&[1.0], &[1.0], &[0.0]], PassRule::Mean, TurnAggregation::Mean),
        Verdict::Failed
    );
}

#[test]
fn runs_are_decided_first_where_they_are_counted() {
    let runs: [&[f64]; 3] = [&[1.0], &[1.0], &[0.0]];
    for (pass, passes) in [
        (PassRule::All, false),
        (PassRule::Any, true),
        (PassRule::AtLeast(2), true),
        (PassRule::AtLeast(3), false),
    ] {
        let expected = if passes { Verdict::Passed } else { Verdict::Failed };
        assert_eq!(verdict(0.5, &runs, pass, TurnAggregation::Mean), expected, "{pass:?}");
    }
}

#[test]
fn only_a_mean_that_passes_hides_low_scores() {
    let note = |pass, runs: &[&[f64]]| {
        let rules = one(0.5);
        let runs: Vec<RunReport> = runs
            .iter()
            .enumerate()
            .map(|(at, values)| RunReport { number: at + 1, ..run(&rules, vec![turns(values)]) })
            .collect();
        decide(&rules, &runs, pass, TurnAggregation::Mean).metrics[0].notes.join("; ")
    };
    assert_eq!(
        note(PassRule::Any, &[&[1.0], &[0.0], &[0.0]]),
        "",
        "the failed runs are counted in the table"
    );
    let of_run = note(PassRule::Any, &[&[1.0, 0.0], &[0.0, 0.0]]);
    assert!(
        of_run
            .starts_with("1 score of 2 in runs that passed below the threshold; the mean of the run passes")
    );
    let of_all = note(PassRule::Mean, &[&[1.0], &[1.0], &[0.0]]);
    assert!(of_all.starts_with("1 score of 3 below the threshold; the mean passes"), "{of_all}");
}

#[test]
fn a_run_passes_only_with_all_its_metrics() {
    let rules = [("a", 1.0), ("b", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    let runs = numbered([
        run(&rules, vec![turns(&[1.0]), turns(&[0.0])]),
        run(&rules, vec![turns(&[0.0]), turns(&[1.0])]),
    ]);
    let Decision { metrics, verdict, .. } = decide(&rules, &runs, PassRule::Any, TurnAggregation::Mean);
    assert!(metrics.iter().all(|metric| metric.verdict.passed() && metric.passed_runs == Some(1)));
    assert_eq!(verdict, Verdict::Failed);
}

#[test]
fn the_exact_mean_decides_and_both_are_told() {
    // Six scores of exactly 0.8: the running sum falls short, the exact mean does not.
    let runs = [run(&one(0.8), vec![turns(&[0.8; 6])])];
    let Decision { metrics, verdict, .. } = decide(&one(0.8), &runs, PassRule::Mean, TurnAggregation::Mean);
    assert_eq!(verdict, Verdict::Passed);
    assert_eq!(metrics[0].score, Some(0.8));
    assert!(metrics[0].notes[0].contains("0.7999999999999999"), "{:?}", metrics[0].notes);
}

#[test]
fn a_score_that_misses_by_rounding_fails_and_says_so() {
    let runs = [run(&one(0.8), vec![turns(&[0.799_999_999_999_999_9])])];
    let Decision { metrics, verdict, .. } = decide(&one(0.8), &runs, PassRule::Mean, TurnAggregation::Mean);
    assert_eq!(verdict, Verdict::Failed);
    assert!(metrics[0].notes[0].contains("but for rounding"), "{:?}", metrics[0].notes);
}

#[test]
fn one_unscored_turn_is_not_evaluated_whatever_the_others_score() {
    let scores: Scores = [Score::from(1.0), Score::not_evaluated("no reference")].into_iter().collect();
    let Decision { metrics, verdict, .. } = decide(
        &one(0.5),
        &[run(&one(0.5), vec![MetricOutcome::Scored(scores)])],
        PassRule::Mean,
        TurnAggregation::Mean,
    );
    assert_eq!(metrics[0].verdict, Verdict::NotEvaluated("turn 2: no reference".to_owned()));
    assert_eq!((metrics[0].scored, metrics[0].total), (1, 2));
    assert!(
        matches!(verdict, Verdict::NotEvaluated(reason) if reason == "m was not evaluated: turn 2: no reference")
    );
}

#[test]
fn an_error_of_one_run_is_an_error_of_the_case_unless_enough_other_runs_passed() {
    let good = || run(&one(0.5), vec![turns(&[1.0])]);
    let bad = || run(&one(0.5), vec![turns(&[0.0])]);
    let error =
        |run: usize| Verdict::error(Role::Agent, format!("run {run} of 3: agent error in turn 2: gone"));
    for (runs, pass, expected) in [
        ([good(), broken("gone"), good()], PassRule::Mean, error(2)),
        ([good(), broken("gone"), good()], PassRule::All, error(2)),
        ([good(), broken("gone"), good()], PassRule::Any, Verdict::Passed),
        ([good(), broken("gone"), good()], PassRule::AtLeast(2), Verdict::Passed),
        ([good(), broken("gone"), good()], PassRule::AtLeast(3), error(2)),
        ([broken("gone"), broken("gone"), good()], PassRule::Any, Verdict::Passed),
        ([broken("gone"), bad(), good()], PassRule::AtLeast(2), error(1)),
        ([bad(), bad(), broken("gone")], PassRule::Any, error(3)),
    ] {
        let Decision { verdict, notes, .. } = decide(&one(0.5), &numbered(runs), pass, TurnAggregation::Mean);
        assert_eq!(verdict, expected, "{pass:?}");
        assert_eq!(notes.is_empty(), !verdict.passed(), "errors that do not count are said");
    }
    let runs = numbered([good(), broken("gone")]);
    let Decision { metrics, notes, .. } = decide(&one(0.5), &runs, PassRule::Any, TurnAggregation::Mean);
    assert_eq!(metrics[0].score, Some(1.0), "the other run keeps its score");
    assert_eq!(
        notes,
        ["run 2 of 2 does not count, `pass = \"any\"` holds without it: agent error in turn 2: gone"]
    );
}

#[test]
fn a_metric_that_broke_in_one_run_is_no_error_if_enough_other_runs_passed() {
    let broken = || MetricOutcome::Error { role: Role::Judge, message: "no answer".to_owned() };
    let unscored = || MetricOutcome::Scored([Score::not_evaluated("no reference")].into_iter().collect());
    for (outcome, said) in
        [(broken(), "m: ERROR: no answer"), (unscored(), "m: NOT EVALUATED: turn 1: no reference")]
    {
        let runs = numbered([run(&one(0.5), vec![outcome]), run(&one(0.5), vec![turns(&[1.0])])]);
        let decided = decide(&one(0.5), &runs, PassRule::Any, TurnAggregation::Mean);
        assert_eq!((decided.verdict, decided.metrics[0].verdict.clone()), (Verdict::Passed, Verdict::Passed));
        assert!(decided.notes[0].ends_with(said), "{:?}", decided.notes);
        for pass in [PassRule::Mean, PassRule::All, PassRule::AtLeast(2)] {
            let verdict = decide(&one(0.5), &runs, pass, TurnAggregation::Mean).verdict;
            assert!(matches!(verdict, Verdict::Error { .. } | Verdict::NotEvaluated(_)), "{verdict:?}");
        }
    }
}

#[test]
fn several_evaluations_in_one_run_count_as_one_run() {
    let (good, bad) = (|| run(&one(0.5), vec![turns(&[1.0])]), || run(&one(0.5), vec![turns(&[0.0])]));
    let of = |numbers: [usize; 3], mut runs: [RunReport; 3]| {
        for (run, number) in runs.iter_mut().zip(numbers) {
            run.number = number;
        }
        runs
    };
    for (numbers, runs, pass, passes) in [
        ([1, 1, 2], [good(), good(), bad()], PassRule::AtLeast(2), false),
        ([1, 1, 2], [good(), good(), good()], PassRule::AtLeast(2), true),
        ([1, 1, 2], [good(), bad(), bad()], PassRule::Any, false),
        ([1, 2, 2], [good(), bad(), good()], PassRule::Any, true),
        ([1, 2, 2], [good(), bad(), good()], PassRule::All, false),
    ] {
        let verdict = decide(&one(0.5), &of(numbers, runs), pass, TurnAggregation::Mean).verdict;
        assert_eq!(verdict, if passes { Verdict::Passed } else { Verdict::Failed }, "{numbers:?}, {pass:?}");
    }
}

#[test]
fn a_run_in_which_nothing_decided_does_not_count_as_passed() {
    let unjudged = MetricOutcome::Unjudged("no judge".to_owned());
    let runs = numbered([run(&one(0.5), vec![unjudged]), run(&one(0.5), vec![turns(&[0.0])])]);
    assert_eq!(decide(&one(0.5), &runs, PassRule::Any, TurnAggregation::Mean).passed_runs, Some(0));
}

#[test]
fn nothing_that_gates_is_never_a_pass() {
    let informational = [Rule { name: "count".to_owned(), criterion: None }];
    let Decision { metrics, verdict, .. } = decide(
        &informational,
        &[run(&informational, vec![turns(&[3.0])])],
        PassRule::Mean,
        TurnAggregation::Mean,
    );
    assert_eq!((metrics[0].verdict.clone(), metrics[0].score), (Verdict::Informational, Some(3.0)));
    // The mean of all turns of all runs that have a value, as `AgentEvaluator` prints it.
    let unknown: Scores = [Score::from(1.0), Score::not_evaluated("no usage")]
        .into_iter()
        .collect::<Scores>()
        .with_overall(Some(0.5));
    let runs =
        [MetricOutcome::Scored(unknown), turns(&[2.0, 6.0])].map(|scores| run(&informational, vec![scores]));
    let Decision { metrics, .. } = decide(&informational, &runs, PassRule::Mean, TurnAggregation::Mean);
    assert_eq!(metrics[0].score, Some(3.0));
    assert!(matches!(verdict, Verdict::NotEvaluated(_)));
    let skipped = MetricOutcome::Skipped("does not apply".to_owned());
    let Decision { verdict, .. } =
        decide(&one(0.5), &[run(&one(0.5), vec![skipped])], PassRule::Mean, TurnAggregation::Mean);
    assert!(matches!(verdict, Verdict::NotEvaluated(_)));
}

#[test]
fn a_broken_metric_does_not_touch_its_siblings() {
    let rules = [("a", 1.0), ("b", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    for role in [Role::Metric, Role::Judge] {
        let broken = MetricOutcome::Error { role, message: "boom".to_owned() };
        let runs = [run(&rules, vec![broken, turns(&[1.0])])];
        let Decision { metrics, verdict, .. } = decide(&rules, &runs, PassRule::Mean, TurnAggregation::Mean);
        assert_eq!(verdict, Verdict::error(role, "a: boom"));
        assert!(metrics[1].verdict.passed());
    }
}

#[test]
fn without_a_judge_the_rest_decides_and_nothing_is_skipped() {
    let rules = [("a", 1.0), ("b", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    let unjudged = || MetricOutcome::Unjudged("no judge".to_owned());
    for (other, expected) in [
        (turns(&[1.0]), Verdict::Passed),
        (turns(&[0.5]), Verdict::Failed),
        (unjudged(), Verdict::Skipped("no judge".to_owned())),
        (MetricOutcome::Skipped("does not apply".to_owned()), Verdict::Skipped("no judge".to_owned())),
    ] {
        let Decision { metrics, verdict, .. } =
            decide(&rules, &[run(&rules, vec![unjudged(), other])], PassRule::Mean, TurnAggregation::Mean);
        assert_eq!(verdict, expected);
        assert_eq!(metrics[0].verdict, Verdict::Skipped("no judge".to_owned()));
    }
}

#[test]
fn a_run_that_nobody_could_judge_does_not_erase_what_another_one_measured() {
    let rules = [("judged", 1.0), ("other", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    let unjudged = || MetricOutcome::Unjudged("no judge".to_owned());
    let unscored = || MetricOutcome::Scored([Score::not_evaluated("no reference")].into_iter().collect());
    let skipped = Verdict::Skipped("no judge".to_owned());
    let unknown = Verdict::NotEvaluated("turn 1: no reference".to_owned());
    for (measured, pass, of_metric, passes) in [
        (turns(&[0.0]), PassRule::Mean, Verdict::Failed, false),
        (turns(&[0.0]), PassRule::All, Verdict::Failed, false),
        (turns(&[1.0]), PassRule::Mean, skipped.clone(), true),
        (turns(&[1.0]), PassRule::Any, Verdict::Passed, true),
        (unjudged(), PassRule::Mean, skipped, true),
        (unscored(), PassRule::Mean, unknown, false),
    ] {
        let runs = numbered([
            run(&rules, vec![measured, turns(&[1.0])]),
            run(&rules, vec![unjudged(), turns(&[1.0])]),
        ]);
        let Decision { metrics, verdict, .. } = decide(&rules, &runs, pass, TurnAggregation::Mean);
        assert_eq!((&metrics[0].verdict, verdict.passed()), (&of_metric, passes), "{pass:?}");
    }
}

#[test]
fn a_run_whose_user_nobody_could_play_does_not_erase_what_another_one_measured() {
    let rules = [("a", 1.0), ("b", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    let unjudged = || MetricOutcome::Unjudged("no judge".to_owned());
    for (first, expected) in [
        ([turns(&[0.0]), turns(&[1.0])], Verdict::Failed),
        ([turns(&[1.0]), turns(&[1.0])], Verdict::Skipped("no judge".to_owned())),
    ] {
        let runs = numbered([run(&rules, first.to_vec()), run(&rules, vec![unjudged(), unjudged()])]);
        let decided = decide(&rules, &runs, PassRule::Mean, TurnAggregation::Mean);
        assert_eq!(decided.verdict, expected);
        assert_eq!(decide(&rules, &runs, PassRule::All, TurnAggregation::Mean).verdict, expected);
    }
}

#[test]
fn evaluations_that_nobody_could_judge_do_not_stand_for_runs() {
    let unjudged = || run(&one(0.5), vec![MetricOutcome::Unjudged("no judge".to_owned())]);
    let mut runs = [unjudged(), unjudged(), run(&one(0.5), vec![turns(&[0.0])])];
    for (run, number) in runs.iter_mut().zip([1, 1, 2]) {
        run.number = number;
    }
    assert_eq!(
        decide(&one(0.5), &runs, PassRule::AtLeast(2), TurnAggregation::Mean).verdict,
        Verdict::Failed
    );
    let skipped = Verdict::Skipped("no judge".to_owned());
    assert_eq!(decide(&one(0.5), &runs, PassRule::Any, TurnAggregation::Mean).verdict, skipped);
}

#[test]
fn scores_of_whole_runs_and_of_turns_are_never_counted_together() {
    let whole = || MetricOutcome::Scored(Scores::whole_run(1.0));
    let runs = || numbered([run(&one(0.5), vec![whole()]), run(&one(0.5), vec![turns(&[1.0, 1.0])])]);
    let of_all = decide(&one(0.5), &runs(), PassRule::Mean, TurnAggregation::Mean);
    let said = "m: it scored 1 run as a whole and 1 by turn; a metric scores all runs in one way";
    assert_eq!(of_all.verdict, Verdict::error(Role::Metric, said));
    let numbers = |decision: &Decision| {
        let metric = &decision.metrics[0];
        (metric.score, metric.scored, metric.total)
    };
    assert_eq!(numbers(&of_all), (None, 2, 2), "two runs, and not three of anything");
    // Decided run by run, each is measured by itself.
    let of_each = decide(&one(0.5), &runs(), PassRule::All, TurnAggregation::Mean);
    assert_eq!((&of_each.verdict, numbers(&of_each)), (&Verdict::Passed, (None, 2, 2)));
    assert_eq!(of_each.metrics[0].passed_runs, Some(2));
}

#[test]
fn a_metric_that_a_run_was_not_scored_with_is_an_error() {
    let rules = [("a", 1.0), ("b", 1.0)]
        .map(|(name, t)| Rule { name: name.to_owned(), criterion: Some(Criterion::new(t)) });
    let runs =
        numbered([run(&rules, vec![turns(&[1.0]), turns(&[1.0])]), run(&rules[..1], vec![turns(&[1.0])])]);
    let Decision { verdict, .. } = decide(&rules, &runs, PassRule::Any, TurnAggregation::Mean);
    assert_eq!(verdict, Verdict::error(Role::Harness, "b: a run was not scored with it"));
}

#[test]
fn low_scores_that_a_mean_hides_are_counted() {
    let hidden = |count: &str| {
        vec![format!("{count} below the threshold; the mean passes (`gate = \"every_turn\"` compares each)")]
    };
    for (runs, gate, said) in [
        (vec![vec![1.0, 0.5]], TurnAggregation::Mean, hidden("1 score of 2")),
        (vec![vec![1.0, 1.0], vec![0.5, 0.4]], TurnAggregation::Mean, hidden("2 scores of 4")),
        (vec![vec![0.6, 1.0]], TurnAggregation::Mean, Vec::new()),
        (vec![vec![0.5, 0.1]], TurnAggregation::Mean, Vec::new()),
        (vec![vec![0.6, 1.0]], TurnAggregation::EveryTurn, Vec::new()),
    ] {
        let rules = one(0.6);
        let reports: Vec<RunReport> =
            runs.iter().map(|values| run_under(&rules, vec![turns(values)], gate)).collect();
        assert_eq!(decide(&rules, &reports, PassRule::Mean, gate).metrics[0].notes, said, "{runs:?}");
    }
}

#[test]
fn only_a_miss_by_less_than_rounding_is_called_one() {
    let said = "0.7999999999999999 is 0.8 but for rounding; ADK compares without tolerance, and so does this test. \
         Set the threshold to 0.79 if this is meant to pass";
    assert_eq!(rounding_note(0.799_999_999_999_999_9, Bound::at_least(0.8)).as_deref(), Some(said));
    for (score, threshold) in [(0.8, 0.8), (0.79, 0.8), (0.9, 0.8), (0.0, ROUNDING)] {
        assert_eq!(rounding_note(score, Bound::at_least(threshold)), None, "{score} of {threshold}");
    }
}

#[test]
fn two_means_on_one_side_of_the_threshold_are_no_remark() {
    let sixes: Scores = [0.8; 6].into_iter().map(Score::from).collect();
    for (threshold, differ) in [(0.8, true), (0.7, false), (0.9, false)] {
        assert_eq!(
            front_ends_note(0.8, &[&sixes], Bound::at_least(threshold)).is_some(),
            differ,
            "{threshold}"
        );
    }
    let bound = Bound::at_least(0.8);
    assert_eq!(
        front_ends_note(0.8, &[&sixes, &sixes], bound),
        None,
        "`adk eval` has no mean of several runs"
    );
}

#[test]
fn the_turn_without_a_score_is_named_with_its_run() {
    let whole: Scores = [Score::from(1.0)].into_iter().collect();
    let lacking: Scores = [Score::from(1.0), Score::not_evaluated("x")].into_iter().collect();
    let of_run = Scores::whole_run(Score::not_evaluated("x"));
    for (runs, said) in [
        (vec![], None),
        (vec![&whole, &whole], None),
        (vec![&lacking], Some("turn 2: x")),
        (vec![&whole, &lacking], Some("turn 2 of run 2: x")),
        (vec![&of_run], Some("the run: x")),
    ] {
        assert_eq!(unscored(&runs).as_deref(), said);
    }
}

#[test]
fn a_metric_that_only_informs_takes_no_run_away() {
    let rules = [("m", Some(Criterion::new(0.5))), ("count", None)]
        .map(|(name, criterion)| Rule { name: name.to_owned(), criterion });
    let broken = MetricOutcome::Error { role: Role::Metric, message: "boom".to_owned() };
    let runs =
        numbered([run(&rules, vec![turns(&[1.0]), broken]), run(&rules, vec![turns(&[0.0]), turns(&[3.0])])]);
    let decided = decide(&rules, &runs, PassRule::Any, TurnAggregation::Mean);
    assert_eq!((decided.verdict, decided.passed_runs), (Verdict::Passed, Some(1)));
    assert_eq!(decided.notes, [""; 0]);
}

/// A turn is decided here and nowhere else: what is printed, recorded and shown reads it.
#[test]
fn each_turn_has_a_verdict() {
    let scores = [Score::from(0.5), Score::from(0.49), Score::not_evaluated("x"), Score::left_out("y")];
    let outcome = MetricOutcome::Scored(scores.into_iter().collect());
    let half = Criterion::new(0.5);
    let verdicts = verdicts_of_turns(Some(&half), &outcome);
    let expected =
        [TurnVerdict::Passed, TurnVerdict::Failed, TurnVerdict::NotEvaluated, TurnVerdict::Informational];
    assert_eq!(verdicts, expected);
    assert_eq!(verdicts_of_turns(None, &outcome), [TurnVerdict::Informational; 4]);
    let whole = MetricOutcome::Scored(Scores::whole_run(0.7));
    assert_eq!(verdicts_of_turns(Some(&half), &whole), [TurnVerdict::Passed]);
    assert!(verdicts_of_turns(Some(&half), &MetricOutcome::Skipped("z".to_owned())).is_empty());
}

#[test]
fn a_run_whose_test_body_failed_keeps_its_scores_and_has_not_passed() {
    let failed = || {
        let error = RunError::new(Role::Body, None, "assertion failed");
        RunReport { error: Some(error), ..run(&one(0.5), vec![turns(&[1.0])]) }
    };
    let decided = decide(&one(0.5), &numbered([failed(), failed()]), PassRule::Any, TurnAggregation::Mean);
    assert_eq!((decided.passed_runs, decided.metrics[0].score), (Some(0), Some(1.0)));
    assert!(matches!(decided.verdict, Verdict::Error { role: Role::Body, .. }), "{:?}", decided.verdict);
    let good = run(&one(0.5), vec![turns(&[1.0])]);
    let decided = decide(&one(0.5), &numbered([failed(), good]), PassRule::Any, TurnAggregation::Mean);
    assert_eq!((decided.passed_runs, decided.verdict), (Some(1), Verdict::Passed));
}

#[test]
fn a_metric_is_decided_by_runs_or_by_its_mean_and_counts_runs_only_where_they_decide_it() {
    let runs = numbered([&[1.0][..], &[1.0], &[0.0]].map(|values| run(&one(0.5), vec![turns(values)])));
    let metric = |pass| decide(&one(0.5), &runs, pass, TurnAggregation::Mean).metrics.remove(0);
    // The mean of two thirds is enough, and three runs are not there.
    let all = metric(PassRule::All);
    assert_eq!((all.verdict, all.passed_runs), (Verdict::Failed, Some(2)));
    let mean = metric(PassRule::Mean);
    assert_eq!((mean.verdict, mean.passed_runs), (Verdict::Passed, None));
    let unscored = MetricOutcome::Scored([Score::not_evaluated("no reference")].into_iter().collect());
    for outcome in [unscored, MetricOutcome::Unjudged("no judge".to_owned())] {
        let runs = numbered([run(&one(0.5), vec![outcome]), run(&one(0.5), vec![turns(&[1.0])])]);
        let metric = decide(&one(0.5), &runs, PassRule::All, TurnAggregation::Mean).metrics.remove(0);
        assert!(metric.verdict.reason().is_some(), "{:?}", metric.verdict);
        assert_eq!(metric.passed_runs, None);
    }
}
