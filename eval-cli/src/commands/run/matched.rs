//! Which conversation of stored traces belongs to which case.

use std::collections::HashSet;

use crate::output::tell;
use eval_core::runner::RunPlan;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::source::Source;
use crate::output::CommandError;
use crate::output::style::{WARNING, styled};

/// How the conversations of traces belong to the cases of a run.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// A line for each case.
    lines: Vec<String>,
    /// The conversations that belong to no case.
    uncovered: Vec<String>,
    gaps: Vec<String>,
}

impl Matched {
    /// Nothing, for agents that are no traces.
    pub(super) fn of(source: &Source, plan: &RunPlan) -> Self {
        let Source::Traces(traces) = source else { return Self::default() };
        let mut covered = HashSet::new();
        let mut matched = Self::default();
        for (_, set, case) in plan.cases() {
            let name = one_line(&format!("{set}/{}", case.eval_id));
            matched.lines.push(match traces.conversation_of(case, plan.len() == 1) {
                Ok((at, by)) => {
                    let conversation = &traces.conversations()[at];
                    covered.insert(conversation.key.as_str());
                    format!("{name}: conversation {}, {by}", one_line(&conversation.key))
                }
                Err(_) => format!("{name}: no conversation"),
            });
        }
        let others = traces.conversations().iter().filter(|it| !it.turns.is_empty());
        let others = others.filter(|it| !covered.contains(it.key.as_str()));
        matched.uncovered = others.map(|it| one_line(&it.key)).collect();
        matched.gaps = traces.gaps().iter().map(|gap| one_line(&gap.to_string())).collect();
        matched
    }

    /// Says it on standard error, before the cases run: a report goes to standard output.
    pub(super) fn tell(&self) {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&format!("     trace {line}\n"));
        }
        for gap in &self.gaps {
            text.push_str(&format!("   {} {gap}\n", styled(WARNING, "warning")));
        }
        tell(&text);
    }

    /// Fails if a conversation belongs to no case, unless that is allowed: what an agent did and nothing expects is no pass.
    pub(super) fn check(&self, is_allowed: bool) -> Result<(), CommandError> {
        if self.uncovered.is_empty() || is_allowed {
            return Ok(());
        }
        let count = count(self.uncovered.len(), "conversation");
        let names = short_code_list(&self.uncovered);
        Err(CommandError::new(
            format!("{count} of the traces without a case in this run: {names}"),
            "add cases for them (`cargo evalset traces FILE` shows them), or allow it with `--allow-uncovered`",
        ))
    }
}
