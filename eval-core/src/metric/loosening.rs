//! The loosened points of a metric over all runs of a case, and ADK's score beside the loosened one.

use std::collections::HashMap;

use super::scores::{Score, Scores};
use crate::score::mean;

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
        let mut points: HashMap<(usize, String), bool> = HashMap::new();
        for scores in runs {
            for (turn, score) in scores.scores().iter().enumerate() {
                for point in score.loosened() {
                    *points.entry((turn, point.name())).or_default() |= point.needed;
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
