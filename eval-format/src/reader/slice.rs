//! Reading of single cases and turns.

use super::checked::SetFormat;
use super::parse::parse;
use super::{cases, legacy, session};
use crate::model::{EvalCase, Invocation};
use crate::problem::{Problem, Problems};
use crate::schema::{INVOCATION, Place, Walker};

/// Reads a case from its own slice of a file, as [`CaseSpan::range`](super::CaseSpan::range) gives it.
///
/// `eval_id` is the id of the case of a [`SetFormat::TestFile`], and `session` the text of its session file.
///
/// ```
/// use eval_format::__private::read_case;
/// use eval_format::reader::{SetFormat, check_set};
///
/// let text = r#"{"eval_set_id": "s", "eval_cases": [
///     {"eval_id": "hi", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
/// ]}"#;
/// let place = &check_set("s.evalset.json", text.as_bytes(), None).cases[0];
/// let case = read_case(SetFormat::EvalSet, &text[place.range.clone()], &place.eval_id, None)?;
/// assert_eq!((case.eval_id.as_str(), place.line, place.column), ("hi", 2, 5));
/// # Ok::<(), eval_format::Problems>(())
/// ```
pub fn read_case(
    form: SetFormat,
    slice: &str,
    eval_id: &str,
    session: Option<&str>,
) -> Result<EvalCase, Problems> {
    check_case(form, slice, eval_id, session).map(|(case, _)| case)
}

/// Reads a case as [`read_case`] does, and returns its warnings too. Ranges point into the slice.
pub fn check_case(
    form: SetFormat,
    slice: &str,
    eval_id: &str,
    session: Option<&str>,
) -> Result<(EvalCase, Vec<Problem>), Problems> {
    parse(slice, |root, problems| match form {
        SetFormat::EvalSet => cases::case(root, &Place::Root, &mut Walker { problems }),
        SetFormat::TestFile => {
            let session = session.and_then(|text| session::check(text.as_bytes(), form).1);
            legacy::test_file(root, slice, eval_id, session, &mut Walker { problems })
        }
        SetFormat::OldEvalSet => legacy::case(root, slice, &Place::Root, &mut Walker { problems }),
    })
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
        read_case(SetFormat::EvalSet, text, "", None)
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
