use std::sync::{Arc, Mutex};

use eval_format::EvalSet;
use indicatif::ProgressDrawTarget;

use super::*;
use crate::document::SCHEMA;
use crate::schema_check;
use eval_core::agent::Replay;
use eval_core::judge::Judge;
use eval_core::{Invocation, json};

/// A folder with a set of two cases, gone when dropped.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("evalset-command-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let case = |id| EvalCase::new(id).turn(Invocation::user("Weather?").response("It is sunny."));
        let set = EvalSet::new("weather").case(case("sunny").with_tags(["smoke"])).case(case("also sunny"));
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
    answer_until(command, words, pending()).await
}

async fn answer_until(command: EvalCommand, words: &[&str], stop: impl Future<Output = ()> + Send) -> Answer {
    answer_told_to(command, words, std::io::sink(), stop).await
}

async fn answer_told_to(
    command: EvalCommand,
    words: &[&str],
    out: impl Write + Send + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Answer {
    let progress = |prices| Progress::new(Box::new(out), ProgressDrawTarget::hidden(), prices);
    let mut answer = command.answer(words.iter().map(OsString::from), progress, stop).await;
    answer.err = plain(answer.err.as_bytes());
    answer
}

/// A text without styles.
fn plain(text: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(text)).to_string()
}

#[tokio::test]
async fn the_exit_code_says_passed_failed_or_unknown() {
    let folder = Folder::new("codes");
    for (agent, code, passed) in [("right", 0, 2), ("wrong", 1, 0), ("broken", 2, 0)] {
        let answer = answer(command(), &["--agent", agent, "--set", &folder.set()]).await;
        assert_eq!(answer.code, code, "{}", answer.err);
        let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(schema_check::faults(SCHEMA, &report), Vec::<String>::new());
        assert_eq!(report["summary"]["cases"], json!(2));
        assert_eq!(report["summary"]["passed"], json!(passed));
        assert!(report["summary"]["seconds"].is_number() && report["began"].is_string(), "{report}");
        assert_eq!(report["cases"][0]["label"], json!(agent), "runs of two agents are told apart");
        // No command takes a run that is not recorded.
        let edit = format!("new golden    edit the case in `{}` if the agent is right", folder.set());
        assert_eq!(answer.err.matches(&edit).count(), if agent == "wrong" { 2 } else { 0 }, "{}", answer.err);
    }
    let labelled = command().runner(EvalRunner::new().label("branch"));
    let answer = answer(labelled, &["--agent", "right", "--set", &folder.set()]).await;
    assert!(answer.err.contains("weather/sunny [branch]"), "{}", answer.err);
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
    assert_eq!(report["summary"]["cases"], json!(1));
    let metric = &report["cases"][0]["metrics"][0];
    assert_eq!(metric["name"], "tool_trajectory_avg_score");
    assert_eq!(metric["runs"].as_array().map(Vec::len), Some(2), "{report}");
}

#[tokio::test]
async fn selectors_metrics_and_the_end_at_the_first_failure_are_those_of_the_command_line() {
    let folder = Folder::new("selectors");
    let (set, path) = (folder.set(), folder.0.display().to_string());
    let (of_file, of_folder) = (format!("{set}:also sunny"), format!("{path}:sunny,also sunny"));
    for (words, names) in [
        (&["--set", &*of_file][..], &["also sunny"][..]),
        (&["--set", &of_file, "--set", &of_folder], &["sunny", "also sunny"]),
        (&["--set", &of_file, "--set", &set], &["sunny", "also sunny"]),
        (&["--set", &of_folder, "--case", "sunny"], &["sunny"]),
        (&["--set", &set, "--tag", "smoke"], &["sunny"]),
        (&["--set", &set, "--skip-tag=smoke"], &["also sunny"]),
    ] {
        let answer = answer(command(), &[&["--agent=right"], words].concat()).await;
        let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        let results = report["cases"].as_array().unwrap();
        let ids: Vec<&str> = results.iter().map(|case| case["eval_id"].as_str().unwrap()).collect();
        assert_eq!(ids, names, "{words:?}");
    }
    for (words, says) in [
        (&["--set", &*format!("{set}:suny")][..], "has no case `suny`; did you mean `sunny`?"),
        (&["--set", &of_file, "--case", "sunny"], "no case is selected by both `--set` and `--case`"),
        (
            &["--set", &set, "--tag", "smok"],
            "no case has the tag `smok`; did you mean `smoke`? The only tag is `smoke`",
        ),
        (&["--set", &of_file, "--tag", "smoke"], "none of the selected cases is left by the tags"),
        (&["--set", &set, "-m", "safety_v1"], "its scores are from 0.0 to 1.0; say one, as `safety_v1=0.8`"),
        (
            &["--set", &set, "-m", "tool_call_count_v1"],
            "say the most that is allowed, as `tool_call_count_v1<=5`",
        ),
        (&["--set", &set, "-m", "tool_call_count_v1=5"], "in a command `-m 'tool_call_count_v1<=5'`"),
    ] {
        let answer = answer(command(), &[&["--agent=right"], words].concat()).await;
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{words:?}");
        assert!(answer.err.contains(says), "{}", answer.err);
    }
    let lenient =
        answer(command(), &["--agent=wrong", "--set", &set, "-m", "response_match_score=0.0001"]).await;
    assert_eq!(lenient.code, 1, "{}", lenient.err);
    assert!(!lenient.err.contains("tool_trajectory_avg_score"), "{}", lenient.err);
    let words = ["--agent=wrong", "--set", &set, "--fail-fast", "--concurrency=1"];
    let first = answer(command(), &words).await;
    assert_eq!(first.code, 1, "{}", first.err);
    let report: serde_json::Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!((&report["summary"]["failed"], &report["summary"]["skipped"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn the_report_says_whether_calls_were_judged_as_adk_does() {
    let folder = Folder::new("literal");
    let set = folder.set();
    let literal = || command().runner(EvalRunner::new().literal(true));
    for (command, words, expected) in [
        (command(), &[][..], serde_json::Value::Null),
        (command(), &["--literal"], json!(true)),
        (literal(), &[], json!(true)),
    ] {
        let answer = answer(command, &[&["--agent=right", "--set", &set], words].concat()).await;
        let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(schema_check::faults(SCHEMA, &report), Vec::<String>::new());
        for case in report["cases"].as_array().unwrap() {
            assert_eq!(case["literal"], expected, "{words:?}");
        }
    }
}

#[tokio::test]
async fn a_config_takes_the_place_of_all_criteria_of_the_program() {
    let folder = Folder::new("precedence");
    let config = folder.0.join("strict.json");
    std::fs::write(&config, r#"{"criteria": {"response_match_score": 0.9}}"#).unwrap();
    let lenient = || {
        let runner = EvalRunner::new().criterion("response_match_score", eval_core::Criterion::new(0.01));
        EvalCommand::new().runner(runner).agent("nearly", || Replay::new([["It rains."]]))
    };
    let (set, config) = (folder.set(), config.display().to_string());
    assert_eq!(answer(lenient(), &["--set", &set]).await.code, 0);
    let strict = answer(lenient(), &["--set", &set, "--config", &config]).await;
    assert_eq!(strict.code, 1, "{}", strict.err);
}

#[cfg(unix)]
#[tokio::test]
async fn what_has_no_end_is_no_set_and_no_config() {
    let folder = Folder::new("endless");
    let set = folder.set();
    for words in [&["--set", "/dev/zero"][..], &["--set", &set, "--config", "/dev/zero"]] {
        let refused = answer(half(), words).await;
        assert_eq!(refused.code, 2, "{words:?}");
        assert!(
            refused.err.starts_with("error: cannot read `/dev/zero`: it is no regular file"),
            "{}",
            refused.err
        );
    }
}

#[tokio::test]
async fn an_error_is_marked_as_one_once() {
    let folder = Folder::new("marked");
    let config = folder.0.join("broken.json");
    std::fs::write(&config, "[package]").unwrap();
    let refused = answer(half(), &["--set", &folder.set(), "--config", &config.display().to_string()]).await;
    assert!(refused.err.starts_with("error: ") && !refused.err.contains("error: error: "), "{}", refused.err);
}

#[tokio::test]
async fn a_config_may_name_the_metrics_of_the_program() {
    let folder = Folder::new("own_metrics");
    let config = folder.0.join("own.json");
    std::fs::write(&config, r#"{"criteria": {"brief": 0.5}}"#).unwrap();
    let brief = |actual: &Invocation, _: Option<&Invocation>, _: &eval_core::Criterion| {
        actual.response_text().len() < 20
    };
    let runner = EvalRunner::new().metric("brief", brief);
    let evals = EvalCommand::new().runner(runner).agent("brief", || Replay::new([["No."]]));
    let words = ["--set", &folder.set(), "--config", &config.display().to_string()];
    let passed = answer(evals, &words).await;
    assert_eq!(passed.code, 0, "{}", passed.err);
    let refused = answer(command(), &[&words[..], &["--agent", "right"]].concat()).await;
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("brief"), "{}", refused.err);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let folder = Folder::new("refused");
    let set = folder.set();
    for (words, says) in [
        (&["--set", &*set][..], "name an agent with `--agent`: `right`, `wrong` or `broken`"),
        (&["--set", &set, "--agent", "rihgt"], "there is no agent `rihgt`; did you mean `right`?"),
        (&["--set", "nowhere.json", "--agent", "right"], "nowhere.json"),
        (&["--set", &set, "--agent", "right", "--case", "sunn"], "has no case `sunn`; did you mean `sunny`?"),
        (&["--set", &set, "--agent", "right", "--case", "rain"], "has no case `rain`\n"),
        (&["--set", &set, "--agent", "right", "--runs", "100000000000"], "a case runs at most 100000 times"),
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
    let runner = runner.judge(eval_core::judge::ScriptedJudge::new(["x"]).boxed());
    let runner =
        runner.metric("loud", |_: &Invocation, _: Option<&Invocation>, _: &eval_format::Criterion| false);
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

#[tokio::test]
async fn arguments_are_checked_before_an_agent_runs() {
    let folder = Folder::new("early");
    let set = folder.set();
    let broken = folder.0.join("broken.json");
    std::fs::write(&broken, "{}").unwrap();
    let broken = broken.display().to_string();
    for (words, says) in [
        (&["--set", &*set, "--case", "sunny", "--case", "typo"][..], "has no case `typo`"),
        (&["--set", &set, "--set", &broken], "broken.json"),
        (&["--set", &set, "--set", "nowhere.json"], "nowhere.json"),
    ] {
        let made = Arc::new(Mutex::new(0));
        let counts = made.clone();
        let evals = EvalCommand::new().agent("only", move || {
            *counts.lock().unwrap() += 1;
            Replay::new([["It is sunny."]])
        });
        let answer = answer(evals, words).await;
        assert_eq!((answer.code, *made.lock().unwrap()), (2, 0), "{}", answer.err);
        assert!(answer.err.contains(says), "{}", answer.err);
    }
}

#[tokio::test]
async fn a_set_that_is_named_twice_counts_once() {
    let folder = Folder::new("twice");
    let (set, all) = (folder.set(), folder.0.display().to_string());
    let around = folder.0.join(".").join("weather.evalset.json").display().to_string();
    let answer = answer(command(), &["--agent=right", "--set", &set, "--set", &all, "--set", &around]).await;
    let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(report["summary"]["cases"], json!(2), "{}", answer.out);
}

/// An agent that answers `sunny`, and never the other case.
fn half() -> EvalCommand {
    EvalCommand::new().agent("half", async |case: &EvalCase| {
        if case.eval_id != "sunny" {
            pending::<()>().await;
        }
        Replay::new([["It is sunny."]])
    })
}

#[tokio::test]
async fn an_interrupted_command_reports_what_is_finished_and_what_is_missing() {
    let folder = Folder::new("interrupted");
    let set = folder.set();
    for concurrency in ["2", "1"] {
        let words = ["--set", &*set, "--concurrency", concurrency];
        let stop = tokio::time::sleep(std::time::Duration::from_millis(300));
        let answer = answer_until(half(), &words, stop).await;
        assert_eq!(answer.code, 2, "{}", answer.err);
        let report: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        let summary = &report["summary"];
        assert_eq!((&summary["cases"], &summary["passed"]), (&json!(2), &json!(1)), "{}", answer.out);
        assert_eq!(report["cases"][1]["state"], json!("error"), "{}", answer.out);
        assert!(answer.err.contains("interrupted before it had a verdict"), "{}", answer.err);
    }
}

/// Bytes that a test reads after they were written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn progress_is_a_line_for_each_case_where_no_terminal_shows_one_that_counts() {
    let folder = Folder::new("progress");
    let written = Written::default();
    let words = ["--agent=right", "--set", &*folder.set(), "--concurrency=1"];
    let answer = answer_told_to(command(), &words, written.clone(), pending()).await;
    assert_eq!(answer.code, 0, "{}", answer.err);
    let expected = "      PASS [   0.0s] weather/sunny [right]  (1 of 2)\n      PASS [   0.0s] weather/also sunny [right]  \
                    (2 of 2)\n";
    assert_eq!(plain(&written.0.lock().unwrap()), expected);
    assert!(answer.err.contains("2 cases: 2 passed · 2/2 runs have a verdict\n"), "{}", answer.err);
    assert!(answer.err.ends_with("Result PASSED  all 2 cases passed (exit code 0)\n"), "{}", answer.err);
}

#[tokio::test]
async fn prices_tell_what_the_agent_costs() {
    let folder = Folder::new("prices");
    let set = folder.set();
    let evals = || {
        EvalCommand::new().agent("counts", || {
            eval_core::agent_fn(|_, recorder: eval_core::Recorder| async move {
                recorder.usage(
                    eval_format::UsageMetadata::default()
                        .with_prompt_token_count(100)
                        .with_candidates_token_count(10),
                );
                "It is sunny."
            })
        })
    };
    let told = answer(evals(), &["--set", &set, "--price", "2/10"]).await;
    assert!(told.err.ends_with("cost          0.00060 for 200 tokens in and 20 out\n"), "{}", told.err);
    assert!(!answer(evals(), &["--set", &set]).await.err.contains("cost"));
    let refused = answer(evals(), &["--set", &set, "--price", "2"]).await;
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(
        refused.err.starts_with("error: `--price`: `2` is no price; write the prices of a million tokens"),
        "{}",
        refused.err
    );
}

/// Runs this test binary again, with one test that is told to be the program.
#[cfg(unix)]
fn program(how: &str, set: &str) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "command::tests::ctrl_c_ends_in_a_report_and_twice_at_once"])
        .envs([("TEST_AS_PROGRAM", how), ("TEST_SET", set)])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_in_a_report_and_twice_at_once() {
    use std::io::{BufRead, BufReader, Read};

    if let Ok(how) = std::env::var("TEST_AS_PROGRAM") {
        let words = ["--set".to_owned(), std::env::var("TEST_SET").unwrap()].map(OsString::from);
        let evals = if how == "waits" {
            half()
        } else {
            EvalCommand::new().agent("blocks", |case: &EvalCase| {
                if case.eval_id != "sunny" {
                    eprintln!("it blocks");
                    std::thread::sleep(std::time::Duration::from_mins(10));
                }
                Replay::new([["It is sunny."]])
            })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let code = runtime.block_on(evals.run(words));
        exit(if code == ExitCode::from(2) { 2 } else { 99 });
    }
    let folder = Folder::new("ctrl-c");
    for (how, presses, code) in [("waits", 1, 2), ("blocks", 2, 130)] {
        let mut program = program(how, &folder.set());
        let mut err = BufReader::new(program.stderr.take().unwrap());
        let mut wait_for = |text: &str| {
            let mut line = String::new();
            while !line.contains(text) {
                line.clear();
                assert_ne!(err.read_line(&mut line).unwrap(), 0, "{how}: no `{text}`");
            }
        };
        if how == "waits" {
            wait_for("(1 of 2)");
        } else {
            wait_for("it blocks");
        }
        for _ in 0..presses {
            let pid = program.id().to_string();
            assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
            wait_for("interrupted: the report follows");
            if presses == 2 {
                assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
                break;
            }
        }
        let mut out = String::new();
        program.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(program.wait().unwrap().code(), Some(code), "{how}: {out}");
        assert_eq!(out.contains("\"passed\": 1"), how == "waits", "{out}");
    }
}
