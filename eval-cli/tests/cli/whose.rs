//! Owners of runs: without a name no command takes the run of another project.

use std::path::Path;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::journal::{Journal, passed};

/// A run of one test that passed, of a package in a workspace, in a folder of runs.
fn run_of(folder: &Folder, root: &str, id: &str, (workspace, package): (&str, &str)) {
    let mut journal = Journal::at(folder, &format!("{root}/{id}"), id, "evals");
    let workspace = if workspace.is_empty() { json!(null) } else { json!(folder.path(workspace)) };
    journal.set_head(&json!({ "workspace": workspace, "package": package }));
    let test = journal.started("weather::sunny", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
}

fn began(folder: &Folder, root: &str, id: &str, at: &str) {
    folder.write(&format!("{root}/{id}/run.json"), json!({ "run": id, "started": at }).to_string());
}

fn package(folder: &Folder, at: &str, name: &str) {
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n[lib]\npath = \"Cargo.toml\"\n");
    folder.write(&format!("{at}/Cargo.toml"), manifest);
}

/// The output of a command in a folder, with a target folder if one is named.
fn ran(folder: &Folder, here: &str, target: Option<&Path>, args: &[&str]) -> Ran {
    let mut command = folder.command(args);
    command.current_dir(folder.path(here));
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target);
    }
    command.output().expect("the program runs").into()
}

#[test]
fn the_run_of_a_package_above_or_beside_is_not_shown() {
    let folder = Folder::new("whose-above");
    package(&folder, "shop", "shop");
    package(&folder, "shop/fresh", "fresh");
    run_of(&folder, "shop/target/evalset", "r1", ("shop", "shop"));
    run_of(&folder, "shared/evalset", "r1", ("shop", "shop"));
    folder.write("none/x", "");
    let (shared, none) = (folder.path("shared"), folder.path("none"));
    assert_eq!(ran(&folder, "shop", None, &["report"]).code, Some(0));
    assert_eq!(ran(&folder, "shop", Some(&shared), &["report"]).code, Some(0));
    let (shop, fresh) = (folder.path("shop"), folder.path("shop/fresh"));
    let foreign = format!(
        "holds no run of package `fresh` in `{}`; the newest one is of package `shop` in `{}`",
        fresh.display(),
        shop.display()
    );
    for (target, said) in [
        (None, "holds no recorded run"),
        (Some(&*none), "holds no recorded run"),
        (Some(&*shared), &*foreign),
    ] {
        for command in ["report", "rerun", "rescore"] {
            let Ran { out, err, code } = ran(&folder, "shop/fresh", target, &[command]);
            assert_eq!(code, Some(2), "{command}, {target:?}: {out}");
            assert!(err.contains(said), "{command}, {target:?}: {err}");
        }
    }
    let Ran { err, .. } = ran(&folder, "shop/fresh", Some(&shared), &["report"]);
    assert!(
        err.contains("run its tests: `cargo test -p fresh`; or name the run if it is the one you mean: `r1`"),
        "{err}"
    );
    // A user who names it gets it, with a note.
    let note = "note: the run is of package `shop` in ";
    let Ran { out, code, .. } = ran(&folder, "shop/fresh", Some(&shared), &["report", "r1"]);
    assert!(code == Some(0) && out.contains(note), "{out}");
    let mut command = folder.command(&["report"]);
    command.current_dir(&fresh).env("CARGO_TARGET_DIR", &shared).env("EVALSET_RUN_ID", "r1");
    let Ran { out, code, .. } = command.output().expect("it runs").into();
    assert!(code == Some(0) && out.contains(note), "{out}");
}

#[test]
fn the_newest_run_of_ours_is_taken_though_another_one_is_newer() {
    let folder = Folder::new("whose-shared");
    package(&folder, "shop", "shop");
    package(&folder, "fresh", "fresh");
    let shared = folder.path("shared");
    for (id, at, owner) in [
        ("old", "2026-11-22T01:00:00.000Z", ("fresh", "fresh")),
        ("ours", "2026-11-22T02:00:00.000Z", ("fresh", "fresh")),
        ("theirs", "2026-11-22T03:00:00.000Z", ("shop", "shop")),
    ] {
        run_of(&folder, "shared/evalset", id, owner);
        began(&folder, "shared/evalset", id, at);
    }
    folder.write("shared/evalset/latest", "theirs");
    for (here, id) in [("fresh", "Run ours"), ("shop", "Run theirs")] {
        let Ran { out, code, .. } = ran(&folder, here, Some(&shared), &["report"]);
        assert!(code == Some(0) && out.contains(id), "{here}: {out}");
    }
}

#[test]
fn a_member_takes_runs_that_hold_it_and_the_workspace_takes_all() {
    let folder = Folder::new("whose-member");
    folder.write("w/Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n");
    package(&folder, "w/a", "a");
    package(&folder, "w/b", "b");
    run_of(&folder, "w/target/evalset", "r1", ("w", "a"));
    for (here, code) in [("w", 0), ("w/a", 0), ("w/b", 2)] {
        let ran = ran(&folder, here, None, &["report"]);
        assert_eq!(ran.code, Some(code), "{here}: {}{}", ran.out, ran.err);
    }
    // A run of a machine with other folders is recognized by the names of the packages.
    for (workspace, package, code) in [("gone", "a", 0), ("", "b", 0), ("gone", "c", 2), ("w/a", "a", 0)] {
        run_of(&folder, "w/target/evalset", "r1", (workspace, package));
        let ran = ran(&folder, "w", None, &["report"]);
        assert_eq!(ran.code, Some(code), "{workspace} {package}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_folder_below_a_project_says_whose_run_it_shows() {
    let folder = Folder::new("whose-below");
    package(&folder, "shop", "shop");
    run_of(&folder, "shop/target/evalset", "r1", ("shop", "shop"));
    folder.write("home/.evalset/.gitignore", "*");
    run_of(&folder, "home/.evalset", "r1", ("home", ""));
    folder.write("shop/new/agent.py", "").write("home/new/agent.py", "");
    for (project, name) in [("shop", "package `shop` in"), ("home", "the folder")] {
        let note = format!(
            "note: the run is of {name} `{}`: the current folder has no manifest of its own",
            folder.path(project).display()
        );
        let Ran { out, err, code } = ran(&folder, &format!("{project}/new"), None, &["report"]);
        assert!(code == Some(0) && out.contains(&note), "{out}{err}");
        let Ran { out, code, .. } = ran(&folder, &format!("{project}/new"), None, &["report", "r1"]);
        assert!(code == Some(0) && !out.contains(&note), "it was named: {out}");
        let Ran { out, code, .. } = ran(&folder, project, None, &["report"]);
        assert!(code == Some(0) && !out.contains("note: the run is of"), "{out}");
    }
}

#[test]
fn a_project_without_cargo_has_its_runs_in_a_folder_of_its_own() {
    let folder = crate::run::folder("whose-python");
    package(&folder, "shop", "shop");
    run_of(&folder, "shop/target/evalset", "r1", ("shop", "shop"));
    folder.write("shop/agents/pyproject.toml", "");
    folder.write("shop/agents/evals/fine.evalset.json", folder.read("evals/more/fine.evalset.json"));
    assert_eq!(ran(&folder, "shop", None, &["report"]).code, Some(0));
    let Ran { err, code, .. } = ran(&folder, "shop/agents", None, &["report"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("agents/.evalset` holds no recorded run"), "{err}");

    let agent = format!("python3 '{}'", folder.path("weather.py").display());
    let Ran { out, err, code } = ran(&folder, "shop/agents", None, &["run", "evals", "--agent-cmd", &agent]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("whole record  .evalset/"), "{out}");
    assert_eq!(folder.read("shop/agents/.evalset/.gitignore"), "*\n");
    assert_eq!(ran(&folder, "shop/agents/evals", None, &["report"]).code, Some(0), "a folder of the project");
    let Ran { out, .. } = ran(&folder, "shop", None, &["report"]);
    assert!(out.contains("Run r1"), "the package keeps its own: {out}");
    let runs = std::fs::read_dir(folder.path("shop/target/evalset")).expect("runs").count();
    assert_eq!(runs, 1);
}

#[test]
fn runs_of_projects_that_share_a_folder_are_pruned_by_package() {
    let folder = Folder::new("whose-pruned");
    package(&folder, "shop", "shop");
    package(&folder, "fresh", "fresh");
    run_of(&folder, "shared/evalset", "fresh", ("fresh", "fresh"));
    began(&folder, "shared/evalset", "fresh", "2026-11-20T01:00:00.000Z");
    for day in 1..=3 {
        let id = format!("shop-{day}");
        run_of(&folder, "shared/evalset", &id, ("shop", "shop"));
        began(&folder, "shared/evalset", &id, &format!("2026-11-2{day}T01:00:00.000Z"));
    }
    let mut command = folder.command(&["report"]);
    command
        .current_dir(folder.path("shop"))
        .env("CARGO_TARGET_DIR", folder.path("shared"))
        .env("EVALSET_KEEP", "1");
    let Ran { out, err, code } = command.output().expect("it runs").into();
    assert_eq!(code, Some(0), "{out}{err}");
    let mut left: Vec<_> = std::fs::read_dir(folder.path("shared/evalset"))
        .expect("runs")
        .map(|entry| entry.expect("a run").file_name().into_string().expect("a plain name"))
        .collect();
    left.sort_unstable();
    assert_eq!(left, ["fresh", "shop-3"]);
}

#[test]
fn a_set_that_was_written_again_as_it_was_is_no_doubt() {
    let folder = Folder::new("whose-touched");
    let set = crate::folder::set("");
    let checked = eval_format::reader::check_set("s", set.as_bytes(), None).set.expect("a set");
    let meaning = eval_format::Meaning::from_case(&checked.eval_cases[0]);
    let mut journal = Journal::new(&folder, "r1");
    let started: Value = json!({
        "record": "started", "test": 1, "name": "weather::sunny", "eval_set_id": "weather", "eval_id": "sunny",
        "file": "evals/weather.evalset.json", "set_file": "evals/weather.evalset.json", "asks": meaning.asks, "expects": meaning.expects,
        "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1, "at": "2026-11-22T02:31:08.000Z",
    });
    journal.raw(&started.to_string());
    journal.lists(&["weather::sunny"], false);
    journal.decided(1, &passed(), None, "");
    journal.write();
    folder.write("evals/weather.evalset.json", &set);
    let Ran { out, code, .. } = folder.run(&["report"]);
    assert_eq!(code, Some(0), "the file is younger than the run: {out}");
    folder.write("evals/weather.evalset.json", set.replace("Weather?", "And tomorrow?"));
    let Ran { out, code, .. } = folder.run(&["report"]);
    assert!(code == Some(2) && out.contains("was written after the run"), "{out}");
    let two = set.replace("\n  ]\n}", ",\n{ \"eval_id\": \"more\", \"conversation\": [{ \"user_content\": { \"parts\": [{ \"text\": \"Hi\" }] } }] }\n  ]\n}");
    folder.write("evals/weather.evalset.json", &two);
    assert_eq!(folder.run(&["report"]).code, Some(2), "a case more");
}
