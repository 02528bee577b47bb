//! The session file of an old test file.

use super::checked::SetFormat;
use crate::model::SessionInput;
use crate::problem::{Problem, ProblemCode};
use crate::schema::{OLD_SESSION, Place, Record, Walker, opening};
use crate::syntax::Node;
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
    let (text, _, problems) = check(bytes, form);
    CheckedSession { text, problems }
}

/// The text, the session unless it has errors or is empty, and the problems.
pub(super) fn check(bytes: &[u8], form: SetFormat) -> (String, Option<SessionInput>, Vec<Problem>) {
    text::read(
        bytes,
        |_, problem| problem,
        |root, problems| {
            let record = Walker { problems }.record(root, &OLD_SESSION, &Place::Root);
            if root.object().is_some_and(<[_]>::is_empty) {
                return None;
            }
            if form != SetFormat::TestFile {
                problems.push(misplaced(root));
            }
            record.map(session_input)
        },
    )
}

pub(super) fn session_input(mut record: Record) -> SessionInput {
    SessionInput {
        app_name: record.take("app_name").unwrap_or_default(),
        user_id: record.take("user_id").unwrap_or_default(),
        state: record.take("state").unwrap_or_default(),
        ..SessionInput::default()
    }
}

fn misplaced(root: &Node<'_>) -> Problem {
    let message = "a session file is beside a set that carries its own sessions";
    Place::Root
        .error(ProblemCode::SessionFile, opening(root), message)
        .label("only old test files (`query`, `reference`) take a session file")
        .help("write it as `session_input` into the cases that need it, and leave the session file out")
}
