//! The texts of messages and answers.

use eval_format::{Content, IntermediateData, Invocation, Part};

/// The text of a message as its reader saw it: the parts with a line break between them, without thoughts.
///
/// ADK shows thoughts to its judges too, as part of the answer.
pub(crate) fn visible_text(content: &Content) -> String {
    visible(content.parts())
}

/// The answer of a turn. `with_intermediate` puts the earlier texts of the turn before it.
pub(crate) fn answer(turn: &Invocation, with_intermediate: bool) -> String {
    let mut texts = Vec::new();
    if with_intermediate {
        match &turn.intermediate_data {
            Some(IntermediateData::Events(events)) => {
                texts.extend(events.iter().filter_map(|event| event.content.as_ref()).map(visible_text));
            }
            Some(IntermediateData::Tools { intermediate_responses, .. }) => {
                texts.extend(intermediate_responses.iter().map(|(_, parts)| visible(parts)));
            }
            None => {}
        }
    }
    texts.extend(turn.final_response.as_ref().map(visible_text));
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

/// The texts of those parts that are no thoughts.
pub(super) fn visible(parts: &[Part]) -> String {
    let shown = parts.iter().filter(|part| part.thought != Some(true));
    let texts: Vec<&str> =
        shown.filter_map(|part| part.text.as_deref()).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::InvocationEvent;

    #[test]
    fn thoughts_are_no_answer() {
        let content = Content::new(
            "model",
            vec![Part::thought("hm"), Part::text("a"), Part::text(""), Part::text("b")],
        );
        assert_eq!(visible_text(&content), "a\nb");
        // What ADK judges.
        assert_eq!(content.text(), "hm\na\nb");
    }

    #[test]
    fn what_was_said_on_the_way_is_shown_on_demand() {
        let parts = |text: &str| vec![Part::thought("hm"), Part::text(text)];
        let said = |text: &str| InvocationEvent::new("a").with_content(Content::new("model", parts(text)));
        let silent = InvocationEvent::new("a");
        let events = IntermediateData::Events(vec![said("Let me see."), said(""), silent]);
        let flat = IntermediateData::Tools {
            tool_uses: Vec::new(),
            tool_responses: Vec::new(),
            intermediate_responses: vec![("a".to_owned(), parts("Let me see."))],
        };
        for data in [events, flat] {
            let turn = Invocation::user("q").with_intermediate_data(data).response("Done.");
            assert_eq!(answer(&turn, true), "Let me see.\nDone.");
            assert_eq!(answer(&turn, false), "Done.");
        }
        assert_eq!(answer(&Invocation::user("q"), true), "");
    }
}
