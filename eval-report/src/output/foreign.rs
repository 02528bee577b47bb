//! Text that this program did not write: file names, and what models and tests said. eval-core says how it is printed.

pub use eval_core::foreign::{
    annotation, below_headline, fenced, guard, guard_styled, headline, json, markdown, quoted, xml,
};

/// Foreign text as a part of one of our lines: a name, a path, a sentence.
pub fn one_line(text: &str) -> String {
    eval_core::foreign::name(text).into_owned()
}
