//! Texts of a stream that run over several events, such as the words of an answer: joined, and changed as one text.

use std::collections::BTreeMap;

use eval_format::{Map, Value};

use crate::sse::{Data, Event};

/// Numbers that tell the parts of an answer apart.
const NUMBERS: [&str; 4] = ["index", "output_index", "content_index", "summary_index"];

/// A part of a joined text, in bytes, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) with: &'static str,
}

/// The texts of a stream by their places: the keys above a text, with the types and the numbers of the parts.
fn pieces(events: &[Event]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = |place: &str, text: &str| {
        found.entry(place.to_owned()).or_default().push(text.to_owned());
        None
    };
    for event in events {
        drop(of_event(event, &mut note));
    }
    found
}

/// The joined texts of a stream. A text that is repeated, such as an id, is there once.
pub(crate) fn joined(events: &[Event]) -> Vec<String> {
    pieces(events)
        .into_values()
        .map(|pieces| if is_repeated(&pieces) { pieces[0].clone() } else { pieces.concat() })
        .collect()
}

/// The stream with changed texts. `edits` gets the last key above a text, the place, and the joined text; its edits are in order
/// and apart from each other.
pub(crate) fn edited(events: Vec<Event>, edits: impl Fn(&str, &str, &str) -> Vec<Edit>) -> Vec<Event> {
    /// The edits of a place, and the length of the text before its next piece.
    struct Ahead {
        edits: Vec<Edit>,
        is_repeated: bool,
        before: usize,
    }
    let mut ahead: BTreeMap<String, Ahead> = BTreeMap::new();
    for (place, pieces) in pieces(&events) {
        let is_repeated = is_repeated(&pieces);
        let text = if is_repeated { pieces[0].clone() } else { pieces.concat() };
        let key = place.rsplit('/').next().unwrap_or_default();
        let edits = edits(key, &place, &text);
        if !edits.is_empty() {
            ahead.insert(place, Ahead { edits, is_repeated, before: 0 });
        }
    }
    if ahead.is_empty() {
        return events;
    }
    let mut change = |place: &str, text: &str| {
        let ahead = ahead.get_mut(place)?;
        let from = ahead.before;
        if !ahead.is_repeated {
            ahead.before += text.len();
        }
        Some(piece(text, from, &ahead.edits))
    };
    events.iter().map(|event| of_event(event, &mut change)).collect()
}

fn is_repeated(pieces: &[String]) -> bool {
    pieces.len() > 1 && pieces.windows(2).all(|pair| pair[0] == pair[1])
}

/// A piece that begins at an offset of the joined text, with its share of the edits.
fn piece(text: &str, from: usize, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let to = from + text.len();
    let mut at = from;
    for edit in edits.iter().filter(|edit| edit.end >= from && edit.begin < to) {
        out.push_str(text.get(at - from..edit.begin.max(at) - from).unwrap_or_default());
        if edit.begin >= from {
            out.push_str(edit.with);
        }
        at = edit.end.clamp(at, to);
    }
    out.push_str(text.get(at - from..).unwrap_or_default());
    out
}

type Visit<'v> = dyn FnMut(&str, &str) -> Option<String> + 'v;

/// The event with the texts that `visit` gives in place of its own.
fn of_event(event: &Event, visit: &mut Visit<'_>) -> Event {
    let data = match &event.data {
        Data::Json(value) => Data::Json(of_value(value, &mut String::new(), visit)),
        Data::Text(text) => Data::Text(visit("", text).unwrap_or_else(|| text.clone())),
    };
    Event { name: event.name.clone(), data }
}

fn of_value(value: &Value, place: &mut String, visit: &mut Visit<'_>) -> Value {
    let length = place.len();
    let changed = match value {
        Value::String(text) => visit(place, text).map_or_else(|| value.clone(), Value::String),
        Value::Array(items) => {
            let mut changed = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                // Items with a number may be at any position.
                let has_number = item.as_object().is_some_and(|map| map.contains_key("index"));
                place.push_str(&if has_number { "/[]".to_owned() } else { format!("/[{at}]") });
                changed.push(of_value(item, place, visit));
                place.truncate(length);
            }
            Value::Array(changed)
        }
        Value::Object(map) => {
            place.push_str(&of_part(map));
            let of_object = place.len();
            let mut changed = Map::new();
            for (key, item) in map {
                place.push('/');
                place.push_str(key);
                changed.insert(key, of_value(item, place, visit));
                place.truncate(of_object);
            }
            Value::Object(changed)
        }
        other => other.clone(),
    };
    place.truncate(length);
    changed
}

/// The type and the numbers of a part.
fn of_part(map: &Map) -> String {
    let mut text = String::new();
    if let Some(kind) = map.get("type").and_then(Value::as_str) {
        text.push_str(&format!("({kind})"));
    }
    for number in NUMBERS {
        if let Some(at) = map.get(number).and_then(Value::as_i64) {
            text.push_str(&format!("#{at}"));
        }
    }
    if map.get("thought") == Some(&Value::Bool(true)) {
        text.push_str("(thought)");
    }
    text
}

#[cfg(test)]
mod tests {
    use eval_format::__private::parse_value;

    use super::*;

    fn stream(texts: &[&str]) -> Vec<Event> {
        texts.iter().map(|text| Event::of_json(None, parse_value(text).unwrap())).collect()
    }

    fn written(events: &[Event]) -> Vec<String> {
        events.iter().map(|event| event.json().map(ToString::to_string).unwrap_or_default()).collect()
    }

    const CHAT: [&str; 4] = [
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"one t"}}]}"#,
        r#"{"id":"c","choices":[{"index":1,"delta":{"content":"other"}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"wo th"}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"ree"}}]}"#,
    ];

    #[test]
    fn texts_are_joined_by_their_places() {
        let mut texts = joined(&stream(&CHAT));
        texts.sort();
        assert_eq!(texts, ["c", "one two three", "other"]);
    }

    #[test]
    fn an_edit_is_spread_over_the_pieces_that_it_covers() {
        let covers = |begin, end, with| {
            let edits = move |key: &str, _: &str, text: &str| {
                let is_long = key == "content" && text.len() > 6;
                if is_long { vec![Edit { begin, end, with }] } else { Vec::new() }
            };
            written(&edited(stream(&CHAT), edits))
        };
        let pieces = |texts: [&str; 3]| -> Vec<String> {
            let mut expected: Vec<String> = CHAT.map(str::to_owned).into();
            for (at, was, is) in [(0, "one t", texts[0]), (2, "wo th", texts[1]), (3, "ree", texts[2])] {
                expected[at] = expected[at].replace(was, is);
            }
            expected
        };
        assert_eq!(covers(4, 7, "(a)"), pieces(["one (a)", " th", "ree"]));
        assert_eq!(covers(6, 13, ""), pieces(["one t", "w", ""]));
        assert_eq!(covers(0, 13, "-"), pieces(["-", "", ""]));
        assert_eq!(covers(5, 5, "+"), pieces(["one t", "+wo th", "ree"]));
    }
}
