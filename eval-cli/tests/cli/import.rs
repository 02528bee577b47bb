//! `import`: what is stored becomes drafts of a set, which are accepted and run.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::run::agents;

/// A session of ADK: what the user says and what the agent answers, turn by turn.
fn session(id: &str, turns: &[(&str, &str)]) -> Value {
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
    assert!(ran.out.ends_with("`cargo evalset accept evals/weather.evalset.json`\n"), "{}", ran.out);
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
