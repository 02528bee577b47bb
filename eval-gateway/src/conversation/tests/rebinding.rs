//! Answers that are put under requests that changed.

use super::*;

/// Replies to calls in this order, with the end.
fn rebind(case: &Case, texts: &[&str]) -> (Vec<String>, Ended) {
    let conversation = case.opened(ModelMode::Rebind, 1);
    let replies = texts.iter().map(|text| got(conversation.answer(asked(&conversation, text)))).collect();
    let is_whole = conversation.misses().is_empty();
    (replies, conversation.end(is_whole))
}

fn replay(case: &Case, texts: &[&str]) -> Vec<String> {
    let conversation = case.replay();
    texts.iter().map(|text| got(conversation.answer(asked(&conversation, text)))).collect()
}

#[test]
fn the_nearest_call_of_the_turn_gives_its_answer_whatever_the_order() {
    let case = Case::new();
    case.record(1, &[("tell the weather in Paris", "sunny"), ("list the hotels of Rome", "none")]);
    let (replies, ended) = rebind(&case, &["list all the hotels of Rome", "tell the weather in Paris"]);
    assert_eq!(replies, ["none", "sunny"]);
    assert_eq!(ended.error, None);
    assert_eq!(case.recording().rebound(), 1);
    let answers = replay(&case, &["tell the weather in Paris", "list all the hotels of Rome"]);
    assert_eq!(answers, ["sunny", "none"]);
}

#[test]
fn a_changed_call_that_may_be_either_of_two_is_a_miss_and_nothing_is_written() {
    let case = Case::new();
    case.record(1, &[("a", "1"), ("b", "2")]);
    let before = case.recording();
    let (replies, ended) = rebind(&case, &["B", "a"]);
    let expected = "call 1 of a model in turn 1 changed, and 2 recorded calls of the turn are as near to it, so it is not known \
                    which one it was\nrecord the case again  EVALSET_MODELS=record-all run";
    assert_eq!(replies[0], expected);
    assert!(replies[1].starts_with("the case `c` is an error already"), "{}", replies[1]);
    assert_eq!(ended.error, None, "the miss is the error");
    assert_eq!(case.recording(), before);
}

#[test]
fn an_unchanged_call_whose_answer_was_given_away_is_a_miss_and_nothing_is_written() {
    let case = Case::new();
    case.record(1, &[("one of two", "1"), ("other", "2")]);
    let before = case.recording();
    let (replies, _) = rebind(&case, &["one of three", "one of two"]);
    assert_eq!(replies[0], "1");
    assert!(
        replies[1].starts_with(
            "call 2 of a model in turn 1 did not change, and its answer was put under a request"
        ),
        "{}",
        replies[1]
    );
    assert_eq!(case.recording(), before);
}

#[test]
fn a_mark_is_of_the_answer_alone_and_goes_if_the_request_is_again_what_it_was() {
    let case = Case::new();
    case.record(1, &[("a", "1"), ("b", "2")]);
    // The second call is now what the first one is.
    let (replies, ended) = rebind(&case, &["a", "a"]);
    assert_eq!((replies, ended.error), (vec!["1".to_owned(), "2".to_owned()], None));
    let recording = case.recording();
    assert_eq!((recording.answers(), recording.rebound()), (2, 1));
    assert_eq!(recording.exchanges.iter().map(|it| it.answered.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(replay(&case, &["a", "a"]), ["1", "2"]);
    // Changed once more, the answer is still marked with the request that the model was asked.
    let (replies, _) = rebind(&case, &["a", "c"]);
    assert_eq!(replies, ["1", "2"]);
    let (replies, ended) = rebind(&case, &["a", "b"]);
    assert_eq!(replies, ["1", "2"]);
    assert_eq!(ended.notes.len(), 1, "{:?}", ended.notes);
    assert_eq!(case.recording().rebound(), 0);
}

#[test]
fn an_answer_of_another_model_is_not_taken() {
    let case = Case::new();
    case.record(1, &[("a", "1")]);
    let conversation = case.opened(ModelMode::Rebind, 1);
    let body = body("a").replace(r#""m""#, r#""other""#);
    let asked = conversation.read(&Incoming::chat(&body)).unwrap();
    assert!(got(conversation.answer(asked)).contains("the model changed"));
}
