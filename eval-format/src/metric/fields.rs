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
    /// Its effect, in one line.
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
    /// The default of a field of kind [`String`](FieldKind::String); such a default has no escapes.
    pub(crate) const fn default_text(&self) -> &'static str {
        let Some(json) = self.default else { return "" };
        match json.as_bytes() {
            [b'"', text @ .., b'"'] if let Ok(text) = std::str::from_utf8(text) => text,
            _ => "",
        }
    }
}

/// The keys: for each its accessors in [`Criterion`](crate::Criterion) or `_`, its type, its default or an example as
/// JSON text, and its effect. The comment becomes the accessor's documentation.
macro_rules! criterion_fields {
    ($declare:ident) => {
        $declare! {
            /// The matching of tool calls: `match_type`, [`Exact`](MatchType::Exact) by default.
            MATCH_TYPE = match_type, with_match_type: numbered(MatchType), default r#""EXACT""#,
                "whether the calls must be the expected ones, or contain them in order, or in any order";
            /// Whether only the names of tools are compared: `ignore_args`.
            IGNORE_ARGS = ignore_args, with_ignore_args: flag(bool), default "false",
                "whether only the names of the tools are compared";
            ARGS_MATCH = args_match, _: choice(ArgsMatch), default r#""exact""#,
                "whether arguments must be equal, may be more than expected, or do not count; ADK ignores this key";
            /// The tools that must not be called: `forbidden_tools`.
            FORBIDDEN_TOOLS = forbidden_tools, with_forbidden_tools: texts(String), default "[]",
                "tools that must not be called; ADK ignores this key";
            /// The side of the threshold on which scores pass: `direction`, [`AtLeast`](Direction::AtLeast) by default.
            DIRECTION = direction, with_direction: choice(Direction), default r#""at_least""#,
                "whether a score must reach the threshold, or must not exceed it; ADK ignores this key";
            JUDGE = judge_model_options, _: judge(Map), default "{}",
                "the judge's model and how often it is asked";
            RUBRICS = rubrics, _: rubrics(Rubric), default "[]",
                "what the judge looks at, besides the rubrics of the case";
            WEIGHTS = weights, _: weights(Map), default "{}",
                "how much rubrics count in the mean, by their ids; 1 by default; ADK ignores this key";
            // ADK takes this key in the criterion of every metric; the metrics that read it list it.
            /// Whether texts before the final response are judged with it: `include_intermediate_responses_in_final`.
            INTERMEDIATE_RESPONSES = include_intermediate_responses_in_final, with_intermediate_responses_in_final:
                flag(bool), default "false",
                "whether texts before the final response are judged with it";
            /// Whether texts before the answer are judged too: `evaluate_intermediate_nl_responses`, false by default.
            INTERMEDIATE_SENTENCES = evaluate_intermediate_nl_responses, with_evaluate_intermediate_nl_responses:
                flag(bool), default "false",
                "whether texts before the final response are judged too";
            /// The text with which the simulated user ends the conversation: `stop_signal`, `</finished>` by default.
            STOP_SIGNAL = stop_signal, with_stop_signal: text(String), default r#""</finished>""#,
                "the text with which the simulated user ends the conversation";
            /// The tool that must be called: `tool_name`.
            TOOL_NAME = tool_name, with_tool_name: required(String), example r#""get_weather""#,
                "the tool that must be called";
            /// The algorithm that compares two texts: `algorithm`, [`Jaccard`](Similarity::Jaccard) by
            /// default.
            ///
            /// ```
            /// use eval_format::{Criterion, EvalConfig, Similarity};
            ///
            /// let criterion = Criterion::new(0.7).with_algorithm(Similarity::RougeL);
            /// assert!(EvalConfig::default().with("response_similarity", criterion.clone()).checked(&[]).is_ok());
            /// // Another metric does not read it.
            /// assert!(EvalConfig::default().with("response_match_score", criterion).checked(&[]).is_err());
            /// ```
            ALGORITHM = algorithm, with_algorithm: choice(Similarity), default r#""jaccard""#,
                "how likeness is measured";
            /// Whether upper and lower case are the same: `ignore_case`, true by default.
            IGNORE_CASE = ignore_case, with_ignore_case: flag(bool), default "true",
                "whether upper and lower case are the same";
            /// Whether runs of white space count as one blank, and white space at the ends is ignored:
            /// `normalize`, true by default.
            NORMALIZE = normalize, with_normalize: flag(bool), default "true",
                "whether runs of white space count as one blank, and white space at the ends is ignored";
        }
    };
}

macro_rules! constants {
    ($($(#[$_:meta])* $name:ident = $key:ident, $set:tt: $kind:ident($type:ident), $has:ident $json:literal, $doc:literal;)+) => {
        $(pub(crate) const $name: CriterionField =
            CriterionField { name: stringify!($key), kind: kind!($kind $type), doc: $doc, ..$has($json) };)+
    };
}

macro_rules! kind {
    (flag $type:ident) => {
        FieldKind::Bool
    };
    (text $type:ident) => {
        FieldKind::String
    };
    (required $type:ident) => {
        FieldKind::String
    };
    (texts $type:ident) => {
        FieldKind::Strings
    };
    (rubrics $type:ident) => {
        FieldKind::Rubrics
    };
    (weights $type:ident) => {
        FieldKind::Weights
    };
    (judge $type:ident) => {
        FieldKind::JudgeOptions
    };
    (choice $type:ident) => {
        FieldKind::Choice { values: $type::NAMES, numbered: false }
    };
    (numbered $type:ident) => {
        FieldKind::Choice { values: $type::NAMES, numbered: true }
    };
}

/// A key with a default.
const fn default(json: &'static str) -> CriterionField {
    CriterionField { name: "", kind: FieldKind::Bool, default: Some(json), example: None, doc: "" }
}

/// A key that the criterion must have.
const fn example(json: &'static str) -> CriterionField {
    CriterionField { default: None, example: Some(json), ..default("") }
}

criterion_fields!(constants);

/// The stop signal of ADK's simulated user, which ends the conversation.
pub const DEFAULT_STOP_SIGNAL: &str = STOP_SIGNAL.default_text();

pub(crate) use criterion_fields;
