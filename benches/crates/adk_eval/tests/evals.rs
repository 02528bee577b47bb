//! The smallest use of adk-eval.

use adk_eval::{EvaluationConfig, EvaluationCriteria, Evaluator};

#[test]
fn an_evaluator_can_be_made() {
    let criteria = EvaluationCriteria { tool_trajectory_score: Some(1.0), ..EvaluationCriteria::default() };
    let evaluator = Evaluator::new(EvaluationConfig::with_criteria(criteria));
    assert!(!evaluator.has_llm_judge());
}
