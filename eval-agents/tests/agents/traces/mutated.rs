//! Traces that were damaged: errors or gaps, and an end.

use std::time::{Duration, Instant};

use eval_agents::traces::{Conversation, Traces};
use eval_support::test_support::Dice;
use serde_json::{Value, json};

use super::support::{document, lines, loses, weather};
use super::vectors::fixtures;

/// The place of some value below, the root among them.
fn some_place<'v>(value: &'v mut Value, dice: &mut Dice) -> &'v mut Value {
    let mut place = value;
    loop {
        let count =
            place.as_object().map(serde_json::Map::len).or(place.as_array().map(Vec::len)).unwrap_or(0);
        if count == 0 || dice.roll(6) == 0 {
            return place;
        }
        let at = dice.roll(count);
        place = match place {
            Value::Object(map) => map.values_mut().nth(at).unwrap(),
            Value::Array(items) => &mut items[at],
            _ => unreachable!("it has values below it"),
        };
    }
}

fn mutate(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let kind = dice.roll(6);
    if kind == 0 {
        bytes.truncate(dice.roll(bytes.len()));
        return bytes;
    }
    if kind == 1 {
        for _ in 0..=dice.roll(8) {
            let at = dice.roll(bytes.len());
            bytes[at] = u8::try_from(dice.roll(256)).unwrap();
        }
        return bytes;
    }
    let mut values: Vec<Value> = match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(values.len());
        let place = some_place(&mut values[at], dice);
        match (kind, &mut *place) {
            (2, Value::Object(map)) => {
                let key = map.keys().nth(dice.roll(map.len())).cloned();
                key.map(|key| map.remove(&key));
            }
            (3, Value::Array(items)) if !items.is_empty() => {
                let copy = items[dice.roll(items.len())].clone();
                items.push(copy);
            }
            (4, Value::String(text)) => {
                let cut = dice.roll(text.chars().count());
                *text = text.chars().take(cut).collect();
            }
            _ => {
                let others = [
                    json!(null),
                    json!(true),
                    json!(-1),
                    json!(1e300),
                    json!("x"),
                    json!([]),
                    json!({}),
                    json!([[{}]]),
                ];
                *place = others[dice.roll(others.len())].clone();
            }
        }
    }
    lines(&values).into_bytes()
}

/// The scored parts of a conversation.
fn scored(conversations: &[Conversation]) -> Vec<Vec<[String; 4]>> {
    let of_turn = |turn: &eval_agents::traces::Turn| {
        let calls: Vec<String> = turn.calls.iter().map(|call| call.to_function_call().to_string()).collect();
        let text = |text: &Option<String>| format!("{text:?}");
        [text(&turn.user), calls.join(" "), text(&turn.answer), text(&turn.error)]
    };
    conversations.iter().map(|it| it.turns.iter().map(of_turn).collect()).collect()
}

/// `MUTATIONS` says how many traces are damaged.
#[test]
fn mutilated_traces_end_in_errors_gaps_or_other_turns() {
    let count = std::env::var("MUTATIONS").map_or(500, |count| count.parse().unwrap());
    let mut texts = vec![document(&weather())];
    texts.push(lines(&weather()));
    texts.extend(fixtures().into_iter().map(|(path, _)| std::fs::read_to_string(path).unwrap()));
    texts.retain(|text| text.len() < 20_000);
    let (mut errors, mut gaps, mut same, mut other) = (0, 0, 0, 0);
    for number in 0..count {
        let text = &texts[number % texts.len()];
        let mut dice =
            Dice(0x9e37_79b9_7f4a_7c15 ^ (u64::try_from(number).unwrap() + 1).wrapping_mul(0x2545_f491));
        let mutated = mutate(text, &mut dice);
        // The same bytes are the same traces, from memory and from a reader.
        let (in_memory, read) = (Traces::from_texts([&*mutated]), Traces::from_reader(mutated.as_slice()));
        assert_eq!(in_memory.ok(), read.ok(), "{number}");
        let begun = Instant::now();
        match Traces::from_reader(mutated.as_slice()) {
            Err(error) => {
                errors += 1;
                assert!(!error.to_string().is_empty());
            }
            Ok(traces) => {
                let whole = Traces::from_reader(text.as_bytes()).unwrap();
                if loses(&traces) {
                    gaps += 1;
                } else if scored(traces.conversations()) == scored(whole.conversations()) {
                    same += 1;
                } else {
                    // Another trace, as whole as the first: other words, or a span less.
                    other += 1;
                }
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{}", String::from_utf8_lossy(&mutated));
    }
    assert_eq!(errors + gaps + same + other, count);
    assert!(
        errors > count / 10 && gaps > count / 10,
        "{errors} errors, {gaps} with gaps, {same} the same, {other} others"
    );
}
