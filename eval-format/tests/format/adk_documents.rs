//! Random documents: `tests/adk/reading.py` draws them, asks google-adk and starts this.

use std::collections::BTreeMap;
use std::io::Write;

use eval_format::problem::ProblemCode;
use eval_format::reader::{CheckedSet, check_set};
use eval_format::{Problem, Value};

/// The file of documents and answers, a JSON object a line.
const VARIABLE: &str = "EVALSET_ADK_DOCUMENTS";

/// Differences shown.
const MAX_SHOWN_DIFFERENCES: usize = 5;

/// Mistakes that ADK accepts: errors here, since nothing or something else would be tested.
const REFUSED_HERE: &[ProblemCode] = &[
    ProblemCode::NoCases,
    ProblemCode::EmptyConversation,
    ProblemCode::DuplicateKey,
    ProblemCode::BothSpellings,
    ProblemCode::DuplicateEvalId,
    ProblemCode::DuplicateRubricId,
    ProblemCode::MisspeltKey,
];

#[test]
fn random_documents_end_as_in_adk_or_in_a_named_deviation() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        // Past the test harness, which keeps to itself what passing tests print.
        writeln!(std::io::stderr().lock(), "reading beside google-adk: skipped, {VARIABLE} is not set")
            .unwrap();
        return;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let answer = &case["answer"];
        let text = answer["text"].as_str().unwrap();
        let ours = check_set("s.evalset.json", text.as_bytes(), None);
        match compare(&ours, answer["saved"].as_str()) {
            Ok(end) => *counts.entry(end).or_default() += 1,
            Err(difference) => differences.push(format!("seed {}: {text}\n  {difference}", case["input"])),
        }
    }
    eprintln!("{counts:?}: {} differences", differences.len());
    assert!(counts.contains_key("saved alike"), "no document was read by both");
    assert!(
        differences.is_empty(),
        "{}",
        differences[..differences.len().min(MAX_SHOWN_DIFFERENCES)].join("\n")
    );
}

/// The outcome of a document on both sides.
fn compare(ours: &CheckedSet, theirs: Option<&str>) -> Result<&'static str, String> {
    let errors = || ours.problems.iter().filter(|problem| problem.is_error());
    match (&ours.set, theirs) {
        (None, None) => Ok("refused by both"),
        (None, Some(_)) if errors().all(|problem| REFUSED_HERE.contains(&problem.code)) => {
            Ok("refused here, since it tests nothing or something else")
        }
        (None, Some(_)) => Err(format!("refused here alone: {:#?}", errors().collect::<Vec<_>>())),
        (Some(_), None) if has_other_writers_keys(&ours.text) => Ok("read here, as other writers write it"),
        (Some(_), None) => Err("refused by ADK alone".to_owned()),
        (Some(set), Some(theirs)) if set.to_json() == theirs => Ok("saved alike"),
        // ADK writes the key twice, with the value that it did not use in second place.
        (Some(_), Some(_)) if ours.problems.iter().any(is_second_spelling) => {
            Ok("read alike, but for a second spelling")
        }
        (Some(set), Some(theirs)) => Err(format!("here {}\n  in ADK {theirs}", set.to_json())),
    }
}

fn is_second_spelling(problem: &Problem) -> bool {
    problem.code == ProblemCode::BothSpellings
}

/// Whether the set lacks the keys without which ADK refuses it: it has them in `camelCase`, or as `id`.
fn has_other_writers_keys(text: &str) -> bool {
    let document = Value::parse(text).unwrap();
    let Value::Object(set) = &document else { return false };
    !(set.contains_key("eval_set_id") && set.contains_key("eval_cases"))
}
