//! Runs that can become the golden of their case.

use eval_format::expect::Rules;
use eval_format::{Content, EvalCase, IntermediateData, Invocation, Meaning, Value};
use eval_support::secrets::{is_secret_under, mask, shows_a_mask};

use super::case_report::CaseReport;
use super::golden::with_run;
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
    let rules = Rules::of(case).unwrap_or_default();
    let replaced: Option<Vec<EvalCase>> = runs.iter().map(|run| with_run(case, run, &rules, false)).collect();
    let Some([first, others @ ..]) = replaced.as_deref() else { return false };
    let meaning = Meaning::from_case(first);
    let golden = expectations(case);
    let mut known = Vec::new();
    texts(&golden, &mut known);
    others.iter().all(|other| Meaning::from_case(other) == meaning)
        && !loses_a_secret(&expectations(first), "", &known)
}

/// The expectations of a case: of its turns, and of the state at their end.
fn expectations(case: &EvalCase) -> Value {
    let of_turn = |turn: &Invocation| {
        let data = turn.intermediate_data.as_ref().map_or(Value::Null, IntermediateData::to_value);
        let answer = turn.final_response.as_ref().map_or(Value::Null, Content::to_value);
        Value::Array(vec![data, answer])
    };
    let turns = case.conversation.iter().map(of_turn);
    turns.chain([Value::Object(case.final_session_state.clone())]).collect()
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
    use eval_format::{FunctionCall, FunctionResponse};
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
    fn what_a_rule_lets_vary_keeps_no_run_from_becoming_the_golden() {
        let rules = json!({ "1": { "calls": { "f": { "city": "any" } } } });
        let case = EvalCase::new("c").turn(turn("Oslo", "Rain."));
        let ruled = case.clone().with_extra(EvalCase::EXPECT_KEY, Value::from(rules));
        let runs = |answer: &str| [vec![turn("Rome", "Sun.")], vec![turn("Lima", answer)]];
        assert!(can_be_golden(&ruled, &runs("Sun.")) && !can_be_golden(&case, &runs("Sun.")));
        assert!(!can_be_golden(&ruled, &runs("Snow.")), "no rule lets answers vary");
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
