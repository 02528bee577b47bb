//! `record`: conversations with an agent become drafts of a set.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::folder::{Folder, Ran};
use crate::run::agents;

const SET: &str = "evals/weather.evalset.json";
const AGENT: [&str; 4] = ["--agent-cmd", "python3 weather.py", "-o", SET];

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("weather.py", std::fs::read(agents().join("weather.py")).expect("the program"));
    folder
}

fn set(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read(SET)).expect("JSON")
}

fn ids(folder: &Folder) -> Vec<String> {
    let set = set(folder);
    let cases = set["eval_cases"].as_array().expect("cases");
    cases.iter().map(|case| case["eval_id"].as_str().expect("an id").to_owned()).collect()
}

/// Types lines into a conversation.
pub(crate) fn typed(folder: &Folder, args: &[&str], lines: &str) -> Ran {
    let mut command = folder.command(&[&["record"], args].concat());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("its input").write_all(lines.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends").into()
}

const PROMPTS: &str =
    "What is the weather in Paris?\nAnd the weather in Oslo?\n\nWhat is the weather in Lima?\n";

#[test]
fn prompts_become_drafts_that_the_agent_passes_once_they_are_accepted() {
    let folder = folder("record-prompts");
    folder.write("prompts.txt", PROMPTS);
    let ran = folder.run(&[&["record", "prompts.txt"], &AGENT[..]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("recording 2 of 2: What is the weather in Lima?"), "{}", ran.err);
    assert!(ran.err.contains("  calls get_weather(city: \"Lima\")\n"), "{}", ran.err);
    assert_eq!(ids(&folder), ["what_is_the_weather_in_paris", "what_is_the_weather_in_lima"]);
    let case = &set(&folder)["eval_cases"][0];
    assert_eq!(case["conversation"].as_array().map(Vec::len), Some(2));
    assert_eq!(case["final_session_state"]["last_city"], "Oslo");
    assert_eq!(case["_draft"]["from"], "`python3 weather.py`");
    let last = "tests refuse drafts; review them: `cargo evalset review evals/weather.evalset.json`, or accept what is right: `cargo evalset \
                accept evals/weather.evalset.json`";
    assert_eq!(ran.out.lines().last(), Some(last), "{}", ran.out);

    let all: Vec<String> = ids(&folder).iter().map(|id| format!("{SET}:{id}")).collect();
    for case in &all {
        assert_eq!(folder.run(&["accept", case]).code, Some(0));
    }
    let ran = folder.run(&["run", SET, "--agent-cmd", "python3 weather.py"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn a_conversation_that_fails_makes_no_case_and_the_others_stay() {
    let folder = folder("record-fails");
    let lines = "{\"user\": \"What is the weather in Atlantis?\", \"id\": \"lost\"}\n{\"user\": \"What is the weather in Lima?\"}\n";
    folder.write("prompts.jsonl", lines);
    let ran = folder.run(&[&["record", "prompts.jsonl"], &AGENT[..]].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert_eq!(ids(&folder), ["what_is_the_weather_in_lima"]);
    let why = "not recorded  conversation 1, `lost`: run 1: agent error in turn 1: ";
    assert!(ran.out.contains(why) && ran.out.contains("no weather station in Atlantis"), "{}", ran.out);
}

#[test]
fn a_variable_for_recorded_calls_of_models_is_not_ignored() {
    let folder = folder("record-models");
    folder.write("prompts.txt", "What is the weather in Lima?\n");
    let record = |mode: &str| -> Ran {
        let mut command = folder.command(&[&["record", "prompts.txt"], &AGENT[..]].concat());
        command.env("EVALSET_MODELS", mode).output().expect("the program runs").into()
    };
    let ran = record("repaly");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("`EVALSET_MODELS` is `repaly`; it can be `replay`"), "{}", ran.err);
    for mode in ["record", "record-all", "replay", "rebind"] {
        let ran = record(mode);
        let said = "so `EVALSET_MODELS` can neither record nor replay their calls";
        assert!(ran.code == Some(2) && ran.err.contains(said), "{mode}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("once the draft is accepted, `EVALSET_MODELS=record`"), "{}", ran.err);
    }
    assert!(!folder.path(SET).exists(), "nothing was asked");
    let ran = record("live");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

/// Answers otherwise each time: it counts in a file how often it was started.
const MOODY: &str = r#"
import json, sys

def say(**message):
    print(json.dumps(message), flush=True)

count = len(open("count").read())
open("count", "a").write("x")
say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        calls = [("look", {"city": "Oslo", "at": count}), ("note", {})]
        for name, args in calls if count % 2 == 0 else calls[::-1]:
            say(type="tool_call", name=name, args=args, result="ok")
        if count == 1:
            say(type="tool_call", name="extra", args={}, result="ok")
        say(type="text", text=f"It is day {count}.")
        say(type="turn_end")
"#;

#[test]
fn what_varies_between_runs_is_told_and_only_calls_of_the_first_are_kept() {
    let folder = folder("record-runs");
    folder.write("moody.py", MOODY).write("count", "").write("prompts.txt", "Weather?\n");
    let args = ["record", "prompts.txt", "--agent-cmd", "python3 moody.py", "-o", SET, "--runs", "3"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let case = &set(&folder)["eval_cases"][0];
    assert_eq!(case["_draft"]["runs"], 3);
    let varied: Vec<_> =
        case["_draft"]["varied"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(
        varied,
        [
            r#"turn 1: the argument `at` of `look`: 0 | 1 | 2; a rule for it is `{"calls":{"look":{"at":{"within":2.0}}}}`"#,
            r#"turn 1: `extra` was called in some runs and not in the first one; a rule for it is `{"others":["extra"]}`"#,
            r#"turn 1: the order of the calls; a rule for it is `{"order":"any"}`"#,
            r#"turn 1: the answer: "It is day 0." | "It is day 1." | "It is day 2.""#,
        ]
    );
    let text = case["conversation"].to_string();
    assert!(text.contains(r#""args":{"at":0,"city":"Oslo"}"#) && !text.contains("It is day"), "{text}");
    assert!(ran.out.contains("no agent can pass it by ADK's default criteria"), "{}", ran.out);
}

#[test]
fn a_conversation_can_be_typed_taken_back_and_named() {
    let folder = folder("record-typed");
    let lines = "/case paris\nWhat is the weather in Paris?\nWhat is the weather in Atlantis?\n/undo\n/state\n\
        /case two cities\nWhat is the weather in Oslo?\nAnd the weather in Lima?\nAnd the weather in Rome?\n/undo\n/wat\n/quit\nnever said\n";
    let ran = typed(&folder, &AGENT, lines);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in [
        "weather> It is sunny in Paris.\n",
        "/undo takes the turn back\n",
        "{\"last_city\":\"Paris\"}\n",
        "saved `paris`\n",
        "turns: 2\n",
        "/case NAME  /undo",
        "saved `two cities`\n",
    ] {
        assert!(ran.err.contains(part), "{} lacks {part}", ran.err);
    }
    assert_eq!(ids(&folder), ["paris", "two cities"]);
    assert_eq!(set(&folder)["eval_cases"][1]["conversation"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_typed_conversation_that_failed_is_not_saved() {
    let folder = folder("record-typed-fails");
    let ran = typed(&folder, &AGENT, "What is the weather in Atlantis?\nWhat is the weather in Paris?\n");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("not recorded  a conversation: run 1: agent error in turn 1"), "{}", ran.out);
    assert!(!folder.path(SET).exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_what_was_typed() {
    let folder = folder("record-interrupted");
    let mut command = folder.command(&[&["record"], &AGENT[..]].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(b"What is the weather in Paris?\n").expect("it reads");
    let mut err = std::io::BufReader::new(child.stderr.take().expect("its stderr")).lines();
    let answered = err.by_ref().any(|line| line.is_ok_and(|line| line.starts_with("weather> ")));
    assert!(answered, "the agent answers");
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` is there").success());
    let rest: Vec<String> = err.map_while(Result::ok).collect();
    // The input is still open.
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{rest:?}");
    drop(input);
    assert!(rest.iter().any(|line| line == "saved `what_is_the_weather_in_paris`"), "{rest:?}");
    assert_eq!(ids(&folder), ["what_is_the_weather_in_paris"]);
}

#[test]
fn a_draft_that_cannot_be_written_is_kept_elsewhere() {
    let folder = folder("record-unwritten");
    folder.write("prompts.txt", "What is the weather in Lima?\n");
    // The agent puts a file in place of the folder of the set.
    let agent = "sh -c 'touch evals; exec python3 weather.py'";
    let ran = folder.run(&["record", "prompts.txt", "--agent-cmd", agent, "-o", SET]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let (_, kept) = ran.err.split_once("; the draft is in `").expect("its place");
    let (kept, help) = kept.split_once('`').expect("its place");
    assert!(help.contains(&format!("then `cargo evalset import {kept} -o {SET}`")), "{}", ran.err);
    let kept_set: Value = serde_json::from_slice(&std::fs::read(kept).expect("the draft")).expect("JSON");
    assert_eq!(kept_set["eval_cases"][0]["_draft"]["format"], "recording");
    std::fs::remove_file(folder.path("evals")).expect("a file");
    let imported = folder.run(&["import", kept, "-o", SET]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.out, imported.err);
    assert_eq!(ids(&folder), ["what_is_the_weather_in_lima"]);
    std::fs::remove_file(kept).expect("a file");
}

#[test]
fn the_agent_the_prompts_and_the_set_are_looked_at_first() {
    let folder = folder("record-refused");
    folder.write("prompts.txt", PROMPTS).write("empty.txt", "\n").write("bad.evalset.json", "{");
    folder.write("table.csv", "question,answer\nHi,Hello\n").write("p.yaml", "- Hi\n");
    for (args, why) in [
        (&["record", "-o", SET, "prompts.txt"][..], "--agent-url"),
        (
            &["record", "-o", SET, "empty.txt", "--agent-cmd", "python3 weather.py"],
            "there is no message of a user in it",
        ),
        (
            &["record", "-o", "bad.evalset.json", "prompts.txt", "--agent-cmd", "python3 weather.py"],
            "has 1 error",
        ),
        (
            &[
                "record",
                "-o",
                "empty.txt/a/b.evalset.json",
                "prompts.txt",
                "--agent-cmd",
                "python3 weather.py",
            ],
            "cannot write `empty.txt/a/b.evalset.json`",
        ),
        (
            &["record", "-o", SET, "lost.txt", "--agent-cmd", "python3 weather.py"],
            "name a file that is there, or leave it out",
        ),
        (
            &["record", "-o", SET, "table.csv", "--agent-cmd", "python3 weather.py"],
            "`table.csv`: it is a table, whose lines are no messages of a user\n  = help: `cargo evalset import` makes cases",
        ),
        (
            &["record", "-o", SET, "p.yaml", "--agent-cmd", "python3 weather.py"],
            "`p.yaml`: it is YAML, whose lines are no messages of a user\n  = help: a paragraph is a conversation",
        ),
        (&["record", "-o", SET, "prompts.txt", "--agent-cmd", ""], "`--agent-cmd` is no command"),
        (&["record", "-o", SET, "prompts.txt", "--agent-cmd", "x", "--runs", "0"], "--runs"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.out);
        assert!(ran.err.contains(why), "{args:?}: {} lacks {why}", ran.err);
    }
    assert!(!folder.path(SET).exists());
}
