//! Reading and checking eval sets, old test files and session files.
//!
//! One reader decides what is valid, for the attribute and at run time alike. [`check_set`] finds all
//! problems of a file; [`EvalSet::parse`](crate::EvalSet::parse) and [`EvalSet::read`](crate::EvalSet::read)
//! return the set alone. [`EvalSet::check`](crate::EvalSet::check) checks a set that was built in Rust by the
//! same rules.
//!
//! ```
//! let text = br#"{"eval_set_id": "s", "eval_cases": [
//!   {"eval_id": "hi", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
//! ]}"#;
//! let checked = eval_format::reader::check_set("s.evalset.json", text, None);
//! assert_eq!((checked.cases[0].eval_id.as_str(), checked.cases[0].line), ("hi", 2));
//! ```

pub(crate) mod built;
mod cases;
mod checked;
mod drafts;
mod foreign;
mod legacy;
mod parse;
mod scenario;
mod session;
mod set;
pub(crate) mod slice;
#[cfg(feature = "export")]
mod unwritten;

#[cfg(feature = "json-schema")]
pub(crate) use cases::LOOK_LIKE_EXPECTATIONS;
#[cfg(feature = "edit")]
pub(crate) use cases::model_of;
pub(crate) use checked::SCENARIO_KEYS;
pub use checked::{CaseSpan, CheckedSet, SetFormat};
#[doc(hidden)]
pub use drafts::{drafts_are, how_to_accept};
#[cfg(feature = "edit")]
pub(crate) use parse::NO_FILE;
#[cfg(feature = "recordings")]
pub(crate) use parse::parse;
pub use session::{CheckedSession, check_session};
pub use set::check_set;

#[cfg(test)]
mod tests;
