//! The golden behind a draft that takes its place.

use eval_agents::draft::Draft;
use eval_format::{EvalCase, Invocation, Map, Value};

/// The case with the expectations that the draft replaces, and with the draft's mark. `None` for a draft that replaces none.
pub(crate) fn golden_of(draft: &EvalCase) -> Option<EvalCase> {
    let replaced = draft.draft()?.as_object()?.get(Draft::GOLDEN_KEY)?.as_array()?;
    let mut golden = draft.clone();
    for before in replaced {
        let before = before.as_object()?;
        if let Some(state) = before.get("final_session_state") {
            golden.final_session_state = state.as_object()?.clone();
            continue;
        }
        let at = usize::try_from(before.get("turn")?.as_i64()?).ok()?.checked_sub(1)?;
        let turn = golden.conversation.get_mut(at)?;
        let mut fields = Map::from([("user_content", Map::new())]);
        fields
            .extend(before.iter().filter(|(key, _)| *key != "turn").map(|(key, value)| (key, value.clone())));
        let read = Invocation::parse(&Value::Object(fields).to_string()).ok()?;
        if before.contains_key("intermediate_data") {
            turn.intermediate_data = read.intermediate_data;
        }
        if before.contains_key("final_response") {
            turn.final_response = read.final_response;
        }
    }
    Some(golden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_is_made_of_the_mark_or_not_at_all() {
        let case = EvalCase::new("a").turn(Invocation::user("Hi").response("New."));
        let of = |mark: &str| golden_of(&case.clone().with_draft(Value::parse(mark).expect("JSON")));
        let golden = of(
            r#"{"golden": [{"turn": 1, "final_response": {"parts": [{"text": "Old."}]}, "intermediate_data": null},
                {"final_session_state": {"a": 1}}]}"#,
        );
        let golden = golden.expect("it is there");
        assert_eq!(golden.conversation[0].response_text(), "Old.");
        assert_eq!(golden.final_session_state, Map::from([("a", 1)]));
        for mark in [
            "{}",
            "true",
            r#"{"golden": {}}"#,
            r#"{"golden": [{"turn": 0}]}"#,
            r#"{"golden": [{"turn": 2, "final_response": null}]}"#,
            r#"{"golden": [{"turn": 1, "final_response": 7}]}"#,
            r#"{"golden": [{"final_session_state": 7}]}"#,
        ] {
            assert_eq!(of(mark), None, "{mark}");
        }
    }
}
