//! 153 documents with google-adk 2.13.0's own answers: accepted or rejected, and how it saves them.

use eval_format::problem::ProblemCode;
use eval_format::{EvalSet, Problem};
use serde_json::Value;

/// The outcome of a document.
#[derive(Debug, PartialEq)]
enum Outcome {
    Saved(String),
    /// With the codes of its errors, each once.
    Refused(Vec<ProblemCode>),
}

/// The intended outcome of a document that differs here, and the reason.
struct Deviation {
    label: &'static str,
    outcome: Expected,
    reason: &'static str,
}

enum Expected {
    Accepted,
    Refused(ProblemCode),
    RefusedFor(&'static [ProblemCode]),
    SavedAs(&'static str),
}

const fn deviation(label: &'static str, outcome: Expected, reason: &'static str) -> Deviation {
    Deviation { label, outcome, reason }
}

const CAMEL: &str = "other writers spell the keys of the set in camelCase, and ADK's documentation does";
const NO_CASES: &str = "a set without cases passes without having checked anything";
const LOST: &str = "ADK reads one of the two values, and the other says what is not tested";

const DEVIATIONS: &[Deviation] = &[
    deviation("camel top", Expected::Accepted, CAMEL),
    deviation("camel eval_cases only", Expected::Accepted, CAMEL),
    deviation("eval_cases empty", Expected::Refused(ProblemCode::NoCases), NO_CASES),
    deviation("eval_set_id empty str", Expected::Refused(ProblemCode::NoCases), NO_CASES),
    deviation("creation_timestamp NaN literal", Expected::Refused(ProblemCode::NoCases), NO_CASES),
    deviation("creation_timestamp 1e400", Expected::Refused(ProblemCode::NoCases), NO_CASES),
    deviation(
        "duplicate json key",
        Expected::RefusedFor(&[ProblemCode::DuplicateKey, ProblemCode::NoCases]),
        LOST,
    ),
    deviation("conv empty list", Expected::Refused(ProblemCode::EmptyConversation), NO_CASES),
    deviation(
        "dup eval ids",
        Expected::Refused(ProblemCode::DuplicateEvalId),
        "ADK aborts when it runs them, or scores one against the expectations of the other",
    ),
    deviation("both spellings evalId & eval_id", Expected::Refused(ProblemCode::BothSpellings), LOST),
    deviation("both conv ts", Expected::Refused(ProblemCode::BothSpellings), LOST),
    deviation(
        "rubric dup ids",
        Expected::Refused(ProblemCode::DuplicateRubricId),
        "ADK aborts the run of all cases when it meets them",
    ),
    deviation(
        "scenario persona str",
        Expected::SavedAs(
            r#"{"eval_set_id":"s","eval_cases":[{"eval_id":"c1","conversation_scenario":{"starting_prompt":"a","conversation_plan":"b","user_persona":"EXPERT"}}]}"#,
        ),
        "ADK writes its own description of the persona into the file; here the name stays, which ADK reads",
    ),
];

fn read(text: &str) -> Outcome {
    match EvalSet::parse(text) {
        Ok(set) => Outcome::Saved(set.to_value().to_string()),
        Err(problems) => {
            let mut codes: Vec<_> =
                problems.iter().filter(|p| p.is_error()).map(|p: &Problem| p.code).collect();
            codes.dedup();
            Outcome::Refused(codes)
        }
    }
}

/// Whether the outcome is ADK's.
fn agrees(outcome: &Outcome, vector: &Value) -> bool {
    match (outcome, vector["saved"].as_str()) {
        (Outcome::Saved(ours), Some(theirs)) => ours == theirs,
        (Outcome::Refused(codes), None) => !codes.is_empty(),
        _ => false,
    }
}

/// Whether the outcome is the one that the table asks for.
fn is_as_expected(outcome: &Outcome, expected: &Expected) -> bool {
    match (outcome, expected) {
        (Outcome::Saved(_), Expected::Accepted) => true,
        (Outcome::Saved(ours), Expected::SavedAs(text)) => ours == text,
        (Outcome::Refused(codes), Expected::Refused(code)) => codes == &[*code],
        (Outcome::Refused(codes), Expected::RefusedFor(all)) => codes == all,
        _ => false,
    }
}

#[test]
fn every_document_ends_as_in_adk_or_in_a_named_deviation() {
    let text = include_str!("../vectors/shape_vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(text).expect("the vectors are JSON");
    assert_eq!(vectors.len(), 153);
    let mut wrong = Vec::new();
    for vector in &vectors {
        let label = vector["label"].as_str().expect("a label");
        let outcome = read(vector["json"].as_str().expect("a document"));
        let deviation = DEVIATIONS.iter().find(|deviation| deviation.label == label);
        match deviation {
            Some(it) if agrees(&outcome, vector) => {
                wrong.push(format!("{label}: no longer deviates ({})", it.reason));
            }
            Some(it) if is_as_expected(&outcome, &it.outcome) => {}
            None if agrees(&outcome, vector) => {}
            _ => wrong.push(format!("{label}: {outcome:?}, where ADK has {}", vector["saved"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_deviation_is_about_one_document() {
    let text = include_str!("../vectors/shape_vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(text).expect("the vectors are JSON");
    for deviation in DEVIATIONS {
        let count = vectors.iter().filter(|vector| vector["label"] == deviation.label).count();
        assert_eq!(count, 1, "{}", deviation.label);
    }
}
