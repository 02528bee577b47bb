//! Cases that `review` lists and does not offer, each with its reason, and runs that it refuses.

use eval_core::journal::sealed;
use serde_json::{Value, json};

use crate::folder::{AGENT, Folder, Ran};
use crate::journal::{Journal, passed};
use crate::review::{SET, accept, file, item, listed, name, ran, with_case};

#[test]
fn a_masked_key_is_not_offered_and_odd_characters_are_spelt_out() {
    let folder = ran("review-secret", &with_case("Key?", "It is a secret."));
    let list = listed(&folder, &[]);
    let why = item(&list, "more")["not_offered"].as_str().expect("a reason");
    assert!(why.contains("a secret was masked there"), "{why}");
    assert_eq!(item(&list, "more")["accept"], Value::Array(Vec::new()));

    let set = with_case("Odd?", "Even.");
    let folder = ran("review-odd", &set);
    let list = listed(&folder, &["desk:more"]);
    let shown = folder.run(&["review", "--list", "desk:more"]);
    assert!(shown.out.contains(r"Odd:\u{202e} \u{1b}[2J ok"), "{}", shown.out);
    assert!(!shown.out.contains(['\u{202e}', '\u{1b}']), "{}", shown.out);
    assert_eq!(accept(&folder, &name(&list, &format!("{SET}:more"))).code, Some(0));
    let written: Value = serde_json::from_str(&folder.read(SET)).expect("JSON");
    let said = &written["eval_cases"][0]["conversation"][0]["final_response"]["parts"][0]["text"];
    assert_eq!(said, "Odd:\u{202e} \u{1b}[2J ok");
}

#[test]
fn a_run_of_another_job_is_refused_unless_it_is_named() {
    let folder = ran("review-job", &file(SET));
    let run = |args: &[&str]| -> Ran {
        folder.command(args).env("GITHUB_RUN_ID", "7").output().expect("it runs").into()
    };
    let refused = run(&["review", "--list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("another CI job recorded the run"), "{}", refused.err);
    let id = folder.read(".evalset/latest").trim().to_owned();
    assert!(refused.err.contains(&format!("cargo evalset review --run {id}")), "{}", refused.err);
    assert_eq!(run(&["review", "--list", "--run", &id]).code, Some(0));
}

#[test]
fn a_run_of_an_older_build_is_refused_unless_it_is_named() {
    let folder = Folder::new("review-rebuilt");
    let binary = std::env::current_exe().expect("a program");
    let mut journal = Journal::new(&folder, "r1");
    journal.set_head(&json!({ "program": binary, "built": "2020-01-01T00:00:00.000Z" }));
    let sunny = journal.started("weather::sunny", 1);
    journal.ran(sunny, 1, 1.0);
    journal.decided(sunny, &passed(), Some(1.0), "");
    journal.write();
    let refused = folder.run(&["review", "--list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    for says in ["was built again after the run", "name it: `cargo evalset review --run r1`"] {
        assert!(refused.err.contains(says), "{says}: {}", refused.shown());
    }
    assert_eq!(folder.run(&["review", "--list", "--run", "r1"]).code, Some(0));
}

#[test]
fn what_another_attempt_did_otherwise_is_not_stable() {
    let folder = Folder::new("review-attempts");
    let set = r#"{"eval_set_id": "desk", "eval_cases": [{"eval_id": "sum", "conversation": [{"user_content": {"parts": [{"text": "Sum 2 and 3"}]},
        "final_response": {"parts": [{"text": "Nothing at all"}]}}]}]}"#;
    folder.write("agent.py", file("agent.py")).write(SET, set);
    let attempt = |number: &str| {
        let args = ["run", SET, "--agent-cmd", AGENT, "-m", "response_match_score"];
        let ran = folder.command(&args).env("EVALSET_RUN_ID", "r1").env("EVALSET_ATTEMPT", number).output();
        assert_eq!(ran.expect("it runs").status.code(), Some(1));
    };
    attempt("1");
    let list = listed(&folder, &["--run", "r1"]);
    let told = item(&list, "sum")["accept"][0]["warnings"].to_string();
    assert!(told.contains("1 run: nothing shows whether it varies"), "{told}");
    assert!(item(&list, "sum")["again"].as_str().expect("a command").ends_with("--runs 5"), "{list:?}");
    attempt("2");
    let list = listed(&folder, &["--run", "r1"]);
    assert_eq!(item(&list, "sum")["not_offered"], "no behaviour is common to all 2 runs");
}

#[test]
fn a_case_with_an_error_in_one_run_is_listed_with_the_reason() {
    let folder = Folder::new("review-errors");
    // It fails in each run, and the third one breaks.
    let agent = file("agent.py").replace(
        "    if text == \"Plan a trip\":",
        "    if text == \"Break\":\n        if count() == 2:\n            sys.exit(3)\n        return \"No.\"\n    if text == \"Plan a trip\":",
    );
    let set = with_case("Break", "It is done.");
    folder.write("agent.py", agent).write(SET, &set);
    let ran = folder.run(&["run", "desk:more,answer", "--agent-cmd", AGENT, "--runs", "5"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let list = listed(&folder, &[]);
    let broken = item(&list, "more");
    assert_eq!(
        (&broken["runs"], &broken["errors"], &broken["accept"], &broken["loosen"]),
        (&Value::from(5), &Value::from(1), &Value::Array(Vec::new()), &Value::Array(Vec::new()))
    );
    let why = broken["not_offered"].as_str().expect("a reason");
    assert!(why.starts_with("run 3: agent error in turn 1: "), "{why}");
    assert_eq!(item(&list, "answer")["accept"].as_array().map(Vec::len), Some(1));
    let shown = folder.run(&["review", "--list"]);
    for says in [
        "2 cases, 1 failed, 1 error",
        "1 can be accepted, 1 not offered",
        "more   desk.evalset.json:5   failed 4 of 5 runs, 1 error",
        "not offered: run 3: agent error in turn 1: ",
    ] {
        assert!(shown.out.contains(says), "{says}: {}", shown.out);
    }
    let refused = accept(&folder, &format!("{SET}:more@1"));
    assert!(
        refused.code == Some(2) && refused.err.contains("run 3: agent error in turn 1"),
        "{}",
        refused.shown()
    );
    assert_eq!(folder.read(SET), set);
}

#[test]
fn a_turn_that_timed_out_is_listed_and_not_offered() {
    let folder = Folder::new("review-timeout");
    let agent = file("agent.py").replace(
        "    if text == \"Plan a trip\":",
        "    if text == \"Wait\":\n        import time\n        time.sleep(60)\n    if text == \"Plan a trip\":",
    );
    folder.write("agent.py", agent).write(SET, with_case("Wait", "It is done."));
    let ran = folder.run(&["run", "desk:more", "--agent-cmd", AGENT, "--timeout", "500ms"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let list = listed(&folder, &[]);
    let why = item(&list, "more")["not_offered"].as_str().expect("a reason");
    assert!(why.starts_with("run 1: ") && why.contains("500ms"), "{why}");
    let shown = folder.run(&["review", "--list"]);
    assert!(shown.out.contains("desk.evalset.json:5   1 error in 1 run\n"), "{}", shown.out);
}

/// A metric of the user's own that no answer passes.
const STRICT: &str = r#"{"criteria": {"response_match_score": 0.8, "strict": 1.0}, "custom_metrics": {"strict": {"command": ["strict.py"]}}}"#;

#[test]
fn a_metric_that_will_still_fail_is_named_and_one_that_reads_no_golden_offers_nothing() {
    let folder = Folder::new("review-still");
    let program = r#"import json, sys
turns = [0.0 for turn in json.load(sys.stdin)["invocations"]]
print(json.dumps({"score": 0.0, "per_invocation_scores": turns}))
"#;
    folder.write("agent.py", file("agent.py")).write(SET, file(SET)).write("strict.py", program);
    folder.write("test_config.json", STRICT);
    let ran = folder.run(&["run", "desk:answer,same", "--agent-cmd", AGENT, "--runs", "2"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let list = listed(&folder, &[]);
    let forecast = &item(&list, "answer")["accept"][0]["forecast"];
    assert_eq!(
        (&forecast["passed"], &forecast["still_fails"][0]),
        (&Value::from(0), &Value::from("strict 0.0"))
    );
    let shown = folder.run(&["review", "--list"]);
    assert!(shown.out.contains("will still fail: strict 0.0"), "{}", shown.out);
    let why = item(&list, "same")["not_offered"].as_str().expect("a reason");
    assert_eq!(why, "to expect what happened changes no verdict of `strict`");
}

#[test]
fn what_a_judge_answered_is_shown_with_its_model_and_whether_it_was_replayed() {
    let folder = Folder::new("review-judge");
    for name in ["weather.evalset.json", "weather.evalset.judge.json"] {
        let sample = crate::folder::samples().join("weather").join(name);
        let text = std::fs::read_to_string(sample).expect("a sample");
        folder.write(name, text.replace(r#"\": \"valid\""#, r#"\": \"invalid\""#));
    }
    let agent = file("agent.py").replace(r#""Hi": "Good"#, r#""Hi, what is the weather like in Paris?": "It is sunny in Paris today, 21 degrees celsius.", "Hi": "Good"#);
    folder.write("agent.py", agent);
    let config = r#"{"criteria": {"final_response_match_v2": {"threshold": 1.0, "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 3}}}}"#;
    folder.write("judged.json", config);
    let set = "weather.evalset.json:sunny in Paris";
    let ran = folder.run(&["run", set, "--config", "judged.json", "--agent-cmd", AGENT]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let list = listed(&folder, &[]);
    let judged: Vec<&str> =
        list[0]["judged"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!(judged[0], "final_response_match_v2 asked gemini-2.5-flash: 2 samples, replayed");
    assert_eq!(judged.len(), 3, "{judged:?}");
    assert!(judged[1].contains("Both name sunshine"), "{judged:?}");
    assert_eq!(list[0]["not_offered"], "the case expects already what the agent did");
    // The samples of a question do not agree.
    let recorded = folder.read("weather.evalset.judge.json");
    let mut samples = recorded.split(r#"\": \"invalid\""#);
    let (first, second) = (samples.next().expect("a reply"), samples.next().expect("another reply"));
    let rest: Vec<&str> = samples.collect();
    let [invalid, valid] = [r#"\": \"invalid\""#, r#"\": \"valid\""#];
    let split = [first, invalid, second, valid, &rest.join(invalid)].concat();
    folder.write("weather.evalset.judge.json", split);
    let ran = folder.run(&["run", set, "--config", "judged.json", "--agent-cmd", AGENT]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let judged = listed(&folder, &[])[0]["judged"].clone();
    assert_eq!(judged[0], "final_response_match_v2 asked gemini-2.5-flash: 3 samples, replayed");
    assert_eq!(
        (&judged[1], judged.as_array().map(Vec::len)),
        (&Value::from("a split vote: 2 of 3 say invalid"), Some(5))
    );
    // A baseline that cannot be read is told, and ends no review.
    folder.write("evalset-baseline.jsonl", "<<<<<<< HEAD\n");
    let list = folder.run(&["review", "--list"]);
    let says =
        "how often the cases passed before is not told: evalset-baseline.jsonl:1: a merge left its mark";
    assert!(list.code == Some(0) && list.err.contains(says), "{}", list.shown());
}

/// Changes the lines of the last run's journal. What they say is what happened then.
fn rewritten(folder: &Folder, change: impl Fn(&str) -> String) {
    let run = folder.path(".evalset").join(folder.read(".evalset/latest").trim());
    let files = std::fs::read_dir(run).expect("the run").map(|entry| entry.expect("a file").path());
    for journal in files.filter(|path| path.extension().is_some_and(|it| it == "jsonl")) {
        let text = std::fs::read_to_string(&journal).expect("a journal");
        let records =
            text.lines().map(|line| line.rsplit_once(",\"n\":").expect("a seal").0.to_owned() + "}");
        let lines = (1..).zip(records).map(|(number, record)| sealed(&change(&record), number));
        std::fs::write(journal, lines.collect::<String>()).expect("the journal");
    }
}

#[test]
fn an_answer_that_no_judge_has_seen_is_offered_with_that_and_a_verdict_on_safety_is_not() {
    let folder = Folder::new("review-unseen");
    for name in ["weather.evalset.json", "weather.evalset.judge.json"] {
        let sample = crate::folder::samples().join("weather").join(name);
        let text = std::fs::read_to_string(sample).expect("a sample");
        folder.write(name, text.replace(r#"\": \"valid\""#, r#"\": \"invalid\""#));
    }
    let said = "It is sunny in Paris today, 21 degrees celsius.";
    let agent = file("agent.py").replace(
        "\"Hi\": \"Good",
        &format!("\"Hi, what is the weather like in Paris?\": \"{said}\", \"Hi\": \"Good"),
    );
    folder.write("agent.py", agent);
    let config = r#"{"criteria": {"final_response_match_v2": {"threshold": 1.0, "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 3}}}}"#;
    folder.write("judged.json", config);
    let set = "weather.evalset.json:sunny in Paris";
    let ran = folder.run(&["run", set, "--config", "judged.json", "--agent-cmd", AGENT]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    // The agent said something else, and the judge found it invalid.
    rewritten(&folder, |record| {
        let is_run = record.starts_with(r#"{"record":"ran""#);
        if is_run { record.replace(said, "Paris: clear, 21 C.") } else { record.to_owned() }
    });
    let choice = listed(&folder, &[])[0]["accept"][0].clone();
    assert_eq!(choice["forecast"]["unseen"], json!(["final_response_match_v2"]), "{choice}");
    let shown = folder.run(&["review", "--list"]);
    let says = "`final_response_match_v2` has not judged this pair: the recording has no vote for it, and `EVALSET_JUDGE=record` asks";
    assert!(shown.out.contains(says), "{}", shown.out);
    // To expect the answer changes nothing about whether it is harmless.
    rewritten(&folder, |record| record.replace("final_response_match_v2", "safety_v1"));
    let list = listed(&folder, &[]);
    assert_eq!(
        (&list[0]["accept"], &list[0]["not_offered"]),
        (
            &Value::Array(Vec::new()),
            &Value::from("to expect what happened changes no verdict of `safety_v1`")
        )
    );
}
