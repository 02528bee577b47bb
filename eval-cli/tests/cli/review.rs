//! `review` without a terminal: the list, choices by their hashes, and what is refused.

use std::path::Path;

use serde_json::Value;

use crate::folder::{AGENT, Folder, Ran};
use crate::journal::{Journal, passed};

pub(crate) const SET: &str = "desk.evalset.json";

/// The sixth case of the queue.
pub(crate) const DRAFT: &str = r#",
    {"eval_id": "rain in Oslo", "conversation": [{"user_content": {"parts": [{"text": "Weather in Oslo?"}]},
      "final_response": {"parts": [{"text": "It rains in Oslo."}]}}], "_draft": {"from": "a conversation of 3 May"}}
  ]
}
"#;

/// A file beside the tests.
pub(crate) fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A folder with this set, run five times.
pub(crate) fn ran(test: &str, set: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("agent.py", file("agent.py")).write(SET, set);
    let ran = folder.run(&["run", SET, "--agent-cmd", AGENT, "--runs", "5"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    folder
}

/// A set with one case more, which the agent answers so.
fn with_case(user: &str, expected: &str) -> String {
    let case = format!(
        r#"{{"eval_id": "more", "conversation": [{{"user_content": {{"parts": [{{"text": "{user}"}}]}}, "final_response": {{"parts": [{{"text": "{expected}"}}]}}}}]}},
    {{"eval_id": "answer""#
    );
    file(SET).replacen(r#"{"eval_id": "answer""#, &case, 1)
}

fn listed(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let ran = folder.run(&[&["review", "--list", "--format", "json"], args].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    document["items"].as_array().expect("items").clone()
}

fn item<'l>(list: &'l [Value], id: &str) -> &'l Value {
    list.iter().find(|item| item["eval_id"] == id).unwrap_or_else(|| panic!("{id}: {list:?}"))
}

/// The name with the hash of a choice: `ID@HASH`.
fn name(list: &[Value], id: &str) -> String {
    let choices = list.iter().flat_map(|item| [&item["accept"], &item["loosen"]]);
    let mut choices = choices.flat_map(|choices| choices.as_array().expect("choices"));
    let choice = choices.find(|choice| choice["id"] == id).unwrap_or_else(|| panic!("{id}: {list:?}"));
    format!("{id}@{}", choice["hash"].as_str().expect("a hash"))
}

fn accept(folder: &Folder, name: &str) -> Ran {
    folder.run(&["review", "--accept", name])
}

/// The changes of the example, each with the bytes before and after.
const CHANGES: [(&str, &str, &str); 5] = [
    ("answer", "It is sunny in Paris.", "Paris has clear skies today, 23 November 2026."),
    ("argument", "2026-11-22", "2026-11-23"),
    ("new_call", r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#),
    ("two_turns:1", "Hello!", "Good morning to you."),
    (
        "argument:loosen-1",
        r#""day": "2026-11-22"}}]}}]}"#,
        r#""day": "2026-11-22"}}]}}], "_expect": {"1": {"calls": {"get_weather": {"day": "date"}}}}}"#,
    ),
];

#[test]
fn the_list_has_each_choice_with_its_bytes_its_warnings_and_a_forecast() {
    let set = file(SET);
    let folder = ran("review-list", &set);
    let list = listed(&folder, &[]);
    let ids: Vec<&str> = list.iter().filter_map(|item| item["eval_id"].as_str()).collect();
    assert_eq!(ids, ["answer", "argument", "new_call", "two_turns", "unstable"]);
    let stable: Vec<bool> = list.iter().filter_map(|item| item["stable"].as_bool()).collect();
    assert_eq!(stable, [true, true, true, true, false]);

    let answer = &item(&list, "answer")["accept"][0];
    let message = answer["warnings"][0]["message"].as_str().expect("a warning");
    assert!(message.contains("`23 November 2026`"), "{message}");
    assert_eq!(answer["warnings"][0]["asks"], true);
    assert_eq!(
        (&answer["bytes_before"], &answer["bytes_after"]),
        (&Value::from(set.len()), &Value::from(set.len() + 25))
    );
    assert_eq!(answer["change"][0]["line"], 6);
    let line = set.lines().nth(5).expect("a line");
    assert_eq!(answer["change"][0]["removed"][0], line);
    assert_eq!(answer["forecast"]["passed"], 5);

    let ids: Vec<String> = item(&list, "two_turns")["accept"]
        .as_array()
        .expect("choices")
        .iter()
        .map(|choice| choice["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids, [format!("{SET}:two_turns"), format!("{SET}:two_turns:1"), format!("{SET}:two_turns:2")]);
    let second = &item(&list, "two_turns")["accept"][2];
    let told: Vec<&str> = second["warnings"]
        .as_array()
        .expect("warnings")
        .iter()
        .filter_map(|warning| warning["message"].as_str())
        .collect();
    assert_eq!(
        told,
        [
            "turn 2: the agent refused before, and consents now",
            "the answer of turn 2 shares no word with the accepted one"
        ]
    );
    assert_eq!(second["forecast"]["still_fails"][0], "response_match_score 0.67");

    let unstable = item(&list, "unstable");
    assert_eq!(unstable["accept"], Value::Array(Vec::new()));
    assert_eq!(unstable["not_offered"], "no behaviour is common to all 5 runs");
    assert_eq!(unstable["varied"][0], "turn 1: `add(a: 2, b: 3)` was called in 4 of 5 runs");
    let loosen: Vec<&str> =
        unstable["loosen"].as_array().expect("choices").iter().filter_map(|it| it["what"].as_str()).collect();
    assert_eq!(loosen, ["`add` may be left out"]);

    // The text for people has the same names, and selects by set and case.
    let shown = folder.run(&["review", "--list", "desk:new_call"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    for says in [
        "            + check_calendar(id: 7)",
        &name(&list, &format!("{SET}:new_call")),
        "@@ line 13, 1711 -> 1758 bytes, 1 line",
        "other calls of `check_calendar` may come between",
    ] {
        assert!(shown.out.contains(says), "{says}: {}", shown.out);
    }
    assert!(!shown.out.contains("two_turns"), "{}", shown.out);
    assert_eq!(folder.read(SET), set, "a list writes nothing");
}

#[test]
fn an_accepted_choice_changes_its_bytes_alone_in_every_layout() {
    let layouts: [fn(&str) -> String; 5] = [
        str::to_owned,
        |text| text.replace('\n', "\r\n"),
        |text| text.replace("      ", "\t\t\t").replace("    ", "\t\t"),
        |text| text.replace("\n      ", " ").replace("\n    ", " ").replace("\n  ", " ").replace('\n', ""),
        |text| {
            let keys = [
                "eval_set_id",
                "eval_cases",
                "eval_id",
                "user_content",
                "final_response",
                "intermediate_data",
                "tool_uses",
            ];
            keys.iter().fold(text.to_owned(), |text, key| {
                text.replace(&format!("\"{key}\""), &format!("\"{}\"", eval_support::key_case::camel(key)))
            })
        },
    ];
    // A case means the same in every layout, so one run is of all of them.
    let folder = ran("review-layout", &file(SET));
    for layout in layouts {
        let set = layout(&file(SET));
        folder.write(SET, &set);
        let list = listed(&folder, &[]);
        for (id, before, after) in CHANGES {
            folder.write(SET, &set);
            let (before, after) = (layout(before), layout(after));
            let ran = accept(&folder, &name(&list, &format!("{SET}:{id}")));
            assert_eq!(ran.code, Some(0), "{id}: {}{}", ran.out, ran.err);
            assert_eq!(folder.read(SET), set.replacen(&before, &after, 1), "{id}");
        }
    }
    let set = format!("\u{feff}{}", file(SET));
    folder.write(SET, &set);
    let list = listed(&folder, &[]);
    let why = item(&list, "answer")["not_offered"].as_str().expect("a reason");
    assert!(why.starts_with("`desk.evalset.json` has errors"), "{why}");
    assert!(list.iter().all(|item| item["accept"] == Value::Array(Vec::new())), "{list:?}");
}

#[test]
fn accepted_cases_pass_when_they_run_again() {
    let folder = ran("review-again", &file(SET));
    let list = listed(&folder, &[]);
    let names: Vec<String> = ["answer", "argument:loosen-1", "new_call", "two_turns"]
        .map(|id| name(&list, &format!("{SET}:{id}")))
        .into();
    let args: Vec<&str> = names.iter().flat_map(|name| ["--accept", name.as_str()]).collect();
    let ran = folder.run(&[&["review"], args.as_slice()].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let cases = format!("{SET}:answer,argument,new_call,two_turns");
    let ran = folder.run(&["run", &cases, "--agent-cmd", AGENT]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(listed(&folder, &[]).is_empty(), "nothing of the last run failed");
}

#[test]
fn what_is_not_as_it_was_shown_is_not_written() {
    let set = file(SET);
    let folder = ran("review-stale", &set);
    let list = listed(&folder, &[]);
    let (argument, answer) = (name(&list, &format!("{SET}:argument")), name(&list, &format!("{SET}:answer")));
    let refused = |text: &str, name: &str, says: &str| {
        folder.write(SET, text);
        let ran = accept(&folder, name);
        assert_eq!((ran.code, folder.read(SET).as_str()), (Some(2), text), "{name}: {}", ran.out);
        assert!(ran.err.contains(says), "{name}: {says}: {}", ran.err);
    };
    let edited = set.replace("2026-11-22", "2026-11-21");
    refused(&edited, &argument, "the case was edited since it ran");
    // The bytes are others, although the case means the same.
    let noted = set.replace(r#""eval_id": "argument""#, r#""_note": 1, "eval_id": "argument""#);
    refused(&noted, &argument, "is not as it was shown");
    refused(&set, &format!("{SET}:argument@0000000000000000"), "is not as it was shown");
    refused(&set, &format!("{SET}:argument"), "has no hash of what was shown");
    refused(&set, &format!("{SET}:argumen@1"), &format!("did you mean `{SET}:argument`"));
    refused(&set, &format!("{SET}:unstable@1"), "no behaviour is common to all 5 runs");
    refused(&set, &format!("{SET}:argument:9@1"), "there is no choice");
    // Another case may have been edited.
    let other = set.replace("It rains in Oslo.", "It rains in Oslo!");
    folder.write(SET, &other);
    assert_eq!(accept(&folder, &answer).code, Some(0));
    let both = format!("{SET}:argument:loosen-1");
    folder.write(SET, &set);
    let ran = folder.run(&["review", "--accept", &argument, "--accept", &name(&list, &both)]);
    assert_eq!((ran.code, folder.read(SET)), (Some(2), set), "two choices for one case: {}", ran.err);
}

#[test]
fn without_a_terminal_and_in_ci_it_names_the_commands() {
    let folder = ran("review-ci", &file(SET));
    let mut command = folder.command(&["review"]);
    for ran in [folder.run(&["review"]), command.env("CI", "1").output().expect("it runs").into()] {
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        for says in ["cargo evalset review --list", "cargo evalset review --accept SET:CASE@HASH"] {
            assert!(ran.err.contains(says), "{}", ran.err);
        }
    }
    // A choice by its hash was seen by a person, or by a program that a person trusts.
    let list = listed(&folder, &[]);
    let mut command = folder.command(&["review", "--accept", &name(&list, &format!("{SET}:new_call"))]);
    let ran: Ran = command.env("CI", "1").output().expect("it runs").into();
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

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
fn the_first_line_says_since_when_a_case_fails() {
    let folder = ran("review-baseline", &file(SET));
    let blessed = folder.run(&["bless", "--allow-dirty"]);
    assert_eq!(blessed.code, Some(0), "{}{}", blessed.out, blessed.err);
    let baseline = folder.read("evalset-baseline.jsonl");
    let passed = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut line) if line["case"] == "answer" => {
            line["passed"] = 5.into();
            line.to_string()
        }
        _ => line.to_owned(),
    };
    let lines: Vec<String> = baseline.lines().map(passed).collect();
    // A commit that no git makes is shown as it is.
    let [none, odd] = ["null", r#""äöüäöüäöü""#].map(|commit| format!(r#""commit":{commit}"#));
    let lines = lines.join("\n").replace(r#""commit": null"#, &none).replace(&none, &odd);
    folder.write("evalset-baseline.jsonl", lines + "\n");
    let list = listed(&folder, &[]);
    let since = item(&list, "answer")["since"].as_str().expect("a text");
    assert!(since.starts_with("passed 5 of 5 on äöü"), "{since}");
    let since = item(&list, "argument")["since"].as_str().expect("a text");
    assert!(since.starts_with("passed 0 of 5"), "{since}");
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
fn runs_that_a_looser_pass_hid_are_shown() {
    let folder = Folder::new("review-any");
    folder.write("agent.py", file("agent.py")).write(SET, file(SET));
    let cases = format!("{SET}:unstable");
    let ran = folder.run(&["run", &cases, "--agent-cmd", AGENT, "--runs", "5", "--pass", "any"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let list = listed(&folder, &[]);
    assert_eq!((&list[0]["passed"], &list[0]["runs"]), (&Value::from(1), &Value::from(5)));
    assert_eq!(list[0]["varied"][0], "turn 1: `add(a: 2, b: 3)` was called in 4 of 5 runs");
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

#[test]
fn a_run_that_was_killed_is_not_said_to_leave_nothing() {
    let folder = Folder::new("review-killed");
    let mut journal = Journal::new(&folder, "r1");
    let sunny = journal.started("weather::sunny", 1);
    journal.ran(sunny, 1, 1.0);
    journal.decided(sunny, &passed(), Some(1.0), "");
    journal.started("weather::killed", 1);
    journal.write();
    let ran = folder.run(&["review", "--list"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(
        ran.err.contains("the run is not complete: 1 case without an end: `weather::killed`"),
        "{}",
        ran.err
    );
    let said = "nothing that ended is left to review, and the run is not complete\n";
    assert!(ran.out.ends_with(said), "{}", ran.out);
    let ran = folder.run(&["review", "--list", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(document["incomplete"].as_array().map(Vec::len), Some(1), "{document}");
}
