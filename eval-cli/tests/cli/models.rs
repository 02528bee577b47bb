//! Recorded calls of models: recorded once, replayed without the provider, strictly.

mod cost;
#[cfg(unix)]
mod killed;
mod past;
mod provider;
mod shared;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use eval_format::recording::{RecordedQuestion, Recording};
use serde_json::{Value, json};

use self::provider::Provider;
use crate::folder::{Folder, Ran};
use crate::run::{agents, set};

const AGENT: [&str; 2] = ["--agent-cmd", "python3 -I -S asks_model.py"];
const SECRET: &str = "purple-elephant-77";

/// A case of these messages, each answered with a sunny sky.
fn case(id: &str, messages: &[&str]) -> Value {
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    let turns: Vec<Value> = messages
        .iter()
        .map(|text| json!({ "user_content": content("user", text), "final_response": content("model", "It is sunny.") }))
        .collect();
    json!({ "eval_id": id, "conversation": turns })
}

fn folder(test: &str, cases: &[Value]) -> Folder {
    let folder = Folder::new(test);
    folder.write("asks_model.py", fs::read(agents().join("asks_model.py")).expect("the agent"));
    folder.write("trip.evalset.json", set("trip", cases));
    folder.write("test_config.json", r#"{"criteria": {"response_match_score": 0.8}}"#);
    folder
}

fn run(folder: &Folder, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let args = [&["run", "trip.evalset.json"], args, &AGENT[..]].concat();
    let mut command = folder.command(&args);
    for name in
        ["OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]
    {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command.output().expect("the program runs").into()
}

fn record(folder: &Folder, provider: &Provider, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let url = provider.url();
    let own =
        [("EVALSET_MODELS", "record"), ("OPENAI_BASE_URL", &*url), ("OPENAI_API_KEY", "sk-test-key-of-mine")];
    run(folder, args, &[&own, variables].concat())
}

/// The files of the recording.
fn files(folder: &Folder) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.path("trip.evalset.models")).expect("it is recorded");
    let files = entries.map(|entry| entry.expect("an entry").path());
    files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The texts of the agent in each run of the last journal, by case and run.
fn said(folder: &Folder) -> Vec<(String, usize, Vec<String>)> {
    let run = folder.read(".evalset/latest");
    let journals = fs::read_dir(folder.path(".evalset").join(run.trim())).expect("the run has a folder");
    let journals = journals.map(|entry| entry.expect("an entry").path());
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let (mut names, mut said) = (BTreeMap::new(), Vec::new());
    for journal in journals.filter(is_journal) {
        for line in fs::read_to_string(journal).expect("a journal is text").lines() {
            let record: Value = serde_json::from_str(line).expect("a journal is JSON");
            let test = record["test"].as_u64().unwrap_or_default();
            if record["record"] == "started" {
                names.insert(test, record["eval_id"].as_str().expect("an id").to_owned());
            } else if record["record"] == "ran" {
                let turns = record["transcript"]["turns"].as_array().cloned().unwrap_or_default();
                let events =
                    turns.iter().flat_map(|turn| turn["events"].as_array().cloned().unwrap_or_default());
                let texts = events
                    .filter_map(|event| event["content"]["parts"][0]["text"].as_str().map(str::to_owned));
                let run = record["run"].as_u64().expect("a number").try_into().expect("a small one");
                said.push((names[&test].clone(), run, texts.collect()));
            }
        }
    }
    said.sort();
    said
}

#[track_caller]
fn assert_ran(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.out.contains(word) || ran.err.contains(word), "{word}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_case_is_recorded_once_and_replayed_without_the_provider_and_without_a_key() {
    let folder = folder("models-replay", &[case("paris", &["Paris?", "And again?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["1 passed"]);
    assert_eq!(provider.requests().len(), 2);
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    assert_eq!(provider.requests().len(), 2, "what is recorded is not asked again");
    drop(provider);
    assert_ran(&run(&folder, &[], &[]), 0, &["1 passed"]);

    // No header, address or cookie is in the files.
    let all: String = files(&folder).into_values().collect();
    for word in ["sk-test", "127.0.0.1", "cookie", "org-of-mine", "Bearer"] {
        assert!(!all.contains(word), "{word} in {all}");
    }
}

#[test]
fn nothing_changes_without_a_recording_and_without_the_variable() {
    let folder = folder("models-none", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let url = provider.url();
    assert_ran(&run(&folder, &[], &[("OPENAI_BASE_URL", &*url)]), 0, &["1 passed"]);
    assert_eq!(provider.requests().len(), 1);
    assert!(!folder.path("trip.evalset.models").exists());
    assert_ran(&run(&folder, &[], &[("OPENAI_BASE_URL", &*url), ("EVALSET_MODELS", "live")]), 0, &[]);
    assert!(!folder.path("trip.evalset.models").exists());
    let ran = run(&folder, &[], &[("EVALSET_MODELS", "rec")]);
    assert_ran(
        &ran,
        2,
        &["`EVALSET_MODELS` is `rec`; it can be `replay`, `record`, `record-all`, `live` or `rebind`"],
    );
}

#[test]
fn a_changed_prompt_is_an_error_with_the_line_also_if_the_agent_hides_it() {
    let folder = folder("models-miss", &[case("paris", &["Paris?"]), case("rome", &["Rome?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    for swallows in [&[][..], &[("AGENT_SWALLOWS", "1")]] {
        let begun = Instant::now();
        let ran = run(&folder, &[], &[&[("AGENT_SYSTEM", "Be very brief.")], swallows].concat());
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_ran(
            &ran,
            2,
            &[
                "0 passed, 2 errors",
                "recording error in turn 1: call 1 of a model (openai chat, gpt-5-mini) is not recorded: the system prompt changed",
                "system prompt:",
                "- Be brief.",
                "+ Be very brief.",
                "EVALSET_MODELS=record-all cargo evalset run trip.evalset.json:paris --agent-cmd 'python3 -I -S asks_model.py'",
            ],
        );
        assert!(!ran.out.contains("messages:"), "{}", ran.out);
    }
}

#[test]
fn a_call_while_the_agent_ends_that_was_not_recorded_is_an_error() {
    let folder = folder("models-end", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &["1 passed"]);
    drop(provider);
    let ran = run(&folder, &[], &[("AGENT_ASKS_AT_END", "1")]);
    assert_ran(&ran, 2, &["call 2 of a model (openai chat, gpt-5-mini) is not recorded"]);
}

#[test]
fn a_case_without_a_recording_is_an_error_once_a_set_has_one() {
    let folder = folder("models-new-case", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    folder.write("trip.evalset.json", set("trip", &[case("paris", &["Paris?"]), case("oslo", &["Oslo?"])]));
    assert_ran(
        &run(&folder, &[], &[]),
        2,
        &["there is no recording `trip.evalset.models/oslo.json`", "1 passed, 1 error"],
    );
}

#[test]
fn a_key_in_the_environment_is_no_permission_to_ask() {
    let folder = folder("models-key", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    folder.write("trip.evalset.json", set("trip", &[case("paris", &["Paris?"]), case("oslo", &["Oslo?"])]));
    let url = provider.url();
    let own = [
        ("OPENAI_API_KEY", "sk-test-key-of-mine"),
        ("OPENAI_BASE_URL", &*url),
        ("EVALSET_MODELS_UPSTREAM_OPENAI", &url),
        ("AGENT_SYSTEM", "Be very brief."),
    ];
    let words = ["the system prompt changed", "no recording `trip.evalset.models/oslo.json`", "2 errors"];
    for mode in [&[][..], &[("EVALSET_MODELS", "replay")]] {
        assert_ran(&run(&folder, &[], &[&own, mode].concat()), 2, &words);
    }
    assert_eq!(provider.requests().len(), 1, "nobody was asked");
}

#[test]
fn answers_that_were_not_asked_for_are_named() {
    let folder = folder("models-unused", &[case("paris", &["Paris?", "And again?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    folder.write("trip.evalset.json", set("trip", &[case("paris", &["Paris?"])]));
    let note =
        "recorded answers of models were not asked for in `trip/paris`; `EVALSET_MODELS=record-all` records";
    assert_ran(&run(&folder, &[], &[]), 0, &[note]);
    let words =
        ["1 recorded answer was in `trip.evalset.models/paris.json` never asked for: turn 2, openai chat"];
    assert_ran(&run(&folder, &[], &[("EVALSET_MODELS_UNUSED", "error")]), 2, &words);
}

#[test]
fn files_do_not_depend_on_the_order_in_which_cases_ended() {
    let names: Vec<String> = (0..8).map(|n| format!("case{n}")).collect();
    let cases: Vec<Value> = names.iter().map(|name| case(name, &[name, "And again?"])).collect();
    let recorded = |test: &str, concurrency: &str| {
        let folder = folder(test, &cases);
        let provider = Provider::start().steady();
        assert_ran(&record(&folder, &provider, &["--concurrency", concurrency], &[]), 0, &["8 passed"]);
        folder
    };
    let one = recorded("models-one", "1");
    let expected = files(&one);
    assert_eq!(expected.len(), 9);
    assert_eq!(files(&recorded("models-eight", "8")), expected);

    let provider = Provider::start().steady();
    assert_ran(&record(&one, &provider, &[], &[("EVALSET_MODELS", "record-all")]), 0, &[]);
    assert_eq!(files(&one), expected, "recorded anew, the same answers change no byte");
    assert_eq!(provider.requests().len(), 16);
    let random = Provider::start();
    let url = random.url();
    let mut command = one.command(&[&["run", "trip.evalset.json:case3"], &AGENT[..]].concat());
    command.env("EVALSET_MODELS", "record-all").env("OPENAI_BASE_URL", url);
    assert!(command.output().expect("it runs").status.success());
    let changed: Vec<String> = files(&one)
        .into_iter()
        .filter(|(name, text)| expected[name] != *text)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["case3.json"]);
}

#[test]
fn equal_and_different_questions_at_once_get_their_own_answers() {
    // Each turn asks all of them at once, in an order of its own.
    let turns: Vec<String> = (1..=100).map(|number| format!("turn {number}")).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let folder = folder("models-gather", &[case("paris", &turns)]);
    let words =
        ["same", "same", "same", "same", "same", "a", "b", "c", "d", "e"].map(|word| format!("count {word}"));
    let gather = [("AGENT_GATHER", &*words.join(","))];
    let provider = Provider::start();
    record(&folder, &provider, &[], &gather);
    let recorded = said(&folder);
    assert_eq!(provider.requests().len(), 1_000);
    drop(provider);
    // The sorted answers to all questions of a turn.
    let texts = &recorded[0].2;
    assert_eq!(texts.len(), 100);
    for text in texts {
        let counts =
            ["same-", "a-", "b-", "c-", "d-", "e-"].map(|word| text.matches(&format!(" {word}")).count());
        assert_eq!(counts.iter().sum::<usize>() + 1, 10, "{text}");
    }
    run(&folder, &[], &gather);
    assert_eq!(said(&folder), recorded);
}

#[test]
fn each_run_replays_its_own_answers_and_one_more_run_is_named() {
    let folder = folder("models-runs", &[case("paris", &["count Paris"])]);
    let provider = Provider::start();
    record(&folder, &provider, &["--runs", "3"], &[]);
    assert_eq!(provider.requests().len(), 3);
    drop(provider);
    let recorded = said(&folder);
    let mut texts: Vec<&str> = recorded.iter().map(|(_, _, texts)| &*texts[0]).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Paris-0", "Paris-1", "Paris-2"]);
    run(&folder, &["--runs", "3"], &[]);
    assert_eq!(said(&folder), recorded);
    assert_ran(
        &run(&folder, &["--runs", "4"], &[]),
        2,
        &["for run 4: `trip.evalset.models/paris.json` has 3 runs; was `runs` raised?"],
    );
    // With fewer runs, the answers of the others are left.
    let words = [
        "2 recorded answers were in `trip.evalset.models/paris.json` never asked for: 2 answers of runs after run 1",
    ];
    assert_ran(&run(&folder, &[], &[("EVALSET_MODELS_UNUSED", "error")]), 2, &words);
}

#[test]
fn variants_share_a_file_and_each_has_its_own_answers() {
    let folder = folder("models-matrix", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let url = provider.url();
    let matrix = |variables: &[(&str, &str)]| -> Ran {
        let agent = "env AGENT_SYSTEM={prompt} python3 asks_model.py";
        let args = ["run", "trip.evalset.json", "--agent-cmd", agent, "--matrix", "prompt=Short,Long"];
        let mut command = folder.command(&args);
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").envs(variables.iter().copied());
        command.output().expect("the program runs").into()
    };
    assert_ran(&matrix(&[("EVALSET_MODELS", "record"), ("OPENAI_BASE_URL", &url)]), 0, &["2 passed"]);
    assert_eq!(provider.requests().len(), 2);
    drop(provider);
    assert_ran(&matrix(&[("EVALSET_MODELS_UNUSED", "error")]), 0, &["2 passed"]);
    let refused = matrix(&[("EVALSET_MODELS", "rebind")]);
    assert_ran(&refused, 2, &["would put answers of one variant under requests of another"]);
}

#[test]
fn keys_in_answers_are_masked_and_values_of_secret_variables_are_refused() {
    let mut cases = [case("key", &["Which key?"]), case("secret", &["Which secret?"])];
    for case in &mut cases {
        case["conversation"][0]["final_response"]["parts"][0]["text"] = json!("It is");
    }
    let folder = folder("models-secrets", &cases);
    folder.write("test_config.json", r#"{"criteria": {"response_match_score": 0.1}}"#);
    let provider = Provider::start();
    let ran = record(&folder, &provider, &[], &[("MY_TOKEN", SECRET)]);
    assert_ran(&ran, 2, &["the calls of case `secret` hold the value of `MY_TOKEN`"]);
    let all: String = files(&folder).into_values().collect();
    assert!(!all.contains(SECRET) && !all.contains("sk-abc"), "{all}");
    assert!(!ran.out.contains(SECRET), "{}", ran.out);
    assert!(!folder.path("trip.evalset.models/secret.json").exists());
    assert!(folder.path("trip.evalset.models/key.json").exists());
}

#[test]
fn failures_are_passed_on_and_not_recorded_once_a_retry_cured_them() {
    let folder = folder("models-failures", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    provider.fails(&[500, 429]);
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    assert_eq!(provider.requests().len(), 3);
    drop(provider);
    assert_ran(&run(&folder, &[], &[]), 0, &[]);
    assert!(!files(&folder)["paris.json"].contains("not now"));

    // Kept, they are met again: the replayed agent repeats its call, too.
    let folder = self::folder("models-failures-kept", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    provider.fails(&[429]);
    assert_ran(&record(&folder, &provider, &[], &[("EVALSET_MODELS_FAILURES", "keep")]), 0, &[]);
    drop(provider);
    assert_eq!(files(&folder)["paris.json"].replace(' ', "").matches("\"status\":429").count(), 1);
    assert_ran(&run(&folder, &[], &[("EVALSET_MODELS_UNUSED", "error")]), 0, &["1 passed"]);

    let folder = self::folder("models-unauthorized", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let swallows = [("AGENT_SWALLOWS", "1")];
    for status in [401, 400] {
        provider.fails(&[status]);
        let words = format!(
            "recording error: 1 call of a model had no answer, so nothing was recorded: the provider answered {status}"
        );
        assert_ran(&record(&folder, &provider, &[], &swallows), 2, &[&words]);
        assert!(!folder.path("trip.evalset.models").exists());
    }
    // With a good key it is asked, and recorded.
    assert_ran(&record(&folder, &provider, &[], &swallows), 0, &["1 passed"]);
    assert_eq!(provider.requests().len(), 3);
}

#[test]
fn faults_of_the_case_reach_the_agent_and_take_no_answer() {
    let with_fault = |fault: &Value| {
        let mut case = case("paris", &["Paris?"]);
        case["_models"] = json!({"faults": [{"at": {"turn": 1, "call": 1}, "fault": fault}]});
        case
    };
    let folder = folder("models-faults", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    for (fault, code) in [(json!({"status": 429}), 0), (json!({"status": 401}), 2), (json!("empty"), 2)] {
        folder.write("trip.evalset.json", set("trip", &[with_fault(&fault)]));
        assert_ran(&run(&folder, &[], &[]), code, &[]);
    }
    folder.write("trip.evalset.json", set("trip", &[with_fault(&json!("explode"))]));
    assert_ran(
        &run(&folder, &[], &[]),
        2,
        &["\"explode\" is no fault", "`cargo evalset check trip.evalset.json` shows where"],
    );
    folder.write("trip.evalset.json", set("trip", &[with_fault(&json!("reset"))]));
    fs::remove_dir_all(folder.path("trip.evalset.models")).unwrap();
    assert_ran(
        &run(&folder, &[], &[]),
        2,
        &["case `paris` has faults of models (`_models`), which need recorded calls, and there are none"],
    );
    let live = [("EVALSET_MODELS", "live")];
    assert_ran(
        &run(&folder, &[], &live),
        2,
        &["EVALSET_MODELS=live reads none: run it without the variable"],
    );
}

#[test]
fn a_limit_stops_a_run_before_it_costs_more() {
    let folder = folder("models-limits", &[case("paris", &["1?", "2?", "3?"])]);
    let provider = Provider::start();
    let ran = record(&folder, &provider, &[], &[("EVALSET_MODELS_TOKENS", "30")]);
    assert_ran(
        &ran,
        2,
        &["recording error in turn 3: call 1 of a model was not sent: run 1 of case `paris` had 36 tokens"],
    );
    assert_eq!(provider.requests().len(), 2);
    assert!(!folder.path("trip.evalset.models").exists());
}

#[test]
fn a_client_that_was_not_redirected_is_found_and_named() {
    let folder = folder("models-tunnel", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    let ran =
        run(&folder, &[], &[("AGENT_CONNECTS", "https://api.openai.com/v1/models"), ("AGENT_SWALLOWS", "1")]);
    assert_ran(&ran, 2, &["recording error in turn 1: a client asked `api.openai.com` itself"]);
    let elsewhere = [("AGENT_CONNECTS", "https://example.invalid/"), ("EVALSET_MODELS_OFFLINE", "1")];
    assert_ran(
        &run(&folder, &[], &elsewhere),
        2,
        &["the agent asked `example.invalid`, and `EVALSET_MODELS_OFFLINE=1`"],
    );
}

#[test]
fn proxies_and_base_urls_of_the_parent_do_not_reach_the_agent() {
    let folder = folder("models-proxy", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let proxies = [("HTTP_PROXY", "http://127.0.0.1:1"), ("http_proxy", "http://127.0.0.1:1")];
    assert_ran(&record(&folder, &provider, &[], &proxies), 0, &["1 passed"]);
    drop(provider);
    assert_ran(
        &run(&folder, &[], &[&proxies[..], &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]].concat()),
        0,
        &["1 passed"],
    );
}

#[test]
fn an_edited_answer_is_an_error_and_rebind_keeps_answers_under_a_changed_prompt() {
    let folder = folder("models-rebind", &[case("paris", &["Paris?", "And again?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    let file = "trip.evalset.models/paris.json";
    let recorded = folder.read(file);
    folder.write(file, recorded.replacen("It is sunny.", "It is foggy.", 1));
    assert_ran(
        &run(&folder, &[], &[]),
        2,
        &[
            "trip/paris",
            "recording error: `trip.evalset.models/paris.json`: exchange 1 (turn 1)",
            "that was edited",
            "EVALSET_MODELS=record-all cargo evalset run trip.evalset.json:paris --agent-cmd 'python3 -I -S asks_model.py'",
        ],
    );
    folder.write(file, &recorded);

    let changed = [("AGENT_SYSTEM", "Be very brief.")];
    let args = [&["models", "rebind", "trip.evalset.json:paris"], &AGENT[..]].concat();
    let ran: Ran = folder.command(&args).envs(changed).output().expect("it runs").into();
    assert_ran(&ran, 0, &["1 passed"]);
    let older = "answers of models are to requests that changed since in `trip/paris`: what the model says to the new ones is not known";
    assert_ran(&run(&folder, &["--json", "report.json"], &changed), 0, &["1 passed", older]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    let notes = report["cases"][0]["notes"].to_string();
    assert!(
        notes.contains("2 answers in `trip.evalset.models/paris.json` are to an older request"),
        "{notes}"
    );
    let listed = folder.run(&["models", "list", "trip.evalset.json"]);
    assert_ran(&listed, 0, &["paris  2 calls, 1 run, 36 tokens, 2 answers to older requests"]);
    assert_eq!(folder.read(file).matches("\"answered\"").count(), 2);
}

#[test]
fn recordings_are_listed_shown_and_pruned() {
    let folder = folder("models-commands", &[case("paris", &["Paris?"]), case("rome", &["Rome?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    folder.write("trip.evalset.json", set("trip", &[case("paris", &["Paris?"]), case("oslo", &["Oslo?"])]));
    let listed = folder.run(&["models", "list", "trip.evalset.json"]);
    assert_ran(
        &listed,
        0,
        &[
            "1 of 2 cases recorded",
            "paris  1 call, 1 run, 18 tokens",
            "oslo  not recorded",
            "rome.json: no case of the set; `cargo evalset models prune trip.evalset.json` removes it",
        ],
    );
    let shown = folder.run(&["models", "show", "trip.evalset.json:paris"]);
    assert_ran(&shown, 0, &["turn 1  openai chat, gpt-5-mini", "Be brief.", "Paris?", "It is sunny."]);
    let refused = folder.run(&["models", "prune", "trip.evalset.json:paris"]);
    assert_ran(
        &refused,
        2,
        &["cases of the set are named, and what is removed has no case", "name the set alone"],
    );
    assert_ran(&folder.run(&["models", "prune", "trip.evalset.json"]), 0, &["1 part removed", "rome.json"]);
    assert_eq!(files(&folder).keys().collect::<Vec<_>>(), ["paris.json", "shared.json"]);
    let json: Value =
        serde_json::from_str(&folder.run(&["models", "list", "trip.evalset.json", "--format", "json"]).out)
            .unwrap();
    assert_eq!(json["sets"][0]["cases"][0]["calls"], 1, "{json}");
}

#[test]
fn check_reads_recordings_as_run_does() {
    let folder = folder("models-checked", &[case("paris", &["Paris?"]), case("rome", &["Rome?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    assert_ran(&folder.run(&["check", "trip.evalset.json"]), 0, &[]);
    let file = "trip.evalset.models/rome.json";
    folder.write(file, folder.read(file).replace("It is sunny.", "It is grey."));
    let checked = folder.run(&["check", "trip.evalset.json"]);
    let told = ["the recorded calls of models cannot be read: `trip.evalset.models/rome.json`", "was edited"];
    assert_ran(&checked, 1, &told);
    assert_eq!(checked.out.matches("cannot be read").count(), 1, "{}", checked.out);
    assert_ran(&run(&folder, &[], &[]), 2, &["was edited"]);
    folder.write("trip.evalset.models/shared.json", "{");
    let checked = folder.run(&["check", "trip.evalset.json"]);
    assert_ran(&checked, 1, &["cannot be read: `trip.evalset.models/shared.json`"]);
    assert_eq!(checked.out.matches("cannot be read").count(), 1, "{}", checked.out);
}

#[test]
fn a_case_that_is_renamed_takes_its_recordings_along() {
    let folder = folder("models-renamed", &[case("paris", &["Paris?"]), case("rome", &["Rome?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    let mut judged = Recording::default();
    let question = |of: &[&str], prompt: &str| {
        of.iter().fold(RecordedQuestion::new("m", prompt).reply(0, "yes", None), |it, case| it.case(*case))
    };
    judged.add(question(&["paris", "rome"], "Is it polite?"));
    judged.add(question(&["rome"], "Is it Rome?"));
    folder.write("trip.evalset.judge.json", judged.to_json());
    let renamed = folder.run(&["rename-case", "trip:paris", "city of light"]);
    let told = [
        "it was `paris`\n",
        "its recorded calls of models go with it\n",
        "its recorded questions to judges go with it\n",
    ];
    assert_ran(&renamed, 0, &told);
    let listed = folder.run(&["models", "list", "trip.evalset.json"]);
    assert_ran(&listed, 0, &["2 of 2 cases recorded", "city of light  1 call, 1 run"]);
    assert!(!listed.out.contains("no case of the set"), "{}", listed.out);
    assert_ran(&run(&folder, &[], &[]), 0, &["2 passed"]);
    let judged = Recording::parse(&folder.read("trip.evalset.judge.json")).expect("it is whole");
    let mut cases: Vec<_> = judged.questions().iter().map(|question| question.cases.join(",")).collect();
    cases.sort();
    assert_eq!(cases, ["city of light,rome", "rome"]);

    // A recording that no case has is not overwritten.
    let before = files(&folder);
    folder.write("trip.evalset.json", set("trip", &[case("rome", &["Rome?"])]));
    let refused = folder.run(&["rename-case", "trip:rome", "city of light"]);
    assert_ran(&refused, 2, &["is there already", "cargo evalset models prune trip.evalset.json"]);
    assert_eq!(files(&folder), before);
    assert!(folder.read("trip.evalset.json").contains("rome"));
}
