//! Any report can be exported, and ADK loads it.

use crate::export::Export;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::fixture;
use super::strategies;
use crate::adk_oracle::ask;
use crate::export::{EvalSetResult, table_with_errors};
use eval_core::EvalReport;

/// The rows of a table, by RFC 4180.
fn rows(table: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = table.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => row.last_mut().unwrap().push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            c => row.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted);
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_report_can_be_exported(report in strategies::report()) {
        for result in report.adk_results("app", fixture::time()) {
            let json: serde_json::Value = serde_json::from_str(&result.to_json()).unwrap();
            prop_assert_eq!(&json["eval_set_id"], result.eval_set_id());
        }
        let table = rows(&report.to_csv());
        let (last, rows) = table.split_last().unwrap();
        prop_assert_eq!(last, &[String::new()]);
        prop_assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        // None of these cases passed.
        for case in &report.cases {
            let report = EvalReport { cases: vec![case.clone()] };
            let is_green = |row: &Vec<String>| row.get(5).is_none_or(|it| ["PASSED", "INFORMATIONAL"].contains(&&**it));
            prop_assert!(!self::rows(&table_with_errors(&report))[1..].iter().all(is_green));
            let result = report.adk_results("app", fixture::time())[0].to_value();
            let runs = result["eval_case_results"].as_array().unwrap_or_default();
            prop_assert!(!runs.iter().all(|run| run["final_eval_status"].as_i64() == Some(1)));
        }
        let json = report.to_adk_rs();
        prop_assert_eq!(json["results"].as_array().map(Vec::len), Some(report.cases.len()));
        prop_assert!(!report.to_string().is_empty());
    }
}

#[test]
fn adk_loads_any_report_and_writes_it_unchanged() {
    let mut runner = TestRunner::deterministic();
    let results: Vec<String> =
        std::iter::repeat_with(|| strategies::report().new_tree(&mut runner).unwrap().current())
            .take(100)
            .flat_map(|report| {
                let results = report.adk_results("app", fixture::time());
                results.iter().map(EvalSetResult::to_json).collect::<Vec<_>>()
            })
            .collect();
    let inputs: Vec<_> = results.iter().map(|text| json!(text)).collect();
    for (ours, theirs) in results.iter().zip(ask("eval_set_result", &inputs).unwrap_or_default()) {
        assert_eq!(ours, theirs.as_str().unwrap());
    }
}
