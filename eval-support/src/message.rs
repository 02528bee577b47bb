//! Truncated and quoted texts for messages, and functions that print messages.

use std::borrow::Cow;

use crate::secrets::mask;
use crate::untrusted::guard;
use crate::words::count;

/// The first `limit` characters of a text, with a mark behind them if there are more.
///
/// ```
/// use eval_support::message::truncated;
///
/// assert_eq!(truncated("weather", 4, ".."), "weat..");
/// assert_eq!(truncated("日本", 2, ".."), "日本");
/// ```
///
/// Secrets are masked first: half a key would not be recognised as one.
pub fn truncated<'t>(text: &'t str, limit: usize, mark: &str) -> Cow<'t, str> {
    let text = mask(text);
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}{mark}", &text[..end])),
        None => text,
    }
}

/// A text truncated to about `limit` characters, with the number of characters that are left out.
///
/// Secrets are masked first: half a key would not be recognised as one.
pub fn cut(text: &str, limit: usize) -> String {
    let text = &*mask(text);
    let Some((end, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let rest = text[end..].chars().count();
    if rest <= 24 {
        // The remark would be as long as what it leaves out.
        return text.to_owned();
    }
    format!("{}... ({rest} more characters)", &text[..end])
}

/// The beginning of the note about a fault file without an effect on a case.
pub const NO_FAULT: &str = "no fault of ";

/// The beginning of the remark about a conversation that was to be recorded, and made no call of a model that could be.
pub const NOTHING_RECORDED: &str = "nothing was recorded, since no call of a model came to the gateway";

/// The words between the number of recorded answers that no call asked for, and what they answer.
pub const NEVER_ASKED_FOR: &str = " never asked for: ";

/// The end of the remark about recorded answers that were put under requests that changed.
pub const TO_AN_OLDER_REQUEST: &str = " to an older request";

const OF_A_MODEL: &str = " of a model (";
const NOT_RECORDED: &str = " is not recorded";
const CHANGED: &str = " changed";

/// The beginning of the first line about a call of a model without a recorded answer.
pub fn unrecorded_call(call: &str) -> String {
    format!("{call}{NOT_RECORDED}")
}

/// The first line about a call of a model whose request changed since it was recorded.
///
/// ```
/// use eval_support::message::{changed_call, changed_parts};
///
/// let line = changed_call("call 1 of a model (gemini, g)", "the system prompt");
/// assert_eq!(line, "call 1 of a model (gemini, g) is not recorded: the system prompt changed");
/// assert_eq!(changed_parts(&format!("error in turn 1: {line}")), Some("the system prompt"));
/// ```
pub fn changed_call(call: &str, parts: &str) -> String {
    format!("{call}{NOT_RECORDED}: {parts}{CHANGED}")
}

/// The parts of a request that changed, from a text with the line of [`changed_call`].
pub fn changed_parts(text: &str) -> Option<&str> {
    let (call, rest) = text.split_once(NOT_RECORDED)?;
    let (parts, _) = rest.lines().next()?.strip_prefix(": ")?.split_once(CHANGED)?;
    call.contains(OF_A_MODEL).then_some(parts)
}

/// A call of a model that another run lacks the answer to, too, unless it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingCall {
    /// Its answer is not recorded.
    New,
    /// Its request changed since its answer was recorded.
    Changed,
}

impl MissingCall {
    /// The call that a text with the beginning of [`unrecorded_call`] or [`changed_call`] is about.
    pub fn from_text(text: &str) -> Option<Self> {
        let (call, _) = text.split_once(NOT_RECORDED)?;
        let found = if changed_parts(text).is_some() { Self::Changed } else { Self::New };
        call.contains(OF_A_MODEL).then_some(found)
    }

    /// The setting under which a command records its answer. Of a request that changed the old answer would stay otherwise.
    pub fn setting(self) -> &'static str {
        match self {
            Self::New => "EVALSET_MODELS=record",
            Self::Changed => "EVALSET_MODELS=record-all",
        }
    }
}

/// The first lines of foreign text, each behind a bar, so that none can be taken for a line of ours.
pub fn quote(text: &str) -> String {
    let text = text.trim();
    let mut out = String::new();
    for line in text.lines().take(QUOTED_LINES) {
        out.push_str("\n| ");
        out.push_str(&cut(&guard(line), MAX_QUOTED_CHARS));
    }
    let more = text.lines().count().saturating_sub(QUOTED_LINES);
    if more > 0 {
        out.push_str(&format!("\n| ... ({})", count(more, "more line")));
    }
    if out.is_empty() { "\n| (nothing)".to_owned() } else { out }
}

/// The number of lines of a quotation.
const QUOTED_LINES: usize = 3;
/// Characters of each line of a quotation.
const MAX_QUOTED_CHARS: usize = 160;

/// Prints to stderr. The test harness captures it with the output of the test.
#[expect(clippy::print_stderr, reason = "the report of a test goes where tests print")]
pub fn show(text: &str) {
    eprintln!("{}", guard(&mask(text)));
}

/// Prints to stderr past the test harness, which does not show what passing tests print.
pub fn show_past_the_harness(text: &str) {
    use std::io::Write;
    // If stderr fails, there is no other place for the message.
    let _ = writeln!(std::io::stderr().lock(), "{}", guard(&mask(text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_cannot_pose_as_ours() {
        for (text, expected) in [
            ("I cannot tell.\n", "\n| I cannot tell."),
            (" \n\n", "\n| (nothing)"),
            ("Error: a::b\nrun again\u{1b}[2J", "\n| Error: a::b\n| run again\\u{1b}[2J"),
            ("1\n2\r\n3\n4", "\n| 1\n| 2\n| 3\n| ... (1 more line)"),
        ] {
            assert_eq!(quote(text), expected);
        }
        let long = quote(&format!("{}\n", "ä".repeat(1000)).repeat(1000));
        assert!(long.lines().all(|line| line.chars().count() < 200), "{long}");
        assert!(
            long.contains("... (840 more characters)") && long.ends_with("... (997 more lines)"),
            "{long}"
        );
    }

    #[test]
    fn a_call_without_an_answer_is_told_from_one_whose_request_changed() {
        let call = "call 1 of a model (gemini, g)";
        for (text, found) in [
            (unrecorded_call(call) + ": there is no recording `x`", Some(MissingCall::New)),
            (unrecorded_call(call) + " for run 2: `x` has 1 run", Some(MissingCall::New)),
            (changed_call(call, "the tools") + "\nrecord it  x", Some(MissingCall::Changed)),
            (unrecorded_call("the question") + ": x", None),
            ("the agent failed".to_owned(), None),
        ] {
            assert_eq!(MissingCall::from_text(&text), found, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_on_characters() {
        assert_eq!(cut("äöü", 2), "äöü");
        let long = "ä".repeat(100);
        assert_eq!(cut(&long, 10), format!("{}... (90 more characters)", "ä".repeat(10)));
    }

    #[test]
    fn a_key_across_the_limit_is_masked() {
        let key = format!("sk-ant-{}", "a1".repeat(60));
        for text in [format!("the key is {key}"), format!("{key} is the key")] {
            assert!(!truncated(&text, 20, "..").contains("a1"), "{text}");
            assert!(!cut(&text, 20).contains("a1"), "{text}");
        }
        assert!(matches!(truncated("no key", 20, ".."), Cow::Borrowed("no key")));
    }
}
