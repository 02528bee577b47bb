//! `multi_turn_task_success_v1`, `multi_turn_trajectory_quality_v1` and `multi_turn_tool_use_quality_v1` measure what
//! an agent reached in a conversation, how good its steps are, and how well it uses its tools, as a judge finds.
//!
//! Source: `MultiTurnTaskSuccessV1Evaluator`, `MultiTurnTrajectoryQualityV1Evaluator` and
//! `MultiTurnToolUseQualityV1Evaluator` of google-adk 2.13.0 for the scales; prompt and rules are this project's.

use serde_json::Value;

use super::judged::{not_evaluated, of_samples};
use crate::agent::BoxError;
use crate::judge::reply_json::{text, the_object, yes_or_no};
use crate::judge::{JudgeClient, JudgeError, JudgePrompt, dialogue, instructions, tools};
use crate::metric::{Metric, MetricInput, RubricScore, Score, Scores};
use crate::score::mean;

#[derive(Debug)]
pub(super) struct ConversationChecks {
    pub(super) name: &'static str,
    /// The name of the prompt with its version. Recordings contain it.
    template: &'static str,
    /// The part of the prompt that says what the checks are about.
    task: &'static str,
}

pub(super) const TASK_SUCCESS: ConversationChecks = ConversationChecks {
    name: "multi_turn_task_success_v1",
    template: "multi_turn_task_success_v1/2",
    task: "An agent talked with a user. Find out whether the user got what they came for. The checks are about the goals of the user, \
           said or plainly meant, in the whole conversation: for each goal that it was reached in the end, with every \
           condition that the user set. A goal that the agent rightly declined, because its instructions forbid it, is no \
           goal; that it was declined clearly is a check. How the agent went about it does not matter here.",
};

pub(super) const TRAJECTORY_QUALITY: ConversationChecks = ConversationChecks {
    name: "multi_turn_trajectory_quality_v1",
    template: "multi_turn_trajectory_quality_v1/2",
    task: "An agent talked with a user. Find out whether it took a good way to what the user wanted. The checks are about the steps: \
           that the agent did what was needed, in a sensible order; that it asked for what it had to know, and only for that; \
           that it remembered what was said before and did not repeat itself; that it noticed its mistakes and put them \
           right; that it followed the instructions of its developers on the way; that it ended where there was nothing left \
           to do. Whether the goal was reached in the end does not matter here.",
};

pub(super) const TOOL_USE_QUALITY: ConversationChecks = ConversationChecks {
    name: "multi_turn_tool_use_quality_v1",
    template: "multi_turn_tool_use_quality_v1/2",
    task: "An agent talked with a user. Find out whether it used its tools well. The checks are about tool calls: that the tools that \
           this conversation asked for were called; that none was called without need or against the instructions of the \
           developers; that the arguments were those that the user gave or a tool returned, not made up; that calls which \
           depend on each other came in the right order; that the agent dealt with failed calls; that it used what came back. \
           Where no tool was needed, that none was called is the check. What the agent said does not matter here, as far as \
           it does not depend on a tool.",
};

impl Metric for ConversationChecks {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let task = include_str!("conversation_checks.md").replace("{{task}}", self.task.trim());
        let prompt = JudgePrompt::new(&task)
            .data("instructions", instructions(input.actual))
            .data("tools", tools(input.actual))
            .data("conversation", dialogue(input.actual))
            .render();
        Ok(Scores::whole_run(self.ask(&input.judging(), &prompt).await.or_else(not_evaluated)?))
    }
}

impl ConversationChecks {
    async fn ask(&self, judging: &JudgeClient, prompt: &str) -> Result<Score, JudgeError> {
        let rating = judging.rate(self.template, prompt, |reply| share_that_passes(reply, prompt)).await?;
        let checks = checks(&rating.reply, prompt).unwrap_or_default();
        let score = Score::from(rating.mean).with_rubrics(checks.iter().map(Check::as_rubric).collect());
        if rating.mean >= 1.0 {
            return Ok(score);
        }
        let failed = checks.iter().filter(|check| !check.passes);
        let mut said = of_samples(&rating);
        Ok(failed.fold(score, |score, Check { statement, reasoning, .. }| {
            score.note(format!("{}`{statement}` is not met: {reasoning}", std::mem::take(&mut said)))
        }))
    }
}

pub(super) fn share_that_passes(reply: &str, prompt: &str) -> Result<f64, String> {
    let checks = checks(reply, prompt)?;
    let points = checks.iter().map(|check| i128::from(check.passes));
    mean::of_integers(points, checks.len()).ok_or_else(|| "`checks` is empty".to_owned())
}

struct Check {
    statement: String,
    reasoning: String,
    passes: bool,
}

impl Check {
    /// The check as a rubric whose id is its statement, as ADK represents the checks of Vertex AI.
    fn as_rubric(&self) -> RubricScore {
        RubricScore::new(self.statement.as_str(), Some(self.passes)).rationale(self.reasoning.as_str())
    }
}

fn checks(reply: &str, prompt: &str) -> Result<Vec<Check>, String> {
    let object = the_object(reply, prompt, "checks")?;
    let checks = object.get("checks").and_then(Value::as_array).ok_or("`checks` is no array")?;
    let read = |check: &Value| {
        let check = check.as_object().ok_or("a check is no object")?;
        let [statement, reasoning] = ["check", "reasoning"].map(|key| text(check, key).to_owned());
        Ok(Check { statement, reasoning, passes: yes_or_no(check, "passes")? })
    };
    checks.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use eval_format::{Criterion, EvalCase, FunctionCall, Invocation};
    use serde_json::json;

    use super::*;
    use crate::metric::tests::judged::judged_case;

    #[test]
    fn the_share_of_checks_that_pass_is_the_score_of_a_sample() {
        for (reply, share) in [
            (r#"{"checks": [{"check": "a", "passes": true}]}"#, Ok(1.0)),
            (r#"{"checks": [{"passes": true}, {"passes": "no"}, {"passes": false}]}"#, Ok(1.0 / 3.0)),
            (r#"{"checks": []}"#, Err("`checks` is empty")),
            (r#"{"checks": {}}"#, Err("`checks` is no array")),
            (r#"{"checks": [1]}"#, Err("a check is no object")),
            (r#"{"checks": [{"passes": true}, {}]}"#, Err("`passes` is null, neither true nor false")),
            ("fine", Err("no line of it begins a JSON object with the key `checks`")),
        ] {
            assert_eq!(share_that_passes(reply, ""), share.map_err(str::to_owned), "{reply}");
        }
    }

    fn conversation() -> [Invocation; 2] {
        let call = FunctionCall::new("book", json!({ "nights": 2 }));
        [
            Invocation::user("A room, please.").response("For how long?"),
            Invocation::user("Two nights.").call(call).response("Booked."),
        ]
    }

    #[test]
    fn the_mean_of_the_samples_is_one_score_of_the_run() {
        let replies = [
            r#"{"checks": [{"check": "a", "passes": true}]}"#,
            r#"{"checks": [{"check": "a", "passes": true}, {"check": "b", "reasoning": "not asked", "passes": false}]}"#,
        ];
        let (scores, asked) = judged_case(
            &TASK_SUCCESS,
            &EvalCase::new("c"),
            &conversation(),
            &Criterion::new(0.8).with_num_samples(2),
            &replies,
        );
        let scores = scores.unwrap();
        assert!(scores.is_whole_run());
        assert_eq!(scores.overall(), Some(0.75));
        assert_eq!(
            scores.scores()[0].notes(),
            ["the mean of 2 samples; the lowest says: `b` is not met: not asked"]
        );
        let checks = [
            RubricScore::new("a", Some(true)).rationale(""),
            RubricScore::new("b", Some(false)).rationale("not asked"),
        ];
        assert_eq!(scores.scores()[0].rubrics(), checks, "those of the lowest sample");
        assert_eq!(asked.len(), 2, "one question for the whole conversation");
        for part in ["A room, please.", r#""nights":2"#, "Booked."] {
            assert!(asked[0].prompt.contains(part), "{part}");
        }
    }

    #[test]
    fn each_metric_asks_in_its_own_words() {
        fn asked(metric: &impl Metric) -> (String, String) {
            let replies = [r#"{"checks": [{"check": "a", "passes": true}]}"#];
            let (scores, mut asked) = judged_case(
                metric,
                &EvalCase::new("c"),
                &conversation(),
                &Criterion::new(1.0).with_num_samples(1),
                &replies,
            );
            assert_eq!(scores.unwrap().overall(), Some(1.0));
            let request = asked.remove(0);
            (request.template.unwrap(), request.prompt)
        }
        let all = [asked(&TASK_SUCCESS), asked(&TRAJECTORY_QUALITY), asked(&TOOL_USE_QUALITY)];
        let templates = [
            "multi_turn_task_success_v1/2",
            "multi_turn_trajectory_quality_v1/2",
            "multi_turn_tool_use_quality_v1/2",
        ];
        for ((template, prompt), expected) in all.iter().zip(templates) {
            assert_eq!(template, expected);
            assert!(!prompt.contains("{{"), "{prompt}");
        }
        assert!(all[0].1 != all[1].1 && all[1].1 != all[2].1);
    }

    #[test]
    fn an_unreadable_judge_leaves_the_run_unscored() {
        let (scores, _) = judged_case(
            &TASK_SUCCESS,
            &EvalCase::new("c"),
            &conversation(),
            &Criterion::new(1.0).with_num_samples(1),
            &["?", "?"],
        );
        assert!(scores.unwrap().scores()[0].reason().unwrap().contains("could not be read"));
    }
}
