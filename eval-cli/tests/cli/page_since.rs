//! The page of a run beside its baseline and the runs before.

use serde_json::{Value, json};

use crate::folder::{AGENT, Folder, program};
use crate::page::details;

const SET: &str = "evals/desk.evalset.json";

/// A program that answers as `answers.json` says, else with the message.
const SETUP: &str = r#"
answers = json.load(open("answers.json"))
"#;
const TURN: &str = r#"
say(type="text", text=answers.get(text, text))
"#;

fn set(cases: &[(&str, &str)]) -> String {
    let content = |text: &str| json!({ "parts": [{ "text": text }] });
    let case = |(id, expected): &(&str, &str)| json!({ "eval_id": id, "conversation": [{ "user_content": content(id), "final_response": content(expected) }] });
    json!({ "eval_set_id": "desk", "eval_cases": cases.iter().map(case).collect::<Vec<_>>() }).to_string()
}

fn desk(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder
        .write("agent.py", program(SETUP, TURN))
        .write("evals/test_config.json", r#"{"criteria": {"response_match_score": 1.0}}"#);
    folder
        .write(SET, set(&[("stays", "stays"), ("breaks", "breaks"), ("edited", "edited"), ("goes", "goes")]));
    folder.write("answers.json", "{}");
    folder
}

fn run(folder: &Folder, runs: &str) {
    let ran = folder.run(&["run", SET, "--agent-cmd", AGENT, "--runs", runs]);
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.shown());
}

fn page(folder: &Folder, options: &[&str]) -> String {
    let ran = folder.run(&[&["report", "--html", "report.html"], options].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.shown());
    folder.read("report.html")
}

fn case<'c>(cases: &'c [Value], name: &str) -> &'c Value {
    let name = format!("desk/{name}");
    cases.iter().find(|case| case["name"] == name.as_str()).unwrap_or_else(|| panic!("{name}: {cases:?}"))
}

#[test]
fn the_page_has_the_categories_since_a_baseline_that_is_found_or_named() {
    let folder = desk("page-since");
    run(&folder, "10");
    assert!(!page(&folder, &[]).contains("since the baseline"), "there is none");
    let blessed = folder.run(&["bless"]);
    assert_eq!(blessed.code, Some(0), "{}", blessed.shown());
    let cases = [("stays", "stays"), ("breaks", "breaks"), ("edited", "edited twice"), ("comes", "comes")];
    folder.write(SET, set(&cases)).write("answers.json", r#"{"breaks": "no idea"}"#);
    run(&folder, "10");
    let html = page(&folder, &[]);
    for says in [
        "<b>1</b> regressed</button>",
        "<b>1</b> incomparable</button>",
        "<b>1</b> only now</button>",
        "<b>1</b> same</button>",
        "since the baseline evalset-baseline.jsonl (no commit known of ",
        ", 10 runs a case)",
        "1 case of the baseline did not run",
        "<li>evals/desk.evalset.json:goes</li>",
        "desk.evalset.json:breaks passed 10 of 10 before and none of 10 now (p = ",
        "regressed since the baseline: 10/10 → 0/10",
        "incomparable with the baseline: it expects something else since ",
        "data-category=\"regressed\"",
        "<option value=\"category\">since the baseline</option>",
    ] {
        assert!(html.contains(says), "{says}: {html}");
    }
    let cases = details(&html);
    let breaks = &case(&cases, "breaks")["since"];
    assert_eq!(
        (&breaks["category"], &breaks["before"], &breaks["now"]),
        (&json!("regressed"), &json!("10/10"), &json!("0/10"))
    );
    assert_eq!(breaks["metrics"][0]["scores"], json!(["1.0", "0.0"]));
    let why = "`response_match_score` passed 10/10 before and 0/10 now (not adjusted, no test)";
    assert_eq!((&breaks["p"], &breaks["why"]), (&json!("0.000011"), &json!(why)));
    assert_eq!((&breaks["calls"], &breaks["tokens"]), (&json!(["0", "0"]), &json!([null, null])));
    assert!(breaks["from"].as_str().unwrap().contains("run 2"), "{breaks}");
    assert_eq!(case(&cases, "comes")["since"]["category"], "only now");
    assert_eq!(case(&cases, "edited")["since"]["category"], "incomparable");

    // One that is named counts, and its mistakes are errors. A mistake in one that is found is told.
    folder.write("other.jsonl", folder.read("evalset-baseline.jsonl"));
    folder.write("evalset-baseline.jsonl", "<<<<<<< HEAD\n");
    assert!(page(&folder, &["--baseline", "other.jsonl"]).contains("since the baseline other.jsonl ("));
    let html = page(&folder, &[]);
    assert!(html.contains("Nothing is compared with the baseline: evalset-baseline.jsonl:1: "), "{html}");
    let named = folder.run(&["report", "--html", "report.html", "--baseline", "evalset-baseline.jsonl"]);
    assert!(named.err.contains("evalset-baseline.jsonl:1: "), "{}", named.shown());
    let missing = folder.run(&["report", "--html", "report.html", "--baseline", "none.jsonl"]);
    assert!(missing.err.contains("none.jsonl"), "{}", missing.shown());
}

#[test]
fn the_history_of_a_case_is_of_runs_in_which_it_meant_the_same() {
    let folder = desk("page-history");
    run(&folder, "1");
    folder.write(
        SET,
        set(&[("stays", "stays"), ("breaks", "breaks"), ("edited", "edited twice"), ("goes", "goes")]),
    );
    folder.write("answers.json", r#"{"breaks": "no idea"}"#);
    run(&folder, "2");
    run(&folder, "1");
    let cases = details(&page(&folder, &[]));
    let told = |name: &str| {
        let history = &case(&cases, name)["history"];
        let runs = history["runs"].as_array().unwrap().iter();
        let runs: Vec<_> =
            runs.map(|run| (run["state"].as_str().unwrap(), run["passed"].as_str().unwrap())).collect();
        (runs, history["others"].as_u64().unwrap())
    };
    assert_eq!(told("stays"), (vec![("passed", "2/2"), ("passed", "1/1")], 0));
    assert_eq!(told("breaks"), (vec![("failed", "0/2"), ("passed", "1/1")], 0));
    assert_eq!(told("edited"), (vec![("failed", "0/2")], 1));
}
