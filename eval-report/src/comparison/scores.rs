//! The scores of metrics on both sides: by how much their means fell, and whether that is shown.

use std::collections::BTreeMap;

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::gated::shown as p_value;
use crate::baseline::{Baseline, MetricLine, changed, incomparable_case};
use crate::decide::exact::{SIGNIFICANCE_LEVEL, holm};
use crate::decide::flips::sign_flips;
use crate::statistics::float;

/// A metric with scores from 0 to 1, of which the higher one is better, over the cases in which it can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreChange {
    /// The name of the metric.
    pub metric: String,
    /// The mean over the cases before, and now.
    pub means: [f64; 2],
    /// By how much the mean of each case fell, if runs without a score had the best one now and the worst one before.
    least: Vec<f64>,
    /// By how much the mean of each case fell, if runs without a score had the worst one now and the best one before.
    most: Vec<f64>,
}

/// A limit on scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreLimit {
    /// A sentence for each metric that is shown to have fallen by more.
    pub broken: Vec<String>,
    /// A sentence for each metric of which that depends on runs without a score.
    pub unknown: Vec<String>,
}

impl ScoreChange {
    /// The metrics of two sides, by name. `now` has the first runs alone: a case is run again because it failed.
    pub fn all(before: &Baseline, now: &Baseline) -> Vec<Self> {
        let mut by_metric: BTreeMap<&str, Vec<[&MetricLine; 2]>> = BTreeMap::new();
        for line in now.lines() {
            let Some(old) = before.get(&line.key()).filter(|old| incomparable_case(old, line).is_none())
            else {
                continue;
            };
            for (name, metric) in &line.metrics {
                if let Some(old_metric) = old.metrics.get(name).filter(|_| changed(old, line, name).is_none())
                {
                    by_metric.entry(name).or_default().push([old_metric, metric]);
                }
            }
        }
        by_metric.into_iter().filter_map(|(name, cases)| Self::new(name, &cases)).collect()
    }

    fn new(name: &str, cases: &[[&MetricLine; 2]]) -> Option<Self> {
        let scores = || cases.iter().flatten().flat_map(|metric| metric.scores.iter().flatten());
        if cases.iter().any(|[_, now]| now.at_most) || scores().any(|score| !(0.0..=1.0).contains(score)) {
            return None;
        }
        let fell = |[old, now]: &[&MetricLine; 2], bounds: [f64; 2]| {
            Some(mean(old, Some(bounds[0]))? - mean(now, Some(bounds[1]))?)
        };
        let of =
            |bounds: [f64; 2]| -> Vec<f64> { cases.iter().filter_map(|case| fell(case, bounds)).collect() };
        let known = cases.iter().filter_map(|[old, now]| Some([mean(old, None)?, mean(now, None)?]));
        let known: Vec<[f64; 2]> = known.collect();
        let total = float(known.len());
        let means = [0, 1].map(|side| known.iter().map(|means| means[side]).sum::<f64>() / total);
        (!known.is_empty()).then(|| Self {
            metric: name.to_owned(),
            means,
            least: of([0.0, 1.0]),
            most: of([1.0, 0.0]),
        })
    }

    /// The probability of a change as large as this one in either direction, if nothing changed: 0 to 1. Runs without a score count as
    /// what shows least.
    pub fn p(&self) -> f64 {
        let rose: Vec<f64> = self.most.iter().map(|fell| -fell).collect();
        (2.0 * sign_flips(&self.least).min(sign_flips(&rose))).min(1.0)
    }

    /// The number of cases.
    pub fn cases(&self) -> usize {
        self.least.len()
    }

    /// The scores of `m` went from 0.91 to 0.84 in the mean of 20 cases.
    fn said(&self) -> String {
        let [before, now] = self.means;
        let cases = count(self.cases(), "case");
        format!(
            "the scores of `{}` went from {before:.3} to {now:.3} in the mean of {cases}",
            one_line(&self.metric)
        )
    }
}

/// The mean score of the runs, those without a score as this one, or left out. `None` without a score.
fn mean(metric: &MetricLine, missing: Option<f64>) -> Option<f64> {
    let scores: Vec<f64> = metric.scores.iter().filter_map(|score| score.or(missing)).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / float(scores.len()))
}

/// The p-values of falls by more than so much.
fn p_values(differences: impl Iterator<Item = Vec<f64>>, allowed: f64) -> Vec<f64> {
    let beyond = |of: Vec<f64>| of.iter().map(|difference| difference - allowed).collect::<Vec<_>>();
    differences.map(|of| sign_flips(&beyond(of))).collect()
}

/// Checks that the mean score of no metric is shown to have fallen by more than this.
pub fn score_limit(changes: &[ScoreChange], most: f64) -> ScoreLimit {
    let best = p_values(changes.iter().map(|change| change.least.clone()), most);
    let worst = p_values(changes.iter().map(|change| change.most.clone()), most);
    let mut limit = ScoreLimit::default();
    let all =
        changes.iter().zip(&best).zip(holm(&best, SIGNIFICANCE_LEVEL)).zip(holm(&worst, SIGNIFICANCE_LEVEL));
    for (((change, p), is_broken), may_be_broken) in all {
        let said = change.said();
        if is_broken {
            let p = p_value(*p);
            limit.broken.push(format!("{said} (p = {p}), and `--max-score-drop` allows a fall by {most}"));
        } else if may_be_broken {
            limit.unknown.push(format!(
                "{said}, and runs without a score decide whether it is more than `--max-score-drop {most}` allows; repair what broke, and \
                 run the cases again"
            ));
        }
    }
    limit
}

/// A line for each metric whose mean score is shown to be another one now, or looks so: `scores of `m`  0.910 -> 0.840 in the mean of 20
/// cases (p = 0.006, two-sided)`. Like tokens, they are no verdict.
pub(super) fn changed_scores(changes: &[ScoreChange]) -> Vec<String> {
    let p_values: Vec<f64> = changes.iter().map(ScoreChange::p).collect();
    let is_shown = holm(&p_values, SIGNIFICANCE_LEVEL);
    let lines = changes.iter().zip(p_values).zip(is_shown).filter_map(|((change, p), is_shown)| {
        let [before, now] = change.means.map(|mean| format!("{mean:.3}"));
        let (metric, cases) = (one_line(&change.metric), count(change.cases(), "case"));
        let shown =
            if is_shown { format!("p = {}, two-sided", p_value(p)) } else { "no change is shown".to_owned() };
        (is_shown || before != now)
            .then(|| format!("scores of `{metric}`  {before} -> {now} in the mean of {cases} ({shown})"))
    });
    lines.collect()
}

/// A note for each metric whose scores are shown to have fallen at all. Scores may slide towards a threshold long before a run fails.
pub fn score_notes(changes: &[ScoreChange]) -> Vec<String> {
    let p_values = p_values(changes.iter().map(|change| change.least.clone()), 0.0);
    let fell = changes
        .iter()
        .zip(&p_values)
        .zip(holm(&p_values, SIGNIFICANCE_LEVEL))
        .filter(|(_, is_shown)| *is_shown);
    fell.map(|((change, p), _)| format!("{} (p = {}): a note, no verdict", change.said(), p_value(*p)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{Line, Provenance};

    /// Cases whose runs have these scores.
    fn side<const RUNS: usize, const CASES: usize>(cases: [[Option<f64>; RUNS]; CASES]) -> Baseline {
        let line = |(at, scores): (usize, [Option<f64>; RUNS])| {
            let metric = MetricLine {
                criterion: "c".to_owned(),
                judge: None,
                arithmetic: 1,
                at_most: false,
                passed: 0,
                scores: scores.to_vec(),
            };
            Line {
                set: "a".to_owned(),
                case: format!("{at:02}"),
                variant: String::new(),
                asks: String::new(),
                expects: String::new(),
                runs: scores.len(),
                passed: 0,
                errors: scores.iter().filter(|score| score.is_none()).count(),
                pass: String::new(),
                gate: String::new(),
                literal: false,
                tools: None,
                failed: false,
                metrics: BTreeMap::from([("m".to_owned(), metric)]),
                tokens: Vec::new(),
                seconds: Vec::new(),
                calls: Vec::new(),
                from: Provenance::default(),
            }
        };
        cases.into_iter().enumerate().map(line).collect()
    }

    #[test]
    fn a_limit_on_scores_is_broken_where_the_cases_show_it() {
        let before = side([[Some(0.9); 3]; 8]);
        let changes = ScoreChange::all(&before, &side([[Some(0.8); 3]; 8]));
        assert_eq!(score_limit(&changes, 0.2), ScoreLimit::default());
        let limit = score_limit(&changes, 0.05);
        assert_eq!(
            limit.broken,
            [
                "the scores of `m` went from 0.900 to 0.800 in the mean of 8 cases (p = 0.0039), and `--max-score-drop` allows a fall by 0.05"
            ]
        );
        assert_eq!(
            score_notes(&changes),
            [
                "the scores of `m` went from 0.900 to 0.800 in the mean of 8 cases (p = 0.0039): a note, no verdict"
            ]
        );
        // Four cases cannot show it, whatever they score.
        let few = ScoreChange::all(&side([[Some(0.9); 3]; 4]), &side([[Some(0.0); 3]; 4]));
        assert_eq!(score_limit(&few, 0.0), ScoreLimit::default());
        assert!(score_notes(&ScoreChange::all(&before, &before)).is_empty());
    }

    #[test]
    fn runs_without_a_score_are_bounds() {
        let before = side([[Some(0.9); 2]; 8]);
        let changes = ScoreChange::all(&before, &side([[Some(0.9), None]; 8]));
        let limit = score_limit(&changes, 0.1);
        assert!(limit.broken.is_empty() && limit.unknown.len() == 1, "{limit:?}");
        assert!(score_notes(&changes).is_empty());
        let low = ScoreChange::all(&before, &side([[Some(0.0), None]; 8]));
        assert_eq!(score_limit(&low, 0.1).broken.len(), 1);
    }

    #[test]
    fn scores_that_are_no_shares_or_better_if_lower_are_left_out() {
        let before = side([[Some(3.0); 3]; 8]);
        assert!(ScoreChange::all(&before, &side([[Some(1.0); 3]; 8])).is_empty());
        let lower = |side: Baseline| -> Baseline {
            let lines = side.lines().cloned().map(|mut line| {
                line.metrics.values_mut().for_each(|metric| metric.at_most = true);
                line
            });
            lines.collect()
        };
        let (before, now) = (lower(side([[Some(0.9); 3]; 8])), lower(side([[Some(0.1); 3]; 8])));
        assert!(ScoreChange::all(&before, &now).is_empty());
    }
}
