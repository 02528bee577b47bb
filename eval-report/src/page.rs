//! The page of a run: one HTML file with everything in it, and what it shows.
//!
//! The module does not know where runs are recorded, so that a server can show the same page. Untrusted texts
//! are plain text in the model. The template escapes them. The details of cases are JSON, which the script
//! turns into text nodes.

mod command_words;
mod comparison;
mod count;
mod details;
mod diff;
mod earlier_runs;
mod keys;
mod media;
mod model;
mod plot;
mod render;
mod tool_result;

use std::collections::HashMap;

use eval_support::hash::content_hash;
use eval_support::secrets::mask;
use eval_support::untrusted::{Excerpt, LONGEST_LINE, LONGEST_TEXT, excerpt, excerpt_line};
use serde::Serialize;

pub use command_words::command_words;
pub use comparison::{Block, texts};
pub use details::{
    Call, CallState, CaseDetails, Command, Earlier, InWork, Judge, JudgedRubric, MetricLine, Next,
    NextOfGroup, NextStep, Question, Run, RunScore, StateRow, Step, Turn, TurnScore, Vote,
};
pub use diff::{Part, Side};
pub use earlier_runs::{CaseHistory, CaseSince, MetricSince, PastRun};
pub use keys::{KeyRow, Keys, keys_of_calls};
pub use media::{Budget, Media, media};
pub(crate) use media::{media_labels, same_media};
pub use model::{CaseRow, Compared, Count, Fact, Headline, PageModel, Pill, Progress, SinceBaseline, Tone};
pub use plot::{Histogram, PassRate, Point, Scatter, Spark};
pub use render::{
    COMPONENTS, ELEMENTS, Live, STYLE, inside_html, live_policy, policy, render, render_changes, render_live,
};
pub(crate) use tool_result::{ToolResult, tool_result};

/// An untrusted text in full, or its beginning. Secrets are masked, and characters that mislead readers are
/// escaped.
///
/// Secrets are masked here, and not in the finished page: there a secret with a `<` or a `&` is escaped and
/// not found, and masking a word of our own script would break the script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Text {
    #[serde(rename = "t")]
    pub shown: String,
    /// The number of characters left out.
    #[serde(rename = "cut", skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A message. Line breaks and tabs stay.
pub fn text(foreign: &str) -> Text {
    let Excerpt { shown, left_out } = excerpt(foreign, LONGEST_TEXT);
    Text { shown, left_out }
}

/// An untrusted text as part of a line. It notes how much is left out.
pub fn line(foreign: &str) -> String {
    excerpt_line(foreign, LONGEST_LINE).noted()
}

/// Gives each case a name that is unique on the page, and that needs no escapes in links and attributes.
#[derive(Debug, Default)]
pub struct Anchors(HashMap<String, usize>);

/// Longer names are truncated, and have a hash to stay unique.
const MAX_ANCHOR_CHARS: usize = 120;

impl Anchors {
    /// The anchor of a case, `case-weather::sunny`. Unless the name is repeated, it is the same on every page.
    pub fn add(&mut self, name: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
        let mut anchor = "case-".to_owned();
        // Secrets are masked first: a truncated secret would not be recognised.
        anchor.extend(mask(name).chars().take(MAX_ANCHOR_CHARS).map(|c| if plain(c) { c } else { '_' }));
        if anchor.strip_prefix("case-") != Some(name) {
            anchor.push_str(&format!("-{:08x}", content_hash(name.as_bytes()) >> 32));
        }
        let seen = self.0.entry(anchor.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            // No other anchor contains a `~`.
            anchor.push_str(&format!("~{seen}"));
        }
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        assert_eq!(text("a\nb"), Text { shown: "a\nb".into(), left_out: 0 });
        assert_eq!(text(&"ä".repeat(LONGEST_TEXT + 7)).left_out, 7);
        assert!(line(&"x".repeat(LONGEST_LINE + 1)).ends_with(" … (1 more characters)"));
        assert_eq!(line("a\nb"), "a\\nb");
    }

    #[test]
    fn a_key_is_masked_in_a_short_text_too() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for shown in [text(&key).shown, line(&key)] {
            assert!(!shown.contains("abcde"), "{shown}");
        }
    }
}

#[cfg(test)]
mod anchor_tests {
    use super::*;

    #[test]
    fn an_anchor_is_stable_plain_and_of_one_case() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.add("weather::sunny"), "case-weather::sunny");
        assert_eq!(anchors.add("weather::sunny"), "case-weather::sunny~2");
        let odd = ["set/it's \"x\"", "set/it's  x ", "<img>", "日本", &"x".repeat(10_000), &"x".repeat(9999)];
        let of: Vec<String> = odd.iter().map(|name| anchors.add(name)).collect();
        for (at, anchor) in of.iter().enumerate() {
            assert!(anchor.bytes().all(|b| b.is_ascii_alphanumeric() || b":_-.~".contains(&b)), "{anchor}");
            assert!(anchor.len() < 150 && !of[..at].contains(anchor), "{anchor}");
        }
        assert_eq!(Anchors::default().add(odd[0]), of[0]);
    }
}
