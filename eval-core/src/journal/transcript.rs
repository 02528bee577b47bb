//! Transcripts, event by event. A reader makes the answer and the steps of each turn from the events again.

use std::sync::Arc;

use eval_format::{
    AgentDetails, AppDetails, Content, FunctionCall, FunctionResponse, Part, Rubric, UsageMetadata, Value,
};
use eval_support::secrets::Secrets;
use serde_core::ser::Error as _;
use serde_core::{Serialize, Serializer};

use super::fields::{fields, words};
use super::line::Line;
use super::value::restored;
use crate::agent::{Event, Session};
use crate::judge_outcome::{JudgeError, JudgeErrorKind};
use crate::model_use::ModelUse;
use crate::transcript::{RunError, Transcript, TurnRecord, invocation};
use crate::verdict::Role;

fields!(Transcript from default { session, turns, state, error, notes, models });
fields!(ModelUse from default { model, requests, calls, asked, usage });
fields!(Session from default { app_name, user_id, session_id, state });
fields!(TurnRecord from default { events } in invocation {
    invocation_id,
    user_content,
    creation_timestamp,
    duration,
    model_duration,
    tool_duration,
    rubrics,
    app_details,
} then completed);
fields!(Event {} {
    author,
    content,
    usage,
    model_version,
    grounding_metadata,
    state_delta,
    error_code,
    error_message,
    partial,
    skip_summarization,
    long_running_tool_ids,
    at,
});
fields!(RunError { role, message } { turn, judge, unreachable, is_failure });
fields!(JudgeError { kind, message } { transient, retry_after });
words!(Role {
    Agent = "agent",
    Setup = "setup",
    Body = "body",
    Tools = "tools",
    Recording = "recording",
    Metric = "metric",
    Judge = "judge",
    Simulator = "simulator",
    Harness = "harness",
});
words!(JudgeErrorKind {
    NoJudge = "no_judge",
    NotRecorded = "not_recorded",
    Refused = "refused",
    Unreadable = "unreadable",
    Timeout = "timeout",
    Failed = "failed",
});

fn completed(turn: &mut TurnRecord) {
    let made = invocation(&turn.invocation.user_content, &turn.events);
    turn.invocation.final_response = made.final_response;
    turn.invocation.intermediate_data = made.intermediate_data;
}

/// The form of journals: session, turns with their events, state, error. Secrets are masked.
impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = Line::of(self, Arc::clone(Secrets::of_environment()));
        let value = Value::parse(&json).map_err(S::Error::custom)?;
        restored(value).serialize(serializer)
    }
}

// Contents keep keys that ADK does not know, unlike the form that ADK saves: metrics may read them.
fields!(Content from default { role, parts });
fields!(Part from default { text, thought, function_call, function_response, other });
fields!(FunctionCall from default { id, name, args, other });
fields!(FunctionResponse from default { id, name, response, other });
fields!(UsageMetadata from default {
    prompt_token_count,
    candidates_token_count,
    total_token_count,
    cached_content_token_count,
    thoughts_token_count,
    tool_use_prompt_token_count,
    other,
});
fields!(AppDetails from default { agent_details });
fields!(AgentDetails from default { name, instructions, tool_declarations });
fields!(Rubric from default { rubric_id, text_property, description, kind });

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::field::Of;
    use super::super::field::tests::again;
    use super::*;
    use crate::testing::Conversation;

    #[test]
    fn a_transcript_is_serialised_as_a_journal_has_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut transcript = runtime.block_on(async {
            let agent = crate::agent_fn(|_, recorder| async move {
                recorder.state("key", format!("sk-ant-{}", "abcdefghij0123456789".repeat(2)));
                "Sunny."
            });
            let mut conversation = Conversation::new(agent).with_session(Session::new("shop", "anna"));
            conversation.say("Paris?").await.unwrap();
            conversation.finish().await.unwrap()
        });
        transcript.error = Some(RunError::new(Role::Agent, Some(1), "no model"));
        let value = serde_json::to_value(&transcript).unwrap();
        assert_eq!(value["session"], json!({ "app_name": "shop", "user_id": "anna" }));
        assert_eq!(value["turns"][0]["user_content"]["parts"][0]["text"], "Paris?");
        assert_eq!(value["turns"][0]["events"][1]["content"]["parts"][0]["text"], "Sunny.");
        assert_eq!(value["error"], json!({ "role": "agent", "turn": 1, "message": "no model" }));
        assert!(!value.to_string().contains("abcdefghij"), "{value}");
        assert_eq!(value.get("models"), None, "a run without the gateway is written as before");
    }

    #[test]
    fn calls_of_models_come_back_without_what_a_later_version_adds() {
        let read = |text: &str| serde_json::from_str::<Of<Transcript>>(text).unwrap().0;
        assert_eq!(read("{}").models, [], "a journal of before has none");
        let told = read(
            r#"{"models": [{"model": "m", "requests": 3, "calls": 2, "asked": 1, "later": {"x": []}, "usage": {"prompt_token_count": 7}}]}"#,
        );
        let usage = UsageMetadata::default().with_prompt_token_count(7);
        assert_eq!(told.models, [ModelUse { model: "m".to_owned(), requests: 3, calls: 2, asked: 1, usage }]);
        assert_eq!(again(&told), told);
        let secret = format!("sk-ant-{}", "abcdefghij0123456789".repeat(2));
        let named = Transcript { models: vec![ModelUse { model: secret, ..ModelUse::default() }], ..told };
        assert!(!serde_json::to_string(&named).unwrap().contains("abcdefghij"));
    }
}
