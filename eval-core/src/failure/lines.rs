//! Lines of the output of a failing test.

use eval_format::Value;
use eval_support::untrusted::{name, quoted};

use crate::agent::Event;
use crate::report::CaseReport;

pub(super) const MAX_HEADLINE_CHARS: usize = 300;

pub(super) fn line(out: &mut String, text: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

/// Each turn of each run as ADK would save it, then the state at the end.
pub(super) fn write(out: &mut String, report: &CaseReport) {
    for run in &report.runs {
        line(out, &format!("\nrecord of run {} of {}", run.number, report.run_count()));
        for turn in &run.transcript.turns {
            line(out, &name(&turn.invocation.to_value().to_string()));
        }
        line(out, &format!("state {}", name(&Value::from(run.transcript.state.clone()).to_string())));
        if let Some(error) = &run.error {
            line(out, &format!("error {}", quoted(&error.to_string(), 6)));
        }
    }
}

/// One event in a line: its author and its content.
pub(super) fn summary(event: &Event) -> String {
    let mut what: Vec<String> = Vec::new();
    for part in event.parts() {
        if let Some(text) = &part.text {
            what.push(format!("{text:?}"));
        }
        if let Some(call) = &part.function_call {
            what.push(format!("calls {call}"));
        }
        if let Some(response) = &part.function_response {
            let name = response.name.as_deref().unwrap_or("(no name)");
            what.push(format!(
                "{name} returned {}",
                Value::from(response.response.clone().unwrap_or_default())
            ));
        }
        what.extend(part.other.keys().map(|key| format!("`{key}`")));
    }
    what.extend(event.state_delta.iter().map(|(key, value)| format!("sets `{key}` to {value}")));
    if let Some(code) = &event.error_code {
        what.push(format!("error {code}: {}", event.error_message.as_deref().unwrap_or_default()));
    }
    if event.usage.is_some() {
        what.push("reports its tokens".to_owned());
    }
    format!("{}: {}", event.author, what.join("; "))
}
