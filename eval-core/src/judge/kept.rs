//! What is kept of the questions to a judge, for people who read a report: prompts and answers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use eval_support::secrets::mask;

use super::{JudgeError, JudgeReply, JudgeRequest};
use crate::judge_outcome::JudgeQuestion;

/// Characters that are kept of a prompt.
const LONGEST_PROMPT: usize = 8_000;
/// Characters that are kept of an answer.
const LONGEST_ANSWER: usize = 2_000;
/// Characters that are kept of all prompts and answers together. A journal would grow without an end if a metric asked
/// about each sentence of a long conversation.
const MOST: usize = 48_000;

/// The prompts and answers of one metric in one run. A question is kept when it is asked, so that the order does not depend on
/// which answer is the first.
#[derive(Debug)]
pub(super) struct Kept {
    questions: Vec<Question>,
    /// The place of each question, by the hash of the whole text. Samples of a question have the same one.
    places: HashMap<u64, usize>,
    /// How many characters can still be kept.
    left: usize,
}

#[derive(Debug)]
struct Question {
    model: String,
    template: Option<String>,
    prompt: String,
    /// Each with the number of its sample.
    answers: Vec<(u32, String)>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { questions: Vec::new(), places: HashMap::new(), left: MOST }
    }
}

impl Kept {
    /// Keeps a question, unless there are too many: its place.
    pub(super) fn asked(&mut self, request: &JudgeRequest) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        (&request.model, &request.template, &request.prompt).hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(place) = self.places.get(&hash) {
            return Some(*place);
        }
        let prompt = self.cut(&request.prompt, LONGEST_PROMPT)?;
        self.questions.push(Question {
            model: request.model.clone(),
            template: request.template.clone(),
            prompt,
            answers: Vec::new(),
        });
        self.places.insert(hash, self.questions.len() - 1);
        Some(self.questions.len() - 1)
    }

    /// Keeps the answer to a sample of the question in this place.
    pub(super) fn answered(&mut self, place: usize, sample: u32, answer: &Result<JudgeReply, JudgeError>) {
        let text = match answer {
            Ok(reply) => self.cut(&reply.text, LONGEST_ANSWER),
            Err(error) => self.cut(&format!("no answer: {}", error.headline()), LONGEST_ANSWER),
        };
        if let (Some(question), Some(text)) = (self.questions.get_mut(place), text) {
            let before = question.answers.partition_point(|(other, _)| *other <= sample);
            question.answers.insert(before, (sample, text));
        }
    }

    /// The questions to a model.
    pub(super) fn of_model(&self, model: &str) -> Vec<JudgeQuestion> {
        let questions = self.questions.iter().filter(|question| question.model == model);
        let question = |it: &Question| JudgeQuestion {
            template: it.template.clone(),
            prompt: it.prompt.clone(),
            answers: it.answers.iter().map(|(_, text)| text.clone()).collect(),
        };
        questions.map(question).collect()
    }

    /// As much of a text as may be kept; `None` if nothing more may.
    fn cut(&mut self, text: &str, longest: usize) -> Option<String> {
        let longest = longest.min(self.left);
        if longest == 0 {
            return None;
        }
        let Some((end, _)) = text.char_indices().nth(longest) else {
            self.left -= text.chars().count();
            return Some(text.to_owned());
        };
        self.left -= longest;
        // Half a key would not be recognised as one when the journal is written.
        let ahead = text[end..].char_indices().nth(LONGEST_ANSWER).map_or(text.len(), |(at, _)| end + at);
        let shown: String = mask(&text[..ahead]).chars().take(longest).collect();
        Some(format!("{shown}\n(… {} more characters are not recorded)", text[end..].chars().count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::JudgeErrorKind;

    fn request(prompt: &str, sample: u32) -> JudgeRequest {
        JudgeRequest::new("m", prompt).with_template("right/1").with_sample(sample)
    }

    #[test]
    fn the_samples_of_a_question_stand_together_in_their_order() {
        let mut kept = Kept::default();
        let places: Vec<_> = [("a", 0), ("b", 0), ("a", 1)]
            .map(|(prompt, sample)| kept.asked(&request(prompt, sample)))
            .into();
        assert_eq!(places, [Some(0), Some(1), Some(0)]);
        kept.answered(0, 1, &Err(JudgeError::new(JudgeErrorKind::Timeout, "late")));
        kept.answered(0, 0, &Ok(JudgeReply::new("yes")));
        let questions = kept.of_model("m");
        assert_eq!(questions.len(), 2);
        assert_eq!((questions[0].template.as_deref(), questions[0].prompt.as_str()), (Some("right/1"), "a"));
        assert_eq!(questions[0].answers, ["yes", "no answer: late"]);
        assert!(kept.of_model("other").is_empty());
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut kept = Kept::default();
        for number in 0..100_000 {
            let place = kept.asked(&request(&format!("{number} {}", "ä".repeat(LONGEST_PROMPT)), 0));
            if let Some(place) = place {
                kept.answered(place, 0, &Ok(JudgeReply::new("x".repeat(LONGEST_ANSWER + 1))));
            }
            if kept.left == 0 {
                break;
            }
        }
        let questions = kept.of_model("m");
        let length: usize = questions
            .iter()
            .map(|it| it.prompt.chars().count() + it.answers.iter().map(String::len).sum::<usize>())
            .sum();
        assert!((MOST..MOST + 2_000).contains(&length), "{length}");
        assert!(questions[0].prompt.ends_with("\n(… 2 more characters are not recorded)"));
        assert_eq!(kept.asked(&request("one more", 0)), None, "it is counted, and not kept");
    }

    #[test]
    fn a_key_at_the_cut_is_masked() {
        let mut kept = Kept::default();
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        kept.asked(&request(&format!("{}{key} {}", "x ".repeat(LONGEST_PROMPT / 2 - 6), "y".repeat(99)), 0));
        assert!(!kept.of_model("m")[0].prompt.contains("abcde"));
    }
}
