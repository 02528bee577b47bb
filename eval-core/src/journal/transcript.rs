//! Transcripts: what happened, event by event. The form that metrics see is made of the events again when a transcript is
//! read.

use std::sync::Arc;

use serde_core::{Serialize, Serializer};

use eval_format::Value;

use super::line::Line;
use super::shape::{fields, key, words};
use super::to_json::{Object, ToJson};
use crate::agent::{Event, Session};
use crate::judge_outcome::{JudgeError, JudgeErrorKind};
use crate::secrets::Secrets;
use crate::transcript::{RunError, Transcript, TurnRecord};
use crate::verdict::Role;

fields!(Transcript { session, turns, state, error });
fields!(Session from default { app_name, user_id, session_id, state });
fields!(Event {
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
fields!(RunError { role, turn, message, judge, unreachable });
words!(Role {
    Agent = "agent",
    Setup = "setup",
    Body = "body",
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

impl ToJson for TurnRecord {
    fn write(&self, out: &mut Line) {
        let turn = &self.invocation;
        let mut object = Object::open(out);
        object.field(key!("invocation_id"), &turn.invocation_id);
        object.field(key!("user_content"), &turn.user_content);
        object.field(key!("events"), &self.events);
        object.field(key!("creation_timestamp"), &turn.creation_timestamp);
        object.field(key!("duration"), &turn.duration);
        object.field(key!("model_duration"), &turn.model_duration);
        object.field(key!("tool_duration"), &turn.tool_duration);
        object.field(key!("rubrics"), &turn.rubrics);
        object.field(key!("app_details"), &turn.app_details);
        object.close();
    }
}

impl ToJson for JudgeError {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        object.field(key!("kind"), &self.kind());
        object.field(key!("message"), &self.to_string());
        object.field(key!("transient"), &self.is_transient());
        object.field(key!("retry_after"), &self.retry_after());
        object.close();
    }
}

/// As a journal has it: session, turns with their events, state, error. Without secrets.
impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = Line::without(Arc::clone(Secrets::of_environment()));
        self.write(&mut line);
        let value = Value::parse(&line.into_text()).map_err(serde_core::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    }
}

#[cfg(feature = "reports")]
mod reading {
    use eval_format::{Content, Value};

    use super::super::from_json::{Fields, FromJson, Misread};
    use super::{Event, JudgeError, TurnRecord};
    use crate::transcript::invocation;

    impl FromJson for TurnRecord {
        fn read(value: Value) -> Result<Self, Misread> {
            let mut fields = Fields::of(value)?;
            let user: Content = fields.take("user_content")?;
            let events: Vec<Event> = fields.take("events")?;
            let mut invocation = invocation(&user, &events);
            invocation.invocation_id = fields.take("invocation_id")?;
            invocation.creation_timestamp = fields.take("creation_timestamp")?;
            invocation.duration = fields.take("duration")?;
            invocation.model_duration = fields.take("model_duration")?;
            invocation.tool_duration = fields.take("tool_duration")?;
            invocation.rubrics = fields.take("rubrics")?;
            invocation.app_details = fields.take("app_details")?;
            Ok(Self { events, invocation })
        }
    }

    impl FromJson for JudgeError {
        fn read(value: Value) -> Result<Self, Misread> {
            let mut fields = Fields::of(value)?;
            let message: String = fields.take("message")?;
            let error = Self::new(fields.take("kind")?, message);
            let is_transient: bool = fields.take("transient")?;
            Ok(if is_transient { error.transient(fields.take("retry_after")?) } else { error })
        }
    }
}
