//! Paths of exports, and files that no export overwrites.

use crate::export::Export;
use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::fixture;
use crate::adk_oracle::ask;
use crate::export::{EvalSetResult, ExportError};
use eval_core::report::EvalReport;

#[test]
fn results_stand_where_adk_finds_them() {
    let folder = TempDir::new().unwrap();
    let report = fixture::report();
    let results = report.adk_results("weather_app", fixture::time());
    let path = results[0].save(folder.path()).unwrap();
    let name = "weather_app_weather_1760000000.125";
    assert_eq!(results[0].name(), name);
    let file = format!("weather_app/.adk/eval_history/{name}.evalset_result.json");
    assert_eq!(path, folder.path().join(file));
    assert_eq!(fs::read_to_string(&path).unwrap(), results[0].to_json());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    let place = json!({ "agents_dir": folder.path(), "app_name": "weather_app" });
    if let Some(answers) = ask("saved_results", &[place]) {
        assert_eq!(answers[0], json!([results[0].to_json()]));
    }
}

#[test]
fn a_result_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    let report = fixture::report();
    let results = report.adk_results("app", fixture::time());
    let path = results[0].save(folder.path()).unwrap();
    fs::write(&path, "mine").unwrap();
    let error = results[0].save(folder.path()).unwrap_err();
    assert!(matches!(error, ExportError::Exists(_)), "{error}");
    assert_eq!(error.to_string(), format!("`{}` exists already; it was not overwritten", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let folder = TempDir::new().unwrap();
    let report = fixture::report();
    for (app_name, expected) in [
        ("", "the app name `` is empty"),
        ("..", "the app name `..` is a folder of its own"),
        ("a/b", "the app name `a/b` contains a path separator"),
        ("a\\b", "the app name `a\\\\b` contains a path separator"),
        ("a\0", "the app name `a\\0` contains a NUL"),
        ("c:", "the app name `c:` begins with a drive"),
    ] {
        let error = report.save_adk_results(folder.path(), app_name).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let mut report = fixture::report();
    for case in &mut report.cases {
        case.eval_set_id = Some("../weather".to_owned());
    }
    let error = report.save_adk_results(folder.path(), "app").unwrap_err();
    assert_eq!(error.to_string(), "the eval set id `../weather` contains a path separator");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn each_set_has_a_result_of_its_own() {
    let mut report = fixture::report();
    report.cases[1].eval_set_id = Some("other".to_owned());
    let results = report.adk_results("app", fixture::time());
    let ids: Vec<&str> = results.iter().map(EvalSetResult::eval_set_id).collect();
    assert_eq!(ids, ["weather", "other"]);
    let runs = |at: usize| results[at].to_value()["eval_case_results"].as_array().map(<[_]>::len);
    assert_eq!((runs(0), runs(1)), (Some(10), Some(2)));
}

#[test]
fn tables_are_appended_below_one_header() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("reports/table.csv");
    let report = fixture::report();
    report.append_csv(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), report.to_csv());
    report.append_csv(&path).unwrap();
    let table = report.to_csv();
    let (_, rows) = table.split_once('\n').unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{table}{rows}"));
    assert_eq!(EvalReport::default().to_csv().lines().count(), 1);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    let error = fixture::report().append_csv(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write `{}`: ", folder.path().display())), "{error}");
}
