//! The blocks of `docs/ci.md`.

use std::fs;
use std::path::Path;

use crate::WORKSPACE;

/// The address that the page has in place of the reader's.
pub(super) const ADDRESS: &str = "https://git.example.com/evalset";

/// A section of the page, with an address in place of the one that the page has.
pub(super) struct Section(String);

impl Section {
    /// The text from a heading to the next of its level, or from the beginning.
    pub(super) fn new(heading: &str, address: &str) -> Self {
        let page = fs::read_to_string(Path::new(WORKSPACE).join("docs/ci.md")).expect("the sources are here");
        let section = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
        Self(section.unwrap_or_else(|| panic!("no `{heading}`")).replace(ADDRESS, address))
    }

    /// The blocks of a language.
    pub(super) fn blocks(&self, language: &str) -> Vec<&str> {
        let begin = format!("```{language}\n");
        let blocks = self.0.split(&begin).skip(1);
        blocks.map(|rest| rest.split_once("```").expect("a block ends").0).collect()
    }
}
