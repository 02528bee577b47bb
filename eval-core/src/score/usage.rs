//! The calls, tokens and seconds of a turn: ADK's informational metrics, `_efficiency_evaluators.py` of google-adk
//! 2.13.0.

use eval_format::{IntermediateData, Invocation, UsageMetadata};

use super::mean;

/// The number of tool calls of a turn: `tool_call_count_v1`.
#[expect(clippy::cast_precision_loss, reason = "a turn has far fewer than 2^53 calls")]
pub(crate) fn tool_calls(turn: &Invocation) -> f64 {
    turn.tool_calls().count() as f64
}

/// The number of model calls of a turn: `inference_call_count_v1`. `None` if the turn has no events.
#[expect(clippy::cast_precision_loss, reason = "a turn has far fewer than 2^53 events")]
pub(crate) fn inference_calls(turn: &Invocation) -> Option<f64> {
    let Some(IntermediateData::Events(events)) = &turn.intermediate_data else { return None };
    let of_model = events.iter().filter(|e| e.usage_metadata.is_some() || e.model_version.is_some());
    Some(of_model.count() as f64)
}

/// The mean of the values that are known; `None` if none is.
pub(crate) fn mean_of_known(values: &[Option<f64>]) -> Option<f64> {
    mean::naive(&values.iter().copied().flatten().collect::<Vec<_>>())
}

/// Tokens by kind: `token_usage_v1` and its details.
///
/// `None` is a count that was not reported, which is not zero. Counts of a turn are integers (`TokenUsage<i128>`: a
/// sum of reported counts always fits), means over turns are floats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenUsage<N> {
    /// Input and output. The provider's own total is not read.
    pub total: Option<N>,
    /// Prompt and tool results.
    pub input: Option<N>,
    /// The prompt.
    pub prompt: Option<N>,
    /// Tokens of the prompt that came from a cache.
    pub cached: Option<N>,
    /// Results of tools in the prompt.
    pub tool_use: Option<N>,
    /// Answer and reasoning.
    pub output: Option<N>,
    /// The answer.
    pub candidates: Option<N>,
    /// Thoughts of the model.
    pub reasoning: Option<N>,
}

impl TokenUsage<i128> {
    /// The sums over the events of a turn.
    pub fn of_turn(turn: &Invocation) -> Self {
        let mut sums = Self::default();
        for usage in turn.events().iter().filter_map(|event| event.usage_metadata.as_ref()) {
            sums.add_call(usage);
        }
        sums.total = sum_of_known(sums.input, sums.output);
        sums
    }

    fn add_call(&mut self, usage: &UsageMetadata) {
        let add = |sum: &mut Option<i128>, count: Option<i128>| *sum = sum_of_known(*sum, count);
        let prompt = usage.prompt_token_count.map(i128::from);
        let tool_use = usage.tool_use_prompt_token_count.map(i128::from);
        let candidates = usage.candidates_token_count.map(i128::from);
        let reasoning = usage.thoughts_token_count.map(i128::from);
        add(&mut self.input, sum_of_known(prompt, tool_use));
        add(&mut self.prompt, prompt);
        add(&mut self.cached, usage.cached_content_token_count.map(i128::from));
        add(&mut self.tool_use, tool_use);
        add(&mut self.output, sum_of_known(candidates, reasoning));
        add(&mut self.candidates, candidates);
        add(&mut self.reasoning, reasoning);
    }

    /// The score of the turn.
    #[expect(clippy::cast_precision_loss, reason = "ADK's scores are floats")]
    pub fn score(&self) -> Option<f64> {
        self.total.map(|tokens| tokens as f64)
    }
}

impl TokenUsage<f64> {
    /// The mean of each count over all turns. A turn that did not report a count counts as zero if another turn did.
    pub fn mean(turns: &[TokenUsage<i128>]) -> Self {
        let mean = |count: fn(&TokenUsage<i128>) -> Option<i128>| {
            turns.iter().any(|turn| count(turn).is_some()).then_some(())?;
            mean::of_integers(turns.iter().filter_map(count), turns.len())
        };
        Self {
            total: mean(|turn| turn.total),
            input: mean(|turn| turn.input),
            prompt: mean(|turn| turn.prompt),
            cached: mean(|turn| turn.cached),
            tool_use: mean(|turn| turn.tool_use),
            output: mean(|turn| turn.output),
            candidates: mean(|turn| turn.candidates),
            reasoning: mean(|turn| turn.reasoning),
        }
    }
}

/// The sum of the counts that are known; `None` if neither is.
pub fn sum_of_known(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}

/// The seconds of a turn by what they were spent on: `invocation_duration_v1` and its details.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    /// All seconds: the score.
    pub total: Option<f64>,
    /// Calls of the model.
    pub model: Option<f64>,
    /// Calls of tools.
    pub tool: Option<f64>,
    /// The rest, rounded to milliseconds; known only if the other three are.
    pub framework: Option<f64>,
}

impl Durations {
    /// The seconds of a turn. All are `None` for a turn that was not timed.
    pub fn of_turn(turn: &Invocation) -> Self {
        let Some(total) = turn.duration else { return Self::default() };
        let framework = |model: f64, tool: f64| {
            let rest = total - model - tool;
            // Not `f64::max`, which turns NaN into 0.
            mean::round_3(if rest < 0.0 { 0.0 } else { rest })
        };
        Self {
            total: Some(total),
            model: turn.model_duration,
            tool: turn.tool_duration,
            framework: turn.model_duration.zip(turn.tool_duration).map(|(m, t)| framework(m, t)),
        }
    }

    /// The mean of each part over the turns that have it, rounded to milliseconds.
    pub fn mean(turns: &[Self]) -> Self {
        let mean = |part: fn(&Self) -> Option<f64>| {
            let parts: Vec<Option<f64>> = turns.iter().map(part).collect();
            mean_of_known(&parts).map(mean::round_3)
        };
        Self {
            total: mean(|turn| turn.total),
            model: mean(|turn| turn.model),
            tool: mean(|turn| turn.tool),
            framework: mean(|turn| turn.framework),
        }
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{FunctionCall, InvocationEvent};
    use serde_json::json;

    use super::*;

    fn with_events(events: Vec<InvocationEvent>) -> Invocation {
        Invocation::default().with_intermediate_data(IntermediateData::Events(events))
    }

    fn usage(prompt: Option<i64>, candidates: Option<i64>) -> InvocationEvent {
        let mut usage = UsageMetadata::default().with_total_token_count(1_000_000);
        usage.prompt_token_count = prompt;
        usage.candidates_token_count = candidates;
        InvocationEvent::default().with_usage_metadata(usage)
    }

    fn timed(duration: f64, model: Option<f64>, tool: Option<f64>) -> Durations {
        let mut turn = Invocation::default().with_duration(duration);
        turn.model_duration = model;
        turn.tool_duration = tool;
        Durations::of_turn(&turn)
    }

    #[test]
    fn model_calls_are_known_only_from_events() {
        let flat = Invocation::user("q").call(FunctionCall::new("f", json!({})));
        assert_eq!((tool_calls(&flat), inference_calls(&flat)), (1.0, None));
        let named = InvocationEvent::default().with_model_version("");
        let events = with_events(vec![usage(None, None), named, InvocationEvent::default()]);
        assert_eq!((tool_calls(&events), inference_calls(&events)), (0.0, Some(2.0)));
        assert_eq!(mean_of_known(&[None, None, Some(0.0), Some(3.0)]), Some(1.5));
        assert_eq!(mean_of_known(&[None]), None);
    }

    #[test]
    fn tokens_that_nobody_reported_are_not_zero() {
        let turn = with_events(vec![usage(Some(10), None), usage(Some(4), Some(5))]);
        let sums = TokenUsage::of_turn(&turn);
        assert_eq!((sums.total, sums.input), (Some(19), Some(14)));
        assert_eq!((sums.candidates, sums.cached), (Some(5), None));
        assert_eq!(TokenUsage::of_turn(&with_events(vec![usage(None, None)])).score(), None);
    }

    #[test]
    fn tokens_are_averaged_over_all_turns() {
        let turns = [Some((10, 9)), Some((4, 0)), None].map(|counts| {
            let event = counts.map(|(prompt, candidates)| usage(Some(prompt), Some(candidates)));
            TokenUsage::of_turn(&with_events(event.into_iter().collect()))
        });
        let mean = TokenUsage::mean(&turns);
        assert_eq!(mean.total, Some(7.666_666_666_666_667));
        assert_eq!(mean.reasoning, None);
        assert_eq!(TokenUsage::mean(&[]), TokenUsage::default());
    }

    #[test]
    fn what_is_left_belongs_to_the_framework() {
        assert_eq!(timed(1.2345, Some(1.0), Some(0.1)).framework, Some(0.134));
        assert_eq!(timed(1.0, Some(0.8), Some(0.3)).framework, Some(0.0));
        assert_eq!(timed(1.0, Some(0.8), None).framework, None);
        assert_eq!(Durations::of_turn(&Invocation::default()), Durations::default());
    }

    #[test]
    fn durations_are_averaged_over_timed_turns() {
        let turns = [timed(1.2345, None, None), timed(2.0, None, None), timed(1.0, None, None)];
        let mean = Durations::mean(&[turns.as_slice(), &[Durations::default()]].concat());
        assert_eq!((mean.total, mean.model), (Some(1.411), None));
    }
}
