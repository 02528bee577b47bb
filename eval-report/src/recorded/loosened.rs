//! Rules of a case over the runs of its test: where something may vary, and how often a run needed that.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use eval_core::metric::LoosenedPoint;
use eval_core::report::ScoredMetric;

use super::test::TestResult;

/// A point at which a case says what may vary, over all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppliedRule<'r> {
    /// The turn, from 1.
    pub turn: usize,
    /// The point, as the first run applied it.
    pub point: &'r LoosenedPoint,
    /// The number of runs in which the rule was applied.
    pub runs: usize,
    /// The number of runs that needed it.
    pub needed: usize,
}

impl AppliedRule<'_> {
    /// The line of a rule that no run needed: `` `get_weather day: any` was equal in 20 of 20 runs ``.
    pub fn unneeded(&self) -> String {
        let Self { turn, point, runs, .. } = self;
        let what =
            if point.path.is_some() || point.matcher == "any" { "was equal" } else { "was not needed" };
        format!("turn {turn}: `{}` {what} in {runs} of {runs} runs", point.name())
    }
}

impl<'r> TestResult<'r> {
    /// The rules that a metric applied.
    pub fn rules_of(&self, metric: &str) -> Vec<AppliedRule<'r>> {
        let mut rules: Vec<AppliedRule<'r>> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for scored in self.attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref()) {
            let of_metric = scored.metrics.iter().find(|scored| scored.name == metric);
            for (turn, point) in of_metric.into_iter().flat_map(ScoredMetric::loosened) {
                let needed = usize::from(point.needed);
                match known.entry((turn, &point.call, &point.path, &point.matcher)) {
                    Entry::Occupied(at) => {
                        let rule = &mut rules[*at.get()];
                        (rule.runs, rule.needed) = (rule.runs + 1, rule.needed + needed);
                    }
                    Entry::Vacant(entry) => {
                        entry.insert(rules.len());
                        rules.push(AppliedRule { turn, point, runs: 1, needed });
                    }
                }
            }
        }
        rules
    }

    /// The rules that its deciding metrics applied, each once. A run needed a rule if one of the metrics did.
    pub fn rules(&self) -> Vec<AppliedRule<'r>> {
        let mut rules: Vec<AppliedRule<'r>> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for rule in self.deciding().flat_map(|metric| self.rules_of(&metric.name)) {
            match known.entry((rule.turn, rule.point.name())) {
                Entry::Occupied(at) => {
                    let first = &mut rules[*at.get()];
                    first.needed = first.needed.max(rule.needed);
                }
                Entry::Vacant(entry) => {
                    entry.insert(rules.len());
                    rules.push(rule);
                }
            }
        }
        rules
    }

    /// The rules that none of several runs needed: the case may say its golden values alone.
    pub fn unneeded_rules(&self) -> Vec<AppliedRule<'r>> {
        let is_unneeded = |rule: &AppliedRule<'_>| rule.needed == 0 && rule.runs > 1;
        self.rules().into_iter().filter(is_unneeded).collect()
    }

    /// The number of rules that were applied here, and not when the case ran.
    pub fn loosened_since(&self, before: &TestResult<'_>) -> usize {
        let names = |test: &TestResult<'_>| -> BTreeSet<(usize, String)> {
            test.rules().iter().map(|rule| (rule.turn, rule.point.name())).collect()
        };
        names(self).difference(&names(before)).count()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use eval_core::agent::{Event, Replay};
    use eval_core::{EvalRunner, Invocation};
    use eval_format::expect::{Expect, Matcher, TurnExpect};
    use eval_format::{Content, Criterion, EvalCase, FunctionCall, Part};
    use serde_json::json;

    use super::*;
    use crate::journal::{RecordedRun, RecordedTest};

    #[tokio::test]
    async fn a_rule_is_counted_once_for_each_run_in_the_order_of_the_points() {
        let turn = || Invocation::user("Weather?");
        let rules = TurnExpect::default().arg("f", "a", Matcher::Any).arg("g", "a", Matcher::Any);
        let call = |name: &str, a: i64| FunctionCall::new(name, json!({ "a": a }));
        let expected_turn = || turn().call(call("f", 1)).call(call("g", 1));
        // The rules of two turns have the same names.
        let case = EvalCase::new("c").turn(expected_turn()).turn(expected_turn());
        let case = case.with_expect(Expect::default().turn(1, rules.clone()).turn(2, rules));
        let made = |a: i64| {
            let of = |name| Event::new("agent", Content::new("model", vec![Part::call(call(name, a))]));
            vec![of("f"), of("g"), Event::from("Grey.")]
        };
        let metrics = ["tool_trajectory_avg_score", "trajectory_recall"];
        let runner = metrics
            .into_iter()
            .fold(EvalRunner::new().runs(3), |runner, metric| runner.criterion(metric, Criterion::new(1.0)));
        let report = runner.run_case(&case, || Replay::new([made(1), made(2)])).await.unwrap();
        let began = SystemTime::UNIX_EPOCH;
        let tests = vec![RecordedTest::of_report(&report, began, began)];
        let run = RecordedRun { tests, ..RecordedRun::default() };
        let [test] = TestResult::all(&run).try_into().unwrap();
        let told = |rules: Vec<AppliedRule<'_>>| -> Vec<_> {
            rules.iter().map(|rule| (rule.turn, rule.point.name(), rule.runs, rule.needed)).collect()
        };
        let rule = |turn, call: &str, needed| (turn, format!("{call} a: any"), 3, needed);
        let expected = [rule(1, "f", 0), rule(1, "g", 0), rule(2, "f", 3), rule(2, "g", 3)];
        assert_eq!(told(test.rules_of(metrics[0])), expected);
        assert_eq!(told(test.rules()), expected, "each once, although two metrics applied them");
        assert_eq!(told(test.unneeded_rules()), expected[..2]);
        assert_eq!(test.loosened_since(&test), 0);
        let strict = EvalCase::new("c").turn(expected_turn()).turn(expected_turn());
        let report = runner.run_case(&strict, || Replay::new([made(1), made(1)])).await.unwrap();
        let tests = vec![RecordedTest::of_report(&report, began, began)];
        let run = RecordedRun { tests, ..RecordedRun::default() };
        let [before] = TestResult::all(&run).try_into().unwrap();
        assert_eq!(test.loosened_since(&before), 4);
    }
}
