//! Facts of a metric for checking files: its name, range, needs and the keys of its criterion.

use super::choices::MatchType;
use super::fields::CriterionField;

/// A built-in metric: its range, what it needs in order to score, and the keys of its criterion.
///
/// ```
/// let info = eval_format::metric::metric("tool_trajectory_avg_score").unwrap();
/// assert_eq!((info.min, info.max), (0.0, Some(1.0)));
/// assert!(info.gates);
/// assert!(eval_format::metric::metric("tool_trajectory").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, which a metric has or not")]
#[non_exhaustive]
pub struct MetricInfo {
    /// The name, as `criteria` of a config has it.
    pub name: &'static str,
    /// The origin of the name and the arithmetic.
    pub group: MetricGroup,
    /// Its subject, for lists.
    pub category: MetricCategory,
    /// The lowest score.
    pub min: f64,
    /// The highest score; `None` if there is no upper limit.
    pub max: Option<f64>,
    /// Its requirements: without them it cannot score.
    pub needs: &'static [Need],
    /// The part of a turn that it scores. The report of a failure shows this part.
    pub compares: Subject,
    /// Whether calls that are not expected lower its score, whatever its match type allows.
    pub counts_others: bool,
    /// Whether it decides about the meaning of an answer, whatever its words are.
    pub judges_meaning: bool,
    /// Whether it reads no more of expected turns than their questions.
    pub(super) reads_questions_only: bool,
    /// Whether a threshold alone makes it decide. If not, it informs, unless its criterion has a `direction` too.
    pub gates: bool,
    /// The keys of its criterion besides `threshold`.
    pub criterion: &'static [CriterionField],
    /// The number of its arithmetic, from 1: raised by hand whenever the same turns may get another score than before. Runs whose
    /// numbers differ are not compared.
    pub arithmetic: u32,
    /// The turns that every agent passes.
    pub(crate) free_turns: FreeTurns,
    pub(super) rubrics: Option<&'static str>,
    /// The criteria with which its time is quadratic.
    pub(crate) quadratic: Quadratic,
    /// The quantity that it measures, in one line.
    pub summary: &'static str,
    /// The unit of its scores; `None` for shares and counts.
    pub unit: Option<&'static str>,
}

/// The origin of a metric's name and arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricGroup {
    /// ADK's, computed from the actual and the expected turns.
    AdkLexical,
    /// ADK's, scored by a model or a service.
    AdkJudged,
    /// ADK's, reported and never compared with a threshold.
    AdkInformational,
    /// Vertex AI's evaluation service.
    Vertex,
    /// adk-rs.
    AdkRs,
    /// adk-eval.
    AdkEval,
    /// This project's own.
    Own,
}

/// The subject of a metric, in the words by which agentevals lists metrics.
///
/// ```
/// let info = eval_format::metric::metric("safety_v1").unwrap();
/// assert_eq!(info.category.as_str(), "safety");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricCategory {
    /// Tool calls, compared with the expected calls.
    Trajectory,
    /// The agent's words.
    Response,
    /// Whether the agent's words are harmless and supported.
    Safety,
    /// The conversation as a whole.
    MultiTurn,
    /// Whether rubrics are met.
    Quality,
    /// Anything else.
    Other,
}

impl MetricCategory {
    /// The category in one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trajectory => "trajectory",
            Self::Response => "response",
            Self::Safety => "safety",
            Self::MultiTurn => "multi-turn",
            Self::Quality => "quality",
            Self::Other => "other",
        }
    }
}

/// The turns to which a metric gives its highest score, whatever an agent does in them.
///
/// [`MetricInfo::cannot_fail`] derives from this and the threshold whether a metric can fail a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreeTurns {
    /// None: in each turn an agent can get the lowest score.
    None,
    /// Turns without expected calls: other calls are allowed.
    WithoutCalls,
    /// Turns without expected calls, where `match_type` allows other calls and `forbidden_tools` names none.
    WithoutCallsIfOthersAllowed,
    /// Turns whose expected answer has no words.
    WithoutWords,
}

/// The criteria with which a metric may compare each actual part with each expected part, so that its time is quadratic.
///
/// [`MetricInfo::is_quadratic`] asks a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quadratic {
    Never,
    Always,
    /// Those whose calls match if one has a subset of the arguments.
    WithSubsets,
    /// Those whose algorithm compares each letter or word with each other one.
    WithAlignment,
}

/// A requirement of a metric: without it the metric cannot score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Need {
    /// The expected turns of the case.
    Expectation,
    /// A model or a service that judges.
    Judge,
    /// A conversation scenario.
    Scenario,
}

/// The part of a turn that a metric scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The tool calls of a turn and the expected calls, matched in this way unless the criterion has a `match_type`.
    ToolCalls(MatchType),
    /// The tool calls of a turn alone.
    ActualCalls,
    /// The answer and the expected answer.
    Response,
    /// Responses of tools, and the expected ones.
    ToolResponses,
    /// Texts before the answer, and the expected ones.
    IntermediateResponses,
    /// The answer, and the demands of `_expect` on it.
    Demands,
    /// The session state at the end of the conversation.
    SessionState,
    /// Compares nothing; reports what a turn cost.
    Nothing,
}

impl MetricInfo {
    /// Whether a score or threshold lies in the metric's range. `NaN` never does.
    ///
    /// ```
    /// let info = eval_format::metric::metric("response_match_score").unwrap();
    /// assert!(info.in_range(0.8) && !info.in_range(80.0) && !info.in_range(f64::NAN));
    /// ```
    pub fn in_range(&self, score: f64) -> bool {
        score >= self.min && self.max.is_none_or(|max| score <= max)
    }

    /// Whether calls that are not expected lower its score, if calls match in this way.
    ///
    /// ```
    /// use eval_format::{MatchType, metric::metric};
    ///
    /// let trajectory = metric("tool_trajectory_avg_score").unwrap();
    /// assert!(trajectory.counts_others_under(MatchType::Exact));
    /// assert!(!trajectory.counts_others_under(MatchType::InOrder));
    /// ```
    pub fn counts_others_under(&self, match_type: MatchType) -> bool {
        self.counts_others || match_type == MatchType::Exact
    }

    /// Whether it compares the words of an answer with the expected words, rather than what they mean.
    ///
    /// ```
    /// use eval_format::metric::metric;
    ///
    /// assert!(metric("response_match_score").unwrap().compares_words());
    /// assert!(!metric("final_response_match_v2").unwrap().compares_words());
    /// ```
    pub fn compares_words(&self) -> bool {
        self.compares == Subject::Response && !self.needs.contains(&Need::Judge)
    }

    /// Whether it reads the expected answer. A judge of safety, say, reads the actual answer alone.
    ///
    /// ```
    /// use eval_format::metric::metric;
    ///
    /// assert!(metric("final_response_match_v2").unwrap().reads_expected_answer());
    /// assert!(!metric("safety_v1").unwrap().reads_expected_answer());
    /// ```
    pub fn reads_expected_answer(&self) -> bool {
        self.compares == Subject::Response
            && self.needs.contains(&Need::Expectation)
            && !self.reads_questions_only
    }

    /// The `type` of the rubrics of cases and turns that the metric reads; `None` if it reads no rubrics.
    ///
    /// ```
    /// let info = eval_format::metric::metric("rubric_based_tool_use_quality_v1").unwrap();
    /// assert_eq!(info.rubric_type(), Some("TOOL_USE_QUALITY"));
    /// ```
    pub fn rubric_type(&self) -> Option<&'static str> {
        self.rubrics
    }
}
