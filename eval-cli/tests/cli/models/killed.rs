//! Runs that are killed while they record: files are whole, or not there.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::provider::Provider;
use super::{AGENT, assert_ran, case, files, folder, record};
use crate::folder::Folder;

/// Kills a run after a time. Returns whether it had not ended.
fn killed(folder: &Folder, provider: &Provider, mode: &str, wait: u64) -> bool {
    let args = [&["run", "trip.evalset.json"], &AGENT[..]].concat();
    let mut command = folder.command(&args);
    command.env("EVALSET_MODELS", mode).env("OPENAI_BASE_URL", provider.url()).env("AGENT_SLOW", "0.2");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(wait));
    let ended = child.try_wait().expect("it is a child").is_some();
    child.kill().expect("it is a child");
    child.wait().expect("it is a child");
    !ended
}

#[test]
fn a_run_that_is_killed_while_it_records_leaves_the_old_file_whole() {
    let folder = folder("models-killed", &[case("paris", &["Paris?", "And again?"])]);
    let provider = Provider::start().steady();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    let before = files(&folder);
    for wait in [200, 400, 600, 800] {
        killed(&folder, &provider, "record-all", wait);
        assert_eq!(files(&folder), before, "after {wait} ms");
    }
}

#[test]
fn a_first_recording_that_is_killed_leaves_no_half_case() {
    let cases = ["a", "b", "c", "d"].map(|name| case(name, &[name, "And again?"]));
    let folder = folder("models-killed-first", &cases);
    let provider = Provider::start();
    let mut stopped = 0;
    for wait in [300, 500, 700, 900, 1_100, 1_300] {
        drop(fs::remove_dir_all(folder.path("trip.evalset.models")));
        stopped += usize::from(killed(&folder, &provider, "record", wait));
        let listed = folder.run(&["models", "list", "trip.evalset.json", "--format", "json"]).out;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        for case in listed["sets"][0]["cases"].as_array().expect("cases") {
            assert!(
                case["error"].is_null() && (case["calls"] == 0 || case["calls"] == 2),
                "{wait} ms: {case}"
            );
        }
    }
    assert!(stopped > 0, "no run was killed");
    // The rest is recorded, and what is whole is not asked again.
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["4 passed"]);
}
