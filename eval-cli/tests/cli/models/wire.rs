//! Recorded calls: secrets in requests, faults as `check` reads them, one note for one reason, and the judge beside an agent.

use super::*;

#[test]
fn a_request_with_the_value_of_a_secret_variable_is_not_recorded() {
    let folder =
        folder("models-secret-asked", &[case("told", &["purple-elephant-77?"]), case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let ran = record(&folder, &provider, &[], &[("MY_TOKEN", SECRET)]);
    assert_ran(&ran, 2, &["the calls of case `told` hold the value of `MY_TOKEN`"]);
    assert_eq!(files(&folder).keys().collect::<Vec<_>>(), ["paris.json", "shared.json"]);
    assert!(files(&folder).values().all(|text| !text.contains(SECRET)));
    // Without the variable it is a word like others.
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    assert_ran(&run(&folder, &[], &[]), 0, &["2 passed"]);
}

#[test]
fn a_mistake_in_a_fault_of_models_is_a_problem_of_the_file() {
    let with = |fault: Value| {
        let mut case = case("paris", &["Paris?"]);
        case["_models"] = json!({"faults": [{"at": {"turn": 1, "call": 1}, "fault": fault}]});
        case
    };
    let folder = folder("models-checked", &[with(json!({"cut": 3}))]);
    let checked = folder.run(&["check", "trip.evalset.json"]);
    assert_ran(
        &checked,
        1,
        &["`cut` is an object with `events`, and this is a number", "trip.evalset.json:"],
    );
    folder.write("trip.evalset.json", set("trip", &[with(json!({"cut": {"events": 3}}))]));
    assert_ran(&folder.run(&["check", "trip.evalset.json"]), 0, &[]);
}

#[test]
fn one_reason_in_all_cases_is_one_note() {
    let folder = folder("models-one-note", &[case("paris", &["Paris?"]), case("rome", &["Rome?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    let note =
        "note: calls of models are not recorded in 2 cases, and in all of them the system prompt changed";
    let changed = [("AGENT_SYSTEM", "Be very brief.")];
    assert_ran(&run(&folder, &[], &changed), 2, &[note]);
    assert_ran(&folder.run(&["report"]), 2, &[note]);
}

#[cfg(feature = "model-judge")]
#[test]
fn a_judge_reaches_what_the_shell_says_while_its_agent_is_replayed() {
    let folder = folder("models-judge", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    let options = json!({"judge_model": "openai/gpt-5-judge", "num_samples": 1});
    let criteria = json!({"final_response_match_v2": {"threshold": 1.0, "judge_model_options": options}});
    folder.write("test_config.json", json!({ "criteria": criteria }).to_string());
    let url = provider.url();
    let judged =
        [("EVALSET_JUDGE", "record"), ("OPENAI_BASE_URL", &*url), ("OPENAI_API_KEY", "sk-test-key-of-mine")];
    assert_ran(&run(&folder, &[], &judged), 0, &["1 passed"]);
    let models: Vec<Value> =
        provider.requests().into_iter().map(|request| request["model"].clone()).collect();
    assert_eq!(models, ["gpt-5-mini", "gpt-5-judge"], "the agent asked once, when it was recorded");
    drop(provider);
    assert_ran(&run(&folder, &[], &[]), 0, &["1 passed"]);
}
