//! The JSON Schemas that `cargo evalset schema` prints, held against the reader.

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use eval_format::Problem;
use eval_format::config::check_config;
use eval_format::conventions::FileKind;
use eval_format::reader::check_set;
use serde_json::{Value, json};

use crate::folder::Folder;

/// A schema that the command printed.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
    kind: FileKind,
}

impl Schema {
    fn of(kind: FileKind) -> Self {
        let name = match kind {
            FileKind::Config => "config",
            FileKind::Recording => "recording",
            FileKind::Session => "session",
            _ => "set",
        };
        let ran = Folder::new(&format!("json-schema-{name}")).run(&["schema", name]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        Self { kind, ..Self::compiled(serde_json::from_str(&ran.out).expect("JSON")) }
    }

    fn compiled(schema: Value) -> Self {
        let mut compiler = Compiler::new();
        compiler.add_resource("schema.json", schema).expect("a schema");
        let mut schemas = Schemas::new();
        let index = compiler.compile("schema.json", &mut schemas).expect("a sound schema");
        Self { schemas, index, kind: FileKind::Set }
    }

    fn fault(&self, document: &Value) -> Option<String> {
        self.schemas.validate(document, self.index).err().map(|error| error.to_string())
    }

    /// The errors that the reader finds.
    fn errors(&self, text: &str) -> Vec<String> {
        let problems = match self.kind {
            FileKind::Config => check_config("test_config.json", text.as_bytes(), &["mine"]).problems,
            _ => check_set("a.evalset.json", text.as_bytes(), None).problems,
        };
        problems.into_iter().filter(Problem::is_error).map(|problem| problem.message).collect()
    }

    /// What the reader accepts has to be valid. Returns whether it is.
    fn holds(&self, text: &str, name: &str) -> bool {
        let Ok(document) = serde_json::from_str::<Value>(text) else { return false };
        let fault = self.fault(&document);
        if let Some(fault) = &fault {
            assert!(
                !self.errors(text).is_empty(),
                "{name}: the reader accepts it, and the schema does not: {fault}\n{text}"
            );
        }
        fault.is_none()
    }
}

/// All files in a folder that a name tells the kind of.
fn files(folder: &Path, kind: FileKind, found: &mut Vec<(String, String)>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries {
        let name = path.display().to_string();
        if path.is_dir() {
            files(&path, kind, found);
        } else if FileKind::from_name(&name) == Some(kind)
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.push((name, text));
        }
    }
}

#[test]
fn what_the_reader_accepts_is_valid_by_the_schema() {
    let samples = crate::folder::samples();
    let corpus = std::env::var_os("EVALSET_CORPUS").map(Into::into);
    for kind in [FileKind::Set, FileKind::Config] {
        let schema = Schema::of(kind);
        let mut found = Vec::new();
        for folder in [Some(samples.clone()), corpus.clone()].into_iter().flatten() {
            files(&folder, kind, &mut found);
        }
        let valid = found.iter().filter(|(name, text)| schema.holds(text, name)).count();
        assert!(valid >= 3, "{kind:?}: {valid} of {}", found.len());
    }
}

/// A set that is sound, of one turn.
fn sound_set() -> Value {
    let turn = json!({
        "user_content": { "parts": [{ "text": "Hi" }] },
        "intermediate_data": { "tool_uses": [{ "name": "f", "args": {} }] },
    });
    let case = json!({ "eval_id": "c", "conversation": [turn] });
    json!({ "$schema": "./evalset.schema.json", "eval_set_id": "s", "eval_cases": [case] })
}

/// Holds the reader and the schema to one answer, on a sound set with this value of a key.
fn hold(schema: &Schema, pointer: &str, key: &str, value: &Value, is_valid: bool) {
    let mut document = sound_set();
    document.pointer_mut(pointer).expect("a place")[key] = value.clone();
    let text = document.to_string();
    assert_eq!(schema.errors(&text).is_empty(), is_valid, "the reader on {pointer} {key}: {value}");
    assert_eq!(schema.fault(&document).is_none(), is_valid, "the schema on {pointer} {key}: {value}");
}

#[test]
fn a_key_or_a_value_that_the_reader_refuses_is_marked_in_the_editor() {
    let schema = Schema::of(FileKind::Set);
    let at = "/eval_cases/0/conversation/0";
    for (pointer, key, value, is_valid) in [
        ("", "_note", json!("a comment"), true),
        ("", "creationTimestamp", json!(1.5), true),
        ("", "creation_timestamp", json!("1.5"), true),
        ("", "creation_timestamp", json!("yesterday"), false),
        ("", "eval_cases", json!([]), false),
        ("", "eval_set_id", json!(7), false),
        ("/eval_cases/0", "rubrics", json!(null), true),
        ("/eval_cases/0", "eval_id", json!(null), false),
        ("/eval_cases/0", "final_session_state", json!([]), false),
        ("/eval_cases/0", "session_input", json!({ "app_name": "a" }), false),
        ("/eval_cases/0", "session_input", json!({ "appName": "a", "user_id": "u" }), true),
        ("/eval_cases/0", "_expect", json!(null), true),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "calls": { "f": "any" }, "order": "any", "others": ["g"] } }),
            true,
        ),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "calls": { "f": { "x": { "optional": { "one_of": [1] } } } } } }),
            true,
        ),
        ("/eval_cases/0", "_expect", json!({ "1": { "optional": ["f"], "repeat": { "f": 2 } } }), true),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "answer": { "number": [1, { "is": 2, "within": "1%" }], "max_words": 9 } } }),
            true,
        ),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "answer": { "json": { "a": { "equals": null }, "b": "date" } } } }),
            true,
        ),
        ("/eval_cases/0", "_expect", json!({ "one": {} }), false),
        ("/eval_cases/0", "_expect", json!({ "1": { "call": {} } }), false),
        ("/eval_cases/0", "_expect", json!({ "1": { "order": "free" } }), false),
        ("/eval_cases/0", "_expect", json!({ "1": { "repeat": { "f": 0 } } }), false),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "calls": { "f": { "x": { "optional": "dat" } } } } }),
            false,
        ),
        (
            "/eval_cases/0",
            "_expect",
            json!({ "1": { "calls": { "f": { "x": { "optional": {} } } } } }),
            false,
        ),
        ("/eval_cases/0", "_expect", json!({ "1": { "answer": { "contain": "x" } } }), false),
        ("/eval_cases/0", "_expect", json!({ "1": { "answer": { "contains": [] } } }), false),
        ("/eval_cases/0", "_criteria", json!({ "response_match_score": null, "mine": 0.5 }), true),
        ("/eval_cases/0", "_criteria", json!({}), false),
        ("/eval_cases/0", "_criteria", json!({ "response_match_score": "low" }), false),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": { "raises": "down" } } }), true),
        (
            "/eval_cases/0",
            "_tools",
            json!({ "1": { "f#1": "never", "f#2": { "after": 2.5, "state": { "k": 1 } } } }),
            true,
        ),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": { "error": { "error_code": 503 } } } }), true),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": { "response": null } } }), true),
        ("/eval_cases/0", "_tools", json!({ "1": { "f": "never" } }), false),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": "always" } }), false),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": { "after": -1 } } }), false),
        ("/eval_cases/0", "_tools", json!({ "1": { "f#1": { "fails": "down" } } }), false),
        ("/eval_cases/0", "_tools", json!({ "one": { "f#1": "never" } }), false),
        ("/eval_cases/0", "_tools", json!([]), false),
        (at, "final_response", json!({ "parts": [{ "text": "Hi" }] }), true),
        (at, "finalResponse", json!({ "parts": [{ "txt": "Hi" }] }), false),
        (at, "final_respons", json!({}), false),
        (at, "_note", json!("no comment here"), false),
        (at, "intermediate_data", json!({ "invocation_events": [{ "author": "a" }] }), true),
        (at, "intermediate_data", json!({ "intermediate_responses": [["a", [{ "text": "x" }]]] }), true),
        (at, "intermediate_data", json!({ "intermediate_responses": [["a"]] }), false),
        (at, "intermediate_data", json!({ "tool_uses": [{ "tool_name": "f" }] }), false),
    ] {
        hold(&schema, pointer, key, &value, is_valid);
    }
}

#[test]
fn a_rule_of_cases_is_marked_in_the_editor() {
    let schema = Schema::of(FileKind::Set);
    for (key, value, is_valid) in [
        ("conversation", json!([]), false),
        ("conversation", json!(null), false),
        ("conversation_scenario", json!({ "starting_prompt": "Hi", "conversation_plan": "-" }), false),
        ("conversationScenario", json!(null), true),
        ("expected", json!("sunny"), false),
        ("_match", json!({}), false),
        ("expectations", json!("a warning"), true),
        ("owner", json!("kept"), true),
        ("tags", json!(["smoke", "two words"]), true),
        ("tags", json!(null), true),
        ("tags", json!([""]), false),
        ("tags", json!([" smoke"]), false),
        ("tags", json!("smoke"), false),
    ] {
        hold(&schema, "/eval_cases/0", key, &value, is_valid);
    }
}

/// A set with many keys.
const SOUND: &str = r#"{"eval_set_id": "s", "name": "n", "eval_cases": [{"eval_id": "c",
    "session_input": {"app_name": "a", "user_id": "u", "state": {}},
    "conversation": [{"invocation_id": "i", "user_content": {"role": "user", "parts": [{"text": "Hi"}]},
        "final_response": {"parts": [{"text": "Hello"}]}, "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "x"}}],
        "intermediate_data": {"tool_uses": [{"id": "1", "name": "f", "args": {}}]}}]}]}"#;

/// Mistakes in the text of a sound set. Each is an error of the reader, and marked in the editor.
#[test]
fn a_mistake_in_a_set_is_refused_by_the_reader_and_by_the_schema() {
    let schema = Schema::of(FileKind::Set);
    let both = |text: &str| {
        let document = serde_json::from_str(text).expect("JSON");
        [!schema.errors(text).is_empty(), schema.fault(&document).is_some()]
    };
    assert_eq!(both(SOUND), [false, false]);
    for (from, to) in [
        ("eval_set_id", "eval_set_ids"),
        ("eval_cases", "eval_case"),
        ("eval_id", "evel_id"),
        ("conversation", "converstion"),
        ("user_content", "user_contents"),
        ("final_response", "final_responses"),
        ("intermediate_data", "intermediate_date"),
        ("tool_uses", "tool_use"),
        ("\"args\"", "\"arg\""),
        ("\"parts\": [{\"text\": \"Hi\"}]", "\"parts\": {\"text\": \"Hi\"}"),
        ("\"text\": \"Hi\"", "\"text\": 3"),
        ("app_name", "app_nam"),
        ("user_id", "user"),
        ("rubric_id", "rubric"),
        ("text_property", "text"),
        ("\"state\": {}", "\"state\": \"C\""),
        ("\"args\": {}", "\"args\": []"),
    ] {
        let wrong = SOUND.replacen(from, to, 1);
        assert_ne!(wrong, SOUND, "{from}");
        assert_eq!(both(&wrong), [true, true], "{from}: {to}");
    }
}

#[test]
fn a_mistake_in_a_config_is_refused_by_the_reader_and_by_the_schema() {
    let schema = Schema::of(FileKind::Config);
    let judged = |options: Value| json!({ "criteria": { "final_response_match_v2": { "threshold": 0.5, "judge_model_options": options } } });
    let simulated = |options: Value| json!({ "criteria": { "response_match_score": 0.5 }, "user_simulator_config": options });
    let weighted = |weights: Value| {
        json!({ "criteria": { "rubric_based_tool_use_quality_v1": { "threshold": 0.5, "weights": weights,
            "rubrics": [{ "rubric_id": "r", "rubric_content": { "text_property": "x" } }] } } })
    };
    for (document, is_valid) in [
        (judged(json!({ "num_samples": 5, "parallelism_limit": 2 })), true),
        (judged(json!({ "num_samples": "5" })), true),
        (judged(json!({ "num_samples": 0 })), false),
        (judged(json!({ "num_samples": 1001 })), false),
        (judged(json!({ "parallelism_limit": -1 })), false),
        (judged(json!({ "judge_model": " " })), false),
        (judged(json!({ "samples": 5 })), false),
        (simulated(json!({ "type": "llm_backed", "model": "m", "max_allowed_invocations": -1 })), true),
        (simulated(json!({ "type": null, "max_allowed_invocations": 2 })), true),
        (simulated(json!({ "type": "llm_audio" })), false),
        (simulated(json!({ "model": "" })), false),
        (simulated(json!({ "max_allowed_invocations": 1 })), false),
        (simulated(json!({ "max_allowed_invocations": 0 })), false),
        (weighted(json!({ "r": 2.5 })), true),
        (weighted(json!({ "r": -1 })), false),
        (weighted(json!({ "r": "1" })), false),
        (json!({ "criterias": { "response_match_score": 0.5 } }), false),
        (json!({ "criteria": { "response_match_score": 0.5 }, "live_model_config": null }), true),
        (json!({ "criteria": { "response_match_score": 0.5 }, "live_model_config": {} }), false),
        // ADK takes any threshold, so a number out of range is a warning.
        (json!({ "criteria": { "response_match_score": 80 } }), true),
        (json!({ "criteria": { "response_match_score": [] } }), false),
    ] {
        let text = document.to_string();
        let errors = schema.errors(&text);
        assert_eq!(errors.is_empty(), is_valid, "the reader on {text}: {errors:?}");
        assert_eq!(schema.fault(&document).is_none(), is_valid, "the schema on {text}");
    }
}

#[test]
fn a_criterion_is_marked_by_the_keys_of_its_metric() {
    let schema = Schema::of(FileKind::Config);
    for (criteria, is_valid) in [
        (json!({ "response_match_score": 0.8 }), true),
        (json!({ "response_match_score": { "threshold": 0.8, "_note": "a comment" } }), true),
        (json!({ "response_match_score": { "threshold": 0.8, "match_type": "EXACT" } }), false),
        (json!({ "response_match_score": { "threshold": "high" } }), false),
        (json!({ "tool_trajectory_avg_score": { "threshold": 1.0, "matchType": 1 } }), true),
        (json!({ "tool_trajectory_avg_score": { "threshold": 1.0, "match_type": "in order" } }), true),
        (json!({ "tool_trajectory_avg_score": { "threshold": 1.0, "match_type": "SOMEHOW" } }), false),
        (json!({ "mine": { "threshold": 1.0, "anything": [] } }), true),
        (json!({}), false),
    ] {
        let document = json!({ "criteria": criteria });
        let text = document.to_string();
        assert_eq!(
            schema.errors(&text).is_empty(),
            is_valid,
            "the reader on {text}: {:?}",
            schema.errors(&text)
        );
        assert_eq!(schema.fault(&document).is_none(), is_valid, "the schema on {text}");
    }
}

#[test]
fn the_page_has_each_key_with_what_the_schema_says_of_it() {
    // The package of the crate is without the pages of the project.
    let Ok(page) = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/eval-set.md"))
    else {
        return;
    };
    let mut rows = 0;
    for kind in ["set", "config", "session"] {
        let ran = Folder::new(&format!("json-schema-page-{kind}")).run(&["schema", kind]);
        let schema: Value = serde_json::from_str(&ran.out).expect("JSON");
        for (name, definition) in schema["definitions"].as_object().expect("definitions") {
            // The keys of a criterion are in `docs/metrics.md`, but for the threshold.
            let is_criterion = name.starts_with("criterion");
            let options = definition["anyOf"].as_array().into_iter().flatten().chain([definition]);
            let properties = options.filter_map(|option| option["properties"].as_object());
            for (key, property) in properties.flatten() {
                let means = property["description"].as_str().filter(|_| property["doNotSuggest"].is_null());
                let Some(means) = means.filter(|_| !is_criterion || key == "threshold") else { continue };
                let begin = format!("| `{key}` | {means} | `");
                let row = page.lines().find_map(|line| line.strip_prefix(&begin));
                let row = row.unwrap_or_else(|| panic!("{name}: {key}: {means}"));
                let (example, adk) = row.split_once("` |").expect("an example");
                // ADK keeps the keys of this project in a case, and reads nothing below them.
                let is_ours = means.is_empty() || name.contains("expect");
                assert!(is_ours || adk.trim().len() > 4, "{name}: {key}: what ADK does with it");
                let example: Value = serde_json::from_str(example).expect(example);
                let mut of_key = schema.clone();
                of_key["anyOf"] = json!([property]);
                assert_eq!(Schema::compiled(of_key).fault(&example), None, "{name}: {key}: {example}");
                rows += 1;
            }
        }
    }
    assert!(rows > 100, "{rows}");
}
