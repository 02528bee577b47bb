//! `per_turn_user_simulator_quality_v1` is the share of the messages of a simulated user that follow the scenario, as a
//! judge finds.
//!
//! The stop signal is judged as one more message after the last turn. If the conversation may not end there, the last
//! message keeps its own note beside the one on the end.
//!
//! Source: `PerTurnUserSimulatorQualityV1` in `simulation/per_turn_user_simulator_quality_v1.py` of google-adk 2.13.0;
//! the prompt is this project's.

mod prompt;
mod verdict;

use eval_format::{ConversationScenario, Criterion, Invocation};

use self::prompt::{TEMPLATE, prompt};
use super::judged::{not_evaluated, objection};
use crate::agent::BoxError;
use crate::judge::{JudgeClient, JudgeError, visible_text};
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "per_turn_user_simulator_quality_v1";

pub(crate) struct UserSimulatorQuality;

impl Metric for UserSimulatorQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let Some(scenario) = &input.case.conversation_scenario else {
            return Err("the case is no scenario, so its user is not simulated".into());
        };
        let stop_signal = input.criterion.stop_signal();
        let user = User { scenario, stop_signal, judging: input.judging() };
        let mut scores = Vec::with_capacity(input.actual.len());
        for (at, turn) in input.actual.iter().enumerate() {
            let message = visible_text(&turn.user_content);
            scores.push(match at {
                0 if message.trim() == scenario.starting_prompt.trim() => Score::from(true),
                0 => Score::from(false).note("the first message is not the `starting_prompt`"),
                _ => user.later(&input.actual[..at], &message, "found invalid").await?,
            });
        }
        let end = user.later(input.actual, stop_signal, "the end was found too early or too late").await?;
        if let Some(last) = scores.pop() {
            scores.push(with_end(last, &end, input.criterion));
        }
        Ok(scores.into_iter().collect())
    }
}

struct User<'a> {
    scenario: &'a ConversationScenario,
    stop_signal: &'a str,
    judging: JudgeClient,
}

impl User<'_> {
    async fn later(&self, before: &[Invocation], message: &str, finding: &str) -> Result<Score, JudgeError> {
        let prompt = prompt(self.scenario, self.stop_signal, before, message);
        let read = |reply: &str| verdict::read(reply, &prompt).map(Some);
        let vote = match self.judging.vote(TEMPLATE, &prompt, read).await {
            Ok(vote) => vote,
            Err(error) => return not_evaluated(error),
        };
        let score = Score::from(vote.passed);
        if vote.passed {
            return Ok(score);
        }
        Ok(score.note(objection(&vote, finding, &verdict::objections(&vote.reply))))
    }
}

/// The score of the last message, given the verdict on the end of the conversation.
///
/// As in ADK, an end below the threshold replaces the score of the last message. So does an end that was not evaluated.
fn with_end(last: Score, end: &Score, criterion: &Criterion) -> Score {
    if last.value().is_none() || end.value().is_some_and(|end| criterion.is_met(end)) {
        return last;
    }
    last.notes().iter().chain(end.notes()).fold(end.without_notes(), |score, note| score.note(note.as_str()))
}

#[cfg(test)]
mod tests {
    use eval_format::{EvalCase, FunctionCall, Persona, UserBehavior, UserPersona};
    use serde_json::json;

    use super::*;
    use crate::judge::JudgeErrorKind;
    use crate::metric::tests::judged::judged_case;

    const YES: &str = r#"{"criteria": [], "is_valid": true}"#;
    const NO: &str = r#"{"criteria": [{"name": "Answers", "reasoning": "it does not", "passes": false}], "is_valid": false}"#;

    fn case() -> EvalCase {
        EvalCase::new("c").scenario(ConversationScenario::new("Hi ", "Book a room for two nights."))
    }

    fn turns(messages: &[&str]) -> Vec<Invocation> {
        messages.iter().map(|message| Invocation::user(*message).response("Yes?")).collect()
    }

    fn score(messages: &[&str], threshold: f64, replies: &[&str]) -> Scores {
        judged_case(
            &UserSimulatorQuality,
            &case(),
            &turns(messages),
            &Criterion::new(threshold).with_num_samples(1),
            replies,
        )
        .0
        .unwrap()
    }

    #[test]
    fn messages_and_the_end_of_the_conversation_are_judged() {
        for (messages, replies, score_of_run) in [
            (&["Hi"][..], &[YES][..], 1.0),
            (&[" Hi\n"], &[YES], 1.0),
            (&["Hello"], &[YES], 0.0),
            (&["Hi"], &[NO], 0.0),
            (&["Hi", "a room"], &[YES, YES], 1.0),
            (&["Hi", "a room"], &[NO, YES], 0.5),
            (&["Hi", "a room"], &[YES, NO], 0.5),
            (&["Hi", "a room"], &[NO, NO], 0.5),
            (&["Hi", "a room", "two nights"], &[YES, YES, NO], 2.0 / 3.0),
            (&["hi", "a room", "two nights"], &[YES, NO, NO], 1.0 / 3.0),
        ] {
            let scores = score(messages, 1.0, replies);
            assert_eq!(scores.overall(), Some(score_of_run), "{messages:?} {replies:?}");
            assert_eq!(scores.scores().len(), messages.len());
        }
    }

    #[test]
    fn both_the_message_and_the_end_are_explained() {
        let scores = score(&["Hi", "a room"], 1.0, &[NO, NO]);
        assert_eq!(
            scores.scores()[1].notes(),
            [
                "found invalid by 1 of 1 sample: Answers: it does not",
                "the end was found too early or too late by 1 of 1 sample: Answers: it does not"
            ]
        );
    }

    #[test]
    fn a_verdict_that_cannot_be_read_is_no_verdict() {
        // In ADK the message counts as 0, and the end as well-timed.
        let scores = score(&["Hi", "a room"], 0.5, &["?", "?", YES]);
        assert!(scores.scores()[1].reason().is_some());
        let scores = score(&["Hi", "a room"], 0.5, &[YES, "?", "?"]);
        assert!(scores.scores()[1].reason().is_some());
    }

    #[test]
    fn samples_vote_and_those_that_fail_do_not() {
        let run = |replies: &[&str]| {
            judged_case(
                &UserSimulatorQuality,
                &case(),
                &turns(&["Hi", "a room"]),
                &Criterion::new(1.0).with_num_samples(3),
                replies,
            )
            .0
        };
        assert_eq!(run(&[NO, YES, YES, YES, NO, YES]).unwrap().overall(), Some(1.0));
        assert_eq!(run(&[NO, YES, "?", "?", YES, YES, YES]).unwrap().overall(), Some(0.5), "a tie is a no");
        let error = run(&[YES]).unwrap_err();
        assert_eq!(error.downcast_ref::<JudgeError>().map(JudgeError::kind), Some(JudgeErrorKind::Failed));
    }

    #[test]
    fn the_judge_sees_what_the_user_sees() {
        let mut turns = turns(&["Hi", "a room"]);
        turns[0] = turns[0].clone().call(FunctionCall::new("secret_tool", json!({})));
        let (_, asked) = judged_case(
            &UserSimulatorQuality,
            &case(),
            &turns,
            &Criterion::new(1.0).with_num_samples(1),
            &[YES, YES],
        );
        for part in ["Book a room for two nights.", "Hi", "Yes?", "a room", "</finished>", "Ends in time"] {
            assert!(asked[0].prompt.contains(part), "{part}");
        }
        assert!(
            !asked[0].prompt.contains("secret_tool") && !asked[0].prompt.contains("{{"),
            "{}",
            asked[0].prompt
        );
        assert!(asked[1].prompt.contains(": message>>>\n</finished>\n"), "{}", asked[1].prompt);
    }

    #[test]
    fn a_persona_brings_its_own_rules() {
        let hurried = UserPersona::new("ME", "In a hurry.").behavior(
            UserBehavior::new("Short", "One line.").violation("It has two lines and no `{{ stop_signal }}`."),
        );
        let ask = |persona: Persona| {
            let scenario = ConversationScenario::new("Hi", "Book.").persona(persona);
            let case = EvalCase::new("c").scenario(scenario);
            let criterion = Criterion::new(1.0).with_num_samples(1).with_stop_signal("bye");
            judged_case(&UserSimulatorQuality, &case, &turns(&["Hi"]), &criterion, &[YES]).1[0].prompt.clone()
        };
        let own = ask(Persona::Own(hurried));
        assert!(
            own.contains("In a hurry.\n\n## Short\nOne line.\n- It has two lines and no `bye`."),
            "{own}"
        );
        assert!(!own.contains("Ends in time"), "{own}");
        for persona in [Persona::Expert, Persona::Novice, Persona::Evaluator] {
            let prompt = ask(persona);
            assert!(
                prompt.contains("bye") && !prompt.contains("{{") && !prompt.contains("</finished>"),
                "{prompt}"
            );
        }
    }

    #[test]
    fn a_case_that_is_no_scenario_is_an_error() {
        let (scores, _) = judged_case(
            &UserSimulatorQuality,
            &EvalCase::new("c"),
            &turns(&["Hi"]),
            &Criterion::new(1.0).with_num_samples(1),
            &[],
        );
        assert!(scores.is_err());
    }
}
