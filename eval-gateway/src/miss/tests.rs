//! Messages about calls that are not recorded.

use super::*;
use crate::canonical::Masks;
use crate::recording::{Answer, Body};
use crate::wire::Incoming;

fn asked(body: &str) -> Asked {
    Asked::read(&Incoming::chat(body), &Masks::default(), &|_| None).unwrap()
}

fn recording(bodies: &[&str]) -> CaseRecording {
    let mut recording = CaseRecording::new("paris");
    for (turn, body) in (1..).zip(bodies) {
        let asked = asked(body);
        let mut exchange = Exchange::new(turn, asked.wire, &asked.model, asked.parts);
        let body = Body::Json(eval_format::Value::Null);
        exchange.answers.push(Answer { run: 1, status: 200, headers: Vec::new(), body });
        recording.add(exchange);
    }
    recording
}

fn told(recording: &CaseRecording, body: &str, run: usize) -> String {
    let known = Known {
        recording,
        shown: "x.models/paris.json",
        exists: true,
        record: "EVALSET_MODELS=record run",
        record_all: "EVALSET_MODELS=record-all run",
    };
    not_recorded(&asked(body), Place { run, turn: 1, call: 1 }, known)
}

const RECORDED: &str = r#"{"model":"m","temperature":1,"messages":[{"role":"system","content":"Be brief.\nBe kind."},{"role":"user","content":"On 2026-11-23?"}],
    "tools":[{"type":"function","function":{"name":"f","description":"old"}}]}"#;

#[test]
fn a_miss_names_each_part_that_differs_and_no_other() {
    let recording = recording(&[RECORDED]);
    for (from, to, part, lines) in [
        ("\"model\":\"m\"", "\"model\":\"n\"", "the model", "  - model: m\n  + model: n"),
        ("\"temperature\":1", "\"temperature\":0", "options", "  - temperature: 1\n  + temperature: 0"),
        ("Be kind.", "Be honest.", "the system prompt", "  system prompt:\n    - Be kind.\n    + Be honest."),
        (
            "2026-11-23",
            "2026-11-24",
            "the messages",
            "  messages:\n    - {\"content\":\"On 2026-11-23?\",\"role\":\"user\"}\n    + {\"content\":\"On 2026-11-24?\",\"role\":\"user\"}\n    a clock or a random id? a rule in `models_mask` of `shared.json` masks it in what is recorded from then on",
        ),
        ("\"name\":\"f\"", "\"name\":\"g\"", "the tools", "  - tool `f`\n  + tool `g`"),
    ] {
        let model = if part == "the model" { "n" } else { "m" };
        let expected = format!(
            "call 1 of a model (openai chat, {model}) is not recorded: {part} changed\n\
             the nearest recorded call is of turn 1 (- recorded, + asked):\n{lines}\nrecord it  EVALSET_MODELS=record-all run"
        );
        assert_eq!(told(&recording, &RECORDED.replace(from, to), 1), expected);
    }
    let described = told(&recording, &RECORDED.replace("\"old\"", "\"new\""), 1);
    assert!(described.contains("  tool `f`:\n") && described.contains("\"new\""), "{described}");
}

#[test]
fn the_nearest_call_is_the_one_with_the_most_words_in_common_whatever_the_order_of_the_file() {
    // Graphs of agents ask the same question under other prompts.
    const ROLES: [&str; 6] = ["planner", "critic", "writer", "editor", "judge", "tester"];
    let body = |role: &str, tone: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"You are part of a team.\nYou are the {role} of it.\n{tone}"}},{{"role":"user","content":"Plan a trip."}}]}}"#
        )
    };
    let mut recording = CaseRecording::new("paris");
    for role in ROLES {
        let asked = asked(&body(role, "Be kind."));
        let mut exchange = Exchange::new(1, asked.wire, &asked.model, asked.parts);
        let body = Body::Json(eval_format::Value::Null);
        exchange.answers.push(Answer { run: 1, status: 200, headers: Vec::new(), body });
        recording.add(exchange);
    }
    recording.sort();
    for (at, role) in (1..).zip(ROLES) {
        let known =
            Known { recording: &recording, shown: "x", exists: true, record: "run", record_all: "run" };
        let told =
            not_recorded(&asked(&body(role, "Be honest.")), Place { run: 1, turn: 1, call: at }, known);
        let changed: Vec<&str> =
            told.lines().map(str::trim).filter(|line| line.starts_with(['-', '+'])).collect();
        assert_eq!(changed, ["- Be kind.", "+ Be honest."], "{role}: {told}");
    }
}

#[test]
fn a_run_that_was_not_recorded_is_told_apart_from_answers_that_are_used_up() {
    let recording = recording(&[RECORDED]);
    let raised = told(&recording, RECORDED, 2);
    assert!(raised.contains("for run 2: `x.models/paris.json` has 1 run; was `runs` raised?"), "{raised}");
    let used = told(&recording, RECORDED, 1);
    assert!(used.contains("so often: `x.models/paris.json` has 1 answer of run 1 to this request"), "{used}");
    let empty = told(&CaseRecording::new("paris"), RECORDED, 1);
    assert!(empty.contains("`x.models/paris.json` has no calls"), "{empty}");
}

#[test]
fn a_miss_says_how_many_messages_are_equal_and_which_one_is_new_or_gone() {
    let body = |messages: &[&str]| format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","));
    let (one, two, three) = (
        r#"{"content":"one","role":"user"}"#,
        r#"{"content":"two","role":"assistant"}"#,
        r#"{"content":"three","role":"user"}"#,
    );
    let recording = recording(&[&body(&[one, two])]);
    for (asked, lines) in [
        (&[one, two, three][..], format!("  messages, the first 2 equal:\n    + {three}\nrecord it")),
        (&[one], format!("  messages, the first 1 equal:\n    - {two}\nrecord it")),
        (&[one, three], format!("  messages, the first 1 equal:\n    - {two}\n    + {three}\nrecord it")),
        (&[three, two], format!("  messages:\n    - {one}\n    + {three}\nrecord it")),
    ] {
        let told = told(&recording, &body(asked), 1);
        assert!(told.contains("is not recorded: the messages changed\n"), "{told}");
        assert!(told.contains(&lines), "{told}");
    }
}

#[test]
fn a_miss_names_the_results_of_tools_that_changed_in_each_wire() {
    for (path, request) in [
        (
            "/v1/chat/completions",
            r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"sunny"}]}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"sunny"}]}"#,
        ),
        (
            "/v1/messages",
            r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"sunny"}]}]}"#,
        ),
        (
            "/v1beta/models/m:generateContent",
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"sunny"}}}]}]}"#,
        ),
    ] {
        let of =
            |body: &str| Asked::read(&Incoming::posted(path, body), &Masks::default(), &|_| None).unwrap();
        let known = of(request);
        let mut exchange = Exchange::new(1, known.wire, &known.model, known.parts);
        let body = Body::Json(eval_format::Value::Null);
        exchange.answers.push(Answer { run: 1, status: 200, headers: Vec::new(), body });
        let mut recording = CaseRecording::new("paris");
        recording.add(exchange);
        let known =
            Known { recording: &recording, shown: "x", exists: true, record: "run", record_all: "run" };
        let place = Place { run: 1, turn: 1, call: 2 };
        let told = not_recorded(&of(&request.replace("sunny", "rainy")), place, known);
        assert!(told.contains("is not recorded: the results of tools changed\n"), "{path}: {told}");
        assert!(told.contains("  results of tools, the first 2 messages equal:\n"), "{path}: {told}");
        assert!(told.contains("sunny") && told.contains("rainy"), "{path}: {told}");
        // What the user said is no difference.
        let told = not_recorded(&of(&request.replace("\"hi\"", "\"hello\"")), place, known);
        assert!(told.contains("is not recorded: the messages changed\n"), "{path}: {told}");
    }
}

#[test]
fn two_long_texts_do_not_make_the_message_wait() {
    let body = |word: &str| {
        let lines: Vec<String> =
            (0..40_000).map(|line| format!("{word} {}\\n", line * 7919 % 40_000)).collect();
        let lines = lines.concat();
        format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"{lines}"}},{{"role":"user","content":"hi"}}]}}"#
        )
    };
    let recording = recording(&[&body("was")]);
    let begun = std::time::Instant::now();
    let text = told(&recording, &body("is"), 1);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(text.contains("more lines"), "{text}");
}

#[test]
fn a_change_far_behind_in_a_long_line_is_shown() {
    let long = "It is a long story of weather. ".repeat(20);
    let body = |word: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"{long}Be {word}.{long}"}},{{"role":"user","content":"{long}\\nSay {word}. {long}"}}]}}"#
        )
    };
    let text = told(&recording(&[&body("kind")]), &body("honest"), 1);
    let lines: Vec<&str> =
        text.lines().map(str::trim_start).filter(|line| line.starts_with(['-', '+'])).collect();
    let [system_was, system_is, was, is] = lines[..] else { panic!("{text}") };
    for (line, sign, word) in [
        (system_was, "- ...", "Be kind."),
        (system_is, "+ ...", "Be honest."),
        (was, "- ", "Say kind."),
        (is, "+ ", "Say honest."),
    ] {
        assert!(line.starts_with(sign) && line.contains(word) && line.len() < 200, "{line}");
    }
}

#[test]
fn a_changed_option_of_a_long_schema_is_shown() {
    let format = |word: &str| {
        let long = "a_long_name_of_a_field ".repeat(20);
        RECORDED.replace("\"temperature\":1", &format!("\"response_format\":{{\"name\":\"{long}{word}\"}}"))
    };
    let text = told(&recording(&[&format("kind")]), &format("honest"), 1);
    assert!(text.contains("field kind\"}") && text.contains("field honest\"}"), "{text}");
}
