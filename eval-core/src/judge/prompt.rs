//! The prompts of judges: a template, and what was said and done as data inside of fences.

mod data;
mod dialogue;
mod template;

pub(crate) use data::{answer, grounding, instructions, rubrics, steps, tools, visible_text};
pub(crate) use dialogue::dialogue;
pub use template::JudgePrompt;
pub(crate) use template::{data_of, without_mark};
