//! Warnings about numbers that no float can hold.
//!
//! ADK, like Python, reads `1e400` as infinity, and it writes infinity as `null`. So the file does not expect
//! the value that it shows.

use super::node::{Kind, Node, walk};
use crate::problem::{JsonPath, Problem, ProblemCode};
use crate::value::Number;

/// A warning for each finite number that is read as infinity.
pub(crate) fn warnings(root: &Node<'_>) -> Vec<Problem> {
    // Hardly any file has such a number, and building paths takes time.
    if !has_one(root) {
        return Vec::new();
    }
    let mut found = Vec::new();
    walk(root, |node, path| {
        if matches!(&node.kind, Kind::Number(text) if overflows(text)) {
            found.push(warning(node, path));
        }
    });
    found
}

fn has_one(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Array(items) => items.iter().any(has_one),
        Kind::Object(entries) => entries.iter().any(|entry| has_one(&entry.value)),
        Kind::Number(text) => overflows(text),
        _ => false,
    }
}

fn warning(node: &Node<'_>, path: &JsonPath) -> Problem {
    let message = "a number that is too large for a float";
    Problem::warning(ProblemCode::NumberRange, path.clone(), node.range.clone(), message)
        .label("read as infinity, and written as `null`, as in ADK")
        .help("write a smaller number, or text in quotes")
}

/// Whether a number's text is finite, but its float is infinite. Integers are exact, whatever their size.
fn overflows(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
        && text.contains(['e', 'E', '.'])
        && Number::parse(text).is_some_and(|number| number.as_f64().is_infinite())
}

#[cfg(test)]
mod tests {
    use crate::problem::ProblemCode;
    use crate::reader::check_set;

    #[test]
    fn a_number_that_becomes_infinite_is_warned_of_and_still_read() {
        for (number, warned) in [
            ("1e400", true),
            ("-1E400", true),
            ("1.5e308", false),
            ("1e-400", false),
            (&"9".repeat(400), false),
            (&format!("{}.5", "9".repeat(400)), true),
            ("Infinity", false),
            ("NaN", false),
        ] {
            let text = format!(
                r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "final_session_state": {{"a": [{number}]}},
                    "conversation": [{{"user_content": {{"parts": [{{"text": "Hi"}}]}}}}]}}]}}"#
            );
            let checked = check_set("s.evalset.json", text.as_bytes(), None);
            assert!(checked.set.is_some(), "ADK loads {number}");
            let found: Vec<_> =
                checked.problems.iter().filter(|it| it.code == ProblemCode::NumberRange).collect();
            assert_eq!(found.len(), usize::from(warned), "{number}");
            for problem in found {
                assert_eq!(problem.path.to_string(), "eval_cases[0].final_session_state.a[0]");
                assert_eq!(&text[problem.range.clone()], number);
            }
        }
    }
}
