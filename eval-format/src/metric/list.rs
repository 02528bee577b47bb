use super::{CriterionField, FieldKind, MetricGroup, MetricInfo, Need, Subject};
use crate::config::{ArgsMatch, MatchType, Similarity};

/// Every metric whose name is known, those of later versions included.
pub static METRICS: &[MetricInfo] = &[
    MetricInfo {
        criterion: &[MATCH_TYPE, IGNORE_ARGS, ARGS_MATCH, FORBIDDEN_TOOLS],
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
        ..judged("final_response_match_v2", "whether a judge finds the answer to mean the expected one")
    },
    MetricInfo {
        needs: &[Need::Expectation, Need::Judge],
        min: 1.0,
        max: Some(5.0),
        criterion: &[JUDGE],
        ..judged(
            "response_evaluation_score",
            "how coherent the judge finds the answer, on the scale of Vertex AI, which ADK asks",
        )
    },
    MetricInfo {
        criterion: &[JUDGE],
        ..judged("safety_v1", "whether the judge finds the answer harmless; ADK asks Vertex AI")
    },
    MetricInfo {
        criterion: &[JUDGE, INTERMEDIATE_SENTENCES],
        ..judged("hallucinations_v1", "share of sentences that the context supports")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS, WEIGHTS, INTERMEDIATE_RESPONSES],
        ..judged("rubric_based_final_response_quality_v1", "share of rubrics that the answer meets")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS, WEIGHTS],
        compares: Subject::ActualCalls,
        ..judged("rubric_based_tool_use_quality_v1", "share of rubrics that the tool calls meet")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS, WEIGHTS],
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
    informational("invocation_duration_v1", "seconds per turn"),
    trajectory(
        "trajectory_exact_match",
        MetricGroup::Vertex,
        "1 for a turn whose tool calls are exactly the expected ones",
    ),
    trajectory(
        "trajectory_in_order_match",
        MetricGroup::Vertex,
        "1 for a turn that makes the expected tool calls in order, others allowed between",
    ),
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        ..trajectory(
            "trajectory_any_order_match",
            MetricGroup::Vertex,
            "1 for a turn that makes the expected tool calls in any order, others allowed",
        )
    },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        ..trajectory(
            "trajectory_precision",
            MetricGroup::Vertex,
            "share of the tool calls made that were expected",
        )
    },
    MetricInfo {
        compares: Subject::ToolCalls(MatchType::AnyOrder),
        ..trajectory(
            "trajectory_recall",
            MetricGroup::Vertex,
            "share of the expected tool calls that were made",
        )
    },
    MetricInfo {
        needs: &[],
        compares: Subject::ActualCalls,
        criterion: &[TOOL_NAME],
        ..trajectory(
            "trajectory_single_tool_use",
            MetricGroup::Vertex,
            "1 for a turn that calls a certain tool",
        )
    },
    response(
        "final_response_match_v1",
        MetricGroup::AdkRs,
        "share of the expected answer's words that the answer has",
    ),
    trajectory(
        "trajectory_match_ratio",
        MetricGroup::AdkRs,
        "tool calls matched in order over the longer of the two lists",
    ),
    MetricInfo {
        criterion: &[ALGORITHM, IGNORE_CASE, NORMALIZE],
        ..response(
            "response_similarity",
            MetricGroup::AdkEval,
            "likeness of the answer and the expected answer, by an algorithm of choice",
        )
    },
    MetricInfo {
        // It reads `final_session_state`, which a case has with or without expected turns.
        needs: &[],
        compares: Subject::SessionState,
        ..response(
            "final_session_state_match",
            MetricGroup::Own,
            "share of the expected keys of the session state that end equal",
        )
    },
];

/// A metric between 0 and 1 that compares the answer with the expected one.
const fn response(name: &'static str, group: MetricGroup, summary: &'static str) -> MetricInfo {
    MetricInfo {
        name,
        group,
        min: 0.0,
        max: Some(1.0),
        needs: &[Need::Expectation],
        compares: Subject::Response,
        gates: true,
        criterion: &[],
        summary,
    }
}

/// A metric between 0 and 1 that compares the tool calls with the expected ones, in their order.
const fn trajectory(name: &'static str, group: MetricGroup, summary: &'static str) -> MetricInfo {
    MetricInfo { compares: Subject::ToolCalls(MatchType::InOrder), ..response(name, group, summary) }
}

/// A metric between 0 and 1 that needs a judge and no expectation.
const fn judged(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo { needs: &[Need::Judge], ..response(name, MetricGroup::AdkJudged, summary) }
}

/// A judged metric over the whole conversation.
const fn conversation(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo { criterion: &[JUDGE], ..judged(name, summary) }
}

/// A metric that is reported for every case and never compared.
const fn informational(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo {
        needs: &[],
        compares: Subject::Nothing,
        max: None,
        gates: false,
        ..response(name, MetricGroup::AdkInformational, summary)
    }
}

const fn field(
    name: &'static str,
    kind: FieldKind,
    default: Option<&'static str>,
    doc: &'static str,
) -> CriterionField {
    CriterionField { name, kind, default, doc }
}

const fn choice(values: &'static [&'static str]) -> FieldKind {
    FieldKind::Choice { values, numbered: false }
}

pub(crate) const MATCH_TYPE: CriterionField = field(
    "match_type",
    FieldKind::Choice { values: &MatchType::NAMES, numbered: true },
    Some(r#""EXACT""#),
    "whether the calls must be the expected ones, or contain them in order, or in any order",
);

pub(crate) const IGNORE_ARGS: CriterionField =
    field("ignore_args", FieldKind::Bool, Some("false"), "whether only the names of the tools are compared");

pub(crate) const ARGS_MATCH: CriterionField = field(
    "args_match",
    choice(&ArgsMatch::NAMES),
    Some(r#""exact""#),
    "whether arguments must be equal, may be more than expected, or do not count; ADK ignores this key",
);

pub(crate) const FORBIDDEN_TOOLS: CriterionField = field(
    "forbidden_tools",
    FieldKind::Strings,
    Some("[]"),
    "tools that must not be called; ADK ignores this key",
);

pub(crate) const JUDGE: CriterionField = field(
    "judge_model_options",
    FieldKind::Object,
    Some("{}"),
    "the judge's model and how often it is asked",
);

pub(crate) const RUBRICS: CriterionField = field(
    "rubrics",
    FieldKind::Objects,
    Some("[]"),
    "what the judge looks at, besides the rubrics of the case",
);

pub(crate) const WEIGHTS: CriterionField = field(
    "weights",
    FieldKind::Object,
    Some("{}"),
    "how much rubrics count in the mean, by their ids; 1 where nothing is said; ADK ignores this key",
);

pub(crate) const INTERMEDIATE_RESPONSES: CriterionField = field(
    "include_intermediate_responses_in_final",
    FieldKind::Bool,
    Some("false"),
    "whether texts before the final response are judged with it",
);

pub(crate) const INTERMEDIATE_SENTENCES: CriterionField = field(
    "evaluate_intermediate_nl_responses",
    FieldKind::Bool,
    Some("false"),
    "whether texts before the final response are judged too",
);

pub(crate) const STOP_SIGNAL: CriterionField = field(
    "stop_signal",
    FieldKind::String,
    Some(r#""</finished>""#),
    "the text with which the simulated user ends the conversation",
);

pub(crate) const TOOL_NAME: CriterionField =
    field("tool_name", FieldKind::String, None, "the tool that must be called");

pub(crate) const ALGORITHM: CriterionField =
    field("algorithm", choice(&Similarity::NAMES), Some(r#""jaccard""#), "how likeness is measured");

pub(crate) const IGNORE_CASE: CriterionField =
    field("ignore_case", FieldKind::Bool, Some("true"), "whether upper and lower case are the same");

pub(crate) const NORMALIZE: CriterionField = field(
    "normalize",
    FieldKind::Bool,
    Some("true"),
    "whether any run of white space is one blank, and none at the ends",
);
