//! The result of checking a set, and the results of the readers of the forms.

use std::ops::Range;

use crate::model::{EvalCase, EvalSet};
use crate::problem::{JsonPath, Position, Problem, ProblemCode, Problems};
use crate::syntax;
use eval_support::untrusted::one_line;

/// A checked eval set or old test file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedSet {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The text that ranges point into.
    pub text: String,
    /// The form of the file.
    pub form: SetFormat,
    /// The set; `None` if a problem of the file or of its session file is an error.
    pub set: Option<EvalSet>,
    /// The places of the cases, including cases with problems.
    pub cases: Vec<CaseSpan>,
    /// The problems of the file, in the order of the text.
    pub problems: Vec<Problem>,
    /// The problems of the session file. Ranges point into its own text.
    pub session_problems: Vec<Problem>,
}

pub(crate) const SCENARIO_KEYS: [&str; 2] = ["conversation_scenario", "conversationScenario"];

/// The place of a case in its file. Ranges are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseSpan {
    /// The id of the case.
    pub eval_id: String,
    /// The range of the id; the opening bracket of the case if the id comes from the file's name.
    pub id_range: Range<usize>,
    /// The whole case.
    pub range: Range<usize>,
    /// The line that the case begins on, from 1.
    pub line: usize,
    /// The column that the case begins in, in characters from 1.
    pub column: usize,
}

/// The form in which a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetFormat {
    /// An object with `eval_cases`.
    EvalSet,
    /// An array of turns (`query`, `reference`, ...), ADK's old test file: one case.
    TestFile,
    /// An array of cases of such turns (`name`, `data`, `initial_session`), ADK's old eval set.
    OldEvalSet,
}

impl CheckedSet {
    /// The cases of the set, each with its place; none if the set has an error.
    pub(crate) fn placed_cases(&self) -> impl Iterator<Item = (&EvalCase, &CaseSpan)> {
        // In a set without errors each case has a place, and both are in the order of the file.
        self.set.iter().flat_map(|set| &set.eval_cases).zip(&self.cases)
    }

    pub(crate) fn path_of(&self, at: usize) -> JsonPath {
        match self.form {
            SetFormat::EvalSet => JsonPath::default().key("eval_cases").index(at),
            SetFormat::OldEvalSet => JsonPath::default().index(at),
            SetFormat::TestFile => JsonPath::default(),
        }
    }

    /// The first of these keys that a case has with a value, and its range in the file.
    pub(crate) fn key_in(&self, case: &CaseSpan, names: &[&str]) -> Option<(String, Range<usize>)> {
        let node = syntax::parse(self.text.get(case.range.clone())?, &mut Vec::new()).ok()?;
        let entry = names.iter().filter_map(|name| node.get(name)).find(|entry| !entry.value.is_null())?;
        let (start, key) = (case.range.start, &entry.key_range);
        Some((entry.key.to_string(), start + key.start..start + key.end))
    }

    /// The warnings about cases with an empty id. ADK allows it, and it runs; commands cannot name the case.
    #[doc(hidden)]
    pub fn unnamed(&self) -> Vec<Problem> {
        let empty = self.cases.iter().enumerate().filter(|(_, case)| case.eval_id.is_empty());
        let warning = |(at, case): (usize, &CaseSpan)| {
            let message = "the id of the case is empty, so that no command can name the case";
            let path = self.path_of(at).key("eval_id");
            Problem::warning(ProblemCode::EmptyEvalId, path, case.id_range.clone(), message)
                .label("an empty id")
                .help("give it an id that says what it is about")
        };
        empty.map(warning).collect()
    }

    /// The error about recorded calls of models that cannot be read, at the id of their case. `why` names the file.
    #[doc(hidden)]
    pub fn unreadable_models(&self, at: usize, why: &str) -> Problem {
        let range = self.cases.get(at).map_or(0..0, |case| case.id_range.clone());
        let message = format!("the recorded calls of models cannot be read: {}", one_line(why));
        Problem::error(ProblemCode::ModelRecording, self.path_of(at), range, message)
            .help("restore the file, or record the case again: `EVALSET_MODELS=record-all`")
    }

    /// The set, or its problems if one of them is an error.
    ///
    /// ```
    /// let checked = eval_format::reader::check_set("s.evalset.json", b"{}", None);
    /// assert!(checked.into_result().is_err());
    /// ```
    pub fn into_result(self) -> Result<EvalSet, Problems> {
        self.set.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }
}

pub(super) struct Reading {
    pub(super) form: SetFormat,
    pub(super) set: Option<EvalSet>,
    /// Id, range of the id and range of the case, in the order of the text.
    pub(super) cases: Vec<(String, Range<usize>, Range<usize>)>,
    pub(super) problems: Vec<Problem>,
}

impl Reading {
    pub(super) fn broken(text: &str, problem: Problem) -> Self {
        let form = if text.trim_start().starts_with('[') { SetFormat::TestFile } else { SetFormat::EvalSet };
        Self { form, set: None, cases: Vec::new(), problems: vec![problem] }
    }
}

/// The places of cases given in the order of the text.
pub(super) fn places(text: &str, cases: Vec<(String, Range<usize>, Range<usize>)>) -> Vec<CaseSpan> {
    let (mut seen, mut position) = (0, Position::START);
    let mut spans = Vec::with_capacity(cases.len());
    for (eval_id, id_range, range) in cases {
        position = position.after(&text[seen..range.start]);
        seen = range.start;
        let Position { line, column } = position;
        spans.push(CaseSpan { eval_id, id_range, range, line, column });
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = "ä{\n  天{ {";
        let at = |needle: &str, from: usize| text[from..].find(needle).unwrap() + from;
        let first = at("{", 0);
        let second = at("{", first + 1);
        let third = at("{", second + 1);
        let cases = [first, second, third].map(|start| (String::new(), start..start + 1, start..start + 1));
        let found: Vec<_> =
            places(text, cases.into()).iter().map(|place| (place.line, place.column)).collect();
        assert_eq!(found, [(1, 2), (2, 4), (2, 6)]);
    }
}
