//! Reading a text that came from no file.

use crate::problem::{Problem, Problems, in_order_of_places};
use crate::syntax::{self, Node};
use crate::text;
use crate::value::Value;

/// The name in messages of a text that came from no file.
pub(crate) const NO_FILE: &str = "<text>";

impl Value {
    /// Reads JSON with the parser that reads eval sets: integers exactly, floats correctly rounded.
    ///
    /// ```
    /// use eval_format::Value;
    ///
    /// let value = Value::parse(r#"{"at": 1747340865.7043095}"#).unwrap();
    /// assert_eq!(value["at"].as_f64(), Some(1747340865.7043095));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Problems> {
        parse(text, |root, _| Some(root.to_value())).map(|(value, _)| value)
    }
}

/// Reads a text that came from no file. Returns its warnings too, and fails if there is an error.
pub(crate) fn parse<T>(
    text: &str,
    read: impl FnOnce(&Node<'_>, &mut Vec<Problem>) -> Option<T>,
) -> Result<(T, Vec<Problem>), Problems> {
    let mut problems = Vec::new();
    let value = root_of(text, &mut problems).and_then(|root| read(&root, &mut problems));
    in_order_of_places(&mut problems);
    match value {
        Some(value) if !problems.iter().any(Problem::is_error) => Ok((value, problems)),
        _ => Err(Problems { file: NO_FILE.to_owned(), text: text.to_owned(), items: problems }),
    }
}

fn root_of<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Option<Node<'a>> {
    match text::decode(text.as_bytes()) {
        Err((_, problem)) => Err(problem),
        Ok(text) => syntax::parse(text, problems),
    }
    .map_err(|problem| problems.push(*problem))
    .ok()
}
