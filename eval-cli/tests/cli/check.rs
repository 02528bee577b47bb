use eval_format::Value;

use crate::folder::{Folder, samples, set};

/// A folder with a file of each kind.
fn mixed(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder
        .write("evals/good.evalset.json", set(""))
        .write("evals/typo.evalset.json", set(",\n      \"final_session_sate\": {}"))
        .write("evals/twice.evalset.json", set(",\n      \"note\": 1,\n      \"note\": 2"))
        .write(
            "evals/odd.evalset.json",
            set(",\n      \"finalSessionState\": {},\n      \"final_session_state\": {}"),
        )
        .write("evals/test_config.json", r#"{"criteria": {"brevity": 0.5}}"#)
        .write("evals/trip.test.json", r#"[{"query": "Hi", "reference": "Hello"}]"#)
        .write("evals/trip.session.json", r#"{"state": []}"#)
        .write("evals/good.evalset.judge.json", r#"{"judge_recording": 1}"#)
        .write("evals/sub/deep.evalset.json", set(""))
        .write("evals/sub/notes.json", "no set")
        .write("evals/.hidden/x.evalset.json", "no set");
    folder
}

#[test]
fn all_files_of_a_folder_are_checked_and_counted() {
    let ran = mixed("check-all").run(&["check", "evals"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn cargo_and_the_shell_call_it_alike() {
    let folder = mixed("check-cargo");
    assert_eq!(folder.run(&["evalset", "check", "evals"]).shown(), folder.run(&["check", "evals"]).shown());
}

#[test]
fn own_metrics_are_named_on_the_command_line() {
    let folder = mixed("check-metrics");
    let config = "evals/test_config.json";
    assert_eq!(folder.run(&["check", config]).code, Some(1));
    assert_eq!(folder.run(&["check", config, "--metric", "calm,brevity"]).code, Some(0));
}

#[test]
fn a_set_is_held_against_the_config_beside_it() {
    let folder = Folder::new("check-together");
    let rubrics = r#"{"criteria": {"rubric_based_final_response_quality_v1": 1.0}}"#;
    folder.write("evals/good.evalset.json", set("")).write("evals/test_config.json", rubrics);
    for paths in [&["check", "evals"][..], &["check", "evals/good.evalset.json"]] {
        let ran = folder.run(paths);
        assert_eq!(ran.code, Some(1));
        let said = "`rubric_based_final_response_quality_v1` has no rubrics to judge by";
        assert!(ran.out.contains(said), "{}", ran.out);
        assert!(ran.out.contains("evals/good.evalset.json:"), "{}", ran.out);
    }
    // A config that is broken or in another folder is not used.
    folder.write("evals/test_config.json", "{");
    assert_eq!(folder.run(&["check", "evals/good.evalset.json"]).code, Some(0));
    folder.write("elsewhere/test_config.json", rubrics).write("other/good.evalset.json", set(""));
    assert_eq!(folder.run(&["check", "other"]).code, Some(0));
}

#[test]
fn warnings_fail_where_they_are_denied() {
    let folder = mixed("check-warnings");
    let file = "evals/odd.evalset.json";
    assert_eq!(folder.run(&["check", file]).code, Some(0));
    let denied = folder.run(&["check", file, "--deny-warnings"]);
    assert_eq!(denied.code, Some(1));
    assert!(denied.out.ends_with("1 file, 1 case: 1 warning (denied)\n"), "{}", denied.out);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_no_checked_set() {
    let folder = Folder::new("check-link");
    folder.write("evals/good.evalset.json", set(""));
    folder.write("more/.keep", "");
    for (place, target) in [("evals/lost.evalset.json", "gone.json"), ("more/lost.evalset.json", "gone.json")]
    {
        std::os::unix::fs::symlink(target, folder.path(place)).expect("the folder is ours");
    }
    for (path, shown) in [
        ("evals", "evals/lost.evalset.json"),
        ("evals/*.json", "evals/lost.evalset.json"),
        ("more", "more/lost.evalset.json"),
        ("more/lost.evalset.json", "more/lost.evalset.json"),
    ] {
        for command in ["check", "fmt", "plan"] {
            let ran = folder.run(&[command, path]);
            assert_eq!(ran.code, Some(2), "{command} {path}: {}", ran.out);
            let says = format!("`{shown}` is a link to `gone.json`, which does not exist");
            assert!(
                ran.err.contains(&says) || ran.out.contains(&says),
                "{command} {path}: {}{}",
                ran.out,
                ran.err
            );
        }
    }
}

#[test]
fn a_file_is_checked_once_however_it_is_named() {
    let folder = mixed("check-once");
    let paths = ["check", "evals/sub", "./evals/sub/deep.evalset.json", "evals/**/deep.*", "evals//sub/."];
    let ran = folder.run(&paths);
    assert_eq!(ran.shown(), "1 file, 1 case: no problems\n(exit code 0)");
}

#[test]
fn a_config_is_known_by_what_it_holds() {
    let folder = Folder::new("check-config");
    folder.write("strict.json", r#"{"criteria": {"response_match_scor": 0.5}}"#);
    let ran = folder.run(&["check", "strict.json"]);
    assert!(ran.out.contains("there is no metric `response_match_scor`"), "{}", ran.out);
}

#[test]
fn a_session_file_beside_a_set_of_today_is_an_error() {
    let folder = Folder::new("check-session");
    folder.write("trip.evalset.json", set("")).write("trip.session.json", r#"{"state": {"a": 1}}"#);
    let ran = folder.run(&["check", "."]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("a session file is beside a set that carries its own sessions"), "{}", ran.out);
    // Under another name, it may belong to a test file in another folder.
    let folder = Folder::new("check-session-other");
    folder.write("trip.evalset.json", set("")).write("initial.session.json", r#"{"state": {"a": 1}}"#);
    assert_eq!(folder.run(&["check", "."]).code, Some(0));
}

#[test]
fn programs_get_every_problem_with_its_place() {
    let ran = mixed("check-json").run(&["check", "evals", "--format", "json"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.shown());
    Value::parse(&ran.out).expect("it is JSON");
}

#[test]
fn annotations_point_into_the_json() {
    let folder = mixed("check-github");
    folder.write("50%, odd.evalset.json", "{");
    let ran = folder.run(&["check", "evals", "50%, odd.evalset.json", "nowhere", "--github"]);
    assert_eq!(ran.code, Some(2));
    let annotations: Vec<_> = ran.out.lines().filter(|line| line.starts_with("::")).collect();
    insta::assert_snapshot!(annotations.join("\n"));
    assert!(ran.out.contains("--> evals/typo.evalset.json:7:7"), "people read the log too: {}", ran.out);
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let folder = mixed("check-colour");
    let coloured = |name: &str| {
        let ran = folder.command(&["check", "evals"]).env(name, "1").output().expect("the program runs");
        ran.stdout.contains(&0x1b)
    };
    assert!(!folder.run(&["check", "evals"]).out.contains('\u{1b}'), "a pipe is no terminal");
    assert!(coloured("CLICOLOR_FORCE"));
    assert!(!coloured("NO_COLOR"));
}

#[test]
fn the_readme_shows_what_is_printed() {
    let folder = Folder::new("check-readme");
    folder.write("evals/weather.evalset.json", set(",\n      \"final_session_sate\": {}"));
    let shown = format!("$ cargo evalset check evals\n{}", folder.run(&["check", "evals"]).out);
    assert!(include_str!("../../README.md").contains(&shown), "{shown}");
}

#[test]
fn the_samples_have_no_problems() {
    let samples = samples();
    let ran = Folder::new("check-samples").run(&["check", samples.to_str().expect("a plain path")]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
}

/// A set that expects a tool response, a text before the answer and an image, and has a rubric without a type, as
/// Google's samples have them.
const EXPECTS_MORE: &str = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c",
    "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "It is kind."}}],
    "conversation": [{"user_content": {"parts": [{"text": "Price?"}]},
        "final_response": {"parts": [{"text": "42"}, {"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}}]},
        "intermediate_data": {"tool_uses": [{"name": "price", "args": {}}],
            "tool_responses": [{"name": "price", "response": {"result": 42}}],
            "intermediate_responses": [["agent", [{"text": "Let me see."}]]]}}]}]}"#;

#[test]
fn what_no_metric_reads_is_counted() {
    let folder = Folder::new("check-not-compared");
    folder.write("evals/shop.evalset.json", EXPECTS_MORE);
    let line = |config: Option<&str>| {
        if let Some(config) = config {
            folder.write("evals/test_config.json", format!(r#"{{"criteria": {config}}}"#));
        }
        let ran = folder.run(&["check", "evals/shop.evalset.json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.out);
        let said = "note: `evals/shop.evalset.json`: not compared: ";
        ran.out.lines().find_map(|line| Some(line.strip_prefix(said)?.to_owned())).unwrap_or_default()
    };
    // ADK's default criteria read calls and answers.
    let default = "1 tool response, 1 intermediate response, 1 image or file in an answer, 1 rubric";
    assert_eq!(line(None), default);
    assert_eq!(
        line(Some(r#"{"tool_response_match": 1, "intermediate_response_match": 1}"#)),
        "1 tool call, 1 answer, 1 image or file in an answer, 1 rubric"
    );
    let json = folder.run(&["check", "evals/shop.evalset.json", "--format", "json"]);
    let document = Value::parse(&json.out).expect("JSON");
    let counts = &document["files"].as_array().expect("files")[0]["not_compared"];
    let expected = r#"{"answers":1,"files_in_answers":1,"rubrics":1,"tool_calls":1}"#;
    assert_eq!(counts.to_string(), expected);
}

#[test]
fn what_may_vary_is_counted() {
    let folder = Folder::new("check-loosened");
    let case = |id: &str, keys: &str| {
        let args = r#"{"city": "Oslo", "day": "2026-11-22"}"#;
        let calls =
            format!(r#"{{"tool_uses": [{{"name": "f", "args": {args}}}, {{"name": "g", "args": {{}}}}]}}"#);
        format!(
            r#"{{"eval_id": "{id}", "conversation": [{{"user_content": {{}}, "intermediate_data": {calls}}}]{keys}}}"#
        )
    };
    let rules = r#", "_expect": {"1": {"calls": {"f": {"city": "any", "day": "date"}, "g": "any"}, "order": "any", "others": "any"}}"#;
    let cases =
        [case("a", rules), case("b", r#", "_criteria": {"tool_trajectory_avg_score": 0.5}"#)].join(", ");
    folder.write("evals/s.evalset.json", format!(r#"{{"eval_set_id": "s", "eval_cases": [{cases}]}}"#));
    let criterion = r#"{"threshold": 1, "match_type": "IN_ORDER"}"#;
    folder.write(
        "evals/test_config.json",
        format!(r#"{{"criteria": {{"tool_trajectory_avg_score": {criterion}}}}}"#),
    );
    let ran = folder.run(&["check", "evals/s.evalset.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    for said in [
        "note: `evals/s.evalset.json`: loosened: 5 points in 1 of 2 cases (2 any, 1 date, 1 order, 1 others)\n",
        "note: `evals/s.evalset.json`: criteria of their own (`_criteria`): 1 of 2 cases\n",
        "warning: case `a`: `others` of `_expect` loosens nothing: the match type of its criteria allows other calls already",
    ] {
        assert!(ran.out.contains(said), "{said}\n{}", ran.out);
    }
    let json = folder.run(&["check", "evals/s.evalset.json", "--format", "json"]);
    let document = Value::parse(&json.out).expect("JSON");
    let counts = &document["files"].as_array().expect("files")[0]["loosened"];
    assert_eq!(counts.to_string(), r#"{"points":5,"cases":1,"by":{"any":2,"date":1,"order":1,"others":1}}"#);
}

#[test]
fn a_case_that_no_agent_can_fail_is_an_error_of_its_set() {
    let folder = Folder::new("check-vacuous");
    let config =
        r#"{"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY_ORDER"}}}"#;
    folder.write("evals/good.evalset.json", set("")).write("evals/test_config.json", config);
    let ran = folder.run(&["check", "evals"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("no metric decides it, so it would pass unchecked"), "{}", ran.out);
    assert!(ran.out.contains("no turn expects a tool call, and other calls are allowed"), "{}", ran.out);
}

#[test]
fn a_case_that_no_agent_can_pass_is_a_warning_with_the_way_out() {
    let folder = Folder::new("check-impossible");
    let unanswered = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
        {"user_content": {"parts": [{"text": "Price?"}]}}]}]}"#;
    folder.write("evals/shop.evalset.json", unanswered);
    let warning = |by: &str| {
        format!(
            "warning: no agent can pass it by {by}, which hold unless an attribute names others: 1 of 1 turn without an \
             expected answer, which `response_match_score` scores 0.0"
        )
    };
    let calls = r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#;
    let both = r#"{"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.5}}"#;
    for (config, by) in [
        (None, Some("ADK's default criteria")),
        (Some(both), Some("the criteria of its config")),
        (Some("{"), None),
        (Some(calls), None),
    ] {
        if let Some(config) = config {
            folder.write("evals/test_config.json", config);
        }
        let ran = folder.run(&["check", "evals"]);
        assert_eq!(ran.code, Some(i32::from(config == Some("{"))), "{}", ran.out);
        match by {
            Some(by) => assert!(ran.out.contains(&warning(by)), "{}", ran.out),
            None => assert!(!ran.out.contains("no agent can pass"), "{}", ran.out),
        }
    }
}

#[test]
fn further_places_of_a_problem_are_shown_as_they_are() {
    let folder = Folder::new("check-places");
    let blank = "\n".repeat(900);
    let case = r#"{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]},
        "final_response": {"parts": [{"text": "Hello"}]}}]}"#;
    folder.write(
        "evals/far.evalset.json",
        format!(r#"{{"eval_set_id": "s", "eval_cases": [{case},{blank}{case}]}}"#),
    );
    let ran = folder.run(&["check", "evals"]);
    assert!(ran.out.contains("--> evals/far.evalset.json:1:") && !ran.out.contains(r"\u{3a}"), "{}", ran.out);
}

#[test]
fn a_config_that_the_attribute_would_refuse_is_a_warning() {
    let folder = Folder::new("check-overlooked");
    let config = r#"{"criteria": {"response_match_score": 0.5}}"#;
    folder
        .write("evals/good.evalset.json", set(""))
        .write("evals/eval_config.json", config)
        .write("other/test_config.json", config)
        .write("other/deep/good.evalset.json", set(""));
    let beside = "warning: `evals/eval_config.json` is passed over: the config of a folder is named `test_config.json`";
    let above = "warning: `other/test_config.json` is passed over: a config holds for its own folder, and not for the \
                 sets in `other/deep`";
    for (paths, code, said) in [
        (&["evals"][..], 0, &[beside][..]),
        (&["evals/good.evalset.json"], 0, &[beside]),
        (&["other"], 0, &[above]),
        (&["other/**/*.evalset.json"], 0, &[above]),
        (&["other/deep"], 0, &[]),
        (&["other/deep/good.evalset.json"], 0, &[]),
        (&["evals", "other", "--deny-warnings"], 1, &[beside, above]),
    ] {
        let ran = folder.run(&[&["check"], paths].concat());
        assert_eq!(ran.code, Some(code), "{paths:?}\n{}", ran.out);
        for line in [beside, above] {
            assert_eq!(ran.out.contains(line), said.contains(&line), "{line}\n{paths:?}\n{}", ran.out);
        }
    }
}

#[test]
fn a_file_that_is_nearly_named_as_a_set_is_refused() {
    let folder = Folder::new("check-near");
    folder.write("evals/good.evalset.json", set("")).write("evals/bad.evalsets.json", set(""));
    let ran = folder.run(&["check", "evals"]);
    assert_eq!(ran.code, Some(2));
    let shown = ran.shown();
    assert!(shown.contains("`bad.evalsets.json` has nearly the name of an eval set"), "{shown}");
    assert!(shown.contains("rename it to `bad.evalset.json`, or move it elsewhere"), "{shown}");
}

#[test]
fn a_mistake_in_a_rule_has_its_line_and_column() {
    let folder = Folder::new("check-rules");
    folder.write(
        "evals/weather.evalset.json",
        r#"{"eval_set_id": "s", "eval_cases": [{
  "eval_id": "c",
  "conversation": [{
    "user_content": { "parts": [{ "text": "Weather?" }] },
    "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "day": "2026-11-22" } }] }
  }],
  "_expect": {
    "1": { "calls": { "get_weather": { "dya": "any", "day": "dat" } } }
  }
}]}"#,
    );
    let ran = folder.run(&["check", "evals"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let said = ran.out + &ran.err;
    for (at, what, help) in [
        ("8:40", "the expected call has no argument `dya`", "did you mean `day`?"),
        ("8:61", "there is no matcher `dat`", "did you mean `date`?"),
    ] {
        let place = format!("evals/weather.evalset.json:{at}");
        assert!(
            said.contains(&place) && said.contains(what) && said.contains(help),
            "{place} {what}: {said}"
        );
    }
}

#[test]
fn an_empty_id_is_a_warning_and_nothing_else() {
    let folder = Folder::new("check-unnamed");
    folder.write("evals/weather.evalset.json", set("").replace(r#""eval_id": "sunny""#, r#""eval_id": """#));
    let ran = folder.run(&["check", "evals"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    for said in ["warning: the id of the case is empty", "--> evals/weather.evalset.json:5:", "1 warning"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    assert_eq!(folder.run(&["check", "evals", "--deny-warnings"]).code, Some(1));
}
