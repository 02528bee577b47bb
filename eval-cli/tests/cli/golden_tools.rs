//! `--tools golden`: the case answers the agent's calls.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::import::session;
use crate::run::{case, run as run_old_program, set};

/// A program that asks for the weather, and says what it is told.
const ASKS: &str = r#"
import json, sys
def write(**message): print(json.dumps(message), flush=True)
def read(): return json.loads(sys.stdin.readline() or '{"type": "end"}')
write(type="hello", protocol=1)
while (message := read())["type"] != "end":
    if message["type"] == "start":
        write(type="started", tools=message.get("tools"))
    elif message["type"] == "turn":
        city = message["content"]["parts"][0]["text"].split(" in ")[1].rstrip("?")
        write(type="tool", id="1", name="get_weather", args={"city": city})
        told = read()
        result = told.get("result", {"error": told.get("error")})
        write(type="tool_call", name="get_weather", args={"city": city}, result=result)
        known = "It is {sky} in {city}." if "sky" in result else "I do not know: {error}"
        write(type="text", text=known.format(city=city, **result))
        write(type="turn_end")
"#;

fn golden(id: &str, city: &str, response: &Value) -> Value {
    let mut case = case(id, city, &format!("It is sunny in {city}."));
    case["conversation"][0]["intermediate_data"]["tool_responses"] =
        json!([{ "name": "get_weather", "response": response }]);
    case
}

fn folder(test: &str, cases: &[Value]) -> Folder {
    let folder = Folder::new(test);
    folder.write("asks.py", ASKS);
    folder.write("weather.py", std::fs::read(crate::run::agents().join("weather.py")).expect("the program"));
    folder.write("evals/s.evalset.json", set("s", cases));
    folder
}

const GOLDEN: [&str; 6] = ["run", "evals", "--tools", "golden", "--agent-cmd", "python3 asks.py"];

#[test]
fn the_case_answers_and_an_agent_that_does_not_ask_is_refused() {
    let sunny = json!({ "sky": "sunny" });
    let folder = folder("golden-tools", &[golden("sunny", "Paris", &sunny)]);
    let ran = folder.run(&GOLDEN);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);

    let ran = run_old_program(&folder, &["evals", "--tools", "golden"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the program does not ask for golden tools"), "{}", ran.out);
    // The run is repeated with the same tools.
    assert!(ran.out.contains("--tools golden"), "{}", ran.out);

    let ran = folder.run(&[&["run", "evals", "--tools", "gold"], &GOLDEN[4..]].concat());
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`--tools`: unknown `tools`: `gold`"), "{}", ran.err);
}

#[test]
fn a_call_without_a_response_and_faults_of_real_tools_are_found_before_a_case_runs() {
    let silent = folder("golden-tools-silent", &[case("silent", "Paris", "It is sunny in Paris.")]);
    let message = "turn 1 has no response of `get_weather` to answer its call with";
    let ran = silent.run(&GOLDEN);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains(message), "{}", ran.err);
    let checked = silent.run(&["check", "evals", "--tools", "golden"]);
    assert_eq!(checked.code, Some(1), "{}", checked.out);
    assert!(
        checked.out.contains(message) && checked.out.contains("no response belongs to this call"),
        "{}",
        checked.out
    );
    assert_eq!(silent.run(&["check", "evals"]).code, Some(0));

    let mut faulty = golden("faulty", "Paris", &json!({ "sky": "sunny" }));
    faulty["_tools"] = json!({ "1": { "get_weather#1": { "raises": "connection reset" } } });
    let faulty = folder("golden-tools-faulty", &[faulty]);
    let ran = run_old_program(&faulty, &["evals"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("nothing plays its fault `get_weather#1`"), "{}", ran.err);
    let ran = faulty.run(&GOLDEN);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("I do not know: connection reset"), "{}", ran.out);

    // Formatting and renaming keep the faults.
    for args in [&["fmt", "evals"][..], &["rename-case", "evals/s.evalset.json:faulty", "down"]] {
        let edited = faulty.run(args);
        assert_eq!(edited.code, Some(0), "{}{}", edited.out, edited.err);
        let kept: Value = serde_json::from_str(&faulty.read("evals/s.evalset.json")).expect("JSON");
        assert_eq!(kept["eval_cases"][0]["_tools"]["1"]["get_weather#1"]["raises"], "connection reset");
    }
}

/// Sessions of ADK, and a recorded run of the real tools.
#[test]
fn what_is_imported_has_the_responses_that_golden_tools_answer() {
    let folder = folder("golden-tools-imported", &[case("oslo", "Oslo", "It is sunny in Oslo.")]);
    let session = session("s-1", &[("What is the weather in Paris?", "It is sunny in Paris.")]);
    folder.write("one.json", session.to_string());
    // The program that asks for golden tools changes no state.
    folder.write("weather.py", folder.read("weather.py").replace(r#", "actions": delta"#, ""));
    assert_eq!(run_old_program(&folder, &["evals"]).code, Some(0));
    for (source, case) in [(":oslo", "oslo_2"), ("one.json", "paris")] {
        let ran = folder.run(&["import", source, "-o", "evals/s.evalset.json", "--case", case]);
        assert_eq!(ran.code, Some(0), "{source}: {}{}", ran.out, ran.err);
        let case = format!("evals/s.evalset.json:{case}");
        for args in [
            &["accept", &case][..],
            &[&["run", &case, "-m", "tool_trajectory_avg_score"], &GOLDEN[2..]].concat(),
        ] {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(0), "{source}: {args:?}: {}{}", ran.out, ran.err);
        }
    }
}

/// A program that asks for the weather in the cities of its line in `cities.txt`, one line for each run.
const ASKS_AGAIN: &str = r#"
import json, pathlib, sys
def write(**message): print(json.dumps(message), flush=True)
def read(): return json.loads(sys.stdin.readline() or '{"type": "end"}')
write(type="hello", protocol=1)
while (message := read())["type"] != "end":
    if message["type"] == "start":
        write(type="started", tools=message.get("tools"))
    elif message["type"] == "turn":
        first, *others = pathlib.Path("cities.txt").read_text().splitlines()
        pathlib.Path("cities.txt").write_text("\n".join(others))
        for city in first.split():
            write(type="tool", id=city, name="get_weather", args={"city": city})
            write(type="tool_call", name="get_weather", args={"city": city}, result=read().get("result", {}))
        write(type="text", text="Done.")
        write(type="turn_end")
"#;

#[test]
fn the_page_names_the_first_miss_of_a_run_and_shows_the_errors_of_other_runs() {
    let folder = folder("golden-tools-page", &[golden("sunny", "Paris", &json!({ "sky": "sunny" }))]);
    folder.write("asks.py", ASKS_AGAIN).write("cities.txt", "Paris Oslo Rome\nRome");
    let ran = folder.run(&[&GOLDEN[..], &["--runs", "2"]].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    folder.run(&["report", "--html", "report.html"]);
    let case = crate::page::details(&folder.read("report.html")).swap_remove(0);
    let miss = "turn 1: no golden response for the call get_weather: `city` expected Paris → actual Oslo";
    assert_eq!(case["differs"], miss);
    let told: Vec<_> =
        case["runs"].as_array().expect("runs").iter().map(|run| &run["headline_has_error"]).collect();
    assert_eq!(told, [&json!(true), &json!(false)], "{}", case["runs"]);
    let error = case["runs"][1]["error"]["t"].as_str().expect("an error");
    assert!(error.contains(r#"no golden answers get_weather(city: "Rome")"#), "{error}");
}

#[test]
fn runs_with_faults_are_compared_with_no_others_and_blessed_with_none() {
    let sunny = json!({ "sky": "sunny" });
    let folder = folder("golden-tools-gated", &[golden("sunny", "Paris", &sunny)]);
    let faults = |sky: &str| {
        let injection = json!({ "injected_response": { "sky": sky } });
        let tool = json!({ "tool_name": "get_weather", "injection_configs": [injection] });
        folder.write("f.json", json!({ "tool_simulation_configs": [tool] }).to_string());
        folder.run(&[&GOLDEN[..], &["--faults", "f.json"]].concat())
    };
    assert_eq!(folder.run(&[&GOLDEN[..], &["--runs", "10"]].concat()).code, Some(0));
    assert_eq!(folder.run(&["bless"]).code, Some(0));
    let broken = faults("full of snow and hail");
    assert_eq!(broken.code, Some(1), "{}{}", broken.out, broken.err);
    let gate = folder.run(&["gate"]);
    let says = "only 0 of 1 case can be compared (1 incomparable)";
    assert!(gate.code == Some(2) && gate.out.contains(says), "{}{}", gate.out, gate.err);
    assert!(
        gate.out.contains("other tools answered the agent: `golden` before, `golden, faults "),
        "{}",
        gate.out
    );
    let bless = folder.run(&["bless"]);
    let says = "(other tools answered the agent: `golden` before, `golden, faults ";
    assert!(bless.code == Some(2) && bless.err.contains(says), "{}{}", bless.out, bless.err);
    // Other faults are other conditions.
    std::fs::remove_dir_all(folder.path(".evalset")).expect("the runs");
    faults("full of snow and hail");
    assert_eq!(folder.run(&["bless"]).code, Some(0));
    assert!(folder.read("evalset-baseline.jsonl").contains(r#""tools": "golden, faults "#));
    faults("full of rain and hail");
    let gate = folder.run(&["gate"]);
    assert!(gate.code == Some(2) && gate.out.contains("1 incomparable"), "{}{}", gate.out, gate.err);
}
