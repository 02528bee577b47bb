//! All problems of one file.

use std::fmt;

use super::finding::Problem;
use super::render::render_with_level;

/// The most problems that are shown. With more, fixing the first ones helps more than reading the rest.
const MAX_SHOWN_PROBLEMS: usize = 20;

/// All problems of one file, together with its text, so that it can show them.
///
/// `Display` renders each as rustc would, with headline, place, snippet and help: errors before warnings, at most 20.
/// If a function returns this as its error, at least one of the problems is an error.
#[derive(Clone, Debug)]
pub struct Problems {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) items: Vec<Problem>,
}

impl Problems {
    /// The problems in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.items.iter()
    }

    /// The name of the file, as messages show it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text that the ranges point into.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of problems.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0;
        for errors in [true, false] {
            for problem in self.items.iter().filter(|problem| problem.is_error() == errors) {
                if shown < MAX_SHOWN_PROBLEMS {
                    f.write_str(if shown > 0 { "\n\n" } else { "" })?;
                    f.write_str(&render_with_level(problem, &self.file, &self.text))?;
                    shown += 1;
                }
            }
        }
        match self.len().saturating_sub(MAX_SHOWN_PROBLEMS) {
            0 => Ok(()),
            1 => f.write_str("\n\n... and 1 more problem"),
            more => write!(f, "\n\n... and {more} more problems"),
        }
    }
}
