//! `trajectory_single_tool_use` is 1 for a turn that calls a certain tool at least once, else 0.
//!
//! Source: the metric of this name of Vertex AI's evaluation service.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "trajectory_single_tool_use";

pub(crate) struct TrajectorySingleToolUse;

impl Metric for TrajectorySingleToolUse {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        // A config without `tool_name` is refused, but an unchecked criterion may come here.
        let tool = input.criterion.tool_name().ok_or("the criterion has no `tool_name`")?;
        let turn = |_: usize, actual: &eval_format::Invocation, _: Option<&_>| {
            let used = actual.tool_calls().any(|call| call.name.as_deref() == Some(tool));
            let score = Score::from(used);
            if used { score } else { score.note(format!("`{tool}` is not called")) }
        };
        Ok(input.score_turns(&turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::{calling, compare, try_compare};
    use eval_format::{Criterion, FunctionCall, Invocation};

    #[test]
    fn the_tool_is_called_at_least_once_whatever_is_expected() {
        let nameless = Invocation::user("q").call(FunctionCall::default());
        for (tool, actual, score) in [
            ("a", calling("a"), 1.0),
            ("a", calling("b a a"), 1.0),
            ("a", calling("A"), 0.0),
            ("a", calling(""), 0.0),
            ("a", nameless.clone(), 0.0),
            ("", nameless, 0.0),
            ("👍", calling("👍"), 1.0),
            ("é", calling("e\u{301}"), 0.0),
        ] {
            let criterion = Criterion::new(1.0).with_tool_name(tool);
            let scores =
                compare(&TrajectorySingleToolUse, &[calling("b")], std::slice::from_ref(&actual), &criterion);
            assert_eq!(scores.overall(), Some(score), "{tool} {actual:?}");
            assert_eq!(scores.scores()[0].notes().is_empty(), score > 0.0);
        }
    }

    #[test]
    fn without_a_tool_it_is_an_error() {
        let result =
            try_compare(&TrajectorySingleToolUse, &[calling("a")], &[calling("a")], &Criterion::new(1.0));
        assert_eq!(result.unwrap_err().to_string(), "the criterion has no `tool_name`");
    }
}
