//! Display of a draft for review.

use std::ptr;

use eval_core::metric::arithmetic::Answered;
use eval_format::{
    Content, ConversationScenario, EvalCase, FunctionResponse, Invocation, Map, Persona, Rubric,
    SessionInput, Value,
};
use eval_support::untrusted::{one_line, quoted};

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::Draft;
use super::golden_of;
use crate::output::{BOLD, styled};
use eval_agents::draft::Draft as Written;

/// The column in which texts begin.
const INDENT_COLUMNS: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Turn(usize),
    /// A message or an action. `what` is its author or kind, and is empty for a continuation.
    Line {
        what: String,
        said: String,
    },
    NoAnswer,
}

pub(crate) fn text(draft: &Draft) -> String {
    let Draft { path, case } = draft;
    let (id, file) = (one_line(&case.eval_id), one_line(&path.display().to_string()));
    let mut text = format!("{} in `{file}`\n", styled(BOLD, &id));
    for part in parts(case) {
        match part {
            Part::Turn(number) => text.push_str(&format!("  turn {number}\n")),
            Part::Line { what, said } => line(&what, &said, &mut text),
            Part::NoAnswer => text.push_str("    (no answer is expected)\n"),
        }
    }
    text.push('\n');
    text
}

/// The origin of a draft, and all that it plays and expects, in parts. Unknown keys of a case, a turn, a
/// session, a scenario or a rubric are shown as they are in the file, so that no key of a later version is
/// accepted unseen. If the draft replaces a golden, `-` is before what the golden expects, and `+` before what the draft
/// expects in its place.
pub(crate) fn parts(case: &EvalCase) -> Vec<Part> {
    let mut parts = Vec::new();
    let golden = golden_of(case);
    mark(case, golden.is_some(), &mut parts);
    let draft = content_of(case);
    let Some(golden) = golden else {
        parts.extend(draft);
        return parts;
    };
    let golden = content_of(&golden);
    for change in capture_diff_slices(Algorithm::Myers, &golden, &draft) {
        if change.tag() == DiffTag::Equal {
            parts.extend_from_slice(&draft[change.new_range()]);
            continue;
        }
        // The two sides of an answer, or of a turn's calls, are one below the other.
        let (mut old, mut new) = (&golden[change.old_range()], &draft[change.new_range()]);
        while let Some(first) = old.first() {
            let same = |parts: &[Part]| parts.iter().take_while(|part| part.what() == first.what()).count();
            let (old_end, new_end) = (same(old), same(new));
            parts.extend(old[..old_end].iter().map(|part| signed("-", part)));
            parts.extend(new[..new_end].iter().map(|part| signed("+", part)));
            (old, new) = (&old[old_end..], &new[new_end..]);
        }
        parts.extend(new.iter().map(|part| signed("+", part)));
    }
    parts
}

impl Part {
    /// Its author or kind.
    fn what(&self) -> &str {
        match self {
            Self::Turn(_) => "",
            Self::Line { what, .. } => what,
            Self::NoAnswer => "answer",
        }
    }
}

/// A part with a sign before its text.
fn signed(sign: &str, part: &Part) -> Part {
    match part {
        Part::Turn(number) => Part::Turn(*number),
        Part::Line { what, said } => Part::Line { what: what.clone(), said: format!("{sign} {said}") },
        Part::NoAnswer => {
            Part::Line { what: "answer".to_owned(), said: format!("{sign} (no answer is expected)") }
        }
    }
}

/// All that a case plays and expects.
fn content_of(case: &EvalCase) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(input) = &case.session_input {
        session(input, &mut parts);
    }
    if let Some(of) = &case.conversation_scenario {
        scenario(of, &mut parts);
    }
    rubrics(case.rubrics.as_deref(), &mut parts);
    rest(&case.to_value(), &SHOWN_OF_CASE, &mut parts);
    for (at, turn) in case.conversation.iter().enumerate() {
        parts.push(Part::Turn(at + 1));
        of_turn(turn, &mut parts);
    }
    map("at the end", &case.final_session_state, &mut parts);
    parts
}

/// Keys of a case that are shown in words, and its creation timestamp, which nothing reads.
const SHOWN_OF_CASE: [&str; 8] = [
    "eval_id",
    "conversation",
    "conversation_scenario",
    "session_input",
    "creation_timestamp",
    "rubrics",
    "final_session_state",
    EvalCase::DRAFT_KEY,
];

/// Keys of a turn that are shown in words, and keys of the recorded run, which nothing reads.
const SHOWN_OF_TURN: [&str; 10] = [
    "invocation_id",
    "user_content",
    "final_response",
    "intermediate_data",
    "creation_timestamp",
    "duration",
    "model_duration",
    "tool_duration",
    "rubrics",
    "app_details",
];

/// Keys of a turn's intermediate data that are shown in words, in its two forms.
const SHOWN_OF_DATA: [&str; 4] =
    ["tool_uses", "tool_responses", "intermediate_responses", "invocation_events"];

/// The keys of an object that are shown nowhere else.
fn rest(object: &Value, shown: &[&str], parts: &mut Vec<Part>) {
    let entries = object.as_object().into_iter().flatten();
    for (key, value) in entries.filter(|(key, _)| !shown.contains(key)) {
        add(&one_line(key), &plain(value), parts);
    }
}

fn session(input: &SessionInput, parts: &mut Vec<Part>) {
    let names = [
        ("app", Some(&input.app_name)),
        ("user", Some(&input.user_id)),
        ("session", input.session_id.as_ref()),
    ];
    let named = names.into_iter().filter_map(|(what, name)| Some((what, name.filter(|it| !it.is_empty())?)));
    let named: Vec<String> = named.map(|(what, name)| format!("{what} {name}")).collect();
    if !named.is_empty() {
        add("in", &named.join(", "), parts);
    }
    map("state", &input.state, parts);
    rest(&input.to_value(), &["app_name", "user_id", "session_id", "state"], parts);
}

fn scenario(scenario: &ConversationScenario, parts: &mut Vec<Part>) {
    add("prompt", &scenario.starting_prompt, parts);
    add("plan", &scenario.conversation_plan, parts);
    match &scenario.user_persona {
        Some(Persona::Own(persona)) => {
            add("persona", &format!("{}: {}", persona.id, persona.description), parts);
            for behavior in &persona.behaviors {
                add("is", &format!("{}: {}", behavior.name, behavior.description), parts);
                behavior.behavior_instructions.iter().for_each(|text| add("does", text, parts));
                behavior.violation_rubrics.iter().for_each(|text| add("never", text, parts));
            }
        }
        Some(ready_made) => add("persona", ready_made.id(), parts),
        None => {}
    }
    rest(&scenario.to_value(), &["starting_prompt", "conversation_plan", "user_persona"], parts);
}

/// The questions to judges: `rubric  kind (FINAL_RESPONSE_QUALITY): The answer is kind.`
fn rubrics(rubrics: Option<&[Rubric]>, parts: &mut Vec<Part>) {
    for rubric in rubrics.into_iter().flatten() {
        let kind = rubric.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let texts = [&rubric.text_property, &rubric.description].into_iter().flatten();
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        add("rubric", &format!("{}{kind}: {}", rubric.rubric_id, texts.join("\n")), parts);
        rest(&rubric.to_value(), &["rubric_id", "rubric_content", "description", "type"], parts);
    }
}

/// The content of the mark: the origin, the varied parts, and further remarks of its writer.
fn mark(case: &EvalCase, replaces: bool, parts: &mut Vec<Part>) {
    match case.draft() {
        Some(Value::Object(mark)) => {
            // The expectations that are replaced are shown beside the new ones.
            for (key, value) in mark.iter().filter(|(key, _)| !replaces || *key != Written::GOLDEN_KEY) {
                add(&one_line(key), &plain(value), parts);
            }
        }
        Some(other) => add("draft", &plain(other), parts),
        None => {}
    }
}

fn of_turn(turn: &Invocation, parts: &mut Vec<Part>) {
    content("user", &turn.user_content, parts);
    tools(turn, parts);
    for said in turn.intermediate_texts() {
        add("says", &said, parts);
    }
    match &turn.final_response {
        Some(answer) => content("answer", answer, parts),
        None => parts.push(Part::NoAnswer),
    }
    rubrics(turn.rubrics.as_deref(), parts);
    let written = turn.to_value();
    rest(&written["intermediate_data"], &SHOWN_OF_DATA, parts);
    rest(&written, &SHOWN_OF_TURN, parts);
}

/// The calls of a turn, each with its expected result, then expected results without a call.
fn tools(turn: &Invocation, parts: &mut Vec<Part>) {
    let mut results = Answered::in_turn(turn).into_iter().peekable();
    let value = |of: &FunctionResponse| Value::from(of.response.clone().unwrap_or_default()).to_string();
    for call in turn.tool_calls() {
        add("calls", &call.to_string(), parts);
        if let Some(Answered { response: result, .. }) =
            results.next_if(|it| it.call.is_some_and(|of| ptr::eq(of, call)))
        {
            add("result", &value(result), parts);
        }
    }
    for Answered { response: result, .. } in results {
        let tool = result.name.as_deref().unwrap_or("(no name)");
        add("result", &format!("{tool}: {}", value(result)), parts);
    }
}

fn content(what: &str, content: &Content, parts: &mut Vec<Part>) {
    add(what, &content.text(), parts);
    let has_more = |part: &eval_format::Part| {
        part.text.is_none()
            || part.function_call.is_some()
            || part.function_response.is_some()
            || !part.other.is_empty()
    };
    let others = content.parts().iter().filter(|part| has_more(part)).count();
    if others > 0 {
        add("", &format!("({others} more that is no text)"), parts);
    }
}

fn map(what: &str, map: &Map, parts: &mut Vec<Part>) {
    if !map.is_empty() {
        add(what, &Value::from(map.clone()).to_string(), parts);
    }
}

fn add(what: &str, said: &str, parts: &mut Vec<Part>) {
    parts.push(Part::Line { what: what.to_owned(), said: said.to_owned() });
}

/// A value as plain text: strings without quotes, arrays joined by commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn line(what: &str, said: &str, text: &mut String) {
    let width = INDENT_COLUMNS.saturating_sub(6);
    text.push_str(format!("    {what:width$}  {}", quoted(said, INDENT_COLUMNS)).trim_end());
    text.push('\n');
}
