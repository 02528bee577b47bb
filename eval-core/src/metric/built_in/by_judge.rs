//! The built-in metrics that ask a judge, one file for each way to ask, with their prompts beside them as Markdown.

// What several metrics share.
mod judged;
mod rubrics;

mod conversation_checks;
mod final_response_match_v2;
mod hallucinations;
mod response_evaluation;
mod rubric_metrics;
mod safety;
mod user_simulator_quality;

use crate::metric::{BoxMetric, MakeMetric};
use conversation_checks::{TASK_SUCCESS, TOOL_USE_QUALITY, TRAJECTORY_QUALITY};

pub(super) static METRICS: &[(&str, MakeMetric)] = &[
    (final_response_match_v2::NAME, || BoxMetric::new(final_response_match_v2::FinalResponseMatchV2)),
    (rubric_metrics::FINAL_RESPONSE_QUALITY, || BoxMetric::new(rubric_metrics::RubricFinalResponseQuality)),
    (rubric_metrics::TOOL_USE_QUALITY, || BoxMetric::new(rubric_metrics::RubricToolUseQuality)),
    (rubric_metrics::MULTI_TURN_TRAJECTORY, || BoxMetric::new(rubric_metrics::RubricMultiTurnTrajectory)),
    (hallucinations::NAME, || BoxMetric::new(hallucinations::Hallucinations)),
    (safety::NAME, || BoxMetric::new(safety::Safety)),
    (response_evaluation::NAME, || BoxMetric::new(response_evaluation::ResponseEvaluation)),
    (TASK_SUCCESS.name, || BoxMetric::new(TASK_SUCCESS)),
    (TRAJECTORY_QUALITY.name, || BoxMetric::new(TRAJECTORY_QUALITY)),
    (TOOL_USE_QUALITY.name, || BoxMetric::new(TOOL_USE_QUALITY)),
    (user_simulator_quality::NAME, || BoxMetric::new(user_simulator_quality::UserSimulatorQuality)),
];
