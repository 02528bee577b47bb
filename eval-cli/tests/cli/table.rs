//! Each kind of run with each command and each export: nothing is green where `report` of the whole is not.

mod kinds;
mod mutated;
mod runs;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use kinds::{KINDS, Kind};
use runs::{ALL, CASES, End, PASS, RUN, SET, journal, run_of, set};

/// A project with the set and a cargo. Every test that cargo runs passes, and is recorded as a ninth attempt.
fn project(name: &str) -> Folder {
    let folder = Folder::new(&format!("table-{}", name.replace(' ', "-")));
    folder.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.0.0\"\n");
    let targets = [json!({ "name": "evals", "kind": ["test"] })];
    let package = json!({ "name": "app", "manifest_path": folder.path("Cargo.toml"), "targets": targets });
    let metadata = json!({ "packages": [package], "target_directory": folder.path("target") });
    folder.write("metadata.json", metadata.to_string());
    for test in ALL {
        let mut journal = journal(&folder, &format!("next/{test}"), 9, &[(test, End::Pass)]);
        journal.set_head(&json!({ "env": { "EVALSET_ATTEMPT": "9" } }));
        journal.write();
    }
    folder.write(
        "cargo",
        "#!/bin/sh
        if [ \"$1\" = metadata ]; then cat metadata.json; exit; fi
        case \"$*\" in *--exact*) ;; *) set -- weather::lisbon weather::oslo weather::sunny ;; esac
        for test in \"$@\"; do
            if [ -d \"next/$test\" ]; then
                cp \"next/$test/app-evals-4711-0.jsonl\" \"$EVALSET_DIR/$EVALSET_RUN_ID/app-evals-9-${test#weather::}.jsonl\"
            fi
        done\n",
    );
    fs::set_permissions(folder.path("cargo"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// A command in a project, in the CI job that the run is not of, if there is one.
fn ran(folder: &Folder, args: &[&str]) -> Ran {
    ran_with(folder, args, &[])
}

fn ran_with(folder: &Folder, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = folder.command(args);
    command.env("CARGO", folder.path("cargo")).envs(variables.iter().copied());
    if folder.path("job").exists() {
        command.env("GITHUB_RUN_ID", "2");
    }
    command.output().expect("the program runs").into()
}

/// Writes the run anew.
fn write(kind: &Kind, folder: &Folder) {
    drop(fs::remove_dir_all(folder.path("target")));
    drop(fs::remove_dir_all(folder.path("agents")));
    folder.write(SET, set(&CASES));
    (kind.write)(folder);
}

#[test]
fn no_command_ends_with_0_where_report_does_not() {
    each(|kind| {
        let folder = project(kind.name);
        write(kind, &folder);
        let ends = |args: &[&str], code: i32| {
            let ran = ran(&folder, args);
            assert_eq!(ran.code, Some(code), "{}: {args:?}: {}{}", kind.name, ran.out, ran.err);
            assert!(kind.report.0 == 0 || code != 0 || args.contains(&"r1") || args[0] == "rerun");
            ran
        };
        let (code, words) = kind.report;
        let report = ends(&["report"], code);
        assert!(
            format!("{}{}", report.out, report.err).contains(words),
            "{}: {words}: {report:?}",
            kind.name
        );
        ends(&["report", "--format", "json"], code);
        let github = ends(&["report", "--github"], code);
        assert!(
            code == 0 || !github.err.is_empty() || github.out.contains("::error "),
            "{}: {github:?}",
            kind.name
        );
        ends(&["report", "r1"], kind.named);
        ends(&["rescore"], kind.rescore);
        ends(&["rescore", "--format", "json"], kind.rescore);
        ends(&["rerun", "--dry-run"], code);
        for (flag, code) in ["", "--failed", "--errors", "--unfinished"].into_iter().zip(kind.rerun) {
            write(kind, &folder);
            let args: Vec<&str> = ["rerun", flag].into_iter().filter(|arg| !arg.is_empty()).collect();
            let rerun = ends(&args, code);
            // Its verdict equals `report`'s on the run that it leaves.
            let report = ran(&folder, &["report"]);
            assert_eq!(report.code, Some(code), "{} after {flag:?}: {rerun:?} {report:?}", kind.name);
        }
    });
}

#[test]
fn no_export_is_green_where_report_is_not() {
    const FILES: [&str; 10] =
        ["--junit", "j.xml", "--json", "r.json", "--markdown", "m.md", "--html", "p.html", "--csv", "t.csv"];
    each(|kind| {
        let folder = project(&format!("exports-{}", kind.name));
        write(kind, &folder);
        for (named, code) in [(&[][..], kind.report.0), (&["r1"], kind.named)] {
            for file in FILES {
                drop(fs::remove_file(folder.path(file)));
            }
            drop(fs::remove_dir_all(folder.path("agents")));
            let args = [&["report"], named, &FILES, &["--adk-results", "agents", "--app", "app"]].concat();
            let ran = ran(&folder, &args);
            // ADK's forms need the sets as they were.
            let cannot = ran.err.contains("cannot be written in the format of ADK");
            let is_edited = ["edited case", "removed case", "deleted set"].contains(&kind.name);
            assert_eq!(cannot, is_edited, "{}: {}", kind.name, ran.err);
            assert_eq!(
                ran.code,
                Some(if is_edited { 2 } else { code }),
                "{}: {}{}",
                kind.name,
                ran.out,
                ran.err
            );
            let green = green(&folder);
            for (format, is_green) in &green {
                assert!(code == 0 || !is_green, "{} {named:?}: {format} is green", kind.name);
                assert!(code != 0 || *is_green, "{} {named:?}: {format} is not green", kind.name);
            }
            let expected = if is_edited { 4 } else { 6 };
            assert!(code != 0 || green.len() == expected, "{}: {green:?}", kind.name);
        }
    });
}

/// Whether each export that is there is green to its readers.
fn green(folder: &Folder) -> Vec<(&'static str, bool)> {
    let read = |name: &str| fs::read_to_string(folder.path(name)).ok();
    let results = fs::read_dir(folder.path("agents/app/.adk/eval_history")).into_iter().flatten().flatten();
    let results: Vec<Value> = results
        .map(|entry| fs::read_to_string(entry.path()).expect("a result"))
        .map(|text| serde_json::from_str(&text).expect("JSON"))
        .collect();
    let passed = |result: &Value| {
        let cases = result["eval_case_results"].as_array().cloned().unwrap_or_default();
        cases.iter().all(|case| case["final_eval_status"] == json!(1))
    };
    let outcome = |text: String| serde_json::from_str::<Value>(&text).expect("JSON")["outcome"].clone();
    let green = [
        ("JUnit", read("j.xml").map(|text| text.contains("failures=\"0\" errors=\"0\""))),
        ("JSON", read("r.json").map(|text| outcome(text) == json!("passed"))),
        ("Markdown", read("m.md").map(|text| text.contains("### Evals passed"))),
        ("the page", read("p.html").map(|text| text.contains("<header class=\"passed good\">"))),
        (
            "CSV",
            read("t.csv")
                .map(|text| !["FAILED", "NOT_EVALUATED", "ERROR"].iter().any(|it| text.contains(it))),
        ),
        ("ADK's results", (!results.is_empty()).then(|| results.iter().all(passed))),
    ];
    green.into_iter().filter_map(|(format, is_green)| Some((format, is_green?))).collect()
}

/// Checks all kinds, a few at a time.
fn each(check: impl Fn(&Kind) + Sync) {
    thread::scope(|scope| {
        for some in KINDS.chunks(KINDS.len().div_ceil(4)) {
            let check = &check;
            scope.spawn(move || some.iter().for_each(check));
        }
    });
}

/// A journal that ends after any line, or in any, is no pass for any command.
#[test]
#[ignore = "exhaustive: `.ci/run full` runs it"]
fn a_journal_that_is_cut_anywhere_is_no_pass_for_any_command() {
    let folder = project("cut");
    run_of(&folder, &PASS, &json!({}));
    let path = format!("{RUN}/app-evals-4711-0.jsonl");
    let whole = folder.read(&path);
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    let starts = [0].into_iter().chain(ends.iter().copied());
    let middles = starts.zip(&ends).map(|(start, end)| usize::midpoint(start, *end));
    let last = whole.len();
    for end in ends.iter().copied().chain(middles).chain([0]).filter(|end| *end < last) {
        for args in [
            &["report"][..],
            &["report", "r1"],
            &["report", "--format", "json"],
            &["rescore"],
            &["rescore", "r1"],
            &["rerun", "--failed"],
            &["rerun", "--errors"],
            &["rerun", "--dry-run"],
        ] {
            folder.write(&path, &whole[..end]);
            let ran = ran(&folder, args);
            assert_eq!(ran.code, Some(2), "{end} of {last}: {args:?}: {}{}", ran.out, ran.err);
        }
        let args = [
            "report",
            "r1",
            "--junit",
            "j.xml",
            "--json",
            "r.json",
            "--markdown",
            "m.md",
            "--html",
            "p.html",
        ];
        ran(&folder, &args);
        assert!(
            green(&folder).iter().all(|(_, is_green)| !is_green),
            "{end} of {last}: {:?}",
            green(&folder)
        );
        // A rerun of the missing tests passes only with all three.
        for args in [&["rerun"][..], &["rerun", "--unfinished"]] {
            folder.write(&path, &whole[..end]);
            let rerun = ran(&folder, args);
            let report = ran(&folder, &["report"]);
            let all = ALL.iter().all(|test| report.out.contains(&format!("] {test}")));
            assert!(
                rerun.code != Some(0) || all && report.code == Some(0),
                "{end} of {last}: {args:?}: {rerun:?}"
            );
            drop(fs::remove_file(folder.path(&format!("{RUN}/app-evals-9-oslo.jsonl"))));
            drop(fs::remove_file(folder.path(&format!("{RUN}/app-evals-9-lisbon.jsonl"))));
            drop(fs::remove_file(folder.path(&format!("{RUN}/app-evals-9-sunny.jsonl"))));
        }
    }
}

#[test]
fn cases_that_were_added_or_removed_are_named_and_left_out_on_purpose_alone() {
    for (name, said) in [
        ("added case", "`evals/weather.evalset.json` holds `rome` now, which the run does not know of"),
        ("removed case", "`evals/weather.evalset.json` has no case `lisbon` any more"),
    ] {
        let kind = KINDS.iter().find(|kind| kind.name == name).expect("a kind");
        let folder = project(&format!("partial-{name}"));
        write(kind, &folder);
        for (args, code) in [(&["rescore"][..], 2), (&["rescore", "--partial"], 0)] {
            let ran = ran(&folder, args);
            assert!(ran.code == Some(code) && ran.out.contains(said), "{name}: {args:?}: {}", ran.out);
        }
    }
}

#[cfg(feature = "store")]
#[test]
fn a_stored_run_is_green_only_where_the_run_is() {
    each(|kind| {
        let folder = project(&format!("stored-{}", kind.name));
        write(kind, &folder);
        let url = format!("file://{}", folder.path("bucket").display());
        let push = ran(&folder, &["store", "push", &url, "r1"]);
        let reader = folder.path("reader").display().to_string();
        let stored = |args: &[&str]| {
            let args = [&["report", "--store", &url], args].concat();
            ran_with(&folder, &args, &[("EVALSET_DIR", &reader)])
        };
        let named = stored(&["r1"]);
        let shown = format!("{}: {push:?}: {named:?}", kind.name);
        assert!(named.code == Some(kind.named) || push.code != Some(0) && named.code == Some(2), "{shown}");
        // ADK's results of it, each as `store result` takes it.
        let published = stored(&["r1", "--publish", "--app", "app"]);
        assert_eq!(published.code, named.code, "{}: {published:?}", kind.name);
        let history =
            fs::read_dir(folder.path("bucket/app/evals/eval_history")).into_iter().flatten().flatten();
        let results = history.map(|entry| {
            let name = entry.file_name().into_string().expect("a name");
            let id = name.strip_suffix(".evalset_result.json").expect("a result");
            ran(&folder, &["store", "result", &url, &format!("app/{id}")]).code
        });
        let results: Vec<_> = results.collect();
        let is_green = !results.is_empty() && results.iter().all(|code| *code == Some(0));
        let is_known = !["edited case", "removed case", "deleted set"].contains(&kind.name);
        assert_eq!(is_green, kind.named == 0 && is_known, "{}: {results:?}: {published:?}", kind.name);
        let last = stored(&[]);
        assert!(kind.report.0 == 0 || last.code != Some(0), "{}: {last:?}", kind.name);
    });
}

#[cfg(feature = "serve")]
#[test]
fn a_page_and_the_service_are_green_only_where_the_run_is() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let all = project("served");
    let at = |kind: &Kind| kind.name.replace(' ', "-");
    for kind in &KINDS {
        let folder = project(&format!("served-{}", kind.name));
        write(kind, &folder);
        copy(&folder.path(RUN), &all.path(&format!("target/evalset/{}", at(kind))));
    }
    let mut command = all.command(&["serve", "--port", "0", "--no-otlp"]);
    let mut server = command.env("CARGO", all.path("cargo")).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let (address, token) = line
        .trim()
        .strip_prefix("serving on http://")
        .expect("a URL")
        .split_once("/?token=")
        .expect("a token");
    let first = crate::serve::get(address, &format!("/?token={token}"));
    let (_, cookie) = first.split_once("set-cookie: ").expect("a cookie");
    let cookie = cookie.split(';').next().expect("a cookie");
    let get = |path: &str| crate::serve::get_with(address, path, &format!("cookie: {cookie}\r\n"));
    let list = get("/api/v1/runs");
    for kind in &KINDS {
        let is_ours = kind.name != "another package";
        assert_eq!(list.contains(&format!("\"{}\"", at(kind))), is_ours, "{}: {list}", kind.name);
        let is_green = is_ours && kind.named == 0;
        let document = get(&format!("/api/v1/runs/{}", at(kind)));
        let is_passed = document.contains("\"outcome\":\"passed\"");
        assert_eq!(is_passed, is_green, "{}: {document}", kind.name);
        let page = get(&format!("/runs/{}", at(kind)));
        assert_eq!(page.contains("<header class=\"passed good\">"), is_green, "{}: {page}", kind.name);
    }
    drop(server.kill());
    drop(server.wait());
}

#[cfg(feature = "serve")]
fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a run").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a file");
    }
}
