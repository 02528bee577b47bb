//! What is lost if a file is written anew.

use super::cases;
use super::checked::{CheckedSet, Form};
use super::session::CheckedSession;
use crate::problem::{Problem, in_order_of_places};
use crate::schema::{OLD_CASE, OLD_SESSION, OLD_TURN, Place, Type, unwritten};
use crate::syntax::{self, Node};

impl CheckedSet {
    /// What [`EvalSet::to_json`](crate::EvalSet::to_json) leaves out of the file, in the order of the text: keys that
    /// nothing reads, the second spelling of a key, numbers that JSON has no text for.
    ///
    /// ```
    /// let text = br#"[{"query": "Hi", "reference": "Hello!", "mock_tool_output": "sunny"}]"#;
    /// let lost = eval_format::reader::check_set("weather.test.json", text, None).unwritten();
    /// assert_eq!(lost[0].message, "key `mock_tool_output` in a turn of the old format has no place in ADK's saved form");
    /// ```
    ///
    /// Empty for a file that cannot be used. Spellings, default values, `null` and surplus digits of floats are no
    /// loss: ADK does not keep them either.
    pub fn unwritten(&self) -> Vec<Problem> {
        if self.set.is_none() {
            return Vec::new();
        }
        lost(&self.text, |root| match self.form {
            Form::EvalSet => Type::Model(cases::model_of(root)),
            Form::TestFile => Type::Models(&OLD_TURN),
            Form::OldEvalSet => Type::Models(&OLD_CASE),
        })
    }
}

impl CheckedSession {
    /// What the file says that no case takes over: keys that nothing reads, in the order of the text.
    ///
    /// Empty for a file that cannot be used.
    pub fn unwritten(&self) -> Vec<Problem> {
        if self.problems.iter().any(Problem::is_error) {
            return Vec::new();
        }
        lost(&self.text, |_| Type::Model(&OLD_SESSION))
    }
}

/// What a text says that a value of a type does not keep.
fn lost(text: &str, type_of: impl Fn(&Node<'_>) -> Type) -> Vec<Problem> {
    // Keys that stand twice are errors, and such a file is not written.
    let mut found = Vec::new();
    let Ok(root) = syntax::parse(text, &mut found) else { return Vec::new() };
    unwritten(&root, &type_of(&root), &Place::Root, &mut found);
    in_order_of_places(&mut found);
    found
}
