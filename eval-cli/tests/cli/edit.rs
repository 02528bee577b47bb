use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use eval_format::{EvalCase, EvalSet, FunctionCall, Invocation, Map, Value};

use crate::folder::{Folder, Ran, set};

const SET: &str = "weather.evalset.json";

/// A case of one turn as JSON. `more` is inserted at its end.
fn case(id: &str, more: &str) -> String {
    format!(
        r#"{{"eval_id": "{id}", "conversation": [{{"user_content": {{"parts": [{{"text": "Hi"}}]}}}}]{more}}}"#
    )
}

const DRAFT: &str = r#", "_draft": {"from": "a chat of 3 May", "varied": ["the answer of turn 1"]}"#;

fn ids(folder: &Folder, name: &str) -> Vec<String> {
    let set = EvalSet::parse(&folder.read(name)).expect("the set is whole");
    set.eval_cases.into_iter().map(|case| case.eval_id).collect()
}

fn fed(folder: &Folder, args: &[&str], input: &str) -> Ran {
    let mut child = spawned(folder, args);
    // It may end without reading.
    drop(child.stdin.take().expect("a pipe").write_all(input.as_bytes()));
    child.wait_with_output().expect("it ends").into()
}

fn spawned(folder: &Folder, args: &[&str]) -> Child {
    let mut command = folder.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

#[test]
fn a_set_is_created_filled_and_changed_and_every_other_byte_stays() {
    let folder = Folder::new("edit-life");
    let shown = folder.run(&["create", "evals/weather.evalset.json"]).shown();
    assert!(shown.contains("the folder of `evals/weather.evalset.json` does not exist"), "{shown}");
    assert_eq!(
        folder.run(&["create", SET]).shown(),
        "wrote `weather.evalset.json`: a set without cases\n\
         add some with `cargo evalset add-case weather.evalset.json FILE`: tests refuse a set without cases\n\
         (exit code 0)"
    );
    assert_eq!(folder.read(SET), "{\n  \"eval_set_id\": \"weather\",\n  \"eval_cases\": []\n}\n");
    let again = folder.run(&["create", SET, "--id", "other"]);
    assert!(again.code == Some(2) && again.err.contains("exists already"), "{}", again.shown());
    let named = folder.run(&["create", "trip"]);
    assert!(named.err.contains("cargo evalset create trip.evalset.json"), "{}", named.shown());

    folder.write("a.json", case("sunny", ""));
    assert_eq!(
        folder.run(&["add-case", "weather", "a.json"]).shown(),
        "added 1 case to `weather.evalset.json`: `sunny`\n(exit code 0)"
    );
    let many = format!("[{}, {}]", case("oslo", r#", "owner": {"b": 1.0}"#), case("rome", ""));
    let added = fed(&folder, &["add-case", SET, "-", "--draft"], &many);
    assert_eq!(added.shown(), "added 2 cases to `weather.evalset.json`: `oslo` and `rome`\n(exit code 0)");
    let text = folder.read(SET);
    assert!(text.contains("\"from\": \"standard input\""), "{text}");

    // By hand, as people have it.
    let text = text.replace("\"eval_set_id\"", "\"_note\" :  \"mine\",\r\n  \"eval_set_id\"");
    folder.write(SET, &text);
    folder.run(&["rename-case", "weather.evalset.json:oslo", "oslo in rain"]);
    let renamed = text.replace("\"eval_id\": \"oslo\"", "\"eval_id\": \"oslo in rain\"");
    assert_eq!(folder.read(SET), renamed);
    let removed = folder.run(&["remove-case", "weather:sunny,rome"]);
    assert_eq!(
        removed.shown(),
        "removed 2 cases from `weather.evalset.json`: `sunny` and `rome`\n(exit code 0)"
    );
    assert_eq!(ids(&folder, SET), ["oslo in rain"]);
    assert!(folder.read(SET).starts_with("{\n  \"_note\" :  \"mine\",\r\n  \"eval_set_id\""));
    let last = folder.run(&["remove-case", "weather:oslo in rain"]);
    assert!(last.out.contains("has no cases now, and tests refuse it"), "{}", last.shown());
    assert_eq!(folder.names(), ["a.json", SET], "nothing is left behind");
}

#[test]
fn what_cannot_be_edited_is_said_and_nothing_is_written() {
    let folder = Folder::new("edit-refused");
    let weather = set("");
    folder
        .write(SET, &weather)
        .write("same.json", case("sunny", ""))
        .write("typo.json", case("x", r#", "final_session_stat": {}"#))
        .write("lossy.json", case("x", r#", "owner": NaN"#))
        .write("none_yet.json", "[]")
        .write("scenarios.json", r#"{"scenarios": 5}"#)
        .write("two.json", format!("[{}, {}]", case("x", ""), case("sunny", "")))
        .write("broken.json", "{")
        .write("broken.evalset.json", "{\"eval_set_id\": \"b\"}")
        .write("trip.test.json", r#"[{"query": "Hi"}]"#);
    for (args, code, says) in [
        (
            &["add-case", "weather", "same.json"][..],
            2,
            "has a case `sunny` already; the id `sunny_2` is free",
        ),
        (&["add-case", "weather", "two.json"], 2, "the id `sunny_2` is free"),
        (&["add-case", "weather", "typo.json"], 1, "did you mean `final_session_state`?"),
        (&["add-case", "weather", "lossy.json"], 1, "nothing was added"),
        (&["add-case", "weather", "broken.json"], 1, "nothing was added"),
        (&["add-case", "weather", "none.json"], 2, "none.json"),
        (&["add-case", "weather", "none_yet.json"], 1, "1 | []\n"),
        (&["add-case", "weather", "scenarios.json"], 2, "`scenarios` of `scenarios.json` is no array"),
        (
            &["add-case", "weather", "same.json", "--id", ""],
            2,
            "`weather.evalset.json` cannot take the case: the id of the case is empty\n  = help: name the case;",
        ),
        (
            &["add-case", "weather", "two.json", "--id", "x"],
            2,
            "`--id` names one case, and `two.json` holds 2",
        ),
        (&["add-case", "weather:sunny", "same.json"], 2, "names a case"),
        (&["add-case", "wether", "same.json"], 2, "did you mean `weather`?"),
        (&["add-case", "broken.evalset.json", "same.json"], 2, "`broken.evalset.json` has 1 error"),
        (&["add-case", "trip.test.json", "same.json"], 2, "cargo evalset migrate trip.test.json"),
        (&["remove-case", "trip.test.json:trip"], 2, "cargo evalset migrate trip.test.json"),
        (&["remove-case", "weather:suny"], 2, "did you mean `sunny`?"),
        (&["remove-case", "weather"], 2, "no case of `weather.evalset.json` is named"),
        (&["rename-case", "weather", "x"], 2, "no single case of `weather.evalset.json` is named"),
        (&["rename-case", "weather:sunny", ""], 2, "cannot be empty"),
        (&["accept", "weather:sunny"], 2, "the case `sunny` is no draft"),
        (&["accept", "weather"], 2, "it has no drafts"),
        (&["list", "weather:suny"], 2, "did you mean `sunny`?"),
        (&["list", "none"], 2, "there is no set `none`"),
    ] {
        let ran = folder.run(args);
        let shown = ran.shown();
        assert!(ran.code == Some(code) && shown.contains(says), "{args:?}: {shown}");
        assert_eq!(folder.read(SET), weather, "{args:?}");
    }
}

#[test]
fn a_case_gets_another_id_and_a_session_where_they_are_given() {
    let folder = Folder::new("edit-given");
    folder
        .write(SET, set(""))
        .write("case.json", case("sunny", ""))
        .write("session.json", r#"{"app_name": "shop", "user_id": "anna", "state": {"n": 1}}"#)
        .write("wrong.json", r#"{"app": "shop"}"#)
        .write(
            "scenarios.json",
            r#"{"scenarios": [{"starting_prompt": "Hi", "conversation_plan": "Book a room."}]}"#,
        );
    let given = ["add-case", "weather", "case.json", "--id", "sunny_2", "--session-input", "session.json"];
    assert_eq!(folder.run(&given).code, Some(0));
    let read = EvalSet::parse(&folder.read(SET)).expect("a set");
    let case = &read.eval_cases[1];
    assert_eq!(case.eval_id, "sunny_2");
    assert_eq!(case.session_input.as_ref().map(|session| session.app_name.as_str()), Some("shop"));
    let wrong =
        folder.run(&["add-case", "weather", "case.json", "--id", "x", "--session-input", "wrong.json"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("is no session input"), "{}", wrong.shown());

    // As with ADK's command, a scenario that is there is passed over.
    let scenarios = ["add-case", "weather", "scenarios.json", "--session-input", "session.json"];
    let first = folder.run(&scenarios);
    assert!(first.out.starts_with("added 1 case to"), "{}", first.shown());
    assert_eq!(EvalSet::parse(&folder.read(SET)).expect("a set").eval_cases[2].eval_id, "3388b4a3");
    let before = folder.read(SET);
    let second = folder.run(&scenarios);
    assert!(second.code == Some(0) && second.out.contains("1 scenario there already"), "{}", second.shown());
    assert_eq!(folder.read(SET), before);
}

#[test]
fn cases_are_listed_with_turns_tools_and_origin() {
    let folder = Folder::new("edit-list");
    let call = r#", "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {}}, {"name": "get_weather"}, {"name": "book"}]}"#;
    let turn = format!(r#"{{"user_content": {{}}{call}}}"#);
    let many = format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{}, {{"eval_id": "long_one", "conversation": [{turn}, {turn}], "_draft": {{"n": 1}}}},
            {{"eval_id": "plays", "conversation_scenario": {{"starting_prompt": "a", "conversation_plan": "b"}}}}]}}"#,
        case("hi\\u001b[2J", DRAFT)
    );
    folder
        .write("evals/s.evalset.json", many)
        .write("evals/empty.evalset.json", r#"{"eval_set_id": "e", "eval_cases": []}"#);
    let listed = folder.run(&["list", "evals"]);
    insta::assert_snapshot!("list", listed.shown());
    for (args, last) in [
        (&["s:plays,long_one"][..], "1 set, 2 of 3 cases, 1 draft\n"),
        (&["s:plays"], "1 set, 1 of 3 cases\n"),
        (&["evals", "--drafts"], "2 sets, 2 of 3 cases, 2 drafts\n"),
    ] {
        let listed = folder.run(&[&["list"], args].concat());
        assert!(listed.out.ends_with(last), "{last}: {}", listed.shown());
    }
    let drafts =
        folder.run(&["list", "e", "s:plays,long_one", "evals/*.json", "--drafts", "--format", "json"]);
    let document = Value::parse(&drafts.out).expect("JSON");
    assert_eq!(document["sets"][1]["cases"].as_array().map(<[_]>::len), Some(2));
    assert_eq!(document["sets"][1]["cases"][1]["tools"].to_string(), r#"["get_weather","book"]"#);
    assert_eq!(document["sets"][1]["cases"][0]["draft"]["from"].as_str(), Some("a chat of 3 May"));
    folder.write("evals/broken.evalset.json", "{");
    assert_eq!(folder.run(&["list", "evals"]).code, Some(2));
}

#[test]
fn a_draft_is_refused_until_it_is_accepted_by_name() {
    let folder = Folder::new("edit-accept");
    let golden = case("golden", "");
    let text = format!(
        "{{\"eval_set_id\": \"s\", \"eval_cases\": [{golden}, {}, {}]}}",
        case("one", DRAFT),
        case("two", r#", "_draft": true"#)
    );
    folder.write("s.evalset.json", &text);
    folder.write("test_config.json", r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#);
    let checked = folder.run(&["check", "."]);
    assert_eq!(checked.code, Some(1));
    insta::assert_snapshot!("check_drafts", checked.shown());
    let document = Value::parse(&folder.run(&["check", ".", "--format", "json"]).out).expect("JSON");
    assert_eq!(document["summary"]["drafts"].as_i64(), Some(2));
    assert_eq!(document["files"][0]["problems"][0]["code"].as_str(), Some("draft"));
    let github = folder.run(&["check", ".", "--github"]).out;
    assert!(github.contains("::error file=s.evalset.json,line=1"), "{github}");
    for args in [
        &["run", "s", "--agent-cmd", "true"][..],
        &["run", "s:one", "--agent-cmd", "true"],
        &["plan", "s.evalset.json"],
    ] {
        let ran = folder.run(args);
        let shown = ran.shown();
        assert!(ran.code == Some(2) && shown.contains("that nobody has accepted"), "{args:?}: {shown}");
        assert!(shown.contains("`cargo evalset accept s.evalset.json:"), "{args:?}: {shown}");
    }

    // No question can be answered here, and nothing is accepted without its name, whatever is typed.
    for args in [&["accept", "s"][..], &["accept", "s", "--yes"], &["accept", "."]] {
        let ran = fed(&folder, args, "y\ny\n");
        let shown = ran.shown();
        assert!(ran.code == Some(2) && shown.contains("accept s.evalset.json:one,two"), "{args:?}: {shown}");
    }
    // A case that is no draft refuses all.
    assert_eq!(folder.run(&["accept", "s:one,golden"]).code, Some(2));
    assert_eq!(folder.read("s.evalset.json"), text);

    let accepted = folder.run(&["accept", "s:one"]);
    insta::assert_snapshot!("accept", accepted.shown());
    let left = text.replace(DRAFT, "");
    assert_eq!(folder.read("s.evalset.json"), left);
    let json = folder.run(&["accept", "s:two", "--format", "json"]);
    let document = Value::parse(&json.out).expect("JSON");
    assert_eq!(document["files"][0]["cases"].to_string(), r#"["two"]"#);
    assert_eq!(folder.read("s.evalset.json"), left.replace(r#", "_draft": true"#, ""));
    assert_eq!(folder.run(&["check", "."]).code, Some(0));
}

/// Drafts with all that a metric reads, and a key that no version knows.
pub(crate) const DEMANDING: &str = r#"{"eval_set_id": "s", "eval_cases": [
  {"eval_id": "turns", "_draft": {"from": "x"}, "session_input": {"app_name": "trip", "user_id": "anna", "state": {"city": "Rome"}},
   "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "The answer is kind."}, "type": "FINAL_RESPONSE_QUALITY"}],
   "final_session_state": {"booked": true}, "reviewer": "nobody",
   "conversation": [{"user_content": {"parts": [{"text": "A room?"}]}, "final_response": {"parts": [{"text": "It is booked."}]},
     "rubrics": [{"rubric_id": "sparing", "rubric_content": {"text_property": "One call is made."}, "type": "TOOL_USE_QUALITY"}],
     "intermediate_data": {
       "tool_uses": [{"id": "1", "name": "search", "args": {"city": "Rome"}}, {"id": "2", "name": "book", "args": {}}],
       "tool_responses": [{"id": "2", "name": "book", "response": {"number": 7}}, {"id": "1", "name": "search", "response": {"rooms": 3}},
         {"id": "3", "name": "audit", "response": {"logged": "yes"}}],
       "intermediate_responses": [["clerk", [{"text": "One moment."}]]]}}]},
  {"eval_id": "plays", "_draft": {"from": "x"}, "conversation_scenario": {"starting_prompt": "A hotel.", "conversation_plan": "Book two nights.",
     "user_persona": {"id": "HURRIED", "description": "Boards a train.", "behaviors": [{"name": "Brief", "description": "Writes little.",
       "behavior_instructions": ["Come to the point."], "violation_rubrics": ["The message is long."]}]}}}]}"#;

#[test]
fn all_that_a_draft_demands_is_shown_before_it_is_accepted() {
    let folder = Folder::new("edit-demands");
    folder.write("s.evalset.json", DEMANDING);
    insta::assert_snapshot!("accept_demands", folder.run(&["accept", "s:turns,plays"]).shown());
}

#[cfg(unix)]
#[test]
fn on_a_terminal_each_draft_is_shown_and_asked_for() {
    let folder = Folder::new("edit-terminal");
    let drafts: Vec<String> = ["one", "two", "three", "four"].map(|id| case(id, DRAFT)).into();
    let text = format!("{{\"eval_set_id\": \"s\", \"eval_cases\": [{}]}}", drafts.join(",\n"));
    // Python gives the program a terminal, and types.
    let script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let program = folder.command(&[]);
    let typed = |args: &[&str], typed: &str, ci: bool| -> Ran {
        folder.write("s.evalset.json", &text);
        let mut command = crate::folder::plain("python3".as_ref());
        command.args(["-c", script]).arg(program.get_program()).args(args).env_remove("CI");
        if ci {
            command.env("CI", "true");
        }
        command.env("TERM", "dumb").current_dir(folder.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("Python runs");
        drop(child.stdin.take().expect("a pipe").write_all(typed.as_bytes()));
        child.wait_with_output().expect("it ends").into()
    };
    let left = || {
        let set = EvalSet::parse(&folder.read("s.evalset.json")).expect("a set");
        let left = set.eval_cases.into_iter().filter(|case| case.draft().is_some());
        left.map(|case| case.eval_id).collect::<Vec<_>>()
    };
    let ran = typed(&["accept", "s"], "y\nn\nperhaps\ny\nq\n", false);
    assert_eq!((ran.code, left()), (Some(0), vec!["two".to_owned(), "four".to_owned()]), "{}", ran.out);
    for says in ["from    a chat of 3 May", "accept `two`? (2 of 4)", "accepted 2 cases in", "2 drafts left"]
    {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
    // Named drafts are asked for too, unless `--yes` says that they were read.
    let ran = typed(&["accept", "s:two"], "n\n", false);
    assert_eq!((ran.code, left().len()), (Some(0), 4), "{}", ran.out);
    let ran = typed(&["accept", "s:two", "--yes"], "", false);
    assert_eq!((ran.code, left().len()), (Some(0), 3), "{}", ran.out);
    let ran = typed(&["accept", "none.evalset.json"], "", false);
    assert!(ran.code == Some(2), "{}", ran.out);
    folder.write("none.evalset.json", text.replace(DRAFT, ""));
    let ran = typed(&["accept", "none.evalset.json"], "", false);
    assert!(ran.code == Some(0) && ran.out.contains("there are no drafts"), "{}", ran.out);
    // The terminal of a job has no user.
    let ran = typed(&["accept", "s.evalset.json"], "y\ny\ny\ny\n", true);
    assert_eq!((ran.code, left().len()), (Some(2), 4), "{}", ran.out);
}

#[test]
fn two_who_write_at_once_lose_nothing() {
    let folder = Folder::new("edit-two");
    folder.run(&["create", SET]);
    folder.write("case.json", case("x", ""));
    let write = |name: &str| {
        for at in 0..50 {
            let ran = folder.run(&["add-case", SET, "case.json", "--id", &format!("{name}_{at}")]);
            assert_eq!(ran.code, Some(0), "{}", ran.shown());
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| write("a"));
        scope.spawn(|| write("b"));
    });
    let ids = ids(&folder, SET);
    assert_eq!(ids.len(), 100);
    for name in ["a", "b"] {
        let own: Vec<&str> = ids.iter().map(String::as_str).filter(|id| id.starts_with(name)).collect();
        assert_eq!(own, (0..50).map(|at| format!("{name}_{at}")).collect::<Vec<_>>());
    }
}

#[test]
fn a_kill_in_the_middle_leaves_the_old_set_or_the_new_one() {
    let folder = Folder::new("edit-kill");
    // Large enough that a write takes a while.
    let cases: Vec<String> = (0..4000).map(|at| case(&format!("case_{at}"), "")).collect();
    let text = format!("{{\"eval_set_id\": \"s\", \"eval_cases\": [\n{}\n]}}\n", cases.join(",\n"));
    folder.write(SET, &text).write("case.json", case("new", ""));
    let mut known = text.clone();
    let (mut old, mut new) = (0, 0);
    for at in 0..30_u64 {
        let id = format!("new_{at}");
        let mut child = spawned(&folder, &["add-case", SET, "case.json", "--id", &id]);
        thread::sleep(Duration::from_micros((at * 7919) % 60_000));
        // It may have ended by itself.
        drop(child.kill());
        child.wait().expect("it ends");
        let now = folder.read(SET);
        if now == known {
            old += 1;
            continue;
        }
        new += 1;
        let read = EvalSet::parse(&now).expect("the set is whole");
        assert_eq!(read.eval_cases.last().map(|case| case.eval_id.as_str()), Some(id.as_str()));
        assert!(now.len() > known.len() && now.starts_with(known.trim_end_matches("\n]}\n")), "{id}");
        known = now;
    }
    assert!(old + new == 30);
    // The next one is not kept out, and what was left over does no harm.
    let ran = folder.run(&["add-case", SET, "case.json", "--id", "last"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(folder.run(&["list", "."]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn read_only_files_and_folders_are_refused_and_stay() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("edit-read-only");
    let weather = set("");
    folder.write("evals/weather.evalset.json", &weather).write("case.json", case("x", ""));
    let path = folder.path("evals/weather.evalset.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("permissions");
    let ran = folder.run(&["add-case", "weather", "case.json"]);
    assert!(ran.code == Some(2) && ran.err.contains("the file is read-only"), "{}", ran.shown());
    assert_eq!(folder.read("evals/weather.evalset.json"), weather);
    // A link stays a link, and permissions stay as they were.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
    std::os::unix::fs::symlink("evals/weather.evalset.json", folder.path("link.evalset.json"))
        .expect("a link");
    assert_eq!(folder.run(&["add-case", "link.evalset.json", "case.json"]).code, Some(0));
    assert!(folder.path("link.evalset.json").is_symlink());
    assert_eq!(ids(&folder, "evals/weather.evalset.json"), ["sunny", "x"]);
    assert_eq!(fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o640);
}

/// Shows what google-adk does with the marks of drafts, which the Python `EVALSET_ADK_PYTHON` runs.
#[test]
fn google_adk_evaluates_a_set_with_drafts_and_keeps_their_marks() {
    let Some(python) = std::env::var_os("EVALSET_ADK_PYTHON") else { return };
    let folder = Folder::new("edit-adk");
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["__init__.py", "agent.py"] {
        let source =
            fs::read(crate_folder.join("tests/agents/weather").join(name)).expect("the agent is here");
        folder.write(&format!("agents/weather/{name}"), source);
    }
    let set = "agents/weather/drafted.evalset.json";
    folder.run(&["create", set]);
    let case = |id: &str, city: &str| {
        let call = FunctionCall::new("get_weather", Map::from([("city", city)]));
        let turn = Invocation::user(format!("What is the weather in {city}?"));
        EvalCase::new(id).turn(turn.call(call).response(format!("It is sunny in {city}.")))
    };
    let wrong =
        EvalCase::new("wrong").turn(Invocation::user("What is the weather in Oslo?").response("No idea."));
    for (case, draft) in [(case("golden", "Paris"), false), (case("drafted", "Rome"), true), (wrong, true)] {
        let args = ["add-case", set, "-", "--draft"];
        let added = fed(&folder, &args[..if draft { 4 } else { 3 }], &case.to_value().to_string());
        assert_eq!(added.code, Some(0), "{}", added.shown());
    }
    let mut adk = Command::new(python);
    adk.arg(crate_folder.join("tests/edit/adk.py")).arg(folder.path("agents")).args(["weather", "drafted"]);
    let output = adk.current_dir(folder.path("")).output().expect("the Python runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let said = Value::parse(out.lines().last().unwrap_or_default()).expect("JSON");
    let marks = r#"{"golden":null,"drafted":{"from":"standard input"},"wrong":{"from":"standard input"}}"#;
    assert_eq!(said["marks"].to_string(), marks);
    assert_eq!(said["verdicts"].to_string(), r#"{"golden":"passed","drafted":"passed","wrong":"failed"}"#);
    // ADK saved the set, and what it saved is edited as before.
    assert_eq!(ids(&folder, set), ["golden", "drafted", "wrong", "more"]);
    let listed = folder.run(&["list", set, "--drafts"]);
    assert!(listed.out.contains("2 drafts"), "{}", listed.shown());
    assert_eq!(folder.run(&["accept", &format!("{set}:drafted,wrong")]).code, Some(0));
    assert_eq!(folder.run(&["check", set]).code, Some(0));
}
