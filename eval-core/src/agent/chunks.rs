//! Streamed text: the chunks of an answer, joined into the whole.

use std::collections::BTreeMap;
use std::time::Duration;

use eval_format::Content;

use super::event::Event;

/// Chunks of one author with nothing else of that author between them.
struct Stream {
    text: String,
    /// The index of the last chunk.
    last: usize,
    at: Duration,
}

/// Adds the whole text after the last chunk of each stream. `chunks` are the indices of the events that are chunks, in order.
///
/// A stream of an author ends with the next event of that author that says something, and with the turn. If that event repeats
/// the text, as the last event of ADK's streams does, it is the whole.
pub(super) fn joined(events: Vec<Event>, chunks: &[usize]) -> Vec<Event> {
    if chunks.is_empty() {
        return events;
    }
    let mut chunks = chunks.iter().copied().peekable();
    let mut streams: BTreeMap<&str, Stream> = BTreeMap::new();
    let mut wholes: BTreeMap<usize, Event> = BTreeMap::new();
    let mut end = |author: &str, stream: Stream| {
        if !stream.text.is_empty() {
            let whole = Event { at: stream.at, ..Event::new(author, Content::model(stream.text)) };
            wholes.insert(stream.last, whole);
        }
    };
    for (index, event) in events.iter().enumerate() {
        let author = event.author.as_str();
        let text = || event.content.as_ref().map(Content::text).unwrap_or_default();
        if chunks.next_if_eq(&index).is_some() {
            let begun = || Stream { text: String::new(), last: index, at: event.at };
            let stream = streams.entry(author).or_insert_with(begun);
            stream.text.push_str(&text());
            (stream.last, stream.at) = (index, event.at);
        } else if !event.partial
            && event.says_something()
            && let Some(stream) = streams.remove(author)
            && stream.text.trim() != text().trim()
        {
            end(author, stream);
        }
    }
    for (author, stream) in streams {
        end(author, stream);
    }
    let mut all = Vec::with_capacity(events.len() + wholes.len());
    for (index, event) in events.into_iter().enumerate() {
        all.push(event);
        all.extend(wholes.remove(&index));
    }
    all
}

#[cfg(test)]
mod tests {
    use eval_format::UsageMetadata;
    use serde_json::json;

    use super::super::log::Log;
    use super::super::recorder::Recorder;
    use std::sync::Arc;

    /// What a turn has, `+` for a chunk.
    fn recorded(record: impl FnOnce(&Recorder)) -> Vec<String> {
        let log: Arc<Log> = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        record(&recorder);
        let so_far = recorder.events();
        let events = log.end().events;
        assert_eq!(so_far, events);
        let shown = events.iter().map(|event| {
            format!("{}{}: {}", if event.partial { "+" } else { "" }, event.author, event.in_short())
        });
        shown.collect()
    }

    #[test]
    fn chunks_are_joined_at_the_end_of_the_turn() {
        let shown = recorded(|recorder| {
            recorder.chunk("It is ");
            recorder.usage(UsageMetadata::default().with_prompt_token_count(3));
            recorder.chunk("");
            recorder.chunk("sunny.");
            recorder.state("city", "Paris");
        });
        assert_eq!(
            shown,
            [
                r#"+agent: the text "It is ""#,
                "agent: the tokens of a model call",
                "+agent: an event of `agent`",
                r#"+agent: the text "sunny.""#,
                r#"agent: the text "It is sunny.""#,
                "agent: a change of the state `city`",
            ]
        );
    }

    #[test]
    fn a_stream_ends_where_its_author_does_something_else() {
        let shown = recorded(|recorder| {
            let sub = recorder.author("sub");
            recorder.chunk("Let me ");
            sub.chunk("a");
            recorder.chunk("see.");
            recorder.tool_call("look", json!({}), "sun");
            sub.chunk("b");
            recorder.chunk("Sun.");
        });
        assert_eq!(
            shown,
            [
                r#"+agent: the text "Let me ""#,
                r#"+sub: the text "a""#,
                r#"+agent: the text "see.""#,
                r#"agent: the text "Let me see.""#,
                "agent: the call `look()`",
                r#"agent: the result of `look`, {"result":"sun"}"#,
                r#"+sub: the text "b""#,
                r#"sub: the text "ab""#,
                r#"+agent: the text "Sun.""#,
                r#"agent: the text "Sun.""#,
            ]
        );
    }

    #[test]
    fn a_whole_text_that_repeats_its_chunks_is_not_said_twice() {
        let texts = |whole: &str| {
            let shown = recorded(|recorder| {
                recorder.chunk("It is ");
                recorder.chunk("sunny.\n");
                recorder.text(whole);
            });
            shown.into_iter().filter(|line| !line.starts_with('+')).collect::<Vec<_>>()
        };
        assert_eq!(texts("It is sunny."), [r#"agent: the text "It is sunny.""#]);
        assert_eq!(texts("Bye."), [r#"agent: the text "It is sunny.\n""#, r#"agent: the text "Bye.""#]);
    }
}
