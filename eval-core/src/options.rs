//! How often a case runs and what it takes to pass.

/// How the runs of a case are taken together: `pass = ".."` of the attribute.
///
/// ```
/// use eval_core::{EvalRunner, Pass};
///
/// let runner = EvalRunner::new().runs(3).pass(Pass::AtLeast(2));
/// # let _ = runner;
/// ```
///
/// [`Mean`](Self::Mean) lets a good run make up for a bad one; the others decide each run first, and then count. A run
/// that ends in an error is no failed run: the case is an ERROR, whatever the others come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The mean over all turns of all runs is compared, as ADK's `AgentEvaluator` does.
    #[default]
    Mean,
    /// Every run must pass.
    All,
    /// One run must pass.
    Any,
    /// This many runs must pass: at least 1, and no more than there are.
    AtLeast(u32),
}

impl Pass {
    /// How many of `runs` must pass; absent where runs are not decided one by one.
    pub(crate) fn needed(self, runs: usize) -> Option<usize> {
        match self {
            Self::Mean => None,
            Self::All => Some(runs),
            Self::Any => Some(1),
            Self::AtLeast(k) => Some(usize::try_from(k).unwrap_or(usize::MAX)),
        }
    }
}

/// How the turns of a run are taken together: `gate = ".."` of the attribute.
///
/// ```
/// use eval_core::{Gate, Scores, Score};
///
/// let scores: Scores = [1.0, 0.5].map(Score::from).into_iter().collect();
/// assert!(scores.reaches(0.75, Gate::Mean));
/// assert!(!scores.reaches(0.75, Gate::EveryTurn));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// The mean over the turns is compared with the threshold, as in ADK.
    #[default]
    Mean,
    /// The score of each turn is compared with the threshold.
    EveryTurn,
}
