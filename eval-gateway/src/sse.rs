//! Events of a stream (`text/event-stream`): taken out of bytes, and written.
//!
//! The borders of events are kept, because clients act on each event. The pieces in which bytes arrive are not.

use eval_format::__private::parse_value;
use eval_format::Value;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The name after `event:`.
    pub name: Option<String>,
    /// The text after `data:`; several lines are joined.
    pub data: Data,
}

/// The data of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// JSON.
    Json(Value),
    /// Another text, such as `[DONE]`.
    Text(String),
}

impl Event {
    /// An event with JSON.
    pub(crate) fn of_json(name: Option<String>, value: Value) -> Self {
        Self { name, data: Data::Json(value) }
    }

    fn read(block: &str) -> Option<Self> {
        let mut name = None;
        let mut data: Option<String> = None;
        for line in block.split(['\n', '\r']) {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => name = Some(value.to_owned()),
                "data" => match &mut data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => data = Some(value.to_owned()),
                },
                // Comments, ids and times to reconnect say nothing of the answer.
                _ => {}
            }
        }
        let text = data.or_else(|| name.as_ref().map(|_| String::new()))?;
        let is_json = text.starts_with(['{', '[']);
        let parsed = is_json.then(|| parse_value(&text).ok()).flatten();
        let data = parsed.map_or(Data::Text(text), Data::Json);
        Some(Self { name, data })
    }

    /// The data, if it is JSON.
    pub fn json(&self) -> Option<&Value> {
        match &self.data {
            Data::Json(value) => Some(value),
            Data::Text(_) => None,
        }
    }

    /// The bytes of the event, up to the blank line that ends it.
    pub(crate) fn to_wire(&self) -> String {
        let mut text = String::new();
        if let Some(name) = &self.name {
            text.push_str(&format!("event: {name}\n"));
        }
        let data = match &self.data {
            Data::Json(value) => value.to_string(),
            Data::Text(text) => text.clone(),
        };
        for line in data.split('\n') {
            text.push_str(&format!("data: {line}\n"));
        }
        text.push('\n');
        text
    }
}

/// Bytes of a stream that arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    rest: Vec<u8>,
}

impl Splitter {
    /// Adds bytes, and takes the events that are complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        // The end of a block may begin in the bytes before.
        let mut from = self.rest.len().saturating_sub(3);
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut begin = 0;
        while let Some((end, next)) = block_end(&self.rest, from) {
            events.extend(Event::read(&String::from_utf8_lossy(&self.rest[begin..end])));
            (begin, from) = (next, next);
        }
        self.rest.drain(..begin);
        events
    }

    /// The event at the end of a stream without the blank line after it.
    pub(crate) fn finish(&mut self) -> Option<Event> {
        Event::read(&String::from_utf8_lossy(&std::mem::take(&mut self.rest)))
    }
}

/// The end of the first block at or after a place, and the beginning of the next one. A line may end otherwise than the one before.
fn block_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    (from..bytes.len()).find_map(|at| {
        let line = line_end(&bytes[at..])?;
        // A line feed that follows later is an empty line of the next block.
        let blank = line_end(&bytes[at + line..])?;
        Some((at, at + line + blank))
    })
}

/// The length of the end of a line, if the bytes begin with one.
fn line_end(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\r', b'\n', ..] => Some(2),
        [b'\r' | b'\n', ..] => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "event: a\ndata: {\"b\": 1.50, \"a\": [1]}\n\n: a comment\n\ndata: one\ndata: two\n\n\
                          event: ping\n\ndata: [DONE]\n\n";

    fn split(bytes: &[u8], size: usize) -> Vec<Event> {
        let mut splitter = Splitter::default();
        let mut events: Vec<Event> = bytes.chunks(size).flat_map(|piece| splitter.push(piece)).collect();
        events.extend(splitter.finish());
        events
    }

    #[test]
    fn events_are_the_same_in_pieces_of_any_size_and_with_any_line_ends() {
        let whole = split(STREAM.as_bytes(), STREAM.len());
        let texts: Vec<String> = whole.iter().map(Event::to_wire).collect();
        let expected = [
            "event: a\ndata: {\"b\":1.5,\"a\":[1]}\n\n",
            "data: one\ndata: two\n\n",
            "event: ping\ndata: \n\n",
            "data: [DONE]\n\n",
        ];
        assert_eq!(texts, expected);
        for size in 1..20 {
            assert_eq!(split(STREAM.as_bytes(), size), whole, "{size}");
            assert_eq!(split(STREAM.replace('\n', "\r\n").as_bytes(), size), whole, "{size} with CR LF");
        }
    }

    #[test]
    fn lines_may_end_with_a_carriage_return_alone() {
        let whole = split(STREAM.as_bytes(), STREAM.len());
        for size in [1, 7, STREAM.len()] {
            assert_eq!(split(STREAM.replace('\n', "\r").as_bytes(), size), whole, "{size}");
        }
    }

    #[test]
    fn ends_of_lines_may_be_mixed() {
        let whole = split(STREAM.as_bytes(), STREAM.len());
        for blank in ["\n\r\n", "\r\n\n", "\r\n\r", "\r\n\r\n", "\r\r\n", "\n\r"] {
            let mixed = STREAM.replace("\n\n", blank);
            for size in (1..20).chain([mixed.len()]) {
                assert_eq!(split(mixed.as_bytes(), size), whole, "{blank:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_has_the_events_before() {
        let whole = split(STREAM.as_bytes(), 7);
        for end in 0..STREAM.len() {
            let mut splitter = Splitter::default();
            let events = splitter.push(&STREAM.as_bytes()[..end]);
            assert_eq!(events, whole[..events.len()]);
        }
    }
}
