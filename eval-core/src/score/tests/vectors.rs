//! The stored answers of google-adk 2.13.0, in `tests/vectors/`.

use serde_json::value::RawValue;

use super::invocations::{field, float, object, read};
use super::jobs::scores;
use crate::score::rouge::{RougeText, rouge_1};

/// Whether two scores are the same to the last bit.
pub(super) fn same(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

#[test]
fn texts_give_the_tokens_and_scores_of_adk() {
    let vectors: Vec<&RawValue> =
        serde_json::from_str(include_str!("../../../tests/vectors/rouge_vectors.json")).unwrap();
    assert_eq!(vectors.len(), 96);
    for vector in vectors {
        let vector = object(vector);
        let text = |key: &str| RougeText::new(&read::<String>(vector[key]));
        let (expected, actual) = (text("reference"), text("candidate"));
        for (text, key) in [(&expected, "reference_tokens"), (&actual, "candidate_tokens")] {
            let tokens: Vec<&str> = text.tokens.iter().map(|token| str::from_utf8(token).unwrap()).collect();
            assert_eq!(tokens, read::<Vec<String>>(vector[key]), "{}", vector["reference"]);
        }
        let score = rouge_1(&expected, &actual);
        for (ours, key) in
            [(score.precision, "precision"), (score.recall, "recall"), (score.fmeasure, "fmeasure")]
        {
            assert_eq!(ours.to_bits(), float(vector[key]).to_bits(), "{key} of {}", vector["reference"]);
        }
    }
}

#[test]
fn turns_give_the_scores_of_adk() {
    let vectors: Vec<&RawValue> =
        serde_json::from_str(include_str!("../../../tests/vectors/trajectory_vectors.json")).unwrap();
    let mut scored = 0;
    for vector in vectors {
        let vector = object(vector);
        let (job, result) = (object(vector["job"]), object(vector["result"]));
        if field(&result, "error").is_some() {
            // Lengths and thresholds are checked before anything is scored.
            continue;
        }
        scored += 1;
        let found = scores(&job);
        let id = result["id"].get();
        assert!(same(found.overall, field(&result, "overall_score").map(float)), "{id}: {found:?}");
        let turns: Vec<&RawValue> = read(result["per_invocation"]);
        assert_eq!(found.turns.len(), turns.len(), "{id}");
        for (ours, theirs) in found.turns.iter().zip(turns) {
            assert!(same(*ours, field(&object(theirs), "score").map(float)), "{id}: {found:?}");
        }
    }
    assert_eq!(scored, 60);
}
