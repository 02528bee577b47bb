//! Eval sets of ADK and of three tools with other keys, as sources of drafts.
//!
//! - agentevals' examples call the id `case_id` and the answer `agent_content`, and store the intermediate
//!   data as a message.
//! - adk-rs calls the id `id`, stores messages without authors, and allows any value in `session_input`.
//! - adk-eval stores messages without authors too, and the result of a call in the call: `expected_response`,
//!   mostly `null`.

use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{EvalCase, EvalSet, FunctionResponse, Map, Value};

use super::Format;
use super::error::ImportError;
use crate::draft::{Draft, Origin, answers};
use crate::wire;

/// The key of a call in which adk-eval stores its result.
const RESULT: &str = "expected_response";

pub(super) fn read(from: &str, text: &str) -> Result<Vec<Draft>, ImportError> {
    let mut cases = match EvalSet::parse(text) {
        Ok(set) => set.eval_cases,
        Err(problems) => {
            let value = wire::parse(text).map_err(|why| ImportError::unreadable(from, why))?;
            match others(from, &value)? {
                Some(cases) => cases,
                None => return Err(ImportError::case(from, "read as an eval set")(problems)),
            }
        }
    };
    for case in &mut cases {
        // An imported case is a new draft.
        case.extra.remove(EvalCase::DRAFT_KEY);
    }
    let draft = |case: EvalCase| {
        let what = format!("case `{}`", case.eval_id);
        let origin = Origin::new(from).with("format", Format::Set.name()).with("case", case.eval_id.as_str());
        let turns = case.conversation.iter().enumerate().filter(|(_, turn)| !answers(turn));
        let gaps: Vec<_> = turns.map(|(at, _)| format!("turn {} has no answer", at + 1)).collect();
        Ok(Draft::from_case(case, origin).map_err(ImportError::case(from, what))?.with_gaps(gaps))
    };
    cases.into_iter().map(draft).collect()
}

/// The cases of a set of another tool; `None` if no known tool wrote it.
fn others(from: &str, set: &Value) -> Result<Option<Vec<EvalCase>>, ImportError> {
    let cases = [&set["eval_cases"], &set["evalCases"]].into_iter().find_map(Value::as_array);
    let Some(cases) = cases else { return Ok(None) };
    let is_known = |case: &Value| {
        let turns = case["conversation"].as_array().unwrap_or_default();
        !case["case_id"].is_null()
            || !case["id"].is_null() && case["eval_id"].is_null()
            || turns.iter().any(|turn| {
                let calls = turn["intermediate_data"]["tool_uses"].as_array().unwrap_or_default();
                let mut calls = calls.iter().filter_map(Value::as_object);
                !turn["agent_content"].is_null() || calls.any(|call| call.contains_key(RESULT))
            })
    };
    if !cases.iter().any(is_known) {
        return Ok(None);
    }
    let numbered = cases.iter().enumerate().map(|(at, case)| {
        let place = format!("eval_cases[{at}]");
        let map = case.as_object().ok_or_else(|| {
            ImportError::unreadable(from, format!("`{place}` should be an object and is {}", case.kind()))
        })?;
        let text = Value::Object(rewritten(map)).to_string();
        EvalCase::parse(&text).map_err(ImportError::case(from, place))
    });
    numbered.collect::<Result<_, _>>().map(Some)
}

fn rewritten(case: &Map) -> Map {
    let mut out = Map::new();
    for (key, value) in case {
        match key {
            "case_id" | "id" => drop(out.insert("eval_id", value)),
            "conversation" => {
                let turns = value.as_array().unwrap_or_default().iter().map(turn);
                out.insert("conversation", turns.collect::<Value>());
            }
            "session_input" => drop(out.insert("session_input", session(value))),
            // The name is for readers, and ADK has no place for it.
            "name" => drop(out.insert("_name", value)),
            _ => drop(out.insert(key, value)),
        }
    }
    out
}

/// A `session_input` in ADK's form. adk-rs allows any value here.
fn session(input: &Value) -> Value {
    match input.as_object() {
        Some(map)
            if !["app_name", "appName", "user_id", "userId", "state"]
                .iter()
                .any(|key| map.contains_key(key)) =>
        {
            let mut session = Map::from([("app_name", ""), ("user_id", "")]);
            session.insert("state", map.clone());
            session.into()
        }
        Some(map) => {
            let mut session = map.clone();
            for (key, camel) in [("app_name", "appName"), ("user_id", "userId")] {
                if !session.contains_key(key) && !session.contains_key(camel) {
                    session.insert(key, "");
                }
            }
            session.into()
        }
        None => Value::Null,
    }
}

fn turn(turn: &Value) -> Value {
    let Some(map) = turn.as_object() else { return turn.clone() };
    let mut out = map.clone();
    let said = out.remove("agent_content");
    let mut between = match out.remove("intermediate_data") {
        // agentevals' examples have a message in place of the data.
        Some(Value::Object(message)) if message.contains_key("parts") => Some(of_parts(&message["parts"])),
        Some(Value::Object(data)) => Some(authored(data)),
        Some(Value::Null) | None => None,
        Some(other) => {
            out.insert("intermediate_data", other);
            return out.into();
        }
    };
    if let Some(said) = said {
        let parts = said["parts"].as_array().unwrap_or_default();
        let (texts, others): (Vec<_>, Vec<_>) = parts.iter().cloned().partition(has_text);
        if !texts.is_empty() {
            out.insert(
                "final_response",
                Map::from([("role", Value::from("model")), ("parts", texts.into())]),
            );
        }
        between = between.or_else(|| Some(of_parts(&others.into())));
    }
    if let Some(between) = between {
        out.insert("intermediate_data", between);
    }
    out.into()
}

fn has_text(part: &Value) -> bool {
    part["text"].as_str().is_some_and(|text| !text.is_empty())
}

/// The intermediate data of a turn, made of the parts of a message.
fn of_parts(parts: &Value) -> Map {
    let parts = parts.as_array().unwrap_or_default();
    let all = |snake: &str, camel: &str| -> Value {
        let found = parts.iter().flat_map(|part| [&part[snake], &part[camel]]);
        found.filter(|value| !value.is_null()).cloned().collect()
    };
    let texts: Vec<Value> = parts.iter().filter(|part| has_text(part)).cloned().collect();
    let mut data = Map::new();
    data.insert("tool_uses", all("function_call", "functionCall"));
    data.insert("tool_responses", all("function_response", "functionResponse"));
    if !texts.is_empty() {
        data.insert("intermediate_responses", [Value::from(vec![Value::from(DEFAULT_AUTHOR), texts.into()])]);
    }
    data
}

/// Intermediate data in ADK's form. Results in calls become results of their own.
fn authored(mut data: Map) -> Map {
    if let Some(Value::Array(mut calls)) = data.get("tool_uses").cloned() {
        let mut results = Vec::new();
        for call in &mut calls {
            let Value::Object(call) = call else { continue };
            let result = call.remove(RESULT).filter(|result| !result.is_null());
            let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
            let result = result.map(|result| FunctionResponse::new(name, result).response);
            results
                .extend(result.map(|it| Map::from([("name", Value::from(name)), ("response", it.into())])));
        }
        data.insert("tool_uses", calls);
        if !results.is_empty() {
            data.insert("tool_responses", results);
        }
    }
    let Some(said) = data.remove("intermediate_responses") else { return data };
    let pairs = said.as_array().unwrap_or_default().iter().map(|message| match message.as_object() {
        Some(content) => {
            let parts = content.get("parts").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
            Value::from(vec![Value::from(DEFAULT_AUTHOR), parts])
        }
        None => message.clone(),
    });
    data.insert("intermediate_responses", pairs.collect::<Value>());
    data
}
