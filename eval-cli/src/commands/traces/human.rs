//! What traces hold, for people.

use eval_agents::traces::{Conversation, Gap, ToolCall, Traces, Turn, Usage};
use eval_support::untrusted::one_line;
use eval_support::words::{count, tokens};

use crate::output::style::{BOLD, ERROR, WARNING, styled};

/// How many characters of a text are shown.
const SHOWN: usize = 200;

pub(super) fn text(traces: &Traces) -> String {
    let mut text = String::new();
    let (with_turns, without): (Vec<_>, Vec<_>) =
        traces.conversations().iter().partition(|conversation| !conversation.turns.is_empty());
    for conversation in &with_turns {
        text.push_str(&of_conversation(conversation));
    }
    for conversation in &without {
        for gap in &conversation.gaps {
            text.push_str(&format!("{}{}", of_gap(gap), in_conversation(conversation)));
        }
    }
    for gap in traces.gaps() {
        text.push_str(&of_gap(gap));
    }
    let turns = with_turns.iter().map(|conversation| conversation.turns.len()).sum();
    text.push_str("──────────\n");
    text.push_str(&format!(
        "{} {} · {} · {}\n",
        styled(BOLD, "Traces"),
        count(with_turns.len(), "conversation"),
        count(turns, "turn"),
        count(traces.spans(), "span")
    ));
    if !without.is_empty() {
        text.push_str(&format!(
            "       {} without a turn: they say nothing of models and agents\n",
            count(without.len(), "trace")
        ));
    }
    text
}

fn in_conversation(conversation: &Conversation) -> String {
    format!("          in the trace {}\n", shown(&conversation.key))
}

fn of_conversation(conversation: &Conversation) -> String {
    let case = conversation.case_id.as_ref().map(|id| format!("  (case {})", shown(id))).unwrap_or_default();
    let mut text = format!("{} {}{case}\n", styled(BOLD, "conversation"), shown(&conversation.key));
    for gap in &conversation.gaps {
        text.push_str(&of_gap(gap));
    }
    for (number, turn) in (1..).zip(&conversation.turns) {
        text.push_str(&of_turn(number, turn));
    }
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
    for gap in &turn.gaps {
        text.push_str(&of_gap(gap));
    }
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

/// The beginning of a text of somebody else, in one line.
fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    one_line(&cut)
}
