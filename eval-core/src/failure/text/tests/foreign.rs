//! Untrusted text in failures: the words of agents, metrics and files begin no line and steer no terminal.

use eval_support::test_support::{assert_inert, hostile};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A letter that no line of ours has.
const THEIRS: char = '\u{2c98}';

/// A metric that has a text of others to say.
struct Says(String);

impl Metric for Says {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.actual.iter().map(|_| Score::from(0.0).note(self.0.clone())).collect())
    }
}

/// A metric that errs.
struct Fails(String);

impl Metric for Fails {
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        Err(self.0.clone().into())
    }
}

/// An agent that errs in its first turn.
struct Breaks(String);

impl Agent for Breaks {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        turn.recorder().text(self.0.clone());
        Err(self.0.clone().into())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_line_of_a_failure_is_begun_by_others(said in prop::collection::vec(hostile(), 9)) {
        let theirs = |at: usize| {
            let said: &str = &said[at];
            format!("{THEIRS}{}{THEIRS}", said.replace('\n', &format!("\n{THEIRS}")))
        };
        let case = EvalCase::new(theirs(0));
        let expected = FunctionCall::new(theirs(2), json!({}));
        let case = case.turn(Invocation::user(theirs(1)).call(expected).response(theirs(3)));
        let runner = || EvalRunner::new()
            .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
            .criterion("response_match_score", Criterion::new(1.0));
        let with_metrics = runner().metric(format!("own {}", theirs(6)), Says(theirs(5))).metric(format!("own x {}", theirs(6)), Fails(theirs(8)));
        let (tool, answer, key) = (theirs(4), theirs(3), theirs(7));
        let failed = run(&with_metrics, &case, || {
            let args = json!({ key.as_str(): key });
            Replay::new([answering(calls(&[(&tool, args)]), &answer)])
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = theirs(8);
        let broken = runtime.block_on(runner().run_case(&case, || Breaks(error.clone()))).unwrap();
        for text in [describe(&failed), describe(&broken)] {
            assert_inert(&text);
            for line in text.lines().filter(|line| line.contains(THEIRS)) {
                let ours = line.split(THEIRS).next().unwrap_or_default().trim();
                prop_assert!(!ours.is_empty(), "{line}\n{text}");
            }
        }
    }
}
