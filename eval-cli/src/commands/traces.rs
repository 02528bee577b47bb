//! `cargo evalset traces`: shows what stored traces hold.

mod human;

use std::path::PathBuf;

use eval_agents::traces::{Conversation, Gap, TraceError, Traces};
use serde::Serialize;

use crate::output::{Answer, CommandError, Format, Outcome};

/// Shows the conversations in stored traces: turns, tool calls, answers, tokens, and what the traces do not say.
///
/// OTLP as JSON, lines of it, single spans, and Jaeger's export are read, also packed with gzip.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files of traces. They are read together: a trace may be spread over several.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset traces traces.json
  cargo evalset traces spans.jsonl.gz --format json
  cargo evalset run weather --trace traces.json -m tool_trajectory_avg_score

Exit codes:
  0  there are turns, and nothing is lost
  1  there are no turns, or something is lost that a case may be about
  2  a file cannot be read";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let traces = Traces::read_all(&args.files).map_err(|error| unreadable(&error))?;
    let outcome = outcome(&traces);
    match args.format {
        Format::Human => Ok(Answer::new(outcome, human::text(&traces))),
        Format::Json => Answer::results("traces", outcome, &Held::of(&traces)),
    }
}

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Held<'t> {
    spans: usize,
    conversations: &'t [Conversation],
    gaps: &'t [Gap],
}

impl<'t> Held<'t> {
    fn of(traces: &'t Traces) -> Self {
        Self { spans: traces.spans(), conversations: traces.conversations(), gaps: traces.gaps() }
    }
}

fn outcome(traces: &Traces) -> Outcome {
    let has_turns = traces.conversations().iter().any(|it| !it.turns.is_empty());
    let of_conversations = traces.conversations().iter().flat_map(|it| it.all_gaps().map(|(_, gap)| gap));
    let loses = traces.gaps().iter().chain(of_conversations).any(|gap| gap.kind.loses());
    if has_turns && !loses { Outcome::Passed } else { Outcome::Failed }
}

/// Why traces cannot be read.
pub(super) fn unreadable(error: &TraceError) -> CommandError {
    let help = match error {
        TraceError::Io { .. } => {
            "name a file that this user can read, and that was packed or copied as a whole"
        }
        TraceError::Json { .. } => "the file may be cut: export or copy the traces again",
        _ => "export the traces as OTLP in JSON, or as Jaeger's JSON; docs/traces.md lists the forms",
    };
    CommandError::new(error.to_string(), help)
}
