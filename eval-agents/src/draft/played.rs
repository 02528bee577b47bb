//! The case of a conversation that was played.

use eval_core::format::{EvalCase, IntermediateData, Invocation, Map, SessionInput};
use eval_core::report::Transcript;

/// The case of what happened, and its gaps, among them the remarks on the run; `None` if there was no turn. Without an id the case has none,
/// and its [`Draft`](super::Draft) derives one.
pub(crate) fn played(eval_id: Option<&str>, transcript: &Transcript) -> Option<(EvalCase, Vec<String>)> {
    if transcript.turns.is_empty() {
        return None;
    }
    let mut gaps = transcript.notes.clone();
    let mut case = EvalCase::new(eval_id.unwrap_or_default());
    let mut changed = Map::new();
    for (at, record) in transcript.turns.iter().enumerate() {
        let turn = turn(&record.invocation);
        if turn.final_response.is_none() {
            gaps.push(format!("turn {} has no answer", at + 1));
        }
        case.conversation.push(turn);
        changed.extend(record.events.iter().flat_map(|event| event.state_delta.clone()));
    }
    if let Some(error) = &transcript.error {
        gaps.push(format!("the run ended early: {error}"));
    }
    let end = |(key, value): (String, _)| {
        let value = transcript.state.get(&key).cloned().unwrap_or(value);
        (key, value)
    };
    let lasting = changed.into_iter().filter(|(key, _)| !key.starts_with("temp:"));
    case.final_session_state = lasting.map(end).collect();
    let session = &transcript.session;
    if !session.app_name.is_empty() || !session.state.is_empty() {
        let input = SessionInput::new(&session.app_name, &session.user_id).with_state(session.state.clone());
        case = case.with_session_input(input);
    }
    Some((case, gaps))
}

/// A turn as a set has it: what metrics were given beside it is left out, and so are events that say nothing.
fn turn(recorded: &Invocation) -> Invocation {
    let mut turn = recorded.clone();
    (turn.rubrics, turn.app_details) = (None, None);
    (turn.duration, turn.model_duration, turn.tool_duration) = (None, None, None);
    if let Some(IntermediateData::Events(events)) = &mut turn.intermediate_data {
        events.retain(|event| {
            let says = event.content.as_ref().is_some_and(|content| !content.parts().is_empty());
            says || event.grounding_metadata.is_some()
        });
    }
    turn
}
