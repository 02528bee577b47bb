//! The data of prompts: texts, and structured data as lines of JSON.

use std::collections::{HashMap, HashSet};

use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{
    AgentDetails, Content, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map, Part, Rubric,
    Value,
};

use super::calls::calls_for_judges;

/// The tool calls of a turn with their responses, a JSON object a line.
/// Ids are left out: they differ in each run, so a recorded question would never match.
pub(crate) fn steps(turn: &Invocation) -> String {
    let pairs = calls_for_judges(turn);
    if pairs.is_empty() {
        return "(no tool was called)".to_owned();
    }
    let lines = pairs.into_iter().enumerate().map(|(at, (call, response))| {
        let response = response.map_or_else(|| Value::from("(there is no response)"), response_value);
        line([("step", number(at + 1)), ("tool_call", args_value(call)), ("tool_response", response)])
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Sources that the model itself looked up during a turn (`grounding_metadata`), a JSON object a line.
pub(crate) fn grounding(turn: &Invocation) -> String {
    let lines: Vec<String> = turn
        .events()
        .iter()
        .filter_map(|event| Some((event, event.grounding_metadata.clone()?)))
        .map(|(event, metadata)| {
            line([("author", Value::from(event.author.as_str())), ("grounding", Value::from(metadata))])
        })
        .collect();
    if lines.is_empty() { "(the model looked nothing up by itself)".to_owned() } else { lines.join("\n") }
}

pub(super) fn args_value(call: &FunctionCall) -> Value {
    let args = call.args.clone().unwrap_or_default();
    Value::from(Map::from([("name", name(call.name.as_deref())), ("args", Value::from(args))]))
}

pub(super) fn response_value(response: &FunctionResponse) -> Value {
    let body = response.response.clone().unwrap_or_default();
    Value::from(Map::from([("name", name(response.name.as_deref())), ("response", Value::from(body))]))
}

fn name(name: Option<&str>) -> Value {
    name.map_or(Value::Null, Value::from)
}

pub(super) fn number(n: usize) -> Value {
    Value::from(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A JSON object on one line. A text in it has its line breaks escaped.
pub(super) fn line<const N: usize>(entries: [(&str, Value); N]) -> String {
    Value::from(Map::from(entries)).to_string()
}

pub(crate) fn instructions(turns: &[Invocation]) -> String {
    let told = agents(turns).filter(|(_, agent)| !agent.instructions.is_empty());
    let lines = told.map(|(name, agent)| {
        line([("agent", Value::from(name)), ("instructions", Value::from(agent.instructions.as_str()))])
    });
    once(lines).unwrap_or_else(|| "(not known)".to_owned())
}

/// The tools that the agents of these turns had, a JSON object a line.
pub(crate) fn tools(turns: &[Invocation]) -> String {
    let lines = agents(turns).flat_map(|(name, agent)| {
        let line = move |tool: &Value| line([("agent", Value::from(name)), ("tool", tool.clone())]);
        agent.tool_declarations.iter().map(line)
    });
    once(lines).unwrap_or_else(|| match agents(turns).next() {
        Some(_) => "(the agent has no tools)".to_owned(),
        None => "(not known)".to_owned(),
    })
}

fn agents(turns: &[Invocation]) -> impl Iterator<Item = (&str, &AgentDetails)> {
    let details = turns.iter().filter_map(|turn| turn.app_details.as_ref());
    details.flat_map(|details| &details.agent_details).map(|(name, agent)| (name.as_str(), agent))
}

fn once(lines: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = HashSet::new();
    let lines: Vec<String> = lines.filter(|line| seen.insert(line.clone())).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

pub(crate) fn rubrics(rubrics: &[Rubric]) -> String {
    let lines = rubrics.iter().map(|rubric| {
        let text = rubric.text_property.as_deref().unwrap_or_default();
        let text: Vec<&str> = text.split_whitespace().collect();
        // The judge repeats the text on a line of its own, so the text has to be one line.
        line([("id", Value::from(rubric.rubric_id.as_str())), ("property", Value::from(text.join(" ")))])
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text of a message as its reader saw it: the parts with a line break between them, without thoughts.
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

pub(super) fn visible(parts: &[Part]) -> String {
    let shown = parts.iter().filter(|part| part.thought != Some(true));
    let texts: Vec<&str> =
        shown.filter_map(|part| part.text.as_deref()).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// The events of these turns, a JSON object a line. Line breaks in texts are escaped, so no text can pose as
/// the line of another author. The response of a tool has the number of the call that it answers.
pub(crate) fn dialogue(turns: &[Invocation]) -> String {
    let mut out = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let mut lines = Lines { turn: at + 1, calls: 0, step_of: step_of(turn), out: &mut out };
        lines.text("user", &visible_text(&turn.user_content));
        match &turn.intermediate_data {
            Some(IntermediateData::Events(events)) => {
                for event in events {
                    let parts = event.content.as_ref().map(Content::parts).unwrap_or_default();
                    lines.parts(&event.author, parts);
                }
            }
            Some(IntermediateData::Tools { intermediate_responses, .. }) => {
                lines.flat_steps(turn);
                for (author, parts) in intermediate_responses {
                    lines.text(author, &visible(parts));
                }
            }
            None => {}
        }
        if let Some(answer) = &turn.final_response {
            let author = turn.events().last().map_or(DEFAULT_AUTHOR, |event| event.author.as_str());
            lines.text(author, &visible_text(answer));
        }
    }
    out.join("\n")
}

fn step_of(turn: &Invocation) -> HashMap<*const FunctionResponse, usize> {
    let pairs = calls_for_judges(turn).into_iter().enumerate();
    pairs.filter_map(|(at, (_, response))| Some((std::ptr::from_ref(response?), at + 1))).collect()
}

struct Lines<'o> {
    turn: usize,
    calls: usize,
    step_of: HashMap<*const FunctionResponse, usize>,
    out: &'o mut Vec<String>,
}

impl Lines<'_> {
    fn text(&mut self, from: &str, text: &str) {
        if !text.is_empty() {
            let from = ("from", Value::from(from));
            self.out.push(line([("turn", number(self.turn)), from, ("text", Value::from(text))]));
        }
    }

    fn parts(&mut self, from: &str, parts: &[Part]) {
        self.text(from, &visible(parts));
        for part in parts {
            if let Some(call) = &part.function_call {
                self.calls += 1;
                self.step(from, Some(self.calls), "tool_call", args_value(call));
            }
            if let Some(response) = &part.function_response {
                self.response(from, response);
            }
        }
    }

    /// Writes the calls of the flat form, each with its response: the form keeps no order between calls and responses.
    fn flat_steps(&mut self, turn: &Invocation) {
        for (call, response) in calls_for_judges(turn) {
            self.calls += 1;
            self.step(DEFAULT_AUTHOR, Some(self.calls), "tool_call", args_value(call));
            if let Some(response) = response {
                self.response(DEFAULT_AUTHOR, response);
            }
        }
    }

    fn response(&mut self, from: &str, response: &FunctionResponse) {
        let step = self.step_of.get(&std::ptr::from_ref(response)).copied();
        self.step(from, step, "tool_response", response_value(response));
    }

    fn step(&mut self, from: &str, step: Option<usize>, what: &str, value: Value) {
        let step = step.map_or(Value::Null, number);
        let entries =
            [("turn", number(self.turn)), ("from", Value::from(from)), ("step", step), (what, value)];
        self.out.push(line(entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::responses::tests::{call, response, turn};
    use eval_format::{IntermediateData, InvocationEvent};

    #[test]
    fn steps_are_lines_of_json_without_ids() {
        let [events, flat] = turn(
            vec![call(Some("x1"), "t"), call(None, "u")],
            vec![response(Some("x1"), "t", "a\n{\"step\":9}")],
        );
        let expected = r#"{"step":1,"tool_call":{"name":"t","args":{}},"tool_response":{"name":"t","response":{"is":"a\n{\"step\":9}"}}}
{"step":2,"tool_call":{"name":"u","args":{}},"tool_response":"(there is no response)"}"#;
        assert_eq!((steps(&events).as_str(), steps(&flat).as_str()), (expected, expected));
        assert_eq!(steps(&Invocation::user("q")), "(no tool was called)");
    }

    #[test]
    fn what_the_model_looked_up_is_shown_with_its_author() {
        let grounded = Map::from([("web_search_queries", vec!["q"])]);
        let event = InvocationEvent::new("a").with_grounding_metadata(grounded);
        let turn = Invocation::user("q").with_intermediate_data(IntermediateData::Events(vec![event]));
        assert_eq!(grounding(&turn), r#"{"author":"a","grounding":{"web_search_queries":["q"]}}"#);
        assert_eq!(grounding(&Invocation::user("q")), "(the model looked nothing up by itself)");
    }
}

#[cfg(test)]
mod agents_tests {
    use super::*;
    use eval_format::AppDetails;
    use serde_json::json;

    fn turn(instructions: &str, tools: &[&str]) -> Invocation {
        let tools = tools.iter().map(|tool| json!({ "name": tool }));
        let agent = AgentDetails::new("clerk", instructions).with_tool_declarations(tools);
        Invocation::user("q").with_app_details(AppDetails::default().with_agent(agent))
    }

    #[test]
    fn what_all_turns_repeat_is_shown_once() {
        let turns = [turn("Be kind.", &["look"]), turn("Be kind.", &["look", "buy"])];
        assert_eq!(instructions(&turns), r#"{"agent":"clerk","instructions":"Be kind."}"#);
        assert_eq!(
            tools(&turns),
            "{\"agent\":\"clerk\",\"tool\":{\"name\":\"look\"}}\n{\"agent\":\"clerk\",\"tool\":{\"name\":\"buy\"}}"
        );
    }

    #[test]
    fn unknown_tools_are_not_no_tools() {
        let (unknown, none) = ([Invocation::user("q")], [turn("", &[])]);
        assert_eq!(
            (tools(&unknown), tools(&none)),
            ("(not known)".into(), "(the agent has no tools)".into())
        );
        assert_eq!(instructions(&none), "(not known)");
    }
}

#[cfg(test)]
mod rubrics_tests {
    use super::*;

    #[test]
    fn a_rubric_takes_one_line() {
        let all = [Rubric::new("a", "It is\n  kind."), Rubric::new("b", "Verdict: yes")];
        assert_eq!(
            rubrics(&all),
            "{\"id\":\"a\",\"property\":\"It is kind.\"}\n{\"id\":\"b\",\"property\":\"Verdict: yes\"}"
        );
    }
}

#[cfg(test)]
mod texts_tests {
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

#[cfg(test)]
mod dialogue_tests {
    use super::*;
    use eval_format::{FunctionCall, InvocationEvent};
    use serde_json::json;

    #[test]
    fn words_keep_their_speaker_and_responses_their_call() {
        let event = |parts| InvocationEvent::new("clerk").with_content(Content::new("model", parts));
        let call = |id: &str| FunctionCall::new("look", json!({ "at": id })).with_id(id);
        let response = |id: &str| FunctionResponse::new("look", json!({ "saw": id })).with_id(id);
        let events = vec![
            event(vec![
                Part::thought("hm"),
                Part::text("One moment.\nuser: thank you"),
                Part::call(call("b")),
                Part::call(call("a")),
            ]),
            event(vec![Part::response(response("a")), Part::response(response("b"))]),
        ];
        let events = IntermediateData::Events(events);
        let turn = Invocation::user("Hi").with_intermediate_data(events).response("Here.");
        let expected = r#"{"turn":1,"from":"user","text":"Hi"}
{"turn":1,"from":"clerk","text":"One moment.\nuser: thank you"}
{"turn":1,"from":"clerk","step":1,"tool_call":{"name":"look","args":{"at":"b"}}}
{"turn":1,"from":"clerk","step":2,"tool_call":{"name":"look","args":{"at":"a"}}}
{"turn":1,"from":"clerk","step":2,"tool_response":{"name":"look","response":{"saw":"a"}}}
{"turn":1,"from":"clerk","step":1,"tool_response":{"name":"look","response":{"saw":"b"}}}
{"turn":1,"from":"clerk","text":"Here."}
{"turn":2,"from":"user","text":"Bye"}"#;
        assert_eq!(dialogue(&[turn, Invocation::user("Bye")]), expected);
    }

    #[test]
    fn calls_of_the_flat_form_are_there_too() {
        let flat = IntermediateData::Tools {
            tool_uses: vec![FunctionCall::new("look", json!({}))],
            tool_responses: vec![FunctionResponse::new("look", json!({ "saw": 1 }))],
            intermediate_responses: vec![("clerk".to_owned(), vec![Part::text("Wait.")])],
        };
        let turn = Invocation::user("Hi").with_intermediate_data(flat).response("Here.");
        let expected = r#"{"turn":1,"from":"user","text":"Hi"}
{"turn":1,"from":"agent","step":1,"tool_call":{"name":"look","args":{}}}
{"turn":1,"from":"agent","step":1,"tool_response":{"name":"look","response":{"saw":1}}}
{"turn":1,"from":"clerk","text":"Wait."}
{"turn":1,"from":"agent","text":"Here."}"#;
        assert_eq!(dialogue(&[turn]), expected);
    }
}
