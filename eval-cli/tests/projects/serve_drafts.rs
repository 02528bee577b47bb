//! A draft on the page of drafts, and what cargo builds before and after it is accepted there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use eval_core::format::Value;

use crate::project::{Draft, Project};

const SET: &str = r#"{"eval_set_id": "weather", "eval_cases": [
  {"eval_id": "old", "conversation": [{"user_content": {"parts": [{"text": "Paris?"}]},
    "final_response": {"parts": [{"text": "It is sunny in Paris."}]}}]},
  {"eval_id": "new", "conversation": [{"user_content": {"parts": [{"text": "And now?"}]},
    "final_response": {"parts": [{"text": "It is sunny in Paris."}]}}], "_draft": {"from": "a session"}}]}"#;

/// A service in the folder of a project, which ends with this value.
struct Service {
    child: Child,
    address: String,
    token: String,
}

impl Service {
    fn of(project: &Project) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
            .args(["serve", "--port", "0", "--no-otlp"])
            .current_dir(project.folder())
            .env("EVALSET_DIR", project.folder().join("runs"))
            .env_remove("EVALSET_RUN_ID")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is read");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let url = line.trim().strip_prefix("serving on http://").expect("it serves");
        let (address, token) = url.split_once("/?token=").expect("the URL has a token");
        Self { address: address.to_owned(), token: token.to_owned(), child }
    }

    /// Asks as a program does.
    fn ask(&self, line: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let head = format!(
            "{line} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all((head + body).as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_draft_that_is_accepted_in_the_browser_is_a_test_of_the_next_build() {
    let project =
        Draft::new("tracking").named("serve_drafts").file("evals/weather.evalset.json", SET).owned();
    let list = ["test", "--test", "evals", "--", "--list"];
    project.cargo(&list).fails().says("the case `new` is a draft that nobody has accepted");

    let service = Service::of(&project);
    let page = service.ask("GET /drafts", "");
    let (_, seen) = page.split_once("data-case=\"new\" data-seen=\"").expect("the draft is on the page");
    let seen = &seen[..seen.find('"').expect("it ends")];
    let body =
        format!(r#"{{"set": "evals/weather.evalset.json", "case": "new", "seen": {}}}"#, Value::from(seen));
    assert!(service.ask("POST /drafts/accept", &body).contains("it is a test in the next build"));

    project.cargo(&list).passes().says("weather::new: test").says("weather::old: test");
    project
        .cargo(&["test", "--test", "evals"])
        .passes()
        .ran(&[("weather::new", "ok"), ("weather::old", "ok")]);
}
