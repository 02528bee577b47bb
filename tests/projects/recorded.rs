//! Calls of models in tests of cargo: recorded, compiled in, replayed without a provider.

use std::collections::BTreeMap;
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

/// A program that asks as the agent of the fixture does.
const PROGRAM: &str = r#"
import json, os, sys, urllib.request

def say(**message):
    print(json.dumps(message), flush=True)

say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    session = {"session_id": message.get("session_id")}
    if message["type"] == "start":
        messages = [{"role": "system", "content": "Be brief."}]
        say(type="started", **session)
    elif message["type"] == "turn":
        messages.append({"role": "user", "content": message["content"]["parts"][0]["text"]})
        body = json.dumps({"model": "m", "messages": messages}, separators=(",", ":")).encode()
        request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)
        with urllib.request.urlopen(request) as response:
            said = json.load(response)["choices"][0]["message"]["content"]
        say(type="text", text=said, **session)
        say(type="turn_end", **session)
    elif message["type"] == "end":
        break
"#;
/// The test of it.
const OF_A_PROGRAM: &str = r#"
use std::process::Command;

use eval_agents::Process;
use eval_core::{Agent, eval_set};

#[eval_set("evals/trip.evalset.json")]
fn trip() -> impl Agent {
    Process::new(Command::new("python3").args(["-I", "-S", "agent.py"]))
}
"#;

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

/// The bytes of the recordings, by file.
fn files(project: &Project) -> BTreeMap<String, String> {
    let entries = fs::read_dir(project.folder().join(FOLDER)).expect("it was recorded");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let named = paths.map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a recording is text"))
    });
    named.collect()
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
        "EVALSET_MODELS=record-all cargo test",
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
    assert_eq!(files(&project).len(), 4);

    // A proxy of the shell may be what keeps a client from the gateway.
    project.edit(
        "Some(session).and(None::<String>)",
        "session.model_url(eval_core::models::Provider::OpenAi).and(None)",
    );
    let proxies = [("HTTP_PROXY", "http://127.0.0.1:1"), ("NO_PROXY", "localhost"), ("no_proxy", "")];
    let run = Run::of(project.command().arg("test").env("PROVIDER", &provider.url).envs(proxies)).fails();
    run.says("`HTTP_PROXY` is set and `NO_PROXY` has no `127.0.0.1`");
}

#[test]
fn processes_that_record_at_once_lose_nothing_of_each_other() {
    let cities = ["Bern", "Kiel", "Lima", "Nice", "Oslo", "Rome"];
    let named: Vec<_> =
        cities.iter().map(|city| (city.to_lowercase(), *city, format!("It is sunny in {city}"))).collect();
    let cases: Vec<_> = named.iter().map(|(id, city, said)| (&**id, *city, &**said)).collect();
    let project = Draft::new("recorded").named("recorded_at_once").file(SET, set(&cases)).owned();
    let provider = Provider::start();
    let variables = [("EVALSET_MODELS", "record"), ("EVALSET_MODELS_UPSTREAM_OPENAI", &*provider.url)];
    let binary = project.test_binary("tests/evals.rs");
    let mut expected = None;
    for _ in 0..3 {
        drop(fs::remove_dir_all(project.folder().join(FOLDER)));
        let run = || binary.run_with(&variables, &[]).passes();
        thread::scope(|scope| {
            drop([scope.spawn(run), scope.spawn(run)].map(|it| it.join().expect("it ran")));
        });
        let files = files(&project);
        // A file for each case, and the prompt once.
        assert_eq!(files.len(), cities.len() + 1, "{files:?}");
        assert_eq!(files, *expected.get_or_insert_with(|| files.clone()));
    }
    let asked = provider.asked();
    project.cargo(&["test"]).passes();
    assert_eq!(provider.asked(), asked, "a replay asks nobody");
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    // A process for each case.
    drop(fs::remove_dir_all(project.folder().join(FOLDER)));
    Run::of(project.command().args(["nextest", "run"]).envs(variables)).passes();
    assert_eq!(Some(files(&project)), expected);
    let asked = provider.asked();
    project.cargo(&["nextest", "run"]).passes();
    // The archive has the recordings in it, and no sources beside it.
    let elsewhere = project.folder().with_file_name("recorded_elsewhere");
    drop(fs::remove_dir_all(&elsewhere));
    fs::create_dir(&elsewhere).expect("a folder can be made");
    fs::copy(project.folder().join("Cargo.toml"), elsewhere.join("Cargo.toml")).expect("files can be copied");
    let archive = elsewhere.join("tests.tar.zst").to_string_lossy().into_owned();
    project.cargo(&["nextest", "archive", "--archive-file", &archive]).passes();
    fs::rename(project.folder().join(FOLDER), elsewhere.join("moved")).expect("the recordings can go");
    let remap = elsewhere.to_string_lossy().into_owned();
    let run = ["nextest", "run", "--archive-file", &archive, "--workspace-remap", &remap];
    Run::of(project.command().current_dir(&elsewhere).args(run)).passes();
    assert_eq!(provider.asked(), asked, "replays ask nobody");
}

#[test]
fn faults_of_the_attribute_happen_in_replays() {
    let project = Draft::new("recorded").named("recorded_faults").file(SET, set(&[PARIS])).owned();
    let provider = Provider::start();
    project.record(&provider).passes();
    project.edit(
        "#[eval_set(\"evals/trip.evalset.json\")]",
        "#[eval_set(\"evals/trip.evalset.json\", model_faults = [(at(turn = 1, call = 1), fault(status = 429))])]",
    );
    let failure = project.cargo(&["test"]).fails().failure("trip::paris").to_owned();
    assert!(failure.contains("HTTP/1.1 429") && failure.contains("rate_limit_error"), "{failure}");
    // An agent that asks again gets the answer.
    project.edit(
        "ask(&self.base_url, &self.messages)?;",
        "ask(&self.base_url, &self.messages).or_else(|_| ask(&self.base_url, &self.messages))?;",
    );
    project.cargo(&["test"]).passes().ran(&[("trip::paris", "ok")]);
    assert_eq!(provider.asked(), 1);
}

#[test]
fn a_program_behind_process_is_recorded_and_replayed_from_what_is_compiled_in() {
    let project = Draft::new("recorded").named("recorded_program").file(SET, set(&[PARIS, ROME]));
    let project = project.file("tests/evals.rs", OF_A_PROGRAM).file("agent.py", PROGRAM).owned();
    let provider = Provider::start();
    let both = [("trip::paris", "ok"), ("trip::rome", "ok")];
    project.record(&provider).passes().ran(&both);
    assert_eq!((provider.asked(), files(&project).len()), (2, 3));
    project.cargo(&["test"]).passes().ran(&both);
    project.write("agent.py", &PROGRAM.replace("Be brief.", "Be very brief."));
    let failure = project.cargo(&["test"]).fails().failure("trip::paris").to_owned();
    assert!(failure.contains("- Be brief.") && failure.contains("+ Be very brief."), "{failure}");
    assert_eq!(provider.asked(), 2, "replays ask nobody");
}
