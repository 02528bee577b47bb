//! Runs of metrics that ask no judge.

use eval_format::expect::Rules;
use eval_format::{
    Criterion, EvalCase, FunctionCall, IntermediateData, Invocation, InvocationEvent, Map, UsageMetadata,
};
use serde_json::json;

use crate::agent::BoxError;
use crate::judge::BoxJudge;
use crate::metric::{Metric, MetricInput, Scores};
use crate::test_support::ready;

/// The scores of turns for which nothing is expected.
pub(in crate::metric) fn score(metric: &impl Metric, actual: &[Invocation]) -> Scores {
    compare(metric, &[], actual, &Criterion::new(1.0))
}

/// The scores of turns beside the expected ones.
pub(in crate::metric) fn compare(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
) -> Scores {
    try_compare(metric, expected, actual, criterion).unwrap()
}

/// The scores of turns by a metric that may fail.
pub(in crate::metric) fn try_compare(
    metric: &impl Metric,
    expected: &[Invocation],
    actual: &[Invocation],
    criterion: &Criterion,
) -> Result<Scores, BoxError> {
    let (case, state) = (EvalCase::new("c"), Map::new());
    ready(metric.score(MetricInput {
        case: &case,
        actual,
        expected,
        state: &state,
        criterion,
        judge: &no_judge(),
        stopped: None,
        name: "m",
        time_limit: None,
        rules: None,
        demands: None,
    }))
}

/// The scores of a run of a case under its rules.
pub(in crate::metric) fn score_case(
    metric: &impl Metric,
    case: &EvalCase,
    actual: &[Invocation],
    criterion: &Criterion,
) -> Scores {
    let rules = Rules::of(case).unwrap();
    let rules = Some(&rules).filter(|rules| !rules.is_empty());
    let judge = no_judge();
    let input = MetricInput {
        case,
        actual,
        expected: &case.conversation,
        state: &Map::new(),
        criterion,
        judge: &judge,
        stopped: None,
        name: "m",
        time_limit: None,
        rules,
        demands: rules,
    };
    ready(metric.score(input)).unwrap()
}

/// The scores of a run of a case without turns that ends in a session state.
pub(in crate::metric) fn score_state(metric: &impl Metric, case: &EvalCase, state: &Map) -> Scores {
    let criterion = Criterion::new(1.0);
    let judge = no_judge();
    let input = MetricInput {
        case,
        actual: &[],
        expected: &[],
        state,
        criterion: &criterion,
        judge: &judge,
        stopped: None,
        name: "m",
        time_limit: None,
        rules: None,
        demands: None,
    };
    ready(metric.score(input)).unwrap()
}

/// A judge that answers no question.
#[cfg(feature = "judges")]
pub(in crate::metric) fn no_judge() -> BoxJudge {
    use crate::judge::{Judge, ScriptedJudge};
    ScriptedJudge::new(Vec::<String>::new()).boxed()
}

/// A judge that answers no question.
#[cfg(not(feature = "judges"))]
pub(in crate::metric) fn no_judge() -> BoxJudge {
    BoxJudge
}

/// Checks the score of one turn that calls tools; a call is its tool's name, with no arguments.
pub(in crate::metric) fn check_calls(metric: &impl Metric, expected: &str, actual: &str, score: f64) {
    let scores = compare(metric, &[calling(expected)], &[calling(actual)], &Criterion::new(1.0));
    assert_eq!(scores.scores()[0].value(), Some(score), "{expected:?} {actual:?}");
}

/// A turn that calls these tools.
pub(in crate::metric) fn calling(tools: &str) -> Invocation {
    let calls = tools.split_whitespace().map(|tool| FunctionCall::new(tool, json!({})));
    calls.fold(Invocation::user("q"), Invocation::call)
}

/// Checks the score of one turn that answers.
pub(in crate::metric) fn check_texts(
    metric: &impl Metric,
    criterion: &Criterion,
    expected: Option<&str>,
    actual: &str,
    score: Option<f64>,
) {
    let turn = expected.map_or_else(|| Invocation::user("q"), answering);
    let scores = compare(metric, &[turn], &[answering(actual)], criterion);
    assert_eq!(scores.scores()[0].value(), score, "{expected:?} {actual:?} {criterion:?}");
}

/// A turn with an answer.
pub(in crate::metric) fn answering(text: &str) -> Invocation {
    Invocation::user("q").response(text)
}

/// A turn with one model call per count of prompt tokens.
pub(in crate::metric) fn using(prompts: &[i64]) -> Invocation {
    let events = prompts
        .iter()
        .map(|tokens| UsageMetadata::default().with_prompt_token_count(*tokens))
        .map(|usage| InvocationEvent::new("a").with_usage_metadata(usage))
        .collect();
    Invocation::user("q").with_intermediate_data(IntermediateData::Events(events))
}
