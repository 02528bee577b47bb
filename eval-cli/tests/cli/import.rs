//! `import`: what is stored becomes drafts of a set, which are accepted and run.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::run::agents;

/// A session of ADK: what the user says and what the agent answers, turn by turn.
pub(crate) fn session(id: &str, turns: &[(&str, &str)]) -> Value {
    let events = turns.iter().enumerate().flat_map(|(at, (user, answer))| {
        let event = |author: &str, part: Value| {
            json!({ "invocationId": format!("e-{at}"), "author": author, "content": { "parts": [part] } })
        };
        let city = user.rsplit(' ').next().unwrap_or_default().trim_end_matches('?');
        let call = json!({ "functionCall": { "id": "adk-1", "name": "get_weather", "args": { "city": city } } });
        let result = json!({ "functionResponse": { "id": "adk-1", "name": "get_weather", "response": { "sky": "sunny" } } });
        [
            event("user", json!({ "text": user })),
            event("weather", call),
            event("weather", result),
            event("weather", json!({ "text": answer })),
        ]
    });
    json!({ "id": id, "appName": "weather", "userId": "anna", "state": {}, "events": events.collect::<Vec<_>>() })
}

const PARIS: (&str, &str) = ("What is the weather in Paris?", "It is sunny in Paris.");
const OSLO: (&str, &str) = ("What is the weather in Oslo?", "It is sunny in Oslo.");

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("weather.py", std::fs::read(agents().join("weather.py")).expect("the program"));
    folder.write("one.json", session("s-1", &[PARIS]).to_string());
    folder.write("two.json", session("s-2", &[OSLO, PARIS]).to_string());
    folder
}

const SET: &str = "evals/weather.evalset.json";

fn import(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["import"], args, &["-o", SET]].concat())
}

fn ids(folder: &Folder) -> Vec<String> {
    let set: Value = serde_json::from_str(&folder.read(SET)).expect("JSON");
    let cases = set["eval_cases"].as_array().expect("cases");
    cases.iter().map(|case| case["eval_id"].as_str().expect("an id").to_owned()).collect()
}

fn run(folder: &Folder) -> Ran {
    folder.run(&["run", SET, "--agent-cmd", "python3 weather.py", "-m", "tool_trajectory_avg_score"])
}

#[test]
fn sessions_become_drafts_that_run_once_they_are_accepted() {
    let folder = folder("import-sessions");
    let ran = import(&folder, &["one.json", "two.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("added 2 drafts to `evals/weather.evalset.json`\n"), "{}", ran.out);
    assert!(
        ran.out.contains("  what_is_the_weather_in_paris  1 turn, 1 call, from one.json\n"),
        "{}",
        ran.out
    );
    let next = "tests refuse drafts; review them: `cargo evalset review evals/weather.evalset.json`, or accept what is right: \
                `cargo evalset accept evals/weather.evalset.json`\n";
    assert!(ran.out.ends_with(next), "{}", ran.out);
    assert_eq!(ids(&folder), ["what_is_the_weather_in_paris", "what_is_the_weather_in_oslo"]);

    let refused = run(&folder);
    assert_eq!(refused.code, Some(2), "{}{}", refused.out, refused.err);
    let accepted =
        folder.run(&["accept", &format!("{SET}:what_is_the_weather_in_paris,what_is_the_weather_in_oslo")]);
    assert_eq!(accepted.code, Some(0), "{}{}", accepted.out, accepted.err);
    let passed = run(&folder);
    assert_eq!(passed.code, Some(0), "{}{}", passed.out, passed.err);
}

#[test]
fn equal_conversations_are_dropped_and_a_set_that_has_all_stays_as_it_is() {
    let folder = folder("import-equal");
    let ran = import(&folder, &["one.json", "one.json", "--case", "paris"]);
    assert_eq!(ran.code, Some(2), "`--case` names one case: {}", ran.out);
    let ran = import(&folder, &["one.json", "one.json"]);
    assert!(ran.out.contains("1 equal conversation is there already\n"), "{}", ran.out);
    let before = folder.read(SET);
    let again = import(&folder, &["one.json"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(again.out.starts_with("nothing is added to"), "{}", again.out);
    assert_eq!(folder.read(SET), before);
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let folder = folder("import-dry");
    let ran = import(&folder, &["one.json", "--dry-run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("--- evals/weather.evalset.json\n+++ "), "{}", ran.out);
    assert!(ran.out.contains("\n+      \"eval_id\": \"what_is_the_weather_in_paris\""), "{}", ran.out);
    assert!(ran.out.contains("\nwould add 1 draft to `evals/weather.evalset.json`\n"), "{}", ran.out);
    assert!(!folder.path("evals").exists());

    import(&folder, &["one.json"]);
    let before = folder.read(SET);
    let ran = import(&folder, &["two.json", "--dry-run"]);
    let removed = ran.out.lines().filter(|line| line.starts_with('-') && !line.starts_with("---")).count();
    assert!(removed <= 1, "one line gets a comma: {}", ran.out);
    assert_eq!(folder.read(SET), before);
}

#[test]
fn a_set_keeps_its_own_bytes() {
    let folder = folder("import-bytes");
    let set = "{\r\n\t\"_owner\": \"anna\",\r\n\t\"eval_set_id\": \"w\",\r\n\t\"eval_cases\": [\r\n\t\t{\"eval_id\": \"a\", \"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"Hi\"}]}}]}\r\n\t]\r\n}";
    folder.write(SET, set);
    let ran = import(&folder, &["one.json", "--case", "paris"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let after = folder.read(SET);
    let kept = set.trim_end_matches("\r\n\t]\r\n}");
    assert!(after.starts_with(kept) && after.ends_with("\r\n\t]\r\n}"), "{after}");
    assert_eq!(ids(&folder), ["a", "paris"]);
}

#[test]
fn a_recorded_case_becomes_a_new_golden() {
    let folder = folder("import-journal");
    import(&folder, &["one.json", "--case", "paris"]);
    let set = folder.read(SET).replace("It is sunny in Paris.", "It rains in Paris, take an umbrella.");
    folder.write(SET, set);
    folder.run(&["accept", &format!("{SET}:paris")]);
    let failed = folder.run(&["run", SET, "--agent-cmd", "python3 weather.py"]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);

    let ran = import(&folder, &[":paris"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ids(&folder), ["paris", "paris_2"]);
    assert!(folder.read(SET).contains("\"format\": \"journal\""), "{}", folder.read(SET));
    let accepted = folder.run(&["accept", &format!("{SET}:paris_2")]);
    assert_eq!(accepted.code, Some(0), "{}{}", accepted.out, accepted.err);
    let passed = folder.run(&["run", &format!("{SET}:paris_2"), "--agent-cmd", "python3 weather.py"]);
    assert_eq!(passed.code, Some(0), "{}{}", passed.out, passed.err);

    let unknown = import(&folder, &[":pariss"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.out);
    assert!(unknown.err.contains("has no case `pariss`"), "{}", unknown.err);
}

#[test]
fn tables_are_mapped_and_programs_get_one_document() {
    let folder = folder("import-table");
    let key = concat!("AKIA", "IOSFODNN7EXAMPLE");
    folder.write("faq.csv", format!("q,a\nWhere?,Here.\n,none\nMy key is {key},ok\n"));
    let ran = import(&folder, &["faq.csv", "--map", "q=user,a=final", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(document["command"], "import");
    assert_eq!((&document["set"], &document["written"]), (&json!(SET), &json!(true)));
    assert_eq!(document["left_out"], json!(["line 3: the user says nothing"]));
    assert_eq!(document["drafts"][0]["eval_id"], "where");
    let draft = &document["drafts"][1]["draft"];
    assert_eq!((&draft["from"], &draft["line"]), (&json!("faq.csv"), &json!(4)));
    assert!(
        draft["masked"][0].as_str().expect("a text").starts_with("turn 1, the message of the user"),
        "{draft}"
    );
    assert!(!folder.read(SET).contains(key));

    folder.write("asked.csv", "q,by\nWhy?,me\nWhen?,you\n");
    let ran = import(&folder, &["asked.csv", "--map", "q=user"]);
    let told = "cannot pass  case `why`: no agent can pass it by ADK's default criteria";
    assert!(ran.out.contains(told) && ran.out.contains("(1 more draft like it)"), "{}", ran.out);
}

#[test]
fn what_cannot_be_imported_writes_nothing_and_says_what_to_do() {
    let folder = folder("import-refused");
    folder.write("empty.json", session("s-3", &[]).to_string()).write("words.txt", "hello");
    for (args, why) in [
        (&["missing.json"][..], "there is no file `missing.json`"),
        (&["one.json", "empty.json"], "`empty.json` holds no conversation: session `s-3`: it has no events"),
        (&["words.txt"], "`words.txt` looks like nothing that can be imported"),
        (&["one.json", "--session", "s-9"], "`one.json` has no session `s-9`; it has `s-1`"),
        (&["evals"], "there is no file `evals`"),
        (&["one.json", "--map", "q=usr"], "there is no role `usr`"),
        (
            &["one.json", "--from-format", "adk"],
            "[possible values: adk-session, adk-database, set, trace, json-lines, csv]",
        ),
    ] {
        let ran = import(&folder, args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.out);
        assert!(ran.err.contains(why), "{args:?}: {} lacks {why}", ran.err);
        assert!(!folder.path(SET).exists(), "{args:?}");
    }
    #[cfg(unix)]
    assert!(import(&folder, &["/dev/zero"]).err.contains("`zero`: it is no regular file: a device"));
    let ran = folder.run(&["import", "one.json", "-o", "evals/weather.json"]);
    assert!(ran.err.contains("-o evals/weather.evalset.json"), "{}", ran.err);
}

/// A file beside the tests of eval-agents.
fn stored(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sessions").join(name)
}

#[test]
fn a_database_of_google_adk_is_imported_by_session() {
    if !cfg!(feature = "sqlite") {
        return;
    }
    let folder = folder("import-database");
    folder.write("sessions.db", std::fs::read(stored("desk.sqlite.db")).expect("the database"));
    let ran = import(&folder, &["sessions.db", "--session", "s-17", "--case", "desk"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("    gap       turn 7 has no answer\n"), "{}", ran.out);
    assert_eq!(ids(&folder), ["desk"]);
    assert_eq!(folder.names(), ["evals", "one.json", "sessions.db", "two.json", "weather.py"]);
}

/// A set that the weather agent fails: its first case expects another answer, and its second one another city.
const OUTDATED: &str = r#"{
  "eval_set_id": "weather",
  "eval_cases": [
    {
      "eval_id": "paris",   "_note": "the answer of May",
      "conversation": [
        {
          "user_content": { "parts": [{ "text": "What is the weather in Paris?" }] },
          "final_response": { "parts": [{ "text": "It rains in Paris, take an umbrella." }] },
          "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": "Paris" } }] }
        }
      ],
      "final_session_state": { "last_city": "Rome" }
    },
    {
      "eval_id": "oslo", "conversation": [{ "user_content": { "parts": [{ "text": "What is the weather in Oslo?" }] }, "final_response": { "parts": [{ "text": "It is sunny in Oslo." }] }, "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": "Rome" } }] } }]
    },
    {
      "eval_id": "atlantis", "conversation": [{ "user_content": { "parts": [{ "text": "What is the weather in Atlantis?" }] }, "final_response": { "parts": [{ "text": "Wet." }] } }]
    }
  ]
}
"#;

/// Runs the set, and returns the folder with the id of the run and what was printed.
fn outdated(test: &str) -> (Folder, String, Ran) {
    let folder = folder(test);
    folder.write(SET, OUTDATED);
    let ran = folder.run(&["run", SET, "--agent-cmd", "python3 weather.py"]);
    let id = ran.out.lines().next().and_then(|line| line.split_whitespace().nth(1)).unwrap_or_default();
    let id = id.to_owned();
    (folder, id, ran)
}

#[test]
fn a_golden_that_is_out_of_date_is_replaced_by_a_draft_of_what_happened() {
    let (folder, id, failed) = outdated("import-replace");
    for case in ["paris", "oslo"] {
        let command = format!("new golden    cargo evalset import {id}:weather/{case} --replace\n");
        assert!(failed.out.contains(&command), "{}{}", failed.out, failed.err);
    }
    assert!(!failed.out.contains("weather/atlantis --replace"), "an error is no golden: {}", failed.out);

    let paris = format!("{id}:weather/paris");
    let preview = folder.run(&["import", &paris, "--replace", "--dry-run"]);
    assert_eq!(preview.code, Some(0), "{}", preview.err);
    let new = "\n+          \"final_response\": { \"parts\": [{ \"text\": \"It is sunny in Paris.\" }] },\n";
    assert!(preview.out.contains(new), "{}", preview.out);
    assert!(
        preview.out.ends_with("would put 1 draft in place of a golden of `evals/weather.evalset.json`\n")
    );
    assert_eq!(folder.read(SET), OUTDATED);

    let replaced = folder.run(&["import", &paris, &format!("{id}:oslo"), "--replace"]);
    assert_eq!(replaced.code, Some(0), "{}", replaced.err);
    let shown = replaced.out.replace(&id, "RUN");
    insta::assert_snapshot!(shown);
    // Apart from the marks, only what is expected now has other bytes.
    let marked: Value = serde_json::from_str(&folder.read(SET)).expect("JSON");
    assert_eq!(marked["eval_cases"][0]["_draft"]["from"], format!("run {id}"));
    assert_eq!(
        marked["eval_cases"][0]["_draft"]["golden"],
        json!([
            { "turn": 1, "final_response": { "parts": [{ "text": "It rains in Paris, take an umbrella." }] } },
            { "final_session_state": { "last_city": "Rome" } }
        ])
    );
    let refused = run(&folder);
    assert_eq!(refused.code, Some(2), "drafts do not run: {}{}", refused.out, refused.err);
    let again = folder.run(&["import", &paris, "--replace"]);
    assert!(again.code == Some(2) && again.err.contains("is a draft already"), "{}", again.err);

    let accepted = folder.run(&["accept", &format!("{SET}:paris,oslo")]);
    assert_eq!(accepted.code, Some(0), "{}{}", accepted.out, accepted.err);
    let expected = OUTDATED
        .replace("It rains in Paris, take an umbrella.", "It is sunny in Paris.")
        .replace(r#"{ "last_city": "Rome" }"#, r#"{ "last_city": "Paris" }"#)
        .replace(r#"{ "city": "Rome" }"#, r#"{ "city": "Oslo" }"#);
    assert_eq!(folder.read(SET), expected);
    let cases = format!("{SET}:paris,oslo");
    let passed = folder.run(&["run", &cases, "--agent-cmd", "python3 weather.py"]);
    assert_eq!(passed.code, Some(0), "{}{}", passed.out, passed.err);
    let same = folder.run(&["import", ":paris", "--replace"]);
    assert_eq!(same.code, Some(0), "{}", same.err);
    assert_eq!(same.out, "`paris` expects already what the agent did\n");
    let json = folder.run(&["import", ":paris", "--replace", "--format", "json"]);
    let document: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&document["written"], &document["unchanged"]), (&json!(false), &json!(["paris"])));
}

#[test]
fn a_run_that_cannot_take_the_place_of_a_golden_is_refused_and_writes_nothing() {
    let (folder, id, _) = outdated("import-replace-refused");
    let replace = |from: &str| folder.run(&["import", from, "--replace"]);
    for (from, why) in [
        (format!("{id}:atlantis"), "`atlantis` in run"),
        (format!("{id}:atlantis"), "it is an ERROR, and no answer of the agent"),
        (format!("{id}:rome"), "has no case `rome`"),
        ("one.json".to_owned(), "`one.json` names no case of a recorded run"),
    ] {
        let ran = replace(&from);
        assert_eq!(ran.code, Some(2), "{from}: {}", ran.out);
        assert!(ran.err.contains(why), "{from}: {} lacks {why}", ran.err);
    }
    let both = folder.run(&["import", ":paris", "--replace", "-o", SET]);
    assert!(both.code == Some(2) && both.err.contains("cannot be used with"), "{}", both.err);

    // The user says something else now, or the case is there no more.
    let edited = OUTDATED.replace("weather in Paris?", "weather in Paris, please?");
    folder.write(SET, &edited);
    let ran = replace(&format!("{id}:paris"));
    assert!(ran.err.contains("the case was edited since it ran"), "{}", ran.err);
    let unnamed = replace(":oslo");
    assert!(unnamed.code == Some(2) && unnamed.err.contains("written after the run"), "{}", unnamed.err);
    assert!(unnamed.err.contains(&format!("`cargo evalset import {id}:oslo --replace`")), "{}", unnamed.err);
    assert_eq!(folder.read(SET), edited);
    folder.write(SET, OUTDATED.replace("\"oslo\"", "\"bergen\""));
    let gone = replace(&format!("{id}:oslo"));
    assert!(gone.err.contains("has no case `oslo` any more"), "{}", gone.err);
    assert!(gone.err.contains("name a case that the set has"), "{}", gone.err);
    folder.write(SET, "{");
    let broken = replace(&format!("{id}:oslo"));
    assert!(broken.err.contains("has errors; `") && broken.err.contains("fix the file"), "{}", broken.err);
    std::fs::remove_file(folder.path(SET)).expect("it is there");
    let elsewhere = replace(&format!("{id}:oslo"));
    assert!(elsewhere.err.contains("run this in the folder in which the tests ran"), "{}", elsewhere.err);
}

#[test]
fn a_draft_in_place_of_a_golden_is_taken_out_and_the_golden_is_back() {
    let (folder, id, _) = outdated("import-replace-back");
    let paris = format!("{id}:paris");
    assert_eq!(folder.run(&["import", &paris, "--replace"]).code, Some(0));
    let removed = folder.run(&["remove-case", &format!("{SET}:paris,oslo")]);
    let told = format!("removed 1 case from `{SET}`: `oslo`\n`paris` is the golden again that it was\n");
    assert_eq!((removed.code, &*removed.out), (Some(0), &*told), "{}", removed.err);
    let cases = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["eval_cases"].clone();
    assert_eq!(cases(&folder.read(SET))[0], cases(OUTDATED)[0]);
    assert_eq!(ids(&folder), ["paris", "atlantis"]);

    folder.write(SET, OUTDATED);
    assert_eq!(folder.run(&["import", &paris, "--replace"]).code, Some(0));
    let json = folder.run(&["remove-case", &format!("{SET}:paris"), "--format", "json"]);
    let document: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(document["files"][0], json!({ "file": SET, "cases": [], "put_back": ["paris"] }));
}

#[test]
fn a_new_golden_passes_once_it_expects_an_answer_in_each_turn() {
    let folder = folder("import-replace-turns");
    let ask = r#""user_content": { "parts": [{ "text": "What is the weather in Paris?" }] }"#;
    let call =
        r#""intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": "Paris" } }] }"#;
    let answer = r#""final_response": { "parts": [{ "text": "Wet." }] }"#;
    folder.write(SET, format!(r#"{{"eval_set_id": "weather", "eval_cases": [{{"eval_id": "paris", "conversation": [{{{ask}, {call}, {answer}}}, {{{ask}, {call}}}]}}]}}"#));
    let run = || folder.run(&["run", SET, "--agent-cmd", "python3 weather.py"]);
    for cannot_pass in [true, false] {
        let failed = run();
        assert!(failed.out.contains("new golden    "), "{}{}", failed.out, failed.err);
        let replaced = folder.run(&["import", ":paris", "--replace"]);
        let told = replaced.out.contains("cannot pass  case `paris`: no agent can pass it");
        assert_eq!((replaced.code, told), (Some(0), cannot_pass), "{}{}", replaced.out, replaced.err);
        assert_eq!(folder.run(&["accept", &format!("{SET}:paris")]).code, Some(0));
    }
    let passed = run();
    assert_eq!(passed.code, Some(0), "{}{}", passed.out, passed.err);
}

#[test]
fn a_case_that_is_named_twice_is_replaced_once_and_one_of_two_runs_not_at_all() {
    let (folder, id, _) = outdated("import-replace-twice");
    let second = folder.run(&["run", SET, "--agent-cmd", "python3 weather.py"]);
    let second =
        second.out.lines().next().and_then(|line| line.split_whitespace().nth(1)).unwrap_or_default();
    let (paris, same) = (format!("{id}:paris"), format!("{id}:weather/paris"));
    let both = folder.run(&["import", &paris, &format!("{second}:paris"), "--replace"]);
    assert!(
        both.code == Some(2) && both.err.contains("two runs are named for the case `paris`"),
        "{}",
        both.err
    );
    assert_eq!(folder.read(SET), OUTDATED);
    let once = folder.run(&["import", &paris, &same, "--replace"]);
    assert!(once.code == Some(0) && once.out.starts_with("put 1 draft in place of a golden"), "{}", once.err);
    // The set was written after the run. What is wrong with the case is said first.
    for (case, why) in [(":paris", "the case is a draft already"), (":rome", "has no case `rome`")] {
        let ran = folder.run(&["import", case, "--replace"]);
        assert!(ran.code == Some(2) && ran.err.contains(why), "{case}: {}", ran.err);
    }
}

#[test]
fn runs_that_differ_are_no_golden_and_say_what_varied() {
    let folder = folder("import-replace-varied");
    folder.write(SET, OUTDATED);
    let program = std::fs::read_to_string(agents().join("weather.py")).expect("the program");
    folder
        .write("weather.py", program.replace("sunny in {city}.\"", "sunny in {city} at {time.time_ns()}.\""));
    let cases = format!("{SET}:paris");
    let failed = folder.run(&["run", &cases, "--agent-cmd", "python3 weather.py", "--runs", "2"]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    let ran = folder.run(&["import", ":paris", "--replace"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("the runs differ: turn 1: the answer: \"It is sunny in Paris"), "{}", ran.err);
    assert!(ran.err.contains("no behaviour is common to all runs"), "{}", ran.err);
    assert_eq!(folder.read(SET), OUTDATED);
}
