//! A case of two builds, as the pages of two builds show it: its state on both sides, its metrics, and the next command.

use std::collections::BTreeMap;

use askama::Template;
use eval_core::report::short;
use eval_support::{command, shell};

use super::category::{Category, METRIC_FELL};
use super::compared::ComparedCase;
use super::gated::{passes, shown};
use super::pair::MetricChange;
use crate::baseline::Line;
use crate::page::{Command, line};
use crate::statistics::PassCount;

/// A case on both sides.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its set and its id.
    pub name: String,
    /// Its state before.
    pub before: SideState,
    /// Its state now.
    pub now: SideState,
    /// The probability of a change as large as this one, if nothing changed.
    pub p: Option<String>,
    /// The reason why it cannot be compared, or the metrics that fewer of its runs passed.
    pub why: Option<String>,
    /// Its metrics; empty if only one side has it.
    pub metrics: Vec<CardMetric>,
    /// The next step; `None` if the case passes as it did before, or if no recorded run is known.
    pub next: Option<Command>,
}

/// The state of a case on a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideState {
    /// The class of its colour.
    pub class: &'static str,
    /// `failed`.
    pub word: &'static str,
    /// The runs that passed: `0/5`.
    pub passed: String,
}

/// A metric on both sides, each with the runs that passed it, the mean score, and the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardMetric {
    pub name: String,
    pub sides: [String; 2],
    /// The reason why the sides cannot be compared.
    pub incomparable: Option<String>,
}

#[derive(Template)]
#[template(path = "comparison/card.html")]
struct Html<'c> {
    card: &'c Card,
}

impl Card {
    /// The card as HTML.
    pub fn html(&self) -> Result<String, askama::Error> {
        Html { card: self }.render()
    }

    /// The card of a case.
    pub fn new(case: &ComparedCase) -> Self {
        let [before, now] = [&case.before, &case.now].map(|side| SideState::new(side.as_ref()));
        Self {
            name: line(&case.key.to_string()),
            next: next(case, now.class),
            before,
            now,
            p: case.p.map(shown),
            why: case.why().map(|why| line(&why.replace('`', ""))),
            metrics: case.metrics.iter().map(|metric| CardMetric::new(case, metric)).collect(),
        }
    }

    /// The cases of each category. The category `same` has a section for each verdict, passed last. Its cases with a metric that fewer
    /// runs passed have a section of their own, which follows `fell`.
    pub fn of_categories<'c>(
        cases: impl IntoIterator<Item = &'c ComparedCase>,
    ) -> Vec<(Category, &'static str, Vec<Self>)> {
        let mut found: BTreeMap<(Category, u8), (&'static str, Vec<Self>)> = BTreeMap::new();
        for case in cases {
            let card = Self::new(case);
            let (place, words) = match (case.category, card.now.rank()) {
                _ if case.is_same_but_for_a_metric() => ((Category::Fell, 1), METRIC_FELL),
                (Category::Same, 0) => ((Category::Same, 0), "same verdict: failed"),
                (Category::Same, 1) => ((Category::Same, 1), "same verdict: flaky"),
                (Category::Same, _) => ((Category::Same, 2), "same verdict: passed"),
                (category, _) => ((category, 0), category.words()),
            };
            found.entry(place).or_insert((words, Vec::new())).1.push(card);
        }
        found.into_iter().map(|((category, _), (words, cards))| (category, words, cards)).collect()
    }
}

impl SideState {
    /// Its place among others: what failed is first.
    pub fn rank(&self) -> u8 {
        match self.class {
            "failed" => 0,
            "flaky" => 1,
            _ => 2,
        }
    }

    fn new(side: Option<&Line>) -> Self {
        let Some(line) = side else {
            return Self { class: "skipped", word: "not there", passed: String::new() };
        };
        let judged = line.with_verdict();
        let (class, word) = match (judged.total(), line.passed) {
            (0, _) => ("error", "no verdict"),
            (_, 0) => ("failed", "failed"),
            (total, passed) if passed == total => ("passed", "passed"),
            _ => ("flaky", "flaky"),
        };
        Self { class, word, passed: passes(Some(line)) }
    }
}

impl CardMetric {
    fn new(case: &ComparedCase, metric: &MetricChange) -> Self {
        let judge =
            |side: &Option<Line>| side.as_ref()?.metrics.get(&metric.name)?.judge.as_deref().map(line);
        let side = |passed: Option<[usize; 2]>, score: Option<f64>, judge: Option<String>| {
            let passed = passed.map(|[passed, scored]| {
                format!("{} passed", PassCount::new(passed.min(scored), scored).unwrap_or_default())
            });
            let score = score.map(|score| format!("mean {}", short(score, None)));
            let judge = judge.map(|judge| format!("judge {judge}"));
            let parts: Vec<String> = [passed, score, judge].into_iter().flatten().collect();
            if parts.is_empty() { "not there".to_owned() } else { parts.join(", ") }
        };
        Self {
            name: line(&metric.name),
            sides: [
                side(metric.before, metric.scores[0], judge(&case.before)),
                side(metric.now, metric.scores[1], judge(&case.now)),
            ],
            incomparable: metric.incomparable.as_deref().map(line),
        }
    }
}

/// The next step about a case: look at what it does now, accept it into the baseline, or run it again.
fn next(case: &ComparedCase, now: &str) -> Option<Command> {
    let name = || shell::word(&format!("{}:{}", case.key.set, case.key.case));
    let program = command::name();
    let command = |does: &str, command: String| Some(Command::new(does, line(&command)));
    let Some(line_now) = &case.now else {
        return command(
            "If the case is gone, drop its line of the baseline",
            format!("{program} bless --prune"),
        );
    };
    // A baseline or a report names no run that could be looked at.
    let [run] = line_now.from.runs.as_slice() else { return None };
    let run = shell::word(run);
    let is_worse = matches!(case.category, Category::Regressed | Category::Fell | Category::Same);
    match now {
        "error" => command("Run again what has no verdict", format!("{program} rerun {run} --errors")),
        "failed" => {
            command("Review what the agent does now", format!("{program} review {} --run {run}", name()))
        }
        "flaky" if is_worse => command(
            "Look at the runs that failed",
            format!("{program} report {run} --html report.html --open"),
        ),
        _ if case.category == Category::Same => None,
        _ => {
            command("If it is to stay so, accept it into the baseline", format!("{program} bless {}", name()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::Baseline;
    use crate::comparison::tests::{line as measured, side};
    use crate::comparison::{Comparison, Diff};
    use crate::decide::gate::Policy;

    fn card(before: (usize, usize, usize), now: (usize, usize, usize)) -> Card {
        let recorded = |run: (usize, usize, usize)| -> Baseline {
            let of = |line: &Line| {
                let mut line = line.clone();
                line.from.runs = vec!["r1".to_owned()];
                line
            };
            side([run]).lines().map(of).collect()
        };
        let diff = Diff::new(recorded(before), recorded(now));
        Card::new(&diff.comparison.cases[0])
    }

    #[test]
    fn both_states_are_told_and_the_command_that_fits() {
        for (before, now, states, does) in [
            ((10, 10, 0), (0, 10, 0), "passed 10/10, failed 0/10", Some("review")),
            ((0, 10, 0), (0, 10, 0), "failed 0/10, failed 0/10", Some("review")),
            ((10, 10, 0), (10, 10, 0), "passed 10/10, passed 10/10", None),
            ((10, 10, 0), (6, 10, 0), "passed 10/10, flaky 6/10", Some("report")),
            ((0, 10, 0), (10, 10, 0), "failed 0/10, passed 10/10", Some("bless")),
            ((10, 10, 0), (0, 10, 10), "passed 10/10, no verdict", Some("rerun")),
        ] {
            let card = card(before, now);
            let said = [&card.before, &card.now].map(|it| format!("{} {}", it.word, it.passed)).join(", ");
            assert!(said.starts_with(states), "{said}");
            let command = card.next.map(|it| it.command);
            assert_eq!(command.as_deref().and_then(|it| it.split(' ').nth(2)), does, "{states}: {command:?}");
            assert!(command.is_none_or(|it| it.contains("r1") || it.contains("bless")));
        }
    }

    #[test]
    fn the_same_verdict_says_which_one() {
        let of = |passed: usize, name: &str| measured(name, passed, 10, 0);
        let all: Baseline = [of(10, "a"), of(0, "b"), of(5, "c")].into_iter().collect();
        let comparison = Comparison::new(&all, &all, &all, Policy::default());
        let found = Card::of_categories(&comparison.cases);
        let words: Vec<&str> = found.iter().map(|(_, words, _)| *words).collect();
        assert_eq!(words, ["same verdict: failed", "same verdict: flaky", "same verdict: passed"]);
        // The verdict of both failed; one of its metrics passed before.
        let mut before = of(0, "b");
        before.metrics.values_mut().for_each(|metric| metric.passed = 10);
        let before: Baseline = [of(10, "a"), before, of(5, "c")].into_iter().collect();
        let comparison = Comparison::new(&before, &all, &all, Policy::default());
        let found = Card::of_categories(&comparison.cases);
        assert_eq!((found[0].0, found[0].1), (Category::Fell, METRIC_FELL));
        assert!(
            found[0].2[0].why.as_deref().is_some_and(|why| why.contains("passed 10/10 before and 0/10 now"))
        );
    }

    #[test]
    fn a_metric_has_its_judge_on_both_sides() {
        let judged = |judge: &str, passed: usize| -> Baseline {
            let mut line = measured("a", passed, 10, 0);
            line.metrics.values_mut().for_each(|metric| metric.judge = Some(judge.to_owned()));
            [line].into_iter().collect()
        };
        let diff = Diff::new(judged("m1 safety_v1/2", 10), judged("m2 safety_v1/2", 0));
        let card = Card::new(&diff.comparison.cases[0]);
        let [before, now] = &card.metrics[0].sides;
        assert!(before.starts_with("10/10 passed") && before.ends_with("judge m1 safety_v1/2"), "{before}");
        assert!(now.starts_with("0/10 passed") && now.ends_with("judge m2 safety_v1/2"), "{now}");
        assert!(card.metrics[0].incomparable.is_some());
    }
}
