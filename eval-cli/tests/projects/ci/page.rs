//! The blocks of pages that have jobs.

use std::fs;
use std::path::Path;

use crate::WORKSPACE;

/// The address of this project on machines that are emulated.
pub(super) const ADDRESS: &str = "https://git.example.com/evalset";

/// The placeholder of an address on all pages.
const PLACEHOLDER: &str = "ADDRESS";

/// A section of a page, with an address in place of the placeholder.
pub(super) struct Section(String);

impl Section {
    /// A section of `docs/ci.md`.
    pub(super) fn new(heading: &str, address: &str) -> Self {
        Self::of_page("docs/ci.md", heading, address)
    }

    /// The text from a heading to the next of its level, or from the beginning.
    pub(super) fn of_page(page: &str, heading: &str, address: &str) -> Self {
        let page = fs::read_to_string(Path::new(WORKSPACE).join(page)).expect("the sources are here");
        let section = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
        Self(section.unwrap_or_else(|| panic!("no `{heading}`")).replace(PLACEHOLDER, address))
    }

    /// The blocks of a language.
    pub(super) fn blocks(&self, language: &str) -> Vec<&str> {
        let begin = format!("```{language}\n");
        let blocks = self.0.split(&begin).skip(1);
        blocks.map(|rest| rest.split_once("```").expect("a block ends").0).collect()
    }
}
