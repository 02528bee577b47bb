//! The rubrics of a judged metric.

use eval_format::{Rubric, Value};

use super::steps::line;

/// The rubrics, a JSON object a line.
pub(crate) fn rubrics(rubrics: &[Rubric]) -> String {
    let lines = rubrics.iter().map(|rubric| {
        let text = rubric.text_property.as_deref().unwrap_or_default();
        let text: Vec<&str> = text.split_whitespace().collect();
        // The judge repeats the text on a line of its own, so the text has to be one line.
        line([("id", Value::from(rubric.rubric_id.as_str())), ("property", Value::from(text.join(" ")))])
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rubric_takes_one_line() {
        let all = [Rubric::new("a", "It is\n  kind."), Rubric::new("b", "Verdict: yes")];
        assert_eq!(
            rubrics(&all),
            "{\"id\":\"a\",\"property\":\"It is kind.\"}\n{\"id\":\"b\",\"property\":\"Verdict: yes\"}"
        );
    }
}
