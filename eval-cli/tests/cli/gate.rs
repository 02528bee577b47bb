//! `bless`, `gate` and `diff`: baselines of a program's runs, and later builds compared with them.

use std::process::Command;

use serde_json::{Value, json};

use crate::folder::{AGENT, Folder, Ran, program};

mod conditions;
mod counted;
mod doubts;
mod limits;
mod merge;

/// Answers each message with itself, unless `mode.json` has a list of answers for it, one for each conversation. The answer
/// `exit` ends the program.
const SETUP: &str = r#"
mode = json.load(open("mode.json"))
"#;
const TURN: &str = r#"
answers = mode.get(text, [text])
count = os.path.join("counts", text)
made = os.path.getsize(count) if os.path.exists(count) else 0
with open(count, "a") as out:
    out.write("x")
answer = answers[made % len(answers)]
if answer == "exit":
    sys.exit(3)
say(type="text", text=answer)
"#;

const CONFIG: &str = r#"{"criteria": {"response_match_score": 1.0}}"#;

/// A set of this number of cases: `c00`, `c01`, ..
fn set(cases: usize) -> String {
    let case = |at: usize| {
        let content = |role: &str| json!({ "role": role, "parts": [{ "text": format!("c{at:02}") }] });
        json!({
            "eval_id": format!("c{at:02}"),
            "conversation": [{ "user_content": content("user"), "final_response": content("model") }],
        })
    };
    json!({ "eval_set_id": "desk", "eval_cases": (0..cases).map(case).collect::<Vec<_>>() }).to_string()
}

struct Desk(Folder);

impl Desk {
    fn new(test: &str, cases: usize) -> Self {
        let folder = Folder::new(test);
        folder.write("agent.py", program(SETUP, TURN)).write("evals/test_config.json", CONFIG);
        folder.write("evals/desk.evalset.json", set(cases)).write("counts/.keep", "");
        let desk = Self(folder);
        desk.agent(&json!({}));
        desk
    }

    /// The answers of the agent from now on.
    fn agent(&self, mode: &Value) {
        self.0.write("mode.json", mode.to_string());
        for count in std::fs::read_dir(self.0.path("counts")).expect("counts").flatten() {
            std::fs::remove_file(count.path()).expect("a count");
        }
    }

    fn run(&self, runs: usize) -> Ran {
        let runs = runs.to_string();
        self.0.run(&["run", "evals/desk.evalset.json", "--agent-cmd", AGENT, "--runs", &runs])
    }

    /// The id of a run.
    fn id(ran: &Ran) -> String {
        let at = ran.out.split_whitespace().position(|word| word == "Run").expect("a run");
        ran.out.split_whitespace().nth(at + 1).expect("an id").to_owned()
    }

    /// Makes a commit of all files.
    fn commit(&self) {
        if !self.0.path(".git").exists() {
            self.0.write(".gitignore", ".evalset\ncounts\nmode.json\n");
            self.git(&["init", "-q"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.email=a@example.com", "-c", "user.name=a"])
            .args(args)
            .current_dir(self.0.path(""));
        assert!(git.output().expect("git").status.success(), "{args:?}");
    }

    fn gate(&self, args: &[&str]) -> Value {
        let ran = self.0.run(&[&["gate", "--format", "json"], args].concat());
        let document: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()));
        let exit_codes = [("PASS", 0), ("REGRESSION", 1), ("CANNOT TELL", 2), ("UNMEASURABLE", 2)];
        if let Some(verdict) = document["verdict"].as_str() {
            assert!(exit_codes.contains(&(verdict, ran.code.unwrap_or(-1))), "{}", ran.shown());
        }
        document
    }

    fn bless(&self, args: &[&str]) -> Ran {
        self.0.run(&[&["bless"], args].concat())
    }
}

fn blessed(test: &str, cases: usize, runs: usize) -> Desk {
    let desk = Desk::new(test, cases);
    for ran in [desk.run(runs), desk.bless(&[])] {
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    desk
}

#[test]
fn a_build_that_is_as_good_passes_and_one_whose_case_stopped_working_is_a_regression() {
    let desk = blessed("gate-dead", 20, 10);
    assert_eq!(desk.run(1).code, Some(0));
    let same = desk.gate(&[]);
    assert_eq!((&same["verdict"], &same["categories"]), (&json!("PASS"), &json!({ "same": 20 })));
    desk.agent(&json!({ "c07": ["no"] }));
    assert_eq!(desk.run(1).code, Some(1));
    // One run of it shows nothing. Suspects are run again, as they ran.
    assert_eq!(desk.gate(&[])["verdict"], "CANNOT TELL");
    let again = desk.gate(&["--retry-suspects"]);
    assert_eq!(
        (&again["verdict"], &again["categories"]),
        (&json!("REGRESSION"), &json!({ "regressed": 1, "same": 19 }))
    );
    let reason = again["reasons"][0].as_str().expect("a reason");
    assert_eq!(
        reason,
        "evals/desk.evalset.json:c07 passed 10 of 10 before and none of 13 now (p at most 0.00065, whatever 7 more runs would have \
         been; limit 0.0013: 2.5% over 20 cases, Holm); `response_match_score` passed 10/10 before and 0/13 now (not adjusted, no test)"
    );
    // The runs of suspects count for this gate alone: they ran because they failed. They are no last run of another command either.
    assert_eq!(desk.0.run(&["report"]).code, Some(1));
    let after = desk.gate(&[]);
    assert_eq!((&after["verdict"], after["runs"].as_array().map(Vec::len)), (&json!("CANNOT TELL"), Some(1)));
}

#[test]
fn a_suspect_that_passes_again_only_fell() {
    let desk = blessed("gate-fell", 3, 1);
    desk.agent(&json!({ "c01": ["no", "no", "c01"] }));
    assert_eq!(desk.run(1).code, Some(1));
    assert_eq!(desk.gate(&[])["verdict"], "CANNOT TELL");
    let again = desk.gate(&["--retry-suspects"]);
    assert_eq!((&again["verdict"], &again["categories"]), (&json!("PASS"), &json!({ "fell": 1, "same": 2 })));
}

#[test]
fn what_is_missing_or_broken_is_unmeasurable() {
    let desk = blessed("gate-errors", 3, 5);
    desk.agent(&json!({ "c01": ["no", "no", "exit"] }));
    desk.run(3);
    let errors = desk.gate(&[]);
    assert_eq!(
        (&errors["verdict"], &errors["categories"]),
        (&json!("UNMEASURABLE"), &json!({ "newly_failing": 1, "same": 2 }))
    );
    assert!(
        errors["reasons"][0]
            .as_str()
            .is_some_and(|it| it.contains("c01") && it.contains("1 run without a verdict"))
    );
    desk.agent(&json!({}));
    desk.0.write("evals/desk.evalset.json", set(2));
    assert_eq!(desk.run(5).code, Some(0));
    assert_eq!(desk.gate(&[])["verdict"], "UNMEASURABLE");
    assert_eq!(desk.gate(&["--allow-removed"])["verdict"], "PASS");
    let missing = desk.gate(&["--baseline", "nothing.jsonl"]);
    assert_eq!(missing["error"]["message"], "there is no file `nothing.jsonl`");
}

#[test]
fn a_deleted_case_that_failed_is_named_and_stops_the_gate_unless_it_is_allowed() {
    let desk = blessed("gate-deleted", 4, 10);
    desk.agent(&json!({ "c03": ["no"] }));
    assert_eq!(desk.run(4).code, Some(1));
    assert_eq!(desk.gate(&[])["verdict"], "REGRESSION");
    desk.0.write("evals/desk.evalset.json", set(3));
    assert_eq!(desk.run(4).code, Some(0));
    let stopped = desk.0.run(&["gate"]);
    let says = "1 case of the baseline did not run: `evals/desk.evalset.json:c03`";
    assert!(stopped.code == Some(2) && stopped.out.contains(says), "{}", stopped.shown());
    let allowed = desk.0.run(&["gate", "--allow-removed", "--markdown", "gate.md"]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.shown());
    assert!(allowed.out.contains("\nonly before\n  evals/desk.evalset.json:c03  "), "{}", allowed.shown());
    let comment = desk.0.read("gate.md");
    assert!(comment.contains("\n**only before**\n\n- evals/desk.evalset.json:c03  "), "{comment}");
    let document = desk.gate(&["--allow-removed"]);
    let case = &document["cases"][3];
    assert_eq!((&case["case"], &case["category"]), (&json!("c03"), &json!("only_before")), "{document}");
}

#[test]
fn without_a_baseline_or_with_one_of_another_set_nothing_is_decided() {
    let desk = Desk::new("gate-none", 2);
    assert_eq!(desk.run(1).code, Some(0));
    let none = desk.0.run(&["gate"]);
    assert!(none.code == Some(2) && none.err.contains("evalset-baseline.jsonl"), "{}", none.shown());
    assert_eq!(desk.0.run(&["gate", "--baseline", "nothing.jsonl"]).code, Some(2));
    assert_eq!(desk.bless(&[]).code, Some(0));
    let other = desk.0.read("evalset-baseline.jsonl").replace("desk.evalset.json", "other.evalset.json");
    desk.0.write("evalset-baseline.jsonl", other);
    assert_eq!(desk.run(1).code, Some(0));
    let gate = desk.0.run(&["gate"]);
    let says = "2 cases of the baseline did not run: `evals/other.evalset.json:c00` and `evals/other.evalset.json:c01`";
    assert!(gate.code == Some(2) && gate.out.contains(says), "{}", gate.shown());
    assert_eq!(desk.0.run(&["gate", "--allow-removed"]).code, Some(2));
}

#[test]
fn a_baseline_of_few_runs_says_what_they_cost() {
    let desk = Desk::new("bless-few", 2);
    desk.run(2);
    let notes = |ran: &Ran| -> Vec<String> {
        ran.out.lines().filter_map(|line| Some(line.trim().strip_prefix("note: ")?.to_owned())).collect()
    };
    let few = desk.bless(&[]);
    let says = "2 runs before limit what a gate can show: with 1 a case of 20 that stopped working takes 799 failures, with 3 15, with 5 8, \
                with 10 4; bless 10 runs: `cargo evalset run .. --runs 10`";
    assert!(few.code == Some(0) && notes(&few).contains(&says.to_owned()), "{}", few.shown());
    let ten = Desk::id(&desk.run(10));
    let enough = desk.bless(&["--only", &ten]);
    assert_eq!(enough.code, Some(0), "{}", enough.shown());
    assert!(!notes(&enough).iter().any(|note| note.contains("failures")), "{}", enough.shown());
}

#[test]
fn a_baseline_with_marks_of_a_merge_decides_nothing() {
    let desk = blessed("gate-marks", 2, 2);
    let text = desk.0.read("evalset-baseline.jsonl");
    desk.0.write("evalset-baseline.jsonl", text.replacen("\n\n", "\n<<<<<<< HEAD\n", 1));
    let ran = desk.0.run(&["gate"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("evalset-baseline.jsonl:2: a merge left its mark `<<<<<<<` here"),
        "{}",
        ran.shown()
    );
}

#[test]
fn a_case_that_asks_something_else_is_incomparable_and_a_comment_changes_nothing() {
    let desk = blessed("gate-edited", 4, 10);
    let edited = set(4).replacen(r#""text":"c01"}],"role":"user""#, r#""text":"c01?"}],"role":"user""#, 1);
    assert_ne!(edited, set(4));
    let noted = edited.replacen(r#""eval_id":"c02""#, r#""_note":"why","eval_id":"c02""#, 1);
    desk.agent(&json!({ "c01?": ["c01"] }));
    desk.0.write("evals/desk.evalset.json", noted);
    assert_eq!(desk.run(1).code, Some(0));
    let gate = desk.gate(&[]);
    assert_eq!(
        (&gate["verdict"], &gate["categories"]),
        (&json!("PASS"), &json!({ "incomparable": 1, "same": 3 }))
    );
    // Another threshold: the passes of a run are another thing.
    desk.0.write("evals/test_config.json", r#"{"criteria": {"response_match_score": 0.9}}"#);
    assert_eq!(desk.run(1).code, Some(0));
    assert_eq!(desk.gate(&[])["verdict"], "CANNOT TELL");
}

#[test]
fn all_complete_runs_of_a_build_are_blessed_together() {
    let desk = Desk::new("bless-all", 2);
    for _ in 0..3 {
        desk.run(2);
    }
    let ran = desk.bless(&["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (&document["blessed"][0]["runs"], document["runs"].as_array().map(Vec::len)),
        (&json!(6), Some(3))
    );
    let id = document["runs"][1].as_str().expect("an id");
    let only = desk.bless(&["--only", id]);
    let others = "note: 2 more complete runs of that build are there: a baseline of the best of several makes later builds look worse";
    assert!(only.out.contains(others), "{}", only.shown());
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""runs": 2, "passed": 2"#));
    // One case alone: the other keeps its line.
    let before = desk.0.read("evalset-baseline.jsonl");
    desk.bless(&["evals/desk.evalset.json:c01"]);
    let after = desk.0.read("evalset-baseline.jsonl");
    assert_eq!(before.lines().nth(2), after.lines().nth(2));
    assert!(after.lines().nth(4).is_some_and(|line| line.contains(r#""runs": 6"#)), "{after}");
    let unknown = desk.bless(&["evals/desk.evalset.json:c09"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("no run of this build has `evals/desk.evalset.json:c09`"),
        "{}",
        unknown.shown()
    );
}

#[test]
fn what_would_spoil_a_baseline_is_refused() {
    let desk = Desk::new("bless-refused", 2);
    assert!(desk.bless(&[]).err.contains("there is no run of this build"));
    desk.agent(&json!({ "c01": ["exit"] }));
    desk.run(1);
    let broken = desk.bless(&[]);
    let says = "runs of 1 case have no verdict: `evals/desk.evalset.json:c01`";
    assert!(broken.code == Some(2) && broken.err.contains(says), "{}", broken.shown());
    desk.agent(&json!({}));
    desk.commit();
    desk.run(2);
    assert_eq!(desk.bless(&[]).code, Some(0), "{}", desk.bless(&[]).shown());
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""dirty": false"#));
    desk.git(&["add", "-A"]);
    // The file itself may differ.
    assert_eq!(desk.bless(&[]).code, Some(0));
    desk.0.write("agent.py", program(SETUP, TURN) + "\n# changed\n");
    let dirty = desk.bless(&[]);
    assert!(dirty.code == Some(2) && dirty.err.contains("1 tracked file differs"), "{}", dirty.shown());
    assert_eq!(desk.bless(&["--allow-dirty"]).code, Some(0));
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""dirty": true"#));
    let in_ci =
        desk.0.command(&["bless", "--allow-dirty"]).env("CI", "true").output().expect("the program runs");
    let in_ci = Ran::from(in_ci);
    assert!(
        in_ci.code == Some(2) && in_ci.err.contains("nothing is blessed in CI unless it is named"),
        "{}",
        in_ci.shown()
    );
}

#[test]
fn two_runs_are_compared_case_by_case() {
    let desk = Desk::new("diff-runs", 3);
    let one = Desk::id(&desk.run(2));
    desk.agent(&json!({ "c00": ["no"], "c01": ["no", "c01"] }));
    let other = Desk::id(&desk.run(2));
    let diff = |from: &str, to: &str| -> Value {
        let ran = desk.0.run(&["diff", from, to, "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        serde_json::from_str(&ran.out).expect("JSON")
    };
    assert_eq!(diff(&one, &other)["categories"], json!({ "newly_failing": 1, "fell": 1, "same": 1 }));
    assert_eq!(diff(&other, &one)["categories"], json!({ "newly_passing": 1, "rose": 1, "same": 1 }));
    // Two of two and none of two: twice 1 / C(4, 2), in either direction.
    for (from, to) in [(&one, &other), (&other, &one)] {
        let document = diff(from, to);
        let p = document["cases"][0]["p"].as_f64().expect("a number");
        assert!((p - 2.0 / 6.0).abs() < 1e-9, "{document}");
        // Over the cases, the least sum that these totals allow: twice 1/6 of the first and 1/2 of the second.
        let p = document["p"].as_f64().expect("a number");
        assert!((p - 1.0 / 6.0).abs() < 1e-9, "{document}");
        assert_eq!(document["calls"], json!(null), "no case calls a tool");
        assert_eq!(document["from"]["before"], json!({ "commits": [], "dirty": false, "models": [] }));
    }
    let text = desk.0.run(&["diff", &one, &other]);
    let head = format!("run {one} -> run {other}\n  before  commit not known\n  now     commit not known\n");
    let row = "newly failing\n  evals/desk.evalset.json:c00  2/2 -> 0/2  p = 0.33\n";
    assert!(text.out.starts_with(&head) && text.out.contains(row), "{}", text.shown());
    let github = desk.0.run(&["diff", &one, &other, "--format", "github"]);
    let commands: Vec<&str> = github.out.lines().filter(|line| line.starts_with("::")).collect();
    let warning = "::warning file=evals/desk.evalset.json,title=newly failing%3A evals/desk.evalset.json%3Ac00::2/2 -> 0/2; \
                   `response_match_score` passed 2/2 before and 0/2 now (not adjusted, no test)";
    assert_eq!(commands, [warning], "{}", github.shown());
    let page = desk.0.run(&["diff", &one, &other, "--format", "html"]);
    let parts = [
        "<h2>newly failing</h2>".to_owned(),
        "<details class=\"card\" open>\n<summary>evals/desk.evalset.json:c00</summary>".to_owned(),
        "<span class=\"pill passed\">passed <b>2/2</b></span>".to_owned(),
        "<span class=\"pill failed\">failed <b>0/2</b></span>".to_owned(),
        format!("data-copy=\"cargo evalset review evals/desk.evalset.json:c00 --run {other}\""),
    ];
    assert!(page.code == Some(0) && page.out.starts_with("<!doctype html>"), "{}", page.shown());
    for part in parts {
        assert!(page.out.contains(&part), "{part} is not in {}", page.shown());
    }
    let comment = desk.0.run(&["diff", &one, &other, "--format", "markdown"]);
    let row = "| evals/desk.evalset.json:c00 | 2/2 | 0/2 | 0.33 |";
    assert!(comment.code == Some(0) && comment.out.contains(row), "{}", comment.shown());
    assert!(
        comment.out.starts_with(&format!("<!-- evalset-diff -->\n## run {one} -> run {other}\n")),
        "{}",
        comment.shown()
    );
}

#[test]
fn the_head_of_a_diff_names_the_commits() {
    let desk = Desk::new("diff-commits", 1);
    desk.commit();
    let one = Desk::id(&desk.run(1));
    desk.commit();
    let other = Desk::id(&desk.run(1));
    let document: Value =
        serde_json::from_str(&desk.0.run(&["diff", &one, &other, "--format", "json"]).out).expect("JSON");
    let [before, now] = ["before", "now"]
        .map(|side| document["from"][side]["commits"][0].as_str().expect("a commit").to_owned());
    assert!(before != now && before.len() == 40, "{document}");
    let text = desk.0.run(&["diff", &one, &other]);
    let head = format!("\n  before  commit {}\n  now     commit {}\n", &before[..7], &now[..7]);
    assert!(text.out.contains(&head), "{}", text.shown());
}
