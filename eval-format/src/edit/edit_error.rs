//! The reasons for refusing an edit.

use std::fmt;

use crate::problem::{Problems, shown};

/// The reason why an edit of a set is refused. The set is unchanged.
///
/// ```
/// use eval_format::{EvalCase, Invocation, SetEditor};
///
/// let mut editor = SetEditor::create("weather");
/// let case = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?"));
/// editor.add_case(&case)?;
/// let error = editor.add_case(&case).unwrap_err();
/// assert_eq!(error.to_string(), "the set has a case `sunny` already; the id `sunny_2` is free");
/// # Ok::<(), eval_format::EditError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The set has a case with this id already.
    #[non_exhaustive]
    DuplicateId {
        /// The id.
        eval_id: String,
        /// An id like it that no case has.
        free: String,
    },
    /// The set has no case with this id.
    #[non_exhaustive]
    UnknownCase {
        /// The id.
        eval_id: String,
        /// The id of a case that was probably meant.
        suggestion: Option<String>,
    },
    /// The case is no draft, so there is nothing to accept.
    #[non_exhaustive]
    NotADraft {
        /// The id of the case.
        eval_id: String,
    },
    /// The case that was to take the place of another one is no draft of it: it has no mark, or asks something else.
    #[non_exhaustive]
    NotTheSame {
        /// The id of the case.
        eval_id: String,
    },
    /// The id is empty.
    EmptyId,
    /// The file is in one of ADK's old forms, which cannot hold what the edit would write.
    #[non_exhaustive]
    OldForm {
        /// The name of the file.
        file: String,
    },
    /// The case that was to be added has errors.
    Case(Problems),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId { eval_id, free } => {
                let (eval_id, free) = (shown(eval_id), shown(free));
                write!(f, "the set has a case `{eval_id}` already; the id `{free}` is free")
            }
            Self::UnknownCase { eval_id, suggestion } => {
                write!(f, "the set has no case `{}`", shown(eval_id))?;
                match suggestion {
                    Some(meant) => write!(f, "; did you mean `{}`?", shown(meant)),
                    None => Ok(()),
                }
            }
            Self::NotADraft { eval_id } => write!(f, "the case `{}` is no draft", shown(eval_id)),
            Self::NotTheSame { eval_id } => {
                write!(f, "the user of the case `{}` says something else now", shown(eval_id))
            }
            Self::EmptyId => f.write_str("the id of a case cannot be empty"),
            Self::OldForm { file } => write!(
                f,
                "`{}` is in an old form of ADK, which cannot hold this; write it as an eval set first: \
                 `cargo evalset migrate OLD NEW.evalset.json`",
                shown(file)
            ),
            Self::Case(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for EditError {}
