//! Keys of a set in a spelling that ADK does not read.

use super::checked::{CheckedSet, Form};
use crate::schema::{EVAL_SET_ANY_CASE, Spelling};
use crate::syntax::{self, Entry};

impl CheckedSet {
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
        if self.form != Form::EvalSet {
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
