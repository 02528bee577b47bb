//! Reading a text that came from no file.

use crate::problem::{Problem, Problems};
use crate::syntax::Node;
use crate::text;
use crate::value::Value;

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
    match text::read(text.as_bytes(), |_, problem| problem, read) {
        (_, Some(value), problems) => Ok((value, problems)),
        (text, None, items) => Err(Problems { file: NO_FILE.to_owned(), text, items }),
    }
}
