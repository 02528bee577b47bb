//! Limits of `gate`: shares of runs, tokens and costs of a build alone.

use serde_json::{Value, json};

use super::blessed;
use crate::folder::Folder;
use crate::journal::{Journal, outcome, passed};

#[test]
fn limits_are_demands_on_a_build_alone() {
    let desk = blessed("gate-limits", 2, 10);
    desk.agent(&json!({ "c01": ["no", "c01"] }));
    desk.run(10);
    let rate = desk.gate(&["--min-pass-rate", "0.9"]);
    assert_eq!(rate["verdict"], "REGRESSION");
    assert_eq!(
        rate["reasons"][0],
        "15 of 20 runs passed (95% interval 53%-89%), and `--min-pass-rate` demands 0.9: this is a demand, no test"
    );
    let reliable = desk.gate(&["--min-reliability", "0.95"]);
    assert!(
        reliable["reasons"][0].as_str().is_some_and(|it| it.contains("c01 passed 5 of 10 runs")),
        "{reliable}"
    );
    let wrong = desk.gate(&["--min-pass-rate", "90"]);
    assert_eq!(wrong["error"]["message"], "`--min-pass-rate` is 90, and a share is from 0 to 1");
}

/// A run of a test that passed, each of whose runs has this usage and took this number of tokens.
fn used(folder: &Folder, id: &str, runs: &[(Value, Option<i64>)]) {
    let mut journal = Journal::new(folder, id);
    let test = journal.started("weather::sunny", runs.len());
    for (run, (usage, tokens)) in (1..).zip(runs) {
        let says = json!({ "role": "model", "parts": [{ "text": "It is sunny." }] });
        let event = json!({ "author": "agent", "content": says, "usage": usage, "at": 0.25 });
        let turn = json!({ "invocation_id": "turn-1", "user_content": { "parts": [{ "text": "Weather?" }] }, "events": [event],
            "creation_timestamp": 1.0 });
        let session = json!({ "app_name": "a", "user_id": "u", "session_id": "s" });
        let transcript = json!({ "session": session, "turns": [turn], "error": null });
        let ran = json!({ "record": "ran", "test": test, "run": run, "evaluation": run, "transcript": transcript, "tokens": tokens });
        journal.raw(&ran.to_string());
        journal.scored(test, run, &outcome(&[1.0]));
    }
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
}

fn gate(folder: &Folder, args: &[&str]) -> (String, String) {
    let ran = folder.run(&[&["gate", "r2", "--baseline", "r1", "--format", "json"], args].concat());
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.shown()));
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{document}")).to_owned();
    (text(&document["verdict"]), text(&document["reasons"][0]))
}

#[test]
fn a_limit_on_tokens_or_costs_that_are_not_all_known_is_not_kept_unless_it_is_broken() {
    let folder = Folder::new("gate-unknown-usage");
    let split = json!({ "prompt_token_count": 900_000, "candidates_token_count": 100_000 });
    let total = json!({ "total_token_count": 1_000_000 });
    used(&folder, "r1", &[(split.clone(), Some(1_000_000))]);
    let tell = |args: &[&str]| gate(&folder, args);
    used(&folder, "r2", &[(split.clone(), Some(1_000_000)), (Value::Null, None)]);
    let (verdict, reason) = tell(&["--max-tokens", "2000000"]);
    assert_eq!(verdict, "UNMEASURABLE");
    assert_eq!(
        reason,
        "1 of 2 runs reported no tokens, so `--max-tokens` cannot be checked; have the agent report its usage, or leave the limit out"
    );
    let (verdict, reason) = tell(&["--max-cost", "10", "--price", "1/1"]);
    assert_eq!(verdict, "UNMEASURABLE");
    assert!(reason.starts_with("1 of 2 runs reported no tokens, so `--max-cost` cannot"), "{reason}");
    // What is known is over the limit by itself.
    assert_eq!(tell(&["--max-tokens", "1"]).0, "REGRESSION");
    assert_eq!(tell(&["--max-cost", "0.5", "--price", "1/1"]).0, "REGRESSION");
    // A sum of input and output has no price, and so has a model that none is named for.
    for (usage, args) in
        [(&total, &["--price", "1/1"][..]), (&split, &["--price", "other=1/1"]), (&split, &[])]
    {
        used(&folder, "r2", &[(usage.clone(), Some(1_000_000))]);
        let (verdict, reason) = tell(&[&["--max-cost", "10"], args].concat());
        assert_eq!(verdict, "UNMEASURABLE", "{reason}");
        assert!(
            reason.starts_with("1,000,000 tokens have no price, so `--max-cost` cannot be checked"),
            "{reason}"
        );
    }
    used(&folder, "r2", &[(split, Some(1_000_000))]);
    assert_eq!(tell(&["--max-cost", "10", "--price", "1/1", "--max-tokens", "2000000"]).0, "PASS");
}
