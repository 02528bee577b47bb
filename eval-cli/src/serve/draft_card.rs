//! A draft as its card on the page: what it plays and expects, beside the golden that it replaces.

use eval_format::EvalCase;
use eval_report::run_page::turns;
use eval_support::untrusted::{MAX_TEXT_CHARS, excerpt};
use serde::Serialize;

use crate::drafts::{Part, golden_of, parts, revised};
use crate::output::mask;
use crate::page::{Run, Turn, line, text};

/// The card of a draft. Its page has it as JSON too, of which the script draws the conversation.
#[derive(Debug, Serialize)]
pub(super) struct DraftCard {
    /// The id, as a request names it.
    pub(super) case: String,
    /// The id, as it is shown.
    pub(super) shown: String,
    /// Its place on the page.
    pub(super) anchor: String,
    /// The meaning of the draft as it was shown, so that later changes are noticed.
    pub(super) seen: String,
    /// Whether it replaces a golden.
    pub(super) replaces: bool,
    /// All of it, as `accept` shows it.
    pub(super) rows: Vec<DraftRow>,
    /// The conversation, as the page of a run shows it.
    run: Run,
    /// The fields that can be edited.
    fields: Vec<revised::Fields>,
}

#[derive(Debug, Serialize)]
pub(super) struct DraftRow {
    pub(super) turn: Option<usize>,
    pub(super) what: String,
    pub(super) said: String,
    /// Whether the conversation shows it.
    pub(super) drawn: bool,
}

impl DraftCard {
    pub(super) fn new(case: &EvalCase, anchor: String, seen: String) -> Self {
        let golden = golden_of(case);
        let expected = golden.as_ref().map(|golden| golden.conversation.as_slice());
        let turns = turns(&case.conversation, expected, None, "compared with those of the golden");
        let rows = rows(case, &turns);
        let run = Run::of_turns(turns);
        Self {
            case: mask(&case.eval_id).into_owned(),
            shown: line(&case.eval_id),
            anchor,
            seen,
            replaces: golden.is_some(),
            rows,
            run,
            fields: revised::fields(case),
        }
    }
}

/// The rows of a draft. A turn that has nothing beside what its conversation shows is one of these too.
pub(super) fn rows(case: &EvalCase, turns: &[Turn]) -> Vec<DraftRow> {
    let mut rows: Vec<DraftRow> = Vec::new();
    let mut turn = None;
    for part in parts(case) {
        let (number, what, said) = match part {
            Part::Turn(number) => (Some(number), String::new(), String::new()),
            Part::Line { what, said } => (None, line(&what), said),
            Part::NoAnswer => (None, "answer".to_owned(), "no answer is expected".to_owned()),
        };
        if number.is_some() {
            turn = number;
        }
        let of_turn = turn.and_then(|number| turns.get(number - 1));
        let drawn = number.is_some() || of_turn.is_some_and(|turn| is_drawn(turn, &what, &said));
        let what = label(&what).to_owned();
        rows.push(DraftRow { turn: number, what, said: excerpt(&said, MAX_TEXT_CHARS).noted(), drawn });
    }
    // The head of a turn is needed above a row that nothing else shows.
    let mut is_needed = false;
    for row in rows.iter_mut().rev() {
        if row.turn.is_some() {
            row.drawn = !std::mem::take(&mut is_needed);
        } else {
            is_needed |= !row.drawn;
        }
    }
    rows
}

/// A word of the terminal, which has narrow columns, in words of the page. A key of the file stays as it is.
fn label(what: &str) -> &str {
    match what {
        "from" => "where the draft comes from",
        "in" => "session",
        "state" => "session state at the start",
        "at the end" => "session state expected at the end",
        "prompt" => "first message of the simulated user",
        "plan" => "plan of the simulated user",
        "persona" => "persona of the simulated user",
        "is" => "the persona is",
        "does" => "the persona does",
        "never" => "the persona never does",
        "rubric" => "rubric for a judge",
        "user" => "the user says",
        "calls" => "expected call",
        "result" => "response of the tool",
        "says" => "said before the answer",
        "answer" => "expected answer",
        "masked" => "secrets that were masked",
        "volatile" => "values that each run may change",
        "gaps" => "what the recording lacks",
        "varied" => "what varied between runs",
        key => key,
    }
}

/// Whether the conversation shows a row of its turn. A sign is before what differs from a golden.
fn is_drawn(turn: &Turn, what: &str, said: &str) -> bool {
    let said_now = said.strip_prefix("+ ").unwrap_or(said);
    match what {
        "user" | "calls" | "answer" => true,
        "result" => turn.calls.iter().any(|call| call.result.as_deref() == Some(line(said_now).as_str())),
        "says" => turn.between.contains(&text(said_now)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{Invocation, Value};

    use super::*;

    #[test]
    fn a_row_that_the_conversation_does_not_show_stays() {
        let case = EvalCase::parse(
            r#"{"eval_id": "a", "_draft": {"from": "x"}, "conversation": [
                {"user_content": {"parts": [{"text": "Hi"}]}, "intermediate_data": {
                    "tool_uses": [{"name": "f", "args": {}}],
                    "tool_responses": [{"name": "f", "response": {"n": 1}}, {"name": "g", "response": {"n": 2}}],
                    "intermediate_responses": [["agent", [{"text": "One moment."}]]]}},
                {"user_content": {"parts": [{"text": "Bye"}, {"inline_data": {"mime_type": "image/png", "data": "AA=="}}]}}]}"#,
        )
        .unwrap();
        let card = DraftCard::new(&case, String::new(), String::new());
        let left = card.rows.iter().filter(|row| !row.drawn);
        let left: Vec<String> =
            left.map(|row| format!("{:?} {}: {}", row.turn, row.what, row.said)).collect();
        assert_eq!(
            left,
            [
                "None where the draft comes from: x",
                "Some(1) : ",
                r#"None response of the tool: g: {"n":2}"#,
                "Some(2) : ",
                "None : (1 more that is no text)"
            ]
        );
    }

    #[test]
    fn a_draft_stands_beside_the_golden_that_it_replaces() {
        let mark = r#"{"golden": [{"turn": 1, "final_response": {"parts": [{"text": "Old."}]}}]}"#;
        let draft = EvalCase::new("a").turn(Invocation::user("Hi").response("New."));
        let draft = draft.with_draft(Value::parse(mark).unwrap());
        let card = DraftCard::new(&draft, String::new(), String::new());
        let turn = &card.run.turns[0];
        assert_eq!((turn.expected.clone(), turn.actual.clone()), (Some(text("Old.")), Some(text("New."))));
        assert!(card.replaces && !turn.diff.is_empty());
    }
}
