//! Golden tools of a program: it asks for the answer to each call of a tool, in the middle of a turn.

use std::io;
use std::sync::Arc;

use eval_core::Recorder;
use eval_core::format::{Map, Value};
use eval_core::tools::GoldenTools;
use eval_support::mutex::Mutex;
use tokio::task::JoinSet;

use super::child::Writer;
use super::error::ProcessError;
use super::message::{self, Asked};
use crate::mcp::McpMock;

/// The state that a program told at the end of a turn, with what has changed since; `None` if it told none.
#[derive(Clone, Debug, Default)]
pub(super) struct ToldState(Arc<Mutex<Option<Map>>>);

impl ToldState {
    pub(super) fn change(&self, changes: &Map) {
        if let Some(state) = &mut *self.0.lock() {
            state.extend(changes.clone());
        }
    }

    pub(super) fn replace(&self, state: Map) {
        *self.0.lock() = Some(state);
    }

    pub(super) fn take(&self) -> Option<Map> {
        self.0.lock().take()
    }
}

/// The answers of one conversation.
#[derive(Debug)]
pub(super) struct ToolAnswers {
    tools: GoldenTools,
    /// The answerer of tools that are servers of MCP, as long as the conversation lasts.
    _mock: Option<McpMock>,
    writer: Writer,
    state: ToldState,
}

/// The calls of a turn that wait for their answers. They are given up when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Waiting(JoinSet<()>);

impl ToolAnswers {
    /// The answers for a program that has to ask for each call. Fails if its `started` does not say that it does.
    pub(super) fn begin(
        tools: Option<GoldenTools>,
        mock: io::Result<Option<McpMock>>,
        declared_tools: Option<&str>,
        writer: Writer,
        state: &ToldState,
    ) -> Result<Option<Self>, ProcessError> {
        match (tools, declared_tools) {
            (None, None) => Ok(None),
            (Some(tools), Some(message::GOLDEN)) => {
                tools.records_others();
                Ok(Some(Self { tools, _mock: mock.ok().flatten(), writer, state: state.clone() }))
            }
            // Its other tools run, so each call that it records has to have been asked of the mock.
            (Some(tools), Some(message::MCP)) => match mock {
                Ok(mock) => {
                    tools.asked_over_mcp();
                    Ok(Some(Self { tools, _mock: mock, writer, state: state.clone() }))
                }
                Err(error) => Err(ProcessError::Tools(format!(
                    "the mock of MCP servers cannot listen on 127.0.0.1: {error}; the program may ask with `tool` messages \
                     instead, and say so: {}",
                    r#""tools": "golden""#
                ))),
            },
            (Some(_), None) => Err(ProcessError::Tools(format!(
                "the program does not ask for golden tools, so its tools would run: it answers `start` without {}; the page on \
                 the protocol says how it asks, and the package `evalset` of Python does; a program whose tools are MCP servers \
                 connects to `mcp` of `start`, and says {}",
                r#""tools": "golden""#, r#""tools": "mcp""#
            ))),
            (None, Some(declared_tools)) => Err(ProcessError::Protocol(format!(
                "the program wrote `started` with `tools` {declared_tools:?}, and its tools are real: `start` has no such key"
            ))),
            (Some(_), Some(declared_tools)) => Err(ProcessError::Protocol(format!(
                "the program wrote `started` with `tools` {declared_tools:?}; it is {:?} or {:?}",
                message::GOLDEN,
                message::MCP
            ))),
        }
    }

    /// Notes a call that no tool answers.
    pub(super) fn own_call(&self, name: String) {
        self.tools.own_call(name);
    }

    /// Answers a call, while the turn goes on.
    pub(super) fn answer(&self, asked: Asked, recorder: Recorder, waiting: &mut Waiting) {
        let (writer, told) = (self.writer.clone(), self.state.clone());
        let Asked { id, name, args } = asked;
        // Here, so that the calls are counted in the order in which they were written.
        let answered = self.tools.answer(&name, &args);
        let answer = async move {
            let mut answer = message::tool_result(id);
            let state = match answered.await {
                Ok(answered) => {
                    answer.insert("result", answered.response);
                    answered.state
                }
                Err(error) => {
                    answer.insert("error", error.message);
                    error.state
                }
            };
            told.change(&state);
            for (key, value) in &state {
                recorder.state(key, value.clone());
            }
            if !state.is_empty() {
                answer.insert("state", Value::Object(state));
            }
            writer.write(answer).await;
        };
        waiting.0.spawn(answer);
    }
}
