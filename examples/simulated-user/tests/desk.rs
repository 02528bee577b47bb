//! A simulated user of your own: a function plays the guest of a hotel. The glue takes 11 lines.

use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
use eval_core::{Agent, BoxError, Turn, eval_set, json};

/// The criterion is what counts at the end: the state of the session.
#[eval_set("evals/desk.evalset.json", criteria(final_session_state_match = 1.0), judge = guest)]
fn desk() -> impl Agent {
    Desk { city: None }
}

// The glue. The model that plays the user is a judge.
fn guest() -> impl Judge {
    Guest
}

impl Judge for Guest {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        Ok(JudgeReply::new(next_message(&request.prompt)))
    }
    fn is_offline(&self) -> bool {
        true
    }
}
// End of the glue.

struct Guest;

/// The guest's next message. The prompt holds the plan of the case and the conversation so far.
fn next_message(prompt: &str) -> &'static str {
    if prompt.contains("It is booked") {
        "</finished>"
    } else if prompt.contains("How many nights") {
        "Two nights."
    } else {
        "In Lisbon."
    }
}

/// The agent: it asks for what it is not told.
struct Desk {
    city: Option<&'static str>,
}

impl Agent for Desk {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let message = turn.text();
        let answer = match self.city {
            Some(city) if message.contains("Two") => {
                turn.recorder()
                    .state("booking", json!({ "city": city, "nights": 2 }));
                "It is booked."
            }
            Some(_) => "How many nights do you need?",
            None if message.contains("Lisbon") => {
                self.city = Some("Lisbon");
                "How many nights do you need?"
            }
            None => "Which city do you travel to?",
        };
        turn.recorder().text(answer);
        Ok(())
    }
}
