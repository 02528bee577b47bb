//! Programs that compute metrics.

use crate::folder::Folder;
use crate::run::{case, folder, run, set};

const BREVITY: &str = r#"import json, sys

asked = json.load(sys.stdin)
most = asked["config"]["max_words"]
turns = [float(len((turn["final_response"] or "").split()) <= most) for turn in asked["invocations"]]
print(json.dumps({"score": sum(turns) / len(turns), "per_invocation_scores": turns, "details": {"most": most}}))
"#;

fn config(threshold: f64, words: u32) -> String {
    format!(
        r#"{{"criteria": {{"brevity": {{"threshold": {threshold}, "max_words": {words}}}}},
            "custom_metrics": {{"brevity": {{"command": ["metrics/brevity.py"], "timeout": 60}}}}}}"#
    )
}

fn with_metric(test: &str, words: u32) -> Folder {
    let folder = folder(test);
    folder.write("evals/metrics/brevity.py", BREVITY).write("evals/test_config.json", config(1.0, words));
    folder
        .write("evals/brief.evalset.json", set("brief", &[case("sunny", "Paris", "It is sunny in Paris.")]));
    folder
}

#[test]
fn a_file_of_python_beside_a_set_scores_its_runs() {
    for (words, code, says) in [(5, 0, "passed"), (4, 1, "most: 4")] {
        let folder = with_metric(&format!("commands-run-{words}"), words);
        let ran = run(&folder, &["brief"]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("brevity") && ran.out.contains(says), "{}", ran.out);
    }
}

#[test]
fn a_config_of_the_command_line_names_programs_in_its_own_folder() {
    let folder = with_metric("commands-config", 5);
    folder.write("strict/metrics/brevity.py", BREVITY).write("strict/strict.json", config(1.0, 1));
    let ran = run(&folder, &["brief", "--config", "strict/strict.json"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("most: 1"), "{}", ran.out);
    // `-m` names its programs, and no others.
    let ran = run(&folder, &["brief", "--config", "strict/strict.json", "-m", "brevity=0.0001"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let ran = run(&folder, &["brief", "-m", "brevity=0.5"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("as programs that `--config FILE` names"), "{}", ran.err);
}

#[test]
fn programs_of_a_config_score_recorded_runs_again_and_others_keep_their_scores() {
    let folder = with_metric("commands-rescore", 5);
    let ran = run(&folder, &["brief"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    folder.write("strict/metrics/brevity.py", BREVITY).write("strict/strict.json", config(1.0, 1));
    for (args, code) in
        [(&["rescore"][..], 0), (&["rescore", "--config", "strict/strict.json", "--metric", "brevity"], 1)]
    {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_program_that_breaks_is_an_error_with_its_traceback_and_a_command() {
    let folder = with_metric("commands-broken", 5);
    folder.write("evals/metrics/brevity.py", "import no_such_module\n");
    let ran = run(&folder, &["brief"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    for says in [
        "sunny: brevity: the program ended with exit status: 1; it wrote to its standard error: ModuleNotFoundError",
        "No module named 'no_such_module'",
        "by hand: `cd ",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
}

#[test]
fn check_names_the_programs_that_a_config_runs() {
    let folder = with_metric("commands-check", 5);
    let ran = folder.run(&["check", "evals/brief.evalset.json", "evals/test_config.json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let note = "note: `evals/test_config.json` runs a program to compute `brevity`: `metrics/brevity.py`\n";
    assert!(ran.out.contains(note), "{}", ran.out);
    let ran = folder.run(&["check", "evals/test_config.json", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let programs = &document["files"][0]["programs"];
    assert_eq!(*programs, serde_json::json!([{ "metric": "brevity", "command": "metrics/brevity.py" }]));
}

#[cfg(feature = "serve")]
#[test]
fn a_config_without_programs_is_none_for_the_service() {
    let folder = folder("commands-serve");
    folder.write("c.json", r#"{"criteria": {"response_match_score": 1}}"#);
    let ran = folder.run(&["serve", "--port", "0", "--config", "c.json"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("`c.json` names no program that computes a metric"), "{}", ran.err);
}
