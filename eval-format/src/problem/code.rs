//! Kinds of problems, and their severity.

use std::fmt;

/// The severity of a [`Problem`](super::Problem).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// ADK accepts it, but it is hardly intended. It never stops a build.
    Warning,
    /// The file cannot be used, or a part of it would go untested.
    Error,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The kind of a [`Problem`](super::Problem), with a name that stays the same across versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProblemCode {
            $($(#[$doc])* $variant,)*
        }

        impl ProblemCode {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable name, in kebab case: `duplicate-eval-id`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The bytes are not UTF-8 text, or begin with a byte order mark.
    Encoding = "encoding",
    /// The text is not JSON.
    Syntax = "syntax",
    /// Values are nested deeper than 200 levels.
    TooDeep = "too-deep",
    /// A key is a duplicate within its object, so that one of its values would be lost.
    DuplicateKey = "duplicate-key",
    /// A required key is absent.
    MissingKey = "missing-key",
    /// A key is unknown, in an object where unknown keys are forbidden.
    UnknownKey = "unknown-key",
    /// A key that ADK would keep or ignore looks like a misspelt known key.
    MisspeltKey = "misspelt-key",
    /// One field is there in both of its spellings, so that one of its values would be lost.
    BothSpellings = "both-spellings",
    /// A value is of the wrong type, or not one of the allowed values.
    WrongType = "wrong-type",
    /// A number that is too large for a float, and so becomes infinite.
    NumberRange = "number-range",
    /// A key that ADK silently ignores.
    IgnoredKey = "ignored-key",
    /// The file is of another schema that this crate recognises but does not read.
    ForeignSchema = "foreign-schema",
    /// A recording holds two answers to one question.
    DuplicateRecording = "duplicate-recording",
    /// The set has no cases.
    NoCases = "no-cases",
    /// A case has no turns, or its scenario has no starting prompt or no plan.
    EmptyConversation = "empty-conversation",
    /// A case has a persona that the custom instructions of the simulator leave out.
    UnusedPersona = "unused-persona",
    /// A case has neither a conversation nor a scenario, or both.
    ConversationOrScenario = "conversation-or-scenario",
    /// A case is a draft that is not accepted yet.
    Draft = "draft",
    /// A fault of a tool that no call can reach, or one without golden tools.
    ToolFault = "tool-fault",
    /// A malformed fault of a model, or one that no call can reach.
    ModelFault = "model-fault",
    /// The recorded calls of models of a case cannot be read.
    ModelRecording = "model-recording",
    /// An expected call has no response, and tools answer from the golden.
    UnansweredCall = "unanswered-call",
    /// Two cases have the same id.
    DuplicateEvalId = "duplicate-eval-id",
    /// A case has an empty id, which ADK allows. Commands cannot name it.
    EmptyEvalId = "empty-eval-id",
    /// Something in the format that this version does not run.
    NotAvailable = "not-available",
    /// A session file is given for a set that has its own sessions.
    SessionFile = "session-file",
    /// A tag of a case is empty, has white space at an end, or is there twice.
    Tag = "tag",
    /// A metric name is not known.
    UnknownMetric = "unknown-metric",
    /// A threshold lies outside the range of its metric.
    ThresholdRange = "threshold-range",
    /// A config that seems to apply to the set, but does not.
    OverlookedConfig = "overlooked-config",
    /// The criteria check nothing.
    NothingChecked = "nothing-checked",
    /// No agent can pass the case by its criteria.
    CannotPass = "cannot-pass",
    /// A threshold without a direction, for a metric that only informs.
    InformationalThreshold = "informational-threshold",
    /// Two rubrics that are judged together have the same id.
    DuplicateRubricId = "duplicate-rubric-id",
    /// A rubric that no metric reads, or that has no text.
    UnreadRubric = "unread-rubric",
    /// A metric that reads rubrics has no rubrics.
    NoRubrics = "no-rubrics",
    /// A weight for a rubric that does not exist.
    UnknownRubric = "unknown-rubric",
    /// `_expect` names a turn, a call or an argument that is not there, or two calls.
    UnknownPlace = "unknown-place",
    /// A matcher or a demand of `_expect` is unknown, can never hold, or is broken by the expected value.
    Matcher = "matcher",
    /// No metric reads a rule of `_expect`.
    UnreadRule = "unread-rule",
    /// A rule of `_expect` says what the criteria allow already.
    NeedlessRule = "needless-rule",
    /// `_criteria` of a case cannot be laid over the criteria of its config.
    CaseCriteria = "case-criteria",
    /// A custom metric has no function in Rust.
    UnansweredCustomMetric = "unanswered-custom-metric",
    /// Something that is lost if the file is written in ADK's saved form.
    Unwritten = "unwritten",
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let mut names: Vec<_> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ProblemCode::ALL.len());
    }
}
