//! Servers that are started here: one for all conversations, ready before it is used, gone when this process is.

mod golden_tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::file;
use eval_agents::{AdkServer, Process};
use eval_core::format::ToolSource;
use eval_core::testing::Conversation;
use eval_core::{Agent, Criterion, EvalCase, EvalRunner, Invocation, Session};

/// A file of a test, in which servers note who they are.
struct Starts(PathBuf);

impl Starts {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("eval-agents-{test}-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    fn pids(&self) -> Vec<u32> {
        fs::read_to_string(&self.0).unwrap_or_default().lines().map(|line| line.parse().unwrap()).collect()
    }

    fn server(&self, mode: &str) -> AdkServer {
        AdkServer::spawn(self.command(mode), "echo")
    }

    fn command(&self, mode: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(file("tests/servers/server.py")).args(["--mode", mode]).env("STARTS", &self.0);
        command
    }
}

impl Drop for Starts {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Whether a process runs. A zombie does not.
fn runs(pid: u32) -> bool {
    let found = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    match found {
        Ok(found) => {
            let stat = String::from_utf8_lossy(&found.stdout).trim().to_owned();
            !stat.is_empty() && !stat.starts_with('Z')
        }
        Err(_) => Path::new("/proc").join(pid.to_string()).exists(),
    }
}

/// Waits until none of these runs.
fn assert_gone(pids: &[u32], within: Duration) {
    let begun = Instant::now();
    while let Some(pid) = pids.iter().find(|pid| runs(**pid)) {
        assert!(begun.elapsed() < within, "{pid} still runs after {within:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

async fn say(agent: impl Agent, text: &str) -> Result<String, String> {
    let mut talk =
        Conversation::new(agent).with_session(Session::new("a", "u")).with_timeout(Duration::from_secs(20));
    let said =
        talk.say(text).await.map(|turn| turn.invocation.response_text()).map_err(|error| error.to_string());
    match (said, talk.finish().await) {
        (Err(error), Err(end)) => Err(format!("{error}; {end}")),
        (Ok(_), Err(end)) => Err(end.to_string()),
        (said, Ok(_)) => said,
    }
}

#[test]
fn one_server_serves_all_tests_of_a_process_each_with_its_runtime() {
    let starts = Starts::new("shared");
    let test = || {
        let agent = starts.server("");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(say(agent, "who?")).unwrap()
    };
    let first = test();
    let others: Vec<String> = thread::scope(|scope| {
        let tests: Vec<_> = (0..4).map(|_| scope.spawn(test)).collect();
        tests.into_iter().map(|test| test.join().unwrap()).collect()
    });
    assert!(others.iter().all(|other| *other == first), "{others:?}");
    assert_eq!(first, format!("pid {}", starts.pids()[0]));
    assert_eq!(starts.pids().len(), 1);
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why_once_for_all() {
    let starts = Starts::new("broken");
    for _ in 0..2 {
        let error = say(starts.server("broken"), "hi").await.unwrap_err();
        assert!(
            error.contains("ended before it answered: exit status: 1; it wrote: | no such folder: agents")
                || error.contains(
                    "ended before it answered: exit status: 1; it wrote:\n| no such folder: agents"
                ),
            "{error}"
        );
    }
    assert_eq!(starts.pids().len(), 1, "it is not tried again");
    let error = say(AdkServer::spawn(Command::new("/no/such/adk"), "echo"), "hi").await.unwrap_err();
    assert!(
        error.contains("the server `/no/such/adk --port ")
            && error.contains("cannot be started: No such file"),
        "{error}"
    );
}

#[tokio::test]
async fn golden_tools_need_a_server_that_loads_their_plugin() {
    let starts = Starts::new("golden");
    let lenient = |starts: &Starts| {
        let mut command = Command::new("python3");
        command.arg(file("tests/servers/server.py")).arg("--mode=lenient").env("STARTS", &starts.0);
        AdkServer::spawn(command, "echo")
    };
    let case = EvalCase::new("c").turn(Invocation::user("hi").response("pid"));
    let runner = EvalRunner::new().tools(ToolSource::Golden);
    for (server, why) in [
        (
            starts.server(""),
            "ended before it answered: exit status: 2; golden tools start it with `--extra_plugins`",
        ),
        (
            lenient(&starts),
            "the server did not load the plugin of golden tools (POST /run answered 200 OK), so the tools of `echo` would run",
        ),
        (AdkServer::at("http://127.0.0.1:1", "echo"), "golden tools need a server that is started here"),
    ] {
        let report = runner.run_case(&case, || server.clone()).await.unwrap();
        let verdict = report.verdict.reason().unwrap_or_default().to_owned();
        assert!(verdict.contains(why), "{verdict}");
        assert!(report.runs[0].transcript.turns.is_empty(), "no turn began");
    }
}

#[tokio::test]
async fn a_port_that_was_taken_meanwhile_is_not_the_last_one() {
    let starts = Starts::new("taken");
    say(starts.server("taken"), "hi").await.unwrap();
    assert_eq!(starts.pids().len(), 2);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_and_ended() {
    let starts = Starts::new("mute");
    let error = say(starts.server("mute").ready_within(Duration::from_secs(2)), "hi").await.unwrap_err();
    assert!(
        error.contains(
            "within 2s (`ready_within`, or `--ready-within`, sets the limit); it wrote last:\n| loading"
        ),
        "{error}"
    );
    assert_gone(&starts.pids(), Duration::from_secs(2));
}

/// A server that runs and has other routes is told by what it answered.
#[tokio::test]
async fn a_server_that_answers_and_is_not_ready_is_told_with_its_status() {
    for (status, route, words) in [
        (500, "list-apps", "500 Internal Server Error"),
        (404, "health", "404 Not Found"),
        (302, "list-apps", "302 Found"),
    ] {
        let starts = Starts::new(&format!("answers{status}"));
        let server = starts.server(&format!("answers{status}")).ready_within(Duration::from_secs(3));
        let error = say(server, "hi").await.unwrap_err();
        assert!(error.contains("was not ready within 3s") && !error.contains("did not answer"), "{error}");
        assert!(error.contains(&format!("/{route} answered {words}")), "{error}");
        assert_gone(&starts.pids(), Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_turn_is_told_with_its_last_words() {
    let starts = Starts::new("dies");
    let first = say(starts.server("dies"), "hi").await.unwrap_err();
    assert!(
        first.contains("broke off")
            && first.contains("has ended: exit status: 7; it wrote last:\n| out of memory"),
        "{first}"
    );
    let second = say(starts.server("dies"), "hi").await.unwrap_err();
    assert!(second.contains("no connection") && second.contains("has ended: exit status: 7"), "{second}");
}

#[tokio::test]
async fn a_server_that_fails_is_told_with_its_last_words() {
    let starts = Starts::new("fails");
    let error = say(starts.server("fails"), "hi").await.unwrap_err();
    assert!(
        error.contains("POST of a session answered 500")
            && error.contains("; the server wrote last:\n| ...\n")
            && error.contains("\n| ModuleNotFoundError: No module named 'missing'"),
        "{error}"
    );
    // A report has one line of it.
    let set = EvalCase::new("fails").turn(Invocation::user("hi").response("pid"));
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.1));
    let report = runner.run_case(&set, || starts.server("fails")).await.unwrap();
    let reason = report.to_string().lines().next().unwrap_or_default().to_owned();
    assert!(
        reason.ends_with("the server wrote last: ModuleNotFoundError: No module named 'missing'"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_server_that_died_is_started_again_for_a_run_that_is_repeated() {
    let starts = Starts::new("dies-once");
    let set = |id: &str| EvalCase::new(id).turn(Invocation::user("hi").response("pid"));
    let runner =
        |retry| EvalRunner::new().retry(retry).criterion("response_match_score", Criterion::new(0.1));
    let play =
        async |case, retry| runner(retry).run_case(&case, || starts.server("dies_once")).await.unwrap();
    let first = play(set("dies"), 3).await;
    assert!(
        first.to_string().contains("has ended: exit status: 7"),
        "a turn that broke off is not repeated: {first}"
    );
    let second = play(set("unreached"), 0).await;
    assert!(second.to_string().contains("no connection"), "{second}");
    let third = play(set("again"), 1).await;
    assert!(third.verdict.passed(), "{third}");
    assert!(third.notes[0].starts_with("run 1 was repeated 1 time, as the agent was not reached"), "{third}");
    assert_eq!(starts.pids().len(), 2);
}

#[tokio::test]
async fn a_run_that_is_repeated_waits_until_a_server_elsewhere_is_back() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let starts = Starts::new("back");
    let late = thread::spawn({
        let mut command = starts.command("");
        command.args(["--port", &port.to_string()]);
        move || {
            // Later than any repeat that does not wait for it.
            thread::sleep(Duration::from_secs(3));
            command.spawn().unwrap()
        }
    });
    let agent =
        || AdkServer::at(format!("http://127.0.0.1:{port}"), "echo").ready_within(Duration::from_secs(30));
    let case = EvalCase::new("back").turn(Invocation::user("hi").response("pid"));
    let runner = EvalRunner::new().retry(1).criterion("response_match_score", Criterion::new(0.1));
    let report = runner.run_case(&case, agent).await.unwrap();
    let mut server = late.join().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(report.verdict.passed(), "{report}");
}

#[tokio::test]
async fn a_turn_that_hangs_shows_what_the_server_wrote() {
    let starts = Starts::new("hangs");
    let mut talk = Conversation::new(starts.server("")).with_session(Session::new("a", "u"));
    talk.say("hi").await.unwrap();
    let mut talk = talk.with_timeout(Duration::from_millis(300));
    let error = talk.say("wait").await.unwrap_err().to_string();
    assert!(error.ends_with("timed out after 300ms (`timeout` sets the limit)"), "{error}");
    let error = talk.finish().await.unwrap_err().to_string();
    assert!(error.contains("the turn did not end; the server wrote last:\n| waiting"), "{error}");
}

/// The program of the test below, in a process of its own: a server, a program, and no end.
#[tokio::test]
async fn inner_run_that_is_killed() {
    let Some(path) = std::env::var_os("EVAL_AGENTS_TEST_INNER") else { return };
    let starts = Starts(path.into());
    let server = tokio::spawn({
        let agent = starts.server("stubborn");
        async move { say(agent, "wait").await }
    });
    let script = "echo $$ >> \"$STARTS\"; echo '{\"type\": \"hello\", \"protocol\": 1}'; trap '' TERM; sleep 300 & echo $! >> \"$STARTS\"; \
        while :; do sleep 1; done";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("STARTS", &starts.0);
    let program = say(Process::new(&command), "hi").await;
    panic!("{program:?} {:?}", server.await);
}

fn inner_run(starts: &Starts) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["spawned::inner_run_that_is_killed", "--exact", "--nocapture"])
        .env("EVAL_AGENTS_TEST_INNER", &starts.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_process_that_is_killed_leaves_no_server_and_no_program() {
    let starts = Starts::new("killed");
    let mut inner = inner_run(&starts);
    let begun = Instant::now();
    while starts.pids().len() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", starts.pids());
        thread::sleep(Duration::from_millis(10));
    }
    // `kill` is SIGKILL.
    inner.kill().unwrap();
    inner.wait().unwrap();
    assert_gone(&starts.pids(), Duration::from_secs(10));
}

/// Kills at moments that are drawn: while things start, while they run. `KILLS` says how often, 3 times otherwise.
#[cfg(unix)]
#[test]
fn kills_at_any_moment_leave_nothing() {
    let kills: u64 = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3);
    let kills: Vec<u64> = (0..kills).collect();
    let kill = |kill: &u64| {
        let starts = Starts::new(&format!("kill-{kill}"));
        let mut inner = inner_run(&starts);
        // From the first millisecond on to long after all runs, and denser where things start.
        let share = (kill * 2_654_435_761 % 1009) * 1000 / 1009;
        thread::sleep(Duration::from_millis(share * share / 1000));
        inner.kill().unwrap();
        inner.wait().unwrap();
        // A program that is still starting notes itself.
        thread::sleep(Duration::from_millis(1500));
        let pids = starts.pids();
        assert_gone(&pids, Duration::from_secs(10));
        pids.len()
    };
    // Each waits for most of its time.
    let seen = kills.chunks(4).map(|some| {
        thread::scope(|scope| {
            let begun: Vec<_> = some.iter().map(|it| scope.spawn(move || kill(it))).collect();
            begun.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
        })
    });
    let seen: usize = seen.sum();
    eprintln!("{} kills, {seen} processes, none left", kills.len());
}
