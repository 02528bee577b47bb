//! A metric that asks a judge: does the agent apologise, or is there nothing to apologise for? The glue takes 13 lines.

use eval_core::judge::{Judge, JudgeError, JudgePrompt, JudgeReply, JudgeRequest};
use eval_core::{Agent, BoxError, Metric, MetricInput, Score, Scores, agent_fn, eval_set};

#[eval_set("evals/service.evalset.json", criteria(regret = 1.0), metrics(regret), judge = reader)]
fn service() -> impl Agent {
    agent_fn(async |message: String, _| {
        if message.contains("parcel") {
            "I am sorry. It comes today."
        } else {
            "You are welcome."
        }
    })
}

fn regret() -> impl Metric {
    Regret
}

struct Regret;

/// The question for the judge. The words of agent and user are fenced as data, which gives no orders.
const PROMPT: &str = "Is the user of this exchange content, or did the assistant apologise?\n\n{{about data}}\n\n\
    The user:\n{{user}}\n\nThe assistant:\n{{answer}}\n\nSay yes or no.";

// The glue.
impl Metric for Regret {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let mut scores = Vec::new();
        for (turn, _) in input.turns() {
            let prompt = JudgePrompt::new(PROMPT).data("user", turn.user_text());
            let prompt = prompt.data("answer", turn.response_text()).render();
            // Recordings hold the name and version of the prompt.
            let vote = input.judging().vote("regret/1", &prompt, yes_or_no).await?;
            let note = format!("{} of {} votes", vote.votes, vote.voters);
            scores.push(Score::from(vote.passed).note(note));
        }
        Ok(scores.into_iter().collect())
    }
}
// End of the glue.

/// Reads a reply. One that is neither is asked for once more.
fn yes_or_no(reply: &str) -> Result<Option<bool>, String> {
    match reply.trim().to_lowercase().as_str() {
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        other => Err(format!("`{other}` is neither yes nor no")),
    }
}

/// A fake of a model. Without `is_offline` it would be asked only if `EVALSET_JUDGE` says so, and recorded.
fn reader() -> impl Judge {
    Reader
}

struct Reader;

impl Judge for Reader {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let fine = ["sorry", "Thanks"]
            .iter()
            .any(|word| request.prompt.contains(word));
        Ok(JudgeReply::new(if fine { "Yes" } else { "No" }))
    }

    fn is_offline(&self) -> bool {
        true
    }
}
