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
pub(crate) fn with_case(user: &str, expected: &str) -> String {
    let case = format!(
        r#"{{"eval_id": "more", "conversation": [{{"user_content": {{"parts": [{{"text": "{user}"}}]}}, "final_response": {{"parts": [{{"text": "{expected}"}}]}}}}]}},
    {{"eval_id": "answer""#
    );
    file(SET).replacen(r#"{"eval_id": "answer""#, &case, 1)
}

pub(crate) fn listed(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let ran = folder.run(&[&["review", "--list", "--format", "json"], args].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    document["items"].as_array().expect("items").clone()
}

pub(crate) fn item<'l>(list: &'l [Value], id: &str) -> &'l Value {
    list.iter().find(|item| item["eval_id"] == id).unwrap_or_else(|| panic!("{id}: {list:?}"))
}

/// The name with the hash of a choice: `ID@HASH`.
pub(crate) fn name(list: &[Value], id: &str) -> String {
    let choices = list.iter().flat_map(|item| [&item["accept"], &item["loosen"]]);
    let mut choices = choices.flat_map(|choices| choices.as_array().expect("choices"));
    let choice = choices.find(|choice| choice["id"] == id).unwrap_or_else(|| panic!("{id}: {list:?}"));
    format!("{id}@{}", choice["hash"].as_str().expect("a hash"))
}

pub(crate) fn accept(folder: &Folder, name: &str) -> Ran {
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
        // Who has not looked at it is not told its hash.
        let hash = argument.rsplit_once('@').expect("a hash").1;
        assert!(name.ends_with(hash) || !ran.err.contains(hash), "{name}: {}", ran.err);
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
fn the_first_line_says_since_when_a_case_fails() {
    let folder = ran("review-baseline", &file(SET));
    let blessed = folder.run(&["bless", "--allow-dirty"]);
    assert_eq!(blessed.code, Some(0), "{}{}", blessed.out, blessed.err);
    let baseline = folder.read("evalset-baseline.jsonl");
    let passed = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut line) if line["case"] == "answer" => {
            line["passed"] = 5.into();
            for metric in line["metrics"].as_object_mut().expect("metrics").values_mut() {
                metric["passed"] = 5.into();
            }
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

/// A case whose call has two other arguments, beside one call more and another answer.
pub(crate) const PARTS: &str = r#"{
  "eval_set_id": "desk",
  "eval_cases": [
    {"eval_id": "trip", "conversation": [{"user_content": {"parts": [{"text": "Plan a trip"}]},
      "final_response": {"parts": [{"text": "I see what I can do."}]},
      "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Bergen", "day": "2026-11-22"}}]}}]}
  ]
}
"#;

/// The set with one part of what the agent does.
pub(crate) fn with_part(part: &str) -> String {
    match part {
        ":1:1" => with_part(":1:1:day").replace("Bergen", "Oslo"),
        ":1:1:city" => PARTS.replace("Bergen", "Oslo"),
        ":1:1:day" => PARTS.replace("2026-11-22", "2026-11-23"),
        ":1:2" => PARTS.replace(r#"-22"}}]}}"#, r#"-22"}}, {"name": "book", "args": {"id": 7}}]}}"#),
        ":1:answer" => PARTS.replace("I see what I can do.", "Booked, all of it."),
        other => panic!("{other}"),
    }
}

#[test]
fn one_call_one_argument_and_the_answer_are_accepted_by_their_names() {
    let folder = ran("review-parts", PARTS);
    let list = listed(&folder, &[]);
    let parts = [":1:1", ":1:1:city", ":1:1:day", ":1:2", ":1:answer"];
    for part in parts {
        folder.write(SET, PARTS);
        let ran = accept(&folder, &name(&list, &format!("{SET}:trip{part}")));
        assert_eq!((ran.code, folder.read(SET)), (Some(0), with_part(part)), "{part}: {}", ran.shown());
    }
    // The other parts are still offered once the case has run again.
    folder.write(SET, with_part(":1:answer"));
    assert_eq!(folder.run(&["run", SET, "--agent-cmd", AGENT, "--runs", "2"]).code, Some(1));
    let list = listed(&folder, &[]);
    let ids: Vec<&str> =
        list[0]["accept"].as_array().expect("choices").iter().filter_map(|it| it["id"].as_str()).collect();
    let left = ["", ":1:1", ":1:1:city", ":1:1:day", ":1:2"].map(|part| format!("{SET}:trip{part}"));
    assert_eq!(ids, left);
}
