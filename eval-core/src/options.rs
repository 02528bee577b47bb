//! How a case is run and decided: what the attribute and `EvalRunner` can both say.

use std::time::Duration;

use eval_format::{DEFAULT_TIMEOUT, Gate, Pass};

/// How a case is run and decided.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often each case runs.
    pub runs: usize,
    /// How the runs are combined.
    pub pass: Pass,
    /// How the turns are combined.
    pub gate: Gate,
    /// How often a run is repeated in which the agent was not reached.
    pub retry: u32,
    /// The time limit for setting up, for opening the session and for each turn.
    pub timeout: Duration,
}

impl Default for Options {
    /// ADK's defaults: one run and the mean.
    fn default() -> Self {
        Self { runs: 1, pass: Pass::default(), gate: Gate::default(), retry: 0, timeout: DEFAULT_TIMEOUT }
    }
}
