use eval_format::EvalSet;

use super::*;
use crate::agent::Replay;
#[cfg(feature = "judges")]
use crate::judge::Judge;
use crate::{Invocation, json};

/// A folder with a set of two cases, gone when dropped.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("evalset-command-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let case = |id| EvalCase::new(id).turn(Invocation::user("Weather?").response("It is sunny."));
        let set = EvalSet::new("weather").case(case("sunny")).case(case("also sunny"));
        std::fs::write(folder.join("weather.evalset.json"), set.to_json()).unwrap();
        Self(folder)
    }

    fn set(&self) -> String {
        self.0.join("weather.evalset.json").display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command() -> EvalCommand {
    EvalCommand::new()
        .agent("right", || Replay::new([["It is sunny."]]))
        .agent("wrong", |_: &EvalCase| async { Ok::<_, BoxError>(Replay::new([["Rain, rain, rain."]])) })
        .agent("broken", || Err::<Replay, BoxError>("no connection".into()))
}

async fn answer(command: EvalCommand, words: &[&str]) -> Answer {
    command.answer(words.iter().map(OsString::from)).await
}

#[tokio::test]
async fn the_exit_code_says_passed_failed_or_unknown() {
    let folder = Folder::new("codes");
    for (agent, code, passed) in [("right", 0, 2), ("wrong", 1, 0), ("broken", 2, 0)] {
        let answer = answer(command(), &["--agent", agent, "--set", &folder.set()]).await;
        assert_eq!(answer.code, code, "{}", answer.err);
        let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(report["summary"]["total"], json!(2));
        assert_eq!(report["summary"]["passed"], json!(passed));
        assert_eq!(report["results"][0]["label"], json!(agent), "runs of two agents are told apart");
    }
    let labelled = command().runner(EvalRunner::new().label("branch"));
    let answer = answer(labelled, &["--agent", "right", "--set", &folder.set()]).await;
    assert!(answer.err.contains("passed weather/sunny [branch]"), "{}", answer.err);
}

#[tokio::test]
async fn folders_configs_and_single_cases_can_be_asked_for() {
    let folder = Folder::new("options");
    let config = folder.0.join("lenient.json");
    std::fs::write(&config, r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#).unwrap();
    let (path, config) = (folder.0.display().to_string(), format!("--config={}", config.display()));
    let answer =
        answer(command(), &["--agent=wrong", "--set", &path, &config, "--case", "sunny", "--runs=2"]).await;
    assert_eq!(answer.code, 0, "{}", answer.err);
    let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(report["summary"]["total"], json!(1));
    let scores = &report["results"][0]["scores"]["tool_trajectory_avg_score"]["details"]["per_invocation"];
    assert_eq!(scores.as_array().map(Vec::len), Some(2), "{report}");
}

#[tokio::test]
async fn a_config_takes_the_place_of_all_criteria_of_the_program() {
    let folder = Folder::new("precedence");
    let config = folder.0.join("strict.json");
    std::fs::write(&config, r#"{"criteria": {"response_match_score": 0.9}}"#).unwrap();
    let lenient = || {
        let runner = EvalRunner::new().criterion("response_match_score", crate::Criterion::new(0.01));
        EvalCommand::new().runner(runner).agent("nearly", || Replay::new([["It rains."]]))
    };
    let (set, config) = (folder.set(), config.display().to_string());
    assert_eq!(answer(lenient(), &["--set", &set]).await.code, 0);
    let strict = answer(lenient(), &["--set", &set, "--config", &config]).await;
    assert_eq!(strict.code, 1, "{}", strict.err);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let folder = Folder::new("refused");
    let set = folder.set();
    for (words, says) in [
        (&["--set", &*set][..], "name an agent with `--agent`: `right`, `wrong` or `broken`"),
        (&["--set", &set, "--agent", "rihgt"], "there is no agent `rihgt`; did you mean `right`?"),
        (&["--set", "nowhere.json", "--agent", "right"], "nowhere.json"),
        (&["--set", &set, "--agent", "right", "--case", "sunn"], "no set has a case `sunn`"),
        (&["--agent", "right"], "name a set, or a folder of sets, with `--set`"),
        (&["--set", &set, "--agent", "right", "--config", "none.json"], "none.json"),
    ] {
        let answer = answer(command(), words).await;
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{}", answer.err);
        assert!(answer.err.contains(says), "{}", answer.err);
    }
    let help = answer(command(), &["--help"]).await;
    assert_eq!(help.code, 0);
    assert!(help.out.contains("agents: right, wrong, broken\n"), "{}", help.out);
}

#[tokio::test]
async fn one_agent_needs_no_name_and_a_runner_brings_its_metrics() {
    let folder = Folder::new("runner");
    let runner = EvalRunner::new();
    #[cfg(feature = "judges")]
    let runner = runner.judge(crate::judge::Scripted::new(["x"]).boxed());
    let runner = runner.metric(
        "loud",
        crate::__private::metric(|_: &Invocation, _: Option<&Invocation>, _: &eval_format::Criterion| false),
    );
    let evals = EvalCommand::new().runner(runner).agent("only", || Replay::new([["It is sunny."]]));
    let answer = answer(evals, &["--set", &folder.set()]).await;
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(answer.err.contains("loud"), "{}", answer.err);
}

#[tokio::test]
async fn only_the_word_eval_runs_evals() {
    let args = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    for words in [&["app"][..], &[], &["app", "serve", "eval"]] {
        assert!(command().run_if_asked(args(words)).await.is_none());
    }
}
