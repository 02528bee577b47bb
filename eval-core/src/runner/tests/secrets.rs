//! A key that an agent, a tool, a metric and a judge say is in no output.

use eval_format::{Criterion, EvalSet, Value};
use eval_support::secrets::mask;
use serde_json::json;

use super::{case, run};
use crate::EvalRunner;
use crate::agent::{BoxError, Recorder, agent_fn};
use crate::judge::{Judge, JudgeMode, JudgeReply, JudgeRequest, RecordedJudge, ScriptedJudge};

/// Texts that look like keys, and the part in which each must not be found.
const CANARIES: [&str; 4] = [
    "sk-canary-0123456789abcdef",
    "ghp_canary0123456789abcdefghijklmnopqrst",
    "hunter2canary",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.canary",
];

fn said() -> String {
    let [openai, github, password, token] = CANARIES;
    format!("{openai}\n{github} postgres://me:{password}@db.test/x \"{token}\"")
}

fn check(what: &str, text: &str) {
    assert!(text.len() > 20, "{what} says something: {text}");
    for canary in CANARIES {
        assert!(!text.contains(canary), "{what} shows {canary}: {text}");
    }
}

async fn leaky(text: String, recorder: Recorder) -> Result<String, BoxError> {
    let result = async { Ok::<_, BoxError>(json!({ "env": said() })) };
    recorder.tool("print_env", json!({ "all": said() }), result).await?;
    if text == "break" { Err(said().into()) } else { Ok(said()) }
}

#[test]
fn a_key_that_anybody_says_is_in_no_output() {
    let folder = std::env::temp_dir().join(format!("eval-core-secrets-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    let reply = json!({ "reasoning": said(), "is_safe": false }).to_string();
    let set = EvalSet::new("leaky")
        .case(case("says", &[("hi", "fine")]))
        .case(case("breaks", &[("break", "fine")]));
    let runner = EvalRunner::new()
        .judge(ScriptedJudge::new([reply.clone()]))
        .criterion("safety_v1", Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": 1 })))
        .criterion("response_match_score", Criterion::new(0.8))
        .journal(&folder);
    let report = run(runner.run_set(&set, || agent_fn(leaky), 1)).unwrap();

    check("the report", &report.to_string());
    check("a report of a case", &report.cases[0].to_string());
    check("the error of a case", &report.cases[1].to_string());
    check("debug output", &format!("{report:?}"));
    check("debug output of many lines", &format!("{report:#?}"));
    check("a transcript", &format!("{:?}", report.cases[0].runs[0].transcript));
    let mut journals = 0;
    for run in std::fs::read_dir(&folder).unwrap().filter_map(Result::ok) {
        for file in std::fs::read_dir(run.path()).into_iter().flatten().filter_map(Result::ok) {
            if file.path().extension().is_some_and(|end| end == "jsonl") {
                check("the journal", &std::fs::read_to_string(file.path()).unwrap());
                journals += 1;
            }
        }
    }
    assert_eq!(journals, 1);

    let recording = folder.join("x.judge.json");
    let request = JudgeRequest::new("m", format!("Is this safe? {}", said()));
    for mode in [JudgeMode::Record, JudgeMode::Replay] {
        let judge = RecordedJudge::with_mode(&recording, ScriptedJudge::new([reply.as_str()]), mode).unwrap();
        let answer = run(judge.ask(&request)).unwrap();
        assert_eq!(answer.replayed, mode == JudgeMode::Replay, "it is found again");
    }
    check("the recording", &std::fs::read_to_string(&recording).unwrap());
    check("a request", &format!("{request:?}"));
    check("a reply", &format!("{:?}", JudgeReply::new(said())));
    let headers = Value::from(json!({ "http_options": { "headers": { "x-key": "plain-canary" } } }));
    let request = JudgeRequest { config: headers.as_object().unwrap().clone(), ..request };
    assert!(!format!("{request:?}").contains("plain-canary"));
    assert_ne!(mask(&said()), said());
    std::fs::remove_dir_all(folder).unwrap();
}
