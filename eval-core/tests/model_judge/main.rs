//! Judges over HTTP: asked at a server on loopback, and limited over several processes.

mod environment;
mod faults;
mod process;
mod server;
mod trouble;
mod wires;

use std::time::Duration;

use eval_core::judge::{__patient, Judge, JudgeError, JudgeReply, JudgeRequest, ModelJudge, Provider};
use serde_json::{Value, json};

use server::{Answer, Request, Server};

/// The key. None of its words may be shown anywhere.
const KEY: &str = "correct-horse-battery-staple";

/// A provider, with what its server answers.
struct Wire {
    provider: Provider,
    model: &'static str,
    /// The path of the base URL.
    base: &'static str,
    /// An answer with this text.
    reply: fn(&str) -> Value,
    /// An answer that declines.
    refusal: fn() -> Value,
    /// An error with this message.
    error: fn(&str) -> Value,
}

const WIRES: &[Wire] = &[
    Wire {
        provider: Provider::OpenAi,
        model: "openai/gpt-test",
        base: "/v1",
        reply: |text| json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
        refusal: || json!({"choices": [{"message": {"content": null, "refusal": "I cannot judge this"}}]}),
        error: |message| json!({"error": {"message": message, "type": "server_error", "code": null}}),
    },
    Wire {
        provider: Provider::Gemini,
        model: "gemini-test",
        base: "",
        reply: |text| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}),
        refusal: || json!({"candidates": [{"finishReason": "SAFETY"}]}),
        error: |message| json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
    },
    Wire {
        provider: Provider::Anthropic,
        model: "anthropic/claude-test",
        base: "",
        reply: |text| json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}),
        refusal: || json!({"content": [], "stop_reason": "refusal"}),
        error: |message| json!({"type": "error", "error": {"type": "api_error", "message": message}}),
    },
];

impl Wire {
    /// A judge that asks a server as this provider.
    fn judge(&self, server: &Server) -> ModelJudge {
        ModelJudge::new().key(self.provider, KEY).base_url(self.provider, server.url(self.base))
    }

    fn request(&self) -> JudgeRequest {
        JudgeRequest::new(self.model, "Is it polite?")
    }

    fn ok(&self, text: &str) -> Answer {
        Answer::Send(200, "", (self.reply)(text).to_string())
    }

    fn fail(&self, status: u16, headers: &'static str, message: &str) -> Answer {
        Answer::Send(status, headers, (self.error)(message).to_string())
    }

    /// Asks a server with these answers once, without retries.
    async fn ask(&self, answers: Vec<Answer>) -> (Result<JudgeReply, JudgeError>, Vec<Request>) {
        let server = Server::start(answers);
        let result = self.judge(&server).ask(&self.request()).await;
        assert_hidden(&result);
        (result, server.requests())
    }

    /// Asks a server with these answers, with up to three retries after short waits.
    async fn ask_retrying(&self, answers: Vec<Answer>) -> (Result<JudgeReply, JudgeError>, Vec<Request>) {
        let server = Server::start(answers);
        let judge = self.judge(&server).timeout(Duration::from_mins(1));
        let result = patient(judge).ask(&self.request()).await;
        assert_hidden(&result);
        (result, server.requests())
    }
}

/// A judge that is asked up to three more times, after short waits.
fn patient(judge: impl Judge) -> impl Judge {
    __patient(judge, 3, [1, 2].map(Duration::from_millis))
}

fn assert_hidden(result: &Result<JudgeReply, JudgeError>) {
    let shown = match result {
        Ok(reply) => format!("{reply:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    for word in ["correct", "horse", "battery", "staple"] {
        assert!(!shown.contains(word), "{shown}");
    }
}
