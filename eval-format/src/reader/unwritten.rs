//! Parts of a file that rewriting would lose, and keys of a set in a spelling that ADK does not read.

use super::cases;
use super::checked::{CheckedSet, SetFormat};
use super::session::CheckedSession;
use crate::problem::{JsonPath, Problem, in_order_of_places};
use crate::schema::{
    EDITORS_KEY, EVAL_SET_ANY_CASE, OLD_CASE, OLD_SESSION, OLD_TURN, Place, Spelling, Type, unwritten,
};
use crate::syntax::{self, Entry, Node};

impl CheckedSet {
    /// Parts of the file that [`EvalSet::to_json`](crate::EvalSet::to_json) leaves out, in the order of the text: keys
    /// that nothing reads, the second spelling of a key, numbers that JSON has no text for.
    ///
    /// ```
    /// let text = br#"[{"query": "Hi", "reference": "Hello!", "mock_tool_output": "sunny"}]"#;
    /// let lost = eval_format::reader::check_set("weather.test.json", text, None).unwritten();
    /// assert_eq!(lost[0].message, "key `mock_tool_output` in a turn of the old format has no place in ADK's saved form");
    /// ```
    ///
    /// Empty for a file that cannot be used. The key `$schema` is no part of the set: it is for the editor of the file, and who
    /// rewrites the file keeps it. Spellings, default values, `null` and surplus digits of floats are no
    /// loss: ADK does not keep them either.
    pub fn unwritten(&self) -> Vec<Problem> {
        if self.set.is_none() {
            return Vec::new();
        }
        lost(&self.text, |root| match self.form {
            SetFormat::EvalSet => Type::Model(cases::model_of(root)),
            SetFormat::TestFile => Type::Models(&OLD_TURN),
            SetFormat::OldEvalSet => Type::Models(&OLD_CASE),
        })
    }

    /// The text with the keys of the outermost object in `snake_case`, the only spelling that ADK reads there, and the
    /// keys that were changed. `None` if there are none.
    ///
    /// ```
    /// let text = r#"{"evalSetId": "s", "eval_cases": []}"#;
    /// let (respelled, keys) = eval_format::reader::check_set("s", text.as_bytes(), None).respelled().unwrap();
    /// assert_eq!(respelled, r#"{"eval_set_id": "s", "eval_cases": []}"#);
    /// assert_eq!(keys, ["evalSetId"]);
    /// ```
    ///
    /// Nothing else is changed. A key in both spellings is left alone.
    pub fn respelled(&self) -> Option<(String, Vec<String>)> {
        if self.form != SetFormat::EvalSet {
            return None;
        }
        let root = syntax::parse(&self.text, &mut Vec::new()).ok()?;
        let entries = root.object()?;
        let mut text = String::with_capacity(self.text.len() + entries.len());
        let (mut keys, mut copied) = (Vec::new(), 0);
        for (entry, snake) in entries.iter().filter_map(|entry| Some((entry, meant(entry, entries)?))) {
            text.push_str(&self.text[copied..entry.key_range.start]);
            text.push_str(&format!("\"{snake}\""));
            copied = entry.key_range.end;
            keys.push(entry.key.clone().into_owned());
        }
        text.push_str(&self.text[copied..]);
        (!keys.is_empty()).then_some((text, keys))
    }
}

impl CheckedSession {
    /// Parts of the file that no case takes over: keys that nothing reads, in the order of the text.
    ///
    /// Empty for a file that cannot be used.
    pub fn unwritten(&self) -> Vec<Problem> {
        if self.problems.iter().any(Problem::is_error) {
            return Vec::new();
        }
        lost(&self.text, |_| Type::Model(&OLD_SESSION))
    }
}

/// Parts of a text that a value of a type does not keep.
fn lost(text: &str, type_of: impl Fn(&Node<'_>) -> Type) -> Vec<Problem> {
    // Duplicate keys are errors, and such a file is not written.
    let mut found = Vec::new();
    let Ok(root) = syntax::parse(text, &mut found) else { return Vec::new() };
    unwritten(&root, &type_of(&root), &Place::Root, &mut found);
    let editors = JsonPath::default().key(EDITORS_KEY);
    found.retain(|problem| problem.path != editors);
    in_order_of_places(&mut found);
    found
}

/// The `snake_case` spelling of a key that is there in camelCase only.
fn meant(entry: &Entry<'_>, entries: &[Entry<'_>]) -> Option<&'static str> {
    let (at, spelling) = EVAL_SET_ANY_CASE.find(&entry.key)?;
    let snake = EVAL_SET_ANY_CASE.fields[at].name;
    let alone = entries.iter().all(|entry| entry.key != snake);
    (spelling == Spelling::Camel && alone).then_some(snake)
}

#[cfg(test)]
mod tests {
    use crate::reader::check_set;

    #[test]
    fn only_keys_of_the_outermost_object_are_respelled() {
        let text = r#"{ "evalCases" : [{"evalId": "c", "evalCases": 1}],
            "creationTimestamp": 1.5, "evalSetId": "evalSetId", "name": "n" }"#;
        let (respelled, keys) = check_set("s", text.as_bytes(), None).respelled().unwrap();
        let expected = r#"{ "eval_cases" : [{"evalId": "c", "evalCases": 1}],
            "creation_timestamp": 1.5, "eval_set_id": "evalSetId", "name": "n" }"#;
        assert_eq!(respelled, expected);
        assert_eq!(keys, ["evalCases", "creationTimestamp", "evalSetId"]);
        assert_eq!(check_set("s", respelled.as_bytes(), None).respelled(), None);
    }

    #[test]
    fn what_is_no_set_in_camel_case_stays() {
        for text in [
            r#"{"eval_set_id": "s", "eval_cases": []}"#,
            r#"{"eval_set_id": "s", "evalSetId": "t", "eval_cases": []}"#,
            r#"{"id": "s", "eval_cases": []}"#,
            r#"[{"query": "Hi", "evalSetId": 1}]"#,
            r#"{"evalSetId": "#,
            "3",
        ] {
            assert_eq!(check_set("s", text.as_bytes(), None).respelled(), None, "{text}");
        }
    }
}
