//! What is refused before a case runs: where the mistake is, and what helps.

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
fn no_report_takes_the_place_of_a_file_that_is_kept() {
    let folder = folder("refusals-kept");
    let config = r#"{"criteria": {"response_match_score": 0.5}}"#;
    let baseline = "{\"evalset_baseline\": 1}\n";
    folder.write("evals/test_config.json", config).write("evalset-baseline.jsonl", baseline);
    folder.write("plain.json", set("plain", &[case("sunny", "Paris", "It is sunny in Paris.")]));
    assert_eq!(run(&folder, &["fine", "--json", "r.json", "--html", "r.html"]).code, Some(0));
    let names =
        ["evals/more/fine.evalset.json", "plain.json", "evals/test_config.json", "evalset-baseline.jsonl"];
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
