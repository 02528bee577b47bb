//! Evals of a team of agents, each of which records under its own name. The glue takes 13 lines.

use eval_core::{Agent, Recorder, agent_fn, eval_set, json};
use example_multi_agent::{Step, What, answer};

// The glue.
#[eval_set("evals/trips.evalset.json")]
fn trips() -> impl Agent {
    agent_fn(|text, recorder| async move { answer(&text, |step| record(&recorder, step)) })
}

fn record(recorder: &Recorder, step: Step) {
    let recorder = recorder.author(step.agent);
    let (tool, args, result) = match step.what {
        What::Said(text) => return recorder.text(text),
        What::Searched { with, city, found } => (with, json!({ "city": city }), found),
        // In ADK a hand-over is a tool call like any other.
        What::HandedTo(to) => ("transfer_to_agent", json!({ "agent_name": to }), "done"),
    };
    recorder.tool_call(tool, args, result);
}
// End of the glue.
