//! Programs as agents: the samples in three languages, and each way to break the protocol.

mod golden_tools;
mod mcp;
mod shared;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::file;
use eval_agents::record::{DraftRecorder, Script};
use eval_agents::{AdkServer, Process};
use eval_core::format::{Content, EvalSet, Map, Part, SessionInput, Value};
use eval_core::testing::Conversation;
use eval_core::{Agent, CaseReport, Criterion, EvalRunner, Recorder, Session, agent_fn, json};
use tokio::task::JoinSet;

fn set() -> EvalSet {
    EvalSet::read(file("evals/weather.evalset.json")).unwrap()
}

fn sample(program: &str, name: &str) -> Process {
    Process::new(Command::new(program).arg(file("samples").join(name)))
}

/// A program in shell that says hello first.
fn shell(script: &str) -> Process {
    raw_shell(&format!("echo '{{\"type\": \"hello\", \"protocol\": 1}}'\n{script}"))
}

fn raw_shell(script: &str) -> Process {
    Process::new(Command::new("sh").args(["-c", script]))
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

/// The scores of each case, and its verdict.
async fn scores<A: Agent + 'static>(agent: impl Fn() -> A + Send + Sync) -> Vec<String> {
    let runner = EvalRunner::new()
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("response_match_score", Criterion::new(0.8));
    let report = runner.run_set(&set(), agent, 2).await.unwrap();
    assert!(report.all_passed(), "{report}");
    let scores = |case: &CaseReport| {
        let decided = case.metrics.iter().filter(|metric| metric.criterion.is_some());
        decided
            .map(|metric| format!("{} {} {:?}", case.eval_id(), metric.name, metric.score))
            .collect::<Vec<_>>()
    };
    report.cases.iter().flat_map(scores).collect()
}

async fn in_process(text: String, recorder: Recorder) -> String {
    let city =
        text.split_once("weather in ").unwrap().1.trim_matches(|c: char| !c.is_alphabetic()).to_owned();
    let city = city.split(|c: char| !c.is_alphabetic()).next().unwrap().to_owned();
    recorder.tool_call("get_weather", json!({ "city": city }), json!({ "sky": "sunny", "city": city }));
    recorder.state("last_city", city.as_str());
    format!("It is sunny in {city}.")
}

#[tokio::test]
async fn one_set_has_the_same_scores_in_every_language() {
    let expected = scores(|| agent_fn(in_process)).await;
    assert_eq!(expected.len(), 6, "{expected:?}");
    assert_eq!(scores(|| sample("python3", "weather.py")).await, expected);
    assert_eq!(scores(|| sample("python3", "weather.py").concurrency(8)).await, expected);
    assert_eq!(scores(|| sample("sh", "weather.sh")).await, expected);
    if has("node") {
        assert_eq!(scores(|| sample("node", "weather.mjs")).await, expected);
    }
    match std::env::var_os("EVALSET_ADK_PYTHON") {
        Some(python) => {
            let mut command = Command::new(python);
            command.args(["-c", "from google.adk.cli import main; main()", "api_server"]);
            // Files of a run must not change the next one.
            command.arg("--no_use_local_storage").arg(file("tests/adk/agents"));
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            assert_eq!(scores(|| AdkServer::spawn(&command, "weather")).await, expected);
        }
        None => eprintln!("skipped: EVALSET_ADK_PYTHON names no Python that has google-adk"),
    }
}

#[tokio::test]
async fn images_usage_and_authors_arrive() {
    let mut talk = Conversation::new(sample("python3", "weather.py")).with_session(Session::new("a", "u"));
    let image = Value::parse(r#"{"mime_type": "image/png", "data": "aGk="}"#).unwrap();
    let parts = vec![Part::text("look"), Part::default().with_other("inline_data", image)];
    let turn = talk.send(Content::new("user", parts)).await.unwrap();
    assert_eq!(turn.invocation.response_text(), "I see 1 image.");
    let turn = talk.say("weather in Rome").await.unwrap();
    let said = &turn.events[2];
    assert_eq!(
        (said.author.as_str(), said.usage.as_ref().unwrap().total_token_count),
        ("weather_agent", Some(18))
    );
    let error = talk.say("weather in Nowhere").await.unwrap_err().to_string();
    assert_eq!(error, "agent error in turn 3: the agent failed: ValueError: no such city");
    talk.finish().await.unwrap();
}

#[tokio::test]
async fn the_state_of_a_turns_end_is_the_whole_state() {
    let script = r#"read -r _; echo '{"type": "started", "details": {"agents": {"a": {"instruction": "Be kind."}}}}'
        read -r _; echo '{"type": "text", "text": "hi"}'; echo '{"type": "turn_end", "state": {"only": 1}}'; cat >/dev/null"#;
    let mut talk = Conversation::new(shell(script)).with_session(Session::new("a", "u").with_state("k", 1));
    let turn = talk.say("x").await.unwrap();
    let (name, agent) = &turn.invocation.app_details.as_ref().unwrap().agent_details[0];
    assert_eq!((name.as_str(), agent.instructions.as_str()), ("a", "Be kind."));
    let transcript = talk.finish().await.unwrap();
    assert_eq!(Value::from(transcript.state).to_string(), r#"{"only":1}"#);
}

#[tokio::test]
async fn changes_behind_the_state_of_a_turns_end_are_kept_and_recorded() {
    let script = r#"read -r _; echo '{"type": "started"}'
        read -r _; echo '{"type": "text", "text": "hi"}'; echo '{"type": "turn_end", "state": {"a": 1, "b": 1}}'
        read -r _; echo '{"type": "event", "event": {"actions": {"stateDelta": {"b": 2, "temp:c": 3}}}}'
        echo '{"type": "text", "text": "ho"}'; echo '{"type": "turn_end"}'; cat >/dev/null"#;
    let session = SessionInput::new("a", "u").with_state(Map::from([("a", 1), ("k", 1)]));
    let asked = Script::default().say("x").say("y").with_session(session);
    let draft = DraftRecorder::new("a shell").record(&asked, || shell(script)).await.unwrap();
    // `a` is as it was, and `k` is gone.
    assert_eq!(draft.case.final_session_state, Map::from([("b", 2)]));
    assert_eq!(draft.gaps, ["`k` is not in the state at the end, which a case cannot expect"]);
    let report = EvalRunner::new().run_case(&draft.case, || shell(script)).await.unwrap();
    assert!(report.verdict.passed(), "{report}");
}

/// The error of a turn, or of the end of the conversation.
async fn error_of(agent: Process, limit: Duration) -> String {
    let mut talk = Conversation::new(agent).with_session(Session::new("a", "u")).with_timeout(limit);
    match talk.say("hi").await {
        Err(error) => match talk.finish().await {
            Err(end) => format!("{error}; {end}"),
            Ok(_) => error.to_string(),
        },
        Ok(_) => match talk.finish().await {
            Err(error) => error.to_string(),
            Ok(transcript) => panic!("no error: {transcript:?}"),
        },
    }
}

const STARTED: &str = "read -r _; echo '{\"type\": \"started\"}'; read -r _;";
const TURN: &str = "echo '{\"type\": \"text\", \"text\": \"hi\"}'; echo '{\"type\": \"turn_end\"}';";

/// A fault, the program that has it, and its message.
type Fault = (&'static str, Process, &'static [&'static str]);

/// Faults before the first turn.
fn before_the_turn() -> Vec<Fault> {
    vec![
        (
            "no program",
            Process::new(Command::new("/no/such/program")),
            &["the program `/no/such/program` cannot be started: No such file"],
        ),
        (
            "an end before hello",
            raw_shell("echo wrong key >&2; exit 3"),
            &["the program ended", "exit status: 3", "it wrote to its standard error:\n| wrong key"],
        ),
        (
            "no hello",
            raw_shell("sleep 60").ready_within(Duration::from_millis(200)),
            &["did not say `hello` within 200ms"],
        ),
        (
            "text before hello",
            raw_shell("echo Loading model...; cat"),
            &["it is not JSON", "goes to its standard error): Loading model..."],
        ),
        (
            "another first message",
            raw_shell("echo '{\"type\": \"started\"}'; cat"),
            &[
                "the first message of the program is `started`; it should be {\"type\": \"hello\", \"protocol\": 1}",
            ],
        ),
        (
            "another version",
            raw_shell("echo '{\"type\": \"hello\", \"protocol\": 2}'; cat"),
            &["its protocol is 2, and this is protocol 1"],
        ),
        (
            "a version that is no integer",
            raw_shell("echo '{\"type\": \"hello\", \"protocol\": 1.0}'; cat"),
            &["its protocol is 1.0, and this is protocol 1; write {\"type\": \"hello\", \"protocol\": 1}"],
        ),
        (
            "an answer before the start",
            shell("echo '{\"type\": \"started\"}'; cat >/dev/null"),
            &["opening the session: the program wrote `started` without being asked"],
        ),
        (
            "an error at the start",
            shell("read -r _; echo '{\"type\": \"error\", \"message\": \"no key\"}'; cat >/dev/null"),
            &["opening the session: the agent failed: no key"],
        ),
        (
            "an error with a log",
            shell(
                "read -r _; echo 'line 7' >&2; echo '{\"type\": \"error\", \"message\": \"no key\"}'; cat >/dev/null",
            ),
            &["the agent failed: no key\nit wrote to its standard error:\n| line 7"],
        ),
        (
            "an error of several lines",
            shell(
                "read -r _; printf '%s\\n' '{\"type\": \"error\", \"message\": \"no key\\nno luck\"}'; cat >/dev/null",
            ),
            &["opening the session: the agent failed:\n| no key\n| no luck"],
        ),
    ]
}

/// Faults in a turn.
#[expect(clippy::too_many_lines, reason = "a table")]
fn in_the_turn() -> Vec<Fault> {
    let in_turn = |script: &str| shell(&format!("{STARTED} {script}"));
    vec![
        (
            "an end in a turn",
            in_turn("echo bye >&2; kill -9 $$"),
            &["in turn 1: the program ended", "signal: 9", "| bye"],
        ),
        (
            "an end in a line",
            in_turn("printf '{\"type\": \"te'"),
            &["ended in the middle of a line: {\"type\": \"te"],
        ),
        ("text in a turn", in_turn("echo thinking; cat >/dev/null"), &["it is not JSON", "thinking"]),
        (
            "an unknown message",
            in_turn("echo '{\"type\": \"say\"}'; cat >/dev/null"),
            &["there is no type `say`"],
        ),
        (
            "a message of the start",
            in_turn("echo '{\"type\": \"started\"}'; cat >/dev/null"),
            &["the program wrote `started`, where an event, `turn_end` or `error` is expected"],
        ),
        (
            "hello twice",
            in_turn("echo '{\"type\": \"hello\", \"protocol\": 1}'; cat >/dev/null"),
            &["said `hello` twice"],
        ),
        (
            "a long line",
            in_turn("head -c 40000000 /dev/zero | tr '\\0' x; cat >/dev/null"),
            &["a line of more than 32 MiB"],
        ),
        ("text that is no text", in_turn("printf '\\377\\n'; cat >/dev/null"), &["a line that is not UTF-8"]),
        ("steering text", in_turn("printf '\\033[2J::error::x\\n'; cat >/dev/null"), &["\\u{1b}[2J"]),
        (
            "a turn without an end",
            in_turn("echo slow >&2; cat >/dev/null"),
            &["timed out after 3s", "the turn did not end; the program wrote to its standard error:\n| slow"],
        ),
        (
            "a turn that is not read",
            shell("read -r _; echo '{\"type\": \"started\"}'; echo busy >&2; sleep 60"),
            &["timed out after 3s", "the turn did not end; the program wrote to its standard error:\n| busy"],
        ),
        (
            "an end before the turn is read",
            shell("read -r _; echo '{\"type\": \"started\"}'; sleep 0.5; exit 7"),
            &["in turn 1: the program ended", "exit status: 7"],
        ),
        (
            "a turn without an answer",
            in_turn("echo '{\"type\": \"turn_end\"}'; cat >/dev/null"),
            &["the agent answered nothing", "the program writes {\"type\": \"text\", \"text\": \"..\"}"],
        ),
        (
            "a blank answer",
            in_turn(
                "echo '{\"type\": \"text\", \"text\": \"\\u200b \"}'; echo '{\"type\": \"turn_end\"}'; cat >/dev/null",
            ),
            &[
                "the agent answered nothing that a user would see",
                "in Python `turn.text(..)` or the value that a function returns",
            ],
        ),
        (
            "an error for another conversation",
            in_turn(
                "echo '{\"type\":\"error\",\"message\":\"backend down\",\"session_id\":\"x\"}'; cat >/dev/null",
            ),
            &[
                "the program wrote `error` with the `session_id` `x`, which no conversation has; write the id of `start`",
                "\"message\":\"backend down\"",
            ],
        ),
        (
            "a session that is no text",
            in_turn("echo '{\"type\":\"turn_end\",\"session_id\":null}'; cat >/dev/null"),
            &["its `session_id` is null; write the id of `start`, or leave the key out"],
        ),
        (
            "two spellings of a key",
            in_turn(
                "echo '{\"type\":\"event\",\"event\":{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"rm\"},\"function_call\":{\"name\":\"ls\"}}]}}}'; cat >/dev/null",
            ),
            &["has `functionCall` and `function_call`, which are one key in two spellings"],
        ),
        (
            "a key that stands twice",
            in_turn("echo '{\"type\":\"text\",\"text\":\"a\",\"text\":\"b\"}'; cat >/dev/null"),
            &["key `text` is repeated in one object: its first value would be lost"],
        ),
        (
            "a result without a call",
            in_turn(
                "echo '{\"type\":\"event\",\"event\":{\"content\":{\"parts\":[{\"functionResponse\":{\"name\":\"rm\",\"response\":{}}}]}}}'; echo '{\"type\":\"text\",\"text\":\"ok\"}'; echo '{\"type\":\"turn_end\"}'; cat >/dev/null",
            ),
            &["the result of `rm`, {} was recorded without its call"],
        ),
        (
            "a call under another key",
            in_turn(
                "echo '{\"type\":\"event\",\"event\":{\"content\":{\"parts\":[{\"toolCall\":{\"name\":\"rm\"}}]}}}'; echo '{\"type\":\"text\",\"text\":\"ok\"}'; echo '{\"type\":\"turn_end\"}'; cat >/dev/null",
            ),
            &["a part with the key `tool_call`, which no metric reads: {\"name\":\"rm\"}"],
        ),
        (
            "a change of the state in a fragment",
            in_turn(
                "echo '{\"type\":\"event\",\"event\":{\"partial\":true,\"actions\":{\"stateDelta\":{\"k\":1}}}}'; echo '{\"type\":\"text\",\"text\":\"ok\"}'; echo '{\"type\":\"turn_end\"}'; cat >/dev/null",
            ),
            &["a change of the state `k` was recorded in a fragment"],
        ),
    ]
}

/// Faults behind the last turn.
fn after_the_turn() -> Vec<Fault> {
    let after_turn = |script: &str| shell(&format!("{STARTED} {TURN} {script}"));
    vec![
        (
            "words after the turn",
            after_turn(&format!("{TURN} cat >/dev/null")),
            &["the program wrote `text` "],
        ),
        (
            "a program that ignores its end",
            after_turn("trap '' TERM; while :; do sleep 1; done").end_within(Duration::from_millis(200)),
            &[
                "ending the conversation: the program did not end within 200ms (`end_within`, or `--end-within`, sets the limit) after `end` and the end of its input, and was killed",
            ],
        ),
        (
            "a program that ends badly",
            after_turn("cat >/dev/null; echo leak >&2; exit 4"),
            &["ending the conversation: the program ended with exit status: 4", "| leak"],
        ),
        (
            "a program that is gone badly",
            after_turn("exit 5"),
            &["ending the conversation: the program ended with exit status: 5"],
        ),
    ]
}

/// Each fault is told by its name, without what would steer a terminal, in time.
async fn hold(faults: Vec<Fault>) {
    let one = |(name, agent, told): Fault| async move {
        let begun = Instant::now();
        // The others do not fail for want of time on a busy machine.
        let runs_out = told.iter().any(|told| told.contains("timed out after 3s"));
        let error = error_of(agent, Duration::from_secs(if runs_out { 3 } else { 15 })).await;
        for told in told {
            assert!(error.contains(told), "{name}: {error}");
        }
        assert!(!error.contains('\u{1b}') && error.len() < 8000, "{name}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{name}: {:?}", begun.elapsed());
    };
    let is_silent = |(_, _, told): &Fault| told[0].contains("timed out") || told[0].contains("within");
    let (silent, others): (Vec<_>, Vec<_>) = faults.into_iter().partition(is_silent);
    // The time of the silent ones runs out while the others are held.
    let silent: JoinSet<()> = silent.into_iter().map(one).collect();
    for fault in others {
        one(fault).await;
    }
    silent.join_all().await;
}

#[tokio::test]
async fn each_way_to_break_the_protocol_before_the_turn_is_an_error_with_its_name() {
    hold(before_the_turn()).await;
}

#[tokio::test]
async fn each_way_to_break_the_protocol_in_a_turn_is_an_error_with_its_name() {
    hold(in_the_turn()).await;
}

#[tokio::test]
async fn each_way_to_break_the_protocol_after_the_turn_is_an_error_with_its_name() {
    hold(after_the_turn()).await;
}

/// Answers turn 2 right behind turn 1, then reads it.
const ANSWERS_EARLY: &str =
    "read -r _; echo '{\"type\": \"text\", \"text\": \"hi\"}'; echo '{\"type\": \"turn_end\"}'";

#[tokio::test]
async fn an_answer_before_its_question_is_an_error_each_time() {
    for pause in ["", "", "", "", "sleep 0.01;", "sleep 0.05;"] {
        let script = format!(
            "read -r _; echo '{{\"type\": \"started\"}}'; {ANSWERS_EARLY}; {pause} {TURN} read -r _; cat >/dev/null"
        );
        let mut talk = Conversation::new(shell(&script)).with_timeout(Duration::from_secs(10));
        talk.say("one").await.unwrap();
        let error = talk.say("two").await.unwrap_err().to_string();
        assert!(error.contains("in turn 2: the program wrote `text` without being asked"), "{error}");
        let _ = talk.finish().await;
    }
    let begun = "read -r _; echo '{\"type\": \"started\"}'; printf '{\"type\"'; read -r _; cat >/dev/null";
    let mut talk = Conversation::new(shell(begun)).with_timeout(Duration::from_secs(10));
    let error = talk.say("one").await.unwrap_err().to_string();
    assert!(error.contains("the program began a line before it was asked"), "{error}");
}

#[tokio::test]
async fn what_a_program_writes_for_a_conversation_that_is_over_is_a_note_of_the_next() {
    // Writes for the first conversation in the turn of the second one.
    let script = r#"read -r _; echo '{"type": "started"}'
        read -r _; echo '{"type": "text", "text": "hi"}'; echo '{"type": "turn_end"}'; read -r _
        read -r _; echo '{"type": "started"}'
        read -r _; echo '{"type":"tool_call","name":"rm","args":{},"session_id":"s"}'
        echo '{"type": "text", "text": "hi"}'; echo '{"type": "turn_end"}'; cat >/dev/null"#;
    let agent = shell(script).concurrency(1);
    let talk = || Conversation::new(agent.clone()).with_session(Session::new("a", "u").with_session_id("s"));
    let (mut first, mut second) = (talk(), talk());
    first.say("hi").await.unwrap();
    assert_eq!(first.finish().await.unwrap().notes, [""; 0]);
    second.say("hi").await.unwrap();
    let notes = second.finish().await.unwrap().notes;
    assert!(
        notes[0].starts_with("the program wrote `tool_call` for the conversation `s`, which is over"),
        "{notes:?}"
    );
    assert!(notes[0].contains(r#""name":"rm""#), "{notes:?}");
}

#[tokio::test]
async fn a_key_that_nothing_reads_is_a_note() {
    let script = r#"read -r _; echo '{"type": "started"}'
        read -r _; echo '{"type": "event", "event": {"mood": 1, "content": {"parts": [{"text": "hi"}]}}}'
        echo '{"type": "turn_end"}'; cat >/dev/null"#;
    let mut talk = Conversation::new(shell(script));
    talk.say("hi").await.unwrap();
    let notes = talk.finish().await.unwrap().notes;
    assert_eq!(notes, ["the program wrote `message.event.mood`, which nothing reads"]);
}

#[tokio::test]
async fn a_program_without_an_answer_to_start_runs_out_of_time() {
    let error = error_of(shell("cat >/dev/null"), Duration::from_secs(3)).await;
    assert!(error.contains("opening the session: timed out after 3s"), "{error}");
}

#[tokio::test]
async fn a_program_that_ends_well_on_its_own_did_no_harm() {
    let mut talk = Conversation::new(shell(&format!("{STARTED} {TURN} exit 0")));
    talk.say("hi").await.unwrap();
    talk.finish().await.unwrap();
}

#[tokio::test]
async fn conversations_of_one_program_are_kept_apart() {
    let agent = sample("python3", "weather.py").concurrency(2);
    let mut talks: Vec<_> = (0..4)
        .map(|_| {
            Conversation::new(agent.clone()).with_session(Session::new("a", "u").with_session_id("the same"))
        })
        .collect();
    for (talk, city) in talks.iter_mut().zip(["Rome", "Oslo", "Lima", "Bern"]) {
        let turn = talk.say(format!("weather in {city}")).await.unwrap();
        assert_eq!(turn.invocation.response_text(), format!("It is sunny in {city}."));
    }
    for (talk, city) in talks.iter_mut().zip(["Bern", "Rome", "Oslo", "Lima"]) {
        let turn = talk.say(format!("weather in {city}")).await.unwrap();
        assert_eq!(turn.invocation.response_text(), format!("It is sunny in {city}."));
    }
    for talk in talks {
        talk.finish().await.unwrap();
    }
}

#[tokio::test]
async fn a_program_of_several_conversations_has_to_name_them() {
    let agent = shell("while read -r _; do echo '{\"type\": \"started\"}'; done").concurrency(2);
    let (mut first, mut second) = (agent.clone(), agent);
    first.start(&Session::new("a", "u").with_session_id("1")).await.unwrap();
    let error = second.start(&Session::new("a", "u").with_session_id("2")).await.unwrap_err().to_string();
    assert!(error.contains("wrote `started` without a `session_id`, and serves 2 conversations"), "{error}");
}

#[tokio::test]
async fn a_program_that_breaks_is_not_given_to_other_conversations() {
    let script = "echo x >> \"$STARTS\"; while read -r line; do case $line in \
        *'\"type\":\"start\"'*) echo '{\"type\": \"started\", \"session_id\": \"s\"}';; *) exit 1;; esac; done";
    let folder = std::env::temp_dir().join(format!("eval-agents-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let starts = folder.join("starts");
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("echo '{{\"type\": \"hello\", \"protocol\": 1}}'; {script}")])
        .env("STARTS", &starts);
    let agent = Process::new(&command).concurrency(4);
    for _ in 0..2 {
        let mut talk =
            Conversation::new(agent.clone()).with_session(Session::new("a", "u").with_session_id("s"));
        let error = talk.say("hi").await.unwrap_err().to_string();
        assert!(error.contains("the program ended") && error.contains("exit status: 1"), "{error}");
        talk.finish().await.unwrap();
    }
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), "x\nx\n");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn what_a_program_started_ends_with_it() {
    let script = format!(
        "{STARTED} sleep 300 & echo \"{{\\\"type\\\": \\\"text\\\", \\\"text\\\": \\\"$!\\\"}}\"; echo '{{\"type\": \"turn_end\"}}'; cat >/dev/null"
    );
    let mut talk = Conversation::new(shell(&script));
    let pid = talk.say("hi").await.unwrap().invocation.response_text();
    assert!(Path::new("/proc").join(&pid).exists() || !Path::new("/proc").exists());
    talk.finish().await.unwrap();
    let is_alive = || {
        let is_there = Command::new("kill").args(["-0", &pid]).output().unwrap().status.success();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        is_there && !stat.is_ok_and(|stat| stat.contains(") Z "))
    };
    // It was killed. On a busy machine it takes a while until the system says so.
    for _ in 0..1000 {
        if !is_alive() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{pid} is alive");
}

/// "Try it" of the protocol, with the samples in place of the program that it names.
#[test]
fn what_the_page_lets_people_try_shows_what_it_says() {
    let page = std::fs::read_to_string(file("docs/protocol.md")).expect("the page is there");
    let (_, tried) = page.split_once("## Try it").expect("the page has the section");
    let (_, block) = tried.split_once("```sh\n").expect("it has a block");
    let (script, _) = block.split_once("```").expect("the block ends");
    for sample in ["sh samples/weather.sh", "python3 samples/weather.py"] {
        let script = script.replace("python3 agent.py", sample);
        let output = Command::new("sh").args(["-c", &script]).current_dir(file("")).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let types: Vec<_> = lines.map(|line| line["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(types[..3], ["hello", "started", "tool_call"], "{sample}: {said}");
        assert_eq!(types.last().map(String::as_str), Some("turn_end"), "{sample}: {said}");
        assert!(said.contains("It is sunny in Paris."), "{sample}: {said}");
    }
}
