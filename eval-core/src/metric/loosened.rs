//! Points at which a case says what may vary, and ADK's score beside the loosened one.

use std::collections::HashMap;

use super::scores::{Score, Scores};
use crate::score::mean;

/// A point at which a case says what may vary: a rule of its key `_expect`, as a metric applied it to a turn.
///
/// ```
/// use eval_core::metric::LoosenedPoint;
///
/// # fn show(score: &eval_core::Score) {
/// for LoosenedPoint { call, path, matcher, needed, .. } in score.loosened() {
///     println!("{call:?} {path:?}: {matcher}{}", if *needed { ", and it was needed" } else { "" });
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LoosenedPoint {
    /// The expected call, as `_expect` names it: `search#2`; `None` for a rule of the whole turn.
    pub call: Option<String>,
    /// The argument, as `_expect` names it: `steps[0].order`; `None` for a rule of the whole call or turn.
    pub path: Option<String>,
    /// The rule, in the notation of `_expect`: `any`, `{"within":0.5}`; for a rule of a turn with its key: `order: any`.
    pub matcher: String,
    /// Whether the turn, as it was, does not match without the rule.
    pub needed: bool,
}

impl LoosenedPoint {
    /// The point in one line: `search#2 q: {"contains":"visa"}`.
    pub fn name(&self) -> String {
        let place: Vec<&str> = [&self.call, &self.path].into_iter().flatten().map(String::as_str).collect();
        if place.is_empty() { self.matcher.clone() } else { format!("{}: {}", place.join(" "), self.matcher) }
    }
}

/// The loosened points of a metric, over all runs of a case, with ADK's score.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loosening {
    /// The number of points. A point of a turn counts once, however many runs there are.
    pub points: usize,
    /// The number of points that a run needed.
    pub needed: usize,
    /// The score without the rules, which is ADK's; `None` if a turn has none.
    pub literal_score: Option<f64>,
}

impl Loosening {
    /// The loosened points of some runs of a case; `None` if no rule was applied.
    pub(crate) fn of(runs: &[&Scores]) -> Option<Self> {
        let mut points: HashMap<(usize, &Option<String>, &Option<String>, &str), bool> = HashMap::new();
        for scores in runs {
            for (turn, score) in scores.scores().iter().enumerate() {
                for point in score.loosened() {
                    let key = (turn, &point.call, &point.path, point.matcher.as_str());
                    *points.entry(key).or_default() |= point.needed;
                }
            }
        }
        if points.is_empty() {
            return None;
        }
        let scores = || runs.iter().flat_map(|scores| scores.scores());
        let literal: Vec<f64> = scores().filter_map(Score::literal).collect();
        let is_whole = scores().all(|score| score.literal().is_some() || score.why_left_out().is_some());
        Some(Self {
            points: points.len(),
            needed: points.values().filter(|needed| **needed).count(),
            literal_score: if is_whole { mean::exact(&literal) } else { None },
        })
    }
}
