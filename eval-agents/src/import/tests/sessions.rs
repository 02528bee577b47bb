//! Sessions of ADK as JSON.

use eval_core::format::{EvalSet, Invocation};

use super::*;

/// The turns that google-adk's own evaluation makes of the session.
pub(super) fn turns_of_adk() -> Vec<Invocation> {
    let set = format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": {}}}]}}"#,
        text("desk.turns.json")
    );
    EvalSet::parse(&set).unwrap().eval_cases.remove(0).conversation
}

#[test]
fn the_turns_of_a_session_are_those_of_google_adks_own_conversion() {
    let imported = Import::new().read(&file("desk.session.json")).unwrap();
    assert_eq!((imported.format, imported.left_out.len()), (Format::AdkSession, 0));
    let [draft] = imported.drafts.as_slice() else { panic!("{imported:?}") };
    let expected = turns_of_adk();
    assert_eq!(draft.case.conversation.len(), expected.len());
    for (turn, expected) in draft.case.conversation.iter().zip(&expected) {
        assert_eq!(turn, expected);
    }
    assert_eq!(draft.gaps, ["turn 7 had an error of the model: SAFETY blocked", "turn 7 has no answer"]);

    let input = draft.case.session_input.as_ref().unwrap();
    assert_eq!((input.app_name.as_str(), input.user_id.as_str()), ("desk", "anna"));
    let start = input.state.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    assert_eq!(start, [r#"unit="C""#, "app:open=true", r#"user:name="Anna""#]);
    assert_eq!(draft.case.final_session_state.keys().collect::<Vec<_>>(), ["last_city"]);
}

fn session(events: &str) -> String {
    format!(
        r#"{{"id": "s", "app_name": "a", "user_id": "u", "state": {{"k": 2, "n": 1}}, "events": [{events}]}}"#
    )
}

fn event(invocation: &str, author: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"invocation_id": "{invocation}", "author": "{author}", "content": {{"parts": [{{"text": "{text}"}}]}}{more}}}"#
    )
}

/// The texts of the turns, and the gaps.
fn said(events: &[String]) -> (Vec<(String, String)>, Vec<String>) {
    let mut imported = parse(&session(&events.join(",")));
    let draft = imported.drafts.remove(0);
    let turns = draft.case.conversation.iter().map(|turn| (turn.user_text(), turn.response_text()));
    (turns.collect(), draft.gaps)
}

fn pair(user: &str, answer: &str) -> (String, String) {
    (user.to_owned(), answer.to_owned())
}

#[test]
fn many_turns_with_calls_are_read_without_gaps() {
    let event = |turn: usize, author: &str, part: &str| {
        format!(r#"{{"invocationId": "e-{turn}", "author": "{author}", "content": {{"parts": [{part}]}}}}"#)
    };
    let events = (0..5000).flat_map(|turn| {
        [
            event(turn, "user", r#"{"text": "Hi"}"#),
            event(turn, "a", &format!(r#"{{"functionCall": {{"id": "c-{turn}", "name": "f{turn}"}}}}"#)),
            event(turn, "a", &format!(r#"{{"functionResponse": {{"id": "c-{turn}", "name": "f{turn}"}}}}"#)),
            event(turn, "a", r#"{"text": "Hello!"}"#),
        ]
    });
    let events: Vec<String> = events.collect();
    let imported = parse(&format!(r#"{{"id": "s", "events": [{}]}}"#, events.join(",")));
    assert_eq!(imported.drafts[0].case.conversation.len(), 5000);
    assert!(imported.drafts[0].gaps.is_empty());
}

#[test]
fn rewound_turns_are_left_out_and_counted() {
    let rewind =
        r#"{"invocation_id": "r", "author": "user", "actions": {"rewind_before_invocation_id": "2"}}"#;
    let (turns, gaps) = said(&[
        event("1", "user", "one", ""),
        event("1", "a", "1", ""),
        event("2", "user", "two", ""),
        event("2", "a", "2", ""),
        rewind.to_owned(),
        event("3", "user", "three", ""),
        event("3", "a", "3", ""),
    ]);
    assert_eq!(turns, [pair("one", "1"), pair("three", "3")]);
    assert_eq!(gaps, ["1 turn was rewound in the session and left out"]);
}

#[test]
fn what_is_no_turn_is_named() {
    let (turns, gaps) = said(&[
        event("", "a", "Welcome!", ""),
        event("1", "user", "one", ""),
        event("1", "a", "wait", r#", "partial": true"#),
        event("2", "user", "two", r#", "actions": {"state_delta": {"n": 1}}"#),
        event("2", "a", "2", ""),
        event("2", "user", "more", ""),
        event("2", "a", "3", ""),
    ]);
    assert_eq!(turns, [pair("one", ""), pair("two", "2"), pair("more", "3")]);
    assert_eq!(
        gaps,
        [
            "what `a` said without a message of the user is left out (behind turn 0)",
            "turn 1 has fragments of an answer and not the whole of it",
            "turn 1 has no answer",
            "turn 2 was sent with a change of the state (`n`), which a case cannot say",
            "turn 3 continues the one before it, which was interrupted",
        ]
    );
}

#[test]
fn the_state_at_the_start_is_what_nothing_in_the_session_set() {
    let events = [
        event("1", "user", "one", r#", "actions": {"stateDelta": {"given": true}}"#),
        event("1", "a", "1", r#", "actions": {"stateDelta": {"k": 1, "temp:x": 1}}"#),
    ];
    let draft = parse(&session(&events.join(","))).drafts.remove(0);
    assert_eq!(draft.case.session_input.unwrap().state.keys().collect::<Vec<_>>(), ["n", "given"]);
    assert_eq!(eval_core::format::Value::from(draft.case.final_session_state).to_string(), r#"{"k":2}"#);
}

#[test]
fn arrays_lines_and_events_alone_are_read() {
    let one = session(&[event("1", "user", "one", ""), event("1", "a", "1", "")].join(","));
    let empty = r#"{"id": "empty", "events": []}"#;
    for text in [format!("[{one}, {empty}, {one}]"), format!("{one}\n{empty}\n\n{one}\n")] {
        let imported = parse(&text);
        assert_eq!(imported.drafts.len(), 2, "{text}");
        assert_eq!(imported.left_out, ["session `empty`: it has no events"]);
    }
    let events = parse(&format!("[{}, {}]", event("1", "user", "one", ""), event("1", "a", "1", "")));
    assert_eq!(events.drafts[0].case.conversation[0].response_text(), "1");
    let one = Import::new().session("t").parse("here", one.as_bytes()).unwrap_err().to_string();
    assert_eq!(one, "`here` has no session `t`; it has `s`");
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    for (text, why) in [
        (session(""), "`here` holds no conversation: session `s`: it has no events"),
        (
            session(&event("1", "a", "Hi", "")),
            "`here` holds no conversation: session `s`: the user says nothing in it; what `a` said without a message of \
             the user is left out (behind turn 0)",
        ),
        (
            session(r#"{"author": 1}"#),
            "`here`: `session.events[0].author` should be a string and is a number",
        ),
        (r#"{"events": {}}"#.to_owned(), "`here`: `session.events` should be a list and is an object"),
        (r#"[{"events": []}, 1]"#.to_owned(), "`here`: `events[1]` should be an object and is a number"),
        (
            "{\"events\": []}\n{".to_owned(),
            "`here`: line 2: not JSON (line 1, column 2: the file ends inside an object)",
        ),
        (
            r#"{"events": [{"author": "a", "author": "b"}]}"#.to_owned(),
            "`here`: key `author` is repeated in one object: its first value would be lost",
        ),
    ] {
        assert_eq!(refused(&text), why, "{text}");
    }
    assert!(refused("hello").starts_with("`here` looks like nothing that can be imported"));
    let broken = refused("{\"events\": [}");
    assert!(broken.starts_with("`here`: not JSON (line 1, column 13: "), "{broken}");
    let not_utf8 = Import::new().parse("here", b"{\"a\": \"\xff\"}").unwrap_err().to_string();
    assert_eq!(not_utf8, "`here`: byte 7 is not UTF-8");
}
