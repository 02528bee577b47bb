//! Whole sets, in any of the accepted forms.

use std::path::Path;

use eval_support::file::read_file;
use serde_core::{Deserialize, Deserializer};

use super::checked::{CheckedSet, Reading, places};
use super::parse::NO_FILE;
use super::{cases, foreign, legacy, session};
use crate::conventions::file_stem;
use crate::error::ReadError;
use crate::model::EvalSet;
use crate::problem::{Problem, Problems, in_order_of_places};
use crate::syntax::{self, Kind, overflow};
use crate::text;
use crate::value::{Value, to_pretty};

/// Checks the bytes of an eval set or an old test file.
///
/// All problems of the file are found. `file` is the name in messages; its stem is the id of the one case of an old
/// test file. `session` is the name and the bytes of an initial session file, which only an old test file takes.
///
/// ```
/// let text = br#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversaton": []}]}"#;
/// let checked = eval_format::reader::check_set("s.evalset.json", text, None);
/// assert!(checked.set.is_none());
/// assert_eq!(checked.problems[0].message, "unknown key `conversaton` in an eval case");
/// ```
pub fn check_set(file: &str, bytes: &[u8], session: Option<(&str, &[u8])>) -> CheckedSet {
    let (text, broken) = text::decode(bytes);
    let mut reading = match broken {
        Some(problem) => Reading::broken(&text, problem),
        None => read_document(&text, file_stem(file)),
    };
    let mut session_problems = Vec::new();
    if let Some((_, bytes)) = session {
        let (_, session, problems) = session::check(bytes, reading.form);
        session_problems = problems;
        if session.is_some() {
            let cases = reading.set.iter_mut().flat_map(|set| &mut set.eval_cases);
            cases.for_each(|case| case.session_input.clone_from(&session));
        }
    }
    in_order_of_places(&mut reading.problems);
    let sound = !reading.problems.iter().chain(&session_problems).any(Problem::is_error);
    CheckedSet {
        file: file.to_owned(),
        form: reading.form,
        set: reading.set.filter(|_| sound),
        cases: places(&text, reading.cases),
        problems: reading.problems,
        session_problems,
        text,
    }
}

impl EvalSet {
    /// Reads a set from JSON, in any of the accepted forms.
    ///
    /// ```
    /// use eval_format::EvalSet;
    ///
    /// let set = EvalSet::parse(
    ///     r#"{"eval_set_id": "s", "eval_cases": [
    ///         {"eval_id": "hi", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
    ///     ]}"#,
    /// ).unwrap();
    /// assert_eq!(set.eval_cases[0].conversation[0].user_text(), "Hi");
    /// ```
    pub fn parse(text: &str) -> Result<Self, Problems> {
        check_set(NO_FILE, text.as_bytes(), None).into_result()
    }

    /// Reads a set from a file, in any of the accepted forms.
    ///
    /// Fails if the file cannot be read or a problem in it is an error. The error contains all problems. A device, a pipe
    /// and a file of more than 256 MiB are not read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes =
            read_file(path).map_err(|error| ReadError::Io { path: path.to_owned(), source: error })?;
        check_set(&path.display().to_string(), &bytes, None).into_result().map_err(ReadError::Problems)
    }
}

fn read_document(text: &str, stem: &str) -> Reading {
    let mut repeated = Vec::new();
    let root = match syntax::parse(text, &mut repeated) {
        Ok(root) => root,
        Err(problem) => {
            let problem = foreign::recognise_lines(text).unwrap_or(*problem);
            return Reading::broken(text, problem);
        }
    };
    let mut reading = match &root.kind {
        Kind::Array(items) if legacy::is_old_eval_set(items) => legacy::read_old_eval_set(&root, text, stem),
        Kind::Array(_) => legacy::read_test_file(&root, text, stem),
        _ => cases::read_eval_set(&root),
    };
    if reading.problems.iter().any(Problem::is_error)
        && let Some(foreign) = foreign::recognise(&root)
    {
        // One problem that names the other schema is better than one for each of its keys.
        return Reading { set: None, cases: Vec::new(), problems: vec![foreign], ..reading };
    }
    reading.problems.append(&mut repeated);
    reading.problems.append(&mut overflow::warnings(&root));
    reading
}

impl<'de> Deserialize<'de> for EvalSet {
    /// Reads any of the accepted forms, as [`EvalSet::parse`] does. The places of problems are in the
    /// document rewritten with an indentation of two.
    ///
    /// Numbers come as the deserializer gives them: `serde_json` may be one bit off in a float and
    /// has no integers beyond 64 bits. `parse` has neither limit.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = to_pretty(&Value::deserialize(deserializer)?);
        Self::parse(&text).map_err(serde_core::de::Error::custom)
    }
}
