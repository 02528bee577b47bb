//! A recording: questions with their answers, found by their keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::question::RecordedQuestion;
use crate::value::{Map, Value, to_pretty};

/// Questions to judges, and their answers.
///
/// ```
/// use eval_format::recording::{RecordedQuestion, Recording};
///
/// let mut recording = Recording::default();
/// let question = RecordedQuestion::new("gemini-2.5-flash", "Is it polite?\nAnswer yes or no.");
/// recording.add(question.clone().case("refund declined").reply(0, "yes", None));
///
/// let text = recording.to_json();
/// assert!(text.contains(r#""Answer yes or no.""#), "a line of a prompt is a line of the file");
/// let read = Recording::parse(&text)?;
/// assert_eq!(read.find(&question).unwrap().replies[0].text, "yes");
/// # Ok::<(), eval_format::Problems>(())
/// ```
///
/// It is saved beside its set, under the name that [`recording_path`](crate::conventions::recording_path)
/// gives. The file is easy to review: questions are sorted, and texts are written line by line.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    questions: Vec<RecordedQuestion>,
    places: HashMap<String, usize>,
}

impl Recording {
    /// The questions, in no particular order.
    pub fn questions(&self) -> &[RecordedQuestion] {
        &self.questions
    }

    /// The recorded question that is equal except for its cases, template and replies.
    pub fn find(&self, question: &RecordedQuestion) -> Option<&RecordedQuestion> {
        self.questions.get(*self.places.get(&question.key())?)
    }

    /// Adds a question. An equal question that is there gets the cases and samples that it does not have yet.
    ///
    /// Returns its position in [`questions`](Self::questions).
    pub fn add(&mut self, question: RecordedQuestion) -> usize {
        let place = match self.places.entry(question.key()) {
            Entry::Vacant(vacant) => {
                let place = *vacant.insert(self.questions.len());
                self.questions.push(question);
                return place;
            }
            Entry::Occupied(occupied) => *occupied.get(),
        };
        let Some(known) = self.questions.get_mut(place) else { return place };
        for case in question.cases {
            if !known.cases.contains(&case) {
                known.cases.push(case);
            }
        }
        for reply in question.replies {
            if known.sample(reply.sample).is_none() {
                known.replies.push(reply);
            }
        }
        place
    }

    /// The text of the file: sorted by case, template, model and prompt, indented by two.
    ///
    /// The same questions give the same text, regardless of the order in which they were added.
    pub fn to_json(&self) -> String {
        let mut questions: Vec<&RecordedQuestion> = self.questions.iter().collect();
        questions.sort_by_cached_key(|question| question.order());
        let questions: Vec<Value> = questions.into_iter().map(RecordedQuestion::to_value).collect();
        let file = Map::from([("judge_recording", Value::from(VERSION)), ("questions", questions.into())]);
        to_pretty(&file.into()) + "\n"
    }
}

pub(super) const VERSION: i64 = 1;
