//! Problems of files as JSON, for programs and for the service.

use std::ops::Range;

use eval_format::problem::{Positions, Severity};
use eval_format::{Map, Problem, Value};
use eval_support::key_case::camel;

/// The problems of a text in its order. `key` converts keys from `snake_case`; `whole` is the path of a
/// problem of the whole file.
fn written(
    text: &str,
    problems: &[Problem],
    key: fn(&str) -> String,
    whole: impl Fn() -> Value,
) -> Vec<Value> {
    let positions = Positions::new(text, problems);
    let object = |entries: Vec<(&str, Value)>| {
        Value::from(entries.into_iter().map(|(name, value)| (key(name), value)).collect::<Map>())
    };
    let place = |range: &Range<usize>| {
        let (start, end) = (positions.get(range.start), positions.get(range.end));
        object(vec![
            ("line", start.line.into()),
            ("column", start.column.into()),
            ("end_line", end.line.into()),
            ("end_column", end.column.into()),
            ("start_byte", range.start.into()),
            ("end_byte", range.end.into()),
        ])
    };
    let related = |(range, label): &(Range<usize>, String)| {
        object(vec![("place", place(range)), ("label", label.as_str().into())])
    };
    let entry = |problem: &Problem| {
        let is_whole = problem.path.steps().is_empty();
        object(vec![
            ("code", problem.code.as_str().into()),
            ("severity", severity_name(problem.severity).into()),
            ("message", problem.message.as_str().into()),
            ("path", if is_whole { whole() } else { problem.path.to_string().into() }),
            ("place", place(&problem.range)),
            ("label", problem.label.as_str().into()),
            ("help", problem.help.as_deref().map_or(Value::Null, Value::from)),
            ("related", Value::Array(problem.related.iter().map(related).collect())),
        ])
    };
    problems.iter().map(entry).collect()
}

/// The problems of a text, with keys in `snake_case`. The path of a problem of the whole file is empty.
pub fn problems(text: &str, problems: &[Problem]) -> Vec<Value> {
    written(text, problems, str::to_owned, || Value::from(""))
}

/// The problems of a text, with keys in camelCase. The path of a problem of the whole file is null.
pub fn problems_in_camel_case(text: &str, problems: &[Problem]) -> Vec<Value> {
    written(text, problems, camel, || Value::Null)
}

/// The severity as JSON and annotations of GitHub Actions have it.
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
