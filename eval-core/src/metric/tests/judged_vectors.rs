//! Judged metrics against google-adk's own scores, with a judge that replies from a script.
//!
//! `tests/adk/judged_cases.py` has the cases, `tests/adk/judged.py` asks google-adk and writes the files read here.

use std::collections::BTreeMap;
use std::sync::Mutex;

use eval_format::config::check_config;
use eval_format::{EvalCase, EvalConfig, Invocation, Map, Value};

use super::judged::asking;
use crate::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::metric::{Score, Scores, built_in};

/// The metrics with their cases and how many there are at least.
const FILES: &[(&str, &str, usize)] = &[
    (
        "final_response_match_v2",
        include_str!("../../../tests/vectors/judged/final_response_match_v2.json"),
        40,
    ),
    (
        "rubric_based_final_response_quality_v1",
        include_str!("../../../tests/vectors/judged/rubric_based_final_response_quality_v1.json"),
        40,
    ),
    (
        "rubric_based_tool_use_quality_v1",
        include_str!("../../../tests/vectors/judged/rubric_based_tool_use_quality_v1.json"),
        6,
    ),
    (
        "rubric_based_multi_turn_trajectory_quality_v1",
        include_str!("../../../tests/vectors/judged/rubric_based_multi_turn_trajectory_quality_v1.json"),
        9,
    ),
    ("hallucinations_v1", include_str!("../../../tests/vectors/judged/hallucinations_v1.json"), 40),
    (
        "per_turn_user_simulator_quality_v1",
        include_str!("../../../tests/vectors/judged/per_turn_user_simulator_quality_v1.json"),
        35,
    ),
    (
        "response_evaluation_score",
        include_str!("../../../tests/vectors/judged/response_evaluation_score.json"),
        17,
    ),
    (
        "multi_turn_task_success_v1",
        include_str!("../../../tests/vectors/judged/multi_turn_task_success_v1.json"),
        10,
    ),
    (
        "multi_turn_trajectory_quality_v1",
        include_str!("../../../tests/vectors/judged/multi_turn_trajectory_quality_v1.json"),
        10,
    ),
    (
        "multi_turn_tool_use_quality_v1",
        include_str!("../../../tests/vectors/judged/multi_turn_tool_use_quality_v1.json"),
        10,
    ),
];

#[test]
fn scripted_judges_give_the_scores_of_adk() {
    let mut wrong = Vec::new();
    let mut meant: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (metric, text, least) in FILES {
        let cases = Value::parse(text).expect("the file is JSON");
        let cases = cases.as_array().expect("a list of cases");
        assert!(cases.len() >= *least, "{metric}: {} cases", cases.len());
        let before = meant.values().map(Vec::len).sum::<usize>();
        for case in cases {
            let name = format!("{metric}: {}", case["name"].as_str().unwrap_or("(no name)"));
            match compare(metric, case) {
                Ok(None) => {}
                Ok(Some(difference)) => meant.entry(difference).or_default().push(name),
                Err(difference) => wrong.push(format!("{name}: {difference}")),
            }
        }
        let differ = meant.values().map(Vec::len).sum::<usize>() - before;
        eprintln!("{metric}: {} cases, {differ} of them differ and are meant to", cases.len());
    }
    for (difference, cases) in &meant {
        eprintln!("{difference}\n  {}", cases.join("\n  "));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// The jobs of `tests/adk/judged_replies.py`, if the variable names a file of them.
#[test]
fn random_replies_pass_nothing_that_adk_fails() {
    let Some(path) = std::env::var_os("EVALSET_ADK_JOBS") else { return };
    let text = std::fs::read_to_string(path).expect("the jobs");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in text.lines() {
        let job = Value::parse(line).expect("a job is JSON");
        let (case, adk) = (&job["input"], &job["answer"]);
        let metric = case["metric"].as_str().expect("the name of the metric");
        let here = score(metric, case);
        match difference(case, &here, adk) {
            Ok(kind) => *kinds.entry(format!("{metric}: {kind}")).or_default() += 1,
            Err(difference) => wrong.push(format!(
                "{metric}: {difference}: here {here}, in google-adk {adk}, of {}",
                case["replies"]
            )),
        }
    }
    for (kind, cases) in &kinds {
        eprintln!("{cases:>5} {kind}");
    }
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), text.lines().count(), wrong.join("\n"));
}

/// The difference of a case from ADK, as `docs/differences.md` explains it; an error is any other one.
fn difference(case: &Value, here: &Value, adk: &Value) -> Result<&'static str, &'static str> {
    let threshold = case["criterion"]["threshold"].as_f64().expect("a threshold");
    let scores = |of: &Value| -> Vec<Option<f64>> {
        of["turns"].as_array().unwrap_or_default().iter().map(Value::as_f64).collect()
    };
    let (own, other) = (scores(here), scores(adk));
    let mean = |scores: &[Option<f64>]| {
        let known: Vec<f64> = scores.iter().copied().flatten().collect();
        crate::score::mean::exact(&known)
    };
    let passes = |mean: Option<f64>| mean.is_some_and(|mean| mean >= threshold);
    let passes_here = !own.contains(&None) && passes(mean(&own));
    let passes_there = passes(mean(&other));
    if passes_here && !passes_there {
        return Err("it passes here alone");
    }
    let mut kind = match (passes_here, own.is_empty()) {
        (true, _) => "the same, and it passes",
        (false, false) => "the same",
        (false, true) => "an error",
    };
    for (own, other) in own.iter().zip(&other) {
        kind = match (own, other) {
            _ if own == other => continue,
            (None, _) => "not evaluated: a reply has no verdict that counts",
            (Some(own), None) if *own <= 0.0 => "a plain no that google-adk does not read",
            (Some(own), Some(other)) if own < other => "a lower score: a yes of google-adk does not count",
            _ => return Err("a difference that nothing explains"),
        };
    }
    Ok(kind)
}

/// The difference from ADK that a case names; an error is an unintended one.
fn compare(metric: &str, case: &Value) -> Result<Option<String>, String> {
    let here = score(metric, case);
    let same = |expected: &Value| agrees(&here, expected);
    let (adk, difference) = (&case["adk"], case["difference"].as_str());
    match difference {
        None if same(adk) => Ok(None),
        None => Err(format!("here {here}, in google-adk {adk}")),
        Some(_) if !same(&case["here"]) => Err(format!("here {here}, expected {}", case["here"])),
        Some(named) if same(adk) => Err(format!("scores as google-adk does: {adk}; expected: {named}")),
        Some(named) => Ok(Some(named.to_owned())),
    }
}

/// Whether a result is the expected one: the beginning of an error, or all of the scores that are told, to the bit.
fn agrees(here: &Value, expected: &Value) -> bool {
    match (here["error"].as_str(), expected["error"].as_str()) {
        (Some(here), Some(expected)) => here.contains(expected),
        (None, None) => {
            let told = expected.as_object().into_iter().flat_map(Map::iter);
            told.fold(true, |same, (key, value)| same && here[key] == *value)
        }
        _ => false,
    }
}

/// The metric's result for a case, in the form in which google-adk's answer is stored.
fn score(metric: &str, case: &Value) -> Value {
    let config = Map::from([("criteria", Map::from([(metric, case["criterion"].clone())]))]);
    let config = check_config("the case", Value::from(config).to_string().as_bytes(), &[]);
    let config: EvalConfig = config.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    let criterion = config.criterion(metric).expect("the criterion");
    let [actual, expected] = ["actual", "expected"].map(|key| turns(&case[key]));
    let judge = Script { replies: case["replies"].clone(), questions: Mutex::default() }.boxed();
    let metric = built_in(metric).expect("a built-in metric");
    match asking(&metric, &scenario_of(case), &expected, &actual, criterion, &judge) {
        Ok(scores) => stored(&scores, actual.len()),
        Err(error) => Map::from([("error", error.to_string())]).into(),
    }
}

/// The eval case: of it, metrics read only the scenario.
fn scenario_of(case: &Value) -> EvalCase {
    if case["scenario"].is_null() {
        return EvalCase::new("c");
    }
    let case =
        Map::from([("eval_id", Value::from("c")), ("conversation_scenario", case["scenario"].clone())]);
    EvalCase::parse(&Value::from(case).to_string()).unwrap_or_else(|error| panic!("{error}"))
}

fn turns(turns: &Value) -> Vec<Invocation> {
    let turns = turns.as_array().unwrap_or_default().iter();
    turns.map(|turn| Invocation::parse(&turn.to_string()).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// The scores as ADK has them: a score of the whole run is at its last turn.
fn stored(scores: &Scores, turns: usize) -> Value {
    let before = if scores.is_whole_run() { turns - 1 } else { 0 };
    let of_turns = |of: fn(&Score) -> Value| {
        let values = std::iter::repeat_n(Value::Null, before).chain(scores.scores().iter().map(of));
        values.collect::<Vec<Value>>()
    };
    let number = |number: Option<f64>| number.map_or(Value::Null, Value::from);
    Value::from(Map::from([
        ("turns", Value::from(of_turns(|score| score.value().map_or(Value::Null, Value::from)))),
        ("overall", number(scores.overall())),
        ("rubrics", Value::from(of_turns(rubrics))),
    ]))
}

fn rubrics(score: &Score) -> Value {
    let found = score.rubrics().iter();
    let by_id: Map =
        found.map(|found| (found.rubric_id.as_str(), found.score.map_or(Value::Null, Value::from))).collect();
    if by_id.is_empty() { Value::Null } else { Value::from(by_id) }
}

/// Replies by question and sample. What begins like a known question is that question, asked again.
struct Script {
    replies: Value,
    questions: Mutex<Vec<String>>,
}

impl Judge for Script {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let mut questions = self.questions.lock().expect("no other question panicked");
        let known = questions.iter().position(|question| request.prompt.starts_with(question.as_str()));
        let at = known.unwrap_or_else(|| {
            questions.push(request.prompt.clone());
            questions.len() - 1
        });
        let replies = self.replies[at].as_array().expect("replies to this question");
        match &replies[request.sample as usize] {
            Value::Object(error) => {
                let message = error.get("error").and_then(Value::as_str).expect("the text of an error");
                Err(JudgeError::new(JudgeErrorKind::Failed, message))
            }
            // A response without content is an empty one here.
            reply => Ok(JudgeReply::new(reply.as_str().unwrap_or_default())),
        }
    }

    fn is_offline(&self) -> bool {
        true
    }
}
