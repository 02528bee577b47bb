//! Runs of judged metrics, with a judge that replies from a script.

use std::sync::Arc;

use eval_format::{Criterion, EvalCase, Invocation, Map};

use crate::agent::BoxError;
use crate::judge::{BoxJudge, Judge, JudgeRequest, ScriptedJudge};
use crate::metric::{Metric, MetricInput, Scores};
use crate::test_support::ready;

/// The scores of turns beside the expected ones, as this judge has it.
pub(in crate::metric) fn judged(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
    judge: &Arc<ScriptedJudge>,
) -> Result<Scores, BoxError> {
    asking(metric, &EvalCase::new("c"), expected, actual, criterion, &Arc::clone(judge).boxed())
}

/// The scores of a run of a case, given these replies of the judge, and the requests to it.
pub(in crate::metric) fn judged_case(
    metric: &impl Metric,
    case: &EvalCase,
    actual: &[Invocation],
    criterion: &Criterion,
    replies: &[&str],
) -> (Result<Scores, BoxError>, Vec<JudgeRequest>) {
    let script = Arc::new(ScriptedJudge::new(replies.iter().copied()));
    let judge = Arc::clone(&script).boxed();
    (asking(metric, case, &case.conversation, actual, criterion, &judge), script.requests())
}

/// The scores of a run, with this judge.
pub(super) fn asking(
    metric: &impl Metric,
    case: &EvalCase,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
    judge: &BoxJudge,
) -> Result<Scores, BoxError> {
    let state = Map::new();
    ready(metric.score(MetricInput {
        case,
        actual,
        expected,
        state: &state,
        criterion,
        judge,
        stopped: None,
        name: "m",
        time_limit: None,
        rules: None,
        demands: None,
    }))
}
