//! Times and durations of turns, and the gaps if a trace lacks them.

use std::time::{Duration, UNIX_EPOCH};

use eval_agents::traces::{GapKind, Traces, Turn};
use serde_json::{Value, json};

use super::support::{kinds, read, says, span, weather};

const BEGIN: &str = "startTimeUnixNano";
const END: &str = "endTimeUnixNano";

/// The only turn.
fn turn(traces: &Traces) -> &Turn {
    let [conversation] = traces.conversations() else { panic!("{traces:?}") };
    let [turn] = &*conversation.turns else { panic!("{conversation:?}") };
    turn
}

fn untimed(mut span: Value) -> Value {
    let span_fields = span.as_object_mut().unwrap();
    span_fields.remove(BEGIN);
    span_fields.remove(END);
    span
}

/// The messages of the gaps of times.
fn times(turn: &Turn) -> Vec<&str> {
    let gaps = turn.gaps.iter().filter(|gap| gap.kind == GapKind::NoTime);
    gaps.map(|gap| gap.message.as_str()).collect()
}

#[test]
fn a_turn_has_the_time_from_its_first_beginning_to_its_last_end() {
    let traces = read(&weather());
    let turn = turn(&traces);
    assert_eq!(turn.start(), Some(UNIX_EPOCH + Duration::from_secs(1_760_000_001)));
    assert_eq!(turn.duration(), Some(Duration::from_millis(3500)));
    let case = traces.conversations()[0].to_case("oslo");
    let begun = 1_760_000_001.0;
    assert_eq!((case.creation_timestamp, case.conversation[0].creation_timestamp), (begun, begun));
}

#[test]
fn a_trace_without_times_does_not_begin_in_1970() {
    let traces = read(&weather().into_iter().map(untimed).collect::<Vec<_>>());
    let turn = turn(&traces);
    assert_eq!((turn.start_ns, turn.end_ns, turn.start(), turn.duration()), (None, None, None, None));
    assert!(turn.model_calls.iter().all(|call| call.duration.is_none()), "{turn:?}");
    assert_eq!(kinds(&traces), [GapKind::NoTime]);
    // ADK's value of a time that is not known.
    let case = traces.conversations()[0].to_case("oslo");
    assert_eq!((case.creation_timestamp, case.conversation[0].creation_timestamp), (0.0, 0.0));
}

#[test]
fn the_spans_inside_do_not_say_how_long_a_turn_took() {
    for (field, is_begun) in [(BEGIN, false), (END, true)] {
        let mut spans = weather();
        spans[0].as_object_mut().unwrap().remove(field);
        let traces = read(&spans);
        let turn = turn(&traces);
        assert_eq!((turn.start().is_some(), turn.duration()), (is_begun, None), "{field}");
        assert_eq!(times(turn), ["the span 0000000000000001 has no time of its beginning or end"]);
    }
    // One inside that has no times does not matter for the turn.
    let mut spans = weather();
    spans[2] = untimed(spans[2].clone());
    let traces = read(&spans);
    assert_eq!(turn(&traces).duration(), Some(Duration::from_millis(3500)));
    assert_eq!(kinds(&traces), [GapKind::NoTime]);
}

#[test]
fn a_turn_of_unknown_length_always_has_a_gap() {
    let chat = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json!([says("user", "Oslo?")]).to_string(),
        "gen_ai.output.messages": json!([says("assistant", "Grey.")]).to_string(),
    });
    // The root says nothing of agents, so that it would be none of the spans whose times matter otherwise.
    let root = untimed(span(1, 0, "POST /chat", json!({})));
    let traces = read(&[root, span(2, 1, "chat", chat)]);
    assert_eq!(turn(&traces).duration(), None);
    let expected = "the span 0000000000000001, which holds the turn, has no time of its beginning or end";
    assert_eq!(times(turn(&traces)), [expected]);

    let mut spans = weather();
    for span in &mut spans {
        span[END] = json!("1760000000000000000");
    }
    let traces = read(&spans);
    let turn = turn(&traces);
    assert_eq!((turn.start().is_some(), turn.duration()), (true, None));
    assert_eq!(times(turn), ["the span 0000000000000001, which holds the turn, ends before it begins"]);
}
