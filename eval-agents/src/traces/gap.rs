//! Gaps: data that a trace lacks.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Something that a trace does not say, or says in a way that leaves a doubt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Gap {
    /// The kind of the gap.
    pub kind: GapKind,
    /// The place and the missing data, in words.
    pub message: String,
}

impl Gap {
    pub(super) fn new(kind: GapKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut gap = serializer.serialize_struct("Gap", 3)?;
        gap.serialize_field("kind", self.kind.code())?;
        gap.serialize_field("loses", &self.kind.loses())?;
        gap.serialize_field("message", &self.message)?;
        gap.end()
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

const SHORT_MESSAGE_CHARS: usize = 100;

/// One gap for each kind: the first of its kind, and the number of further ones.
pub(super) fn in_short(gaps: Vec<Gap>) -> Vec<Gap> {
    let mut kinds: Vec<(Gap, usize)> = Vec::new();
    for gap in gaps {
        match kinds.iter_mut().find(|(first, _)| first.kind == gap.kind) {
            Some((_, more)) => *more += 1,
            None => kinds.push((gap, 0)),
        }
    }
    let told = kinds.into_iter().map(|(first, more)| {
        let mut message: String = first.message.chars().take(SHORT_MESSAGE_CHARS).collect();
        if message.len() < first.message.len() {
            message.push('…');
        }
        if more > 0 {
            message.push_str(&format!(" (and {more} more of this kind in the conversation)"));
        }
        Gap { message, ..first }
    });
    told.collect()
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = ($code:literal, $loses:literal),)*) => {
        /// A kind of gap. Its [`code`](Self::code) is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum GapKind {
            $($(#[$doc])* $kind,)*
        }

        impl GapKind {
            /// The name, as it is printed: `answer_not_captured`.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)*
                }
            }

            /// Whether data may be lost that an expectation needs, so that the turn cannot be scored.
            ///
            /// Other gaps tell how data was found, or concern data that no lexical metric reads.
            ///
            /// ```
            /// use eval_agents::traces::GapKind;
            ///
            /// assert!(GapKind::ArgumentsNotCaptured.loses());
            /// assert!(!GapKind::ToolWithoutSpan.loses());
            /// ```
            pub fn loses(self) -> bool {
                match self {
                    $(Self::$kind => $loses,)*
                }
            }
        }
    };
}

kinds! {
    /// The user's message was not captured, or is redacted.
    UserNotCaptured = ("user_not_captured", true),
    /// The agent's answer was not captured, or is redacted.
    AnswerNotCaptured = ("answer_not_captured", true),
    /// The output of a model call was not captured, and it may have called tools. Or a tool has a span or a result, and
    /// nothing shows the call.
    CallsNotCaptured = ("calls_not_captured", true),
    /// The arguments of a tool call were not captured, or are redacted.
    ArgumentsNotCaptured = ("arguments_not_captured", true),
    /// The result of a tool call was not captured, or is redacted.
    ResultNotCaptured = ("result_not_captured", false),
    /// An attribute with content is not readable as JSON: some exporters truncate long values.
    Unreadable = ("unreadable", true),
    /// A message has a part of a kind that is not known here.
    UnknownPart = ("unknown_part", true),
    /// A message of the user or an answer has an image or other data beside its text.
    NotText = ("not_text", false),
    /// A span of a model, tool or agent has no time, so that its place in the order is not known. Or the
    /// duration of a turn is not known: the span that holds it has no time, or ends before it begins.
    NoTime = ("no_time", true),
    /// A part of the file does not follow its format and was left out.
    Malformed = ("malformed", true),
    /// A span occurs twice with different content, or is its own ancestor.
    Contradiction = ("contradiction", true),
    /// An agent span has no model call, no tool call, no messages and no failure. It is no turn.
    EmptyAgent = ("empty_agent", false),
    /// A turn may continue the one before it: no content says so or denies it.
    PossibleContinuation = ("possible_continuation", true),
    /// The span of a tool does not name the tool. The name of the span was taken.
    ToolNameMissing = ("tool_name_missing", false),
    /// The limits of an SDK or an exporter dropped attributes, events, links or spans.
    Dropped = ("dropped", true),
    /// A span that is no agent holds model calls of several turns.
    SeveralTurns = ("several_turns", true),
    /// The user's words are several messages in a row. An earlier turn without an answer may be among them.
    SeveralMessages = ("several_messages", false),
    /// The model was sent earlier turns, which are in no trace of the conversation.
    EarlierTurns = ("earlier_turns", false),
    /// A tool call is in messages alone and has no span.
    ToolWithoutSpan = ("tool_without_span", false),
    /// A result was joined to its call by order: the ids do not match.
    ResultByOrder = ("result_by_order", false),
    /// Arguments or a result of a tool span were taken from messages by the name of the tool: the ids do not match.
    DataByName = ("data_by_name", false),
    /// A span occurs twice with the same content: exporters that retry send it again.
    Repeated = ("repeated", false),
}

impl fmt::Display for GapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The most reasons that are kept apart. A file with more is broken as a whole.
const MAX_REASONS: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Notes {
    counted: Vec<(Gap, usize)>,
    further: usize,
}

impl Notes {
    pub(super) fn malformed(&mut self, what: impl Into<String>) {
        self.add(Gap::new(GapKind::Malformed, what));
    }

    /// Notes a value of an unexpected type. `null` counts as absent.
    pub(super) fn misfit(&mut self, what: &str, expected: &str, found: &str) {
        if found != "null" {
            self.malformed(format!("{what} should be {expected} and is {found}"));
        }
    }

    pub(super) fn add(&mut self, gap: Gap) {
        if let Some((_, count)) = self.counted.iter_mut().find(|(known, _)| *known == gap) {
            *count += 1;
        } else if self.counted.len() < MAX_REASONS {
            self.counted.push((gap, 1));
        } else {
            self.further += 1;
        }
    }

    pub(super) fn extend(&mut self, gaps: Vec<Gap>) {
        for gap in gaps {
            self.add(gap);
        }
    }

    pub(super) fn dropped(&mut self, what: &str, count: Option<u64>) {
        if count.is_some_and(|count| count > 0) {
            self.add(Gap::new(
                GapKind::Dropped,
                format!("{what} were dropped by the limits of an SDK or an exporter"),
            ));
        }
    }

    pub(super) fn into_gaps(self) -> Vec<Gap> {
        let of = |(gap, count): (Gap, usize)| match count {
            1 => gap,
            count => Gap::new(gap.kind, format!("{} ({count} times)", gap.message)),
        };
        let mut gaps: Vec<Gap> = self.counted.into_iter().map(of).collect();
        if self.further > 0 {
            gaps.push(Gap::new(GapKind::Malformed, format!("{} further things are left out", self.further)));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_gaps_in_short_are_the_first_of_each_kind_cut_and_counted() {
        let whole = "x".repeat(SHORT_MESSAGE_CHARS);
        let gaps = vec![
            Gap::new(GapKind::NoTime, &whole),
            Gap::new(GapKind::Dropped, format!("{whole}y")),
            Gap::new(GapKind::NoTime, "second"),
            Gap::new(GapKind::NoTime, "third"),
        ];
        let told: Vec<String> = in_short(gaps).iter().map(ToString::to_string).collect();
        let counted = format!("no_time: {whole} (and 2 more of this kind in the conversation)");
        assert_eq!(told, [counted, format!("dropped: {whole}…")]);
    }

    #[test]
    fn notes_are_counted_up_to_so_many_different_ones_and_what_dropped_nothing_is_none() {
        let told = |all: &[usize]| {
            let mut notes = Notes::default();
            for number in all {
                notes.malformed(format!("thing {number}"));
            }
            notes.into_gaps().into_iter().map(|gap| gap.message).collect::<Vec<_>>()
        };
        assert_eq!(told(&[1, 2, 1, 1]), ["thing 1 (3 times)", "thing 2"]);
        let most: Vec<usize> = (0..MAX_REASONS).collect();
        assert_eq!((told(&most).len(), told(&most)[MAX_REASONS - 1].as_str()), (MAX_REASONS, "thing 99"));
        let more = told(&[most, vec![MAX_REASONS, MAX_REASONS + 1, 0]].concat());
        assert_eq!((more.len(), more[0].as_str()), (MAX_REASONS + 1, "thing 0 (2 times)"));
        assert_eq!(more[MAX_REASONS], "2 further things are left out");
        let dropped = |count| {
            let mut notes = Notes::default();
            notes.dropped("spans", count);
            notes.into_gaps().len()
        };
        assert_eq!((dropped(None), dropped(Some(0)), dropped(Some(1))), (0, 0, 1));
    }

    #[test]
    fn a_gap_for_programs_has_its_code_and_says_whether_it_loses_something() {
        let gap = |kind| serde_json::to_value(Gap::new(kind, "why")).unwrap();
        let of =
            |code: &str, loses: bool| serde_json::json!({ "kind": code, "loses": loses, "message": "why" });
        assert_eq!(gap(GapKind::Unreadable), of("unreadable", true));
        assert_eq!(gap(GapKind::Repeated), of("repeated", false));
    }
}
