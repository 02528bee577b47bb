//! Comparisons of baselines, as the command and programs make them.

use std::collections::BTreeMap;

use super::*;
use crate::baseline::{Baseline, Line, MetricLine, Provenance};
use crate::decide::gate::Policy;
use crate::output::Outcome;

mod diffs;
mod properties;

/// A case that passed a number of runs, with a criterion, a judge and hashes by these numbers.
pub(super) fn line(case: &str, passed: usize, runs: usize, errors: usize) -> Line {
    let scores = (0..runs).map(|run| (run < runs - errors).then_some(1.0)).collect();
    let criterion = "c0".to_owned();
    let metric = MetricLine { criterion, judge: None, arithmetic: 1, at_most: false, passed, scores };
    Line {
        set: "evals/desk.evalset.json".to_owned(),
        case: case.to_owned(),
        variant: String::new(),
        asks: "a0".to_owned(),
        expects: "e0".to_owned(),
        runs,
        passed,
        errors,
        pass: "mean".to_owned(),
        gate: "mean".to_owned(),
        literal: false,
        tools: None,
        failed: false,
        metrics: BTreeMap::from([("safety_v1".to_owned(), metric)]),
        tokens: Vec::new(),
        seconds: Vec::new(),
        calls: Vec::new(),
        from: Provenance {
            commit: Some("1a2b3c4d5e".to_owned()),
            evalset: "0.1.0".to_owned(),
            ..Provenance::default()
        },
    }
}

/// Cases `0`, `1`, .. of a side.
pub(super) fn side(cases: impl IntoIterator<Item = (usize, usize, usize)>) -> Baseline {
    let line = |(at, (passed, runs, errors)): (usize, _)| line(&format!("{at:03}"), passed, runs, errors);
    cases.into_iter().enumerate().map(line).collect()
}

fn gated(before: &Baseline, now: &Baseline) -> Gated {
    gated_with(before, now, &GateOptions::default())
}

fn gated_with(before: &Baseline, now: &Baseline, options: &GateOptions) -> Gated {
    Gated::new(Comparison::new(before, now, now, Policy::default()), options)
}

/// The cases with this judge behind their metric.
fn judged(side: &Baseline, judge: Option<&str>) -> Baseline {
    let with_judge = |line: &Line| {
        let mut line = line.clone();
        line.metrics.values_mut().for_each(|metric| metric.judge = judge.map(str::to_owned));
        line
    };
    side.lines().map(with_judge).collect()
}

fn categories_of(gated: &Gated) -> Vec<(&'static str, usize)> {
    gated.comparison.counted().into_iter().map(|(category, cases)| (category.words(), cases)).collect()
}

#[test]
fn a_case_that_fell_is_no_regression_and_one_that_cannot_be_shown_stops_the_gate() {
    let before = side(vec![(3, 3, 0); 20]);
    let fell = gated(&before, &side((0..20).map(|at| (if at == 0 { 2 } else { 3 }, 3, 0))));
    assert_eq!(
        (fell.word(), fell.outcome(), categories_of(&fell)),
        ("PASS", Outcome::Passed, vec![("fell", 1), ("same", 19)])
    );
    let dead = gated(&before, &side((0..20).map(|at| (if at == 0 { 0 } else { 3 }, 3, 0))));
    assert_eq!((dead.word(), dead.outcome()), ("CANNOT TELL", Outcome::Unmeasurable));
    assert_eq!(categories_of(&dead), [("newly failing", 1), ("same", 19)]);
    assert_eq!(
        dead.reasons[0],
        "evals/desk.evalset.json:000 passed 3 of 3 before and none of 3 now (p = 0.050). 3 runs now are too few to show it for one \
         of 20 cases: it would take 15 failures."
    );
    assert_eq!(dead.reasons[1..], ["`--retry-suspects` runs what failed again"]);
    // One run before shows nothing, whatever ran now.
    let once = gated(&side(vec![(1, 1, 0); 20]), &side((0..20).map(|at| (usize::from(at > 0), 1, 0))));
    assert_eq!(
        once.reasons,
        [
            "evals/desk.evalset.json:000 passed its only run before and not its only run now (p = 0.50). 1 run before cannot show it \
             for one of 20 cases: it would take 799 failures.",
            "bless a build that works with 10 runs: `cargo evalset run .. --runs 10`, then `cargo evalset bless`",
        ]
    );
}

#[test]
fn gains_pay_for_no_loss_and_both_are_listed() {
    let before = side((0..40).map(|at| (usize::from(at < 20), 1, 0)));
    let now = side((0..40).map(|at| (usize::from(at >= 20), 1, 0)));
    let gated = gated(&before, &now);
    assert_eq!(categories_of(&gated), [("newly failing", 20), ("newly passing", 20)]);
    // The set as a whole is as good as before. Each loss stops the gate anyway.
    assert!(!gated.comparison.decision.is_shown);
    assert_eq!(gated.word(), "CANNOT TELL");
}

#[test]
fn a_case_is_compared_only_where_it_means_the_same() {
    let before = judged(&side([(10, 10, 0), (10, 10, 0), (10, 10, 0)]), Some("gemini safety_v1/2"));
    for (change, why) in [
        (
            (|line: &mut Line| line.asks = "a1".to_owned()) as fn(&mut Line),
            "the user says something else since 1a2b3c4",
        ),
        (|line| line.expects = "e1".to_owned(), "it expects something else since 1a2b3c4"),
        (
            |line| line.gate = "every_turn".to_owned(),
            "the turns of a run are combined in another way: mean before, every_turn now",
        ),
        (
            |line| line.metrics.values_mut().for_each(|it| it.criterion = "c1".to_owned()),
            "`safety_v1`: another criterion",
        ),
        (
            |line| line.metrics.values_mut().for_each(|it| it.judge = Some("gpt safety_v1/2".to_owned())),
            "`safety_v1`: another judge: gemini safety_v1/2 before, gpt safety_v1/2 now",
        ),
        (
            |line| line.metrics.values_mut().for_each(|it| it.judge = Some("gemini safety_v1/3".to_owned())),
            "`safety_v1`: another judge: gemini safety_v1/2 before, gemini safety_v1/3 now",
        ),
        (
            |line| {
                line.metrics.values_mut().for_each(|it| it.arithmetic = 2);
                line.from.evalset = "0.2.0".to_owned();
            },
            "`safety_v1`: evalset 0.2.0 computes it in another way than 0.1.0 did",
        ),
        (
            |line| line.metrics.values_mut().for_each(|it| it.arithmetic = 2),
            "`safety_v1`: it is computed in another way now",
        ),
        (|line| line.metrics = BTreeMap::new(), "`safety_v1`: it decides nothing now"),
    ] {
        let now: Baseline = before
            .lines()
            .map(|line| {
                let mut line = Line { passed: 0, ..line.clone() };
                if line.case == "001" {
                    change(&mut line);
                } else {
                    line.passed = 10;
                }
                line
            })
            .collect();
        let gated = gated(&before, &now);
        assert_eq!(categories_of(&gated), [("incomparable", 1), ("same", 2)], "{why}");
        assert_eq!(gated.comparison.cases[1].incomparable.as_deref(), Some(why));
        // It passes no run now, and no test tells whether it ever did.
        assert_eq!(gated.word(), "CANNOT TELL", "{why}");
    }
}

#[test]
fn a_judge_that_was_not_asked_is_no_other_judge() {
    let before = judged(
        &side([(10, 10, 0); 3]),
        Some("gemini hallucinations_v1_segmenter/1 hallucinations_v1_validator/1"),
    );
    let now = side([(0, 3, 3), (3, 3, 0), (3, 3, 0)]);
    // No run has a verdict, and a metric that nothing was asked for may be gone from the record.
    let without = now.lines().map(|line| match line.errors {
        0 => line.clone(),
        _ => Line { metrics: BTreeMap::new(), ..line.clone() },
    });
    for now in [now.clone(), judged(&now, Some("gemini hallucinations_v1_segmenter/1")), without.collect()] {
        let gated = gated(&before, &now);
        assert_eq!((gated.word(), gated.outcome()), ("UNMEASURABLE", Outcome::Unmeasurable));
        assert_eq!(categories_of(&gated), [("error now", 1), ("same", 2)]);
    }
    // An agent that says nothing any more is not judged, and fails.
    let silent = gated(&before, &side([(0, 10, 0), (10, 10, 0), (10, 10, 0)]));
    assert_eq!((silent.word(), categories_of(&silent)), ("REGRESSION", vec![("regressed", 1), ("same", 2)]));
    // What has no verdict on one side may still be another case.
    let mut other: Vec<Line> = now.lines().cloned().collect();
    other[0].metrics.values_mut().for_each(|metric| metric.criterion = "c1".to_owned());
    let gated = gated(&before, &other.into_iter().collect());
    assert_eq!(categories_of(&gated), [("incomparable", 1), ("same", 2)]);
}

#[test]
fn of_two_metrics_the_one_that_did_not_change_stays_listed() {
    let with_two = |change: fn(&mut MetricLine)| -> Baseline {
        let mut line = line("a", 10, 10, 0);
        let trajectory = line.metrics["safety_v1"].clone();
        line.metrics.insert("tool_trajectory_avg_score".to_owned(), trajectory);
        let safety = line.metrics.get_mut("safety_v1").unwrap();
        safety.judge = Some("gemini safety_v1/2".to_owned());
        change(safety);
        [line].into_iter().collect()
    };
    let before = with_two(|_| ());
    let changes: [fn(&mut MetricLine); 3] = [
        |it| it.judge = Some("gpt safety_v1/2".to_owned()),
        // A threshold, say.
        |it| it.criterion = "c1".to_owned(),
        |it| it.arithmetic = 2,
    ];
    for change in changes {
        let gated = gated(&before, &with_two(change));
        let case = &gated.comparison.cases[0];
        assert_eq!((case.category, case.compared), (Category::Incomparable, None));
        let metrics: Vec<(&str, bool)> =
            case.metrics.iter().map(|metric| (metric.name.as_str(), metric.incomparable.is_none())).collect();
        assert_eq!(metrics, [("safety_v1", false), ("tool_trajectory_avg_score", true)]);
        let trajectory = &case.metrics[1];
        assert_eq!((trajectory.before, trajectory.now), (Some([10, 10]), Some([10, 10])));
        assert_eq!(trajectory.scores, [Some(1.0), Some(1.0)]);
    }
}

#[test]
fn a_baseline_decides_if_half_of_the_cases_can_be_compared() {
    let before = side([(10, 10, 0); 20]);
    let now = |edited: usize| -> Baseline {
        let cases = side([(3, 3, 0); 20]);
        let change = |(at, line): (usize, &Line)| {
            let asks = if at < edited { "a1" } else { "a0" }.to_owned();
            Line { asks, ..line.clone() }
        };
        cases.lines().enumerate().map(change).collect()
    };
    assert_eq!(gated(&before, &now(10)).word(), "PASS");
    let few = gated(&before, &now(11));
    assert_eq!((few.word(), few.outcome()), ("CANNOT TELL", Outcome::Unmeasurable));
    assert!(
        few.reasons[0].starts_with("only 9 of 20 cases can be compared (11 incomparable)"),
        "{:?}",
        few.reasons
    );
    // One of another set has none of them.
    let other: Baseline = before
        .lines()
        .map(|line| Line { set: "evals/other.evalset.json".to_owned(), ..line.clone() })
        .collect();
    let all_removed = gated(&other, &now(0));
    assert_eq!((all_removed.word(), all_removed.outcome()), ("UNMEASURABLE", Outcome::Unmeasurable));
    let options = GateOptions { allow_removed: true, ..GateOptions::default() };
    assert_eq!(gated_with(&other, &now(0), &options).word(), "CANNOT TELL");
}

#[test]
fn a_drop_of_another_run_than_is_meant_is_told_and_is_no_regression_of_this_build() {
    let (before, now) = (side([(10, 10, 0); 3]), side([(0, 10, 0), (10, 10, 0), (10, 10, 0)]));
    let options = GateOptions {
        doubts: vec!["the last run is of another commit".to_owned()],
        broken: vec!["too dear".to_owned()],
        ..GateOptions::default()
    };
    let gated = gated_with(&before, &now, &options);
    assert_eq!((gated.word(), gated.outcome()), ("UNMEASURABLE", Outcome::Unmeasurable));
    assert_eq!(
        gated.reasons[..2],
        ["the last run is of another commit", "what ran would be a regression: too dear"]
    );
    assert!(
        gated.reasons[2].starts_with(
            "what ran would be a regression: evals/desk.evalset.json:000 passed 10 of 10 before and none of 10 now"
        ),
        "{:?}",
        gated.reasons
    );
}

#[test]
fn a_recovered_case_pays_for_no_loss() {
    // Five cases were timeouts before, and pass now. As many others pass no more.
    let before = side((0..10).map(|at| if at < 5 { (0, 10, 10) } else { (10, 10, 0) }));
    let now = side((0..10).map(|at| (if at < 5 { 3 } else { 0 }, 3, 0)));
    let with_recovered = gated(&before, &now);
    assert_eq!(categories_of(&with_recovered), [("regressed", 5), ("recovered", 5)]);
    let only = |side: &Baseline| -> Baseline { side.lines().skip(5).cloned().collect() };
    let alone = gated(&only(&before), &only(&now));
    assert_eq!((with_recovered.word(), alone.word()), ("REGRESSION", "REGRESSION"));
    let p = |gated: &Gated| (gated.comparison.decision.p, gated.comparison.decision.p_of_worst);
    assert_eq!(p(&with_recovered), p(&alone), "the test of the set has the other cases alone");
    assert_eq!(with_recovered.reasons, alone.reasons);
}

#[test]
fn a_new_case_that_never_passed_keeps_the_gate_from_a_pass() {
    let before = side([(10, 10, 0); 3]);
    let now = |new: (usize, usize, usize)| side([(3, 3, 0), (3, 3, 0), (3, 3, 0), new]);
    for (new, word, says) in [
        (
            (0, 10, 0),
            "CANNOT TELL",
            "no run of 1 case passed, and no run before is comparable: `evals/desk.evalset.json:003`",
        ),
        ((0, 10, 4), "CANNOT TELL", "no run of 1 case passed"),
        ((0, 10, 10), "UNMEASURABLE", "no run of 1 case has a verdict: `evals/desk.evalset.json:003`"),
    ] {
        let gated = gated(&before, &now(new));
        assert_eq!((gated.word(), gated.outcome()), (word, Outcome::Unmeasurable), "{new:?}");
        assert!(gated.reasons[0].starts_with(says), "{new:?}: {:?}", gated.reasons);
    }
    // A case that failed by its own rule in some run is held to that.
    let failed =
        now((1, 10, 0)).lines().map(|line| Line { failed: line.passed == 1, ..line.clone() }).collect();
    let failed = gated(&before, &failed);
    assert_eq!((failed.word(), failed.outcome()), ("CANNOT TELL", Outcome::Unmeasurable));
    assert_eq!(
        failed.reasons,
        [
            "1 case failed, and no run before is comparable: `evals/desk.evalset.json:003` passed 1/10; fix the case or the agent, or \
             accept that it fails: `cargo evalset bless SET:CASE`"
        ]
    );
    let some = gated(&before, &now((1, 10, 0)));
    assert_eq!((some.word(), categories_of(&some)), ("PASS", vec![("only now", 1), ("same", 3)]));
    assert_eq!(
        some.notes,
        [
            "1 case without comparable runs before fails in some runs: `evals/desk.evalset.json:003` passed 1/10"
        ]
    );
}

#[test]
fn an_edited_case_that_passes_no_run_keeps_the_gate_from_a_pass() {
    let edited = |line: &Line| Line { asks: "a1".to_owned(), ..line.clone() };
    let now = |runs: (usize, usize, usize)| -> Baseline {
        side([runs, (3, 3, 0), (3, 3, 0)])
            .lines()
            .enumerate()
            .map(|(at, line)| if at == 0 { edited(line) } else { line.clone() })
            .collect()
    };
    for (runs, word) in
        [((0, 3, 0), "CANNOT TELL"), ((0, 3, 3), "UNMEASURABLE"), ((1, 3, 0), "PASS"), ((3, 3, 0), "PASS")]
    {
        let gated = gated(&side([(10, 10, 0); 3]), &now(runs));
        assert_eq!(
            (gated.word(), categories_of(&gated)),
            (word, vec![("incomparable", 1), ("same", 2)]),
            "{runs:?}"
        );
        assert_eq!(gated.notes.len(), usize::from(runs.0 == 1), "{:?}", gated.notes);
    }
}

#[test]
fn a_case_without_a_verdict_before_that_fails_now_keeps_the_gate_from_a_pass() {
    let before = side([(0, 10, 10), (10, 10, 0), (10, 10, 0)]);
    for (now, word) in [((0, 3, 0), "CANNOT TELL"), ((0, 3, 3), "UNMEASURABLE"), ((3, 3, 0), "PASS")] {
        assert_eq!(gated(&before, &side([now, (3, 3, 0), (3, 3, 0)])).word(), word, "{now:?}");
    }
}

#[test]
fn runs_that_were_scored_literally_are_compared_with_no_others() {
    let before = side([(10, 10, 0); 3]);
    let literal = side([(0, 10, 0); 3]).lines().map(|line| Line { literal: true, ..line.clone() }).collect();
    let gated = gated(&before, &literal);
    assert_eq!((gated.word(), categories_of(&gated)), ("CANNOT TELL", vec![("incomparable", 3)]));
    let why = gated.comparison.cases[0].incomparable.as_deref();
    assert_eq!(why, Some("the rules of the case counted before, and not now (`--literal`)"));
}

#[test]
fn a_baseline_of_one_case_decides_nothing_of_twenty() {
    let gated = gated(&side([(20, 20, 0)]), &side(vec![(1, 1, 0); 20]));
    assert_eq!((gated.word(), categories_of(&gated)), ("CANNOT TELL", vec![("only now", 19), ("same", 1)]));
    assert_eq!(
        gated.reasons[0],
        "only 1 of 20 cases can be compared (19 only now); bless the cases as they are now: `cargo evalset bless`"
    );
}

#[test]
fn a_removed_case_stops_the_gate_unless_it_is_allowed() {
    let (before, now) = (side(vec![(10, 10, 0); 3]), side(vec![(3, 3, 0); 2]));
    let stopped = gated(&before, &now);
    assert_eq!((stopped.word(), stopped.outcome()), ("UNMEASURABLE", Outcome::Unmeasurable));
    assert!(stopped.reasons[0].contains("evals/desk.evalset.json:002"), "{:?}", stopped.reasons);
    let allowed = gated_with(&before, &now, &GateOptions { allow_removed: true, ..GateOptions::default() });
    assert_eq!((allowed.word(), categories_of(&allowed)), ("PASS", vec![("only before", 1), ("same", 2)]));
}

#[test]
fn errors_decide_only_what_they_cannot_change() {
    for (before, now, word, category) in [
        ((5, 5, 0), (0, 5, 2), "UNMEASURABLE", "newly failing"),
        ((10, 10, 0), (0, 10, 3), "REGRESSION", "regressed"),
        ((10, 10, 0), (6, 10, 2), "PASS", "fell"),
        ((5, 5, 0), (0, 5, 5), "UNMEASURABLE", "error now"),
        ((0, 5, 5), (5, 5, 0), "CANNOT TELL", "recovered"),
        ((0, 5, 5), (0, 5, 5), "UNMEASURABLE", "no verdict"),
    ] {
        let gated = gated(&side([before]), &side([now]));
        assert_eq!((gated.word(), categories_of(&gated)), (word, vec![(category, 1)]), "{before:?} {now:?}");
    }
}

#[test]
fn the_gate_says_what_it_would_find() {
    let gated = gated(&side(vec![(10, 10, 0); 20]), &side(vec![(3, 3, 0); 20]));
    assert_eq!(
        gated.reasons,
        [
            "60 of 60 runs passed; 200 of 200 in the baseline. No drop is shown (20 cases; p = 1 over the cases, no case by itself)."
        ]
    );
    assert!(gated.notes.is_empty());
    let power = gated.power.unwrap();
    // The reference has 1 for a case that stopped working, and 0.94 for all cases 10 points worse.
    assert!(power.dead > 0.99 && power.all_by_tenth > 0.85, "{power:?}");
    assert!(
        gated
            .power_text()
            .unwrap()
            .starts_with("This gate finds a case that stopped working in 100% of builds")
    );
}

#[test]
fn a_regression_names_the_limit_of_its_rank_and_the_metric_that_fell() {
    let before = side(vec![(10, 10, 0); 4]);
    let now = side([(0, 10, 0), (1, 10, 0), (10, 10, 0), (10, 10, 0)]);
    let gated = gated(&before, &now);
    let tails = gated.reasons.iter().map(|reason| reason.split_once("; limit ").map(|(_, tail)| tail));
    assert_eq!(
        tails.collect::<Vec<_>>(),
        [
            Some(
                "0.0063: 2.5% over 4 cases, Holm); `safety_v1` passed 10/10 before and 0/10 now (not adjusted, no test)"
            ),
            Some(
                "0.0083: 2.5% over 4 cases, Holm); `safety_v1` passed 10/10 before and 1/10 now (not adjusted, no test)"
            ),
            Some("2.5%)"),
        ]
    );
    assert_eq!(gated.power, None);
}

#[test]
fn of_several_metrics_the_one_that_fell_is_named() {
    let with_two = |passed: usize| -> Baseline {
        let mut line = line("a", passed, 10, 0);
        let steady = MetricLine { passed: 10, ..line.metrics["safety_v1"].clone() };
        line.metrics.insert("response_match_score".to_owned(), steady);
        [line].into_iter().collect()
    };
    let gated = gated(&with_two(10), &with_two(1));
    let reason = &gated.reasons[0];
    assert!(
        reason.contains("; `safety_v1` passed 10/10 before and 1/10 now (not adjusted, no test)"),
        "{reason}"
    );
    assert!(!gated.reasons.concat().contains("response_match_score"), "{:?}", gated.reasons);
}

#[test]
fn a_case_that_only_breaks_now_stops_the_gate_also_if_it_would_have_decided_nothing() {
    let gated = gated(&side([(1, 2, 0), (10, 10, 0)]), &side([(0, 3, 3), (3, 3, 0)]));
    assert_eq!((gated.word(), categories_of(&gated)), ("UNMEASURABLE", vec![("error now", 1), ("same", 1)]));
    assert!(gated.reasons[0].starts_with("no run of 1 case has a verdict"), "{:?}", gated.reasons);
}

#[test]
fn a_gate_says_how_many_cases_it_did_not_compare_and_what_would_find_more() {
    let before = side(vec![(1, 1, 0); 3]);
    let pass = gated(&before, &side(vec![(1, 1, 0); 5]));
    assert!(pass.reasons[0].ends_with("2 cases are not compared (2 only now)."), "{:?}", pass.reasons);
    // Twenty runs of a case cannot show what one run before leaves open, so running it again is no help.
    assert!(pass.power_text().unwrap().ends_with("bless ten of a build that works."), "{pass:?}");
    let weak = gated(&side(vec![(5, 5, 0); 20]), &side(vec![(1, 1, 0); 20]));
    assert!(weak.power_text().unwrap().contains("`--retry-suspects`"), "{:?}", weak.power_text());
}

#[test]
fn a_broken_limit_fails_the_build_whatever_was_compared() {
    let same = side([(3, 3, 0)]);
    let options = GateOptions { broken: vec!["too dear".to_owned()], ..GateOptions::default() };
    let gated = gated_with(&same, &same, &options);
    assert_eq!((gated.word(), &gated.reasons[..]), ("REGRESSION", &["too dear".to_owned()][..]));
}

#[test]
fn nothing_compared_is_no_pass() {
    let none = gated(&side([]), &side([]));
    assert_eq!((none.word(), none.outcome()), ("CANNOT TELL", Outcome::Unmeasurable));
    assert!(none.reasons[0].starts_with("no case ran, and the baseline has none; "), "{:?}", none.reasons);
    let options = GateOptions { allow_removed: true, ..GateOptions::default() };
    for (before, now) in [(side([(1, 1, 0)]), side([])), (side([]), side([(1, 1, 0)]))] {
        assert_eq!(gated_with(&before, &now, &options).word(), "CANNOT TELL");
    }
}

#[test]
fn lists_are_cut_and_say_how_many_cases_more_there_are() {
    let gated =
        gated(&side(vec![(10, 10, 0); 25]), &side((0..25).map(|at| (if at < 22 { 0 } else { 10 }, 10, 0))));
    for (text, mark, more) in
        [(markdown(&gated), "- ", "- and 2 more\n"), (gate_text(&gated), "  ", "  and 2 more\n")]
    {
        let is_row =
            |line: &&str| line.starts_with(&format!("{mark}evals/desk")) && line.contains("  10/10 -");
        let rows = text.lines().filter(is_row).count();
        assert!(rows == 20 && text.contains(more), "{rows}: {text}");
    }
}

#[test]
fn one_thing_is_said_in_the_singular() {
    let gated = gated(&side([(10, 10, 0); 2]), &side([(8, 10, 1), (7, 10, 2)]));
    let text = gate_text(&gated);
    assert!(text.contains("10/10 -> 8/9 +1 error\n") && text.contains("10/10 -> 7/8 +2 errors\n"), "{text}");
}

#[test]
fn what_a_comment_of_a_pull_request_says_is_no_markup_of_others() {
    let mut hostile = line("a", 10, 10, 0);
    hostile.case = "</td> @all [x](y)".to_owned();
    let before: Baseline = [hostile.clone()].into_iter().collect();
    hostile.passed = 0;
    let text = markdown(&gated(&before, &[hostile].into_iter().collect()));
    assert!(text.starts_with("<!-- evalset-gate -->\n## Gate: REGRESSION\n"), "{text}");
    assert!(!text.contains("</td>") && !text.contains("[x](y)") && !text.contains("@all"), "{text}");
}

#[test]
fn a_program_compares_only_what_it_knows_to_be_whole() {
    let (before, now) = (Side::from(side([(10, 10, 0)])), Side::from(side([(10, 10, 0)])));
    assert_eq!(Diff::new(before.clone(), now.clone()).gate().word(), "PASS");
    let doubted = Side { doubts: vec!["a case has no end".to_owned()], ..now };
    let gate = Diff::new(before, doubted).gate();
    assert_eq!(
        (gate.word(), &gate.reasons[..]),
        ("UNMEASURABLE", &["baseline: a case has no end".to_owned()][..])
    );
}

/// The page defines each name, and no other page does.
#[test]
fn each_category_is_defined_in_baseline_md() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/baseline.md")).unwrap();
    let defined: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").next())
        .collect();
    for category in Category::ALL {
        let named = defined.iter().filter(|name| **name == category.words()).count();
        assert_eq!(named, 1, "{}", category.words());
    }
}

/// Whether two p-values are equal but for their rounding.
fn same(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one == other,
    }
}
