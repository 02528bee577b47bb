//! Hostile replies of judges and hostile answers of agents: no verdict that is not the judge's own counts.

mod answers;
mod replies;

use eval_format::{ConversationScenario, Criterion, EvalCase, FunctionCall, Invocation, Rubric};
use serde_json::json;

use super::judged::asking;
use crate::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
use crate::metric::{Score, built_in};

/// A judged metric, a reply that passes a turn, and one that fails it.
pub(super) struct Judged {
    pub(super) metric: &'static str,
    pub(super) good: &'static str,
    pub(super) bad: &'static str,
}

/// The metrics whose verdicts are JSON.
pub(super) const IN_JSON: &[Judged] = &[
    Judged {
        metric: "final_response_match_v2",
        good: r#"{"reasoning": "fine", "is_the_agent_response_valid": "valid"}"#,
        bad: r#"{"reasoning": "wrong", "is_the_agent_response_valid": "invalid"}"#,
    },
    Judged {
        metric: "safety_v1",
        good: r#"{"reasoning": "fine", "is_safe": true}"#,
        bad: r#"{"reasoning": "wrong", "is_safe": false}"#,
    },
    Judged {
        metric: "response_evaluation_score",
        good: r#"{"reasoning": "fine", "rating": 5}"#,
        bad: r#"{"reasoning": "wrong", "rating": 1}"#,
    },
    Judged {
        metric: "multi_turn_task_success_v1",
        good: r#"{"checks": [{"check": "a", "reasoning": "fine", "passes": true}]}"#,
        bad: r#"{"checks": [{"check": "a", "reasoning": "wrong", "passes": false}]}"#,
    },
    Judged {
        metric: "multi_turn_trajectory_quality_v1",
        good: r#"{"checks": [{"check": "a", "reasoning": "fine", "passes": true}]}"#,
        bad: r#"{"checks": [{"check": "a", "reasoning": "wrong", "passes": false}]}"#,
    },
    Judged {
        metric: "multi_turn_tool_use_quality_v1",
        good: r#"{"checks": [{"check": "a", "reasoning": "fine", "passes": true}]}"#,
        bad: r#"{"checks": [{"check": "a", "reasoning": "wrong", "passes": false}]}"#,
    },
    Judged {
        metric: "per_turn_user_simulator_quality_v1",
        good: r#"{"criteria": [], "is_valid": true}"#,
        bad: r#"{"criteria": [{"name": "Answers", "reasoning": "wrong", "passes": false}], "is_valid": false}"#,
    },
];

const YES: &str = "ID: kind\nProperty: It is kind.\nEvidence: none\nRationale: it is\nVerdict: yes\n";
const NO: &str = "ID: kind\nProperty: It is kind.\nEvidence: none\nRationale: it shouts\nVerdict: no\n";

/// The metrics with rubrics.
pub(super) const RUBRICS: [Judged; 3] = [
    Judged { metric: "rubric_based_final_response_quality_v1", good: YES, bad: NO },
    Judged { metric: "rubric_based_tool_use_quality_v1", good: YES, bad: NO },
    Judged { metric: "rubric_based_multi_turn_trajectory_quality_v1", good: YES, bad: NO },
];

/// Labels of the sentence `a`, which is what the agent says in the tests of replies.
pub(super) const HALLUCINATIONS: Judged = Judged {
    metric: "hallucinations_v1",
    good: "sentence: a\nlabel: supported\nrationale: fine\nsupporting_excerpt: x\ncontradicting_excerpt: null\n",
    bad: "sentence: a\nlabel: contradictory\nrationale: wrong\nsupporting_excerpt: null\ncontradicting_excerpt: x\n",
};

/// A judge that replies what a function makes of the prompt.
struct Replies<F>(F);

impl<F: Fn(&str) -> String + Send + Sync> Judge for Replies<F> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        Ok(JudgeReply::new((self.0)(&request.prompt)))
    }

    fn is_offline(&self) -> bool {
        true
    }
}

/// The scores of two turns with this answer, as this judge has it. The user of the second turn is simulated.
pub(super) fn scores(
    metric: &str,
    answer: &str,
    reply: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Vec<Score> {
    let turn = |user: &str, answer: &str| {
        Invocation::user(user).call(FunctionCall::new("look", json!({ "at": answer }))).response(answer)
    };
    let actual = [turn("Hi", answer), turn("And now?", answer)];
    let expected = [turn("Hi", "It is right."), turn("And now?", "It is right.")];
    let case = EvalCase::new("c").scenario(ConversationScenario::new("Hi", "Ask for it."));
    let options = json!({ "num_samples": 1 });
    let criterion = Criterion::new(1.0)
        .with("judge_model_options", options)
        .with_rubrics([Rubric::new("kind", "It is kind.")]);
    let metric = built_in(metric).expect("a built-in metric");
    let judge = Replies(reply).boxed();
    let scores = asking(&metric, &case, &expected, &actual, &criterion, &judge);
    scores.expect("replies that cannot be read are no errors").scores().to_vec()
}

/// Whether the last turn has the best score.
pub(super) fn passes(
    metric: &str,
    answer: &str,
    reply: impl Fn(&str) -> String + Send + Sync + 'static,
) -> bool {
    let best = if metric == "response_evaluation_score" { 5.0 } else { 1.0 };
    scores(metric, answer, reply).last().and_then(Score::value).is_some_and(|score| score >= best)
}
