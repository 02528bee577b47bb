//! Judged metrics with scripted replies, beside what google-adk 2.13.0 makes of the same replies.
//!
//! The cases stand in `tests/vectors/judged/`: `adk` is google-adk's answer, and `here` this project's where the two
//! differ by intention, with the name of the `difference`. `tests/adk/judged.py` asks google-adk again.

use std::collections::BTreeMap;
use std::sync::Mutex;

use eval_format::{EvalCase, EvalConfig, EvalSet, Map, Value};

use super::super::testing::ready;
use super::super::{Metric, MetricInput, Scores, built_in};
use crate::agent::BoxError;
use crate::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};

/// What is different by intention, each with the number of cases that show it.
const DIFFERENCES: &[(&str, usize)] = &[
    // google-adk takes the mean of the sentences that were judged, whatever their number.
    ("labels that are none", 1),
    ("sentences added", 2),
    ("sentences left out", 3),
    // A call that fails and a reply that cannot be read cost a text or a sample there, and nobody is told.
    ("texts left out", 2),
    ("verdicts that cannot be read", 3),
    // There it ends the metric; here more samples must fail than answer.
    ("samples that fail", 1),
    // The first one there, which may be a quotation.
    ("the last verdict counts", 1),
    // There thoughts are part of the answer.
    ("thoughts judged", 1),
];

/// Replies in order. What is asked again gets the same reply again.
struct Script {
    replies: Vec<Value>,
    given: Mutex<usize>,
}

impl Judge for Script {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let mut given = self.given.lock().unwrap();
        if !request.prompt.contains("An earlier answer to this could not be used") {
            *given += 1;
        }
        match &self.replies[*given - 1] {
            Value::String(text) => Ok(JudgeReply::new(text)),
            Value::Null => Ok(JudgeReply::default()),
            error => Err(JudgeError::new(JudgeErrorKind::Failed, error.to_string())),
        }
    }
}

#[test]
fn scripted_judges_give_the_scores_of_adk() {
    let mut differences: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let files = [
        include_str!("../../../../tests/vectors/judged/hallucinations.json"),
        include_str!("../../../../tests/vectors/judged/simulated_user.json"),
    ];
    let cases: Vec<Value> =
        files.iter().flat_map(|file| Value::parse(file).unwrap().as_array().unwrap().to_vec()).collect();
    for case in &cases {
        let seen = outcome(&run(case));
        let difference = case["difference"].as_str();
        if let Some(name) = difference {
            *differences.entry(name).or_default() += 1;
        }
        let expected = &case[if difference.is_some() { "here" } else { "adk" }];
        if seen != shape(expected) || (difference.is_some() && seen == shape(&case["adk"])) {
            wrong.push(format!("{}: {} here, {expected} expected", case["id"], Value::from(seen)));
        }
    }
    println!("{} scripted cases, of them different by intention: {differences:?}", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(differences.into_iter().collect::<Vec<_>>(), sorted(DIFFERENCES));
}

fn sorted<'a>(differences: &[(&'a str, usize)]) -> Vec<(&'a str, usize)> {
    let mut differences = differences.to_vec();
    differences.sort_unstable();
    differences
}

fn run(vector: &Value) -> Result<Scores, BoxError> {
    let metric = vector["metric"].as_str().unwrap();
    let actual = turns(&vector["actual_invocations"]);
    let mut case = EvalCase { conversation: turns(&vector["expected_invocations"]), ..EvalCase::new("c") };
    if !vector["conversation_scenario"].is_null() {
        let scenario = Map::from([("conversation_scenario", vector["conversation_scenario"].clone())]);
        case = only_case(scenario);
    }
    let criteria = Map::from([(metric, vector["criterion"].clone())]);
    let config =
        EvalConfig::parse(&Value::from(Map::from([("criteria", Value::from(criteria))])).to_string())
            .unwrap();
    let judge = Script { replies: vector["replies"].as_array().unwrap().to_vec(), given: Mutex::new(0) };
    let input = MetricInput {
        case: &case,
        actual: &actual,
        expected: &case.conversation,
        state: &Map::new(),
        criterion: config.criterion(metric).unwrap(),
        judge: &judge.boxed(),
    };
    ready(built_in(metric).unwrap().score(input))
}

fn turns(invocations: &Value) -> Vec<eval_format::Invocation> {
    if invocations.is_null() {
        return Vec::new();
    }
    only_case(Map::from([("conversation", invocations.clone())])).conversation
}

/// A case of these fields, by way of the reader.
fn only_case(fields: Map) -> EvalCase {
    let mut case = Map::from([("eval_id", Value::from("c"))]);
    case.extend(fields.iter().map(|(key, value)| (key, value.clone())));
    let set =
        Map::from([("eval_set_id", Value::from("s")), ("eval_cases", Value::from(vec![Value::from(case)]))]);
    EvalSet::parse(&Value::from(set).to_string()).unwrap().eval_cases.remove(0)
}

/// What came out, in the form of the vectors.
fn outcome(scores: &Result<Scores, BoxError>) -> Map {
    let number = |number: Option<f64>| number.map_or(Value::Null, Value::from);
    match scores {
        Ok(scores) => Map::from([
            (
                "scores",
                Value::from(scores.scores().iter().map(|score| number(score.value())).collect::<Vec<_>>()),
            ),
            ("overall_score", number(scores.overall())),
        ]),
        Err(_) => Map::from([("error", true)]),
    }
}

/// The same of a stored answer; of an error only that it is one.
fn shape(stored: &Value) -> Map {
    let stored = stored.as_object().unwrap();
    if stored.contains_key("error") { Map::from([("error", true)]) } else { stored.clone() }
}
