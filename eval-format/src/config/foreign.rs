//! Files of other kinds that were given as a config.

use std::ops::Range;

use crate::problem::{JsonPath, Problem, ProblemCode};
use crate::syntax::Node;

const EXAMPLE: &str = r#"a config is `{"criteria": {"response_match_score": 0.8}}`"#;

/// The problem of a text that is not JSON. It names the language if the first line shows it.
pub(super) fn not_json(text: &str, problem: Problem) -> Problem {
    let Some((start, line)) = first_line(text) else {
        return if text.trim().is_empty() { problem.help(EXAMPLE) } else { problem };
    };
    let what = if is_section(line) {
        "an INI or TOML file"
    } else if line == "---" || line.starts_with("- ") || is_yaml_key(line) {
        "YAML"
    } else if ["import ", "from ", "def ", "class ", "@pytest"].iter().any(|word| line.starts_with(word)) {
        "Python code"
    } else {
        return problem;
    };
    let range = start..start + line.floor_char_boundary(80);
    foreign(JsonPath::default(), range, format!("this is {what}, not a config in JSON"), "expected `{`")
}

/// The first line that is neither empty nor a comment in one of these languages, after its offset.
fn first_line(text: &str) -> Option<(usize, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if !trimmed.trim_end().is_empty() && !trimmed.starts_with('#') {
            return Some((start + line.len() - trimmed.len(), trimmed.trim_end()));
        }
        start += line.len();
    }
    None
}

fn is_section(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':'))
    })
}

fn is_yaml_key(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    (value.is_empty() || value.starts_with(' '))
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The problem of a JSON file of another kind, recognised by a key.
pub(super) fn recognise(root: &Node<'_>) -> Option<Problem> {
    match root.array() {
        Some(items) => recognise_array(items),
        None => recognise_object(root),
    }
}

fn recognise_object(root: &Node<'_>) -> Option<Problem> {
    if root.get("criteria").is_some() {
        return None;
    }
    let signs = [
        ("eval_cases", "an eval set"),
        ("evalCases", "an eval set"),
        ("eval_set_id", "an eval set"),
        ("evalSetId", "an eval set"),
        ("resourceSpans", "an OpenTelemetry trace"),
        ("eval_case_results", "a result of an evaluation"),
        ("scenarios", "a file of conversation scenarios"),
    ];
    let (entry, what) = signs.iter().find_map(|(key, what)| Some((root.get(key)?, what)))?;
    let path = JsonPath::default().key(&entry.key);
    Some(foreign(path, entry.key_range.clone(), format!("this is {what}, not a config"), GIVEAWAY))
}

fn recognise_array(items: &[Node<'_>]) -> Option<Problem> {
    let first = items.first()?;
    let signs = [
        ("query", "an old test file"),
        ("data", "an old eval set"),
        ("metricName", "a metrics file of trpc-agent-go"),
        ("metric_name", "a list of metrics"),
    ];
    let (entry, what) = signs.iter().find_map(|(key, what)| Some((first.get(key)?, what)))?;
    let path = JsonPath::default().index(0).key(&entry.key);
    Some(foreign(path, entry.key_range.clone(), format!("this is {what}, not a config"), GIVEAWAY))
}

const GIVEAWAY: &str = "a config has no such key";

fn foreign(path: JsonPath, range: Range<usize>, message: String, label: &str) -> Problem {
    Problem::error(ProblemCode::ForeignSchema, path, range, message).label(label).help(EXAMPLE)
}
