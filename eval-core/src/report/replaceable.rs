//! Runs that can become the golden of their case.

use eval_format::{EvalCase, Invocation, Map, Value};
use eval_support::secrets::{is_secret_under, mask, shows_a_mask};

use super::case_report::CaseReport;
use crate::transcript::Transcript;

impl CaseReport {
    /// Whether the runs can become the golden of the case: all did the same in each turn, as far as the case expects anything of
    /// the turn, and no secret is in it. `cargo evalset import --replace` decides by what is recorded.
    pub(crate) fn can_be_golden(&self) -> bool {
        let runs: Vec<&Transcript> = self.runs.iter().map(|run| &run.transcript).collect();
        self.runs.iter().all(|run| run.error.is_none()) && can_replace(&self.case, &runs)
    }
}

fn can_replace(case: &EvalCase, runs: &[&Transcript]) -> bool {
    let turns = case.conversation.len();
    if turns == 0 || runs.iter().any(|run| run.turns.len() != turns) {
        return false;
    }
    let kinds = Kinds::of(case);
    let of_run =
        |run: &&Transcript| kinds.taken(case, run.turns.iter().map(|turn| &turn.invocation), &run.state);
    let taken: Vec<Value> = runs.iter().map(of_run).collect();
    let golden = kinds.taken(case, case.conversation.iter(), &case.final_session_state);
    let mut known = Vec::new();
    texts(&golden, &mut known);
    taken.windows(2).all(|pair| pair[0] == pair[1])
        && taken.first().is_some_and(|first| !loses_a_secret(first, "", &known))
}

/// The kinds of expectations that a case has.
#[derive(Clone, Copy)]
struct Kinds {
    /// Whether turns that expect no answer take one: no turn expects anything.
    all_answers: bool,
    results: bool,
    texts: bool,
}

impl Kinds {
    fn of(case: &EvalCase) -> Self {
        let turns = || case.conversation.iter();
        let expects = |turn: &Invocation| turn.final_response.is_some() || turn.tool_calls().next().is_some();
        Self {
            all_answers: !turns().any(expects),
            results: turns().any(|turn| turn.tool_responses().next().is_some()),
            texts: turns().any(|turn| !turn.intermediate_texts().is_empty()),
        }
    }

    /// What of some turns, and of the state at their end, would be expected.
    fn taken<'t>(self, case: &EvalCase, turns: impl Iterator<Item = &'t Invocation>, state: &Map) -> Value {
        let turns = case.conversation.iter().zip(turns).map(|(golden, turn)| self.of_turn(golden, turn));
        let mut taken: Vec<Value> = turns.collect();
        let state = case.final_session_state.keys().filter_map(|key| Some((key, state.get(key)?.clone())));
        taken.push(Value::Object(state.map(|(key, value)| (key.to_owned(), value)).collect()));
        Value::Array(taken)
    }

    fn of_turn(self, golden: &Invocation, turn: &Invocation) -> Value {
        let part = |name: &Option<String>, values: &Option<Map>| {
            let name = name.as_deref().map_or(Value::Null, Value::from);
            let values = values.clone().map_or(Value::Null, Value::Object);
            Value::Array(vec![name, values])
        };
        let takes_answer = self.all_answers || golden.final_response.is_some();
        let mut parts: Vec<Value> = turn.tool_calls().map(|call| part(&call.name, &call.args)).collect();
        let results = turn.tool_responses().filter(|_| self.results);
        parts.extend(results.map(|result| part(&result.name, &result.response)));
        let texts = turn.intermediate_texts().into_iter().filter(|_| self.texts);
        parts.extend(texts.map(Value::from));
        parts.extend(takes_answer.then(|| Value::from(turn.response_text())));
        Value::Array(parts)
    }
}

/// Whether a value has a text that is recorded without its secret, and that the golden does not have.
fn loses_a_secret(value: &Value, key: &str, known: &[&str]) -> bool {
    match value {
        Value::String(text) => {
            let is_known = || known.contains(&text.as_str());
            mask(text) != *text || (shows_a_mask(text) || is_secret_under(key, text)) && !is_known()
        }
        Value::Array(items) => items.iter().any(|item| loses_a_secret(item, key, known)),
        Value::Object(map) => {
            map.iter().any(|(key, value)| mask(key) != *key || loses_a_secret(value, key, known))
        }
        _ => false,
    }
}

fn texts<'v>(value: &'v Value, all: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(map) => map.iter().for_each(|(_, value)| texts(value, all)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{FunctionCall, FunctionResponse, IntermediateData};
    use serde_json::json;

    use super::*;
    use crate::transcript::TurnRecord;

    fn turn(city: &str, answer: &str) -> Invocation {
        Invocation::user("Hi").call(FunctionCall::new("f", json!({ "city": city }))).response(answer)
    }

    fn can_be_golden(case: &EvalCase, runs: &[Vec<Invocation>]) -> bool {
        let played = runs.iter().map(|turns| {
            let turns = turns.iter().cloned();
            let turns = turns.map(|invocation| TurnRecord { events: Vec::new(), invocation });
            Transcript { turns: turns.collect(), ..Transcript::default() }
        });
        let played: Vec<Transcript> = played.collect();
        can_replace(case, &played.iter().collect::<Vec<_>>())
    }

    #[test]
    fn runs_that_did_the_same_can_be_the_golden() {
        let case = EvalCase::new("c").turn(turn("Oslo", "Rain."));
        let sun = || vec![turn("Oslo", "Sun.")];
        assert!(can_be_golden(&case, &[sun()]));
        assert!(can_be_golden(&case, &[sun(), sun()]));
        assert!(!can_be_golden(&case, &[sun(), vec![turn("Oslo", "Snow.")]]), "the answers differ");
        assert!(!can_be_golden(&case, &[sun(), vec![turn("Rome", "Sun.")]]), "the calls differ");
        assert!(!can_be_golden(&case, &[vec![turn("Oslo", "Sun."), turn("Oslo", "Sun.")]]), "other turns");
        assert!(!can_be_golden(&EvalCase::new("scenario"), &[Vec::new()]), "no turns");

        let silent = EvalCase::new("c").turn(Invocation::user("Hi").call(FunctionCall::new("f", json!({}))));
        assert!(can_be_golden(&silent, &[sun(), vec![turn("Oslo", "Snow.")]]), "no answer is expected");
        let result = |what: &str| {
            let tool_responses = vec![FunctionResponse::new("f", json!({ "x": what }))];
            let data = IntermediateData::Tools {
                tool_uses: Vec::new(),
                tool_responses,
                intermediate_responses: Vec::new(),
            };
            let mut turn = turn("Oslo", "Sun.");
            turn.intermediate_data = Some(data);
            turn
        };
        let differ = [vec![result("a")], vec![result("b")]];
        assert!(
            can_be_golden(&EvalCase::new("c").turn(turn("Oslo", "Rain.")), &differ),
            "no results are expected"
        );
        assert!(!can_be_golden(&EvalCase::new("c").turn(result("c")), &differ), "the results differ");
    }

    #[test]
    fn a_secret_is_no_golden() {
        let case = EvalCase::new("c").turn(turn("Oslo", "Rain."));
        let key = concat!("AKIA", "IOSFODNN7EXAMPLE");
        assert!(!can_be_golden(&case, &[vec![turn(key, "Sun.")]]));
        assert!(!can_be_golden(&case, &[vec![turn("Oslo", &format!("It is {key}."))]]));
        assert!(!can_be_golden(&case, &[vec![turn("(a secret)", "Sun.")]]));
        let known = EvalCase::new("c").turn(turn("(a secret)", "Rain."));
        assert!(can_be_golden(&known, &[vec![turn("(a secret)", "Sun.")]]), "the golden has it");
    }
}
