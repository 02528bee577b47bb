//! `run --matrix` and `compare`: variants of a program, side by side.

use serde_json::{Value, json};

use crate::folder::{Folder, Ran, program};

/// Answers as its variant says: `model=bad` is wrong in the case `b`. The prompt comes as an argument.
const SETUP: &str = r#"
variant = json.loads(os.environ["EVALSET_VARIANT"])
assert sys.argv[1] == variant["prompt"], sys.argv
"#;
const TURN: &str = r#"
say(type="text", text="no" if (text, variant["model"]) == ("b", "bad") else text)
"#;

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    let case = |id: &str| {
        json!({
            "eval_id": id,
            "conversation": [{ "user_content": content("user", id), "final_response": content("model", id) }],
        })
    };
    let set = json!({ "eval_set_id": "desk", "eval_cases": [case("a"), case("b")] });
    let config = json!({ "criteria": { "response_match_score": 1.0 } });
    folder.write("agent.py", program(SETUP, TURN)).write("desk.evalset.json", set.to_string());
    folder.write("test_config.json", config.to_string());
    folder
}

/// A program that kills the command, as a system does that runs out of memory.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_in_a_variant_knows_the_cases_of_those_after_it() {
    let folder = folder("matrix-killed");
    let kills = r#"
if json.loads(os.environ["EVALSET_VARIANT"])["model"] == "kills":
    os.kill(os.getppid(), 9)
say(type="text", text=text)
"#;
    folder.write("agent.py", program("", kills));
    let run = [
        "run",
        "desk.evalset.json",
        "--agent-cmd",
        "python3 -I -S agent.py",
        "--concurrency",
        "1",
        "--matrix",
    ];
    let ran = folder.run(&[&run[..], &["model=good,kills,late"]].concat());
    assert_eq!(ran.code, None, "{}", ran.shown());
    let report = folder.run(&["report"]);
    assert_eq!(report.code, Some(2), "{}", report.shown());
    for part in ["2 passed, 1 unfinished", "3 more tests never began", "a program was to run 3 cases more"] {
        assert!(report.shown().contains(part), "{part} is not in\n{}", report.shown());
    }
    assert!(!report.shown().contains("is not recorded"), "{}", report.shown());
}

const RUN: [&str; 7] =
    ["run", "desk.evalset.json", "--agent-cmd", "python3 -I -S agent.py {prompt}", "--runs", "6", "--matrix"];

#[test]
fn each_variant_runs_all_cases_and_the_table_tells_which_is_worse() {
    let folder = folder("matrix");
    let matrix = ["model=good,bad", "--matrix", "prompt=x y,z", "--exclude", "model=good,prompt=z"];
    let ran = folder.run(&[&RUN, &matrix[..]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    let shown = ran.shown();
    for part in [
        "desk/b [model=good prompt=\"x y\"]",
        "desk/b [model=bad prompt=z]",
        "--matrix model=bad --matrix 'prompt=x y'",
        "--matrix model=good,bad --matrix 'prompt=x y,z' --exclude model=good,prompt=z",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert!(!shown.contains("prompt=z] [model=good"), "{shown}");

    let text = folder.run(&["compare"]);
    assert_eq!(text.code, Some(0), "{}", text.shown());
    insta::assert_snapshot!("compare", text.out.lines().map(without_seconds).collect::<Vec<_>>().join("\n"));

    let report: Value = serde_json::from_str(&folder.run(&["report", "--format", "json"]).out).unwrap();
    let id = report["runs"][0].as_str().unwrap().to_owned();
    for command in ["compare", "report"] {
        let ran = folder.run(&[command, "--merge", &id, &format!(".evalset/{id}")]);
        assert_eq!(ran.code, Some(2), "{}", ran.shown());
        assert!(ran.err.contains("is named twice, and its tests would count twice"), "{}", ran.err);
    }

    let ran = folder.run(&["compare", "--against", "model=bad prompt=z", "--format", "json"]);
    let document: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()));
    assert_eq!(document["variants"][0]["values"], json!({ "model": "good", "prompt": "x y" }));
    assert_eq!(document["cases"][1]["runs"][2], json!({ "passed": 0, "with_verdict": 6, "errors": 0 }));
    // Six of six and none of six: 2 / C(12, 6).
    let p = document["differences"][0]["p"].as_f64().expect("a number");
    assert!((p - 2.0 / 924.0).abs() < 1e-9, "{p}");
    assert_eq!(document["differences"][0]["is_shown"], true);
    assert_eq!(document["conclusion"], "model=good prompt=\"x y\" is better than model=bad prompt=z");

    let markdown = folder.run(&["compare", "--markdown", "-"]);
    assert_eq!(folder.run(&["compare", "--markdown", "c.md"]).out, text.out);
    assert_eq!(markdown.out, folder.read("c.md"));
    assert!(
        markdown.out.contains("| case | a | b | c |\n| --- | --- | --- | --- |\n"),
        "{}",
        markdown.shown()
    );
}

/// Cases without a verdict, and variants that a failure left out.
#[test]
fn what_is_not_compared_is_told() {
    let folder = folder("matrix-left-out");
    let run: Vec<&str> = RUN.iter().map(|word| if *word == "6" { "1" } else { word }).collect();
    let matrix = ["model=good,bad,late", "--matrix", "prompt=z", "--fail-fast", "--concurrency", "1"];
    let ran = folder.run(&[&run, &matrix[..]].concat());
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
    let compared = folder.run(&["compare"]);
    assert_eq!(compared.code, Some(2), "{}", compared.shown());
    assert!(compared.out.contains("never began") && !compared.out.contains("killed"), "{}", compared.shown());

    // Each program ends at once.
    let broken: Vec<&str> = run
        .iter()
        .map(|word| if word.starts_with("python3") { "python3 -c exit {prompt}" } else { word })
        .collect();
    let ran = folder.run(&[&broken, &["model=a,b", "--matrix", "prompt=<img>@team"][..]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let compared = folder.run(&["compare", "--markdown", "-", "--price", "1/1"]);
    assert_eq!(compared.code, Some(2), "{}", compared.shown());
    for part in [
        "not compared, as no case has a verdict in both",
        "no run has a verdict, so nothing is compared",
        "4 runs have no verdict",
        "is not known: a run reported no tokens",
        "&lt;img&gt;&#64;team",
    ] {
        assert!(compared.out.contains(part), "{part} is not in\n{}", compared.shown());
    }
    assert!(!compared.out.contains("0.0000") && !compared.out.contains("<img>"), "{}", compared.shown());
}

/// The row of a variant without its seconds, which differ.
fn without_seconds(line: &str) -> String {
    match line.rsplit_once("  ") {
        Some((rest, seconds)) if seconds.trim().parse::<f64>().is_ok() => rest.trim_end().to_owned(),
        _ => line.to_owned(),
    }
}

#[test]
fn a_matrix_with_a_mistake_runs_nothing() {
    let folder = folder("matrix-wrong");
    for (matrix, expected) in [
        (&["model"][..], "`--matrix` takes an axis and its values, not `model`"),
        (&["model=a,a"], "the axis `model` has the value `a` twice"),
        (&["port=1"], "an axis cannot be called `port`"),
        (&["model=a", "--exclude", "modle=a"], "the matrix has no axis `modle`"),
        (&["model=a", "--exclude", "model=a"], "`--exclude` leaves no variant"),
        (&["model=a"], "`--agent-cmd` has `{prompt}`, and `--matrix` has no axis `prompt`"),
        (&["promt=a"], "did you mean `promt`?"),
    ] {
        let ran = folder.run(&[&RUN, matrix].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.shown());
        assert!(ran.err.contains(expected) && ran.out.is_empty(), "{expected}: {}", ran.shown());
    }
    let url = [
        "run",
        "desk.evalset.json",
        "--agent-url",
        "http://127.0.0.1:9",
        "--app",
        "a",
        "--matrix",
        "model=a,b",
    ];
    let ran = folder.run(&url);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("nothing of the agent depends on `model`"), "{}", ran.shown());
    let mut recording = folder.command(&[&RUN, &["model=a,b"][..]].concat());
    let ran: Ran = recording.env("EVALSET_MODELS", "record-all").output().expect("the program runs").into();
    assert!(ran.code == Some(2) && ran.err.contains("of the last variant alone"), "{}", ran.shown());
    let ran = folder.run(&["compare"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
}

#[test]
fn a_matrix_of_many_tests_is_warned_about_and_a_larger_one_runs_nothing() {
    let folder = folder("matrix-large");
    let run = |values: usize| {
        let values: Vec<String> = (0..values).map(|value| format!("v{value}")).collect();
        let model = format!("model={}", values.join(","));
        // The program ends at once, so the first variant fails and the others are left out.
        let args = [
            "run",
            "desk.evalset.json",
            "--agent-cmd",
            "python3 -c exit",
            "--fail-fast",
            "--concurrency",
            "1",
        ];
        folder.run(&[&args[..], &["--matrix", &model]].concat())
    };
    let warning = "501 variants of 2 cases are 1,002 tests: `exclude` leaves variants out";
    for (values, is_warned) in [(500, false), (501, true)] {
        let ran = run(values);
        assert!(ran.code == Some(2) && ran.err.contains(warning) == is_warned, "{values}: {}", ran.err);
    }
    let ran = run(1_001);
    let error = "`--matrix`: the matrix has more than 1,000 variants";
    assert!(ran.code == Some(2) && ran.err.contains(error) && ran.out.is_empty(), "{}", ran.shown());
}

#[test]
fn a_run_without_variants_is_not_compared() {
    let folder = folder("matrix-one");
    let ran = folder.run(&[&RUN, &["model=good", "--matrix", "prompt=z"][..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = folder.run(&["compare"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("the run has one variant, `model=good prompt=z`"), "{}", ran.shown());
}
