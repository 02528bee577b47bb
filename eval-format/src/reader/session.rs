//! The session file of an old test file.

use super::checked::SetFormat;
use crate::model::SessionInput;
use crate::problem::{Problem, ProblemCode, in_order_of_places};
use crate::schema::{OLD_SESSION, Place, Record, Walker, opening};
use crate::syntax::{self, Node};
use crate::text;

/// A checked session file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedSession {
    /// The text that ranges point into.
    pub text: String,
    /// Its problems, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Checks the bytes of a session file beside a set of a form.
///
/// ```
/// use eval_format::reader::{SetFormat, check_session};
///
/// let session = br#"{"app_name": "trip", "state": []}"#;
/// let checked = check_session(session, SetFormat::TestFile);
/// assert_eq!(checked.problems[0].path.to_string(), "state");
/// ```
///
/// Only a [`SetFormat::TestFile`] takes a session file.
pub fn check_session(bytes: &[u8], form: SetFormat) -> CheckedSession {
    let (_, problems) = check(bytes, form);
    let (text, _) = text::decode_or_show(bytes);
    CheckedSession { text, problems }
}

/// Reads a session file; `None` if it has errors or is empty.
pub(super) fn check(bytes: &[u8], form: SetFormat) -> (Option<SessionInput>, Vec<Problem>) {
    let (text, broken) = text::decode_or_show(bytes);
    if let Some(problem) = broken {
        return (None, vec![problem]);
    }
    let mut problems = Vec::new();
    let root = match syntax::parse(&text, &mut problems) {
        Ok(root) => root,
        Err(problem) => return (None, vec![*problem]),
    };
    let record = Walker { problems: &mut problems }.record(&root, &OLD_SESSION, &Place::Root);
    if is_empty(&root) {
        return (None, problems);
    }
    if form != SetFormat::TestFile {
        problems.push(misplaced(&root));
    }
    in_order_of_places(&mut problems);
    (record.map(session_input), problems)
}

fn is_empty(root: &Node<'_>) -> bool {
    root.object().is_some_and(<[_]>::is_empty)
}

/// The session of a case from an initial session of the old formats.
pub(super) fn session_input(mut record: Record) -> SessionInput {
    SessionInput {
        app_name: record.take("app_name").unwrap_or_default(),
        user_id: record.take("user_id").unwrap_or_default(),
        state: record.take("state").unwrap_or_default(),
        ..SessionInput::default()
    }
}

fn misplaced(root: &Node<'_>) -> Problem {
    Problem::error(
        ProblemCode::SessionFile,
        Place::Root.path(),
        opening(root),
        "a session file stands beside a set that carries its own sessions",
    )
    .label("only old test files (`query`, `reference`) take a session file")
    .help("write it as `session_input` into the cases that need it, and leave the session file out")
}
