//! Tokens and cost of recorded calls: in reports, and as limits of what is sent.

use serde_json::{Value, json};

use super::{assert_ran, case, folder, record, run};
use crate::folder::Folder;
use crate::models::provider::Provider;
use crate::run::set;

fn report(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.run(&[&["report", "--format", "json"], args].concat());
    serde_json::from_str(&ran.out).expect("a report is JSON")
}

/// The usage of a run of one case, as its report has it.
fn usage(folder: &Folder, args: &[&str]) -> Value {
    let report = report(folder, args);
    assert_eq!(report["cases"][0]["usage"], report["summary"]["usage"], "{report}");
    report["summary"]["usage"].clone()
}

#[test]
fn a_limit_of_cost_or_of_all_cases_stops_a_paid_run_with_its_name() {
    let cases = ["paris", "rome", "oslo"].map(|id| case(id, &["1?", "2?"]));
    let folder = folder("models-total", &cases);
    let provider = Provider::start();
    let limited = |variables: &[(&str, &str)]| record(&folder, &provider, &["--concurrency", "1"], variables);
    let words = [
        "recording error in turn 2: call 1 of a model was not sent in run 1 of case `rome`: all cases together had 54 tokens, and \
         `EVALSET_MODELS_TOTAL_TOKENS` allows 54; a higher limit lets them go on: EVALSET_MODELS_TOTAL_TOKENS=108",
        "call 1 of a model was not sent in run 1 of case `oslo`",
        "1 passed, 2 errors",
    ];
    assert_ran(&limited(&[("EVALSET_MODELS_TOTAL_TOKENS", "54")]), 2, &words);
    assert_eq!(provider.requests().len(), 3, "nothing further is sent");

    // Each call costs 0.000025. What is recorded costs nothing: `paris` is.
    let prices = ("EVALSET_MODELS_PRICE", "gpt-5-mini=1/2");
    let words = [
        "run 1 of case `rome` had a cost of 0.000025, and `EVALSET_MODELS_COST` allows 0.00002",
        "run 1 of case `oslo` had a cost of 0.000025",
        "cost          0.00010 for 44 tokens in and 28 out",
    ];
    assert_ran(&limited(&[("EVALSET_MODELS_COST", "0.00002"), prices]), 2, &words);
    assert_eq!(provider.requests().len(), 5);
    assert_eq!(
        report(&folder, &[])["summary"]["usage"]["cost"]["output_tokens"],
        28,
        "at the prices of the variable"
    );

    for (variables, says) in [
        (
            &[("EVALSET_MODELS_TOTAL_COST", "1")][..],
            "`EVALSET_MODELS_TOTAL_COST` needs prices: in `EVALSET_MODELS_PRICE`",
        ),
        (
            &[("EVALSET_MODELS_TOTAL_COST", "1"), ("EVALSET_MODELS_PRICE", "other=1/2")],
            "`EVALSET_MODELS_TOTAL_COST` limits its cost, and `EVALSET_MODELS_PRICE` has no price of `gpt-5-mini`: add \
             `gpt-5-mini=IN/OUT`",
        ),
    ] {
        assert_ran(&limited(variables), 2, &[says]);
    }
    assert_eq!(provider.requests().len(), 5);
    assert_ran(&limited(&[("EVALSET_MODELS_TOTAL_COST", "0.0001"), prices]), 0, &["3 passed"]);
    assert_eq!(provider.requests().len(), 9);
}

#[test]
fn an_agent_that_reports_its_tokens_is_believed_and_they_are_not_added() {
    let folder = folder("models-told", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[("AGENT_TELLS", "1")]), 0, &[]);
    let usage = usage(&folder, &["--price", "told=1/2", "--price", "9/9"]);
    assert_eq!((&usage["agent_tokens"], &usage["cost"]["money"]), (&json!(150), &json!(0.0002)));
    assert_eq!(usage["models"][0]["input_tokens"], 11, "what the gateway saw is beside it");
}

#[test]
fn variants_are_compared_by_the_tokens_that_the_gateway_saw() {
    let folder = folder("models-compare", &[case("paris", &["Paris?"])]);
    let provider = Provider::start();
    let agent = "env AGENT_SYSTEM={prompt} python3 asks_model.py";
    let mut command =
        folder.command(&["run", "trip.evalset.json", "--agent-cmd", agent, "--matrix", "prompt=Short,Long"]);
    command.env("EVALSET_MODELS", "record").env("OPENAI_BASE_URL", provider.url());
    assert_ran(&command.output().expect("the program runs").into(), 0, &["2 passed"]);
    let ran = folder.run(&["compare", "--format", "json", "--price", "1/2"]);
    let table: Value = serde_json::from_str(&ran.out).expect("a comparison is JSON");
    for variant in table["variants"].as_array().expect("variants") {
        assert_eq!((&variant["tokens"], &variant["cost"]), (&json!(18), &json!(0.000_025)), "{}", ran.out);
    }
}

#[test]
fn reports_count_the_retries_of_a_client() {
    let mut trip = case("paris", &["Paris?"]);
    let folder = folder("models-retries", std::slice::from_ref(&trip));
    let provider = Provider::start();
    assert_ran(&record(&folder, &provider, &[], &[]), 0, &[]);
    drop(provider);
    let at = |call: usize| json!({"at": {"turn": 1, "call": call}, "fault": {"status": 500}});
    trip["_models"] = json!({"faults": [at(1), at(2)]});
    folder.write("trip.evalset.json", set("trip", &[trip]));
    assert_ran(&run(&folder, &[], &[]), 0, &[]);
    let of_model = &usage(&folder, &[])["models"][0];
    assert_eq!((&of_model["requests"], &of_model["calls"]), (&json!(3), &json!(1)), "{of_model}");
}

#[test]
fn reports_have_the_tokens_of_recorded_calls_where_the_agent_reports_none() {
    let folder = folder("models-usage", &[case("paris", &["Paris?", "And again?"])]);
    let provider = Provider::start();
    assert_ran(
        &record(&folder, &provider, &["--price", "1/2"], &[]),
        0,
        &["cost          0.000050 for 22 tokens in and 14 out"],
    );
    drop(provider);
    let of_model = |asked| json!([{"model": "gpt-5-mini", "requests": 2, "calls": 2, "asked": asked, "input_tokens": 22, "output_tokens": 14, "cached_tokens": null}]);
    let recorded = usage(&folder, &[]);
    assert_eq!((&recorded["agent_tokens"], &recorded["models"]), (&json!(36), &of_model(2)));
    let cost = json!({"money": 0.00005, "input_tokens": 22, "output_tokens": 14, "unpriced_tokens": 0});
    assert_eq!(recorded["cost"], cost, "at the prices that the run was given");

    assert_ran(&run(&folder, &["--runs", "1"], &[]), 0, &[]);
    let replayed = usage(&folder, &["--price", "gpt-5-mini=1/2"]);
    assert_eq!((&replayed["agent_tokens"], &replayed["models"]), (&json!(36), &of_model(0)));
    assert_eq!(replayed["cost"], cost);
    assert_eq!(usage(&folder, &["--price", "other=1/2"])["cost"], Value::Null, "no price of this model");

    assert_ran(&folder.run(&["report"]), 0, &["36 tokens", "agent 36 tokens"]);
    assert_ran(&folder.run(&["report", "--html", "page.html", "--price", "1/2"]), 0, &[]);
    let page = folder.read("page.html");
    let facts = [
        "cost 0.000050 for 22 tokens in and 14 out",
        "gpt-5-mini: 2 calls, 0 asked, 22 tokens in and 14 out",
    ];
    assert!(facts.iter().all(|fact| page.contains(fact)));
    assert_ran(&folder.run(&["bless"]), 0, &[]);
    assert!(
        folder.read("evalset-baseline.jsonl").contains("\"tokens\": [36, 36]"),
        "{}",
        folder.read("evalset-baseline.jsonl")
    );

    assert_ran(&run(&folder, &[], &[]), 0, &[]);
    for (limit, code, says) in [
        (&["--max-tokens", "36"][..], 0, "Gate PASS"),
        (&["--max-tokens", "35"], 1, "the agent took 36 tokens, and `--max-tokens` allows 35"),
        (
            &["--max-cost", "0.00004", "--price", "1/2"],
            1,
            "the agent cost 0.000050, and `--max-cost` allows 0.00004",
        ),
    ] {
        assert_ran(&folder.run(&[&["gate"], limit].concat()), code, &[says]);
    }
}
