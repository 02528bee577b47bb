//! `run`: sets against programs and servers, their selection, what is printed and written, and how a run ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};

/// The agents beside the tests.
pub(crate) fn agents() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

const AGENT: [&str; 2] = ["--agent-cmd", "python3 weather.py"];

/// A case that asks for the weather in a city and expects an answer.
pub(crate) fn case(id: &str, city: &str, answer: &str) -> Value {
    let content = |role: &str, text: String| json!({ "role": role, "parts": [{ "text": text }] });
    json!({
        "eval_id": id,
        "conversation": [{
            "user_content": content("user", format!("What is the weather in {city}?")),
            "final_response": content("model", answer.to_owned()),
            "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": city } }] },
        }],
    })
}

pub(crate) fn set(id: &str, cases: &[Value]) -> String {
    format!("{:#}", json!({ "eval_set_id": id, "eval_cases": cases }))
}

/// A folder with the program, a set of a case that passes, one that fails and one that breaks, and a set of one that passes.
pub(crate) fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("weather.py", std::fs::read(agents().join("weather.py")).expect("the program"));
    let cases = [
        case("sunny", "Paris", "It is sunny in Paris."),
        case("rain, again", "Oslo", "Take an umbrella, it rains."),
        case("lost", "Atlantis", "It is wet."),
    ];
    folder.write("evals/mixed.evalset.json", set("mixed_weather", &cases));
    folder
        .write("evals/more/fine.evalset.json", set("fine", &[case("sunny", "Lima", "It is sunny in Lima.")]));
    folder
}

pub(crate) fn run(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["run"], args, &AGENT[..]].concat())
}

/// The output, without what differs from run to run.
fn settled(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("began ")) {
        let mut line = line.to_owned();
        if let (Some(from), Some(to)) = (line.find('['), line.find("s] ")) {
            line.replace_range(from..to, "[   0.0");
        }
        if let Some(at) = line.find("invocation_duration_v1 ") {
            line.truncate(at + "invocation_duration_v1 ".len());
            line.push_str("0.0");
        }
        for before in ["Run ", "whole record  .evalset/", "cargo evalset import '"] {
            if let Some(at) = line.find(before).map(|at| at + before.len()) {
                let end = line[at..].find([' ', ':']).map_or(line.len(), |end| at + end);
                line.replace_range(at..end, "ID");
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[test]
fn the_page_of_a_run_of_a_folder_names_the_cases_to_run_again() {
    let folder = folder("run-page-again");
    let ran = run(&folder, &["evals", "--runs", "2", "--html", "page.html"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let page = folder.read("page.html");
    for case in ["evals/mixed.evalset.json:lost", "'evals/mixed.evalset.json:rain, again'"] {
        let command =
            format!("\"command\":\"cargo evalset run {case} --agent-cmd 'python3 weather.py' --runs 2\"");
        assert!(page.contains(&command), "{command}");
    }
    let all = ran.out.lines().find_map(|line| line.strip_prefix("run all again ")).expect("it is printed");
    assert!(page.contains(&all.replace('\'', "&#39;")), "the page says what the terminal says: {all}");
}

#[test]
fn a_run_shows_each_case_as_a_test_would_and_how_to_run_it_again() {
    let ran = run(&folder("run-shown"), &["evals/mixed.evalset.json", "--concurrency", "1"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    insta::assert_snapshot!("run_mixed", settled(&ran.shown()));
}

#[test]
fn the_exit_code_says_passed_failed_or_unknown() {
    let folder = folder("run-codes");
    for (sets, code) in [
        (&["fine"][..], 0),
        (&["evals/mixed.evalset.json:sunny,rain, again"], 1),
        (&["evals/mixed.evalset.json:lost"], 2),
        (&["evals"], 2),
    ] {
        let ran = run(&folder, sets);
        assert_eq!(ran.code, Some(code), "{sets:?}: {}{}", ran.out, ran.err);
    }
}

/// The cases of a run, by the JSON that it prints.
fn cases(ran: &Ran) -> Vec<String> {
    let json: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err));
    let cases = json["cases"].as_array().expect("cases");
    cases.iter().map(|case| case["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn selectors_are_files_folders_globs_and_ids_with_cases() {
    let folder = folder("run-selectors");
    for (sets, expected) in [
        (&["evals/more/fine.evalset.json"][..], &["fine/sunny"][..]),
        (&["evals/more"], &["fine/sunny"]),
        (&["fine"], &["fine/sunny"]),
        // ADK finds a set by the name of its file.
        (&["mixed:lost"], &["mixed_weather/lost"]),
        (&["mixed_weather:lost"], &["mixed_weather/lost"]),
        (&["evals/**/*.evalset.json:sunny"], &["fine/sunny", "mixed_weather/sunny"]),
        (&["evals:sunny"], &["fine/sunny", "mixed_weather/sunny"]),
        (&["evals:rain, again,sunny"], &["fine/sunny", "mixed_weather/rain, again", "mixed_weather/sunny"]),
        (
            &["mixed:lost", "./evals/mixed.evalset.json:sunny", "fine", "fine:sunny"],
            &["fine/sunny", "mixed_weather/lost", "mixed_weather/sunny"],
        ),
    ] {
        let ran = run(&folder, &[sets, &["--format", "json"]].concat());
        let mut found = cases(&ran);
        found.sort_unstable();
        assert_eq!(found, expected, "{sets:?}");
    }
}

#[test]
fn what_selects_nothing_is_an_error_before_anything_runs() {
    let folder = folder("run-nothing");
    folder.write("evals/copy/fine.evalset.json", set("fine", &[case("sunny", "Lima", "It is sunny.")]));
    folder.write("broken/b.evalset.json", "{");
    for (args, message, help) in [
        (&["mixed:suny"][..], "`mixed` has no case `suny`", "did you mean `sunny`?"),
        (&["mixed:"], "`mixed` has no case ``", "`cargo evalset run mixed` runs all its cases"),
        (&["evals:sunny,x"], "`evals` has no case `x`", "runs all its cases"),
        (&["mixd"], "there is no set `mixd`", "did you mean `mixed`?"),
        (
            &["evals/mixd.evalset.json"],
            "there is no set `evals/mixd.evalset.json`",
            "did you mean `evals/mixed.evalset.json`?",
        ),
        (&["none/*.json"], "there is no set `none/*.json`", "name a file, a folder, a glob in quotes"),
        (
            &["fine"],
            "several sets have the id `fine`; name the file: `evals/copy/fine.evalset.json` or `evals/more/fine",
            "`cargo evalset list` shows the files",
        ),
        (&["broken"], "broken/b.evalset.json", "`cargo evalset check broken/b.evalset.json`"),
        (&["mixed", "-m", "safety_v1"], "`safety_v1` has no threshold", "--config"),
        (&["mixed", "-m", "safty_v1=1"], "there is no metric `safty_v1`", "did you mean `safety_v1`?"),
        (&["mixed", "-m", "safety_v1=high"], "`high` is no threshold for `safety_v1`", "-m safety_v1=0.8"),
        (&["mixed", "--config", "none.json"], "none.json", ""),
        (&["mixed", "--runs", "0"], "`--runs` is `0`", "it must be a whole number, at least 1"),
        (&["mixed", "--pass", "at_least(2)"], "asks for 2 passing runs of 1", "change `--runs` or `--pass`"),
    ] {
        let ran = run(&folder, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message) && ran.err.contains(help), "{args:?}: {}", ran.err);
    }
    assert!(!folder.path("target").exists(), "nothing began");
}

#[test]
fn exactly_one_agent_is_named() {
    let folder = folder("run-agent");
    for (args, says) in [
        (
            &[][..],
            "<--agent <MODULE:OBJECT>|--agent-cmd <COMMAND>|--adk-cmd <COMMAND>|--agent-url <URL>|--trace <FILE>>",
        ),
        (&["--agent-cmd", "a", "--adk-cmd", "b", "--app", "c"], "cannot be used with '--adk-cmd <COMMAND>'"),
        (&["--agent-url", "http://127.0.0.1:1"], "--app <NAME>"),
        (&["--agent-cmd", "a 'b"], "`--agent-cmd` is no command: it is empty, or a quote in it has no end"),
        (&["--agent-cmd", "a", "--header", "K=v"], "cannot be used with '--header <NAME=VALUE>'"),
        (
            &["--agent-url", "http://127.0.0.1:1", "--app", "a", "--header", "short"],
            "a `--header` has no name and value",
        ),
        (&["--agent-url", "http://127.0.0.1:1", "--app", "a"], "127.0.0.1:1"),
        (&["--adk-cmd", "false {port}", "--app", "a"], "the server `false"),
    ] {
        let ran = folder.run(&[&["run", "fine"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}

#[test]
fn metrics_configs_runs_and_limits_are_those_of_the_command_line() {
    let folder = folder("run-options");
    folder.write(
        "strict.json",
        r#"{"criteria": {"response_match_score": 0.99, "tool_trajectory_avg_score": 1.0}}"#,
    );
    folder.write("evals/more/test_config.json", r#"{"criteria": {"response_match_score": 0.3}}"#);
    for (args, names) in [
        (&["fine"][..], &["response_match_score 0.3"][..]),
        (
            &["fine", "--config", "strict.json"],
            &["response_match_score 0.99", "tool_trajectory_avg_score 1.0"],
        ),
        (&["fine", "--config", "strict.json", "-m", "response_match_score"], &["response_match_score 0.99"]),
        (&["fine", "-m", "response_match_score=0.5"], &["response_match_score 0.5"]),
        (&["fine", "-m", "response_match_score"], &["response_match_score 0.3"]),
        (&["fine", "-m", "tool_trajectory_avg_score"], &["tool_trajectory_avg_score 1.0"]),
    ] {
        let ran = run(&folder, &[args, &["--format", "json"]].concat());
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        let metrics = json["cases"][0]["metrics"].as_array().expect("metrics");
        let deciding = metrics.iter().filter(|metric| !metric["threshold"].is_null());
        let found: Vec<String> = deciding
            .map(|metric| {
                format!(
                    "{} {:?}",
                    metric["name"].as_str().expect("a name"),
                    metric["threshold"].as_f64().expect("a number")
                )
            })
            .collect();
        assert_eq!(found, names, "{args:?}");
    }
    let ran = run(
        &folder,
        &["fine", "--runs", "3", "--pass", "at_least(2)", "--gate", "every_turn", "--format", "json"],
    );
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let case = &json["cases"][0];
    assert_eq!(
        (&case["pass"], &case["gate"], &case["runs"]["passed"]),
        (&json!("at_least(2)"), &json!("every_turn"), &json!(3))
    );
    folder.write("evals/slow.evalset.json", set("slow", &[case_of_timbuktu()]));
    let ran = run(&folder, &["slow", "--timeout", "1500ms"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("1.5"), "{}", ran.out);
}

fn case_of_timbuktu() -> Value {
    case("slow", "Timbuktu", "It is hot.")
}

#[test]
fn after_the_first_that_fails_the_others_are_skipped_and_say_why() {
    let folder = folder("run-fail-fast");
    let args = ["mixed:rain, again", "mixed:sunny", "mixed:lost", "--fail-fast", "--concurrency", "1"];
    let ran = run(&folder, &args);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("3 cases: 1 passed, 1 failed, 1 skipped"), "{}", ran.out);
    let why = "not run: `rain, again` did not pass, and the run ends at the first such case";
    assert!(ran.out.contains(why), "{}", ran.out);
    // Later reports say the same.
    assert_eq!(folder.run(&["report"]).code, Some(1));
}

#[test]
fn every_report_is_written_and_report_writes_the_same_later() {
    let folder = folder("run-reports");
    let files = |n: u32| {
        [
            ("--junit", format!("j{n}.xml")),
            ("--json", format!("j{n}.json")),
            ("--markdown", format!("m{n}.md")),
            ("--csv", format!("c{n}.csv")),
        ]
    };
    let args = |n: u32| -> Vec<String> {
        let files = files(n).into_iter().flat_map(|(option, file)| [option.to_owned(), file]);
        files
            .chain([
                "--adk-results".to_owned(),
                format!("agents{n}"),
                "--app".to_owned(),
                "weather".to_owned(),
            ])
            .collect()
    };
    let (first, second) = (args(1), args(2));
    let words = |args: &'_ [String]| args.iter().map(String::as_str).collect::<Vec<_>>().join("\u{1f}");
    let ran = run(
        &folder,
        &[&["evals", "--github"], &words(&first).split('\u{1f}').collect::<Vec<_>>()[..]].concat(),
    );
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("::error file=evals/mixed.evalset.json"), "{}", ran.out);
    assert!(
        ran.out.contains("saved         agents1/weather/.adk/eval_history/weather_mixed_weather_"),
        "{}",
        ran.out
    );
    let again = folder.run(&[&["report"], &words(&second).split('\u{1f}').collect::<Vec<_>>()[..]].concat());
    assert_eq!(again.code, Some(2), "{}{}", again.out, again.err);
    for ((_, one), (_, other)) in files(1).into_iter().zip(files(2)) {
        assert_eq!(folder.read(&one), folder.read(&other), "{one}");
    }
    let csv = folder.read("c1.csv");
    assert!(csv.contains("mixed_weather,\"rain, again\",response_match_score,0.8,0.2"), "{csv}");
    let of_broken = csv.lines().filter(|row| row.contains("Atlantis"));
    assert!(
        of_broken.clone().count() > 0 && of_broken.clone().all(|row| row.contains(",,,,FAILED,")),
        "a run that broke has no scores: {csv}"
    );
    let saved = |agents: &str| {
        let history = folder.path(agents).join("weather/.adk/eval_history");
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(history).expect("results").map(|entry| entry.expect("a file").path()).collect();
        files.sort_unstable();
        let read = |path: &PathBuf| -> Value {
            serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
        };
        files.iter().map(|path| read(path)["eval_case_results"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(saved("agents1"), saved("agents2"));
    assert_eq!(saved("agents1").iter().map(|cases| cases.as_array().map_or(0, Vec::len)).sum::<usize>(), 4);

    // The journal does not hold what a case expects. A set with another layout and a comment expects the same.
    let read = || serde_json::from_str::<Value>(&folder.read("evals/mixed.evalset.json")).expect("the set");
    let mut noted = read();
    noted["eval_cases"][1]["_note"] = json!("seen in May");
    noted["eval_cases"][1]["conversation"][0]["invocation_id"] = json!("first");
    folder.write("evals/mixed.evalset.json", noted.to_string());
    assert_eq!(folder.run(&["report", "--csv", "c3.csv"]).code, Some(2), "a case broke");
    assert_eq!(folder.read("c3.csv"), folder.read("c2.csv"));
    let edited = folder.read("evals/mixed.evalset.json").replace("Take an umbrella", "Take a hat");
    folder.write("evals/mixed.evalset.json", edited);
    let refused = folder.run(&["report", "--csv", "c4.csv"]);
    assert!(refused.code == Some(2) && refused.out.contains("Summary"), "{}", refused.out);
    assert!(
        refused.err.contains("cannot be written in the format of ADK: it was edited since it ran"),
        "{}",
        refused.err
    );
}

#[test]
fn a_set_with_errors_is_named_with_the_first_and_the_command_that_shows_all() {
    let folder = folder("run-errors");
    folder.write("evals/broken.evalset.json", r#"{"eval_set_id": "broken", "eval_cases": []}"#);
    let ran = run(&folder, &["evals/broken.evalset.json"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let said = "error: `evals/broken.evalset.json` has 1 error: the set has no cases\n  = help: `cargo evalset check evals/broken.evalset.json` shows where\n";
    assert_eq!(ran.err, said);
}

#[test]
fn without_a_journal_there_is_a_report_and_nothing_stays() {
    let folder = folder("run-no-journal");
    let mut command = folder.command(&["run", "mixed", AGENT[0], AGENT[1]]);
    let ran = Ran::from(command.env("EVALSET_JOURNAL", "off").output().expect("the program runs"));
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.out.contains("response_match_score is 0.2"), "{}", ran.out);
    assert!(!ran.out.contains("whole record") && !ran.out.contains("new golden"), "{}", ran.out);
    assert!(!folder.path("target").exists());
}

#[test]
fn a_server_that_is_not_reached_is_asked_again_and_the_reports_say_so() {
    let folder = folder("run-retry");
    let url = telltale("x-key:", "503 Busy");
    let agent = ["--agent-url", &*url, "--app", "weather"];
    let once = folder.run(&[&["run", "fine"], &agent[..]].concat());
    assert!(once.out.contains("answered 503") && !once.out.contains("was repeated"), "{}", once.out);
    let files = ["--json", "r.json", "--junit", "j.xml"];
    let ran = folder.run(&[&["run", "fine", "--retry", "1"], &files[..], &agent[..]].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let note = "run 1 was repeated 1 time, as the agent was not reached";
    assert!(ran.out.contains(note) && folder.read("r.json").contains(note), "{}", ran.out);
    let junit = folder.read("j.xml");
    assert!(junit.contains("\nrepeated=1\n") && junit.contains(&format!("\nnote={note}")), "{junit}");
}

/// A server that answers each request with an error that quotes a header. It returns its address.
fn telltale(header: &'static str, status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let first = lines.next().expect("a request").expect("text");
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let quoted =
                head.iter().find(|line| line.to_lowercase().starts_with(header)).cloned().unwrap_or_default();
            let (status, body) = if first.contains("/list-apps") {
                ("200 OK", r#"["weather"]"#.to_owned())
            } else {
                (status, json!({ "detail": format!("nobody knows {quoted}") }).to_string())
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}"
            );
            // The other side may be gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_secret_that_a_command_assigns_is_shown_nowhere() {
    let folder = folder("run-assigned");
    let line = "env OPENAI_API_KEY=hunter2 LONG_TOKEN='correct horse' MODEL=plain python3 weather.py";
    let ran =
        folder.run(&["run", "mixed_weather", "--agent-cmd", line, "--html", "page.html", "--junit", "j.xml"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let again = "--agent-cmd 'env OPENAI_API_KEY=.. LONG_TOKEN=.. MODEL=plain python3 weather.py'";
    assert!(ran.out.contains(again), "{}", ran.out);
    let run = folder.read(".evalset/latest");
    let journal = std::fs::read_dir(folder.path(".evalset").join(run.trim())).expect("a folder");
    let files =
        journal.map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default());
    let written = files.chain([folder.read("page.html"), folder.read("j.xml"), ran.out, ran.err]);
    for text in written {
        assert!(!text.contains("hunter2") && !text.contains("correct horse"), "{text}");
    }
    // A program that does not start is named in its error.
    let wrong = ["run", "fine", "--agent-cmd", "./gone --api-key=hunter2"];
    let ran = folder.run(&wrong);
    assert!(ran.out.contains("./gone --api-key=..") && !ran.out.contains("hunter2"), "{}", ran.out);
}

#[test]
fn a_header_reaches_the_server_and_nothing_else() {
    let folder = folder("run-header");
    let url = telltale("x-key:", "500 Oh");
    let args = [
        "run",
        "fine",
        "--agent-url",
        &url,
        "--app",
        "weather",
        "--header",
        "x-key=Bearer correct-horse",
        "--junit",
        "j.xml",
        "--csv",
        "c.csv",
        "--json",
        "r.json",
    ];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("nobody knows x-key:"), "the server got it: {}", ran.out);
    let again = format!("--agent-url {url} --app weather --header x-key=..");
    assert!(ran.out.contains(&again), "{}", ran.out);
    let mut texts = vec![ran.out, ran.err, folder.read("j.xml"), folder.read("r.json"), folder.read("c.csv")];
    let mut journals = 0;
    for run in std::fs::read_dir(folder.path(".evalset"))
        .expect("runs")
        .flatten()
        .filter(|entry| entry.path().is_dir())
    {
        for file in std::fs::read_dir(run.path()).expect("files").flatten() {
            journals += 1;
            texts.push(std::fs::read_to_string(file.path()).expect("text"));
        }
    }
    assert!(journals > 1);
    for text in texts {
        assert!(!text.contains("correct-horse"), "{text}");
    }
}

/// Runs a case that ends, one that does not and one that waits for it, and sends a signal in the middle. Returns what was printed,
/// and the exit code. None of the programs is left over.
#[cfg(unix)]
fn interrupted_by(folder: &Folder, signal: &str) -> (String, Option<i32>) {
    let cases = [
        case("sunny", "Paris", "It is sunny in Paris."),
        case_of_timbuktu(),
        case("later", "Lima", "It is sunny in Lima."),
    ];
    folder.write("slow.evalset.json", set("slow", &cases));
    let mut command = folder.command(&["run", "slow", "--concurrency", "1"]);
    let own = "sh -c 'echo $$ >> pids; exec python3 weather.py'";
    command.args(["--agent-cmd", own]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut err = BufReader::new(child.stderr.take().expect("its errors"));
    let mut line = String::new();
    err.read_line(&mut line).expect("a line");
    assert!(line.contains("slow/sunny  (1 of 3)"), "{line}");
    let pids = || -> Vec<String> {
        let text = std::fs::read_to_string(folder.path("pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    while pids().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let kill = |signal: &str, pid: &str| {
        let status = Command::new("kill").args([signal, pid]).stderr(Stdio::null()).status();
        status.expect("kill").success()
    };
    assert!(kill(signal, &child.id().to_string()));
    let mut out = String::new();
    child.stdout.take().expect("its output").read_to_string(&mut out).expect("text");
    let code = child.wait().expect("it ends").code();
    for pid in pids() {
        let begun = std::time::Instant::now();
        while kill("-0", &pid) {
            assert!(begun.elapsed().as_secs() < 10, "the program {pid} is left over");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    (out, code)
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished_names_what_is_missing_and_ends_the_programs() {
    // `timeout`, containers and cancelled jobs send the second.
    for signal in ["-INT", "-TERM"] {
        let folder = folder("run-interrupted");
        let (out, code) = interrupted_by(&folder, signal);
        assert_eq!(code, Some(2), "{signal}: {out}");
        assert!(out.contains("1 passed, 1 unfinished"), "{out}");
        assert!(out.contains("interrupted before it had a verdict"), "{out}");
        assert!(out.contains("never began   1 case: `slow/later`"), "{out}");
        let again = "run all again cargo evalset run slow.evalset.json:slow,later --agent-cmd ";
        assert!(out.contains(again), "{out}");
    }
}

#[cfg(unix)]
#[test]
fn kill_9_of_a_run_keeps_what_is_finished_and_ends_the_programs() {
    let folder = folder("run-killed");
    let (_, code) = interrupted_by(&folder, "-KILL");
    assert_eq!(code, None, "it had no time to end");
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("1 passed, 1 unfinished") && ran.out.contains("1 more test never began"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("cargo evalset run slow.evalset.json:slow,later --agent-cmd"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn a_terminal_has_one_line_that_counts() {
    let folder = folder("run-terminal");
    folder.write("evals/slow.evalset.json", set("slow", &[case_of_timbuktu()]));
    let program = folder.command(&[]);
    // Python gives the program a terminal.
    let script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut command = crate::folder::plain("python3".as_ref());
    command.args(["-c", script]).arg(program.get_program()).args([
        "run",
        "evals",
        AGENT[0],
        AGENT[1],
        "--timeout",
        "5s",
        "--price",
        "1/2",
    ]);
    let ran =
        Ran::from(command.env("TERM", "xterm").current_dir(folder.path("")).output().expect("Python runs"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("of 5 cases  "), "{}", ran.out);
    assert!(ran.out.contains(" tokens  cost 0.0000"), "{}", ran.out);
    assert!(ran.out.contains("  slowest: slow "), "{}", ran.out);
    assert!(!ran.out.contains("(1 of 5)"), "{}", ran.out);
    assert!(ran.out.contains("5 cases: 2 passed, 1 failed, 2 errors"), "{}", ran.out);
}
