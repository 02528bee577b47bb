//! How text is printed that this project did not write: what agents, tools, judges, files and the environment say.
//!
//! Such text is *untrusted* wherever it is shown. It must not move a terminal's cursor, turn the order of letters around,
//! look like a line of ours, be a command of a CI service, or be markup. So all of it goes through one of these:
//!
//! | shown as | through |
//! | --- | --- |
//! | a part of one of our lines: a name, a path, an id | `name`, `one_line` |
//! | a text of its own, which may have several lines | `quoted`, `marked` |
//! | a sentence of ours that ends with one | `lines_below` |
//! | the one line of such a text that says what went wrong | `name` of its `headline` |
//! | a finished text, in which both stand | `guard`, `guard_styled` |
//! | a text or a part of a line on a page, masked and cut | `excerpt`, `excerpt_line` |
//! | Markdown, XML, JSON, an annotation of GitHub | `markdown`, `xml`, `json`, `annotation` |
//!
//! What is taken out is spelt out (`\u{1b}`), so no text is lost.

mod excerpt;
mod formats;
mod headline;
mod text;

#[cfg(test)]
mod tests;

pub use excerpt::{Excerpt, LONGEST_LINE, LONGEST_TEXT, excerpt, excerpt_line};
pub use formats::{annotation, fenced, json, markdown, xml};
pub use headline::{below_headline, headline};
pub use text::{MARK, guard, guard_styled, lines_below, marked, name, one_line, quoted};
