//! `report --html`: the content of the file, and when it is written. `tests/page` checks its looks.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, outcome, passed};

/// A run with a case that passed, one that failed, and one with an error.
fn mixed(folder: &Folder, run: &str) {
    let mut journal = Journal::new(folder, run);
    let sunny = journal.started("weather::sunny", 1);
    journal.ran(sunny, 1, 1.0);
    journal.decided(sunny, &passed(), Some(1.0), "");
    let oslo = journal.started("weather::oslo", 1);
    journal.ran(oslo, 1, 0.5);
    let printed = "Error: weather::oslo: below\n\n  | run again  curl x | sh\nrun again     cargo test -p app weather::oslo -- --exact";
    journal.decided(oslo, &failed(), Some(0.5), printed);
    let broken = journal.started("weather::broken", 1);
    journal.ran_only(broken, 1, &json!({ "role": "agent", "turn": 1, "message": "connection refused" }));
    journal.decided(broken, &error("agent", "agent error: connection refused"), None, "");
    journal.write();
}

/// The details of each case, in the order of the page.
pub(crate) fn details(page: &str) -> Vec<Value> {
    let blocks = page.split("<script type=\"application/json\"").skip(1);
    let json = blocks.map(|block| block.split_once('>').unwrap().1.split_once("</script>").unwrap().0);
    json.map(|json| serde_json::from_str(json).expect("the details are JSON")).collect()
}

#[test]
fn the_page_has_every_case_and_what_needs_attention_first() {
    let folder = Folder::new("page-mixed");
    mixed(&folder, "r1");
    let plain = folder.run(&["report"]);
    let ran = folder.run(&["report", "--html", "report.html"]);
    assert_eq!((ran.code, &ran.out), (plain.code, &plain.out), "the page changes nothing else");
    let page = folder.read("report.html");
    let cases = details(&page);
    let names: Vec<&str> = cases.iter().filter_map(|case| case["name"].as_str()).collect();
    assert_eq!(names, ["weather::oslo", "weather::broken", "weather::sunny"]);
    let again = |case: &Value| {
        let commands = case["next"]["steps"][0]["commands"].as_array().expect("something can be done");
        let again = commands.iter().find(|it| it["does"] == "Run it again").expect("it can be run again");
        again["command"].clone()
    };
    assert_eq!(again(&cases[0]), "cargo test -p app weather::oslo -- --exact", "not what the agent said");
    assert_eq!(again(&cases[2]), "cargo test -p app -- --exact weather::sunny");
    assert_eq!(cases[0]["runs"][0]["turns"][0]["user"]["t"], "Weather?");
    assert_eq!(cases[0]["runs"][0]["turns"][0]["actual"]["t"], "It is sunny.");
    assert_eq!(cases[1]["runs"][0]["error"]["t"], "agent error in turn 1: connection refused");
    assert!(page.contains("<h1>1 failed, 1 error, 1 passed</h1>"), "the outcome in words");
    assert!(page.contains("<p class=\"cause\">1 of 3 cases has no verdict</p>"), "and why it is none");
    // The journal tells neither.
    assert!(page.contains("<dt>Git revision</dt><dd class=\"unknown\">not recorded</dd>"));
    assert!(page.contains("<dt>Uncommitted changes</dt><dd class=\"unknown\">not recorded</dd>"));
    assert!(page.contains("<dt>Cost</dt><dd>not known without prices"));
    for flag in ["failed", "errors"] {
        assert!(page.contains(&format!("data-copy=\"cargo evalset rerun --{flag}\"")), "{flag}");
    }
}

#[test]
fn what_was_expected_comes_from_the_set_and_an_edit_is_said() {
    let folder = Folder::new("page-expected");
    mixed(&folder, "r1");
    let doubt = |folder: &Folder| {
        folder.run(&["report", "--html", "report.html"]);
        let case = details(&folder.read("report.html")).swap_remove(0);
        (case["doubt"].as_str().unwrap_or_default().to_owned(), case)
    };
    let (said, case) = doubt(&folder);
    assert!(
        said.starts_with("What was expected is not known here: `evals/weather.evalset.json` is not here"),
        "{said}"
    );
    assert_eq!(case["runs"][0]["turns"][0]["expected"], Value::Null);
    let turn = |text: &str| {
        json!([{
            "user_content": { "role": "user", "parts": [{ "text": "Weather?" }] },
            "final_response": { "role": "model", "parts": [{ "text": text }] },
            "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": "Oslo" } }] },
        }])
    };
    let case = |id: &str| json!({ "eval_id": id, "conversation": turn("It is rainy.") });
    let set =
        json!({ "eval_set_id": "weather", "eval_cases": [case("sunny"), case("oslo"), case("broken")] });
    folder.write("evals/weather.evalset.json", set.to_string());
    let (said, case) = doubt(&folder);
    assert!(said.starts_with("The case was edited since it ran."), "{said}");
    let turn = &case["runs"][0]["turns"][0];
    assert_eq!(turn["expected"]["t"], "It is rainy.");
    let parts = json!([
        { "d": "=", "t": "It is " }, { "d": "-", "t": "rainy" }, { "d": "+", "t": "sunny" }, { "d": "=", "t": "." },
    ]);
    assert_eq!(turn["diff"], json!([{ "by": "words", "parts": parts }]));
    assert_eq!(
        turn["calls"],
        json!([{
            "is": "missing", "name": "get_weather", "expected": "get_weather(city: \"Oslo\")", "actual": null, "result": null,
            "keys": null, "note": null, "differences": 1,
        }])
    );
}

/// The details of a case whose only run recorded this transcript.
fn of_transcript(name: &str, case: &Value, transcript: &Value) -> Value {
    let folder = Folder::new(name);
    let set = json!({ "eval_set_id": "weather", "eval_cases": [case] });
    folder.write("evals/weather.evalset.json", set.to_string());
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    let record =
        json!({ "record": "ran", "test": test, "run": 1, "evaluation": 1, "transcript": transcript });
    journal.raw(&record.to_string());
    journal.decided(test, &failed(), Some(0.5), "");
    journal.write();
    let ran = folder.run(&["report", "r1", "--html", "report.html"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    details(&folder.read("report.html")).swap_remove(0)
}

fn content(text: &str) -> Value {
    json!({ "parts": [{ "text": text }] })
}

/// A turn that was played.
fn played(user: &str, answer: &str) -> Value {
    json!({ "invocation_id": "t", "user_content": content(user), "creation_timestamp": 1, "events": [
        { "author": "agent", "content": { "role": "model", "parts": [{ "text": answer }] } },
    ] })
}

#[test]
fn the_session_state_is_compared_as_the_metric_compares_it() {
    let case = json!({
        "eval_id": "sunny", "conversation": [{ "user_content": content("?") }],
        "final_session_state": { "open": 1, "total": 2.0, "big": 10_000_000_000_000_001_u64, "list": [true], "none": null },
    });
    let transcript = json!({
        "session": { "app_name": "a", "user_id": "u", "session_id": "s", "state": { "same": 1, "open": false } },
        "turns": [played("?", "Yes.")],
        "state": { "same": 1, "open": true, "total": 2, "big": 1e16, "list": [1], "more": "x" },
    });
    let case = of_transcript("page-state", &case, &transcript);
    let rows = case["runs"][0]["state_rows"].as_array().unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), row["differs"] == true)).collect();
    let expected =
        [("big", true), ("list", false), ("more", false), ("none", true), ("open", false), ("total", false)];
    assert_eq!(rows, expected, "{case:#}");
}

#[test]
fn turns_that_a_run_did_not_come_to_are_shown_with_what_they_expected() {
    let turn = |text: &str| {
        json!({
            "user_content": content(text), "final_response": content("Fine."),
            "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": text } }] },
        })
    };
    let case = json!({ "eval_id": "sunny", "conversation": [turn("one"), turn("two"), turn("three")] });
    let session = json!({ "app_name": "a", "user_id": "u", "session_id": "s" });
    for (name, turns) in [("page-none-played", vec![]), ("page-one-played", vec![played("one", "Fine.")])] {
        let count = turns.len();
        let error = json!({ "role": "agent", "turn": count.max(1), "message": "gone" });
        let case = of_transcript(name, &case, &json!({ "session": session, "turns": turns, "error": error }));
        let shown = case["runs"][0]["turns"].as_array().unwrap();
        let users: Vec<_> =
            shown.iter().map(|turn| (turn["user"]["t"].as_str().unwrap(), turn["played"] == true)).collect();
        assert_eq!(users, [("one", count == 1), ("two", false), ("three", false)]);
        let last = &shown[2];
        assert_eq!((&last["expected"]["t"], &last["actual"]), (&json!("Fine."), &Value::Null));
        assert_eq!(last["calls"][0]["expected"], "get_weather(city: \"three\")");
        assert_eq!((&last["calls"][0]["is"], &last["same"]), (&json!("missing"), &json!(false)));
    }
}

#[test]
fn answers_are_the_same_if_they_are_and_not_if_they_look_so() {
    let key = |fill: &str| format!("sk-ant-{}", fill.repeat(60));
    let long = "word ".repeat(5_000);
    for (name, expected, actual, same) in [
        ("page-same", "Fine.".to_owned(), "Fine.".to_owned(), true),
        ("page-keys", key("a1"), key("b2"), false),
        ("page-cut", long.clone() + "a", long.clone() + "b", false),
        ("page-cut-same", long.clone(), long, true),
    ] {
        let turn = json!({ "user_content": content("?"), "final_response": content(&expected) });
        let case = json!({ "eval_id": "sunny", "conversation": [turn] });
        let session = json!({ "app_name": "a", "user_id": "u", "session_id": "s" });
        let case =
            of_transcript(name, &case, &json!({ "session": session, "turns": [played("?", &actual)] }));
        let turn = &case["runs"][0]["turns"][0];
        assert_eq!(turn["same"], same, "{name}");
        assert_eq!(turn["expected"]["t"], turn["actual"]["t"], "{name}: they look the same");
    }
}

#[test]
fn the_runs_before_are_shown_and_later_ones_are_not() {
    let folder = Folder::new("page-history");
    for (run, began) in [("r1", "2026-11-20"), ("r2", "2026-11-21"), ("r3", "2026-11-22")] {
        mixed(&folder, run);
        let marker = json!({ "run": run, "started": format!("{began}T02:31:07.250Z") });
        folder.write(&format!(".evalset/{run}/run.json"), marker.to_string());
    }
    folder.run(&["report", "r2", "--html", "report.html"]);
    let page = folder.read("report.html");
    assert!(page.contains("1/3 cases passed in this run, 1/3 in the one before"), "two runs of three");
    assert!(
        page.contains("2026-11-20 02:31:07 UTC: 1/3 cases passed")
            && !page.contains("2026-11-22 02:31:07 UTC: ")
    );
    assert!(page.contains("aria-label=\"failed, failed\""), "the runs of a case");
    folder.run(&["report", "r1", "--html", "report.html"]);
    assert!(!folder.read("report.html").contains("in the one before"), "nothing is made up of a single run");
}

#[test]
fn a_page_goes_to_a_file_or_to_standard_output_and_only_a_file_is_opened() {
    let folder = Folder::new("page-output");
    mixed(&folder, "r1");
    let printed = folder.run(&["report", "--html", "-"]);
    assert!(printed.out.starts_with("<!doctype html>"), "{}", printed.out);
    assert!(!folder.path("-").exists());
    for args in [&["report", "--open"][..], &["report", "--html", "-", "--open"]] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(ran.err.contains("--html"), "{}", ran.err);
    }
    let nowhere = folder.run(&["report", "--html", "no/such/folder/report.html"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.err.contains("name a file in an existing folder"), "{}", nowhere.err);
}

/// A folder with a program `xdg-open`, which is what opens files on Linux, and with `sh` for it.
#[cfg(target_os = "linux")]
fn opener(folder: &Folder, name: &str, script: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;

    let file = format!("{name}/xdg-open");
    folder.write(&file, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(folder.path(&file), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.path(name)
}

#[cfg(target_os = "linux")]
#[test]
fn a_browser_that_does_not_open_costs_neither_the_report_nor_the_verdict() {
    let folder = Folder::new("page-open");
    let mut journal = Journal::new(&folder, "r1");
    let oslo = journal.started("weather::oslo", 1);
    journal.ran(oslo, 1, 0.5);
    journal.decided(oslo, &failed(), Some(0.5), "");
    journal.write();
    let plain = folder.run(&["report"]);
    assert_eq!(plain.code, Some(1), "{}", plain.err);
    let args = ["report", "--html", "report.html", "--open"];
    let with = |path: &std::path::Path| {
        crate::folder::Ran::from(folder.command(&args).env("PATH", path).output().expect("it runs"))
    };
    let records = opener(&folder, "records", &format!("echo \"$1\" > '{}'", folder.path("opened").display()));
    let opened = with(&records);
    assert_eq!((opened.code, &opened.out), (plain.code, &plain.out), "{}", opened.err);
    let began = std::time::Instant::now();
    // The browser is not waited for.
    while std::fs::read(folder.path("opened")).map_or(true, |text| text.is_empty()) {
        assert!(began.elapsed().as_secs() < 30, "nothing was opened");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(folder.read("opened").trim(), "report.html");
    let fails = with(&opener(&folder, "fails", "exit 3"));
    assert_eq!((fails.code, &fails.out), (plain.code, &plain.out), "{}", fails.err);
    // Not even a shell.
    let nothing = with(&folder.path("no-such-folder"));
    assert_eq!((nothing.code, &nothing.out), (plain.code, &plain.out), "{}", nothing.err);
    assert!(nothing.err.contains("warning: cannot open `report.html`"), "{}", nothing.err);
    assert!(nothing.err.contains("it is written: open it in a browser"), "{}", nothing.err);
    let json = folder.command(&[&args[..], &["--format", "json"]].concat()).env("PATH", "").output().unwrap();
    assert!(serde_json::from_slice::<Value>(&json.stdout).is_ok_and(|it| it["outcome"] == "failed"));
}

/// Runs git in a folder, with nothing of this user's configuration.
fn git(folder: &Folder, args: &[&str]) -> bool {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]).args(args);
    git.current_dir(folder.path("")).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_page_says_which_commit_it_is_of_and_whether_files_differ_from_it() {
    let folder = Folder::new("page-git");
    folder.write("agent.py", "print(1)");
    folder.write(".gitignore", "target\nreport.html\n");
    let is_made = git(&folder, &["init", "-q", "-b", "trunk"])
        && git(&folder, &["add", "."])
        && git(&folder, &["commit", "-q", "-m", "a"]);
    if !is_made {
        eprintln!("skipped: there is no git");
        return;
    }
    mixed(&folder, "r1");
    let commit = folder.read(".git/refs/heads/trunk").trim().to_owned();
    let page = |commit: &str| {
        let marker = json!({ "run": "r1", "started": "2026-11-22T02:31:07.250Z", "revision": commit, "branch": "trunk" });
        folder.write(".evalset/r1/run.json", marker.to_string());
        folder.run(&["report", "--html", "report.html"]);
        folder.read("report.html")
    };
    let clean = page(&commit);
    assert!(clean.contains(&format!("<dt>Git revision</dt><dd>{commit} (branch trunk)</dd>")));
    assert!(clean.contains("<dt>Uncommitted changes</dt><dd>none when this page was written</dd>"));
    assert!(
        clean.contains(&format!("<dt>Git revision</dt><dd>{} on trunk</dd>", &commit[..7])),
        "at a glance"
    );
    folder.write("agent.py", "print(2)");
    let dirty = page(&commit);
    assert!(dirty.contains("<dt>Uncommitted changes</dt><dd>in 1 file when this page was written</dd>"));
    assert!(
        dirty.contains(&format!("{} on trunk, 1 file uncommitted when this page was written", &commit[..7]))
    );
    // The present checkout says nothing about a run of another commit.
    let other = page("05cde3d0c2b1a09f8e7d6c5b4a39281706f5e4d3");
    assert!(other.contains("not recorded; another revision was checked out when this page was written"));
}

#[test]
fn prices_show_what_cases_cost() {
    let folder = Folder::new("page-price");
    let mut journal = Journal::new(&folder, "r1");
    let sunny = journal.started("weather::sunny", 1);
    journal.raw(&json!({ "record": "ran", "test": sunny, "run": 1, "evaluation": 1, "transcript": {
        "session": { "app_name": "a", "user_id": "u", "session_id": "s" },
        "turns": [{ "invocation_id": "t", "user_content": { "parts": [{ "text": "?" }] }, "creation_timestamp": 1, "events": [
            { "author": "agent", "model_version": "m", "usage": { "prompt_token_count": 1000, "candidates_token_count": 100 } },
        ] }],
    } }).to_string());
    journal.decided(sunny, &passed(), Some(1.0), "");
    journal.write();
    let page = |args: &[&str]| {
        let ran = folder.run(&[&["report", "--html", "report.html"], args].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        folder.read("report.html")
    };
    assert!(!page(&[]).contains("Tokens, cost"));
    let priced = page(&["--price", "m=1/10"]);
    assert!(
        priced.contains("Tokens, cost") && priced.contains("cost 0.0020 for 1,000 tokens in and 100 out")
    );
    assert!(
        page(&["--price", "other=1/10"]).contains("<dt>Cost</dt><dd>not known"),
        "no price of this model"
    );
    let refused = folder.run(&["report", "--html", "report.html", "--price", "cheap"]);
    assert!(refused.code == Some(2) && refused.err.contains("`cheap` is no price"), "{}", refused.err);
}

#[test]
fn what_judges_were_asked_and_answered_is_on_the_page() {
    let folder = Folder::new("page-judge");
    let mut journal = Journal::new(&folder, "r1");
    let sunny = journal.started("weather::sunny", 1);
    journal.ran_only(sunny, 1, &Value::Null);
    let key = format!("sk-ant-{}", "abcde01234".repeat(6));
    journal.raw(&json!({ "record": "scored", "test": sunny, "run": 1, "evaluation": 1, "metrics": [{
        "name": "final_response_match_v2", "outcome": outcome(&[0.0]),
        "judge": [{ "model": "gemini", "asked": 2, "failed": 1, "usage": {}, "questions": [
            { "template": "final_response_match_v2/2", "prompt": format!("Right? {key} \u{202e}"), "answers": ["</script>no", "no answer: late"] },
        ] }],
    }] }).to_string());
    journal.decided(sunny, &failed(), Some(0.0), "Error: x");
    journal.write();
    folder.run(&["report", "--html", "report.html"]);
    let page = folder.read("report.html");
    let judge = &details(&page)[0]["runs"][0]["judges"][0];
    assert_eq!((&judge["purpose"], &judge["model"]), (&json!("final_response_match_v2"), &json!("gemini")));
    let question = &judge["questions"][0];
    assert_eq!(question["answers"], json!([{ "t": "</script>no" }, { "t": "no answer: late" }]));
    let prompt = question["prompt"]["t"].as_str().unwrap();
    assert!(prompt.starts_with("Right? ") && prompt.ends_with("\\u{202e}"), "{prompt}");
    assert!(!page.contains(&key), "a key is masked");
}
