//! What the `multi_turn_..` metrics share: a judge draws up checks for a whole conversation and says which are met.
//!
//! A sample scores the share of its checks that are met. The score of the run is the mean over the samples, rounded
//! once. ADK ignores `judge_model_options` for these metrics.
//!
//! *Sent*, in one question: instructions and tools of the agents, and all turns with their tool calls and responses.
//! ADK sends the same to Vertex AI's evaluation service. Here the configured judge answers, by rules that this project
//! wrote, so scores are on the same scale, but not those of Vertex AI.
//!
//! *Read:* `checks` of the JSON object that has this key, an array of objects with `check`, `reasoning` and
//! `passes`. It must not be empty.

use serde_json::{Map, Value};

use super::judged::{not_evaluated, of_samples};
use crate::agent::BoxError;
use crate::judge::reply_json::{text, the_object, yes_or_no};
use crate::judge::{JudgeError, JudgePrompt, Judging, dialogue, instructions, tools};
use crate::metric::{MetricInput, RubricScore, Score, Scores};
use crate::score::mean;

/// A metric of this kind.
#[derive(Debug)]
pub(super) struct ConversationChecks {
    /// The name of the prompt with its version. Recordings contain it.
    pub(super) template: &'static str,
    /// The part of the prompt that says what the checks are about.
    pub(super) task: &'static str,
}

impl ConversationChecks {
    /// Asks the judge and computes the score of the run.
    pub(super) async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let task = include_str!("conversation_checks.md").replace("{{task}}", self.task.trim());
        let prompt = JudgePrompt::new(&task)
            .data("instructions", instructions(input.actual))
            .data("tools", tools(input.actual))
            .data("conversation", dialogue(input.actual))
            .render();
        Ok(Scores::whole_run(self.ask(&input.judging(), &prompt).await?))
    }

    async fn ask(&self, judging: &Judging, prompt: &str) -> Result<Score, JudgeError> {
        let rating = match judging.rate(self.template, prompt, |reply| share_that_passes(reply, prompt)).await
        {
            Ok(rating) => rating,
            Err(error) => return not_evaluated(error),
        };
        let checks = checks(&rating.reply, prompt).unwrap_or_default();
        let score = Score::from(rating.mean).with_rubrics(checks.iter().map(Check::as_rubric).collect());
        if rating.mean >= 1.0 {
            return Ok(score);
        }
        let failed = checks.iter().filter(|check| !check.passes);
        let mut said = of_samples(&rating);
        Ok(failed.fold(score, |score, check| score.note(std::mem::take(&mut said) + &check.objection())))
    }
}

pub(super) fn share_that_passes(reply: &str, prompt: &str) -> Result<f64, String> {
    let checks = checks(reply, prompt)?;
    let points = checks.iter().map(|check| i128::from(check.passes));
    mean::of_integers(points, checks.len()).ok_or_else(|| "`checks` is empty".to_owned())
}

/// A statement about the conversation, and whether the judge finds it met.
struct Check {
    statement: String,
    reasoning: String,
    passes: bool,
}

impl Check {
    /// Why it is not met, as a note.
    fn objection(&self) -> String {
        format!("`{}` is not met: {}", self.statement, self.reasoning)
    }

    /// The check as a rubric whose id is its statement, as ADK represents the checks of Vertex AI.
    fn as_rubric(&self) -> RubricScore {
        RubricScore::new(self.statement.as_str(), Some(self.passes)).rationale(self.reasoning.as_str())
    }
}

fn checks(reply: &str, prompt: &str) -> Result<Vec<Check>, String> {
    let object = the_object(reply, prompt, "checks")?;
    let checks = object.get("checks").and_then(Value::as_array).ok_or("`checks` is no array")?;
    checks.iter().map(|check| read(check.as_object().ok_or("a check is no object")?)).collect()
}

fn read(check: &Map<String, Value>) -> Result<Check, String> {
    let owned = |key: &str| text(check, key).to_owned();
    Ok(Check {
        statement: owned("check"),
        reasoning: owned("reasoning"),
        passes: yes_or_no(check, "passes")?,
    })
}

#[cfg(test)]
mod tests {
    use eval_format::{Criterion, EvalCase, FunctionCall, Invocation};
    use serde_json::json;

    use super::super::multi_turn_task_success::MultiTurnTaskSuccess;
    use super::super::multi_turn_tool_use_quality::MultiTurnToolUseQuality;
    use super::super::multi_turn_trajectory_quality::MultiTurnTrajectoryQuality;
    use super::*;
    use crate::metric::Metric;
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
            &MultiTurnTaskSuccess,
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
        let all = [
            asked(&MultiTurnTaskSuccess),
            asked(&MultiTurnTrajectoryQuality),
            asked(&MultiTurnToolUseQuality),
        ];
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
            &MultiTurnTaskSuccess,
            &EvalCase::new("c"),
            &conversation(),
            &Criterion::new(1.0).with_num_samples(1),
            &["?", "?"],
        );
        assert!(scores.unwrap().scores()[0].reason().unwrap().contains("could not be read"));
    }
}
