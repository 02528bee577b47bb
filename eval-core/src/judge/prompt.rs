//! The prompts of judges: a template, and what was said and done as data inside of fences.

mod data;
mod template;

pub(crate) use data::{answer, dialogue, grounding, instructions, rubrics, steps, tools, visible_text};
pub use template::JudgePrompt;
pub(crate) use template::{data_of, without_mark};
