//! The texts of a turn, the context that the agent had for each, and the prompts about both.

use std::slice;

use eval_format::{Content, IntermediateData, Invocation, Part, Value};

use crate::judge::{JudgePrompt, dialogue, grounding, instructions, tools, visible_text};

pub(super) const SEGMENT: &str = "hallucinations_v1.segment/2";
pub(super) const VALIDATE: &str = "hallucinations_v1.validate/2";

#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) text: String,
    turn: &'a Invocation,
    /// The number of events before the event of the text; `None` for the answer, which comes after all events.
    events_before: Option<usize>,
}

impl<'a> Said<'a> {
    /// The texts of a turn: its answer, and if asked for, each text before it. Thoughts are left out, since the user
    /// does not see them.
    pub(super) fn of_turn(turn: &'a Invocation, with_intermediate: bool) -> Vec<Self> {
        let mut said = if with_intermediate { before_the_answer(turn) } else { Vec::new() };
        let answer = turn.final_response.as_ref().map(visible_text).unwrap_or_default();
        if !answer.trim().is_empty() {
            said.push(Self { text: answer, turn, events_before: None });
        }
        said
    }

    pub(super) fn segmenting(&self) -> String {
        // A tag in the text would end a sentence of the reply.
        let text = self.text.replace("<sentence>", "‹sentence›").replace("</sentence>", "‹/sentence›");
        JudgePrompt::new(include_str!("segment.md")).data("text", text).render()
    }

    pub(super) fn validating(&self, sentences: &[String]) -> String {
        let known = self.known();
        let turn = slice::from_ref(&known);
        let lines: Vec<String> =
            sentences.iter().map(|sentence| Value::from(sentence.trim()).to_string()).collect();
        let template = include_str!("validate.md").replace("{{count}}", &sentences.len().to_string());
        JudgePrompt::new(&template)
            .data("instructions", instructions(turn))
            .data("tools", tools(turn))
            .data("grounding", grounding(&known))
            .data("conversation", dialogue(turn))
            .data("sentences", lines.join("\n"))
            .render()
    }

    /// The turn as the agent knew it when the text was said.
    ///
    /// As in ADK, that is all events for the answer. For a text before the answer it is the events before its own
    /// event, and what the model looked up for that event.
    fn known(&self) -> Invocation {
        let mut known = self.turn.clone();
        known.final_response = None;
        match (&mut known.intermediate_data, self.events_before) {
            (Some(IntermediateData::Events(events)), Some(before)) => {
                events.truncate(before + 1);
                if let Some(own) = events.get_mut(before) {
                    own.content = None;
                }
            }
            // The flat form has no order: all calls are known, and no other texts.
            (Some(IntermediateData::Tools { intermediate_responses, .. }), Some(_)) => {
                intermediate_responses.clear();
            }
            (_, None) | (None, _) => {}
        }
        known
    }
}

fn before_the_answer(turn: &Invocation) -> Vec<Said<'_>> {
    let parts: Vec<&[Part]> = match &turn.intermediate_data {
        Some(IntermediateData::Events(events)) => events
            .iter()
            .map(|event| event.content.as_ref().map(Content::parts).unwrap_or_default())
            .collect(),
        Some(IntermediateData::Tools { intermediate_responses, .. }) => {
            intermediate_responses.iter().map(|(_, parts)| parts.as_slice()).collect()
        }
        None => Vec::new(),
    };
    let said = |(at, parts)| {
        texts(parts).map(move |text| Said { text: text.to_owned(), turn, events_before: Some(at) })
    };
    parts.into_iter().enumerate().flat_map(said).collect()
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    let shown = parts.iter().filter(|part| part.thought != Some(true));
    shown.filter_map(|part| part.text.as_deref()).filter(|text| !text.trim().is_empty())
}
