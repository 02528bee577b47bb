//! Options for running and deciding a case, which the attribute and `EvalRunner` share.

use std::time::Duration;

use eval_format::{DEFAULT_TIMEOUT, PassRule, ToolSource, TurnAggregation};
use eval_support::variables;

/// Options for running and deciding a case.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of runs of each case.
    pub runs: usize,
    /// The rule that combines the runs.
    pub pass: PassRule,
    /// The rule that combines the turns.
    pub gate: TurnAggregation,
    /// The most repetitions of a run in which the agent was not reached.
    pub retry: u32,
    /// Whether calls are judged as ADK does, whatever the cases loosen. `EVALSET_LITERAL` sets it too.
    pub literal: bool,
    /// The time limit for setting up, for opening the session and for each turn.
    pub timeout: Duration,
    /// What answers the calls of the agent.
    pub tools: ToolSource,
}

impl Options {
    /// ADK's defaults: one run and the mean.
    pub const DEFAULT: Self = Self {
        runs: 1,
        pass: PassRule::Mean,
        gate: TurnAggregation::Mean,
        retry: 0,
        literal: false,
        timeout: DEFAULT_TIMEOUT,
        tools: ToolSource::Real,
    };

    /// Whether calls are judged as ADK does: by `literal`, or by the variable.
    pub(crate) fn is_literal(&self) -> bool {
        self.literal || variables::is_literal()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}
