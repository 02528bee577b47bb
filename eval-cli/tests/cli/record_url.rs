//! `record --agent-url`: conversations with an app behind an ADK server, over loopback.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::record::typed;

const SET: &str = "evals/weather.evalset.json";

/// A server with the routes of `adk api_server` and one app, `weather`. Atlantis is an error of the server, Timbuktu one of the
/// app. A question about Pompeii ends the server in the middle of its answer.
struct Server {
    url: String,
    /// The lines of the requests.
    asked: Arc<Mutex<Vec<String>>>,
}

/// The state of each session, and how many turns there were.
#[derive(Default)]
struct Sessions {
    states: HashMap<String, Value>,
    turns: usize,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            let mut sessions = Sessions::default();
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let Some((line, body)) = request(&stream) else { continue };
                seen.lock().expect("the requests").push(line.clone());
                let Some(answer) = sessions.answer(&line, &body) else {
                    let half = "data: {\"author\": \"weather\", \"content\": {\"parts\": [{\"te";
                    let head =
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\n";
                    let _ = write!(stream, "{head}{half}");
                    return;
                };
                // The other side may be gone.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, asked }
    }

    fn record(&self, folder: &Folder, args: &[&str]) -> Ran {
        folder.run(&[&["record"], args, &self.agent()[..]].concat())
    }

    fn agent(&self) -> [&str; 6] {
        ["--agent-url", &self.url, "--app", "weather", "-o", SET]
    }

    fn count(&self, method: &str) -> usize {
        self.asked.lock().expect("the requests").iter().filter(|line| line.starts_with(method)).count()
    }
}

/// The line and the body of a request.
fn request(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(count) = line.to_lowercase().strip_prefix("content-length:") {
            length = count.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = first.rsplit_once(' ')?.0.to_owned();
    Some((line, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

impl Sessions {
    /// The answer; `None` if the server ends instead.
    fn answer(&mut self, line: &str, body: &Value) -> Option<String> {
        let json = |value: &Value| answer("200 OK", "application/json", &value.to_string());
        let (method, path) = line.split_once(' ').unwrap_or_default();
        let id = path.rsplit('/').next().unwrap_or_default().to_owned();
        Some(match method {
            _ if path == "/list-apps" => json(&json!(["weather"])),
            "POST" if path == "/run_sse" => return self.turn(body),
            "POST" if path.ends_with("/sessions") => {
                let id = format!("s{}", self.states.len() + 1);
                let state = body["state"].as_object().cloned().unwrap_or_default();
                self.states.insert(id.clone(), state.into());
                json(&json!({ "id": id, "state": self.states[&id] }))
            }
            "GET" if self.states.contains_key(&id) => {
                json(&json!({ "id": id, "state": self.states[&id], "events": [] }))
            }
            "DELETE" => json(&Value::Null),
            _ => answer("404 Not Found", "application/json", r#"{"detail": "Not Found"}"#),
        })
    }

    fn turn(&mut self, body: &Value) -> Option<String> {
        self.turns += 1;
        let said = body["newMessage"]["parts"][0]["text"].as_str().unwrap_or_default();
        let city = said.trim_end_matches('?').rsplit(' ').next().unwrap_or_default();
        let event = |parts: Value, more: Value| {
            let mut event = json!({ "author": "weather", "content": { "role": "model", "parts": parts } });
            event.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            format!("data: {event}\n\n")
        };
        match city {
            "Pompeii" => return None,
            "Atlantis" => {
                return Some(answer(
                    "500 Internal Server Error",
                    "application/json",
                    r#"{"detail": "the sea has it"}"#,
                ));
            }
            "Timbuktu" => {
                let failed = json!({ "errorCode": "RESOURCE_EXHAUSTED", "errorMessage": "too far" });
                return Some(answer("200 OK", "text/event-stream", &event(json!([]), failed)));
            }
            _ => {}
        }
        let session = body["sessionId"].as_str().unwrap_or_default();
        self.states.get_mut(session).expect("a session")["last_city"] = city.into();
        let mut args = json!({ "city": city });
        // The sky changes, and so does how it is asked for.
        let sky = if city == "Moody" { ["sunny", "rainy", "grey"][self.turns % 3] } else { "sunny" };
        if city == "Moody" {
            args["at"] = self.turns.into();
        }
        let called = json!([{ "functionCall": { "id": format!("adk-{}", self.turns), "name": "get_weather", "args": args } }]);
        let result = json!([{ "functionResponse": { "id": format!("adk-{}", self.turns), "name": "get_weather", "response": { "sky": sky } } }]);
        let events = [
            event(called, Value::Null),
            event(result, json!({ "actions": { "stateDelta": { "last_city": city } } })),
            event(json!([{ "text": format!("It is {sky} in {city}.") }]), Value::Null),
        ];
        Some(answer("200 OK", "text/event-stream", &events.concat()))
    }
}

fn cases(folder: &Folder) -> Vec<Value> {
    let set: Value = serde_json::from_str(&folder.read(SET)).expect("JSON");
    set["eval_cases"].as_array().expect("cases").clone()
}

fn said(case: &Value) -> Vec<&str> {
    let turns = case["conversation"].as_array().expect("turns");
    turns.iter().filter_map(|turn| turn["user_content"]["parts"][0]["text"].as_str()).collect()
}

#[test]
fn prompts_of_each_form_become_cases_that_pass_against_the_server_once_they_are_accepted() {
    let (folder, server) = (Folder::new("url-prompts"), Server::new());
    folder.write(
        "prompts.txt",
        "What is the weather in Paris?\nAnd in Oslo?\n\nWhat is the weather in Lima?\n",
    );
    folder.write("prompts.jsonl", "{\"user\": \"What is the weather in Rome?\", \"id\": \"rome\", \"state\": {\"unit\": \"C\"}}\n[\"Hello, Quito\", \"And in Cusco?\"]\n");
    folder
        .write("old.evalset.json", crate::run::set("old", &[crate::run::case("bern", "Bern", "It snows.")]));
    for (prompts, added) in [
        ("prompts.txt", "added 2 drafts"),
        ("prompts.jsonl", "added 2 drafts"),
        ("old.evalset.json", "added 1 draft"),
    ] {
        let ran = server.record(&folder, &[prompts]);
        assert_eq!(ran.code, Some(0), "{prompts}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(added), "{prompts}: {}", ran.out);
    }
    let cases = cases(&folder);
    let ids: Vec<&str> = cases.iter().filter_map(|case| case["eval_id"].as_str()).collect();
    assert_eq!(
        ids,
        ["what_is_the_weather_in_paris", "what_is_the_weather_in_lima", "rome", "hello_quito", "bern"]
    );
    assert_eq!(said(&cases[0]), ["What is the weather in Paris?", "And in Oslo?"]);
    assert_eq!(cases[0]["_draft"]["from"], "the app `weather`");
    assert_eq!(cases[0]["final_session_state"], json!({ "last_city": "Oslo" }));
    assert_eq!(cases[2]["session_input"]["state"], json!({ "unit": "C" }));
    // Not the old expectation, but what the app does.
    assert_eq!(cases[4]["conversation"][0]["final_response"]["parts"][0]["text"], "It is sunny in Bern.");
    assert_eq!(server.count("DELETE"), 5, "no session stays");

    // A second time there is nothing new.
    let before = folder.read(SET);
    let ran = server.record(&folder, &["prompts.txt"]);
    assert!(
        ran.code == Some(0) && ran.out.contains("2 equal conversations are there already"),
        "{}",
        ran.shown()
    );
    assert_eq!(folder.read(SET), before);

    let drafts = ids.iter().map(|id| format!("{SET}:{id}")).collect::<Vec<_>>();
    for draft in &drafts {
        assert_eq!(folder.run(&["accept", draft]).code, Some(0));
    }
    let ran = folder.run(&["run", SET, "--agent-url", &server.url, "--app", "weather"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn conversations_with_a_server_are_typed_taken_back_and_named() {
    let (folder, server) = (Folder::new("url-typed"), Server::new());
    let lines = "What is the weather in Paris?\n/state\nAnd in Atlantis?\n/undo\nAnd in Rome?\n/undo\nAnd in Oslo?\n/case next\nWhat is the weather in Lima?\n/state\n/quit\nnever said\n";
    let ran = typed(&folder, &server.agent(), lines);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in [
        "  calls get_weather(city: \"Paris\")\n",
        "  get_weather answers {\"sky\":\"sunny\"}\n",
        "weather> It is sunny in Paris.\n",
        "{\"last_city\":\"Paris\"}\n",
        "the sea has it",
        "/undo takes the turn back\n",
        "{\"last_city\":\"Lima\"}\n",
        "saved `next`\n",
    ] {
        assert!(ran.err.contains(part), "{} lacks {part}", ran.err);
    }
    let cases = cases(&folder);
    assert_eq!(said(&cases[0]), ["What is the weather in Paris?", "And in Oslo?"]);
    assert_eq!(cases[0]["final_session_state"], json!({ "last_city": "Oslo" }));
    assert_eq!((cases[1]["eval_id"].as_str(), cases.len()), (Some("next"), 2));
    assert!(!ran.err.contains("never said"), "{}", ran.err);
}

#[test]
fn what_an_app_does_otherwise_each_time_is_told_and_not_expected() {
    let (folder, server) = (Folder::new("url-runs"), Server::new());
    folder.write("prompts.txt", "What is the weather in Moody?\n");
    let ran = server.record(&folder, &["prompts.txt", "--runs", "5"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let case = &cases(&folder)[0];
    assert_eq!(case["_draft"]["runs"], 5);
    let varied = case["_draft"]["varied"].to_string();
    assert!(varied.contains("turn 1: the argument `at` of `get_weather`: 1 | 2 | 3"), "{varied}");
    assert!(varied.contains("turn 1: the answer: "), "{varied}");
    let turn = &case["conversation"][0];
    // The argument of the first recording stays, for a rule beside it.
    assert!(turn.to_string().contains(r#""args":{"at":1,"city":"Moody"}"#), "{turn}");
    assert_eq!(turn["final_response"], Value::Null, "{turn}");
}

#[test]
fn a_server_that_answers_errors_or_ends_leaves_whole_conversations_alone() {
    for (what, prompts, why, kept) in [
        (
            "error",
            "What is the weather in Paris?\n\nAnd in Lima?\nAnd in Atlantis?\n\nHello, Rome\n",
            "the sea has it",
            2,
        ),
        ("app", "What is the weather in Paris?\n\nAnd in Timbuktu?\n\nHello, Rome\n", "too far", 2),
        (
            "end",
            "What is the weather in Paris?\n\nAnd in Lima?\nAnd in Pompeii?\n\nHello, Rome\n",
            "turn 2",
            1,
        ),
    ] {
        let (folder, server) = (Folder::new(&format!("url-{what}")), Server::new());
        folder.write("prompts.txt", prompts);
        let ran = server.record(&folder, &["prompts.txt"]);
        assert_eq!(ran.code, Some(2), "{what}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.contains("not recorded  conversation 2, `And in ") && ran.out.contains(why),
            "{what}: {}",
            ran.out
        );
        let cases = cases(&folder);
        assert_eq!(cases.len(), kept, "{what}: {cases:?}");
        assert!(cases.iter().all(|case| said(case).len() == 1), "{what}: {cases:?}");
        let check = folder.run(&["list", SET]);
        assert_eq!(check.code, Some(0), "{what}: {}", check.shown());
        let names: Vec<_> = std::fs::read_dir(folder.path("evals")).expect("the folder").flatten().collect();
        assert_eq!(names.len(), 1, "{what}: {names:?}");
    }
    // A run that ends the server: nothing is kept of the conversation.
    let (folder, server) = (Folder::new("url-end-of-runs"), Server::new());
    folder.write("prompts.txt", "And in Lima?\nAnd in Pompeii?\n");
    let ran = server.record(&folder, &["prompts.txt", "--runs", "5"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert!(!folder.path("evals").exists(), "{}", ran.shown());
    // A server that is not there any more is said once, before anything is asked.
    let ran = server.record(&folder, &["prompts.txt"]);
    assert!(
        ran.code == Some(2) && ran.err.contains(server.url.trim_start_matches("http://")),
        "{}",
        ran.shown()
    );
    assert!(!folder.path("evals").exists(), "{}", ran.shown());
}
