//! Edits of the cases of a file that change no other byte of it.
//!
//! People and programs maintain a set as text, so its order, indentation, line ends and comments in keys are
//! kept. [`SetEditor`] replaces, adds and removes the bytes of cases. It reads and writes no files:
//!
//! ```
//! use eval_format::{EvalCase, Invocation, Map, SetEditor};
//!
//! let text = r#"{
//!     "eval_set_id": "weather",
//!     "_owner": "anna",
//!     "eval_cases": [
//!         {"eval_id": "sunny", "conversation": [{"user_content": {"parts": [{"text": "Weather in Paris?"}]}}]}
//!     ]
//! }"#;
//! let mut editor = SetEditor::new(text)?;
//! let rain = EvalCase::new("rain").turn(Invocation::user("Weather in Oslo?").response("It rains."));
//! editor.add_case(&rain.with_draft(Map::from([("from", "chat of 3 May")])))?;
//! assert_eq!(editor.drafts().collect::<Vec<_>>(), ["rain"]);
//!
//! editor.accept("rain")?;
//! editor.rename_case("rain", "rain_in_Oslo")?;
//! editor.remove_case("sunny")?;
//! assert_eq!(
//!     editor.into_text(),
//!     r#"{
//!     "eval_set_id": "weather",
//!     "_owner": "anna",
//!     "eval_cases": [
//!         {"eval_id": "rain_in_Oslo", "conversation": [{"user_content": {"parts": [{"text": "Weather in Oslo?"}], "role": "user"}, "final_response": {"parts": [{"text": "It rains."}], "role": "model"}}]}
//!     ]
//! }"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod edit_error;
mod editor;
mod layout;
mod patch;
mod redraft;
mod sections;
mod spelling;

pub use edit_error::EditError;
pub use editor::SetEditor;

#[cfg(test)]
mod revised_tests;
#[cfg(test)]
mod tests;
