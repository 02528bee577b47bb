//! Transcripts: what happened, event by event. The form that metrics see is made of the events again.

use eval_format::{Content, Invocation, Value};

use super::json::{Fields, Json, Misread, Object, fields, words};
use super::line::Line;
use crate::agent::{Event, Session};
use crate::judge_outcome::{JudgeError, JudgeErrorKind};
use crate::transcript::{RunError, Transcript, TurnRecord, invocation};
use crate::verdict::Role;

fields!(Transcript { session, turns, state, error });
fields!(Session { app_name, user_id, session_id, state });
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
fields!(RunError { role, turn, message, judge });
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

impl Json for TurnRecord {
    fn write(&self, out: &mut Line) {
        let turn = &self.invocation;
        let mut object = Object::open(out);
        object.field(",\"invocation_id\":", &turn.invocation_id);
        object.field(",\"user_content\":", &turn.user_content);
        object.field(",\"events\":", &self.events);
        object.field(",\"creation_timestamp\":", &turn.creation_timestamp);
        object.field(",\"duration\":", &turn.duration);
        object.field(",\"model_duration\":", &turn.model_duration);
        object.field(",\"tool_duration\":", &turn.tool_duration);
        object.field(",\"rubrics\":", &turn.rubrics);
        object.field(",\"app_details\":", &turn.app_details);
        object.close();
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let mut fields = Fields::of(value)?;
        let user: Content = fields.take("user_content")?;
        let events: Vec<Event> = fields.take("events")?;
        let invocation = Invocation {
            invocation_id: fields.take("invocation_id")?,
            creation_timestamp: fields.take("creation_timestamp")?,
            duration: fields.take("duration")?,
            model_duration: fields.take("model_duration")?,
            tool_duration: fields.take("tool_duration")?,
            rubrics: fields.take("rubrics")?,
            app_details: fields.take("app_details")?,
            ..invocation(&user, &events)
        };
        Ok(Self { events, invocation })
    }
}

impl Json for JudgeError {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        object.field(",\"kind\":", &self.kind());
        object.field(",\"message\":", &self.to_string());
        object.field(",\"transient\":", &self.is_transient());
        object.field(",\"retry_after\":", &self.retry_after());
        object.close();
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let mut fields = Fields::of(value)?;
        let message: String = fields.take("message")?;
        let error = Self::new(fields.take("kind")?, message);
        let is_transient: bool = fields.take("transient")?;
        Ok(if is_transient { error.transient(fields.take("retry_after")?) } else { error })
    }
}
