//! Tests of views: fields of spans, by source and precedence.

use super::*;

#[test]
fn a_span_stays_small_as_a_file_has_millions() {
    assert!(size_of::<Span>() <= 112, "{}", size_of::<Span>());
    assert!(size_of::<View>() <= 56, "{}", size_of::<View>());
}

fn span(start: u64, end: u64) -> Span {
    Span {
        id: Id::Span(1),
        parent: None,
        name: Box::default(),
        start: NonZeroU64::new(start),
        end: NonZeroU64::new(end),
        status: Status::Unset,
        dropped: 0,
        identity: None,
        resource: None,
        view: None,
    }
}

#[test]
fn a_span_ends_with_its_end_and_not_before_it_begins() {
    let ends = |start, end| span(start, end).ends().map(NonZeroU64::get);
    assert_eq!((ends(3, 7), ends(7, 3), ends(3, 0), ends(0, 3)), (Some(7), Some(7), Some(3), Some(3)));
    assert_eq!(ends(0, 0), None);
}

#[test]
fn a_span_of_agents_without_times_and_any_span_with_less_than_it_had_has_a_gap() {
    let kinds = |span: &Span| span.gaps().map(|gap| gap.kind).collect::<Vec<_>>();
    let viewed = |start, end| Span { view: Some(Box::default()), ..span(start, end) };
    assert_eq!((kinds(&viewed(3, 7)), kinds(&span(0, 0))), (vec![], vec![]));
    assert_eq!((kinds(&viewed(3, 0)), kinds(&viewed(0, 7))), (vec![GapKind::NoTime], vec![GapKind::NoTime]));
    assert_eq!(kinds(&Span { dropped: 1, ..span(3, 7) }), [GapKind::Dropped]);
}

#[test]
fn a_value_is_that_of_the_best_source_and_what_is_missing_is_remembered_if_no_source_has_it() {
    let mut slot = Slot::default();
    slot.offer_read(Source::Current, Err::<i32, _>(NoContent::Unreadable));
    slot.offer_read(Source::Alias, Err(NoContent::NotCaptured));
    assert!(slot.is_unreadable() && slot.get().is_none() && slot.source().is_none());
    slot.offer(Source::Indexed, 1);
    slot.offer(Source::OpenInference, 2);
    assert_eq!((slot.get(), slot.source(), slot.is_unreadable()), (Some(&1), Some(Source::Indexed), false));
    slot.offer_read(Source::Adk, Ok(3));
    slot.offer(Source::Adk, 4);
    assert_eq!((slot.get(), slot.is_of(Source::Adk), slot.is_of(Source::Indexed)), (Some(&3), true, false));
}

#[test]
fn what_is_missing_is_told_as_it_was_first_unless_it_cannot_be_read() {
    use NoContent::{NotCaptured, Unreadable};
    let missing = |all: [NoContent; 2]| {
        let mut slot = Slot::<i32>::default();
        for why in all {
            slot.offer_read(Source::Current, Err(why));
        }
        slot.missing
    };
    assert_eq!(missing([NotCaptured, Unreadable]), Some(Unreadable));
    assert_eq!(missing([Unreadable, NotCaptured]), Some(Unreadable));
    assert_eq!(missing([NotCaptured, NotCaptured]), Some(NotCaptured));
}

#[test]
fn the_first_value_of_a_source_is_kept() {
    let (mut slot, mut tokens) = (Slot::default(), Tokens::default());
    for value in [1, 2] {
        slot.offer(Source::Adk, value);
        tokens.offer(0, Source::Adk, value);
    }
    assert_eq!((slot.get(), tokens.get(0)), (Some(&1), Some(1)));
}

#[test]
fn names_are_kept_of_spans_that_are_looked_at_and_of_those_that_adk_may_have_named() {
    let kept = |name, is_viewed| Span::kept_name(name, is_viewed).into_string();
    assert_eq!(
        ["chat", "call_llm", "invocation"].map(|name| kept(name, true)),
        ["chat", "call_llm", "invocation"]
    );
    assert_eq!(
        ["chat", "call_llm", "invocation"].map(|name| kept(name, false)),
        ["", "call_llm", "invocation"]
    );
}

#[test]
fn a_class_is_of_the_operation_then_of_adks_names_then_of_another_convention() {
    let class = |view: &View, name| view.class(name);
    let adk = View { is_adk: true, ..View::default() };
    assert_eq!(
        (class(&adk, "call_llm"), class(&adk, "invocation")),
        (Some(Class::Inference), Some(Class::Workflow))
    );
    let plain = View::default();
    assert_eq!(
        (class(&plain, "call_llm"), class(&plain, "invocation"), class(&adk, "chat")),
        (None, None, None)
    );
    let named = View { operation: Some(Class::Tool), is_adk: true, records_a_call: true, ..View::default() };
    assert_eq!(class(&named, "call_llm"), Some(Class::Tool));
    assert_eq!(class(&View { is_ignored: true, ..named }, "call_llm"), None);
    let other = View { other_class: Some(Class::Agent), records_a_call: true, ..View::default() };
    assert_eq!(class(&other, "x"), Some(Class::Agent));
    assert_eq!(class(&View { other_class: None, ..other }, "x"), Some(Class::Inference));
}

/// A message of text, or of nothing if the text is empty.
fn says(role: &str, text: &str) -> Message {
    let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
    Message::new(role, parts)
}

fn result(role: &str) -> Message {
    let response = Response { id: None, name: None, value: Arc::new(Value::from(1)) };
    Message::new(role, vec![Part::Response(Arc::new(response))])
}

#[test]
fn what_the_user_said_last_is_what_was_sent_in_a_row() {
    let of = |messages: &[Message]| {
        let input = Input::new(messages, &mut Copies::default());
        (input.users.concat(), input.has_earlier, input.ends_with_result)
    };
    let (system, user, again) = (says("system", "Be kind."), says("user", "a"), says("user", "b"));
    let answer = says("assistant", "c");
    for (messages, expected) in [
        (vec![system.clone(), user.clone()], ("a", false, false)),
        (vec![user.clone(), again.clone()], ("ab", false, false)),
        (vec![user.clone(), answer.clone(), again.clone()], ("b", true, false)),
        (vec![user.clone(), says("model", "c"), again], ("b", true, false)),
        (vec![user.clone(), answer.clone(), result("tool")], ("a", false, true)),
        // A result without a value that can be read is one nevertheless.
        (vec![user, says("tool", "")], ("a", false, true)),
        (vec![answer.clone()], ("", false, false)),
        (vec![system], ("", false, false)),
        (vec![says("tool", "d")], ("", false, true)),
        (vec![says("customer", "d")], ("d", false, false)),
        (vec![says("customer", "d"), answer], ("", false, false)),
        (vec![], ("", false, false)),
    ] {
        let (said, has_earlier, ends_with_result) = of(&messages);
        assert_eq!((said.as_str(), has_earlier, ends_with_result), expected, "{messages:?}");
    }
}

#[test]
fn the_last_results_are_those_with_nothing_behind_them() {
    let last = |messages: &[Message]| Input::new(messages, &mut Copies::default()).last_results().len();
    let (user, empty) = (says("user", "a"), says("user", ""));
    assert_eq!(last(&[user.clone(), result("tool"), result("tool")]), 2);
    assert_eq!(last(&[result("tool"), user.clone(), result("tool")]), 1);
    assert_eq!((last(&[result("tool"), user]), last(&[result("tool"), empty]), last(&[])), (0, 0, 0));
}

#[test]
fn chunks_of_a_stream_are_left_out_if_the_last_message_is_all_of_them() {
    let texts = |messages: &[&str]| {
        let messages = messages.iter().map(|text| says("assistant", text)).collect();
        Output::new(messages).texts.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(texts(&["a", "b", "ab"]), ["ab"]);
    assert_eq!(texts(&["a", "b", "c"]), ["a", "b", "c"]);
    assert_eq!((texts(&["a"]), texts(&[])), (vec!["a".to_owned()], vec![]));
    assert_eq!(Output::new(vec![]).text(), None);
}

#[test]
fn tokens_are_those_of_the_best_source() {
    let mut tokens = Tokens::default();
    tokens.offer(1, Source::Adk, 7);
    tokens.offer(1, Source::Current, 0);
    tokens.offer(1, Source::Alias, 9);
    assert_eq!((tokens.get(0), tokens.get(1)), (None, Some(0)));
}
