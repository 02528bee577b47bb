//! The built-in metrics that ask a judge, one file each, with their prompts beside them as Markdown.

// What several metrics share.
mod conversation_checks;
mod judged;
mod rubrics;

mod final_response_match_v2;
mod hallucinations;
mod multi_turn_task_success;
mod multi_turn_tool_use_quality;
mod multi_turn_trajectory_quality;
mod response_evaluation;
mod rubric_final_response_quality;
mod rubric_multi_turn_trajectory;
mod rubric_tool_use_quality;
mod safety;
mod user_simulator_quality;

use crate::metric::{BoxMetric, MakeMetric};

/// The metrics that ask a judge, by their names.
pub(super) static METRICS: &[(&str, MakeMetric)] = &[
    (final_response_match_v2::NAME, || BoxMetric::new(final_response_match_v2::FinalResponseMatchV2)),
    (rubric_final_response_quality::NAME, || {
        BoxMetric::new(rubric_final_response_quality::RubricFinalResponseQuality)
    }),
    (rubric_tool_use_quality::NAME, || BoxMetric::new(rubric_tool_use_quality::RubricToolUseQuality)),
    (rubric_multi_turn_trajectory::NAME, || {
        BoxMetric::new(rubric_multi_turn_trajectory::RubricMultiTurnTrajectory)
    }),
    (hallucinations::NAME, || BoxMetric::new(hallucinations::Hallucinations)),
    (safety::NAME, || BoxMetric::new(safety::Safety)),
    (response_evaluation::NAME, || BoxMetric::new(response_evaluation::ResponseEvaluation)),
    (multi_turn_task_success::NAME, || BoxMetric::new(multi_turn_task_success::MultiTurnTaskSuccess)),
    (multi_turn_trajectory_quality::NAME, || {
        BoxMetric::new(multi_turn_trajectory_quality::MultiTurnTrajectoryQuality)
    }),
    (multi_turn_tool_use_quality::NAME, || {
        BoxMetric::new(multi_turn_tool_use_quality::MultiTurnToolUseQuality)
    }),
    (user_simulator_quality::NAME, || BoxMetric::new(user_simulator_quality::UserSimulatorQuality)),
];
