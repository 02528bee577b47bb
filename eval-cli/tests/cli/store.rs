//! `--store` and `store` on a folder: what is stored, and what comes back.

use std::fs;
#[cfg(feature = "serve")]
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::folder::{Folder, Ran};
use crate::run::{case, folder, run, set};

/// The URL of the store in a folder.
pub(crate) fn url(folder: &Folder) -> String {
    format!("file://{}", folder.path("bucket").display())
}

/// All files below a folder, by name.
fn names(root: &Path) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(root, &mut found);
    let name = |path: &PathBuf| path.strip_prefix(root).expect("a file below").display().to_string();
    let mut names: Vec<_> = found.iter().map(name).collect();
    names.sort();
    names
}

fn is_a(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|its| its == extension)
}

/// A part of a run on a machine of its own: its sets, with the id of the run that all share.
fn partition(folder: &Folder, machine: &str, set: &str, run_id: &str) -> Ran {
    let mut command = folder.command(&["run", set, "--agent-cmd", "python3 weather.py"]);
    command.env("EVALSET_DIR", folder.path(machine)).env("EVALSET_RUN_ID", run_id);
    command.output().expect("the program runs").into()
}

fn push(folder: &Folder, machine: &str, run_id: &str) -> Ran {
    let mut command = folder.command(&["store", "push", &url(folder), run_id]);
    command.env("EVALSET_DIR", folder.path(machine));
    command.output().expect("the program runs").into()
}

/// The report of one machine's folder and of the store, without the parts that differ between machines.
fn report(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = folder.command(&[&["report", "--store", &url(folder)], args].concat());
    command.env("EVALSET_DIR", folder.path("reader"));
    command.output().expect("the program runs").into()
}

#[test]
fn a_run_is_stored_with_its_reports_and_results_and_comes_back_as_it_was() {
    let folder = folder("store-run");
    let ran = run(&folder, &["evals", "--store", &url(&folder), "--app", "weather", "--json", "local.json"]);
    assert_eq!(ran.code, Some(2), "one case breaks: {}", ran.err);
    let names = names(&folder.path("bucket"));
    let id = names[0].split('/').nth(2).expect("a run").to_owned();
    let ends: Vec<_> =
        names.iter().map(|name| name.rsplit_once('-').map_or(name.as_str(), |(_, end)| &end[8..])).collect();
    assert_eq!(ends[..4], [".html", ".json", ".json", "/00000.jsonl"], "{names:?}");
    for (name, start) in names[4..].iter().zip(["weather_fine_", "weather_mixed_weather_"]) {
        let file = name.strip_prefix("weather/evals/eval_history/").expect("a result");
        assert!(file.starts_with(start) && file.ends_with(".evalset_result.json"), "{names:?}");
    }
    assert_eq!(names.len(), 6, "{names:?}");
    assert_eq!(ran.err.matches("stored  ").count(), 3, "the page and two results: {}", ran.err);

    let back = report(&folder, &["--json", "back.json"]);
    assert_eq!(back.code, Some(2), "{}{}", back.out, back.err);
    let read = |name: &str| serde_json::from_str::<Value>(&folder.read(name)).expect("JSON");
    let (local, back) = (read("local.json"), read("back.json"));
    // A copy has a name of its own.
    let settled = |document: &Value| {
        let mut cases = document["cases"].clone();
        cases.as_array_mut().expect("cases").iter_mut().for_each(|case| case["record"] = Value::Null);
        cases
    };
    assert_eq!(settled(&back), settled(&local));
    assert_eq!(back["cases"].as_array().expect("tests").len(), 4);

    let listed = folder.run(&["store", "list", &url(&folder)]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert!(listed.out.contains(&format!("  {id}  stored 2")), "{}", listed.out);
    assert!(listed.out.contains("app weather\n  result  weather_fine_"), "{}", listed.out);

    let result = listed.out.lines().find_map(|line| {
        line.trim().strip_prefix("result  weather_mixed").map(|rest| format!("weather/weather_mixed{rest}"))
    });
    let shown = folder.run(&["store", "result", &url(&folder), &result.expect("a result")]);
    assert_eq!(shown.code, Some(1), "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("  passed         sunny\n"), "{}", shown.out);
    assert!(shown.out.ends_with("1 of 3 cases passed\n"), "{}", shown.out);
}

/// Two runs are stored on another machine, and compared here.
#[test]
fn stored_runs_are_the_sides_of_a_diff() {
    let folder = folder("store-diff");
    for id in ["ci-1", "ci-2"] {
        assert_eq!(partition(&folder, "there", "fine", id).code, Some(0));
        assert_eq!(push(&folder, "there", id).code, Some(0));
    }
    let url = url(&folder);
    let diff = |before: &str, now: &str| {
        let mut command = folder.command(&["diff", before, now, "--format", "json"]);
        let ran: Ran =
            command.env("EVALSET_DIR", folder.path("here")).output().expect("the program runs").into();
        let document = serde_json::from_str::<Value>(&ran.out)
            .unwrap_or_else(|error| panic!("{error}: {}", ran.shown()));
        (ran.code, document)
    };
    let (code, document) = diff(&format!("{url}#ci-1"), &format!("{url}#ci-2"));
    assert_eq!(code, Some(0), "{document}");
    let [before, now] = ["before", "now"].map(|side| document[side].as_str().expect("a name").to_owned());
    assert_eq!([before, now.clone()], ["ci-1", "ci-2"].map(|id| format!("run {id} of {url}")));
    assert_eq!(document["categories"], serde_json::json!({ "same": 1 }));
    // Without an id it is the one that was stored last.
    let (_, document) = diff(&format!("{url}#ci-1"), &url);
    assert_eq!(document["now"], now.as_str(), "{document}");
    let (code, document) = diff(&format!("{url}#ci-9"), &url);
    let message = document["error"]["message"].as_str().expect("a message");
    assert!(code == Some(2) && message.ends_with("holds no run `ci-9`"), "{document}");
}

#[test]
fn parts_of_different_machines_are_one_run() {
    let folder = folder("store-parts");
    assert_eq!(partition(&folder, "one", "fine", "ci-7").code, Some(0));
    assert_eq!(partition(&folder, "two", "mixed_weather:sunny", "ci-7").code, Some(0));
    assert_eq!(push(&folder, "one", "ci-7").code, Some(0));
    let alone = report(&folder, &["ci-7", "--format", "json"]);
    assert_eq!(alone.code, Some(0), "{}{}", alone.out, alone.err);
    // Only the user who started the others knows of them.
    let of_two = || report(&folder, &["ci-7", "--parts", "2"]);
    let too_few = |ran: &Ran| {
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(
            ran.out.contains("1 part of the run is stored, and `--parts` says 2; where the others ran"),
            "{}",
            ran.out
        );
    };
    too_few(&of_two());
    // Another process in the folder of the same machine makes no other part, and neither does a second upload.
    assert_eq!(partition(&folder, "one", "fine", "ci-7").code, Some(0));
    let more = push(&folder, "one", "ci-7");
    assert!(more.out.starts_with("stored the run ci-7 (1 journal) in file:///"), "{}", more.out);
    too_few(&of_two());
    let second = push(&folder, "two", "ci-7");
    assert!(second.out.starts_with("stored the run ci-7 (1 journal) in file:///"), "{}", second.out);
    let again = push(&folder, "two", "ci-7");
    assert!(
        again.code == Some(0) && again.out.contains("is in file:///") && again.out.contains(" already"),
        "{}",
        again.out
    );
    let both = report(&folder, &["ci-7", "--format", "json"]);
    assert_eq!(both.code, Some(0), "{}{}", both.out, both.err);
    let both: Value = serde_json::from_str(&both.out).expect("JSON");
    assert_eq!(both["cases"].as_array().expect("tests").len(), 3, "one ran twice");
    assert_eq!(of_two().code, Some(0), "{}", of_two().out);

    // A failed case of one machine is a failed case of the run.
    assert_eq!(partition(&folder, "three", "mixed_weather:rain, again", "ci-7").code, Some(1));
    assert_eq!(push(&folder, "three", "ci-7").code, Some(0));
    assert_eq!(report(&folder, &["ci-7"]).code, Some(1));
    // The variable names the run too, and a run that is not there is not replaced by another.
    let mut command = folder.command(&["report", "--store", &url(&folder)]);
    command.env("EVALSET_DIR", folder.path("reader")).env("EVALSET_RUN_ID", "ci-8");
    let missing: Ran = command.output().expect("the program runs").into();
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.err.contains("holds no run `ci-8`") && missing.err.contains("did you mean `ci-7`?"),
        "{}",
        missing.err
    );
}

#[test]
fn the_report_of_all_parts_is_stored_where_it_is_made() {
    let folder = folder("store-publish");
    for (machine, set) in [("one", "fine"), ("two", "mixed_weather:sunny")] {
        assert_eq!(partition(&folder, machine, set, "ci-7").code, Some(0));
        assert_eq!(push(&folder, machine, "ci-7").code, Some(0));
    }
    let nameless = report(&folder, &["ci-7", "--publish"]);
    assert_eq!(nameless.code, Some(0), "{}", nameless.err);
    assert!(
        nameless.err.contains("note          2 cases without an app") && nameless.err.contains("--app NAME"),
        "{}",
        nameless.err
    );
    let named = report(&folder, &["ci-7", "--publish", "--app", "weather"]);
    assert_eq!(named.code, Some(0), "{}", named.err);
    let names = names(&folder.path("bucket"));
    let count = |start: &str, end: &str| {
        names.iter().filter(|name| name.starts_with(start) && name.ends_with(end)).count()
    };
    assert_eq!(count("evalset/reports/ci-7/", ".html"), 2, "each report has a name of its own: {names:?}");
    assert_eq!(count("weather/evals/eval_history/weather_", ".evalset_result.json"), 2, "{names:?}");
    // Where the sets are not, no result of ADK can be made: a journal does not tell what a case expects.
    fs::remove_dir_all(folder.path("evals")).expect("sets");
    let bare = report(&folder, &["ci-7", "--publish", "--app", "weather"]);
    assert_eq!(bare.code, Some(0), "{}", bare.err);
    assert!(
        bare.err.contains("note          no result for ADK is stored: ")
            && bare.err.contains("run this where the sets are"),
        "{}",
        bare.err
    );
    let odd = report(&folder, &["ci-7", "--app", "weather"]);
    assert!(odd.code == Some(2) && odd.err.contains("--publish"), "{}", odd.err);
}

#[test]
fn a_run_that_ctrl_c_ends_is_stored_too() {
    let folder = folder("store-interrupted");
    let cases = [
        case("sunny", "Paris", "It is sunny in Paris."),
        case("slow", "Timbuktu", "It is sunny in Timbuktu."),
    ];
    folder.write("slow.evalset.json", set("slow", &cases));
    let mut command =
        folder.command(&["run", "slow.evalset.json", "--concurrency", "1", "--store", &url(&folder)]);
    command.args(["--agent-cmd", "sh -c 'echo $$ >> pids; exec python3 weather.py'"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    while fs::read_to_string(folder.path("pids")).unwrap_or_default().lines().count() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("stored  "), "{}", ran.err);
    let back = report(&folder, &[]);
    assert_eq!(back.code, Some(2));
    assert!(back.out.contains("1 passed") && back.out.contains("unfinished"), "{}", back.out);
}

#[cfg(feature = "serve")]
#[test]
fn serve_shows_the_runs_of_a_store() {
    let folder = folder("store-serve");
    for id in ["ci-7", "ci-8"] {
        assert_eq!(partition(&folder, "one", "fine", id).code, Some(0));
        assert_eq!(push(&folder, "one", id).code, Some(0));
    }
    // A run that cannot be read does not hide the others.
    let part = names(&folder.path("bucket"))
        .into_iter()
        .find(|name| name.starts_with("evalset/runs/ci-8/") && is_a(name, "jsonl"));
    folder.write(&format!("bucket/{}", part.expect("a part")), "changed");
    let (mut child, address, token) = serve(&folder);
    let address = &address;
    let runs = crate::serve::get(address, &format!("/api/v1/runs?token={token}"));
    let run = crate::serve::get(address, &format!("/api/v1/runs/ci-7?token={token}"));
    child.kill().expect("it runs");
    let ended: Ran = child.wait_with_output().expect("it ends").into();
    assert!(runs.contains("\"id\":\"ci-7\"") && !runs.contains("ci-8"), "{runs}");
    assert!(run.contains("\"state\":\"passed\"") && run.contains("\"outcome\":\"passed\""), "{run}");
    assert!(ended.err.contains("its checksum differs"), "{}", ended.err);
}

/// The copies of the runs that a reader has.
fn copies(folder: &Folder) -> PathBuf {
    let mut stores = fs::read_dir(folder.path("reader/.store")).expect("copies");
    stores.next().expect("a store").expect("an entry").path().join("runs")
}

#[test]
fn a_part_that_cannot_be_fetched_is_missing_in_the_copy_too() {
    let folder = folder("store-unfetched");
    assert_eq!(partition(&folder, "one", "fine", "r").code, Some(0));
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let report_of_copy =
        |folder: &Folder| folder.run(&["report", &copies(folder).join("r").display().to_string()]);
    assert_eq!(report(&folder, &["r"]).code, Some(0));
    assert_eq!(report_of_copy(&folder).code, Some(0));
    let before = names(&folder.path("bucket"));

    assert_eq!(partition(&folder, "two", "mixed_weather:sunny", "r").code, Some(0));
    assert_eq!(push(&folder, "two", "r").code, Some(0));
    let second: Vec<_> =
        names(&folder.path("bucket")).into_iter().filter(|it| !before.contains(it)).collect();
    // A part that is broken, and a manifest that is.
    for (extension, said) in [("jsonl", "its checksum differs"), ("json", "is not a manifest of a run")] {
        let broken = second.iter().find(|name| is_a(name, extension)).expect("a name");
        let broken = format!("bucket/{broken}");
        let whole = folder.read(&broken);
        folder.write(&broken, "changed");
        let read = report(&folder, &["r"]);
        assert!(read.code == Some(2) && read.err.contains(said), "{}", read.err);
        let copy = report_of_copy(&folder);
        assert_eq!(copy.code, Some(2), "{}", copy.out);
        assert!(copy.out.contains("a part of the run is missing") && copy.out.contains(said), "{}", copy.out);
        #[cfg(feature = "serve")]
        serve_shows_that_a_part_is_missing(&folder);
        // A run that can be read again is read.
        folder.write(&broken, whole);
        assert_eq!(report(&folder, &["r"]).code, Some(0));
        assert_eq!(report_of_copy(&folder).code, Some(0));
        fs::remove_dir_all(folder.path("reader")).expect("copies");
        let second =
            folder.path("bucket").join(second.iter().find(|name| is_a(name, "json")).expect("a name"));
        let aside = folder.path("aside");
        fs::rename(&second, &aside).expect("a manifest");
        assert_eq!(report(&folder, &["r"]).code, Some(0), "the first part alone is copied");
        fs::rename(&aside, &second).expect("a manifest");
    }
}

/// `serve --store`, its address and its token.
#[cfg(feature = "serve")]
fn serve(folder: &Folder) -> (std::process::Child, String, String) {
    let mut command = folder.command(&["serve", "--port", "0", "--no-otlp", "--store", &url(folder)]);
    command.env("EVALSET_DIR", folder.path("reader")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let served = line.trim().strip_prefix("serving on http://").expect("a URL");
    let (address, token) = served.split_once("/?token=").expect("a token");
    (child, address.to_owned(), token.to_owned())
}

#[cfg(feature = "serve")]
fn serve_shows_that_a_part_is_missing(folder: &Folder) {
    let (mut child, address, token) = serve(folder);
    let get = |path: &str| crate::serve::get(&address, &format!("{path}?token={token}"));
    let run = get("/api/v1/runs/r");
    let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
    let mut runs = String::new();
    std::io::Write::write_all(
        &mut stream,
        format!("GET /runs HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n")
            .as_bytes(),
    )
    .expect("a request");
    std::io::Read::read_to_string(&mut stream, &mut runs).expect("an answer");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(run.contains("\"state\":\"passed\"") && run.contains("\"outcome\":\"unmeasurable\""), "{run}");
    assert!(
        runs.contains("\"outcome\":\"unmeasurable\"") && runs.contains("a part of the run is missing"),
        "{runs}"
    );
}

#[test]
fn journals_that_grew_are_stored_again_and_the_longest_copy_counts() {
    let folder = folder("store-grown");
    assert_eq!(partition(&folder, "one", "fine", "r").code, Some(0));
    let journal =
        fs::read_dir(folder.path("one/r")).expect("a run").map(|entry| entry.expect("an entry").path());
    let journal = journal
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .expect("a journal");
    let whole = fs::read(&journal).expect("a journal");
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    // As it was when its case had begun.
    fs::write(&journal, lines[..lines.len() - 1].concat()).expect("a shorter journal");
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    assert_eq!(report(&folder, &["r"]).code, Some(2), "it has no verdict yet");
    fs::write(&journal, &whole).expect("the journal");
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let ended = report(&folder, &["r"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let copies = fs::read_dir(folder.path("reader/.store"))
        .expect("copies")
        .next()
        .expect("a store")
        .expect("an entry");
    assert_eq!(names(&copies.path().join("runs/r")).len(), 2, "the mark and one journal");
}

#[test]
fn an_upload_that_has_not_ended_is_no_part_of_a_run_and_is_told() {
    let folder = folder("store-half");
    assert_eq!(partition(&folder, "one", "fine", "r").code, Some(0));
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let manifest =
        names(&folder.path("bucket")).into_iter().find(|name| is_a(name, "json")).expect("a manifest");
    // The objects that a killed upload leaves.
    let (manifest, began) = (folder.path("bucket").join(&manifest), manifest.replace(".json", ".began.json"));
    fs::rename(&manifest, folder.path("bucket").join(began)).expect("a mark");
    let alone = report(&folder, &["r"]);
    assert_eq!(alone.code, Some(2));
    assert!(
        alone.err.contains("the run `r` is not complete: an upload of 1 journal that began at 2"),
        "{}",
        alone.err
    );
    assert!(alone.err.contains("store push"), "{}", alone.err);
    let listed = folder.run(&["store", "list", &url(&folder)]);
    assert!(
        listed.out.contains("(0 uploads, 1 upload that have not ended)") || listed.out.contains("1 upload"),
        "{}",
        listed.out
    );

    // Another machine's part makes no complete run of it.
    assert_eq!(partition(&folder, "two", "mixed_weather:sunny", "r").code, Some(0));
    assert_eq!(push(&folder, "two", "r").code, Some(0));
    let other = report(&folder, &["r", "--partial"]);
    assert_eq!(other.code, Some(2), "{}", other.out);
    assert!(
        other.out.contains("a part of the run is missing")
            && other.out.contains("an upload of 1 journal that began at 2"),
        "{}",
        other.err
    );
    // Stored again, the first part is there, and what was left does not count.
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let whole = report(&folder, &["r"]);
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), ""), "{}", whole.out);
}

#[test]
fn what_was_changed_in_the_store_is_found() {
    let folder = folder("store-changed");
    assert_eq!(partition(&folder, "one", "fine", "r").code, Some(0));
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let part = names(&folder.path("bucket")).into_iter().find(|name| is_a(name, "jsonl")).expect("a part");
    let text = folder.read(&format!("bucket/{part}")).replace("sunny", "rainy");
    folder.write(&format!("bucket/{part}"), text);
    let changed = report(&folder, &["r"]);
    assert_eq!(changed.code, Some(2));
    assert!(changed.err.contains("is not what was stored: its checksum differs"), "{}", changed.err);
}

#[test]
fn an_upload_that_ended_without_its_chunks_is_refused() {
    let folder = folder("store-no-chunks");
    assert_eq!(partition(&folder, "one", "fine", "r").code, Some(0));
    assert_eq!(push(&folder, "one", "r").code, Some(0));
    let manifest =
        names(&folder.path("bucket")).into_iter().find(|name| is_a(name, "json")).expect("a manifest");
    let manifest = format!("bucket/{manifest}");
    let mut changed: Value = serde_json::from_str(&folder.read(&manifest)).expect("JSON");
    changed["chunks"] = Value::Array(Vec::new());
    folder.write(&manifest, changed.to_string());
    let read = report(&folder, &["r"]);
    assert_eq!(read.code, Some(2), "{}", read.out);
    assert!(read.err.contains(" bytes, and its chunks 0"), "{}", read.err);
    assert!(!folder.path("reader/.store").exists(), "no journal that is cut short is left");
}

#[test]
fn sets_are_stored_as_adk_lays_them_out_and_run_from_there() {
    let folder = folder("store-sets");
    let bucket = url(&folder);
    let nameless = folder.run(&["store", "push-sets", &bucket, "evals"]);
    assert!(nameless.code == Some(2) && nameless.err.contains("--app NAME"), "{}", nameless.err);
    let pushed = folder.run(&["store", "push-sets", &bucket, "evals", "--app", "weather"]);
    assert_eq!(
        (pushed.code, pushed.out.contains("stored 2 sets in file:///")),
        (Some(0), true),
        "{}",
        pushed.err
    );
    let sets =
        ["weather/evals/eval_sets/fine.evalset.json", "weather/evals/eval_sets/mixed_weather.evalset.json"];
    assert_eq!(names(&folder.path("bucket")), sets);
    let again = folder.run(&["store", "push-sets", &bucket, "evals", "--app", "weather"]);
    assert!(
        again.out.contains("stored 0 sets") && again.out.contains("2 were there already"),
        "{}",
        again.out
    );
    folder
        .write("evals/more/fine.evalset.json", set("fine", &[case("sunny", "Rome", "It is sunny in Rome.")]));
    let differs = folder.run(&["store", "push-sets", &bucket, "evals/more", "--app", "weather"]);
    assert!(
        differs.code == Some(2)
            && differs.err.contains("is there and differs")
            && differs.err.contains("--replace"),
        "{}",
        differs.err
    );
    let replaced =
        folder.run(&["store", "push-sets", &bucket, "evals/more", "--app", "weather", "--replace"]);
    assert_eq!(replaced.code, Some(0), "{}", replaced.err);
    assert!(folder.read(&format!("bucket/{}", sets[0])).contains("Rome"));

    let one = run(&folder, &[&format!("{bucket}/{}:sunny", sets[0])]);
    assert_eq!(one.code, Some(0), "{}{}", one.out, one.err);
    assert!(one.out.contains("1 passed") || one.out.contains("1 of 1"), "{}", one.out);
    let all = run(&folder, &[&format!("{bucket}/weather/evals/eval_sets")]);
    assert_eq!(all.code, Some(2), "{}{}", all.out, all.err);
    let missing = run(&folder, &[&format!("{bucket}/weather/evals/eval_sets/fin.evalset.json")]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.err.contains("holds no set `fin.evalset.json`")
            && missing.err.contains("did you mean `fine.evalset.json`?"),
        "{}",
        missing.err
    );
}

#[test]
fn a_store_that_cannot_be_used_is_named_before_anything_runs() {
    let folder = folder("store-wrong");
    folder.write("file", "x");
    for (url, said) in [
        ("gcs://b", "there are no stores with `gcs://`"),
        ("bucket", "`bucket` is not the URL of a store"),
        ("s3://key:secret@b/x", "`s3://..` has more than the name of a bucket"),
        (&*format!("file://{}", folder.path("file").display()), "cannot open the store"),
    ] {
        let ran = run(&folder, &["evals", "--store", url]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
        assert!(!ran.err.contains("secret") && ran.out.is_empty(), "{}", ran.err);
        assert!(!folder.path("target").exists(), "nothing was run");
    }
    let mut command =
        folder.command(&["run", "evals", "--agent-cmd", "python3 weather.py", "--store", &url(&folder)]);
    let off: Ran = command.env("EVALSET_JOURNAL", "off").output().expect("the program runs").into();
    assert!(off.code == Some(2) && off.err.contains("`EVALSET_JOURNAL` is `off`"), "{}", off.err);
    let missing = report(&folder, &[]);
    assert!(missing.code == Some(2) && missing.err.contains("there is no such folder"), "{}", missing.err);
    assert!(!folder.path("bucket").exists(), "reading makes nothing");
    fs::create_dir(folder.path("bucket")).expect("a folder");
    let empty = report(&folder, &[]);
    assert!(empty.code == Some(2) && empty.err.contains("holds no run"), "{}", empty.err);
}

/// Memory does not grow with what is stored: chunks are read and sent a few at a time.
#[cfg(target_os = "linux")]
#[test]
fn journals_of_any_size_are_stored_and_fetched_in_chunks() {
    let folder = Folder::new("store-large");
    folder.write("one/r/run.json", r#"{"run": "r", "started": "2026-11-22T00:00:00Z"}"#);
    let line = format!("{{\"record\": \"none\", \"text\": \"{}\"}}\n", "x".repeat(1 << 20));
    folder.write("one/r/a.jsonl", "{\"a\": 1}\n".to_owned() + &line.repeat(192));
    folder.write("one/r/b.jsonl", "{\"b\": 1}\n");
    let limited = |args: &[&str], machine: &str| -> Ran {
        // Addresses, not what is resident: the program itself takes a part of it.
        let program = folder.command(args);
        let words = args.iter().map(|arg| format!("'{arg}'")).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -d 140000; exec {} {words}", program.get_program().display())]);
        command
            .env("EVALSET_DIR", folder.path(machine))
            .env_remove("EVALSET_RUN_ID")
            .current_dir(folder.path(""));
        command.output().expect("the program runs").into()
    };
    let pushed = limited(&["store", "push", &url(&folder), "r"], "one");
    assert_eq!(pushed.code, Some(0), "{}", pushed.err);
    let chunks = names(&folder.path("bucket")).iter().filter(|name| is_a(name, "jsonl")).count();
    assert_eq!(chunks, 25);
    // The lines are not ours. The copies must equal the originals.
    limited(&["report", "--store", &url(&folder), "r"], "reader");
    let copies = fs::read_dir(folder.path("reader/.store"))
        .expect("copies")
        .next()
        .expect("a store")
        .expect("an entry");
    let copies = copies.path().join("runs/r");
    for original in ["a", "b"] {
        let copy = names(&copies)
            .into_iter()
            .find(|name| name.starts_with(&format!("{original}-")))
            .expect("a copy");
        let same = fs::read(copies.join(copy)).expect("a copy")
            == fs::read(folder.path(&format!("one/r/{original}.jsonl"))).expect("an original");
        assert!(same, "{original}");
    }
}

#[test]
fn a_folder_that_is_linked_into_a_store_is_no_part_of_it() {
    let folder = folder("store-foreign");
    assert_eq!(partition(&folder, "one", "fine", "r1").code, Some(0));
    assert_eq!(push(&folder, "one", "r1").code, Some(0));
    folder.write("elsewhere/evals/eval_sets/x.evalset.json", "{}");
    for link in ["linked", "evalset/runs/linked", "evalset/runs/r1/linked"] {
        std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("bucket").join(link))
            .expect("a link");
    }
    let listed = folder.run(&["store", "list", &url(&folder)]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert!(
        listed.out.contains(": 1 run\n  r1  stored ") && !listed.out.contains("linked"),
        "{}",
        listed.out
    );
    let reported = report(&folder, &["r1"]);
    assert_eq!(reported.code, Some(0), "{}{}", reported.out, reported.err);
}
