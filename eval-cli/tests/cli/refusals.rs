//! Mistakes that end a run before its first case: each is told with its place and with a remedy.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::run::{case, folder, run, set};

/// A folder with a set of these cases, and the program.
fn of_cases(test: &str, cases: &[Value]) -> Folder {
    let folder = folder(test);
    folder.write("own/s.evalset.json", set("s", cases));
    folder
}

fn sunny(key: &str, value: &Value) -> Value {
    let mut case = case("sunny", "Paris", "It is sunny in Paris.");
    case[key] = value.clone();
    case
}

#[test]
fn criteria_of_a_case_without_a_config_are_checked_as_they_run() {
    for (criteria, why) in [
        (json!({ "nope": 1 }), "the config has no criterion `nope`"),
        (json!({ "tool_trajectory_avg_score": 0, "response_match_score": 0 }), "would pass"),
        (json!({ "tool_trajectory_avg_score": null, "response_match_score": null }), "no metric decides it"),
    ] {
        let folder = of_cases("refusals-criteria", &[sunny("_criteria", &criteria)]);
        let checked = folder.run(&["check", "own"]);
        assert_eq!(checked.code, Some(1), "{criteria}: {}", checked.out);
        let ran = run(&folder, &["own"]);
        assert_eq!(ran.code, Some(2), "{criteria}: {}", ran.out);
        assert!(ran.err.contains("error: own/s.evalset.json:"), "{}", ran.err);
        for said in [&checked.out, &ran.err] {
            assert!(said.contains(why), "{criteria}: {said}");
        }
    }
    // Criteria that ADK's default ones allow, and a case that an attribute may give other criteria.
    let criteria = json!({ "response_match_score": 0.5 });
    for case in [sunny("_criteria", &criteria), sunny("conversation", &json!([{ "user_content": {} }]))] {
        let folder = of_cases("refusals-allowed", &[case]);
        assert_eq!(folder.run(&["check", "own"]).code, Some(0));
    }
    // The criteria of a config with mistakes are not known.
    let folder = of_cases("refusals-config", &[sunny("_criteria", &json!({ "nope": 1 }))]);
    folder.write("own/test_config.json", "{");
    let checked = folder.run(&["check", "own"]);
    assert!(!checked.out.contains("no criterion `nope`"), "{}", checked.out);
}

#[test]
fn options_that_take_each_other_back_are_refused() {
    let folder = of_cases("refusals-options", &[sunny("tags", &json!([]))]);
    for (more, why) in [
        (
            &["-m", "response_match_score=0.8", "-m", "response_match_score=0.1"][..],
            "the metric `response_match_score` is named twice",
        ),
        (&["--matrix", "a=x,y", "--exclude", "a=x,a=y"], "`--exclude`: the axis `a` has two values"),
        (
            &["--junit", "out", "--json", "./out"],
            "two reports go to `./out`, and the last one alone would stay",
        ),
    ] {
        let ran = run(&folder, &[&["own"], more].concat());
        assert_eq!(ran.code, Some(2), "{why}: {}", ran.out);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
    }
}

#[test]
fn a_refusal_of_some_cases_names_their_place_in_the_whole_set() {
    let cases = [sunny("tags", &json!([])), sunny("_criteria", &json!({ "nope": 1 }))];
    let cases = [("first", &cases[0]), ("second", &cases[1])].map(|(id, case)| {
        let mut case = case.clone();
        case["eval_id"] = json!(id);
        case
    });
    let folder = of_cases("refusals-selected", &cases);
    let line =
        folder.read("own/s.evalset.json").lines().position(|line| line.contains("nope")).expect("a line");
    let ran = run(&folder, &["own/s.evalset.json:second"]);
    let place = format!("error: own/s.evalset.json:{}:", line + 1);
    assert!(ran.err.contains(&place) && ran.err.contains("case `second`: "), "{place}: {}", ran.err);
}

#[test]
fn faults_without_golden_tools_name_the_first_case_and_the_option() {
    let faulty = |at: usize| {
        let mut case = sunny("_tools", &json!({ "1": { "get_weather#1": { "raises": "reset" } } }));
        case["eval_id"] = json!(format!("c{at}"));
        case
    };
    let folder = of_cases("refusals-faults", &(0..6).map(faulty).collect::<Vec<_>>());
    let ran = run(&folder, &["own"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.starts_with("error: own/s.evalset.json:"), "{}", ran.err);
    let message = "case `c0`: nothing plays its fault `get_weather#1`, as the tools of the agent run (and 5 further errors)\n";
    assert!(ran.err.contains(message) && ran.err.contains("help: add `--tools golden`"), "{}", ran.err);
    assert!(!ran.err.contains("the config") && !ran.err.contains("`c1`"), "{}", ran.err);
}

#[test]
fn a_criterion_of_the_command_line_is_refused_in_a_sentence() {
    let folder = folder("refusals-metric");
    for metric in ["tool_trajectory_avg_score=0", "response_match_score=0"] {
        let ran = run(&folder, &["fine", "-m", metric]);
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(!ran.err.contains("-->") && !ran.err.contains("<config>"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    }
}

#[test]
fn a_path_with_blanks_is_quoted_in_a_help() {
    let folder = folder("refusals-blanks");
    folder.write("my sets/s.evalset.json", set("s", &[case("sunny", "Paris", "It is sunny in Paris.")]));
    let ran = run(&folder, &["my sets/s.evalset.json:none of them"]);
    let help = "`cargo evalset run 'my sets/s.evalset.json'` runs all its cases";
    assert!(ran.code == Some(2) && ran.err.contains(help), "{}", ran.err);
}

#[test]
fn no_report_takes_the_place_of_a_file_that_is_kept() {
    let folder = folder("refusals-kept");
    let config = r#"{"criteria": {"response_match_score": 0.5}}"#;
    let baseline = "{\"evalset_baseline\": 1}\n";
    folder.write("evals/more/test_config.json", config).write("evalset-baseline.jsonl", baseline);
    folder.write("plain.json", set("plain", &[case("sunny", "Paris", "It is sunny in Paris.")]));
    assert_eq!(run(&folder, &["fine", "--json", "r.json", "--html", "r.html"]).code, Some(0));
    let names = [
        "evals/more/fine.evalset.json",
        "plain.json",
        "evals/more/test_config.json",
        "evalset-baseline.jsonl",
    ];
    let before = names.map(|name| folder.read(name));
    let runs = folder.path(".evalset").read_dir().expect("runs").count();
    for (name, kind) in names.iter().zip(["an eval set", "an eval set", "a config", "a baseline"]) {
        let refused = format!("`{name}` is {kind}, and a report would take its place");
        for args in [
            &["report", "--html", name][..],
            &["report", "--junit", "j.xml", "--csv", name],
            &["report", "--json", name],
            &["gate", "--markdown", name],
            &["compare", "--markdown", name],
            &["run", "fine", "--agent-cmd", "python3 weather.py", "--markdown", name],
        ] {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.out);
            assert!(
                ran.err.contains(&refused) && ran.err.contains("choose another name"),
                "{args:?}: {}",
                ran.err
            );
            assert!(!ran.err.contains("of an earlier run: do not take it"), "{args:?}: {}", ran.err);
        }
    }
    assert_eq!(names.map(|name| folder.read(name)), before);
    assert_eq!(folder.path(".evalset").read_dir().expect("runs").count(), runs, "nothing ran");
    // An older report is replaced, whatever it is called.
    assert_eq!(folder.run(&["report", "--json", "r.json", "--html", "r.html"]).code, Some(0));
}

#[test]
fn two_reports_to_standard_output_are_refused_before_a_case_runs() {
    let folder = folder("refusals-dash");
    for others in [&["--junit", "-"][..], &["--github"]] {
        let ran = run(&folder, &[&["fine", "--json", "-"], others].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(ran.err.contains("only one report can go to standard output (`-`)"), "{}", ran.err);
    }
    assert!(!folder.path(".evalset").exists(), "nothing ran");
}

#[test]
fn a_config_that_holds_for_no_set_stops_a_run_however_the_set_is_named() {
    let folder = folder("refusals-config");
    let strict = r#"{"criteria": {"response_match_score": 1.0}}"#;
    let paris = set("one", &[case("sunny", "Paris", "It is sunny in Paris.")]);
    folder.write("here.evalset.json", &paris).write("test-config.json", strict);
    for name in ["here", "here.evalset.json", "./here.evalset.json", "h*.evalset.json"] {
        let ran = run(&folder, &[name]);
        assert!(
            ran.code == Some(2) && ran.err.contains("test-config.json` is passed over"),
            "{name}: {}",
            ran.err
        );
    }
    let checked = folder.run(&["check", "here.evalset.json"]);
    assert!(checked.out.contains("`test-config.json` is passed over"), "{}", checked.out);
    folder.write("sub/far.evalset.json", &paris).write("test_config.json", strict);
    for name in ["far", "s*/far.evalset.json", "*/far.evalset.json"] {
        let ran = run(&folder, &[name]);
        assert!(
            ran.code == Some(2) && ran.err.contains("test_config.json` is passed over"),
            "{name}: {}",
            ran.err
        );
    }
    assert_eq!(
        run(&folder, &["sub/far.evalset.json"]).code,
        Some(0),
        "one file is named, and no folder is searched"
    );
}
