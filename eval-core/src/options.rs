//! How often a case runs and what it takes to pass.

/// How the runs of a case are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// The mean over all turns of all runs is compared, as ADK's `AgentEvaluator` does.
    #[default]
    Mean,
    /// Every run must pass.
    All,
    /// One run must pass.
    Any,
    /// This many runs must pass.
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

/// How the turns of a run are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gate {
    /// The mean over the turns is compared with the threshold, as in ADK.
    #[default]
    Mean,
    /// The score of each turn is compared with the threshold.
    EveryTurn,
}
