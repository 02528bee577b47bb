//! Fixtures with what agentevals 0.11.0 makes of them, in the folder that `EVALSET_TRACES` names.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use eval_agents::traces::{GapKind, Traces, Turn};
use serde_json::{Value, json};

/// The fixtures, and what agentevals makes of each.
pub(crate) fn fixtures() -> Vec<(PathBuf, Value)> {
    let Some(folder) = std::env::var_os("EVALSET_TRACES").map(PathBuf::from) else { return Vec::new() };
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("EVALSET_TRACES names a folder")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let with_expected = files.into_iter().filter_map(|path| {
        let stem = path.file_stem()?.to_str()?;
        let expected = folder.join("expected").join(format!("{stem}.expected.json"));
        let expected = serde_json::from_str(&fs::read_to_string(expected).ok()?).ok()?;
        Some((path, expected))
    });
    with_expected.collect()
}

/// Says it also where the output of a passing test is captured.
pub(crate) fn say_skipped(what: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{what}: skipped, EVALSET_TRACES names no folder");
}

/// A turn in the words of agentevals. `warnings` is left to the tests of gaps.
fn shown(turn: &Turn) -> Value {
    let invocation = turn.to_invocation();
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .map(|call| json!({ "name": call.name, "id": call.id, "args": call.args, "result": call.result }))
        .collect();
    json!({
        "anchor_span": turn.span_id,
        "agent_name": turn.agent,
        "agents": turn.agents,
        "error_type": turn.error,
        "usage": {
            "input_tokens": turn.usage.input_tokens,
            "output_tokens": turn.usage.output_tokens,
            "cache_read_input_tokens": turn.usage.cache_read_tokens,
            "cache_write_input_tokens": turn.usage.cache_write_tokens,
            "reasoning_output_tokens": turn.usage.reasoning_tokens,
        },
        "llm_calls": turn.model_calls.len(),
        "tool_calls": calls,
        "user": turn.user.clone().unwrap_or_default(),
        "final": turn.answer,
        "intermediate": turn.intermediate,
        "timestamp": invocation.creation_timestamp,
    })
}

fn expected(turn: &Value) -> Value {
    let calls: Vec<Value> = turn["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!({ "name": call["name"], "id": call["id"], "args": call["args"], "result": call["result"] }))
        .collect();
    let invocation = &turn["adk_invocation"];
    let said = invocation["intermediate_data"]["intermediate_responses"].as_array().unwrap();
    json!({
        "anchor_span": turn["anchor_span"],
        "agent_name": turn["agent_name"],
        "agents": turn["agents"],
        "error_type": turn["error_type"],
        "usage": turn["usage"],
        "llm_calls": turn["llm_calls"].as_array().unwrap().len(),
        "tool_calls": calls,
        "user": invocation["user_content"]["parts"][0]["text"],
        "final": invocation["final_response"]["parts"][0]["text"],
        "intermediate": said.iter().map(|it| it[1][0]["text"].clone()).collect::<Vec<_>>(),
        "timestamp": invocation["creation_timestamp"],
    })
}

fn conversations(traces: &Traces) -> Value {
    let all = traces.conversations().iter().map(|it| {
        json!({ "key": it.key, "trace_ids": it.trace_ids, "turns": it.turns.iter().map(shown).collect::<Vec<_>>() })
    });
    all.collect()
}

/// The findings beyond agentevals, with their values.
fn corrected(file: &str, all: &mut Value) {
    match file {
        // The tool calls of OpenAI's messages are read, so that the second model call continues the first turn.
        "03_openai_content_tool_calls" => {
            let turns = all[0]["turns"].as_array_mut().unwrap();
            let second = turns.pop().unwrap();
            let first = &mut turns[0];
            first["final"] = second["final"].clone();
            first["llm_calls"] = json!(2);
            first["tool_calls"] =
                json!([{ "name": "add", "id": "c1", "args": { "a": 2, "b": 3 }, "result": 5 }]);
        }
        // A message that is JSON in a string is read.
        "04_legacy_span_events" => all[0]["turns"][0]["final"] = json!("hi there"),
        _ => {}
    }
}

#[test]
fn fixtures_have_the_turns_that_agentevals_finds() {
    let fixtures = fixtures();
    if fixtures.is_empty() {
        return say_skipped("fixtures of traces");
    }
    for (path, found) in &fixtures {
        let traces = Traces::read(path).unwrap_or_else(|error| panic!("{error}"));
        let turns = |it: &Value| it["turns"].as_array().unwrap().iter().map(expected).collect::<Vec<_>>();
        let mut wanted: Value = found["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| json!({ "key": it["key"], "trace_ids": it["trace_ids"], "turns": turns(it) }))
            .collect();
        corrected(path.file_stem().unwrap().to_str().unwrap(), &mut wanted);
        let read = conversations(&traces);
        assert_eq!(
            serde_json::to_string_pretty(&read).unwrap(),
            serde_json::to_string_pretty(&wanted).unwrap(),
            "{}",
            path.display()
        );
        assert_eq!(traces.gaps(), [], "{}", path.display());
    }
    assert!(fixtures.len() >= 17, "{}", fixtures.len());
}

#[test]
fn only_the_fixture_without_content_loses_something() {
    for (path, _) in fixtures() {
        let traces = Traces::read(&path).unwrap();
        let kinds: Vec<GapKind> = traces
            .conversations()
            .iter()
            .flat_map(|it| {
                it.all_gaps().map(|(_, gap)| gap.kind).filter(|kind| kind.loses()).collect::<Vec<_>>()
            })
            .collect();
        let wanted: &[GapKind] = match Path::file_stem(&path).unwrap().to_str().unwrap() {
            "20_content_not_captured" => {
                &[GapKind::UserNotCaptured, GapKind::AnswerNotCaptured, GapKind::ArgumentsNotCaptured]
            }
            _ => &[],
        };
        assert_eq!(kinds, wanted, "{}", path.display());
    }
}
