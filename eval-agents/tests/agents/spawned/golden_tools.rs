//! Golden tools of servers that are started here: the tool of the server does not run, whatever breaks off.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use super::*;
use eval_core::CaseReport;
use eval_core::format::Value;

impl Starts {
    fn golden(&self, mode: &str, app: &str) -> AdkServer {
        let mut command = self.command(mode);
        command.arg("--golden");
        AdkServer::spawn(command, app)
    }

    /// The notes of a kind by the server: that its tool was `asked`, or is `real`; the `token` of its plugin; the result of a
    /// call that was `late`.
    fn noted(&self, kind: &str) -> String {
        let path = PathBuf::from(format!("{}.{kind}", self.0.display()));
        fs::read_to_string(path).unwrap_or_default()
    }

    fn forget_notes(&self) {
        for kind in ["asked", "real", "token", "late"] {
            let _ = fs::remove_file(format!("{}.{kind}", self.0.display()));
        }
    }
}

fn case(id: &str) -> EvalCase {
    let turn = Invocation::parse(
        r#"{"user_content": {"parts": [{"text": "look"}]}, "final_response": {"parts": [{"text": "{\"sky\": \"golden\"}"}]},
            "intermediate_data": {"tool_uses": [{"name": "look", "args": {}}],
                "tool_responses": [{"name": "look", "response": {"sky": "golden"}}]}}"#,
    );
    EvalCase::new(id).turn(turn.unwrap())
}

fn faulty(fault: &str) -> EvalCase {
    let faults = format!(r#"{{"1": {{"look#1": {fault}}}}}"#);
    case("faulty").with_extra("_tools", Value::parse(&faults).unwrap())
}

fn golden_runner() -> EvalRunner {
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.9));
    runner.tools(ToolSource::Golden).timeout(Duration::from_secs(20))
}

async fn play(case: &EvalCase, server: AdkServer) -> CaseReport {
    golden_runner().run_case(case, || server.clone()).await.unwrap()
}

#[tokio::test]
async fn an_app_that_is_broken_leaves_the_plugin_to_the_others() {
    let starts = Starts::new("golden-broken");
    let report = play(&case("broken"), starts.golden("", "broken")).await;
    let why = "did not load the plugin of golden tools (POST /run answered 500";
    assert!(report.verdict.reason().is_some_and(|reason| reason.contains(why)), "{report}");
    let report = play(&case("whole"), starts.golden("", "echo")).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!((starts.pids().len(), starts.noted("real")), (1, String::new()));
    starts.forget_notes();
}

#[tokio::test]
async fn a_late_call_of_a_conversation_that_has_ended_is_no_mistake_of_another() {
    let starts = Starts::new("golden-late");
    let begin = |user: &str| {
        let talk = Conversation::new(starts.golden("", "echo")).with_golden_tools(&case("c"));
        talk.with_session(Session::new("a", user)).with_timeout(Duration::from_secs(20))
    };
    let (mut ended, mut open) = (begin("u"), begin("v"));
    open.say("late").await.unwrap();
    ended.say("late").await.unwrap();
    // The server calls its tool while it deletes the session.
    ended.finish().await.unwrap();
    let refused = r#"{"error": "evalset: the conversation of this session has ended"}"#;
    assert_eq!(starts.noted("late").trim(), refused);
    open.say("late").await.expect("the call was of the other conversation");
    open.finish().await.unwrap();
    assert_eq!(starts.noted("real"), "");
    starts.forget_notes();
}

#[tokio::test]
async fn a_run_that_is_repeated_waits_for_the_server_with_golden_tools() {
    let starts = Starts::new("golden-again");
    let play = async |id: &str, retry| {
        let server = || starts.golden("dies_once", "echo");
        golden_runner().retry(retry).run_case(&case(id), server).await.unwrap()
    };
    assert!(play("dies", 0).await.to_string().contains("has ended: exit status: 7"));
    let report = play("again", 1).await;
    assert!(report.verdict.passed(), "{report}");
    assert!(report.notes[0].starts_with("run 1 was repeated 1 time"), "{report}");
    // A server without the plugin would be a third one.
    assert_eq!((starts.pids().len(), starts.noted("real")), (2, String::new()));
    starts.forget_notes();
}

/// The program of the tests below, in a process of its own: what it plays is in the variable `INNER_PLAYS`.
#[tokio::test]
async fn inner_run_with_golden_tools() {
    let Some(path) = std::env::var_os("EVAL_AGENTS_TEST_INNER_GOLDEN") else { return };
    let starts = Starts(path.into());
    let plays = std::env::var("INNER_PLAYS").unwrap();
    let (mode, app) = match plays.as_str() {
        "mute" => ("mute", "echo"),
        "broken" => ("", "broken"),
        _ => ("", "echo"),
    };
    let server = starts.golden(mode, app);
    let case = match plays.as_str() {
        "never" => faulty(r#""never""#),
        "raises" => faulty(r#"{"raises": "connection reset"}"#),
        "missed" => EvalCase::new("missed").turn(Invocation::user("look").response("sunny")),
        _ => case("c"),
    };
    let runner = golden_runner().journal(std::env::temp_dir().join("journals"));
    let report = runner.run_case(&case, || server.clone()).await.unwrap();
    eprintln!(
        "{report}\n{report:?}\n{server:?} {:?}",
        server.clone().tools(ToolSource::Golden).ready().await
    );
    // The file of the servers is looked at from outside.
    std::mem::forget(starts);
}

/// The process of a run, whose temporary files and journals are in a folder.
fn inner(starts: &Starts, plays: &str, folder: &Path) -> Command {
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner.args(["spawned::golden_tools::inner_run_with_golden_tools", "--exact", "--nocapture"]);
    inner.env("EVAL_AGENTS_TEST_INNER_GOLDEN", &starts.0).env("INNER_PLAYS", plays);
    inner.env("TMPDIR", folder).env_remove("EVALSET_JOURNAL");
    inner
}

/// The folders of plugins in a folder.
fn plugins(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("evalset-")).collect()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// In a turn the server has loaded its plugin and removed it. Before that the plugin is on the disk.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_leaves_no_server_and_no_plugin() {
    for plays in ["never", "mute"] {
        let starts = Starts::new(&format!("golden-killed-{plays}"));
        let folder = tempfile::tempdir().unwrap();
        let quiet = Stdio::null;
        let mut inner = inner(&starts, plays, folder.path()).stdout(quiet()).stderr(quiet()).spawn().unwrap();
        match plays {
            "never" => wait_until("the tool was not asked", || !starts.noted("asked").is_empty()),
            _ => wait_until("no server began", || !starts.pids().is_empty()),
        }
        assert_eq!(plugins(folder.path()).len(), usize::from(plays == "mute"), "{plays}");
        // `kill` is SIGKILL.
        inner.kill().unwrap();
        inner.wait().unwrap();
        assert_gone(&starts.pids(), Duration::from_secs(10));
        wait_until("the plugin is left", || plugins(folder.path()).is_empty());
        assert_eq!(starts.noted("real"), "");
        starts.forget_notes();
    }
}

#[test]
fn the_token_of_the_plugin_is_in_no_text_and_no_journal() {
    let parts = |folder: &Path| {
        let mut folders = vec![folder.to_owned()];
        let mut text = String::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    text.push_str(&String::from_utf8_lossy(&fs::read(entry).unwrap()));
                }
            }
        }
        text
    };
    for (plays, says) in [
        ("passes", "passed"),
        ("raises", "connection reset"),
        ("missed", "no golden answers look()"),
        ("broken", "did not load the plugin"),
    ] {
        let starts = Starts::new(&format!("golden-token-{plays}"));
        let folder = tempfile::tempdir().unwrap();
        let Output { stdout, stderr, .. } = inner(&starts, plays, folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        let journals = parts(&folder.path().join("journals"));
        assert!(text.contains(says), "{text}");
        assert!(journals.contains(r#""eval_id""#), "{journals}");
        let token = starts.noted("token");
        let token = token.lines().next().unwrap_or_default();
        assert_eq!(token.len(), 32, "{token}");
        assert!(!text.contains(token) && !journals.contains(token), "{plays}: {text}");
        wait_until("the plugin is left", || plugins(folder.path()).is_empty());
        starts.forget_notes();
    }
}
