mod adk;
mod support;

use std::sync::Arc;

use eval_format::config::UserSimulatorConfig;
use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig, EvalSet, Invocation, Map, Value};
use serde_json::json;

use crate::EvalRunner;
use crate::agent::{Agent, BoxError, Turn};
use crate::case_runner::{CaseRunner, IdentifiedCase, Run, SessionNames};
use crate::judge::{
    Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest, JudgeRouter, JudgeSource, ScriptedJudge,
    Settings,
};
use crate::options::Options;
use crate::report::CaseReport;
use crate::verdict::{Role, Verdict};
use support::{Shared, run};

/// Says what it hears, and remembers what it heard last.
struct Echo;

impl Agent for Echo {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        if turn.text() == "break" {
            return Err("connection refused".into());
        }
        let args = json!({ "what": turn.text() });
        turn.recorder().tool("note", args, async { Ok::<_, BoxError>(json!({ "noted": true })) }).await?;
        turn.recorder().state("heard", turn.text());
        turn.recorder().text(format!("You said: {}", turn.text()));
        Ok(())
    }
}

fn scenario() -> EvalCase {
    EvalCase::new("trip").scenario(ConversationScenario::new("Hi there", "Book a room."))
}

/// A runner that asks whether the agent took notes.
fn runner(simulator: UserSimulatorConfig) -> EvalRunner {
    let config = EvalConfig::default()
        .with("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("note"))
        .with_user_simulator(simulator);
    EvalRunner::new().config(config)
}

/// Plays the scenario with a user that gives these replies.
fn play(simulator: UserSimulatorConfig, replies: &[&str]) -> (CaseReport, Vec<JudgeRequest>) {
    let judge = Shared::new(ScriptedJudge::new(replies.iter().copied()));
    let report = run(runner(simulator).judge(judge.clone()).run_case(&scenario(), || Echo)).unwrap();
    (report, judge.requests())
}

fn said(report: &CaseReport) -> Vec<String> {
    report.runs[0].transcript.turns.iter().map(|turn| turn.invocation.user_text()).collect()
}

fn trouble(report: &CaseReport) -> &str {
    match &report.verdict {
        Verdict::Error { role: Role::Simulator, message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_user_begins_word_for_word_and_goes_on_until_the_stop_signal() {
    for stop in ["</finished>", "</FINISHED>", "Thanks, bye!\n</Finished> :)"] {
        let (report, requests) =
            play(UserSimulatorConfig::default(), &["A room, please.", " in Paris\n", stop]);
        assert_eq!(report.verdict, Verdict::Passed, "{report}");
        assert_eq!(said(&report), ["Hi there", "A room, please.", " in Paris\n"], "{stop}");
        assert_eq!(requests.len(), 3, "nobody is asked for the first message");
        assert!(requests[0].prompt.contains("user: Hi there\n\nagent: You said: Hi there\n"));
        assert!(
            requests[1].prompt.contains("\n\nuser: A room, please.\n\nagent: You said: A room, please.\n")
        );
        assert!(requests.iter().all(|request| request.template.as_deref() == Some("user_simulator/2")));
        assert_eq!(report.runs[0].transcript.state.get("heard").and_then(Value::as_str), Some(" in Paris\n"));
    }
}

#[test]
fn the_model_is_asked_as_the_config_says() {
    let config = UserSimulatorConfig::default()
        .model("openai/gpt-5-mini")
        .model_option("temperature", 0.25)
        .model_option("max_output_tokens", 100_i64)
        .include_function_calls(true)
        .custom_instructions("{{ conversation_plan }}|{{ conversation_history }}|{{ stop_signal }}");
    let (report, requests) = play(config, &["</finished>"]);
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    let request = &requests[0];
    assert_eq!((request.model.as_str(), request.temperature), ("openai/gpt-5-mini", Some(0.25)));
    assert_eq!(request.config, Map::from([("max_output_tokens", 100_i64)]));
    assert_eq!(request.template.as_deref(), Some("user_simulator_custom/2"));
    assert_eq!(
        request.prompt,
        "Book a room.|user: Hi there\n\nagent called tool 'note' with args: {\"what\":\"Hi there\"}\n\n\
         Tool 'note' returned: {\"noted\":true}\n\nagent: You said: Hi there|</finished>"
    );
    let (_, requests) = play(UserSimulatorConfig::default(), &["</finished>"]);
    assert_eq!((requests[0].model.as_str(), requests[0].temperature), ("gemini-2.5-flash", None));
    assert!(requests[0].config.is_empty() && !requests[0].prompt.contains("called tool"));
}

#[test]
fn each_run_has_a_sample_of_its_own() {
    let judge = Shared::new(ScriptedJudge::new(["one", "</finished>", "two", "</finished>"]));
    let runner = runner(UserSimulatorConfig::default()).runs(2).judge(judge.clone());
    let report = run(runner.run_case(&scenario(), || Echo)).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert_eq!(report.runs[1].transcript.turns[1].invocation.user_text(), "two");
    let samples: Vec<u32> = judge.requests().iter().map(|request| request.sample).collect();
    assert_eq!(samples, [0, 0, 1, 1]);
}

#[test]
fn a_conversation_without_an_end_is_an_error_of_the_simulator() {
    for (most, replies) in [(2, 1), (3, 2), (20, 19)] {
        let config = UserSimulatorConfig::default().max_allowed_invocations(most);
        let (report, requests) = play(config, &["and then?"; 1001]);
        let message = trouble(&report);
        let expected = format!(
            "simulator error in turn {}: the user sent {most} messages and did not end the conversation; raise \
             `max_allowed_invocations`",
            most + 1
        );
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!((said(&report).len(), requests.len()), (replies + 1, replies), "what was played is kept");
    }
}

#[test]
fn without_a_limit_there_is_one_all_the_same() {
    let config = UserSimulatorConfig::default().max_allowed_invocations(-1);
    let (report, requests) = play(config, &["more"; 1001]);
    assert!(trouble(&report).contains("the user sent 1000 messages"), "{}", trouble(&report));
    assert_eq!(requests.len(), 999);
}

#[test]
fn an_empty_reply_is_an_error_of_the_simulator() {
    for reply in ["", " \n\t"] {
        let (report, _) = play(UserSimulatorConfig::default(), &["A room.", reply]);
        let message = trouble(&report);
        assert!(
            message
                .starts_with("simulator error in turn 3: the model `gemini-2.5-flash` answered with no text"),
            "{message}"
        );
        assert_eq!(said(&report), ["Hi there", "A room."]);
    }
}

#[test]
fn trouble_of_the_judge_is_an_error_of_the_simulator_and_keeps_what_was_said() {
    let refused = JudgeError::new(JudgeErrorKind::Refused, "I would rather not");
    let judge = ScriptedJudge::results([Ok(JudgeReply::new("A room.")), Err(refused.clone())]);
    let runner = runner(UserSimulatorConfig::default()).judge(judge);
    let report = run(runner.run_case(&scenario(), || Echo)).unwrap();
    assert_eq!(
        trouble(&report),
        "simulator error in turn 3: the model that plays the user gave no message: I would rather not"
    );
    assert_eq!(said(&report).len(), 2);
    assert_eq!(report.runs[0].error.as_ref().and_then(|error| error.judge.clone()), Some(refused));
    let text = report.to_string();
    assert!(text.contains("\nturn 2: \"A room.\"\n"), "{text}");
}

#[test]
fn a_judge_that_panics_is_an_error_of_the_simulator() {
    struct Panics;
    impl Judge for Panics {
        async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
            panic!("index out of bounds")
        }
        fn is_offline(&self) -> bool {
            true
        }
    }
    let runner = runner(UserSimulatorConfig::default()).judge(Panics);
    let report = run(runner.run_case(&scenario(), || Echo)).unwrap();
    assert!(trouble(&report).contains("panicked: index out of bounds"), "{}", trouble(&report));
}

#[test]
fn without_a_judge_a_scenario_fails_or_is_skipped_where_that_is_allowed() {
    let config =
        EvalConfig::default().with("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("note"));
    let verdict = |skip_missing: bool| {
        let settings = Settings { skip_missing, ..Settings::default() };
        let judges = JudgeRouter::new(settings, JudgeSource::Nobody, None);
        let runner =
            CaseRunner::new(&config, Vec::new(), judges, Options::default(), SessionNames::default(), None)
                .unwrap();
        let case = scenario();
        let (eval_set_id, name) = (None, "trip".to_owned());
        let identified =
            IdentifiedCase { eval_set_id, case: &case, location: None, name, log: Arc::default() };
        let label = "trip, run 1 of 1".to_owned();
        let played = run(runner.evaluate(&identified, Box::new(Echo), &Run::new(1, label)));
        assert_eq!(played.report.transcript.turns.len(), 1, "the starting prompt needs no judge");
        runner.decide_alone(&identified, played.report).verdict
    };
    assert!(matches!(verdict(false), Verdict::Error { role: Role::Simulator, .. }));
    assert!(matches!(verdict(true), Verdict::Skipped(_)));
}

#[test]
fn an_error_of_the_agent_stays_the_agents() {
    let (report, _) = play(UserSimulatorConfig::default(), &["break"]);
    let Verdict::Error { role: Role::Agent, message } = &report.verdict else { panic!("{report}") };
    assert_eq!(message, "agent error in turn 2: connection refused");
}

#[test]
fn metrics_that_need_an_expectation_are_skipped_in_a_scenario_and_count_elsewhere() {
    let turns = EvalCase::new("turns").turn(Invocation::user("Hi").response("You said: Hi"));
    let set = EvalSet::new("s").case(turns).case(scenario().final_state(Map::from([("heard", "Hi there")])));
    let runner = EvalRunner::new()
        .criterion("response_match_score", Criterion::new(1.0))
        .criterion("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("note"));
    let report = run(runner.judge(ScriptedJudge::new(["</finished>"])).run_set(&set, || Echo, 2)).unwrap();
    assert!(report.all_passed(), "{report}");
    let verdict = |case: usize, metric: &str| report.cases[case].metric(metric).unwrap().verdict.clone();
    assert_eq!(verdict(0, "response_match_score"), Verdict::Passed);
    let reason = "the case is a scenario, which has no expected turns".to_owned();
    assert_eq!(verdict(1, "response_match_score"), Verdict::Skipped(reason));
    assert_eq!(verdict(1, "final_session_state_match"), Verdict::Passed);
    assert_eq!(verdict(1, "trajectory_single_tool_use"), Verdict::Passed);
}

#[test]
fn a_scenario_that_nothing_decides_is_an_error_before_anything_runs() {
    let set = EvalSet::new("s").case(EvalCase::new("a").turn(Invocation::user("Hi"))).case(scenario());
    let setup = || -> Echo { panic!("nothing may run") };
    let error = run(EvalRunner::new().run_set(&set, setup, 1)).unwrap_err().to_string();
    assert!(error.starts_with("case `trip`: no metric decides it, so it would pass unchecked; "), "{error}");
    let error = run(EvalRunner::new().run_case(&scenario(), setup)).unwrap_err().to_string();
    assert!(error.contains("add a metric that needs no expected turns"), "{error}");
    let zero = runner(UserSimulatorConfig::default().max_allowed_invocations(0));
    assert!(run(zero.run_case(&scenario(), setup)).unwrap_err().to_string().contains("no messages"));
}

#[test]
fn a_user_who_says_too_much_is_an_error_of_the_simulator_and_takes_no_more_memory() {
    let novel = "x".repeat(2_000_000);
    let judge = Shared::new(ScriptedJudge::new(vec![novel; 40]));
    let config = UserSimulatorConfig::default().max_allowed_invocations(41);
    let report = run(runner(config).judge(judge.clone()).run_case(&scenario(), || Echo)).unwrap();
    let message = trouble(&report);
    assert!(
        message.contains("the conversation is longer than 4 MiB, which is more than a model reads"),
        "{message}"
    );
    let asked: usize = judge.requests().iter().map(|request| request.prompt.len()).sum();
    assert!(asked < 8 << 20, "{asked} bytes");
    // One message that is too long by itself is not sent.
    let judge = Shared::new(ScriptedJudge::new(["x".repeat(5_000_000)]));
    let report =
        run(runner(UserSimulatorConfig::default()).judge(judge).run_case(&scenario(), || Echo)).unwrap();
    assert_eq!(said(&report).len(), 1, "{}", trouble(&report));
}

/// A script knows no cases: the end of one conversation must not end another one.
#[test]
fn cases_that_run_at_the_same_time_do_not_share_a_script() {
    /// Takes its time, so that the cases run beside each other.
    struct SlowEcho;
    impl Agent for SlowEcho {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            Echo.turn(turn).await
        }
    }
    let set = ["a", "b", "c"].into_iter().fold(EvalSet::new("s"), |set, id| {
        set.case(EvalCase::new(id).scenario(ConversationScenario::new("Hi there", "Book a room.")))
    });
    let script = || ScriptedJudge::new(["one", "</finished>", "two", "</finished>", "three", "</finished>"]);
    let report = |concurrency| {
        let runner = runner(UserSimulatorConfig::default()).judge(script());
        run(runner.run_set(&set, || SlowEcho, concurrency)).unwrap()
    };
    let one_by_one = report(1);
    assert!(one_by_one.all_passed(), "{one_by_one}");
    let lines: Vec<_> = one_by_one.cases.iter().map(|case| said(case)[1].clone()).collect();
    assert_eq!(lines, ["one", "two", "three"]);
    let beside = report(3);
    assert_eq!(said(&beside.cases[0]), ["Hi there", "one"], "the first that asks has the script");
    for (case, name) in beside.cases[1..].iter().zip(["b", "c"]) {
        let says = format!(
            "the case `{name}` asks a script that the case `a` asks too, and both run at the same time"
        );
        assert!(trouble(case).contains(&says), "{case}");
    }
}

#[test]
fn a_failing_scenario_shows_what_the_user_and_the_agent_said() {
    let config = EvalConfig::default()
        .with("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("book"))
        .with("response_match_score", Criterion::new(0.8));
    let runner = EvalRunner::new().config(config).judge(ScriptedJudge::new(["Now!", "</finished>"]));
    let report = run(runner.run_case(&scenario(), || Echo)).unwrap();
    assert_eq!(report.verdict, Verdict::Failed);
    // How long it takes depends on what else the machine does.
    let text = report.to_string();
    let lines: Vec<&str> =
        text.lines().map(|line| line.split(", invocation_duration_v1").next().unwrap_or(line)).collect();
    insta::assert_snapshot!("failing", lines.join("\n"));
}

/// ADK cannot send it either: it fails whenever it runs the case.
#[test]
fn a_scenario_that_begins_with_nothing_is_an_error_when_it_runs() {
    let case = EvalCase::parse(
        r#"{"eval_id": "trip", "conversation_scenario": {"starting_prompt": "", "conversation_plan": "Book a room."}}"#,
    )
    .unwrap();
    let judge = Shared::new(ScriptedJudge::new(["</finished>"]));
    let runner = runner(UserSimulatorConfig::default()).judge(judge.clone());
    let report = run(runner.run_case(&case, || Echo)).unwrap();
    assert!(trouble(&report).contains("the scenario begins with an empty message"), "{report}");
    assert!(report.runs[0].transcript.turns.is_empty() && judge.requests().is_empty());
}

/// Ready-made personas.
mod personas {
    use super::super::*;
    use eval_format::config::InstructionTemplate;

    #[test]
    fn every_text_is_a_template_and_every_behavior_is_complete() {
        for persona in [Persona::Expert, Persona::Novice, Persona::Evaluator] {
            let profile = profile(&persona);
            assert_eq!(profile.id, persona.id());
            assert!(profile.behaviors.len() >= 5 && !profile.description.is_empty());
            for behavior in &profile.behaviors {
                let lists = [&behavior.behavior_instructions, &behavior.violation_rubrics];
                assert!(lists.iter().all(|list| !list.is_empty()), "{behavior:?}");
                let texts = lists.into_iter().flatten().chain([&behavior.name, &behavior.description]);
                for text in texts {
                    assert!(InstructionTemplate::parse(text).is_ok() && !text.contains("  "), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_persona_of_ones_own_is_itself() {
        let own = UserPersona::new("EXPERT", "as ADK writes it");
        assert_eq!(*profile(&Persona::Own(own.clone())), own);
    }
}
