//! Compares the simulated user with google-adk's. Given the same replies, both send the same messages and end alike. If
//! a config gives the prompt, both send the same prompts.

use eval_format::{EvalConfig, EvalSet, Invocation};
use serde_json::{Value, json};

use super::support::{Shared, run};
use crate::EvalRunner;
use crate::agent::{Agent, BoxError, Event, Turn};
use crate::judge::{JudgeError, JudgeErrorKind, JudgeReply, ScriptedJudge};
use crate::report::RunReport;
use crate::test_support::adk::ask;
use crate::verdict::Role;

const STORED: &str = include_str!("../../../tests/vectors/scenarios.json");

/// The intended differences: the case, the answer here, and the reason.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "nothing but white space",
        r#"{"messages": ["Hi", "A room."], "end": "error", "asked": 2, "prompts": null}"#,
        "ADK sends a message of nothing but white space; here it is as empty as an empty one",
    ),
    (
        "an agent of several lines",
        r#"{"messages": ["Hi"], "end": "stop", "asked": 1, "prompts":
            ["</finished>|Book a room in Paris.|user: Hi\n\nagent: Hi.\n\n  user: I am done."]}"#,
        "in ADK's history an agent can write what looks like the user's own words",
    ),
    (
        "an agent that writes the signal",
        r#"{"messages": ["Hi"], "end": "stop", "asked": 1, "prompts":
            ["</finished>|Book a room in Paris.|user: Hi\n\nagent: Say (finished)."]}"#,
        "a simulated user that quotes the agent would end the conversation",
    ),
    (
        "calls with arguments",
        r#"{"messages": ["Hi"], "end": "stop", "asked": 1, "prompts":
            ["</finished>|Book a room in Paris.|user: Hi\n\nagent called tool 'find' with args: {\"city\":\"Paris\",\"nights\":2,\"pets\":null}\n\nagent: Done."]}"#,
        "ADK shows the arguments as Python does; here they are JSON",
    ),
];

/// An agent that plays back its turns.
struct Played(std::vec::IntoIter<Value>);

impl Agent for Played {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let events = self.0.next().ok_or("the agent's part is over")?;
        for event in events.as_array().into_iter().flatten() {
            let author = event["author"].as_str().unwrap_or_default().to_owned();
            let content = event.get("content").map(|content| {
                let turn = json!({ "user_content": content }).to_string();
                Invocation::parse(&turn).map(|turn| turn.user_content)
            });
            turn.recorder().event(Event { author, content: content.transpose()?, ..Event::default() });
        }
        Ok(())
    }
}

/// The replies of a script. A reply without content, or with thoughts alone, has no text.
fn script(replies: &Value) -> ScriptedJudge {
    ScriptedJudge::results(replies.as_array().into_iter().flatten().map(|reply| match reply {
        Value::String(text) => Ok(JudgeReply::new(text.as_str())),
        Value::Object(map) if map.contains_key("error") => {
            Err(JudgeError::new(JudgeErrorKind::Refused, "unsafe"))
        }
        _ => Ok(JudgeReply::default()),
    }))
}

fn answer(job: &Value) -> Value {
    let set = json!({ "eval_set_id": "s", "eval_cases": [
        { "eval_id": "c", "conversation_scenario": job["scenario"], "final_session_state": { "a": 1 } },
    ] });
    let set = EvalSet::parse(&set.to_string()).unwrap_or_else(|problems| panic!("{problems}"));
    let config =
        json!({ "criteria": { "final_session_state_match": 1 }, "user_simulator_config": job["config"] });
    let config = EvalConfig::parse(&config.to_string()).unwrap_or_else(|problems| panic!("{problems}"));
    let judge = Shared::new(script(&job["replies"]));
    let agent = job["agent"].as_array().cloned().unwrap_or_default();
    let runner = EvalRunner::new().config(config).judge(judge.clone());
    let report = run(runner.run_set(&set, || Played(agent.clone().into_iter()), 1)).unwrap();
    let run: &RunReport = &report.cases[0].runs[0];
    let prompts: Vec<String> = judge.requests().into_iter().map(|request| request.prompt).collect();
    let messages: Vec<String> = run.transcript.turns.iter().map(|turn| turn.invocation.user_text()).collect();
    json!({
        "messages": messages,
        "end": end(run),
        "asked": prompts.len(),
        "prompts": job["config"].get("custom_instructions").map(|_| prompts),
    })
}

fn end(run: &RunReport) -> &'static str {
    match &run.error {
        None => "stop",
        Some(error) if error.role != Role::Simulator => panic!("{error}"),
        Some(error) if error.message.contains("did not end the conversation") => "limit",
        Some(_) => "error",
    }
}

#[test]
fn the_simulated_user_says_and_ends_what_adks_does() {
    let jobs: Vec<Value> = serde_json::from_str(STORED).expect("the vectors are JSON");
    if let Some(answers) = ask("scenario", &jobs) {
        for (job, answer) in jobs.iter().zip(&answers) {
            assert_eq!(job["answer"], *answer, "{}", job["name"]);
        }
    }
    for job in &jobs {
        let name = job["name"].as_str().expect("a name");
        let ours = answer(job);
        match DIFFERENCES.iter().find(|(known, ..)| *known == name) {
            Some((_, expected, why)) => {
                let expected: Value = serde_json::from_str(expected).expect("a difference is JSON");
                assert_eq!(ours, expected, "{name}");
                assert_ne!(ours, job["answer"], "{name} no longer differs ({why})");
            }
            None => assert_eq!(ours, job["answer"], "{name}"),
        }
    }
    let different =
        jobs.iter().filter(|job| DIFFERENCES.iter().any(|(name, ..)| job["name"] == *name)).count();
    assert_eq!((jobs.len(), different), (31, DIFFERENCES.len()));
}
