//! A support agent around a loop of the kind one writes by hand: ask the model, run its tools, ask again.
//!
//! The glue takes 10 lines: the trait, and `recorder.tool(..)` around the dispatch.

use eval_core::format::Value;
use eval_core::{Agent, BoxError, Recorder, Turn, json};

use super::support_model::{Message, Model, Reply, ToolCall};

/// A model that still calls tools after this number of rounds is not getting anywhere.
const MAX_ROUNDS: usize = 5;

/// One conversation.
#[derive(Debug)]
pub(crate) struct SupportAgent {
    model: Model,
    history: Vec<Message>,
}

impl SupportAgent {
    /// Opens a conversation with the model.
    pub(crate) async fn connect() -> Result<Self, BoxError> {
        Ok(Self { model: Model::connect("support-1").await?, history: Vec::new() })
    }
}

// The glue.
impl Agent for SupportAgent {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let answer = self.answer(turn.text(), turn.recorder()).await?;
        turn.recorder().text(answer);
        Ok(())
    }
}
// End of the glue.

impl SupportAgent {
    async fn answer(&mut self, message: String, recorder: &Recorder) -> Result<String, BoxError> {
        self.history.push(Message::User(message));
        for _ in 0..MAX_ROUNDS {
            match self.model.complete(&self.history).await? {
                Reply::Text(text) => {
                    self.history.push(Message::Model(text.clone()));
                    return Ok(text);
                }
                Reply::Tools(calls) => {
                    for call in calls {
                        let result = dispatch(&call, recorder).await?;
                        self.history.push(Message::Tool(call.name, result));
                    }
                }
            }
        }
        Err(format!("no answer after {MAX_ROUNDS} rounds").into())
    }
}

// The glue.
async fn dispatch(call: &ToolCall, recorder: &Recorder) -> Result<Value, BoxError> {
    recorder.tool(call.name, call.args.clone(), async { run(call) }).await
}
// End of the glue.

/// The shop's systems. Answers are JSON objects.
fn run(call: &ToolCall) -> Result<Value, BoxError> {
    let id = call.args["order_id"].as_str().ok_or("`order_id` is missing")?;
    let status = match id {
        "A-100" => "shipped",
        "A-200" => "delivered",
        _ => return Err(format!("there is no order {id}").into()),
    };
    Ok(match call.name {
        "get_order" => json!({ "order_id": id, "status": status }),
        "track_parcel" => json!({ "order_id": id, "carrier": "Parcelo", "arrives": "Thursday" }),
        "check_return_window" => json!({ "order_id": id, "open": id == "A-200", "days_left": 12 }),
        other => return Err(format!("there is no tool {other}").into()),
    }
    .into())
}
