//! The keys of criteria: each is declared here once, and checked, suggested and listed from its declaration.

use super::choices::{ArgsMatch, Direction, MatchType, Similarity};

/// A key that a metric's criterion may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CriterionField {
    /// The key in `snake_case`. Files may spell it in camelCase too.
    pub name: &'static str,
    /// The type of its value.
    pub kind: FieldKind,
    /// The default as JSON text; `None` if the key is required.
    pub default: Option<&'static str>,
    /// An example of a value as JSON text, for messages.
    pub example: Option<&'static str>,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// The type of the value under a key of a criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// One of a few strings, in any case, with blanks or `-` for `_`.
    Choice {
        /// The strings as a checked config holds them.
        values: &'static [&'static str],
        /// Whether ADK also takes the position in the list, as a number.
        numbered: bool,
    },
    /// An array of strings.
    Strings,
    /// An array of rubrics.
    Rubrics,
    /// An object: rubric ids and their weights.
    Weights,
    /// An object: which model judges, and how often it is asked.
    JudgeOptions,
}

impl CriterionField {
    /// The default of a field of kind [`Bool`](FieldKind::Bool).
    pub(crate) fn default_bool(&self) -> bool {
        self.default == Some("true")
    }

    /// The default of a field of kind [`String`](FieldKind::String); such a default has no escapes.
    pub(crate) fn default_text(&self) -> &'static str {
        self.default.unwrap_or_default().trim_matches('"')
    }
}

/// A key with a default, which is JSON text.
const fn optional(
    name: &'static str,
    kind: FieldKind,
    default: &'static str,
    doc: &'static str,
) -> CriterionField {
    CriterionField { name, kind, default: Some(default), example: None, doc }
}

/// A key that the criterion must have.
const fn required(
    name: &'static str,
    kind: FieldKind,
    example: &'static str,
    doc: &'static str,
) -> CriterionField {
    CriterionField { name, kind, default: None, example: Some(example), doc }
}

const fn choice(values: &'static [&'static str]) -> FieldKind {
    FieldKind::Choice { values, numbered: false }
}

pub(crate) const MATCH_TYPE: CriterionField = optional(
    "match_type",
    FieldKind::Choice { values: MatchType::NAMES, numbered: true },
    r#""EXACT""#,
    "whether the calls must be the expected ones, or contain them in order, or in any order",
);

pub(crate) const IGNORE_ARGS: CriterionField =
    optional("ignore_args", FieldKind::Bool, "false", "whether only the names of the tools are compared");

pub(crate) const ARGS_MATCH: CriterionField = optional(
    "args_match",
    choice(ArgsMatch::NAMES),
    r#""exact""#,
    "whether arguments must be equal, may be more than expected, or do not count; ADK ignores this key",
);

pub(crate) const FORBIDDEN_TOOLS: CriterionField = optional(
    "forbidden_tools",
    FieldKind::Strings,
    "[]",
    "tools that must not be called; ADK ignores this key",
);

pub(crate) const DIRECTION: CriterionField = optional(
    "direction",
    choice(Direction::NAMES),
    r#""at_least""#,
    "whether a score must reach the threshold, or must not exceed it; ADK ignores this key",
);

pub(crate) const JUDGE: CriterionField = optional(
    "judge_model_options",
    FieldKind::JudgeOptions,
    "{}",
    "the judge's model and how often it is asked",
);

pub(crate) const RUBRICS: CriterionField =
    optional("rubrics", FieldKind::Rubrics, "[]", "what the judge looks at, besides the rubrics of the case");

pub(crate) const WEIGHTS: CriterionField = optional(
    "weights",
    FieldKind::Weights,
    "{}",
    "how much rubrics count in the mean, by their ids; 1 where nothing is said; ADK ignores this key",
);

/// ADK takes this key in the criterion of every metric; the metrics that read it list it.
pub(crate) const INTERMEDIATE_RESPONSES: CriterionField = optional(
    "include_intermediate_responses_in_final",
    FieldKind::Bool,
    "false",
    "whether texts before the final response are judged with it",
);

pub(crate) const INTERMEDIATE_SENTENCES: CriterionField = optional(
    "evaluate_intermediate_nl_responses",
    FieldKind::Bool,
    "false",
    "whether texts before the final response are judged too",
);

/// A macro, since a default is JSON text.
macro_rules! stop_signal {
    () => {
        "</finished>"
    };
}

/// What ADK's simulated user writes to end the conversation.
pub const DEFAULT_STOP_SIGNAL: &str = stop_signal!();

pub(crate) const STOP_SIGNAL: CriterionField = optional(
    "stop_signal",
    FieldKind::String,
    concat!('"', stop_signal!(), '"'),
    "the text with which the simulated user ends the conversation",
);

pub(crate) const TOOL_NAME: CriterionField =
    required("tool_name", FieldKind::String, r#""get_weather""#, "the tool that must be called");

pub(crate) const ALGORITHM: CriterionField =
    optional("algorithm", choice(Similarity::NAMES), r#""jaccard""#, "how likeness is measured");

pub(crate) const IGNORE_CASE: CriterionField =
    optional("ignore_case", FieldKind::Bool, "true", "whether upper and lower case are the same");

pub(crate) const NORMALIZE: CriterionField = optional(
    "normalize",
    FieldKind::Bool,
    "true",
    "whether any run of white space is one blank, and none at the ends",
);
