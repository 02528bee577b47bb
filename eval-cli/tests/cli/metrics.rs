use eval_format::Value;
use eval_format::metric::METRICS;

use crate::folder::Folder;

#[test]
fn the_list_and_one_of_it_read_as_tables() {
    let folder = Folder::new("metrics");
    let list = folder.run(&["metrics"]).out;
    let line = "  response_similarity                            0 to 1   likeness of the answer";
    assert!(list.contains("adk-eval's names\n") && list.contains(line), "{list}");
    insta::assert_snapshot!("metrics_one", folder.run(&["metrics", "response_similarity"]).shown());
    insta::assert_snapshot!("metrics_none", folder.run(&["metrics", "response_mach_score"]).shown());
}

#[test]
fn programs_get_the_whole_list() {
    let ran = Folder::new("metrics-json").run(&["metrics", "--format", "json"]);
    let document = Value::parse(&ran.out).expect("it is JSON");
    let metrics = document["metrics"].as_array().expect("a list");
    assert_eq!(metrics.len(), METRICS.len());
    let first = &metrics[0];
    assert_eq!(first["name"].as_str(), Some(METRICS[0].name));
    assert_eq!(first["criterion"].as_array().map(<[Value]>::len), Some(METRICS[0].criterion.len()));
    assert_eq!(first["criterion"].as_array().expect("a list")[0]["default"].as_str(), Some("EXACT"));
}

#[test]
fn shells_get_completions() {
    let folder = Folder::new("metrics-completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = folder.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("deny-warnings"), "{shell}");
    }
    assert_eq!(folder.run(&["completions", "csh"]).code, Some(2));
}
