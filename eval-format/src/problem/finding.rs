//! One problem of a file.

use std::ops::Range;

use super::code::{ProblemCode, Severity};
use super::path::JsonPath;

/// One finding in an eval set, a test file or a config.
///
/// ```
/// use eval_format::EvalSet;
/// use eval_format::problem::ProblemCode;
///
/// let problems = EvalSet::parse(r#"{"eval_set_id": "s", "eval_cases": []}"#).unwrap_err();
/// let problem = problems.iter().next().unwrap();
/// assert_eq!(problem.code, ProblemCode::NoCases);
/// assert_eq!(problem.path.to_string(), "eval_cases");
/// assert_eq!(problem.range, 35..37);
/// ```
///
/// Ranges are byte ranges of the text that was read and always lie within it, on character
/// boundaries. `message` is one line, a fragment in lower case without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// The kind of problem. Codes are stable across versions.
    pub code: ProblemCode,
    /// Whether it prevents the use of the file.
    pub severity: Severity,
    /// The headline: one line that names the mistake.
    pub message: String,
    /// The place in the document, as a path of keys and indices.
    pub path: JsonPath,
    /// The place in the text, in bytes.
    pub range: Range<usize>,
    /// A few words beside the caret; may be empty.
    pub label: String,
    /// Other places that matter, each with a few words, such as the first of two equal ids.
    pub related: Vec<(Range<usize>, String)>,
    /// The remedy.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn error(
        code: ProblemCode,
        path: JsonPath,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            path,
            range,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn warning(
        code: ProblemCode,
        path: JsonPath,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, path, range, message) }
    }

    #[must_use]
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds the remedy, with our commands as the user types them.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(eval_support::command::spelt(help.into()));
        self
    }

    #[must_use]
    pub(crate) fn related(mut self, range: Range<usize>, label: impl Into<String>) -> Self {
        self.related.push((range, label.into()));
        self
    }

    /// Whether it prevents the use of the file.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Puts problems into the order of the text.
pub(crate) fn in_order_of_places(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| problem.range.start);
}
