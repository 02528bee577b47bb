//! `cargo evalset traces`: shows the content of stored traces.

use std::path::PathBuf;

use eval_agents::traces::{Conversation, Gap, GapKind, ToolCall, TraceError, Traces, Turn, Usage};
use eval_support::message::truncated;
use eval_support::untrusted::one_line;
use eval_support::words::{count, tokens};
use serde::Serialize;

use crate::output::{Answer, BOLD, CommandError, ERROR, Format, Outcome, WARNING, styled};

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
        Format::Human => Ok(Answer::new(outcome, text(&traces))),
        Format::Json => {
            let (conversations, gaps) = (traces.conversations(), traces.gaps());
            Answer::results("traces", outcome, &Held { spans: traces.spans(), conversations, gaps })
        }
    }
}

/// The output of `--format json`. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Held<'t> {
    spans: usize,
    conversations: &'t [Conversation],
    gaps: &'t [Gap],
}

fn outcome(traces: &Traces) -> Outcome {
    let has_turns = traces.conversations().iter().any(|it| !it.turns.is_empty());
    let loses = gaps(traces).any(|gap| gap.kind.loses());
    if has_turns && !loses { Outcome::Passed } else { Outcome::Failed }
}

fn gaps(traces: &Traces) -> impl Iterator<Item = &Gap> {
    let of_conversations = traces.conversations().iter().flat_map(|it| it.all_gaps().map(|(_, gap)| gap));
    traces.gaps().iter().chain(of_conversations)
}

/// The change that helps if an exporter wrote no content.
const WRITES_NO_CONTENT: &str = "many libraries write no content unless they are told to: docs/traces.md says what to set, \
                                 for google-adk `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY`";

fn is_content(kind: GapKind) -> bool {
    matches!(kind, GapKind::UserNotCaptured | GapKind::AnswerNotCaptured | GapKind::ArgumentsNotCaptured)
}

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

const MAX_TEXT_CHARS: usize = 200;

fn text(traces: &Traces) -> String {
    let mut text = String::new();
    let (with_turns, without): (Vec<_>, Vec<_>) =
        traces.conversations().iter().partition(|conversation| !conversation.turns.is_empty());
    text.extend(with_turns.iter().copied().map(of_conversation));
    for conversation in &without {
        for gap in &conversation.gaps {
            let key = shown(&conversation.key);
            text.push_str(&format!("{}          in the trace {key}\n", of_gap(gap)));
        }
    }
    text.extend(traces.gaps().iter().map(of_gap));
    let turns = with_turns.iter().map(|conversation| conversation.turns.len()).sum();
    text.push_str("──────────\n");
    let (head, turns) = (styled(BOLD, "Traces"), count(turns, "turn"));
    let (conversations, spans) = (count(with_turns.len(), "conversation"), count(traces.spans(), "span"));
    text.push_str(&format!("{head} {conversations} · {turns} · {spans}\n"));
    if !without.is_empty() {
        let others = count(without.len(), "trace");
        text.push_str(&format!("       {others} without a turn: they say nothing of models and agents\n"));
    }
    if gaps(traces).any(|gap| is_content(gap.kind)) {
        text.push_str(&format!("       {WRITES_NO_CONTENT}\n"));
    }
    text
}

fn of_conversation(conversation: &Conversation) -> String {
    let case = conversation.case_id.as_ref().map(|id| format!("  (case {})", shown(id))).unwrap_or_default();
    let mut text = format!("{} {}{case}\n", styled(BOLD, "conversation"), shown(&conversation.key));
    text.extend(conversation.gaps.iter().map(of_gap));
    text.extend((1..).zip(&conversation.turns).map(|(number, turn)| of_turn(number, turn)));
    text.push('\n');
    text
}

fn of_turn(number: usize, turn: &Turn) -> String {
    let agent = turn.agent.as_ref().map(|agent| format!("  {}", shown(agent))).unwrap_or_default();
    let took = turn.duration().map(|took| format!("  {:.2} s", took.as_secs_f64())).unwrap_or_default();
    let mut text = format!("  turn {number}{agent}{took}{}\n", of_usage(turn.usage));
    let mut line = |label: &str, value: &str| text.push_str(&format!("    {label:<8}{value}\n"));
    if let Some(user) = &turn.user {
        line("user", &shown(user));
    }
    for said in &turn.intermediate {
        line("said", &shown(said));
    }
    for call in &turn.calls {
        line("call", &of_call(call));
        if let Some(result) = &call.result {
            line("", &format!("-> {}", shown(&result.to_string())));
        }
        if let Some(error) = &call.error {
            line("", &format!("{} {}", styled(ERROR, "failed:"), shown(error)));
        }
    }
    if let Some(answer) = &turn.answer {
        line("answer", &shown(answer));
    }
    if let Some(error) = &turn.error {
        line(&styled(ERROR, "failed"), &format!("  {}", shown(error)));
    }
    text.extend(turn.gaps.iter().map(of_gap));
    text
}

fn of_call(call: &ToolCall) -> String {
    match &call.args {
        Some(_) => shown(&call.to_function_call().to_string()),
        None => format!("{}, arguments not captured", shown(&call.name)),
    }
}

fn of_usage(usage: Usage) -> String {
    let parts = [("in", usage.input_tokens), ("out", usage.output_tokens)];
    let parts =
        parts.into_iter().filter_map(|(name, used)| Some(format!("  {} {name}", tokens(used?.into()))));
    parts.collect()
}

fn of_gap(gap: &Gap) -> String {
    let label = if gap.kind.loses() { styled(ERROR, "lost") } else { styled(WARNING, "note") };
    format!("    {label}    {}\n", shown(&gap.to_string()))
}

fn shown(text: &str) -> String {
    one_line(&truncated(text, MAX_TEXT_CHARS, "…"))
}
