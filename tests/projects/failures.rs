//! Output of failing tests; the other tests go on.

use std::process::Command;

use eval_core::format::FunctionCall;
use eval_core::{EvalCase, EvalSet, Invocation, json};

use crate::project::{Draft, Project};
use crate::run::Run;

/// More lines than this scroll away.
const MAX_FAILURE_LINES: usize = 40;

/// Cases that break in their second turn: the id is also what the user asks for, and this is the reason.
const BROKEN: [(&str, &str); 6] = [
    ("fail", "connection refused"),
    ("panic", "panicked: index out of bounds"),
    ("hang", "timed out after 200ms"),
    ("block", "blocked its thread for 1.5s where 200ms is allowed"),
    ("say nothing", "the agent answered nothing"),
    ("report an error", "`agent` reported model error 429: quota exceeded"),
];

fn project() -> Project {
    let good = |set: EvalSet, id| set.case(EvalCase::new(id).turn(turn("Hello", "Hello")));
    let set = BROKEN.iter().fold(good(EvalSet::new("weather"), "first"), |set, (id, _)| {
        let asked = format!("{id}!");
        set.case(EvalCase::new(*id).turn(turn("Hello", "Hello")).turn(turn(&asked, &asked)))
    });
    let wrong = EvalCase::new("be wrong").turn(turn("be wrong!", "It is raining in Oslo."));
    let set = good(set.case(wrong), "last");
    Draft::new("failures")
        .file("evals/weather.evalset.json", set.to_json())
        .file("evals/large.evalset.json", large().to_json())
        .shared()
}

fn turn(user: &str, answer: &str) -> Invocation {
    Invocation::user(user).response(answer)
}

/// Four turns that all go wrong at length.
fn large() -> EvalSet {
    let asked = "a question that goes on and on\n".repeat(50);
    let calls =
        (0..30).map(|call| FunctionCall::new("find", json!({ "call": call, "why": "z".repeat(300) })));
    let turn = calls.fold(turn(&asked, &"another answer\n".repeat(50)), Invocation::call);
    let case = (0..4).fold(EvalCase::new("everything"), |case, _| case.turn(turn.clone()));
    EvalSet::new("large").case(case)
}

#[test]
fn an_agent_that_breaks_fails_its_case_alone_and_names_the_run_and_turn() {
    let run = project().cargo(&["test", "weather"]).fails();
    for (id, reason) in BROKEN {
        let test = format!("weather::{}", id.replace(' ', "_"));
        let text = run.failure(&test);
        let headline = format!("Error: {test}: run 1 of 2: agent error in turn 2: {reason}");
        assert!(text.lines().any(|line| line.starts_with(&headline)), "{headline}\n{text}");
        assert!(text.contains("look_up"), "what was recorded until then is shown:\n{text}");
    }
    let good: Vec<_> =
        run.tests().into_iter().filter(|(_, end)| *end == "ok").map(|(name, _)| name).collect();
    assert_eq!(good, ["weather::first", "weather::last"], "{run}");
}

#[test]
fn an_agent_that_blocks_is_named_while_it_does() {
    let run = project().cargo(&["test", "weather::block"]).fails();
    let watchdog =
        "evalset: weather::block, run 1 of 2, turn 2, has been blocking its thread past its timeout of 200ms";
    assert!(run.stderr().contains(watchdog), "{run}");
}

#[test]
fn a_wrong_answer_is_shown_beside_the_expected_one_with_its_place() {
    let project = project();
    let run = project.cargo(&["test", "weather::be_wrong"]).fails();
    let text = run.failure("weather::be_wrong");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("Error: weather::be_wrong: tool_trajectory_avg_score is 0.0, below 1.0"),
        "{text}"
    );
    assert!(lines[1].contains("case `be wrong` of set `weather`"), "{text}");
    for part in [
        "look_up(place: \"Oslo\")",
        "expected  It is raining in Oslo.",
        "actual    It is snowing in Oslo, as it always is in winter.",
    ] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }

    let place = lines[1].trim_start().strip_prefix("--> ").and_then(|rest| rest.split("  ").next());
    let place: Vec<&str> = place.unwrap_or_default().split(':').collect();
    let &[file, line, column] = &place[..] else { panic!("no place:\n{text}") };
    let json = std::fs::read_to_string(project.folder().join(file)).expect("an editor can open it");
    let at = json.lines().nth(line.parse::<usize>().expect("a line") - 1).expect("the line is there");
    assert!(at[column.parse::<usize>().expect("a column") - 1..].starts_with('{'), "{at}");
    let case = json.lines().skip(line.parse().expect("a line")).take(2).collect::<String>();
    assert!(case.contains("\"be wrong\""), "{case}");
}

#[test]
fn the_printed_commands_run_that_test_alone() {
    let project = project();
    // Without a journal the record is printed by running again.
    let run = Run::of(project.command().args(["test", "weather"]).env("EVALSET_JOURNAL", "off")).fails();
    for (label, more) in [("run again", ""), ("whole record", "record of run 2 of 2")] {
        let text = run.failure("weather::be_wrong");
        let line = text.lines().find_map(|line| line.strip_prefix(label)).expect("the commands come last");
        project.shell(line.trim()).fails().says(more).ran(&[("weather::be_wrong", "FAILED")]);
    }
}

#[test]
fn a_failure_fits_on_a_screen_however_large_the_case_is() {
    let run = project().cargo(&["test"]).fails();
    let failed = run.tests().into_iter().filter(|(_, end)| *end == "FAILED");
    let failed: Vec<_> = failed.map(|(name, _)| name).collect();
    assert!(failed.contains(&"large::everything"), "{run}");
    for test in failed {
        let text = run.failure(test);
        assert!(text.lines().count() <= MAX_FAILURE_LINES, "{} lines:\n{text}", text.lines().count());
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(400), "{longest:?} characters in a line:\n{text}");
    }
}

#[test]
fn evalset_print_chooses_how_much_is_shown() {
    let project = project();
    let with = |print: &str| {
        let mut command: Command = project.command();
        command.args(["test", "weather::first", "--", "--show-output"]);
        Run::of(command.env("EVALSET_PRINT", print))
    };
    with("").passes().never_says("weather::first: passed");
    with("failures").passes().never_says("weather::first: passed");
    with("all")
        .passes()
        .says("weather::first: passed")
        .says("tool_trajectory_avg_score")
        .never_says("record of run");
    with("record").passes().says("record of run 2 of 2").says("\"text\":\"Hello\"");
    with("al")
        .fails()
        .says("Error: `EVALSET_PRINT` is `al`; it can be `failures` (the default), `all`")
        .ran(&[("weather::first", "FAILED")]);
}

#[test]
fn variables_that_nothing_reads_and_numbers_that_are_none_fail_every_test() {
    let project = project();
    for (name, value, says) in [
        (
            "EVALSET_JUGDE",
            "live",
            "nothing reads the variable `EVALSET_JUGDE`; did you mean `EVALSET_JUDGE`?",
        ),
        (
            "EVALSET_JUDGE_SLOTS",
            "many",
            "the variable `EVALSET_JUDGE_SLOTS` has to be a whole number from 1 to 65535",
        ),
    ] {
        let mut command: Command = project.command();
        command.args(["test", "weather::first"]).env(name, value);
        let run = Run::of(&mut command).fails().ran(&[("weather::first", "FAILED")]);
        run.says(&format!("Error: weather::first: harness error: {says}"));
    }
}
