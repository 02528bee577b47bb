//! Two JSON values by the paths of their keys: the arguments of a call, answers that are JSON.

use eval_core::metric::arithmetic::values_equal;
use eval_format::{Map, Value};
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::diff::{Part, words};
use super::{line, text};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Keys {
    pub rows: Vec<KeyRow>,
    /// The number of rows left out.
    pub more: usize,
}

/// A value of one or of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KeyRow {
    /// `passengers[0].name`; empty for the whole value.
    pub path: String,
    /// `same`, `changed`, `missing`, `extra`, `more` if it is allowed beside the expected ones, or `ruled` if a rule of the case
    /// allows it.
    pub is: &'static str,
    pub expected: Option<String>,
    pub actual: Option<String>,
    /// Both texts in parts, if both values are texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// The most rows of a comparison. Longer lists are not read row by row.
const MAX_ROWS: usize = 200;

/// The most elements of two arrays that are searched for equal ones. The elements of longer arrays are paired by position.
const MAX_ELEMENTS: usize = 2_000;

/// The arguments of two calls, compared as metrics do. With `allows_more`, further arguments are no difference, but
/// further keys inside an argument are.
pub fn keys_of_calls(expected: &Map, actual: &Map, allows_more: bool) -> Keys {
    let mut walk = Walk { equal: values_equal, allows_more, rows: Vec::new() };
    walk.objects("", expected, actual);
    walk.end()
}

pub(super) fn keys_of_values(expected: &Value, actual: &Value) -> Keys {
    let mut walk = Walk { equal: |one, other| one == other, allows_more: false, rows: Vec::new() };
    walk.values("", expected, actual);
    walk.end()
}

impl KeyRow {
    /// Whether it is not as expected.
    pub fn differs(&self) -> bool {
        !matches!(self.is, "same" | "more" | "ruled")
    }
}

impl Keys {
    /// The values of two calls that do not match under rules, for reasons at these paths. Where there is no reason, a rule allows
    /// what differs. All rows differ if a reason is at none of them.
    #[must_use]
    pub fn under_rules(mut self, reasons: &[&str]) -> Self {
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let is_at = |row: &KeyRow, reason: &str| holds(&row.path, reason) || holds(reason, &row.path);
        let rows = || self.rows.iter().filter(|row| row.differs());
        if self.more > 0 || reasons.iter().any(|reason| !rows().any(|row| is_at(row, reason))) {
            return self;
        }
        for row in self.rows.iter_mut().filter(|row| row.differs()) {
            if !reasons.iter().any(|reason| is_at(row, reason)) {
                row.is = "ruled";
                row.parts.clear();
            }
        }
        self
    }
}

struct Walk<'v> {
    equal: fn(&Value, &Value) -> bool,
    /// Whether keys of the outermost object that are not expected are allowed.
    allows_more: bool,
    rows: Vec<Row<'v>>,
}

/// A row whose values are not yet written: most rows of long values are left out.
struct Row<'v> {
    path: String,
    is: &'static str,
    expected: Option<&'v Value>,
    actual: Option<&'v Value>,
}

impl Row<'_> {
    fn written(self) -> KeyRow {
        let Self { path, is, expected, actual } = self;
        let parts = match (is, expected, actual) {
            ("changed", Some(Value::String(one)), Some(Value::String(other))) => {
                words(&text(one).shown, &text(other).shown).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let [expected, actual] = [expected, actual].map(|value| value.map(shown));
        KeyRow { path: line(&path), is, expected, actual, parts }
    }
}

impl<'v> Walk<'v> {
    fn values(&mut self, path: &str, expected: &'v Value, actual: &'v Value) {
        match (expected, actual) {
            (one, other) if (self.equal)(one, other) => self.row(path, "same", Some(one), Some(other)),
            (Value::Object(one), Value::Object(other)) if !one.is_empty() && !other.is_empty() => {
                self.objects(path, one, other);
            }
            (Value::Array(one), Value::Array(other)) if !one.is_empty() && !other.is_empty() => {
                self.arrays(path, one, other);
            }
            (one, other) => self.row(path, "changed", Some(one), Some(other)),
        }
    }

    fn objects(&mut self, path: &str, expected: &'v Map, actual: &'v Map) {
        for (key, one) in expected {
            match actual.get(key) {
                Some(other) => self.values(&child(path, key), one, other),
                None => self.row(&child(path, key), "missing", Some(one), None),
            }
        }
        let is = if self.allows_more && path.is_empty() { "more" } else { "extra" };
        for (key, other) in actual.iter().filter(|(key, _)| expected.get(key).is_none()) {
            self.row(&child(path, key), is, None, Some(other));
        }
    }

    /// Elements that both arrays have are found, so that one more at the beginning is one difference.
    fn arrays(&mut self, path: &str, expected: &'v [Value], actual: &'v [Value]) {
        let written = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
        let at = |at: usize| format!("{path}[{at}]");
        let (old_len, new_len) = (expected.len(), actual.len());
        // The search takes time for each element times each difference.
        let ops = if old_len + new_len > MAX_ELEMENTS {
            vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
        } else {
            capture_diff_slices(Algorithm::Myers, &written(expected), &written(actual))
        };
        for op in ops {
            let (old, new) = (op.old_range(), op.new_range());
            let pairs = if matches!(op, DiffOp::Delete { .. } | DiffOp::Insert { .. }) {
                0
            } else {
                old.len().min(new.len())
            };
            for (one, other) in old.clone().zip(new.clone()).take(pairs) {
                self.values(&at(one), &expected[one], &actual[other]);
            }
            old.skip(pairs).for_each(|one| self.row(&at(one), "missing", Some(&expected[one]), None));
            new.skip(pairs).for_each(|other| self.row(&at(other), "extra", None, Some(&actual[other])));
        }
    }

    fn row(&mut self, path: &str, is: &'static str, expected: Option<&'v Value>, actual: Option<&'v Value>) {
        self.rows.push(Row { path: path.to_owned(), is, expected, actual });
    }

    /// The first rows. Differences are kept before equal values.
    fn end(mut self) -> Keys {
        let more = self.rows.len().saturating_sub(MAX_ROWS);
        if more > 0 {
            let differing = self.rows.iter().filter(|row| row.is != "same").count();
            let mut same_left = MAX_ROWS.saturating_sub(differing);
            self.rows.retain(|row| {
                let stays = row.is != "same" || same_left > 0;
                same_left -= usize::from(row.is == "same" && stays);
                stays
            });
            self.rows.truncate(MAX_ROWS);
        }
        Keys { rows: self.rows.into_iter().map(Row::written).collect(), more }
    }
}

/// The path of a value in an object. A key that is no plain word is quoted.
fn child(path: &str, key: &str) -> String {
    let is_plain =
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    match (is_plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{}]", Value::from(key)),
    }
}

/// A value as a person writes it: a text without quotes, unless it would look like another value.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if is_bare(text) => line(text),
        value => line(&value.in_words()),
    }
}

fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && Value::parse(text).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Map {
        Value::parse(text).unwrap().as_object().unwrap().clone()
    }

    fn told(keys: &Keys) -> Vec<String> {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let row = |row: &KeyRow| {
            format!("{} {}: {} > {}", row.is, row.path, side(&row.expected), side(&row.actual))
        };
        keys.rows.iter().map(row).collect()
    }

    #[test]
    fn what_a_rule_allows_is_no_difference() {
        let (one, other) = (
            map(r#"{"q": "a", "day": "x", "tags": ["b"]}"#),
            map(r#"{"q": "c", "day": "y", "tags": ["d"], "n": 1}"#),
        );
        for (reasons, is) in [
            (&["q"][..], "changed ruled ruled ruled"),
            (&["tags[0]", "n"], "ruled ruled changed extra"),
            (&["tags"], "ruled ruled changed ruled"),
            // A reason whose place is not known may be at any.
            (&["q", "tag"], "changed changed changed extra"),
            (&[""], "changed changed changed extra"),
        ] {
            let keys = keys_of_calls(&one, &other, false).under_rules(reasons);
            assert_eq!(keys.rows.iter().map(|row| row.is).collect::<Vec<_>>().join(" "), is, "{reasons:?}");
        }
    }

    #[test]
    fn values_are_compared_by_their_paths() {
        for (expected, actual, rows) in [
            ("{}", "{}", &[][..]),
            (r#"{"a": 1}"#, r#"{"a": 1.0}"#, &["same a: 1 > 1.0"]),
            (
                r#"{"cabin": "business", "date": "5 May"}"#,
                r#"{"cabin": "economy", "seats": 2}"#,
                &["changed cabin: business > economy", "missing date: 5 May > -", "extra seats: - > 2"],
            ),
            (
                r#"{"p": [{"name": "Ann", "age": 3}, {"name": "Bo"}]}"#,
                r#"{"p": [{"name": "Anna", "age": 3}, {"name": "Bo"}]}"#,
                &[
                    "changed p[0].name: Ann > Anna",
                    "same p[0].age: 3 > 3",
                    "same p[1]: {\"name\":\"Bo\"} > {\"name\":\"Bo\"}",
                ],
            ),
            // One more element at the beginning is one difference.
            (
                r#"{"l": [1, 2]}"#,
                r#"{"l": [0, 1, 2]}"#,
                &["extra l[0]: - > 0", "same l[0]: 1 > 1", "same l[1]: 2 > 2"],
            ),
            (r#"{"l": [1, 2]}"#, r#"{"l": [3]}"#, &["changed l[0]: 1 > 3", "missing l[1]: 2 > -"]),
            (r#"{"l": []}"#, r#"{"l": [3]}"#, &["changed l: [] > [3]"]),
            (r#"{"a": {"b": 1}}"#, r#"{"a": [1]}"#, &["changed a: {\"b\":1} > [1]"]),
            // Keys that are no words, and texts that look like other values, are quoted.
            (r#"{"a b": {"": 1}}"#, r#"{"a b": {"": 2}}"#, &[r#"changed ["a b"][""]: 1 > 2"#]),
            (
                r#"{"a": "1", "b": ""}"#,
                r#"{"a": 1, "b": " "}"#,
                &[r#"changed a: "1" > 1"#, r#"changed b: "" > " ""#],
            ),
        ] {
            assert_eq!(
                told(&keys_of_calls(&map(expected), &map(actual), false)),
                rows,
                "{expected} {actual}"
            );
        }
    }

    #[test]
    fn further_arguments_that_are_allowed_are_no_difference() {
        let keys = keys_of_calls(&map("{}"), &map(r#"{"x": 1}"#), true);
        assert_eq!(told(&keys), ["more x: - > 1"]);
        // Inside of an argument they are one.
        let keys = keys_of_calls(&map(r#"{"a": {"x": 1}}"#), &map(r#"{"a": {"x": 1, "y": 2}}"#), true);
        assert_eq!(told(&keys), ["same a.x: 1 > 1", "extra a.y: - > 2"]);
    }

    #[test]
    fn long_arrays_are_compared_by_position_in_little_time() {
        let of = |first: usize| -> Value {
            (first..first + 50_000).map(|at| Value::from(at.to_string())).collect()
        };
        let keys = keys_of_values(&of(0), &of(1));
        assert_eq!((keys.rows.len(), keys.more), (MAX_ROWS, 50_000 - MAX_ROWS));
        assert!(keys.rows.iter().all(|row| row.is == "changed"));
    }

    #[test]
    fn answers_are_compared_to_the_kind_of_a_number() {
        let [one, other] = ["1", "1.0"].map(|text| Value::parse(text).unwrap());
        assert_eq!(told(&keys_of_values(&one, &other)), ["changed : 1 > 1.0"]);
    }

    #[test]
    fn of_many_values_the_ones_that_differ_are_kept() {
        let of = |last: u32| {
            let all = (0..500).map(|at| format!("\"k{at}\": {}", if at > 490 { last } else { 0 }));
            map(&format!("{{{}}}", all.collect::<Vec<_>>().join(", ")))
        };
        let keys = keys_of_calls(&of(1), &of(2), false);
        let differing = keys.rows.iter().filter(|row| row.is == "changed").count();
        assert_eq!((keys.rows.len(), keys.more, differing), (MAX_ROWS, 300, 9));
    }

    /// A key that is written with escapes is found once the JSON is read.
    #[test]
    fn a_secret_is_masked_in_keys_and_in_values() {
        let secret = format!("sk-ant-{}", "abcde01234".repeat(6));
        let of = |value: &str| {
            Map::from([(secret.as_str(), Value::from(value)), ("x", Value::from(secret.as_str()))])
        };
        let shown = format!("{:?}", keys_of_calls(&of("1 a"), &of("2 b"), false));
        assert!(!shown.contains("abcde"), "{shown}");
    }
}
