//! Intermediate data between the user's message and the answer, in either of ADK's two forms.

use super::content::{Content, FunctionResponse, Part};
use super::invocation::{IntermediateData, Invocation};

impl Invocation {
    /// The responses of tools in order: the flat list, or the responses in the parts of the events.
    ///
    /// ```
    /// use eval_format::Invocation;
    ///
    /// let turn = Invocation::parse(
    ///     r#"{"user_content": {}, "intermediate_data": {"tool_responses": [{"name": "f", "response": {"result": 1}}]}}"#,
    /// )?;
    /// assert_eq!(turn.tool_responses().next().unwrap().name.as_deref(), Some("f"));
    /// # Ok::<(), eval_format::Problems>(())
    /// ```
    pub fn tool_responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        let flat = match &self.intermediate_data {
            Some(IntermediateData::Tools { tool_responses, .. }) => tool_responses.as_slice(),
            _ => &[],
        };
        flat.iter().chain(self.parts_of_events().filter_map(|part| part.function_response.as_ref()))
    }

    /// The texts before the answer: one for each intermediate response, or for each event with text.
    ///
    /// Thoughts, blank texts and white space at the ends are left out. So is the answer itself if a writer
    /// repeats it as the last event.
    ///
    /// ```
    /// use eval_format::Invocation;
    ///
    /// let turn = Invocation::parse(
    ///     r#"{"user_content": {}, "intermediate_data": {"intermediate_responses": [["agent", [{"text": "Let me see."}]]]}}"#,
    /// )?;
    /// assert_eq!(turn.intermediate_texts(), ["Let me see."]);
    /// # Ok::<(), eval_format::Problems>(())
    /// ```
    pub fn intermediate_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = match &self.intermediate_data {
            Some(IntermediateData::Tools { intermediate_responses, .. }) => {
                intermediate_responses.iter().map(|(_, parts)| said(parts)).collect()
            }
            Some(IntermediateData::Events(events)) => {
                let mut contents: Vec<&Content> =
                    events.iter().filter_map(|event| event.content.as_ref()).collect();
                if contents.last().copied() == self.final_response.as_ref() {
                    contents.pop();
                }
                contents.into_iter().map(|content| said(content.parts())).collect()
            }
            None => Vec::new(),
        };
        texts.retain(|text| !text.is_empty());
        texts
    }
}

/// The texts of the parts that users see, without white space at the ends.
fn said(parts: &[Part]) -> String {
    let seen = parts.iter().filter(|part| part.thought != Some(true));
    let texts: Vec<&str> = seen.filter_map(|part| part.text.as_deref()).collect();
    texts.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(data: &str) -> Invocation {
        let text = format!(
            r#"{{"user_content": {{}}, "final_response": {{"parts": [{{"text": "Done."}}], "role": "model"}},
                "intermediate_data": {data}}}"#
        );
        Invocation::parse(&text).unwrap()
    }

    #[test]
    fn both_forms_say_the_same() {
        let flat = turn(
            r#"{"tool_responses": [{"name": "f", "response": {"result": 1}}, {"name": "g"}],
                "intermediate_responses": [["a", [{"text": " one "}, {"text": "two"}]], ["b", [{"text": " "}]],
                ["c", [{"text": "hm", "thought": true}]]]}"#,
        );
        let events = turn(
            r#"{"invocation_events": [
                {"author": "a", "content": {"parts": [{"text": " one "}, {"text": "two"}]}},
                {"author": "a", "content": {"parts": [{"function_response": {"name": "f", "response": {"result": 1}}},
                    {"function_response": {"name": "g"}}]}},
                {"author": "b", "content": {"parts": [{"text": " "}]}},
                {"author": "c", "content": {"parts": [{"text": "hm", "thought": true}]}},
                {"author": "c"}]}"#,
        );
        for turn in [&flat, &events] {
            assert_eq!(turn.intermediate_texts(), ["one \ntwo"]);
            let names: Vec<_> = turn.tool_responses().filter_map(|it| it.name.as_deref()).collect();
            assert_eq!(names, ["f", "g"]);
        }
        assert!(turn("{}").intermediate_texts().is_empty() && turn("{}").tool_responses().next().is_none());
        assert!(Invocation::user("q").intermediate_texts().is_empty());
    }

    #[test]
    fn an_answer_that_is_repeated_as_the_last_event_is_none_of_them() {
        let said = |text: &str| {
            format!(r#"{{"author": "a", "content": {{"parts": [{{"text": "{text}"}}], "role": "model"}}}}"#)
        };
        let events = |texts: &[&str]| {
            let events: Vec<String> = texts.iter().map(|text| said(text)).collect();
            turn(&format!(r#"{{"invocation_events": [{}]}}"#, events.join(", "))).intermediate_texts()
        };
        assert_eq!(events(&["Let me see.", "Done."]), ["Let me see."]);
        assert_eq!(events(&["Done.", "Let me see."]), ["Done.", "Let me see."]);
    }
}
