//! Printing of texts that this project did not write: the words of agents, tools, judges, files and the environment.
//!
//! Such text is *untrusted* wherever it is shown. It must not move a terminal's cursor, turn the order of letters
//! around, look like a line of ours, be a command of a CI service, or be markup. So all of it goes through one of
//! these:
//!
//! | shown as | through |
//! | --- | --- |
//! | a part of one of our lines: a name, a path, an id | `name`, `one_line` |
//! | a text on lines of its own | `quoted`, `marked` |
//! | the end of a sentence of ours | `lines_below` |
//! | the headline of an error | `name` of its `headline` |
//! | a finished text that mixes both | `guard`, `guard_styled` |
//! | a text or a part of a line on a page, masked and truncated | `excerpt`, `excerpt_line` |
//! | Markdown, XML, JSON, an annotation of GitHub | `markdown`, `xml`, `json`, `annotation` |
//!
//! A dangerous character is replaced by its escape (`\u{1b}`), so no text is lost.

mod excerpt;
mod formats;
mod headline;
mod text;

#[cfg(test)]
mod tests;

pub use excerpt::{Excerpt, MAX_LINE_CHARS, MAX_TEXT_CHARS, excerpt, excerpt_line, masked_beginning};
pub use formats::{annotation, fenced, json, markdown, xml};
pub use headline::{below_headline, headline};
pub use text::{MARK, guard, guard_styled, is_invisible, lines_below, marked, name, one_line, quoted};
