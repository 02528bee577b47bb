//! Tags of cases: what they select in `list`, `run`, `report` and `rerun`, and where they are shown.

use eval_format::Value;
use serde_json::json;

use crate::folder::{Folder, Ran};
use crate::journal::{Journal, failed, passed};
use crate::run;

fn document(ran: &Ran) -> Value {
    Value::parse(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

fn names(cases: &Value, key: &str) -> Vec<String> {
    let cases = cases.as_array().expect("cases");
    cases.iter().map(|case| case[key].as_str().expect("a name").to_owned()).collect()
}

/// A folder with an agent and two sets: of a case that passes, one that fails and one that breaks, and of one without tags.
fn folder(test: &str) -> Folder {
    let folder = run::folder(test);
    let tagged = |tags: &[&str], mut case: serde_json::Value| {
        case["tags"] = json!(tags);
        case
    };
    let cases = [
        tagged(&["smoke", "paris"], run::case("sunny", "Paris", "It is sunny in Paris.")),
        tagged(&["slow"], run::case("rain", "Oslo", "Take an umbrella, it rains.")),
        tagged(&["smoke", "slow"], run::case("lost", "Atlantis", "It is wet.")),
    ];
    folder.write("evals/mixed.evalset.json", run::set("mixed_weather", &cases));
    folder
}

#[test]
fn run_takes_the_cases_with_a_tag_and_leaves_out_those_with_another() {
    let folder = folder("tags-run");
    for (args, expected, code) in [
        (&["evals", "--tag", "paris"][..], &["mixed_weather/sunny"][..], 0),
        (&["evals", "--tag=paris", "--tag", "slow", "--skip-tag=smoke"], &["mixed_weather/rain"], 1),
        (&["evals", "--skip-tag", "slow"], &["fine/sunny", "mixed_weather/sunny"], 0),
        (&["evals:sunny", "--tag", "smoke"], &["mixed_weather/sunny"], 0),
    ] {
        let ran = run::run(&folder, &[args, &["--format", "json"]].concat());
        let mut found = names(&document(&ran)["cases"], "name");
        found.sort_unstable();
        assert_eq!(
            (ran.code, found),
            (Some(code), expected.iter().map(ToString::to_string).collect()),
            "{args:?}"
        );
    }
    let (before, all) = (folder.names(), "The tags are `paris`, `slow` and `smoke`");
    for (args, message, help) in [
        (
            &["evals", "--tag", "smok"][..],
            "no case has the tag `smok`",
            format!("did you mean `smoke`? {all}"),
        ),
        (&["evals", "--skip-tag", "slo"], "no case has the tag `slo`", format!("did you mean `slow`? {all}")),
        (
            &["fine", "--tag", "smoke"],
            "no case has the tag `smoke`",
            r#"by its key `tags`: `"tags": ["smoke"]`"#.to_owned(),
        ),
        (
            &["mixed:sunny", "--tag", "slow"],
            "none of the selected cases is left by the tags",
            "`cargo evalset list` shows the tags".to_owned(),
        ),
    ] {
        let ran = run::run(&folder, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message) && ran.err.contains(&help), "{args:?}: {}", ran.err);
    }
    assert_eq!(folder.names(), before, "nothing began");
}

#[test]
fn tags_of_a_run_are_in_its_reports_and_on_its_page() {
    let folder = folder("tags-reports");
    let files = ["--junit", "junit.xml", "--json", "report.json", "--html", "page.html"];
    run::run(&folder, &[&["evals"], &files[..]].concat());
    let report = Value::parse(&folder.read("report.json")).expect("JSON");
    let tags = report["cases"].as_array().expect("cases").iter().map(|case| case["tags"].to_string());
    let mut tags: Vec<String> = tags.collect();
    tags.sort_unstable();
    assert_eq!(tags, [r#"["slow"]"#, r#"["smoke","paris"]"#, r#"["smoke","slow"]"#, "[]"]);
    let junit = folder.read("junit.xml");
    assert!(junit.contains("eval_id=sunny\ntag=smoke\ntag=paris\n"), "{junit}");
    let page = folder.read("page.html");
    assert!(page.contains("data-tags=\"smoke\nparis\""), "the rows have their tags");
    assert!(page.contains(r#"["Tags","smoke, paris"]"#), "the open case has them");
}

#[test]
fn list_shows_tags_and_selects_by_them() {
    let folder = folder("tags-list");
    let shown = folder.run(&["list", "evals", "--skip-tag", "slow"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    for line in [
        "evals/mixed.evalset.json  mixed_weather\n  sunny  1 turn  get_weather  tags smoke, paris\n",
        "evals/more/fine.evalset.json  fine\n  sunny  1 turn  get_weather\n",
    ] {
        assert!(shown.out.contains(line), "{}", shown.out);
    }
    let smoke = document(&folder.run(&["list", "evals", "--tag", "smoke", "--format", "json"]));
    assert_eq!(names(&smoke["sets"][0]["cases"], "eval_id"), ["sunny", "lost"]);
    assert_eq!(smoke["sets"][0]["cases"][1]["tags"].to_string(), r#"["smoke","slow"]"#);
    let none = folder.run(&["list", "evals", "--tag", "paris"]).out;
    assert!(none.contains("fine\n  no cases with these tags\n"), "{none}");
    let unknown = folder.run(&["list", "evals", "--tag", "Paris"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("did you mean `paris`?"), "{}", unknown.shown());
}

/// A recorded run: a case that passed, two that failed, and two tests that never began.
fn recorded(test: &str, missing: &[&str]) -> Folder {
    let folder = Folder::new(test);
    let mut journal = Journal::new(&folder, "r1");
    journal.set_head(&json!({ "runner": ["cargo", "test", "--no-fail-fast"] }));
    for (name, tags, verdict) in [
        ("weather::sunny", &["smoke"][..], passed()),
        ("weather::oslo", &["slow"], failed()),
        ("weather::rome", &["slow", "italy"], failed()),
    ] {
        let test = journal.started(name, 1);
        journal.tagged(tags);
        journal.ran(test, 1, 1.0);
        journal.decided(test, &verdict, Some(1.0), "");
    }
    journal.lists(missing, false);
    journal.write();
    folder
}

#[test]
fn report_is_about_the_cases_of_the_tags_and_counts_the_others() {
    let folder = recorded("tags-report", &[]);
    for (args, cases, code, reason) in [
        (&[][..], 3, 1, "of 3 cases: 2 failed"),
        (&["--tag", "smoke"], 1, 0, "the one case passed; 2 more cases not selected by tags"),
        (&["--skip-tag", "slow"], 1, 0, "the one case passed; 2 more cases not selected by tags"),
        (&["--tag", "slow"], 2, 1, "of 2 cases: 2 failed; 1 more case not selected by tags"),
        (&["--tag", "slow", "--skip-tag", "slow"], 0, 2, "no case ran; 3 more cases not selected by tags"),
    ] {
        let ran = folder.run(&[&["report"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.shown());
        assert!(ran.out.contains(reason), "{args:?}: {}", ran.out);
        let json = document(&folder.run(&[&["report", "--format", "json"], args].concat()));
        let counts = [&json["summary"]["cases"], &json["summary"]["not_selected"]].map(ToString::to_string);
        assert_eq!(counts, [cases.to_string(), (3 - cases).to_string()], "{args:?}");
    }
    let unknown = folder.run(&["report", "--tag", "smoek"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("did you mean `smoke`?"), "{}", unknown.shown());
    // The tags of a test that never began are not known: it may have had this one.
    let folder = recorded("tags-report-missing", &["weather::new"]);
    let ran = folder.run(&["report", "--tag", "smoke"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert!(ran.out.contains("1 more test never began"), "{}", ran.out);
    assert_eq!(folder.run(&["report", "--tag", "smoke", "--partial"]).code, Some(0));
}

#[test]
fn rerun_takes_the_tests_of_the_tags() {
    let folder = recorded("tags-rerun", &["weather::new", "weather::newer"]);
    for (args, names) in [
        (&["--failed", "--tag", "slow"][..], "weather::oslo weather::rome"),
        (&["--failed", "--tag", "slow", "--skip-tag", "italy"], "weather::oslo"),
        (&["--tag", "italy"], "weather::rome"),
        (&["--skip-tag", "italy"], "weather::oslo"),
    ] {
        let ran = folder.run(&[&["rerun", "--dry-run"], args].concat());
        let expected = format!("cargo test --no-fail-fast -p app -- --include-ignored --exact {names}\n");
        assert_eq!((ran.code, ran.out), (Some(2), expected), "{args:?}: {}", ran.err);
        let says = "2 tests that never began are not run, as their tags are not recorded";
        assert_eq!(ran.err.contains(says), !args.contains(&"--failed"), "{args:?}: {}", ran.err);
    }
    let none = folder.run(&["rerun", "--tag", "smoke"]);
    let says = "nothing to run again: the tags take no test that is to run again\n";
    assert!(none.code == Some(2) && none.out.starts_with(says), "{}", none.shown());
}
