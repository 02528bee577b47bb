use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use eval_format::reader::{SetFormat, check_set};
use eval_format::{EvalSet, Value};

use crate::folder::{Folder, samples, set};

const ODD: &str = r#"{"eval_cases": [{"conversation": [{"userContent": {"role": "user", "parts": [{"text": "Hi é 天"}]},
  "intermediateData": {"toolUses": [{"args": {"big": 12345678901234567890123, "small": 1.50e-7, "exact": 2.0},
  "name": "f"}], "toolResponses": []}, "finalResponse": null}], "evalId": "c", "owner": {"b": null, "a": 1},
  "creationTimestamp": 0}], "eval_set_id": "s", "creation_timestamp": 1747340865.7043095}"#;

#[test]
fn a_set_is_written_as_adk_saves_it() {
    let folder = Folder::new("fmt-adk");
    folder.write("odd.evalset.json", ODD);
    assert_eq!(
        folder.run(&["fmt", "odd.evalset.json"]).shown(),
        "formatted `odd.evalset.json`\n1 file: 1 formatted\n(exit code 0)"
    );
    insta::assert_snapshot!("fmt_odd", folder.read("odd.evalset.json"));
    assert_eq!(
        folder.run(&["fmt", "odd.evalset.json"]).shown(),
        "1 file: 1 already formatted\n(exit code 0)"
    );
    assert_eq!(folder.run(&["fmt", "--check", "."]).code, Some(0));
}

#[test]
fn the_line_break_at_the_end_stays_as_it_was() {
    let folder = Folder::new("fmt-end");
    folder.write("with.evalset.json", format!("{ODD}\n")).write("without.evalset.json", ODD);
    folder.run(&["fmt", "."]);
    assert!(folder.read("with.evalset.json").ends_with("}\n"));
    assert!(folder.read("without.evalset.json").ends_with('}'));
    assert_eq!(folder.read("with.evalset.json").trim_end(), folder.read("without.evalset.json"));
}

/// `cargo evalset schema` tells users to write this key, so no other command may refuse or drop it.
#[test]
fn the_schema_that_an_editor_reads_stays_in_the_file() {
    let folder = Folder::new("fmt-schema");
    let with = |text: &str| text.replacen('{', r#"{"$schema": "../evalset.schema.json","#, 1);
    folder.write("odd.evalset.json", with(ODD)).write("plain.evalset.json", ODD);
    let ran = folder.run(&["fmt", "."]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let line = "{\n  \"$schema\": \"../evalset.schema.json\",\n";
    let plain = folder.read("plain.evalset.json");
    assert_eq!(folder.read("odd.evalset.json"), plain.replacen("{\n", line, 1));
    assert_eq!(folder.run(&["fmt", "--check", "."]).code, Some(0));
    let checked = folder.run(&["check", "odd.evalset.json"]);
    assert!(!checked.out.contains("$schema"), "{}", checked.out);
    // A case of such a file can be added to another set, in which the key is lost.
    folder.write("other.evalset.json", set(""));
    let ran = folder.run(&["add-case", "other.evalset.json", "odd.evalset.json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

/// A folder with a file for each result.
fn mixed(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder
        .write("odd.evalset.json", ODD)
        .write("plain.evalset.json", EvalSet::parse(&set("")).expect("a set").to_json())
        .write("typo.evalset.json", set(",\n \"final_session_sate\": {}"))
        .write(
            "lossy.evalset.json",
            set(",\n \"owner\": NaN").replace("\"eval_cases\"", "\"_why\": 1,\n  \"eval_cases\""),
        )
        .write("old.test.json", r#"[{"query": "Hi"}]"#)
        .write("test_config.json", "{}");
    folder
}

#[test]
fn what_would_lose_something_is_left_alone_and_told() {
    let folder = mixed("fmt-lossy");
    let before = ["typo.evalset.json", "lossy.evalset.json", "old.test.json"].map(|name| folder.read(name));
    let ran = folder.run(&["fmt", "."]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!("fmt_mixed", ran.shown());
    let after = ["typo.evalset.json", "lossy.evalset.json", "old.test.json"].map(|name| folder.read(name));
    assert_eq!(before, after);
}

#[test]
fn check_writes_nothing_and_fails() {
    let folder = mixed("fmt-check");
    let ran = folder.run(&["fmt", "--check", "odd.evalset.json", "plain.evalset.json"]);
    assert_eq!(folder.read("odd.evalset.json"), ODD);
    insta::assert_snapshot!("fmt_check", ran.shown());
    assert_eq!(folder.run(&["fmt", "--check", "plain.evalset.json"]).code, Some(0));
    assert_eq!(folder.run(&["fmt", "--check", "nowhere"]).code, Some(2));
}

#[test]
fn programs_get_a_state_for_each_file() {
    let folder = mixed("fmt-json");
    let ran = folder.run(&["fmt", "--check", ".", "nowhere", "--format", "json"]);
    assert_eq!(ran.code, Some(2));
    let document = Value::parse(&ran.out).expect("it is JSON");
    let entries = document["files"].as_array().expect("a list");
    let states: Vec<_> =
        entries.iter().map(|entry| (entry["file"].as_str(), entry["state"].as_str())).collect();
    let expected = [
        (Some("lossy.evalset.json"), "kept"),
        (Some("odd.evalset.json"), "not_formatted"),
        (Some("old.test.json"), "kept"),
        (Some("plain.evalset.json"), "unchanged"),
        (Some("typo.evalset.json"), "kept"),
        (None, "unmeasurable"),
    ];
    assert_eq!(states, expected.map(|(file, state)| (file, Some(state))));
    assert_eq!(entries[0]["problems"].as_array().map(<[Value]>::len), Some(2));
}

/// Eval sets in today's form, from the folder that `EVALSET_CORPUS` names, else from the samples.
fn real_sets() -> Vec<PathBuf> {
    let folder = env::var_os("EVALSET_CORPUS").map_or_else(samples, PathBuf::from);
    let mut sets = Vec::new();
    collect(&folder, &mut sets);
    assert!(!sets.is_empty(), "no sets in {}", folder.display());
    sets.sort_unstable();
    sets
}

fn collect(folder: &Path, sets: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            collect(&entry, sets);
        } else if entry.extension().is_some_and(|it| it == "json") && is_set_of_today(&entry) {
            sets.push(entry);
        }
    }
}

fn is_set_of_today(path: &Path) -> bool {
    let checked = check_set("", &fs::read(path).expect("a file"), None);
    checked.set.is_some() && checked.form == SetFormat::EvalSet
}

#[test]
fn real_files_lose_nothing_and_are_formatted_once() {
    let folder = Folder::new("fmt-real");
    let (mut formatted, mut kept) = (0, 0);
    for path in real_sets() {
        let before = fs::read_to_string(&path).expect("text");
        folder.write("s.evalset.json", &before);
        let ran = folder.run(&["fmt", "s.evalset.json"]);
        let after = folder.read("s.evalset.json");
        if ran.code == Some(1) {
            assert_eq!(after, before, "{}", path.display());
            assert!(
                ran.out.contains("lost when the file is written") || ran.out.contains("is repeated"),
                "{}",
                ran.out
            );
            kept += 1;
            continue;
        }
        assert_eq!(ran.code, Some(0), "{}: {}", path.display(), ran.shown());
        formatted += 1;
        assert_eq!(EvalSet::parse(&after).expect("a set"), EvalSet::parse(&before).expect("a set"));
        let (said, says) = (leaves(&before), leaves(&after));
        let lost: Vec<_> = said.iter().filter(|leaf| !says.contains(leaf)).collect();
        assert!(lost.is_empty(), "{}: {lost:?}", path.display());
        folder.run(&["fmt", "s.evalset.json"]);
        assert_eq!(folder.read("s.evalset.json"), after, "{}", path.display());
    }
    assert!(formatted > 0);
    eprintln!("{formatted} sets formatted, {kept} left alone");
}

/// The texts and numbers of a document, but for those that are default values.
fn leaves(text: &str) -> Vec<String> {
    let mut leaves = Vec::new();
    collect_leaves(&Value::parse(text).expect("JSON"), &mut leaves);
    leaves.retain(|leaf| !leaf.is_empty() && leaf != "0");
    leaves
}

fn collect_leaves(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_leaves(item, leaves)),
        Value::Object(fields) => fields.iter().for_each(|(_, item)| collect_leaves(item, leaves)),
        Value::Number(number) => leaves.push(number.as_f64().to_string()),
        Value::String(text) => leaves.push(text.clone()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Compares the results with google-adk's, which the Python `EVALSET_ADK_PYTHON` runs.
#[test]
fn google_adk_saves_the_same_bytes() {
    let Some(python) = env::var_os("EVALSET_ADK_PYTHON") else { return };
    let folder = Folder::new("fmt-live");
    folder.write("odd.evalset.json", ODD);
    let mut compared = 0;
    for path in real_sets().into_iter().chain([folder.path("odd.evalset.json")]) {
        let before = fs::read_to_string(&path).expect("text");
        if before.contains(r#""user_persona": ""#) {
            // The name of a persona is kept here; ADK replaces it by the persona.
            continue;
        }
        folder.write("s.evalset.json", before.trim_end());
        if folder.run(&["fmt", "s.evalset.json"]).code != Some(0) {
            continue;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate/adk.py");
        let mut adk = Command::new(&python);
        adk.arg(script).arg("save").arg(&path).arg("adks.json").current_dir(folder.path(""));
        let output = adk.output().expect("the Python runs");
        if !output.status.success() {
            // ADK does not read some spellings of other writers.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("Field required"), "{}: {said}", path.display());
            continue;
        }
        assert_eq!(folder.read("s.evalset.json"), folder.read("adks.json"), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 0);
    eprintln!("{compared} sets saved as google-adk saves them");
}
