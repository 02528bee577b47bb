//! Agents whose calls go past the gateway: nothing passes as replayed, and no recording is lost.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use super::*;

/// Runs the set with an agent that changes its address before it asks.
fn run_with(folder: &Folder, address: &str, variables: &[(&str, &str)]) -> Ran {
    folder.write("agent.sh", format!("OPENAI_BASE_URL={address} exec python3 -I -S asks_model.py\n"));
    let mut command = folder.command(&["run", "trip.evalset.json", "--agent-cmd", "sh agent.sh"]);
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command.output().expect("the program runs").into()
}

#[test]
fn a_client_with_an_address_of_its_own_neither_replays_nor_loses_a_recording() {
    let folder = folder("models-past", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let url = provider.url();
    let nothing = "nothing was recorded, since no call of a model came to the gateway";
    let recorded = run_with(&folder, &url, &[("EVALSET_MODELS", "record")]);
    assert_ran(&recorded, 0, &["1 passed", nothing]);
    assert!(!folder.path("trip.evalset.models").exists());

    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["1 passed"]);
    let before = files(&folder);
    let replaced = run_with(&folder, &url, &[("EVALSET_MODELS", "record-all")]);
    let stay = "the recorded answers in `trip.evalset.models/paris.json` stay";
    assert_ran(&replaced, 2, &[nothing, stay, "remove `trip.evalset.models/paris.json`"]);
    assert_eq!(files(&folder), before);

    let asked = provider.requests().len();
    let words = ["none of the recorded answers in `trip.evalset.models/paris.json` was asked for"];
    assert_ran(&run_with(&folder, &url, &[]), 2, &words);
    assert_eq!(provider.requests().len(), asked + 1, "it asked the model");
    assert_ran(&run_with(&folder, &url, &[("EVALSET_MODELS", "live")]), 0, &["1 passed"]);
}

#[test]
fn a_call_without_the_path_of_its_conversation_is_an_error_whatever_the_agent_makes_of_it() {
    let folder = folder("models-rooted", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["1 passed"]);
    let words = "a call of a model (POST /v1/chat/completions) came to the gateway without the address of its conversation";
    let swallows = ("AGENT_SWALLOWS", "1");
    for mode in ["replay", "record", "record-all"] {
        for address in ["${OPENAI_BASE_URL%%/c/*}/v1", "${OPENAI_BASE_URL%%/c/*}/c/wrong/v1"] {
            let ran = run_with(&folder, address, &[swallows, ("EVALSET_MODELS", mode)]);
            assert_ran(&ran, 2, &[words]);
        }
    }
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn an_agent_that_is_offline_reaches_no_host_without_tls_either() {
    let folder = folder("models-plain", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["1 passed"]);
    let swallows = ("AGENT_SWALLOWS", "1");
    let ran = run(&folder, &[], &[("AGENT_CONNECTS", "http://eu.api.openai.com/v1/models"), swallows]);
    assert_ran(&ran, 2, &["recording error in turn 1: a client asked `eu.api.openai.com` itself"]);
    let elsewhere =
        [("AGENT_CONNECTS", "http://example.invalid/"), ("EVALSET_MODELS_OFFLINE", "1"), swallows];
    assert_ran(
        &run(&folder, &[], &elsewhere),
        2,
        &["the agent asked `example.invalid`, and `EVALSET_MODELS_OFFLINE=1`"],
    );
}

#[cfg(unix)]
#[test]
fn what_is_in_the_place_of_a_folder_of_recordings_is_an_error() {
    let folder = folder("models-no-folder", &[case("paris", &["Paris?"])]);
    std::os::unix::fs::symlink("nowhere", folder.path("trip.evalset.models")).unwrap();
    let words = ["`trip.evalset.models` is to be the folder of recorded calls of models"];
    assert_ran(&run(&folder, &[], &[]), 2, &words);
}

#[test]
fn a_server_that_runs_already_gets_no_turn_in_place_of_a_recording() {
    let folder = folder("models-elsewhere", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = String::new();
            let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
            while lines.read_line(&mut head).is_ok_and(|read| read > 2) {}
            assert!(head.starts_with("GET "), "{head}");
            let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n[\"trip\"]";
            stream.write_all(answer.as_bytes()).expect("it is read");
        }
    });
    let ran = folder.run(&["run", "trip.evalset.json", "--agent-url", &url, "--app", "trip"]);
    assert_ran(
        &ran,
        2,
        &["the server runs already, so its calls of models are neither recorded nor replayed"],
    );
}
