//! The list of the built-in metrics. To add a metric, add an entry.

use super::choices::MatchType;
use super::fields::{
    ALGORITHM, ARGS_MATCH, DIRECTION, FORBIDDEN_TOOLS, IGNORE_ARGS, IGNORE_CASE, INTERMEDIATE_RESPONSES,
    INTERMEDIATE_SENTENCES, JUDGE, MATCH_TYPE, NORMALIZE, RUBRICS, STOP_SIGNAL, TOOL_NAME, WEIGHTS,
};
use super::info::{FreeTurns, MetricCategory, MetricGroup, MetricInfo, Need, Quadratic, Subject};

/// The metric of the session state. It decides cases that expect a state, even without a criterion.
pub(crate) const FINAL_SESSION_STATE_MATCH: &str = "final_session_state_match";

/// The metric of demands on answers. It decides cases that have some, even without a criterion.
pub(crate) const ANSWER_DEMANDS: &str = "answer_demands";

/// The built-in metrics.
pub static METRICS: &[MetricInfo] = &[
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::Exact),
        criterion: &[MATCH_TYPE, IGNORE_ARGS, ARGS_MATCH, FORBIDDEN_TOOLS],
        free_turns: FreeTurns::WithoutCallsIfOthersAllowed,
        quadratic: Quadratic::WithSubsets,
        ..trajectory(
            "tool_trajectory_avg_score",
            MetricGroup::AdkLexical,
            "share of turns whose tool calls are the expected ones",
        )
    },
    response(
        "response_match_score",
        MetricGroup::AdkLexical,
        "words that the answer and the expected answer share (ROUGE-1 F)",
    ),
    MetricInfo {
        needs: &[Need::Expectation, Need::Judge],
        criterion: &[JUDGE, INTERMEDIATE_RESPONSES],
        judges_meaning: true,
        ..judged("final_response_match_v2", "whether a judge finds the answer to mean the expected one")
    },
    MetricInfo {
        needs: &[Need::Expectation, Need::Judge],
        min: 1.0,
        max: Some(5.0),
        criterion: &[JUDGE],
        reads_questions_only: true,
        ..judged(
            "response_evaluation_score",
            "how coherent the judge finds the answer, on the scale of Vertex AI, which ADK asks",
        )
    },
    MetricInfo {
        category: MetricCategory::Safety,
        criterion: &[JUDGE],
        ..judged("safety_v1", "whether the judge finds the answer harmless; ADK asks Vertex AI")
    },
    MetricInfo {
        category: MetricCategory::Safety,
        criterion: &[JUDGE, INTERMEDIATE_SENTENCES],
        ..judged("hallucinations_v1", "share of sentences that the context supports")
    },
    MetricInfo {
        category: MetricCategory::Quality,
        criterion: &[JUDGE, RUBRICS, WEIGHTS, INTERMEDIATE_RESPONSES],
        rubrics: Some("FINAL_RESPONSE_QUALITY"),
        ..judged("rubric_based_final_response_quality_v1", "share of rubrics that the answer meets")
    },
    MetricInfo {
        category: MetricCategory::Quality,
        criterion: &[JUDGE, RUBRICS, WEIGHTS],
        rubrics: Some("TOOL_USE_QUALITY"),
        compares: Subject::ActualCalls,
        ..judged("rubric_based_tool_use_quality_v1", "share of rubrics that the tool calls meet")
    },
    MetricInfo {
        category: MetricCategory::MultiTurn,
        criterion: &[JUDGE, RUBRICS, WEIGHTS],
        rubrics: Some(TRAJECTORY_QUALITY),
        compares: Subject::ActualCalls,
        ..judged(
            "rubric_based_multi_turn_trajectory_quality_v1",
            "share of rubrics that the whole conversation meets",
        )
    },
    conversation(
        "multi_turn_task_success_v1",
        "share of the user's goals that the judge finds reached; ADK asks Vertex AI",
    ),
    conversation(
        "multi_turn_trajectory_quality_v1",
        "share of the judge's checks that the way to the goal meets; ADK asks Vertex AI",
    ),
    conversation(
        "multi_turn_tool_use_quality_v1",
        "share of the judge's checks that the tool calls meet; ADK asks Vertex AI",
    ),
    MetricInfo {
        needs: &[Need::Scenario, Need::Judge],
        criterion: &[JUDGE, STOP_SIGNAL],
        ..judged("per_turn_user_simulator_quality_v1", "share of simulated messages that follow the scenario")
    },
    informational("tool_call_count_v1", "tool calls per turn"),
    informational("inference_call_count_v1", "model calls per turn"),
    informational("token_usage_v1", "tokens per turn"),
    MetricInfo { unit: Some("s"), ..informational("invocation_duration_v1", "seconds per turn") },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::Exact),
        ..vertex("trajectory_exact_match", "1 for a turn whose tool calls are exactly the expected ones")
    },
    MetricInfo {
        free_turns: FreeTurns::WithoutCalls,
        ..vertex(
            "trajectory_in_order_match",
            "1 for a turn that makes the expected tool calls in order, others allowed between",
        )
    },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        free_turns: FreeTurns::WithoutCalls,
        ..vertex(
            "trajectory_any_order_match",
            "1 for a turn that makes the expected tool calls in any order, others allowed",
        )
    },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        counts_others: true,
        ..vertex("trajectory_precision", "share of the tool calls made that were expected")
    },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        ..vertex("trajectory_recall", "share of the expected tool calls that were made")
    },
    MetricInfo {
        category: MetricCategory::Other,
        needs: &[],
        compares: Subject::ActualCalls,
        criterion: &[TOOL_NAME],
        ..vertex("trajectory_single_tool_use", "1 for a turn that calls a certain tool")
    },
    MetricInfo {
        free_turns: FreeTurns::WithoutWords,
        ..response(
            "final_response_match_v1",
            MetricGroup::AdkRs,
            "share of the expected answer's words that the answer has",
        )
    },
    MetricInfo {
        counts_others: true,
        quadratic: Quadratic::Always,
        ..trajectory(
            "trajectory_match_ratio",
            MetricGroup::AdkRs,
            "tool calls matched in order over the longer of the two lists",
        )
    },
    MetricInfo {
        criterion: &[ALGORITHM, IGNORE_CASE, NORMALIZE],
        quadratic: Quadratic::WithAlignment,
        ..response(
            "response_similarity",
            MetricGroup::AdkEval,
            "likeness of the answer and the expected answer, by an algorithm of choice",
        )
    },
    MetricInfo {
        // It reads `final_session_state`, which a case can have with or without expected turns.
        needs: &[],
        category: MetricCategory::Other,
        compares: Subject::SessionState,
        ..own(FINAL_SESSION_STATE_MATCH, "share of the expected keys of the session state that end equal")
    },
    MetricInfo {
        compares: Subject::Demands,
        judges_meaning: true,
        ..own(ANSWER_DEMANDS, "1 for a turn whose answer fulfils the demands of `_expect`")
    },
    MetricInfo {
        category: MetricCategory::Other,
        compares: Subject::ToolResponses,
        ..own("tool_response_match", "1 for a turn whose tools return what is expected, call by call")
    },
    MetricInfo {
        compares: Subject::IntermediateResponses,
        ..own(
            "intermediate_response_match",
            "1 for a turn in which the expected texts, and no others, are said before the answer",
        )
    },
];

/// The type of the rubrics that are about the whole conversation.
pub(crate) const TRAJECTORY_QUALITY: &str = "TRAJECTORY_QUALITY";

/// The built-in metric of a name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|info| info.name == name)
}

pub(crate) fn rubric_types() -> impl Iterator<Item = (&'static str, &'static MetricInfo)> {
    METRICS.iter().filter_map(|info| Some((info.rubric_type()?, info)))
}

/// A metric between 0 and 1 that compares the answer with the expected one.
const fn response(name: &'static str, group: MetricGroup, summary: &'static str) -> MetricInfo {
    MetricInfo {
        name,
        group,
        category: MetricCategory::Response,
        min: 0.0,
        max: Some(1.0),
        needs: &[Need::Expectation],
        compares: Subject::Response,
        counts_others: false,
        judges_meaning: false,
        reads_questions_only: false,
        gates: true,
        criterion: &[],
        arithmetic: 1,
        free_turns: FreeTurns::None,
        rubrics: None,
        quadratic: Quadratic::Never,
        summary,
        unit: None,
    }
}

/// A metric between 0 and 1 that compares the tool calls with the expected ones, in their order.
const fn trajectory(name: &'static str, group: MetricGroup, summary: &'static str) -> MetricInfo {
    MetricInfo {
        category: MetricCategory::Trajectory,
        compares: Subject::ToolCalls(MatchType::InOrder),
        ..response(name, group, summary)
    }
}

const fn vertex(name: &'static str, summary: &'static str) -> MetricInfo {
    trajectory(name, MetricGroup::Vertex, summary)
}

const fn own(name: &'static str, summary: &'static str) -> MetricInfo {
    response(name, MetricGroup::Own, summary)
}

/// A metric between 0 and 1 that needs a judge and no expectation.
const fn judged(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo { needs: &[Need::Judge], ..response(name, MetricGroup::AdkJudged, summary) }
}

const fn conversation(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo { category: MetricCategory::MultiTurn, criterion: &[JUDGE], ..judged(name, summary) }
}

/// A metric that is reported for every case. It is compared with a threshold only if its criterion has a
/// `direction`.
const fn informational(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo {
        category: MetricCategory::Other,
        needs: &[],
        compares: Subject::Nothing,
        max: None,
        gates: false,
        criterion: &[DIRECTION],
        ..response(name, MetricGroup::AdkInformational, summary)
    }
}
