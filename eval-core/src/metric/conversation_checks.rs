//! What the metrics share that have a judge draw up checks for a whole conversation.

use serde_json::{Map, Value};

use super::judged::{not_evaluated, of_samples};
use super::{MetricInput, Score, Scores};
use crate::agent::BoxError;
use crate::judge::json::{last_object, text, yes_or_no};
use crate::judge::{JudgeError, JudgePrompt, Judging, dialogue, instructions, tools};
use crate::score::mean;

/// A metric over the whole conversation.
#[derive(Debug)]
pub(super) struct ConversationChecks {
    /// The name of its prompt, with its version.
    pub(super) template: &'static str,
    /// What the checks are to be about.
    pub(super) task: &'static str,
}

impl ConversationChecks {
    /// The share of checks that the conversation meets, the mean over samples, as one score of the run.
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
        let rating = match judging.rate(self.template, prompt, share_that_passes).await {
            Ok(rating) => rating,
            Err(error) => return not_evaluated(error),
        };
        let score = Score::from(rating.mean);
        if rating.mean >= 1.0 {
            return Ok(score);
        }
        let failed = checks(&rating.reply).unwrap_or_default().into_iter().filter(|check| !check.passes);
        let score = score.note(format!("{}; the lowest says:", of_samples(&rating)));
        Ok(failed.fold(score, |score, check| score.note(format!("{}: {}", check.check, check.reasoning))))
    }
}

fn share_that_passes(reply: &str) -> Result<f64, String> {
    let checks = checks(reply)?;
    let points = checks.iter().map(|check| i128::from(check.passes));
    mean::of_integers(points, checks.len()).ok_or_else(|| "`checks` is empty".to_owned())
}

/// A statement about the conversation, and whether it is met.
struct Check {
    check: String,
    reasoning: String,
    passes: bool,
}

fn checks(reply: &str) -> Result<Vec<Check>, String> {
    let object = last_object(reply, "checks")?;
    let checks = object.get("checks").and_then(Value::as_array).ok_or("`checks` is no array")?;
    checks.iter().map(|check| read(check.as_object().ok_or("a check is no object")?)).collect()
}

fn read(check: &Map<String, Value>) -> Result<Check, String> {
    let owned = |key: &str| text(check, key).to_owned();
    Ok(Check { check: owned("check"), reasoning: owned("reasoning"), passes: yes_or_no(check, "passes")? })
}
