//! The command `new golden`: it is offered where it can be obeyed.

use serde_json::{Value, json};

use crate::folder::{AGENT, Folder, program};

const SETUP: &str = r#"
key = "AKIA" + "IOSFODNN7EXAMPLE"
"#;
const TURN: &str = r#"
# Each run has a process of its own.
answers = {"same": "no", "differs": f"number {os.getpid()}", "secret": f"The key is {key}."}
say(type="text", text=answers.get(text, text))
if text == "state":
    say(type="turn_end", state={"city": "Oslo"})
    continue
"#;

fn case(id: &str, answer: &str) -> Value {
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    let mut case = json!({
        "eval_id": id,
        "conversation": [{ "user_content": content("user", id), "final_response": content("model", answer) }],
    });
    if id == "state" {
        case["final_session_state"] = json!({ "city": "Paris" });
    }
    case
}

#[test]
fn it_is_offered_where_the_import_takes_it() {
    let folder = Folder::new("new-golden");
    let cases = [case("same", "yes"), case("differs", "yes"), case("secret", "yes"), case("state", "state")];
    let set = json!({ "eval_set_id": "s", "eval_cases": cases });
    let config = json!({ "criteria": { "response_match_score": 1.0, "final_session_state_match": 1.0 } });
    folder.write("agent.py", program(SETUP, TURN)).write("s.evalset.json", set.to_string());
    folder.write("test_config.json", config.to_string());
    let ran = folder.run(&["run", "s.evalset.json", "--agent-cmd", AGENT, "--runs", "2"]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());

    let shown = folder.run(&["report"]).out;
    let report: Value = serde_json::from_str(&folder.run(&["report", "--format", "json"]).out).expect("JSON");
    for (id, is_offered) in [("same", true), ("differs", false), ("secret", false), ("state", true)] {
        let taken = folder.run(&["import", &format!(":{id}"), "--replace", "--dry-run"]);
        assert_eq!(taken.code, Some(if is_offered { 0 } else { 2 }), "{id}: {}", taken.shown());
        let offers = |text: &str| {
            text.lines()
                .any(|line| line.starts_with("new golden ") && line.contains(&format!("/{id} --replace")))
        };
        assert_eq!((offers(&ran.out), offers(&shown)), (is_offered, is_offered), "{id}: {}", ran.out);
        let cases = report["cases"].as_array().expect("cases");
        let case = cases.iter().find(|case| case["eval_id"] == id).expect("the case");
        assert_eq!(case["new_golden"].is_string(), is_offered, "{id}: {case}");
    }
}
