//! A session as it is shown: the stored state, and the digest of its reading.

use std::time::Duration;

use eval_agents::traces::{Traces, Turn};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::display;

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionState {
    /// Spans arrived a moment ago.
    Receiving,
    /// Nothing arrives any more, and spans are missing.
    Waiting,
    /// The root of each of its traces has ended, each parent is there, and nothing arrives any more.
    Complete,
}

/// The stored state of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    #[serde(serialize_with = "display::as_text")]
    #[schema(value_type = String)]
    pub(crate) id: u64,
    /// The conversation's name in its spans, else the id of its trace.
    #[serde(serialize_with = "display::as_line")]
    pub(crate) key: String,
    pub(crate) state: SessionState,
    /// Whether it is the golden one.
    #[serde(rename = "golden")]
    pub(crate) is_golden: bool,
    pub(crate) traces: usize,
    pub(crate) spans: usize,
    /// The memory that its texts take.
    pub(crate) bytes: usize,
    /// The time at which the last spans arrived, in seconds since 1970.
    pub(crate) received: f64,
    /// The spans that were sent and are not here. Such a session is never scored as passed.
    #[serde(serialize_with = "display::as_lines")]
    pub(crate) lost: Vec<String>,
    /// The data that it waits for.
    #[serde(rename = "waitsFor", serialize_with = "display::as_lines")]
    pub(crate) waits: Vec<String>,
    /// None for a moment, while its last trace moves to another.
    #[serde(skip)]
    pub(crate) first_trace: Option<u128>,
    #[serde(skip)]
    pub(crate) revision: u64,
}

/// The digest of a session's reading, with texts as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Digest {
    pub(crate) turns: usize,
    pub(crate) calls: usize,
    /// Tokens that were sent to models and that they wrote.
    pub(crate) tokens: u64,
    #[serde(rename = "agentName")]
    pub(crate) agent: Option<String>,
    #[serde(rename = "userInputPreview")]
    pub(crate) asked: Option<String>,
    #[serde(rename = "finalOutputPreview")]
    pub(crate) answered: Option<String>,
    /// The time at which the first turn began, in seconds since 1970.
    #[serde(serialize_with = "as_seconds")]
    #[schema(value_type = Option<f64>)]
    pub(crate) started: Option<Duration>,
    /// The time from the beginning of the first turn to the end of the last, if the traces say. It does not
    /// depend on the agent's clock.
    #[serde(skip)]
    pub(crate) lasted: Option<Duration>,
    /// The number of gaps that lose something that an expectation may be about.
    pub(crate) gaps: usize,
    pub(crate) failed_turns: usize,
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn as_seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.as_ref().map(Duration::as_secs_f64).serialize(serializer)
}

impl SessionView {
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = self.lost.clone();
        if self.state == SessionState::Receiving {
            doubts.push("spans still arrive".to_owned());
        }
        doubts.extend(self.waits.iter().cloned());
        doubts
    }
}

impl Digest {
    pub(super) fn new(traces: &Traces) -> Self {
        let turns = || traces.conversations().iter().flat_map(|it| &it.turns);
        let gaps = traces.conversations().iter().flat_map(|it| it.all_gaps().map(|(_, gap)| gap));
        let started = turns().filter_map(|turn| turn.start_ns).min();
        let ended = turns().filter_map(|turn| turn.end_ns).max();
        let lasted = started.zip(ended).and_then(|(started, ended)| ended.get().checked_sub(started.get()));
        let tokens = |turn: &Turn| {
            [turn.usage.input_tokens, turn.usage.output_tokens]
                .into_iter()
                .flatten()
                .fold(0, u64::saturating_add)
        };
        Self {
            turns: turns().count(),
            calls: turns().map(|turn| turn.calls.len()).sum(),
            tokens: turns().map(tokens).fold(0, u64::saturating_add),
            agent: turns().find_map(|turn| turn.agent.as_deref()).map(display::line),
            asked: turns().find_map(|turn| turn.user.as_deref()).map(display::preview),
            answered: turns().filter_map(|turn| turn.answer.as_deref()).next_back().map(display::preview),
            started: started.map(|nanos| Duration::from_nanos(nanos.get())),
            lasted: lasted.map(Duration::from_nanos),
            gaps: gaps.chain(traces.gaps()).filter(|gap| gap.kind.loses()).count(),
            failed_turns: turns().filter(|turn| turn.error.is_some()).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of some traces of one turn each, whose spans have these fields.
    fn digest(fields: &[&str]) -> Digest {
        let spans = fields.iter().enumerate().map(|(at, fields)| {
            let id = at + 1;
            format!(
                r#"{{"traceId": "{id:032x}", "spanId": "{id:016x}", "name": "s"{fields},
                    "attributes": {{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}}}}"#
            )
        });
        let text = format!("[{}]", spans.collect::<Vec<_>>().join(","));
        Digest::new(&Traces::from_texts([text.as_bytes()]).unwrap())
    }

    #[test]
    fn a_session_of_unknown_time_has_none() {
        let timed =
            r#", "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000002000000000""#;
        let one = digest(&[timed]);
        let started = Some(Duration::from_secs(1_760_000_000));
        assert_eq!((one.started, one.lasted), (started, Some(Duration::from_secs(2))));
        assert_eq!(serde_json::to_value(&one).unwrap()["started"], 1_760_000_000.0);
        let none = digest(&[""]);
        assert_eq!((none.turns, none.started, none.lasted), (1, None, None));
        assert_eq!(
            digest(&["", timed]).started,
            one.started,
            "a turn without times began at no time, not first"
        );
    }
}
