//! The prompts of judges: a template, and the conversation as fenced data.

mod calls;
mod data;
mod template;

pub(crate) use data::{answer, dialogue, grounding, instructions, rubrics, steps, tools, visible_text};
pub use template::JudgePrompt;
pub(crate) use template::{data_of, without_mark};
