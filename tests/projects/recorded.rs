//! Calls of models in tests of cargo: recorded, compiled in, replayed without a provider.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use crate::project::{Draft, Project, set};
use crate::run::Run;

const SET: &str = "evals/trip.evalset.json";
const FOLDER: &str = "evals/trip.evalset.models";
const PARIS: (&str, &str, &str) = ("paris", "Paris", "It is sunny in Paris");
const ROME: (&str, &str, &str) = ("rome", "Rome", "It is sunny in Rome");

/// A provider of models on loopback. It says that it is sunny where the user asks.
struct Provider {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::Relaxed);
                // A client that left asks again.
                drop(answer(&stream));
            }
        });
        Self { url: format!("http://127.0.0.1:{port}/v1"), asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let city =
        body.rsplit(r#""content":""#).next().and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let text =
        format!(r#"{{"choices":[{{"message":{{"role":"assistant","content":"It is sunny in {city}"}}}}]}}"#);
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
}

impl Project {
    fn record(&self, provider: &Provider) -> Run {
        let variables = [("EVALSET_MODELS", "record"), ("EVALSET_MODELS_UPSTREAM_OPENAI", &*provider.url)];
        Run::of(self.command().arg("test").envs(variables))
    }

    /// Changes a word of the agent.
    fn edit(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.folder().join("tests/evals.rs")).expect("the agent");
        assert!(text.contains(from), "{from}");
        self.write("tests/evals.rs", &text.replace(from, to));
    }
}

#[test]
fn calls_of_models_are_recorded_once_compiled_in_and_replayed_without_the_provider() {
    let project = Draft::new("recorded").named("recorded_models").file(SET, set(&[PARIS, ROME])).owned();
    let provider = Provider::start();
    let both = [("trip::paris", "ok"), ("trip::rome", "ok")];
    project.record(&provider).passes().ran(&both);
    assert_eq!(provider.asked(), 2);
    let run = project.cargo(&["test"]).passes().ran(&both);
    assert!(run.compiled("recorded_models"), "the recording is compiled in:\n{run}");
    let run = project.cargo(&["test"]).passes().ran(&both);
    assert!(!run.compiled("recorded_models"), "nothing changed:\n{run}");
    assert_eq!(provider.asked(), 2, "a replay asks nobody");

    // An edited prompt is a miss, with its line and the command that records the case.
    project.edit("Be brief.", "Be very brief.");
    let run = project.cargo(&["test"]).fails().ran(&[("trip::paris", "FAILED"), ("trip::rome", "FAILED")]);
    let failure = run.failure("trip::paris");
    for part in [
        "recording error in turn 1: call 1 of a model (openai chat, m) is not recorded: the system prompt changed",
        "- Be brief.",
        "+ Be very brief.",
        "EVALSET_MODELS=record cargo test",
    ] {
        assert!(failure.contains(part), "{part} is not in\n{failure}");
    }
    assert!(!failure.contains("messages:"), "{failure}");
    project.edit("Be very brief.", "Be brief.");

    // A new case has no recording. It alone is asked for.
    let oslo = ("oslo", "Oslo", "It is sunny in Oslo");
    project.write(SET, &set(&[PARIS, ROME, oslo]));
    let run = project.cargo(&["test"]).fails();
    let failure = run.failure("trip::oslo");
    assert!(failure.contains("there is no recording `evals/trip.evalset.models/oslo.json`"), "{failure}");
    project.record(&provider).passes();
    assert_eq!(provider.asked(), 3);
    let all = [both[0], both[1], ("trip::oslo", "ok")];
    let run = project.cargo(&["test"]).passes().ran(&all);
    assert!(run.compiled("recorded_models"), "{run}");

    // An agent that takes no address would ask its provider in silence.
    project.edit("session.model_url(Provider::OpenAi)", "Some(session).and(None::<String>)");
    project.edit("use eval_core::models::Provider;\n", "");
    let run = Run::of(project.command().arg("test").env("PROVIDER", &provider.url)).fails();
    let failure = run.failure("trip::paris");
    assert!(failure.contains("recording error: the agent took no address for its models"), "{failure}");
    let names: Vec<String> = fs::read_dir(project.folder().join(FOLDER))
        .expect("it was recorded")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}
