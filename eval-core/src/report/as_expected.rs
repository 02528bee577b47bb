//! Comparison of runs with all that their case expects: if they are equal, a failure is no fault of the golden.

use eval_format::{Content, EvalCase, FunctionCall, Invocation};

use super::case_report::CaseReport;
use crate::score::equality::{ArgsMatch, calls_match, values_equal};
use crate::transcript::Transcript;

impl CaseReport {
    /// Whether each run did exactly what the case expects, in all that the case says about it.
    pub(crate) fn is_as_expected(&self) -> bool {
        !self.runs.is_empty()
            && self.runs.iter().all(|run| run.error.is_none() && is_of(&self.case, &run.transcript))
    }
}

fn is_of(case: &EvalCase, transcript: &Transcript) -> bool {
    let turns = &transcript.turns;
    let mut pairs = case.conversation.iter().zip(turns);
    case.conversation.len() == turns.len()
        && pairs.all(|(expected, actual)| is_turn_of(expected, &actual.invocation))
        && case.final_session_state.iter().all(|(key, expected)| {
            transcript.state.get(key).is_some_and(|actual| values_equal(expected, actual))
        })
}

/// A golden without results of tools or texts before the answer says nothing about them.
fn is_turn_of(expected: &Invocation, actual: &Invocation) -> bool {
    let calls = |turn| Invocation::tool_calls(turn).collect::<Vec<&FunctionCall>>();
    let results = |turn| {
        Invocation::tool_responses(turn)
            .map(|it| (it.name.as_ref(), it.response.as_ref()))
            .collect::<Vec<_>>()
    };
    let (expected_calls, actual_calls) = (calls(expected), calls(actual));
    let (texts, expected_results) = (expected.intermediate_texts(), results(expected));
    expected_calls.len() == actual_calls.len()
        && expected_calls
            .iter()
            .zip(&actual_calls)
            .all(|(one, other)| calls_match(one, other, ArgsMatch::Exact))
        && is_same(expected.final_response.as_ref(), actual.final_response.as_ref())
        && (expected_results.is_empty() || expected_results == results(actual))
        && (texts.is_empty() || texts == actual.intermediate_texts())
}

/// Whether answers have the same text, and the same parts beside it. A golden can lack an answer, and then another one helps.
fn is_same(expected: Option<&Content>, actual: Option<&Content>) -> bool {
    let beside =
        |content: &Content| content.parts().iter().map(|part| part.other.clone()).collect::<Vec<_>>();
    let text = |content: &Content| {
        let texts = content.parts().iter().filter_map(|part| part.text.as_deref());
        texts.collect::<Vec<_>>().join("\n")
    };
    match (expected, actual) {
        (Some(expected), Some(actual)) => {
            text(expected) == text(actual) && beside(expected) == beside(actual)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{FunctionResponse, IntermediateData, Map, Part};
    use serde_json::json;

    use super::*;
    use crate::transcript::TurnRecord;

    fn turn(city: &str, answer: Option<&str>) -> Invocation {
        let turn = Invocation::user("Hi").call(FunctionCall::new("f", json!({ "city": city, "n": 1 })));
        match answer {
            Some(answer) => turn.response(answer),
            None => turn,
        }
    }

    fn played(turns: Vec<Invocation>) -> Transcript {
        let turns = turns.into_iter().map(|invocation| TurnRecord { events: Vec::new(), invocation });
        Transcript { turns: turns.collect(), ..Transcript::default() }
    }

    #[test]
    fn a_run_is_as_expected_in_all_that_its_case_says() {
        let golden = || turn("Rome", Some("Sunny."));
        let mut with_image = golden();
        if let Some(content) = &mut with_image.final_response {
            content
                .parts
                .get_or_insert_default()
                .push(Part::default().with_other("inline_data", json!({ "data": "AA==" })));
        }
        let mut with_results = golden();
        with_results.intermediate_data = Some(IntermediateData::Tools {
            tool_uses: golden().tool_calls().cloned().collect(),
            tool_responses: vec![FunctionResponse::new("f", json!({ "sky": "clear" }))],
            intermediate_responses: vec![("agent".to_owned(), vec![Part::text("One moment.")])],
        });
        let float = Invocation::user("Hi")
            .call(FunctionCall::new("f", json!({ "n": 1.0, "city": "Rome" })))
            .response("Sunny.");
        for (what, expected, actual, is) in [
            ("the same", vec![golden()], vec![golden()], true),
            ("equal arguments", vec![golden()], vec![float], true),
            ("no answer is expected", vec![turn("Rome", None)], vec![golden()], false),
            ("more than expected", vec![golden()], vec![with_results.clone()], true),
            ("less than expected", vec![with_results.clone()], vec![golden()], false),
            ("the same results", vec![with_results.clone()], vec![with_results], true),
            ("another argument", vec![golden()], vec![turn("Oslo", Some("Sunny."))], false),
            ("another answer", vec![golden()], vec![turn("Rome", Some("Rain."))], false),
            ("no answer", vec![golden()], vec![turn("Rome", None)], false),
            ("no call", vec![golden()], vec![Invocation::user("Hi").response("Sunny.")], false),
            ("an image", vec![golden()], vec![with_image], false),
            ("a turn less", vec![golden(), golden()], vec![golden()], false),
        ] {
            let case = expected.into_iter().fold(EvalCase::new("c"), EvalCase::turn);
            assert_eq!(is_of(&case, &played(actual)), is, "{what}");
        }
        let mut case = EvalCase::new("c").turn(golden());
        case.final_session_state = Map::from([("done", true)]);
        let mut run = played(vec![golden()]);
        assert!(!is_of(&case, &run), "the state is missing");
        run.state = Map::from([("done", eval_format::Value::from(true)), ("more", 1.into())]);
        assert!(is_of(&case, &run));
    }
}
