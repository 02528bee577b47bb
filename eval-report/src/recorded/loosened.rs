//! Rules of a case over the runs of its test: where something may vary, and how often a run needed that.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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
    fn unneeded(&self) -> String {
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

    /// A line for each rule that none of several runs needed: the case may say its golden value alone.
    pub fn unneeded_rules(&self) -> Vec<String> {
        let is_unneeded = |rule: &AppliedRule<'_>| rule.needed == 0 && rule.runs > 1;
        self.rules().iter().filter(|rule| is_unneeded(rule)).map(AppliedRule::unneeded).collect()
    }
}
