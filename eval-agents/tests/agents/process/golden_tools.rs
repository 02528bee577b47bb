//! Programs that ask for the answers of their tools.

use std::process::Command;
use std::time::Duration;

use eval_agents::Process;
use eval_core::format::{EvalCase, Invocation, ToolSource, Value};
use eval_core::{CaseReport, Criterion, EvalRunner, Verdict};

/// A program in Python that does in its turn what this code does, with `ask(id, name, args)` and `write(**message)`.
fn program(started: &str, turn: &str) -> Process {
    let turn = turn.replace('\n', "\n        ");
    let script = format!(
        r#"
import json, sys
def write(**message): print(json.dumps(message), flush=True)
def read(): return json.loads(sys.stdin.readline() or '{{"type": "end"}}')
def ask(id, name, **args): write(type="tool", id=id, name=name, args=args)
write(type="hello", protocol=1)
while (message := read())["type"] != "end":
    if message["type"] == "start":
        is_golden = message.get("tools") == "golden"
        write(type="started", {started})
    elif message["type"] == "turn":
        {turn}
        write(type="turn_end")
"#
    );
    Process::new(Command::new("python3").args(["-c", &script]))
}

const GOLDEN: &str = r#"**({"tools": "golden"} if is_golden else {})"#;

fn case() -> EvalCase {
    let turn = Invocation::parse(
        r#"{"user_content": {"parts": [{"text": "go"}]}, "intermediate_data": {
            "tool_uses": [{"name": "f", "args": {"x": 1}}, {"name": "f", "args": {"x": 2}}],
            "tool_responses": [{"name": "f", "response": {"n": 1}}, {"name": "f", "response": {"n": 2}}]}}"#,
    );
    EvalCase::new("c").turn(turn.unwrap())
}

async fn play(case: &EvalCase, agent: &Process) -> CaseReport {
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let runner = runner.tools(ToolSource::Golden).timeout(Duration::from_secs(10));
    runner.run_case(case, || agent.clone()).await.unwrap()
}

fn answer(report: &CaseReport) -> String {
    report.runs[0].transcript.turns[0].invocation.response_text()
}

fn error(report: &CaseReport) -> String {
    let Verdict::Error { message, .. } = &report.verdict else { panic!("{report}") };
    message.clone()
}

/// Asks for two calls before it reads an answer, records them, and tells the answers in the order of their ids.
const TWO_AT_A_TIME: &str = r#"ask("a", "f", x=1)
ask("b", "f", x=2)
answers = sorted([read(), read()], key=lambda it: it["id"])
for x, it in enumerate(answers):
    write(type="tool_call", name="f", args={"x": x + 1}, result=it.get("result", {"error": it.get("error")}))
write(type="text", text=" ".join(str(it.get("result", it.get("error"))) for it in answers) + " " + str(answers[0].get("state")))"#;

#[tokio::test]
async fn a_program_is_told_what_the_case_says_that_its_tools_answer() {
    let program = program(GOLDEN, TWO_AT_A_TIME);
    let report = play(&case(), &program).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!(answer(&report), "{'n': 1} {'n': 2} None");

    // A fault keeps the first answer back, and the second one comes before it.
    let faults =
        r#"{"1": {"f#1": {"after": 0.3, "state": {"k": 7}}, "f#2": {"raises": "connection reset"}}}"#;
    let faulty = case().with_extra("_tools", Value::parse(faults).unwrap());
    let report = play(&faulty, &program).await;
    assert_eq!(answer(&report), "{'n': 1} connection reset {'k': 7}");
    assert_eq!(report.runs[0].transcript.state["k"].as_i64(), Some(7));
}

/// Twenty calls at once, of which only the first is to fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_are_counted_as_the_program_wrote_them_on_any_runtime() {
    let answers = r#"for n in range(20): ask(f"{n:02}", "f", x=1)
answers = {it["id"]: it for it in (read() for n in range(20))}
write(type="text", text=" ".join(id for id in sorted(answers) if "error" in answers[id]))"#;
    let program = program(GOLDEN, answers);
    let faults: Vec<String> = (2..=20).map(|n| format!(r#""f#{n}": {{"response": {n}}}"#)).collect();
    let faults = format!(r#"{{"1": {{"f#1": {{"raises": "first"}}, {}}}}}"#, faults.join(", "));
    let faulty = case().with_extra("_tools", Value::parse(&faults).unwrap());
    for _ in 0..5 {
        assert_eq!(answer(&play(&faulty, &program).await), "00");
    }
}

#[tokio::test]
async fn the_state_that_a_fault_sets_is_kept_after_a_turn_that_told_the_whole_state() {
    let turn = r#"if "first" in str(message):
    write(type="text", text="hi")
    write(type="turn_end", state={"a": 1})
    continue
ask("a", "f", x=1)
read()
write(type="text", text="hi")"#;
    let program = program(GOLDEN, turn);
    let faults = r#"{"2": {"f#1": {"response": {}, "state": {"k": 7}}}}"#;
    let case = EvalCase::new("c").turn(Invocation::user("first")).turn(Invocation::user("second"));
    let report = play(&case.with_extra("_tools", Value::parse(faults).unwrap()), &program).await;
    assert_eq!(Value::Object(report.runs[0].transcript.state.clone()).to_string(), r#"{"a":1,"k":7}"#);
}

#[tokio::test]
async fn a_miss_is_an_error_whatever_the_program_makes_of_it() {
    let hides = program(GOLDEN, "ask(\"a\", \"g\", y=1)\nread()\nwrite(type=\"text\", text=\"all is well\")");
    let message = error(&play(&case(), &hides).await);
    assert!(
        message.contains("no golden answers g(y: 1) in turn 1; the turn has answers for f(x: 1), f(x: 2)"),
        "{message}"
    );
}

/// As an agent of a framework whose tools do not go through the framework.
#[tokio::test]
async fn an_expected_call_that_was_not_asked_for_is_an_error_unless_no_tool_answers_it() {
    let record = |name: &str, x: i64| {
        format!(r#"write(type="tool_call", name="{name}", args={{"x": {x}}}, result={{"n": 1}})"#)
    };
    let both = format!("{}\n{}\nwrite(type=\"text\", text=\"done\")", record("f", 1), record("f", 2));
    let silent = program(GOLDEN, &both);
    let report = play(&case(), &silent).await;
    let message = error(&report);
    let says = "tools error in turn 1: f(x: 1) was recorded, and no golden was asked for it: something else may have run it";
    assert!(message.starts_with(says), "{message}");

    let asks_once = program(GOLDEN, &format!("ask(\"a\", \"f\", x=1)\nread()\n{both}"));
    let message = error(&play(&case(), &asks_once).await);
    assert!(message.starts_with("tools error in turn 1: f(x: 2) was recorded"), "{message}");

    let own = r#"write(type="own_call", name="f")"#;
    let told = program(GOLDEN, &format!("{own}\n{own}\n{both}"));
    let report = play(&case(), &told).await;
    assert!(report.verdict.passed(), "{report}");

    // A call that the turn does not expect may be a handoff.
    let other = program(GOLDEN, &format!("{}\n{TWO_AT_A_TIME}", record("handoff", 1)));
    assert_eq!(play(&case(), &other).await.verdict, Verdict::Failed);

    let real = program("", &format!("{own}\n{both}"));
    let message = error(&EvalRunner::new().run_case(&case(), || real.clone()).await.unwrap());
    assert!(message.contains("told that no tool answers a call of `f`, and its tools are real"), "{message}");
}

#[tokio::test]
async fn an_answer_that_never_comes_ends_with_the_turn() {
    let faults = r#"{"1": {"f#1": "never"}}"#;
    let faulty = case().with_extra("_tools", Value::parse(faults).unwrap());
    let agent = program(GOLDEN, TWO_AT_A_TIME);
    let runner = EvalRunner::new().tools(ToolSource::Golden).timeout(Duration::from_secs(3));
    let message = error(&runner.run_case(&faulty, || agent.clone()).await.unwrap());
    assert!(
        message.contains("timed out after 3s") && message.contains("the fault `f#1` leaves its call"),
        "{message}"
    );
}

#[tokio::test]
async fn a_program_that_does_not_ask_is_refused_before_its_first_turn() {
    let old = program("", "write(type=\"text\", text=\"hi\")");
    let report = play(&case(), &old).await;
    let message = error(&report);
    assert!(
        message.contains("the program does not ask for golden tools, so its tools would run"),
        "{message}"
    );
    assert!(report.runs[0].transcript.turns.is_empty());

    let other = program(r#"tools="golden tools""#, "");
    let message = error(&play(&case(), &other).await);
    assert!(
        message.contains(r#"`started` with `tools` "golden tools"; it is "golden" or "mcp""#),
        "{message}"
    );
}

#[tokio::test]
async fn real_tools_are_not_asked_for() {
    let case = case();
    for (started, why) in [
        (r#"tools="golden""#, r#"the program wrote `started` with `tools` "golden", and its tools are real"#),
        ("", "the program asked for the golden answer of `f`, and its tools are real"),
    ] {
        let agent = program(started, TWO_AT_A_TIME);
        let message = error(&EvalRunner::new().run_case(&case, || agent.clone()).await.unwrap());
        assert!(message.contains(why), "{message}");
    }
}
