//! `traces`, and `run --trace`.

#![expect(clippy::needless_pass_by_value, reason = "spans and messages are written where they are used")]

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};

fn span(trace: u64, number: u64, parent: &str, attributes: Value) -> Value {
    json!({
        "traceId": format!("{trace:032x}"), "spanId": format!("{number:016x}"), "parentSpanId": parent, "name": "x",
        "startTimeUnixNano": format!("176000000{trace}{number}00000000"),
        "endTimeUnixNano": format!("176000000{trace}{number}50000000"), "attributes": attributes,
    })
}

fn messages(role: &str, part: Value) -> String {
    json!([{ "role": role, "parts": [part] }]).to_string()
}

/// A trace of a question about a city, the call of a tool, and an answer.
fn trace(number: u64, city: &str, answer: &str) -> Vec<Value> {
    let user = messages("user", json!({ "type": "text", "content": format!("How is {city}?") }));
    let call =
        json!({ "type": "tool_call", "id": "c", "name": "get_weather", "arguments": { "city": city } });
    let chat = |put_out: String| {
        json!({
            "gen_ai.operation.name": "chat", "gen_ai.input.messages": user, "gen_ai.output.messages": put_out,
            "gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 5,
        })
    };
    let agent = format!("{:016x}", 1);
    vec![
        span(
            number,
            1,
            "",
            json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather" }),
        ),
        span(number, 2, &agent, chat(messages("assistant", call))),
        span(
            number,
            3,
            &agent,
            json!({
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather",
                "gen_ai.tool.call.arguments": json!({ "city": city }).to_string(), "gen_ai.tool.call.result": "\"grey\"",
            }),
        ),
        span(number, 4, &agent, chat(messages("assistant", json!({ "type": "text", "content": answer })))),
    ]
}

fn lines(spans: &[Value]) -> String {
    spans.iter().fold(String::new(), |text, span| text + &span.to_string() + "\n")
}

fn case(city: &str, answer: &str) -> Value {
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    json!({
        "eval_id": city,
        "conversation": [{
            "user_content": content("user", &format!("how is  {city}?")),
            "final_response": content("model", answer),
            "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": city } }] },
        }],
    })
}

/// A set of two cases, and the traces of both.
fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    let cases = [case("Oslo", "Oslo is grey."), case("Rome", "Rome is sunny.")];
    folder.write("cities.evalset.json", json!({ "eval_set_id": "cities", "eval_cases": cases }).to_string());
    folder.write("oslo.jsonl", lines(&trace(1, "Oslo", "Oslo is grey.")));
    folder.write("rome.jsonl", lines(&trace(2, "Rome", "Rome is sunny.")));
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["run", "cities.evalset.json"], args].concat())
}

#[test]
fn traces_are_scored_as_agents_are_and_each_case_says_which_conversation_it_took() {
    let folder = folder("traces-scored");
    let ran =
        run(&folder, &["--trace", "oslo.jsonl", "--trace", "rome.jsonl", "-m", "tool_trajectory_avg_score"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("cities/Oslo  1/1  tool_trajectory_avg_score 1.0  50 tokens"), "{}", ran.out);
    let told = format!("trace cities/Oslo: conversation {:032x}, by the user's words", 1);
    assert!(ran.err.contains(&told), "{}", ran.err);
    folder.write("rome.jsonl", lines(&trace(2, "Rome", "It is raining cats.")));
    let ran = run(&folder, &["--trace", "oslo.jsonl", "--trace", "rome.jsonl"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.out.contains("cargo evalset run cities.evalset.json:Rome --trace oslo.jsonl --trace rome.jsonl"),
        "{}",
        ran.out
    );
}

#[test]
fn goldens_without_a_trace_and_traces_without_a_golden_fail_and_say_so() {
    let folder = folder("traces-uncovered");
    let ran = run(&folder, &["--trace", "oslo.jsonl"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("no conversation belongs to this case"), "{}", ran.out);
    assert!(ran.err.contains("trace cities/Rome: no conversation"), "{}", ran.err);

    let one = ["run", "cities.evalset.json:Oslo", "--trace", "oslo.jsonl", "--trace", "rome.jsonl"];
    let ran = folder.run(&one);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(
        ran.err.contains(&format!("1 conversation of the traces without a case in this run: `{:032x}`", 2)),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--allow-uncovered"), "{}", ran.err);
    let ran = folder.run(&[&one[..], &["--format", "json"]].concat());
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &error["outcome"]), (Some(2), &json!("unmeasurable")), "{}", ran.out);
    let ran = folder.run(&[&one[..], &["--allow-uncovered"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.out);
}

#[test]
fn a_trace_is_one_run_of_one_case() {
    let folder = folder("traces-once");
    let both = ["--trace", "oslo.jsonl", "--trace", "rome.jsonl"];
    let ran = run(&folder, &[&both[..], &["--runs", "5"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(
        ran.err.contains("5 runs of each case are asked for, and a stored trace is one run"),
        "{}",
        ran.err
    );

    let mut again = case("Oslo", "Oslo is grey.");
    again["eval_id"] = json!("again");
    let cases = [case("Oslo", "Oslo is grey."), again];
    folder.write("twice.evalset.json", json!({ "eval_set_id": "twice", "eval_cases": cases }).to_string());
    let ran = folder.run(&["run", "twice.evalset.json", "--trace", "oslo.jsonl"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let says = format!(
        "the conversation {:032x} of the traces belongs to two cases: `twice/Oslo` and `twice/again`",
        1
    );
    assert!(ran.err.contains(&says), "{}", ran.err);
    let ran = folder.run(&["run", "twice.evalset.json:again", "--trace", "oslo.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn other_words_of_the_user_are_a_note_of_the_case() {
    let folder = folder("traces-words");
    let mut joke = case("Oslo", "Oslo is grey.");
    joke["conversation"][0]["user_content"]["parts"][0]["text"] = json!("Tell me a joke");
    folder.write("joke.evalset.json", json!({ "eval_set_id": "joke", "eval_cases": [joke] }).to_string());
    let ran = folder.run(&["run", "joke.evalset.json", "--trace", "oslo.jsonl", "--format", "json"]);
    let note = r#"turn 1: the user says \"How is Oslo?\" in the trace, and \"Tell me a joke\" in the case"#;
    assert!(ran.out.contains(note), "{}", ran.out);
    let warning = r#"warning joke/Oslo: turn 1: the user says "How is Oslo?" in the trace, and "Tell me a joke" in the case"#;
    assert!(ran.err.contains(warning), "{}", ran.err);
}

/// `evalset.otel` appends to its file, so a second run of the agent is in it too.
#[test]
fn a_conversation_that_is_in_the_traces_twice_is_named_with_its_remedy() {
    let folder = folder("traces-twice");
    let rome = lines(&trace(2, "Rome", "Rome is sunny."));
    folder.write(
        "both.jsonl",
        lines(&trace(1, "Oslo", "Oslo is grey.")) + &rome + &lines(&trace(3, "Rome", "Rome is sunny.")),
    );
    let ran = run(&folder, &["--trace", "both.jsonl"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    for said in [
        "trace cities/Rome: 2 conversations, and only one can be meant".to_owned(),
        format!("the traces have the same conversation more than once: `{:032x}` and `{:032x}`", 2, 3),
        "keep one of them; a file to which an agent appends its traces has to be removed".to_owned(),
    ] {
        assert!(ran.err.contains(&said), "{}", ran.err);
    }
    assert!(!ran.err.contains("add cases for them"), "{}", ran.err);
    // The same spans twice are one conversation.
    folder.write("both.jsonl", lines(&trace(1, "Oslo", "Oslo is grey.")) + &rome + &rome);
    let ran = run(&folder, &["--trace", "both.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn what_is_no_trace_is_an_error_before_anything_runs() {
    let folder = folder("traces-none");
    folder.write("cut.json", "{\"resourceSpans\": [{\"scopeSpans\": [");
    for (file, said, help) in [
        ("cut.json", "cut.json: not readable as JSON: EOF while parsing", "the file may be cut: export"),
        ("cities.evalset.json", "cities.evalset.json: no traces", "docs/traces.md lists the forms"),
        ("no.json", "no.json: cannot be read", "name a file that this user can read"),
    ] {
        for ran in [run(&folder, &["--trace", file]), folder.run(&["traces", file])] {
            assert!(ran.code == Some(2) && ran.err.contains(said) && ran.err.contains(help), "{}", ran.err);
        }
    }
    let ran = run(&folder, &["--trace", "oslo.jsonl", "--agent-cmd", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("cannot be used with"), "{}", ran.err);
    let ran = run(&folder, &["--trace", "oslo.jsonl", "--tools", "golden"]);
    assert!(ran.code == Some(2) && ran.err.contains("stored traces call no tools"), "{}", ran.err);
    assert!(ran.err.contains("leave out `--tools golden`"), "{}", ran.err);
    let ran = run(&folder, &["--agent-cmd", "x", "--allow-uncovered"]);
    assert!(ran.code == Some(2) && ran.err.contains("cannot be used with"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_refused_and_not_waited_for() {
    let folder = folder("traces-pipe");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo runs");
    assert!(made.success());
    for file in ["pipe", "/dev/zero"] {
        for args in [
            &["traces", file][..],
            &["run", "cities.evalset.json", "--trace", file],
            &["import", file, "-o", "new.evalset.json"],
        ] {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(2), "{args:?}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains("no regular file"), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn traces_shows_turns_calls_and_what_is_missing_without_a_word_that_a_terminal_obeys() {
    let folder = folder("traces-shown");
    let ran = folder.run(&["traces", "oslo.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let shown = format!(
        "conversation {:032x}\n  turn 1  weather  0.35 s  40 tokens in  10 tokens out\n    user    How is Oslo?\n    call    \
         get_weather(city: \"Oslo\")\n            -> \"grey\"\n    answer  Oslo is grey.\n\n──────────\nTraces 1 conversation · 1 \
         turn · 4 spans\n",
        1
    );
    assert_eq!(ran.out, shown);
    let ran = folder.run(&["traces", "oslo.jsonl", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let turn = &document["conversations"][0]["turns"][0];
    assert_eq!(turn["calls"][0]["args"], json!({ "city": "Oslo" }));
    assert_eq!((&turn["answer"], &turn["usage"]["input_tokens"]), (&json!("Oslo is grey."), &json!(40)));

    // A turn without times did not take 0.00 s, and not since 1970.
    let untimed = lines(&trace(1, "Oslo", "Oslo is grey.")).replace("TimeUnixNano", "Unknown");
    folder.write("untimed.jsonl", untimed);
    let ran = folder.run(&["traces", "untimed.jsonl"]);
    assert!(ran.out.contains("\n  turn 1  weather  40 tokens in  10 tokens out\n"), "{}", ran.out);
    let ran = folder.run(&["traces", "untimed.jsonl", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let turn = &document["conversations"][0]["turns"][0];
    assert_eq!((&turn["start_unix_nano"], &turn["end_unix_nano"]), (&Value::Null, &Value::Null));

    let mut spans = trace(1, "Oslo", "\u{1b}[2Jgone\n::error::injected");
    spans[2]["attributes"]["gen_ai.tool.call.arguments"] = json!("<REDACTED>");
    spans[1]["attributes"]["gen_ai.output.messages"] = json!("<elided>");
    folder.write("oslo.jsonl", lines(&spans));
    let ran = folder.run(&["traces", "oslo.jsonl"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.out.contains("lost    arguments_not_captured: the arguments of the call of `get_weather`"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains("\n::error"), "{}", ran.out);
    let help = "4 spans\n       many libraries write no content unless they are told to: docs/traces.md says what to set";
    assert!(ran.out.contains(help), "{}", ran.out);
    folder.write("none.json", r#"{"resourceSpans": []}"#);
    let ran = folder.run(&["traces", "none.json"]);
    assert_eq!((ran.code, ran.out.contains("0 conversations")), (Some(1), true), "{}", ran.out);
}

/// A conversation that is stored asks no model, so that no recording answers it.
#[test]
fn recorded_calls_of_models_beside_a_set_are_not_opened_for_traces() {
    let folder = folder("traces-models");
    // Nothing reads it, and so nothing misses what it has.
    folder.write("cities.evalset.models/Oslo.json", "{\"model_recordings\": 1");
    let both = ["--trace", "oslo.jsonl", "--trace", "rome.jsonl"];
    let ran = run(&folder, &both);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("recording"), "{}", ran.out);
    for (mode, code) in [("replay", 0), ("record-all", 0), ("misspelt", 2)] {
        let args = [&["run", "cities.evalset.json"], &both[..]].concat();
        let ran: Ran = folder.command(&args).env("EVALSET_MODELS", mode).output().expect("it runs").into();
        assert_eq!(ran.code, Some(code), "{mode}: {}{}", ran.out, ran.err);
        let is_told =
            ran.err.contains("stored traces ask no model, so `EVALSET_MODELS` changes no recording");
        assert_eq!(is_told, mode == "record-all", "{}", ran.err);
    }
    assert_eq!(folder.read("cities.evalset.models/Oslo.json"), "{\"model_recordings\": 1");
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);

    // What cannot be tried is no pass.
    let mut rome = case("Rome", "Rome is sunny.");
    rome["_models"] = json!({ "faults": [{ "at": { "turn": 1, "call": 1 }, "fault": { "status": 429 } }] });
    let cases = [case("Oslo", "Oslo is grey."), rome];
    folder.write("cities.evalset.json", json!({ "eval_set_id": "cities", "eval_cases": cases }).to_string());
    let ran = run(&folder, &both);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let said = "case `Rome` has faults of models (`_models`), which cannot be tried on what is stored: no model is asked";
    assert!(ran.out.contains(said) && ran.out.contains("1 passed"), "{}", ran.out);
}

#[test]
fn a_trace_that_lacks_something_is_listed_in_a_review_and_not_offered() {
    let folder = folder("traces-review");
    // What the tool of Oslo returned is missing, which no expectation reads. The answer about Rome is.
    let mut oslo = trace(1, "Oslo", "It rains.");
    oslo[2]["attributes"].as_object_mut().unwrap().remove("gen_ai.tool.call.result");
    let mut rome = trace(2, "Rome", "It rains.");
    rome[3]["attributes"]["gen_ai.output.messages"] = json!("<elided>");
    folder.write("oslo.jsonl", lines(&oslo)).write("rome.jsonl", lines(&rome));
    let ran = run(&folder, &["--trace", "oslo.jsonl", "--trace", "rome.jsonl"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let list = folder.run(&["review", "--list", "--format", "json"]);
    let document: Value = serde_json::from_str(&list.out).unwrap();
    let [oslo, rome] = [0, 1].map(|at| &document["items"][at]);
    let warnings = oslo["accept"][0]["warnings"].to_string();
    assert!(warnings.contains("the record says: turn 1: result_not_captured"), "{document}");
    assert_eq!(rome["accept"], json!([]), "{document}");
    let why = rome["not_offered"].as_str().unwrap();
    assert!(why.starts_with("run 1: ") && why.contains("answer_not_captured"), "{why}");
}

/// agentevals 0.11.0 gives the sample these scores.
#[test]
fn the_sample_of_agentevals_has_its_scores() {
    let Some(fixtures) = std::env::var_os("EVALSET_TRACES").map(std::path::PathBuf::from) else {
        eprintln!("the sample of agentevals: skipped, EVALSET_TRACES names no folder");
        return;
    };
    let folder = Folder::new("traces-helm");
    let path = |name: &str| fixtures.join(name).display().to_string();
    let (set, traces) = (path("agentevals-sample-eval_set_helm.json"), path("agentevals-sample-helm.json"));
    let args = [
        "run",
        &set,
        "--trace",
        &traces,
        "-m",
        "tool_trajectory_avg_score=0.5",
        "-m",
        "response_match_score=0.5",
    ];
    let ran = folder.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let case = &document["cases"][0];
    let score = |name: &str| {
        let metrics = case["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == name).map(|metric| metric["score"].clone())
    };
    assert_eq!(score("tool_trajectory_avg_score"), Some(json!(1.0)));
    assert_eq!(score("response_match_score"), Some(json!(0.811_881_188_118_811_9)));
    assert_eq!(score("inference_call_count_v1"), Some(json!(2.0)));
    assert_eq!(case["usage"]["agent_tokens"], json!(3776 + 130));
}
