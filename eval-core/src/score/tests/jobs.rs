//! A job for the evaluators, as the vectors and `tests/adk/compare.py` write it, and its scores.

use eval_format::Invocation;
use serde_json::value::RawValue;

use super::invocations::{Object, field, invocations, object, read};
use crate::score::equality::ArgsMatch;
use crate::score::mean;
use crate::score::rouge::{RougeText, rouge_1};
use crate::score::trajectory::{MatchType, trajectory_matches};
use crate::score::usage::{Durations, TokenUsage, inference_calls, mean_of_known, tool_calls};

/// The result of a metric for some turns.
#[derive(Debug, Default)]
pub(super) struct Scores {
    pub(super) turns: Vec<Option<f64>>,
    pub(super) overall: Option<f64>,
    /// For each turn and, last, overall: the details by name.
    pub(super) details: Vec<Vec<(&'static str, Option<f64>)>>,
}

/// Computes what ADK's evaluator of the job's metric computes.
pub(super) fn scores(job: &Object<'_>) -> Scores {
    let actual = invocations(job["actual_invocations"]);
    let expected = field(job, "expected_invocations").map(invocations).unwrap_or_default();
    match read::<&str>(job["metric"]) {
        "tool_trajectory_avg_score" => {
            let (match_type, args) = criterion(job);
            compared(&expected, &actual, |expected, actual| {
                let [expected, actual] = [expected, actual].map(|turn| turn.tool_calls().collect::<Vec<_>>());
                f64::from(u8::from(trajectory_matches(&expected, &actual, match_type, args).unwrap()))
            })
        }
        "response_match_score" => compared(&expected, &actual, |expected, actual| {
            let [expected, actual] = [expected, actual].map(|turn| RougeText::new(&turn.response_text()));
            rouge_1(&expected, &actual).fmeasure
        }),
        "tool_call_count_v1" => counted(&actual, |turn| Some(tool_calls(turn))),
        "inference_call_count_v1" => counted(&actual, inference_calls),
        "token_usage_v1" => tokens(&actual),
        "invocation_duration_v1" => durations(&actual),
        other => panic!("no such metric: {other}"),
    }
}

fn compared(
    expected: &[Invocation],
    actual: &[Invocation],
    score: impl Fn(&Invocation, &Invocation) -> f64,
) -> Scores {
    let turns: Vec<f64> = expected.iter().zip(actual).map(|(e, a)| score(e, a)).collect();
    let overall = mean::naive(&turns);
    Scores { turns: turns.into_iter().map(Some).collect(), overall, details: Vec::new() }
}

fn counted(actual: &[Invocation], count: impl Fn(&Invocation) -> Option<f64>) -> Scores {
    let turns: Vec<Option<f64>> = actual.iter().map(count).collect();
    let overall = mean_of_known(&turns);
    Scores { turns, overall, details: Vec::new() }
}

fn tokens(actual: &[Invocation]) -> Scores {
    let turns: Vec<TokenUsage<i128>> = actual.iter().map(TokenUsage::of_turn).collect();
    let mean = TokenUsage::mean(&turns);
    #[expect(
        clippy::cast_precision_loss,
        reason = "ADK writes the exact integer; the test reads it as a float"
    )]
    let mut details: Vec<_> = turns.iter().map(|turn| token_details(turn, |count| count as f64)).collect();
    details.push(token_details(&mean, |count| count));
    Scores { turns: turns.iter().map(TokenUsage::score).collect(), overall: mean.total, details }
}

fn token_details<N: Copy>(
    usage: &TokenUsage<N>,
    float: impl Fn(N) -> f64,
) -> Vec<(&'static str, Option<f64>)> {
    [
        ("total_tokens", usage.total),
        ("input_tokens", usage.input),
        ("prompt_tokens", usage.prompt),
        ("cached_tokens", usage.cached),
        ("tool_use_tokens", usage.tool_use),
        ("output_tokens", usage.output),
        ("candidates_tokens", usage.candidates),
        ("reasoning_tokens", usage.reasoning),
    ]
    .map(|(name, count)| (name, count.map(&float)))
    .to_vec()
}

fn durations(actual: &[Invocation]) -> Scores {
    let turns: Vec<Durations> = actual.iter().map(Durations::of_turn).collect();
    let mean = Durations::mean(&turns);
    let details = turns
        .iter()
        .chain([&mean])
        .map(|part| {
            vec![
                ("total_seconds", part.total),
                ("model_seconds", part.model),
                ("tool_seconds", part.tool),
                ("framework_seconds", part.framework),
            ]
        })
        .collect();
    Scores { turns: turns.iter().map(|turn| turn.total).collect(), overall: mean.total, details }
}

/// The options of a trajectory criterion, in the spellings of the vectors.
fn criterion(job: &Object<'_>) -> (MatchType, ArgsMatch) {
    let options = match job["criterion"].get() {
        text if text.starts_with('{') => object(job["criterion"]),
        _ => Object::new(),
    };
    let option = |snake, camel| field(&options, snake).or_else(|| field(&options, camel)).map(RawValue::get);
    let match_type = match option("match_type", "matchType").map(str::to_lowercase).as_deref() {
        None | Some("0" | "\"exact\"") => MatchType::Exact,
        Some("1" | "\"in_order\"") => MatchType::InOrder,
        Some("2" | "\"any_order\"") => MatchType::AnyOrder,
        Some(other) => panic!("no such match type: {other}"),
    };
    let ignore = option("ignore_args", "ignoreArgs") == Some("true");
    (match_type, if ignore { ArgsMatch::Ignore } else { ArgsMatch::Exact })
}
