//! Eval sets in: the one reader that decides what is valid.

use std::ops::Range;
use std::path::Path;

use serde_core::{Deserialize, Deserializer};

use crate::conventions::file_stem;
use crate::error::ReadError;
use crate::model::{EvalCase, EvalSet, Invocation, SessionInput};
use crate::problem::{Problem, Problems, in_order_of_places};
use crate::schema::{INVOCATION, Place, Walker};
use crate::syntax::{self, Kind, Node};
use crate::text;
use crate::value::{Value, write_pretty};

pub use session::{CheckedSession, check_session};

mod cases;
mod foreign;
mod legacy;
mod places;
mod scenario;
mod session;
mod spelling;
mod unwritten;

/// What messages call a text that came from no file.
const NO_FILE: &str = "<text>";

/// What a file turned out to hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedSet {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The text that ranges point into.
    pub text: String,
    /// How the file is written.
    pub form: Form,
    /// The set, unless a problem of the file or of its session file is an error.
    pub set: Option<EvalSet>,
    /// Where the cases stand, those with problems too.
    pub cases: Vec<CaseSpan>,
    /// What is wrong with the file, in the order of the text.
    pub problems: Vec<Problem>,
    /// What is wrong with the session file; ranges point into its own text.
    pub session_problems: Vec<Problem>,
}

/// Where a case stands in its file. Ranges are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseSpan {
    /// The id of the case.
    pub eval_id: String,
    /// The id; the opening bracket where the id is the file's name.
    pub id_range: Range<usize>,
    /// The whole case.
    pub range: Range<usize>,
    /// The line that the case begins on, from 1.
    pub line: usize,
    /// The column that the case begins in, in characters from 1.
    pub column: usize,
}

/// In which of the accepted forms a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An object with `eval_cases`.
    EvalSet,
    /// An array of turns (`query`, `reference`, ...), ADK's old test file: one case.
    TestFile,
    /// An array of cases of such turns (`name`, `data`, `initial_session`), ADK's old eval set.
    OldEvalSet,
}

/// Checks the bytes of an eval set or an old test file.
///
/// Every problem of the file is found, not only the first. `file` is the name shown in messages;
/// its stem names the one case of an old test file. `session` is the name and text of an initial
/// session file, which may stand beside an old test file only.
///
/// ```
/// let text = br#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversaton": []}]}"#;
/// let checked = eval_format::check_set("s.evalset.json", text, None);
/// assert!(checked.set.is_none());
/// assert_eq!(checked.problems[0].message, "unknown key `conversaton` in an eval case");
/// ```
pub fn check_set(file: &str, bytes: &[u8], session: Option<(&str, &[u8])>) -> CheckedSet {
    let (text, broken) = text::decode_or_show(bytes);
    let mut reading = match broken {
        Some(problem) => Reading::broken(&text, problem),
        None => read_document(&text, file_stem(file)),
    };
    let mut session_problems = Vec::new();
    if let Some((_, bytes)) = session {
        let (session, problems) = session::check(bytes, reading.form);
        session_problems = problems;
        reading.give_session(session.as_ref());
    }
    in_order_of_places(&mut reading.problems);
    let sound = !reading.problems.iter().chain(&session_problems).any(Problem::is_error);
    CheckedSet {
        file: file.to_owned(),
        form: reading.form,
        set: reading.set.filter(|_| sound),
        cases: places::places(&text, reading.cases),
        problems: reading.problems,
        session_problems,
        text,
    }
}

/// Reads a case from its own slice of a file, as [`CaseSpan::range`] gives it.
///
/// `eval_id` names the case of a [`Form::TestFile`]; `session` is the text of its session file.
///
/// ```
/// use eval_format::{Form, check_set, read_case};
///
/// let text = r#"{"eval_set_id": "s", "eval_cases": [
///     {"eval_id": "hi", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
/// ]}"#;
/// let place = &check_set("s.evalset.json", text.as_bytes(), None).cases[0];
/// let case = read_case(Form::EvalSet, &text[place.range.clone()], &place.eval_id, None)?;
/// assert_eq!((case.eval_id.as_str(), place.line, place.column), ("hi", 2, 5));
/// # Ok::<(), eval_format::Problems>(())
/// ```
pub fn read_case(
    form: Form,
    slice: &str,
    eval_id: &str,
    session: Option<&str>,
) -> Result<EvalCase, Problems> {
    check_case(form, slice, eval_id, session).map(|(case, _)| case)
}

/// Reads a case as [`read_case`] does, with the warnings about it; ranges point into the slice.
pub fn check_case(
    form: Form,
    slice: &str,
    eval_id: &str,
    session: Option<&str>,
) -> Result<(EvalCase, Vec<Problem>), Problems> {
    parse(slice, |root, problems| match form {
        Form::EvalSet => cases::case(root, &Place::Root, &mut Walker { problems }),
        Form::TestFile => {
            let session = session.and_then(|text| session::check(text.as_bytes(), form).0);
            legacy::test_file(root, slice, eval_id, session, &mut Walker { problems })
        }
        Form::OldEvalSet => legacy::case(root, slice, &Place::Root, &mut Walker { problems }),
    })
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
    /// Fails where the file cannot be read, and where it has problems that are errors: the error tells all of them.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes =
            std::fs::read(path).map_err(|error| ReadError::Io { path: path.to_owned(), source: error })?;
        check_set(&path.display().to_string(), &bytes, None).into_result().map_err(ReadError::Problems)
    }
}

impl CheckedSet {
    /// The set, or what stands in its way.
    fn into_result(self) -> Result<EvalSet, Problems> {
        self.set.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }
}

impl EvalCase {
    /// Reads a case from the JSON object that an eval set would hold for it.
    ///
    /// ```
    /// use eval_format::EvalCase;
    ///
    /// let case = EvalCase::parse(
    ///     r#"{"eval_id": "hi", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}"#,
    /// )?;
    /// assert_eq!(case.conversation.len(), 1);
    /// # Ok::<(), eval_format::Problems>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Problems> {
        read_case(Form::EvalSet, text, "", None)
    }
}

impl Invocation {
    /// Reads a turn from the JSON object that an eval case would hold for it.
    ///
    /// ```
    /// use eval_format::Invocation;
    ///
    /// let turn = Invocation::user("Hi").response("Hello!");
    /// assert_eq!(Invocation::parse(&turn.to_value().to_string()).unwrap(), turn);
    /// ```
    pub fn parse(text: &str) -> Result<Self, Problems> {
        parse(text, |root, problems| {
            Walker { problems }.record(root, &INVOCATION, &Place::Root).map(Self::from)
        })
        .map(|(turn, _)| turn)
    }
}

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

/// Reads a text that came from no file, with its warnings; any error refuses it.
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

/// What was read of a document.
struct Reading {
    form: Form,
    set: Option<EvalSet>,
    /// Id, range of the id and range of the case, in the order of the text.
    cases: Vec<(String, Range<usize>, Range<usize>)>,
    problems: Vec<Problem>,
}

impl Reading {
    fn broken(text: &str, problem: Problem) -> Self {
        let form = if text.trim_start().starts_with('[') { Form::TestFile } else { Form::EvalSet };
        Self { form, set: None, cases: Vec::new(), problems: vec![problem] }
    }

    fn give_session(&mut self, session: Option<&SessionInput>) {
        let cases = self.set.iter_mut().flat_map(|set| &mut set.eval_cases);
        if let Some(session) = session {
            cases.for_each(|case| case.session_input = Some(session.clone()));
        }
    }
}

fn read_document(text: &str, stem: &str) -> Reading {
    let mut warnings = Vec::new();
    let root = match syntax::parse(text, &mut warnings) {
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
        // One sentence about the whole file is worth more than one for each of its keys.
        return Reading { set: None, cases: Vec::new(), problems: vec![foreign], ..reading };
    }
    reading.problems.append(&mut warnings);
    reading
}

impl<'de> Deserialize<'de> for EvalSet {
    /// Reads any of the accepted forms and says what [`EvalSet::parse`] says; places are those of
    /// the document written anew, indented by two.
    ///
    /// Numbers come as the deserializer gives them: `serde_json` may be one bit off in a float and
    /// has no integers beyond 64 bits. `parse` has neither limit.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_pretty(&Value::deserialize(deserializer)?, &mut text);
        Self::parse(&text).map_err(serde_core::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
