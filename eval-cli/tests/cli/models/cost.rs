//! Tokens and cost of recorded calls: in reports, and as limits of what is sent.

use serde_json::{Value, json};

use super::{assert_ran, case, folder, record, run};
use crate::folder::Folder;
use crate::models::provider::Provider;

/// The usage of a run as its report has it: of its only case, and of the summary.
fn usage(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.run(&[&["report", "--format", "json"], args].concat());
    let report: Value = serde_json::from_str(&ran.out).expect("a report is JSON");
    assert_eq!(report["cases"][0]["usage"], report["summary"]["usage"], "{}", ran.out);
    report["summary"]["usage"].clone()
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
    let of_model = |asked| json!([{"model": "gpt-5-mini", "calls": 2, "asked": asked, "input_tokens": 22, "output_tokens": 14, "cached_tokens": null}]);
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
    assert!(page.contains("cost 0.000050 for 22 tokens in and 14 out") && page.contains("gpt-5-mini"));
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
