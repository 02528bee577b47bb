//! A fake language model: rules instead of weights, so that the sample runs offline.

use eval_core::format::Value;
use eval_core::{BoxError, json};

/// A line of the conversation, as chat models take it.
#[derive(Debug)]
pub(crate) enum Message {
    User(String),
    Model(String),
    /// The tool and its result.
    Tool(&'static str, Value),
}

/// The next wish of the model.
#[derive(Debug)]
pub(crate) enum Reply {
    Text(String),
    Tools(Vec<ToolCall>),
}

/// A tool call, as the model asks for it.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: &'static str,
    pub(crate) args: Value,
}

/// The model.
#[derive(Debug)]
pub(crate) struct Model;

#[expect(clippy::unused_async, reason = "a real model is reached over the network")]
impl Model {
    /// The model of a name.
    pub(crate) async fn connect(name: &str) -> Result<Self, BoxError> {
        if name == "support-1" { Ok(Self) } else { Err(format!("there is no model {name}").into()) }
    }

    /// The next reply to a conversation.
    pub(crate) async fn complete(&self, history: &[Message]) -> Result<Reply, BoxError> {
        Ok(match history.last() {
            Some(Message::Tool(name, result)) => after_tool(name, result),
            Some(Message::User(text)) => after_user(text, order_id(history)),
            Some(Message::Model(_)) | None => return Err("there is nothing to reply to".into()),
        })
    }
}

fn after_user(text: &str, order: Option<&str>) -> Reply {
    let text = text.to_lowercase();
    let Some(order) = order else {
        return if text.contains("order") || text.contains("parcel") || text.contains("return") {
            Reply::Text("Could you give me the order number, please?".to_owned())
        } else {
            Reply::Text("Hello, I can help with orders, parcels and returns.".to_owned())
        };
    };
    let mut calls = vec![call("get_order", json!({ "order_id": order }))];
    if text.contains("return") || text.contains("refund") || text.contains("money back") {
        calls.push(call("check_return_window", json!({ "order_id": order, "policy": "2026" })));
    } else if text.contains("parcel") || text.contains("when") {
        calls.push(call("track_parcel", json!({ "order_id": order })));
    }
    Reply::Tools(calls)
}

fn after_tool(name: &str, result: &Value) -> Reply {
    let text = |key: &str| result[key].as_str().unwrap_or_default();
    let order = text("order_id");
    Reply::Text(match name {
        "track_parcel" => {
            format!("{} brings the parcel of order {order} on {}.", text("carrier"), text("arrives"))
        }
        "check_return_window" if result["open"].as_bool() == Some(true) => {
            format!("You can return order {order}; a colleague will send you the label and refund it.")
        }
        "check_return_window" => {
            format!("Order {order} is not delivered yet, so it cannot be returned.")
        }
        _ => format!("Order {order} is {}.", text("status")),
    })
}

fn call(name: &'static str, args: impl Into<Value>) -> ToolCall {
    ToolCall { name, args: args.into() }
}

/// The order number that was mentioned last, such as `A-100`.
fn order_id(history: &[Message]) -> Option<&str> {
    history.iter().rev().find_map(|message| match message {
        Message::User(text) | Message::Model(text) => text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .find(|word| word.strip_prefix("A-").is_some_and(|digits| digits.parse::<u32>().is_ok())),
        Message::Tool(..) => None,
    })
}
