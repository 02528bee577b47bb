//! The pages of `serve`: access, changes while a page is open, and refusals.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use eval_core::journal::{SCHEMA, sealed_line};
use serde_json::{Value, json};

/// A service in a folder of its own, which ends with this value.
pub(crate) struct Pages {
    pub(crate) folder: tempfile::TempDir,
    child: Child,
    address: String,
    cookie: String,
}

const SET: &str = r#"{"eval_set_id": "s", "eval_cases": [
  {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}], "_draft": {"from": "x"}},
  {"eval_id": "b", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}], "_draft": {}}]}"#;

impl Pages {
    pub(crate) fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("evals")).unwrap();
        fs::write(folder.path().join("evals/s.evalset.json"), SET).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
            .args(["serve", "--port", "0"])
            .args(options)
            .current_dir(folder.path())
            .env("EVALSET_DIR", folder.path().join("runs"))
            .env_remove("EVALSET_RUN_ID")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) =
            line.trim().strip_prefix("serving on http://").unwrap().split_once("/?token=").unwrap();
        let mut pages = Self { cookie: String::new(), address: address.to_owned(), folder, child };
        let mut answer = String::new();
        pages.send(&format!("GET /?token={token}"), "", "").read_to_string(&mut answer).unwrap();
        let (_, cookie) = answer.split_once("set-cookie: ").unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut pages.cookie);
        pages
    }

    pub(crate) fn set(&self) -> PathBuf {
        self.folder.path().join("evals/s.evalset.json")
    }

    fn send(&self, line: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, length) = (&self.address, body.len());
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    fn ask(&self, line: &str, headers: &str, body: &str) -> (u16, String) {
        let mut answer = String::new();
        self.send(line, headers, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    /// A request as a page makes it.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path}"), &format!("cookie: {}\r\n", self.cookie), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let headers = format!("cookie: {}\r\nx-evalset: page\r\n", self.cookie);
        let (status, body) = self.ask(&format!("POST {path}"), &headers, &body.to_string());
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// The events, as they come.
    fn events(&self) -> Receiver<(String, Value)> {
        let stream = self.send("GET /events", &format!("cookie: {}\r\n", self.cookie), "");
        let (sender, events) = channel();
        std::thread::spawn(move || {
            let mut name = String::new();
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(event) = line.strip_prefix("event: ") {
                    event.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data).unwrap();
                    if sender.send((name.clone(), data)).is_err() {
                        return;
                    }
                }
            }
        });
        events
    }

    /// The draft as the page showed it.
    fn seen(&self, case: &str) -> String {
        let (status, page) = self.get("/drafts");
        assert_eq!(status, 200, "{page}");
        let (_, rest) = page
            .split_once(&format!("data-case=\"{case}\" data-seen=\""))
            .unwrap_or_else(|| panic!("{page}"));
        rest[..rest.find('"').unwrap()].to_owned()
    }

    fn decide(&self, what: &str, case: &str, seen: &str) -> (u16, Value) {
        self.post(
            &format!("/drafts/{what}"),
            &json!({ "set": "evals/s.evalset.json", "case": case, "seen": seen }),
        )
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The next event with this name for which something holds.
fn until(events: &Receiver<(String, Value)>, name: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let (is, data) = events.recv_timeout(left).unwrap_or_else(|_| panic!("no such `{name}`"));
        if is == name && holds(&data) {
            return data;
        }
    }
}

/// The newest run in the list, once something holds for it.
fn listed(pages: &Pages, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let list: Value = serde_json::from_str(&pages.get("/runs").1).unwrap();
        let run = &list["runs"][0];
        if holds(run) {
            return run.clone();
        }
        assert!(Instant::now() < end, "{list}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Adds a line to a journal.
fn record(path: &Path, record: &Value) {
    let written = fs::read_to_string(path).unwrap_or_default().lines().count();
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(sealed_line(record, written + 1).as_bytes()).unwrap();
}

const AT: &str = "2026-11-22T02:31:08.000Z";

fn run(pages: &Pages, id: &str) -> PathBuf {
    let folder = pages.folder.path().join("runs").join(id);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.json"), json!({ "run": id, "started": AT }).to_string()).unwrap();
    let journal = folder.join("a.jsonl");
    let project = folder.ancestors().nth(2);
    record(
        &journal,
        &json!({ "record": "head", "schema": SCHEMA, "evalset": "0.1.0", "run": id, "package": "app", "workspace": project, "pid": 1, "started": AT, "env": {} }),
    );
    journal
}

fn started(test: u32, name: &str) -> Value {
    json!({ "record": "started", "test": test, "name": name, "of_program": true, "eval_id": name, "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1, "at": AT })
}

fn ended() -> Value {
    json!({ "record": "ended", "at": AT })
}

fn decided(test: u32, verdict: &str) -> Value {
    json!({ "record": "decided", "test": test, "verdict": { "is": verdict }, "metrics": [], "elapsed": 1.0, "at": AT })
}

#[test]
fn serve_pages_need_the_token_and_changes_a_header_too() {
    let pages = Pages::new(&[]);
    for path in ["/runs", "/runs/latest", "/events", "/drafts", "/check", "/dropped/1", "/review", "/diff"] {
        assert_eq!(pages.ask(&format!("GET {path}"), "", "").0, 401, "{path}");
    }
    for path in ["/", "/review", "/diff", "/drafts", "/check"] {
        let (status, page) = pages.get(path);
        assert!(status == 200 && page.contains("aria-label=\"Pages\""), "{path}: {page}");
    }
    let body = json!({ "set": "evals/s.evalset.json", "case": "a", "seen": pages.seen("a") }).to_string();
    let writing = [
        "/drafts/accept",
        "/drafts/accept-all",
        "/drafts/edit",
        "/drafts/reject",
        "/review/choice",
        "/review/write",
        "/diff/case",
    ];
    for path in writing.into_iter().chain(["/run", "/run/cancel", "/check/journal"]) {
        let cookie = format!("cookie: {}\r\n", pages.cookie);
        assert_eq!(pages.ask(&format!("POST {path}"), &cookie, &body).0, 401, "{path}");
        let foreign = format!("{cookie}x-evalset: page\r\norigin: http://localhost:1\r\n");
        assert_eq!(pages.ask(&format!("POST {path}"), &foreign, &body).0, 403, "{path}");
    }
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), SET);
}

#[test]
fn serve_shows_no_run_but_those_of_its_folder() {
    let pages = Pages::new(&[]);
    let outside = pages.folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("run.json"), json!({ "run": "outside", "started": AT }).to_string()).unwrap();
    for id in ["..", "%2e%2e%2foutside", "..%2foutside", "%2fetc", "nothing", "a%00b", "latest"] {
        for path in [format!("/runs/{id}"), format!("/runs/{id}/changes?after=0")] {
            let (status, answer) = pages.get(&path);
            assert!(status == 404 && answer.contains("there is no such run"), "{path}: {status} {answer}");
        }
    }
    let person = format!("cookie: {}\r\naccept: text/html\r\n", pages.cookie);
    let (status, page) = pages.ask("GET /runs/nothing", &person, "");
    assert!(status == 404 && page.contains("All runs</a>"), "{page}");
}

#[test]
fn serve_tells_of_a_journal_that_grows() {
    let pages = Pages::new(&[]);
    let events = pages.events();
    until(&events, "all", |_| true);
    let journal = run(&pages, "grows");
    record(&journal, &json!({ "record": "planned", "cases": ["a", "b"] }));
    record(&journal, &started(1, "one"));
    assert_eq!(until(&events, "run", |_| true), json!({ "run": "grows", "running": false }));
    let first = listed(&pages, |run| run["cases"] == 1);
    assert_eq!([&first["id"], &first["planned"], &first["passed"]], [&json!("grows"), &json!(3), &json!(0)]);
    let (status, page) = pages.get("/runs/grows");
    assert!(status == 200 && page.contains("data-run=\"grows\"") && page.contains("connect-src"), "{page}");
    let version = page.split_once("data-version=\"").unwrap().1.split('"').next().unwrap().to_owned();
    // A line that is written in two pieces, and one that is no record.
    let text = sealed_line(&decided(1, "passed"), 4);
    let mut file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(&text.as_bytes()[..20]).unwrap();
    until(&events, "run", |_| true);
    assert_eq!(listed(&pages, |_| true)["passed"], 0);
    file.write_all(&text.as_bytes()[20..]).unwrap();
    until(&events, "run", |_| true);
    listed(&pages, |run| run["passed"] == 1);
    record(&journal, &started(2, "</script>\u{202e}"));
    record(&journal, &decided(2, "failed"));
    until(&events, "run", |_| true);
    listed(&pages, |run| run["cases"] == 2);
    let end = Instant::now() + Duration::from_secs(30);
    let changes = loop {
        let (status, changes) = pages.get(&format!("/runs/grows/changes?after={version}"));
        assert_eq!(status, 200, "{changes}");
        if !changes.contains("data-again") || Instant::now() > end {
            break changes;
        }
    };
    // As the page itself has them, with the details of each.
    let rows: Vec<&str> = changes.split("<tr role=\"row\" id=").skip(1).collect();
    assert_eq!(rows.len(), 2, "{changes}");
    assert!(
        rows[0].contains("&#60;/script&#62;\\u{202e}</a>") && rows[0].contains("case failed"),
        "{changes}"
    );
    assert!(rows[1].contains(">one</a>") && rows[1].contains("case passed"), "{changes}");
    assert_eq!(changes.matches("<script type=\"application/json\">").count(), 2, "{changes}");
    let after = changes.split_once("data-version=\"").unwrap().1.split('"').next().unwrap();
    let (_, none) = pages.get(&format!("/runs/grows/changes?after={after}"));
    assert!(
        none.contains("<header") && !none.contains("<tr role=\"row\" id="),
        "nothing changed since: {none}"
    );
    let (_, list) = pages.get("/runs");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!([&list["runs"][0]["id"], &list["runs"][0]["passed"]], [&json!("grows"), &json!(1)]);
    fs::remove_dir_all(journal.parent().unwrap()).unwrap();
    assert_eq!(pages.get(&format!("/runs/grows/changes?after={after}")).0, 404);
}

#[test]
fn serve_lists_the_100_newest_runs() {
    let pages = Pages::new(&[]);
    for number in 0..101 {
        run(&pages, &format!("r{number}"));
    }
    let list: Value = serde_json::from_str(&pages.get("/runs").1).unwrap();
    assert_eq!((list["runs"].as_array().unwrap().len(), &list["more"]), (100, &json!(1)));
}

#[test]
fn serve_sees_that_a_part_of_a_run_went_missing() {
    let pages = Pages::new(&[]);
    let journal = run(&pages, "copied");
    record(&journal, &started(1, "one"));
    record(&journal, &decided(1, "passed"));
    record(&journal, &ended());
    let list = || -> Value { serde_json::from_str(&pages.get("/runs").1).unwrap() };
    assert_eq!(list()["runs"][0]["outcome"], "passed", "{}", list());
    let page = pages.get("/runs/copied").1;
    let version = page.split_once("data-version=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let events = pages.events();
    until(&events, "all", |_| true);
    // The first look takes what is there as known.
    std::thread::sleep(Duration::from_secs(1));
    // No journal changes.
    let missing = journal.with_file_name("missing-parts.txt");
    let say = |text: &str| {
        // As a copy is written: the file appears whole.
        let written = missing.with_extension("new");
        fs::write(&written, text).unwrap();
        fs::rename(&written, &missing).unwrap();
    };
    say("another machine's journals\n");
    until(&events, "run", |it| it["run"] == "copied");
    assert_eq!(list()["runs"][0]["outcome"], "unmeasurable", "{}", list());
    let end = Instant::now() + Duration::from_secs(30);
    let changes = loop {
        let changes = pages.get(&format!("/runs/copied/changes?after={version}")).1;
        if !changes.contains("data-again") || Instant::now() > end {
            break changes;
        }
    };
    assert!(changes.contains("<header class=\"unmeasurable unsure\">"), "{changes}");
    say("a journal of another machine\n");
    until(&events, "run", |it| it["run"] == "copied");
    fs::remove_file(&missing).unwrap();
    until(&events, "run", |it| it["run"] == "copied");
    assert_eq!(list()["runs"][0]["outcome"], "passed", "{}", list());
}

#[test]
fn serve_sees_that_a_process_which_is_killed_runs_no_more() {
    let pages = Pages::new(&[]);
    fs::write(pages.set(), SET.replace(r#", "_draft": {"from": "x"}"#, "").replace(r#", "_draft": {}"#, ""))
        .unwrap();
    fs::write(
        pages.folder.path().join("evals/test_config.json"),
        r#"{"criteria": {"response_match_score": 0.5}}"#,
    )
    .unwrap();
    let events = pages.events();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        // An agent that never says hello.
        .args(["run", "evals", "--agent-cmd", "sleep 600"])
        .current_dir(pages.folder.path())
        .env("EVALSET_DIR", pages.folder.path().join("runs"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(&events, "run", |it| it["running"] == true);
    child.kill().unwrap();
    child.wait().unwrap();
    until(&events, "run", |it| it["running"] == false);
    let (_, list) = pages.get("/runs");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["runs"][0]["outcome"], "unmeasurable", "{list}");
}

#[test]
fn serve_decides_drafts_as_they_were_shown() {
    let pages = Pages::new(&[]);
    let (a, b) = (pages.seen("a"), pages.seen("b"));
    for (set, case) in
        [("../s.evalset.json", "a"), ("/etc/passwd", "a"), ("evals/../evals/s.evalset.json", "a")]
    {
        let (status, answer) = pages.post("/drafts/accept", &json!({ "set": set, "case": case, "seen": a }));
        assert!(status == 404 && answer["error"].as_str().unwrap().contains("no such set"), "{answer}");
    }
    assert_eq!(pages.post("/drafts/accept", &json!({ "set": 1 })).0, 400);
    let changed = SET.replacen("Hi", "Bye", 1);
    fs::write(pages.set(), &changed).unwrap();
    for what in ["accept", "reject"] {
        let (status, answer) = pages.decide(what, "a", &a);
        assert!(status == 409 && answer["error"].as_str().unwrap().contains("changed meanwhile"), "{answer}");
    }
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), changed);
    let (status, answer) = pages.decide("accept", "a", &pages.seen("a"));
    assert!(status == 200 && answer["done"].as_str().unwrap().contains("next build"), "{answer}");
    let accepted = changed.replace(r#", "_draft": {"from": "x"}"#, "");
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), accepted);
    let (status, answer) = pages.decide("accept", "a", &a);
    assert!(status == 409 && answer["error"].as_str().unwrap().contains("no draft any more"), "{answer}");
    let (status, answer) = pages.decide("reject", "b", &b);
    assert!(status == 200 && answer["done"].as_str().unwrap().contains("removed `b`"), "{answer}");
    let listed = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["list", "evals", "--format", "json"])
        .current_dir(pages.folder.path())
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let ids: Vec<&Value> =
        listed["sets"][0]["cases"].as_array().unwrap().iter().map(|case| &case["eval_id"]).collect();
    assert_eq!(ids, ["a"]);
    // A file that cannot be read any more is said in words.
    fs::write(pages.set(), "{").unwrap();
    let (status, answer) = pages.decide("accept", "a", &a);
    assert!(status == 409 && answer["help"].as_str().unwrap().contains("cargo evalset check"), "{answer}");
    assert!(pages.get("/drafts").1.contains("has 1 error"));
}

#[test]
fn serve_edits_a_draft_as_it_was_shown_and_no_other_byte() {
    let pages = Pages::new(&[]);
    let set = r#"{"eval_set_id": "s",  "eval_cases": [
  {"eval_id": "a", "_draft": {"from":  "x"}, "conversation": [{"user_content": {"parts": [{"text":  "Hi"}]},
    "intermediate_data": {"tool_uses": [{"name": "f", "args": {"n":  1, "keep": 2e0}}]}, "final_response": {"parts": [{"text": "H\u0065llo"}]}}]},
  {"eval_id": "b", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}]}"#;
    fs::write(pages.set(), set).unwrap();
    let seen = pages.seen("a");
    let edit = |case: &str, seen: &str, turns: Value| {
        let body = json!({ "set": "evals/s.evalset.json", "case": case, "seen": seen, "turns": turns });
        pages.post("/drafts/edit", &body)
    };
    for (turns, said) in [
        (json!([{ "turn": 1, "calls": [{ "call": 1, "args": "{\"n\":\n x}" }] }]), "line 2, column 2: "),
        (json!([{ "turn": 1, "calls": [{ "call": 1, "args": "7" }] }]), "are a number, and no object"),
        (json!([{ "turn": 1, "user": "x", "calls": [{ "call": 2, "args": "{}" }] }]), "no call 2 of turn 1"),
        (json!([{ "turn": 2, "user": "x" }]), "no turn 2"),
        (json!([{ "turn": 1, "users": "x" }]), "unknown field `users`"),
    ] {
        let (status, answer) = edit("a", &seen, turns);
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(said), "{said}: {answer}");
    }
    let (status, answer) = edit("b", &seen, json!([{ "turn": 1, "user": "x" }]));
    assert!(status == 409 && answer["error"].as_str().unwrap().contains("no draft any more"), "{answer}");
    assert_eq!(edit("a", &seen, json!([])).0, 200);
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), set);

    let turns =
        json!([{ "turn": 1, "user": "Bye", "calls": [{ "call": 1, "args": "{\"n\": 7, \"keep\": 2.0}" }] }]);
    let (status, answer) = edit("a", &seen, turns.clone());
    assert_eq!(status, 200, "{answer}");
    let edited = set.replacen("\"Hi\"", "\"Bye\"", 1).replacen("\"n\":  1", "\"n\":  7", 1);
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), edited);
    // What was shown before is not edited again, nor accepted.
    let (status, answer) = edit("a", &seen, turns);
    assert!(status == 409 && answer["error"].as_str().unwrap().contains("changed meanwhile"), "{answer}");
    assert_eq!(pages.decide("accept", "a", &seen).0, 409);
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), edited);
    let (status, answer) = edit("a", &pages.seen("a"), json!([{ "turn": 1, "answer": "" }]));
    assert_eq!((status, &answer["card"]["run"]["turns"][0]["actual"]), (200, &Value::Null), "{answer}");
    let now = answer["card"]["seen"].as_str().unwrap();
    assert_eq!(now, pages.seen("a"));
    assert_eq!(pages.decide("accept", "a", now).0, 200);
}

#[test]
fn serve_accepts_the_drafts_of_a_set_and_says_which_it_left() {
    let pages = Pages::new(&[]);
    let drafts =
        |seen: [&str; 2]| json!([{ "case": "a", "seen": seen[0] }, { "case": "b", "seen": seen[1] }]);
    let accept = |drafts: &Value| {
        pages.post("/drafts/accept-all", &json!({ "set": "evals/s.evalset.json", "drafts": drafts }))
    };
    let (a, b) = (pages.seen("a"), pages.seen("b"));
    let body = json!({ "set": "/etc/passwd", "drafts": drafts([&a, &b]) });
    assert_eq!(pages.post("/drafts/accept-all", &body).0, 404);
    assert_eq!(pages.post("/drafts/accept-all", &json!({ "set": "evals/s.evalset.json" })).0, 400);
    let changed = SET.replacen("Hi", "Bye", 1);
    fs::write(pages.set(), &changed).unwrap();
    let (status, answer) = accept(&drafts([&a, &b]));
    assert_eq!((status, &answer["accepted"]), (200, &json!(["b"])), "{answer}");
    assert_eq!(answer["left"][0]["case"], "a");
    assert!(answer["left"][0]["error"].as_str().unwrap().contains("changed meanwhile"), "{answer}");
    assert_eq!(answer["done"], "accepted 1 draft: it is a test in the next build; 1 is left");
    assert_eq!(fs::read_to_string(pages.set()).unwrap(), changed.replace(r#", "_draft": {}"#, ""));
    let (_, answer) = accept(&drafts([&pages.seen("a"), &b]));
    assert_eq!((&answer["accepted"], &answer["left"][0]["case"]), (&json!(["a"]), &json!("b")));
    assert!(!fs::read_to_string(pages.set()).unwrap().contains("_draft"));
    // A file that cannot be read accepts none.
    fs::write(pages.set(), "{").unwrap();
    let (status, answer) = accept(&drafts([&a, &b]));
    assert!(status == 409 && answer["help"].as_str().unwrap().contains("cargo evalset check"), "{answer}");
}

#[test]
fn serve_shows_all_that_a_draft_demands() {
    let pages = Pages::new(&[]);
    fs::write(pages.set(), crate::edit::DEMANDING).unwrap();
    let page = pages.get("/drafts").1;
    let quote = "&#34;";
    for (what, said) in [
        ("session", "app trip, user anna".to_owned()),
        ("rubric for a judge", "kind (FINAL_RESPONSE_QUALITY): The answer is kind.".to_owned()),
        ("rubric for a judge", "sparing (TOOL_USE_QUALITY): One call is made.".to_owned()),
        ("reviewer", "nobody".to_owned()),
        ("response of the tool", format!("{{{quote}number{quote}:7}}")),
        ("said before the answer", "One moment.".to_owned()),
        ("session state expected at the end", format!("{{{quote}booked{quote}:true}}")),
        ("the persona never does", "The message is long.".to_owned()),
    ] {
        let row = format!("<dt>{what}</dt><dd class=\"said\" dir=\"auto\">{said}</dd>");
        assert!(page.contains(&row), "{row}: {page}");
    }
}

#[test]
fn serve_shows_a_journal_that_is_dropped() {
    let pages = Pages::new(&[]);
    let journal = run(&pages, "theirs");
    record(&journal, &started(1, "one"));
    record(&journal, &decided(1, "passed"));
    record(&journal, &ended());
    let text = fs::read_to_string(&journal).unwrap();
    let headers = format!("cookie: {}\r\nx-evalset: page\r\n", pages.cookie);
    let (status, answer) = pages.ask("POST /check/journal", &headers, &text);
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["outcome"], "passed", "{answer}");
    let begun = format!("{text}{}", sealed_line(&started(2, "two"), text.lines().count() + 1));
    let begun: Value = serde_json::from_str(&pages.ask("POST /check/journal", &headers, &begun).1).unwrap();
    assert_eq!(begun["outcome"], "unmeasurable", "a case that has no verdict is no pass: {begun}");
    let (status, page) = pages.get(answer["link"].as_str().unwrap());
    assert!(status == 200 && page.contains("id=\"case-one\""), "{page}");
    for wrong in ["", "{}", "{\"record\":\"decided\"}\n", "\u{0}"] {
        let (status, answer) = pages.ask("POST /check/journal", &headers, wrong);
        assert!(status == 400 && answer.contains("no journal"), "{wrong:?}: {status} {answer}");
    }
    assert_eq!(pages.get("/dropped/..").0, 404);
}

#[test]
fn serve_checks_with_the_criteria_of_adk_where_no_config_is() {
    let page = Pages::new(&[]).get("/check").1;
    let config = eval_core::EvalConfig::adk_default().to_value();
    let data = config["criteria"].to_string().replace('"', "&#34;");
    assert!(page.contains(&format!("data-criteria=\"{data}\"")), "{data}: {page}");
}

#[test]
fn serve_starts_only_what_it_was_given() {
    let pages = Pages::new(&[]);
    let asked = json!({ "sets": ["evals/s.evalset.json"], "runs": 1, "agent_cmd": "touch hacked" });
    let (status, answer) = pages.post("/run", &asked);
    assert!(status == 409 && answer["help"].as_str().unwrap().contains("--agent-cmd"), "{answer}");
    assert!(pages.get("/").1.contains("serve --agent-cmd"));
    drop(pages);
    let pages = Pages::new(&["--agent-cmd", "sh -c 'sleep 600'"]);
    for wrong in
        [json!([]), json!(["evals"]), json!(["--config"]), json!(["evals/s.evalset.json", "/etc/passwd"])]
    {
        assert_eq!(pages.post("/run", &json!({ "sets": wrong, "runs": 1 })).0, 400, "{wrong}");
    }
    for runs in [0, 101] {
        assert_eq!(pages.post("/run", &json!({ "sets": ["evals/s.evalset.json"], "runs": runs })).0, 400);
    }
    let events = pages.events();
    // A set with drafts is refused by `run` itself, in its words.
    let (status, started) = pages.post("/run", &json!({ "sets": ["evals/s.evalset.json"], "runs": 1 }));
    assert_eq!(status, 200, "{started}");
    let ended = until(&events, "job", |it| it["running"] == false && it["ended"].is_string());
    assert!(ended["said"].to_string().contains("draft"), "{ended}");
    let set = SET.replace(r#", "_draft": {"from": "x"}"#, "").replace(r#", "_draft": {}"#, "");
    fs::write(pages.set(), set).unwrap();
    fs::write(
        pages.folder.path().join("evals/test_config.json"),
        r#"{"criteria": {"response_match_score": 0.5}}"#,
    )
    .unwrap();
    let asked = json!({ "sets": ["evals/s.evalset.json"], "runs": 2 });
    let (_, started) = pages.post("/run", &asked);
    until(&events, "run", |it| it["run"] == started["run"] && it["running"] == true);
    assert_eq!(pages.post("/run", &asked).0, 409, "one at a time");
    assert_eq!(pages.post("/run/cancel", &json!({})).1, json!({ "cancelled": true }));
    until(&events, "run", |it| it["run"] == started["run"] && it["running"] == false);
    assert_eq!(pages.post("/run/cancel", &json!({})).1, json!({ "cancelled": false }));
}

#[test]
fn serve_ends_at_once_although_somebody_looks_on() {
    let mut pages = Pages::new(&[]);
    let events = pages.events();
    until(&events, "all", |_| true);
    let began = Instant::now();
    let id = pages.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(pages.child.wait().unwrap().code(), Some(0));
    // Requests in progress have ten seconds; a stream of events would take them all.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(events.iter().all(|(name, _)| name == "job"), "the stream ends");
}
