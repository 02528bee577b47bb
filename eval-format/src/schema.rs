//! The shapes of ADK's models as data, a table for each model, and the walker that checks nodes against them.

mod config;
mod content;
mod criterion;
mod eval_set;
mod grounding;
mod legacy;
mod place;
mod record;
#[cfg(feature = "recordings")]
mod recording;
mod table;
#[cfg(feature = "export")]
mod unwritten;
mod walk;
mod wording;

pub(crate) use config::{CUSTOM_METRIC, EVAL_CONFIG, JUDGE_MODEL_OPTIONS, LLM_BACKED_USER_SIMULATOR};
pub use content::Piece;
pub(crate) use content::{CONTENT, FUNCTION_CALL, FUNCTION_RESPONSE, PART};
pub(crate) use criterion::criterion;
pub(crate) use eval_set::{
    AGENT_DETAILS, CONVERSATION_SCENARIO, EVAL_CASE, EVAL_SET, EVAL_SET_ANY_CASE, INVOCATION,
    INVOCATION_EVENT, PERSONAS, RUBRIC, SESSION_INPUT, USER_BEHAVIOR, USER_PERSONA,
};
pub(crate) use grounding::USAGE_METADATA;
pub(crate) use legacy::{OLD_CASE, OLD_SESSION, OLD_TURN};
pub(crate) use place::Place;
pub(crate) use record::{Checked, FromChecked, Record, from_record};
#[cfg(feature = "recordings")]
pub(crate) use recording::{RECORDED_QUESTION, RECORDING};
#[cfg(any(feature = "edit", feature = "export"))]
pub(crate) use table::Spelling;
pub(crate) use table::{Extra, Field, Model, Type};
#[cfg(feature = "export")]
pub(crate) use unwritten::unwritten;
#[cfg(feature = "export")]
pub(crate) use walk::EDITORS_KEY;
pub(crate) use walk::Walker;
pub(crate) use wording::{opening, wrong_type};

#[cfg(test)]
mod tests;
