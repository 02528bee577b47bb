//! Problems: one finding in a file each, with its code, its place and what to do about it.

use std::fmt;
use std::ops::Range;

use crate::order::sorted;

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// ADK accepts it, but nobody means it. Never stops a build.
    Warning,
    /// The file cannot be used, or a part of it would go untested.
    Error,
}

/// One finding in an eval set, a test file or a config.
///
/// ```
/// use eval_format::{Code, EvalSet};
///
/// let problems = EvalSet::parse(r#"{"eval_set_id": "s", "eval_cases": []}"#).unwrap_err();
/// let problem = problems.iter().next().unwrap();
/// assert_eq!(problem.code, Code::NoCases);
/// assert_eq!(problem.path.to_string(), "eval_cases");
/// assert_eq!(problem.range, 35..37);
/// ```
///
/// Ranges are byte ranges of the text that was read and always lie within it, on character
/// boundaries. `message` is one line, a fragment in lower case without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// What kind of problem it is; stable across versions.
    pub code: Code,
    /// Whether it stops the file from being used.
    pub severity: Severity,
    /// The headline: one line that names what is wrong.
    pub message: String,
    /// Where in the document, as a path of keys and indices.
    pub path: JsonPath,
    /// Where in the text, in bytes.
    pub range: Range<usize>,
    /// A few words beside the caret.
    pub label: String,
    /// Other places that matter, each with its words: the first of two equal ids.
    pub related: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// An error at a place.
    pub(crate) fn error(code: Code, path: JsonPath, range: Range<usize>, message: impl Into<String>) -> Self {
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

    /// A warning at a place.
    pub(crate) fn warning(
        code: Code,
        path: JsonPath,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, path, range, message) }
    }

    /// Adds the words beside the caret.
    #[must_use]
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub(crate) fn related(mut self, range: Range<usize>, label: impl Into<String>) -> Self {
        self.related.push((range, label.into()));
        self
    }

    /// Whether it stops the file from being used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The kind of a [`Problem`], with a name that stays the same across versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable name, in kebab case: `duplicate-eval-id`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The bytes are not UTF-8 text, or begin with a byte order mark.
    Encoding = "encoding",
    /// The text is not JSON.
    Syntax = "syntax",
    /// Values are nested deeper than 200 levels.
    TooDeep = "too-deep",
    /// A key stands twice in one object; the last one counts.
    DuplicateKey = "duplicate-key",
    /// A required key is absent.
    MissingKey = "missing-key",
    /// A key is not known where unknown keys are forbidden.
    UnknownKey = "unknown-key",
    /// A key that ADK would keep or ignore looks like a misspelt one.
    MisspeltKey = "misspelt-key",
    /// One field is written in both of its spellings.
    BothSpellings = "both-spellings",
    /// A value is of the wrong type or outside its values.
    WrongType = "wrong-type",
    /// A key that ADK silently ignores.
    IgnoredKey = "ignored-key",
    /// The file is of another schema that this crate recognises but does not read.
    ForeignSchema = "foreign-schema",
    /// A recording holds two answers to one question.
    DuplicateRecording = "duplicate-recording",
    /// The set has no cases.
    NoCases = "no-cases",
    /// A case has no turns, or its scenario no beginning or plan.
    EmptyConversation = "empty-conversation",
    /// A case has a persona that the custom instructions of the simulator leave out.
    UnusedPersona = "unused-persona",
    /// A case has neither a conversation nor a scenario, or both.
    ConversationOrScenario = "conversation-or-scenario",
    /// Two cases have the same id.
    DuplicateEvalId = "duplicate-eval-id",
    /// Something of the format that this version does not run.
    NotAvailable = "not-available",
    /// A session file stands beside a set that carries its own sessions.
    SessionFile = "session-file",
    /// A metric name is not known.
    UnknownMetric = "unknown-metric",
    /// A threshold lies outside the range of its metric.
    ThresholdRange = "threshold-range",
    /// The criteria check nothing.
    NothingChecked = "nothing-checked",
    /// A threshold on a metric that never gates.
    InformationalThreshold = "informational-threshold",
    /// Two rubrics that are judged together have the same id.
    DuplicateRubricId = "duplicate-rubric-id",
    /// A rubric that no metric reads, or that says nothing.
    UnreadRubric = "unread-rubric",
    /// A metric that reads rubrics has none to read.
    NoRubrics = "no-rubrics",
    /// A weight for a rubric that does not exist.
    UnknownRubric = "unknown-rubric",
    /// A custom metric that nothing answers.
    UnansweredCustomMetric = "unanswered-custom-metric",
    /// Something that is gone once the file is written in ADK's saved form.
    Unwritten = "unwritten",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a JSON document: `eval_cases[2].conversation[0].user_content`.
///
/// The path of the document itself is empty and shows as `the document`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonPath(Vec<Step>);

/// One step of a [`JsonPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into an object, by key.
    Key(String),
    /// Into an array, by position from 0.
    Index(usize),
}

impl JsonPath {
    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Goes one step down.
    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Goes one step up.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// This path with one more key.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.push(Step::Key(key.to_owned()));
        path
    }

    /// This path with one more index.
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.push(Step::Index(index));
        path
    }

    /// This path with another one below it.
    #[must_use]
    pub(crate) fn join(&self, below: &Self) -> Self {
        let mut path = self.clone();
        path.0.extend_from_slice(&below.0);
        path
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the document");
        }
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, "{}{key}", if at == 0 { "" } else { "." })?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

/// Names longer than this are cut in messages and paths.
const LONGEST_NAME: usize = 60;

/// A name cut to a length that fits into a line.
pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// A name as messages show it: short, and on one line.
pub(crate) fn shown(name: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut out = String::new();
    for char in short(name).chars() {
        if breaks(char) { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}

/// Names as messages list them: each in backquotes, with commas between them.
pub(crate) fn code_list(names: &mut dyn Iterator<Item = &str>) -> String {
    let mut list = String::new();
    for name in names {
        list.push_str(if list.is_empty() { "`" } else { ", `" });
        list.push_str(name);
        list.push('`');
    }
    list
}

/// Puts problems into the order of the text.
pub(crate) fn in_order_of_places(problems: &mut Vec<Problem>) {
    let place = |at: usize| problems[at].range.start;
    if (1..problems.len()).any(|at| place(at - 1) > place(at)) {
        let order = sorted(problems.len(), &|one, other| place(one).cmp(&place(other)));
        *problems = order.into_iter().map(|at| problems[at].clone()).collect();
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_an_expression() {
        assert_eq!(JsonPath::default().to_string(), "the document");
        let path = JsonPath::default().key("eval_cases").index(2).key("conversation").index(0);
        assert_eq!(path.to_string(), "eval_cases[2].conversation[0]");
        assert_eq!(path.key("a b").to_string(), r#"eval_cases[2].conversation[0]["a b"]"#);
    }

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(shown("conversation"), "conversation");
        assert_eq!(shown("a\nb\u{2028}é天"), r"a\nb\u{2028}é天");
        assert_eq!(shown(&"天".repeat(100)), format!("{}...", "天".repeat(LONGEST_NAME)));
    }

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
