use super::{CriterionField, FieldKind, MetricGroup, MetricInfo, Need};

/// Every metric whose name is known, those of later versions included.
pub static METRICS: &[MetricInfo] = &[
    MetricInfo {
        criterion: &[MATCH_TYPE, IGNORE_ARGS, ARGS_MATCH, FORBIDDEN_TOOLS],
        ..available(
            lexical("tool_trajectory_avg_score", MetricGroup::AdkLexical),
            "share of turns whose tool calls are the expected ones",
        )
    },
    available(
        lexical("response_match_score", MetricGroup::AdkLexical),
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
        criterion: &[],
        ..judged("response_evaluation_score", "how coherent Vertex AI finds the answer")
    },
    MetricInfo { criterion: &[], ..judged("safety_v1", "whether Vertex AI finds the answer harmless") },
    MetricInfo {
        criterion: &[JUDGE, INTERMEDIATE_SENTENCES],
        ..judged("hallucinations_v1", "share of sentences that the context supports")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS, INTERMEDIATE_RESPONSES],
        ..judged("rubric_based_final_response_quality_v1", "share of rubrics that the answer meets")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS],
        ..judged("rubric_based_tool_use_quality_v1", "share of rubrics that the tool calls meet")
    },
    MetricInfo {
        criterion: &[JUDGE, RUBRICS],
        ..judged(
            "rubric_based_multi_turn_trajectory_quality_v1",
            "share of rubrics that the whole conversation meets",
        )
    },
    MetricInfo {
        criterion: &[],
        ..judged("multi_turn_task_success_v1", "whether Vertex AI finds the conversation's goal reached")
    },
    MetricInfo {
        criterion: &[],
        ..judged("multi_turn_trajectory_quality_v1", "how Vertex AI rates the way to the conversation's goal")
    },
    MetricInfo {
        criterion: &[],
        ..judged("multi_turn_tool_use_quality_v1", "how Vertex AI rates the tool calls of the conversation")
    },
    MetricInfo {
        needs: &[Need::Scenario, Need::Judge],
        criterion: &[JUDGE, STOP_SIGNAL],
        ..judged("per_turn_user_simulator_quality_v1", "share of simulated messages that follow the scenario")
    },
    informational("tool_call_count_v1", "tool calls per turn"),
    informational("inference_call_count_v1", "model calls per turn"),
    informational("token_usage_v1", "tokens per turn"),
    informational("invocation_duration_v1", "seconds per turn"),
    MetricInfo {
        summary: "1 for a turn whose tool calls are exactly the expected ones",
        ..lexical("trajectory_exact_match", MetricGroup::Vertex)
    },
    MetricInfo {
        summary: "1 for a turn that makes the expected tool calls in order, others allowed between",
        ..lexical("trajectory_in_order_match", MetricGroup::Vertex)
    },
    MetricInfo {
        summary: "1 for a turn that makes the expected tool calls in any order, others allowed",
        ..lexical("trajectory_any_order_match", MetricGroup::Vertex)
    },
    MetricInfo {
        summary: "share of the tool calls made that were expected",
        ..lexical("trajectory_precision", MetricGroup::Vertex)
    },
    MetricInfo {
        summary: "share of the expected tool calls that were made",
        ..lexical("trajectory_recall", MetricGroup::Vertex)
    },
    MetricInfo {
        needs: &[],
        criterion: &[TOOL_NAME],
        summary: "1 for a turn that calls a certain tool",
        ..lexical("trajectory_single_tool_use", MetricGroup::Vertex)
    },
    MetricInfo {
        summary: "share of the expected answer's words that the answer has",
        ..lexical("final_response_match_v1", MetricGroup::AdkRs)
    },
    MetricInfo {
        summary: "tool calls matched in order over the longer of the two lists",
        ..lexical("trajectory_match_ratio", MetricGroup::AdkRs)
    },
    MetricInfo {
        criterion: &[ALGORITHM, IGNORE_CASE, NORMALIZE],
        summary: "likeness of the answer and the expected answer, by an algorithm of choice",
        ..lexical("response_similarity", MetricGroup::AdkEval)
    },
    MetricInfo {
        // It reads `final_session_state`, which a case has with or without expected turns.
        needs: &[],
        ..available(
            lexical("final_session_state_match", MetricGroup::Own),
            "share of the expected keys of the session state that end equal",
        )
    },
];

/// A metric between 0 and 1 that compares with the expected turns; of a later version.
const fn lexical(name: &'static str, group: MetricGroup) -> MetricInfo {
    MetricInfo {
        name,
        group,
        min: 0.0,
        max: Some(1.0),
        needs: &[Need::Expectation],
        gates: true,
        criterion: &[],
        available: false,
        summary: "",
    }
}

/// A metric that this version runs.
const fn available(info: MetricInfo, summary: &'static str) -> MetricInfo {
    MetricInfo { available: true, summary, ..info }
}

/// A metric between 0 and 1 that needs a judge and no expectation; of a later version.
const fn judged(name: &'static str, summary: &'static str) -> MetricInfo {
    MetricInfo { needs: &[Need::Judge], summary, ..lexical(name, MetricGroup::AdkJudged) }
}

/// A metric that is reported for every case and never compared.
const fn informational(name: &'static str, summary: &'static str) -> MetricInfo {
    let info =
        MetricInfo { needs: &[], max: None, gates: false, ..lexical(name, MetricGroup::AdkInformational) };
    available(info, summary)
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
    FieldKind::Choice { values: &["EXACT", "IN_ORDER", "ANY_ORDER"], numbered: true },
    Some(r#""EXACT""#),
    "whether the calls must be the expected ones, or contain them in order, or in any order",
);

pub(crate) const IGNORE_ARGS: CriterionField =
    field("ignore_args", FieldKind::Bool, Some("false"), "whether only the names of the tools are compared");

pub(crate) const ARGS_MATCH: CriterionField = field(
    "args_match",
    choice(&["exact", "subset", "ignore"]),
    Some(r#""exact""#),
    "whether arguments must be equal, may be more than expected, or do not count; ADK ignores this key",
);

pub(crate) const FORBIDDEN_TOOLS: CriterionField = field(
    "forbidden_tools",
    FieldKind::Strings,
    Some("[]"),
    "tools that must not be called; ADK ignores this key",
);

const JUDGE: CriterionField = field(
    "judge_model_options",
    FieldKind::Object,
    Some("{}"),
    "the judge's model and how often it is asked",
);

const RUBRICS: CriterionField = field(
    "rubrics",
    FieldKind::Objects,
    Some("[]"),
    "what the judge looks at, besides the rubrics of the case",
);

pub(crate) const INTERMEDIATE_RESPONSES: CriterionField = field(
    "include_intermediate_responses_in_final",
    FieldKind::Bool,
    Some("false"),
    "whether texts before the final response are judged with it",
);

const INTERMEDIATE_SENTENCES: CriterionField = field(
    "evaluate_intermediate_nl_responses",
    FieldKind::Bool,
    Some("false"),
    "whether texts before the final response are judged too",
);

const STOP_SIGNAL: CriterionField = field(
    "stop_signal",
    FieldKind::String,
    Some(r#""</finished>""#),
    "the text with which the simulated user ends the conversation",
);

const TOOL_NAME: CriterionField = field("tool_name", FieldKind::String, None, "the tool that must be called");

const ALGORITHM: CriterionField = field(
    "algorithm",
    choice(&["exact", "contains", "levenshtein", "jaccard", "rouge_1", "rouge_2", "rouge_l"]),
    Some(r#""jaccard""#),
    "how likeness is measured",
);

const IGNORE_CASE: CriterionField =
    field("ignore_case", FieldKind::Bool, Some("true"), "whether upper and lower case are the same");

const NORMALIZE: CriterionField =
    field("normalize", FieldKind::Bool, Some("true"), "whether runs of white space are the same");
