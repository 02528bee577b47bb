//! The review of `serve`, and its page of two runs: what is shown, what is written, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::folder::plain;
use crate::page::details;
use crate::review::file;
use crate::serve_pages::Pages;

const SET: &str = "desk.evalset.json";

/// A service in a folder in which the example of the terminal's review ran five times, and the page of its review.
struct Review {
    pages: Pages,
    run: String,
    record: String,
    cards: Vec<Value>,
}

impl Review {
    fn new() -> Self {
        let pages = Pages::new(&[]);
        fs::write(pages.folder.path().join("agent.py"), file("agent.py")).unwrap();
        fs::write(pages.folder.path().join(SET), file(SET)).unwrap();
        let mut review = Self { pages, run: String::new(), record: String::new(), cards: Vec::new() };
        review.runs();
        review.load("");
        review
    }

    fn command(&self, args: &[&str]) -> String {
        let ran = plain(Path::new(env!("CARGO_BIN_EXE_cargo-evalset")))
            .args(args)
            .current_dir(self.pages.folder.path())
            .env("EVALSET_DIR", self.pages.folder.path().join("runs"))
            .output()
            .unwrap();
        String::from_utf8(ran.stdout).unwrap()
    }

    fn runs(&self) {
        let said = self.command(&["run", SET, "--agent-cmd", "python3 agent.py", "--runs", "5"]);
        assert!(said.contains("---- desk/new_call ----"), "{said}");
    }

    fn load(&mut self, query: &str) {
        let (status, page) = self.pages.get(&format!("/review{query}"));
        assert_eq!(status, 200, "{page}");
        let value = |name: &str| {
            let (_, rest) = page.split_once(&format!("data-{name}=\"")).unwrap();
            rest[..rest.find('"').unwrap()].to_owned()
        };
        (self.run, self.record, self.cards) = (value("run"), value("record"), details(&page));
    }

    fn set(&self) -> PathBuf {
        self.pages.folder.path().join(SET)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.set()).unwrap()
    }

    fn card(&self, case: &str) -> &Value {
        self.cards
            .iter()
            .find(|card| card["shown"] == case)
            .unwrap_or_else(|| panic!("{case}: {:?}", self.cards))
    }

    /// A request about a choice of a case, as the page sends it.
    fn ask(&self, path: &str, case: &str, parts: &[&str], hash: Option<&Value>) -> (u16, Value) {
        let card = self.card(case);
        let body = json!({
            "run": self.run, "named": false, "record": self.record, "id": card["id"], "parts": parts, "hash": hash,
        });
        self.pages.post(path, &body)
    }

    /// Writes a choice that was shown.
    fn write(&self, case: &str, parts: &[&str]) -> (u16, Value) {
        let (status, shown) = self.ask("/review/choice", case, parts, None);
        assert_eq!(status, 200, "{shown}");
        self.ask("/review/write", case, parts, Some(&shown["hash"]))
    }
}

#[test]
fn serve_reviews_with_the_choices_of_the_terminal() {
    let review = Review::new();
    let kinds: Vec<(&str, &str)> = review
        .cards
        .iter()
        .map(|card| (card["shown"].as_str().unwrap(), card["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("answer", "failing"),
            ("argument", "failing"),
            ("new_call", "failing"),
            ("two_turns", "failing"),
            ("unstable", "not"),
            ("a", "draft"),
            ("b", "draft"),
        ]
    );
    let list: Value =
        serde_json::from_str(&review.command(&["review", "--list", "--format", "json"])).unwrap();
    for item in list["items"].as_array().unwrap() {
        let card = review.card(item["eval_id"].as_str().unwrap());
        assert_eq!(card["id"], item["id"]);
        assert_eq!(card["whole"]["hash"], item["accept"][0]["hash"], "{card}");
        let words = |all: &Value, key: &str| {
            let all = all.as_array().unwrap().iter();
            all.map(|it| it[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&card["rules"], "what"), words(&item["loosen"], "what"));
        let parts = item["accept"].as_array().unwrap().iter().skip(1);
        let parts: Vec<&str> = parts.map(|it| it["what"].as_str().unwrap()).collect();
        assert_eq!(words(&card["parts"], "what"), parts);
    }
    let warning = &review.card("answer")["whole"]["warnings"][0];
    assert!(warning["message"].as_str().unwrap().contains("`23 November 2026`") && warning["asks"] == true);
    let bytes = review.card("new_call")["whole"]["bytes"]["t"].as_str().unwrap();
    assert!(bytes.starts_with("@@ line 13, 1711 -> 1758 bytes, 1 line\n- "), "{bytes}");
    assert_eq!(review.card("unstable")["refused"][0], "no behaviour is common to all 5 runs");
    let turn = &review.card("argument")["run"]["turns"][0];
    assert_eq!(turn["calls"][0]["is"], "changed", "{turn}");
}

#[test]
fn serve_writes_the_bytes_that_were_shown_and_no_others() {
    let review = Review::new();
    let before = review.text();
    for (case, parts, from, to) in [
        ("answer", &[][..], "It is sunny in Paris.", "Paris has clear skies today, 23 November 2026."),
        ("two_turns", &[":1"], "Hello!", "Good morning to you."),
        (
            "argument",
            &[":loosen-1"],
            r#""day": "2026-11-22"}}]}}]}"#,
            r#""day": "2026-11-22"}}]}}], "_expect": {"1": {"calls": {"get_weather": {"day": "date"}}}}}"#,
        ),
    ] {
        let now = review.text();
        let (status, answer) = review.ask("/review/write", case, parts, Some(&json!("0000000000000000")));
        assert!(
            status == 409 && answer["error"].as_str().unwrap().contains("is not as it was shown"),
            "{answer}"
        );
        assert_eq!(review.ask("/review/write", case, parts, None).0, 409);
        assert_eq!(review.text(), now);
        let (status, answer) = review.write(case, parts);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(review.text(), now.replacen(from, to, 1), "{case}");
        // It is another case now than the one that ran.
        let (status, answer) = review.ask("/review/choice", case, parts, None);
        assert!(
            status == 409 && answer["error"].as_str().unwrap().contains("was edited since it ran"),
            "{answer}"
        );
    }
    assert_ne!(review.text(), before);
    let (status, answer) = review.ask("/review/choice", "unstable", &[], None);
    assert!(
        status == 409 && answer["error"].as_str().unwrap().contains("no behaviour is common"),
        "{answer}"
    );
    // Drafts, in another set.
    let drafts = fs::read_to_string(review.pages.set()).unwrap();
    assert_eq!(review.write("a", &[]).0, 200);
    let accepted = drafts.replace(r#", "_draft": {"from": "x"}"#, "");
    assert_eq!(fs::read_to_string(review.pages.set()).unwrap(), accepted);
    assert_eq!(review.write("b", &[":remove"]).0, 200);
    assert!(!fs::read_to_string(review.pages.set()).unwrap().contains(r#""eval_id": "b""#));
    assert_eq!(review.ask("/review/choice", "b", &[], None).0, 409, "it is gone");
}

#[test]
fn serve_writes_several_parts_at_once() {
    let review = Review::new();
    let (status, shown) = review.ask("/review/choice", "two_turns", &[":1", ":2"], None);
    assert_eq!((status, &shown["what"]), (200, &json!("turn 1, turn 2")), "{shown}");
    assert_eq!(shown["hash"], review.card("two_turns")["whole"]["hash"], "both are all that changed");
    for unknown in [&[":9"][..], &[":1", ":9"], &[":remove"], &[":loosen-99"], &["1"]] {
        let (status, answer) = review.ask("/review/choice", "two_turns", unknown, None);
        assert!(
            status == 409 && answer["error"].as_str().unwrap().contains("not offered"),
            "{unknown:?}: {answer}"
        );
    }
}

#[test]
fn serve_refuses_a_choice_of_a_run_that_changed_since() {
    let mut review = Review::new();
    let (set, before) = (review.set(), review.text());
    // The case in the file.
    let shown = review.card("new_call")["whole"]["hash"].clone();
    fs::write(&set, before.replace("Book Anna a table", "Book Anna a seat")).unwrap();
    let (status, answer) = review.ask("/review/write", "new_call", &[], Some(&shown));
    assert!(
        status == 409 && answer["error"].as_str().unwrap().contains("was edited since it ran"),
        "{answer}"
    );
    fs::write(&set, &before).unwrap();
    // The record of the run.
    let folder = review.pages.folder.path().join("runs").join(&review.run);
    let journal = fs::read_dir(&folder).unwrap().flatten().map(|it| it.path());
    let journal = journal.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).min().unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{text}\n")).unwrap();
    let (status, answer) = review.ask("/review/write", "new_call", &[], Some(&shown));
    assert!(
        status == 409 && answer["error"].as_str().unwrap().contains("was written to since it was shown"),
        "{answer}"
    );
    fs::write(&journal, text).unwrap();
    // A newer run. One that is named may be older.
    let old = review.run.clone();
    review.runs();
    let (status, answer) = review.ask("/review/write", "new_call", &[], Some(&shown));
    assert!(
        status == 409 && answer["error"].as_str().unwrap().contains("came since it was shown"),
        "{answer}"
    );
    assert_eq!(review.text(), before, "nothing was written");
    review.load(&format!("?run={old}"));
    assert_eq!(review.run, old);
    let body = json!({ "run": old, "named": true, "record": review.record, "id": review.card("new_call")["id"], "hash": shown });
    let (status, answer) = review.pages.post("/review/write", &body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(review.pages.get("/review?run=nothing").0, 404);
    assert_eq!(review.pages.post("/review/write", &json!({ "run": 1 })).0, 400);
}

#[test]
fn serve_shows_two_runs_side_by_side() {
    let review = Review::new();
    let before = review.run.clone();
    let agent = review.pages.folder.path().join("agent.py");
    fs::write(&agent, file("agent.py").replace("Booked.", "All is booked.")).unwrap();
    review.runs();
    let list: Value = serde_json::from_str(&review.pages.get("/runs").1).unwrap();
    let now = list["runs"][0]["id"].as_str().unwrap().to_owned();
    let (status, page) = review.pages.get(&format!("/diff?before={before}&now={now}"));
    assert_eq!(status, 200, "{page}");
    for says in [
        "<h2>same verdict, but fewer runs passed a metric</h2>",
        "<h2>same verdict: passed, same answer</h2>",
        "desk.evalset.json:new_call",
        "<span class=\"pill failed\">failed <b>0/5</b></span>",
        &format!("desk.evalset.json:new_call --run {now}\""),
    ] {
        assert!(page.contains(says), "{says}: {page}");
    }
    let asked = |before: &str, case: &str| {
        let body = json!({ "before": before, "now": now, "set": SET, "case": case, "variant": "" });
        review.pages.post("/diff/case", &body)
    };
    let (status, answer) = asked(&before, "new_call");
    let turn = &answer["run"]["turns"][0];
    assert_eq!(
        (status, &turn["expected"]["t"], &turn["actual"]["t"]),
        (200, &json!("Booked."), &json!("All is booked."))
    );
    let parts = turn["diff"][0]["parts"].as_array().unwrap();
    assert!(parts.iter().any(|part| part["d"] == "+"), "the words that differ: {turn}");
    let sides = answer["sides"].as_array().unwrap();
    let failed =
        sides.iter().all(|side| side["metrics"].as_array().unwrap().iter().any(|it| it["state"] == "failed"));
    assert!(failed && sides.iter().all(|side| side["state"].is_array()), "{answer}");
    assert_eq!(asked(&before, "nothing").0, 404);
    assert_eq!(asked("nothing", "new_call").0, 404);
    // A baseline has no conversations. Its runs have.
    assert_eq!(review.pages.get(&format!("/diff?before=baseline&now={now}")).0, 409, "there is none");
    review.command(&["bless", "--only", &before]);
    assert!(review.pages.folder.path().join("evalset-baseline.jsonl").is_file());
    let (status, page) = review.pages.get(&format!("/diff?before=baseline&now={now}"));
    assert!(status == 200 && page.contains("desk.evalset.json:new_call"), "{page}");
    assert_eq!(asked("baseline", "new_call").1["run"]["turns"][0]["expected"]["t"], "Booked.");
    // The page of the run has the categories, and leads to both.
    let (_, page) = review.pages.get(&format!("/runs/{now}"));
    for says in [
        "since the baseline evalset-baseline.jsonl (",
        "data-category=\"same\"",
        &format!("href=\"/review?run={now}\""),
        &format!("href=\"/diff?now={now}\""),
    ] {
        assert!(page.contains(says), "{says}: {page}");
    }
}
