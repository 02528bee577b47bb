//! The prompts of judges: a template, and what was said and done as data inside of fences.

mod agents;
mod dialogue;
mod look_alikes;
mod rubrics;
mod steps;
mod template;
mod texts;

pub(crate) use agents::{instructions, tools};
pub(crate) use dialogue::dialogue;
pub(crate) use rubrics::rubrics;
pub(crate) use steps::{grounding, steps};
pub use template::JudgePrompt;
pub(crate) use template::{data_of, without_mark};
pub(crate) use texts::{answer, visible_text};
