//! Answers in server-sent events.

use std::convert::Infallible;
use std::fmt::Display;
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::channel::{Channel, Sender};
use hyper::body::Frame;
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

/// The type of an answer in events.
pub const CONTENT_TYPE: &str = "text/event-stream; charset=utf-8";

const READER_TIMEOUT: Duration = Duration::from_secs(30);

/// An event of an answer, as its reader has it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is written")]
pub(crate) struct SentEvent {
    /// The name; `message` for an event without one.
    event: String,
    /// JSON.
    data: String,
}

/// An event as it is sent.
#[derive(Clone, Debug)]
pub struct Event(Bytes);

/// The sender of an answer's events.
#[derive(Debug)]
pub struct Events(Sender<Bytes, Infallible>);

/// The reader of the events has gone.
#[derive(Debug)]
pub struct ReaderGone;

/// The sender of an answer's events, and the body. At most `waiting` events wait for the reader.
pub fn channel(waiting: usize) -> (Events, Body) {
    let (sender, body) = Channel::<Bytes, Infallible>::new(waiting);
    (Events(sender), Body::new(body))
}

impl Event {
    /// An event without a name. The JSON has no line breaks, so that an event has one line of data.
    pub fn unnamed(json: impl Display) -> Self {
        Self(Bytes::from(format!("data: {json}\n\n")))
    }

    /// An event with a name.
    pub fn named(name: &str, json: impl Display) -> Self {
        Self(Bytes::from(format!("event: {name}\ndata: {json}\n\n")))
    }

    /// A comment in place of an event: it tests whether the reader is still there.
    pub fn beat() -> Self {
        Self(Bytes::from_static(b":\n\n"))
    }
}

impl Events {
    /// Sends an event once the reader has room for it.
    pub async fn send(&mut self, event: Event) -> Result<(), ReaderGone> {
        match timeout(READER_TIMEOUT, self.0.send(Frame::data(event.0))).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(ReaderGone),
        }
    }

    /// Sends an event at once. A reader without room for it counts as gone.
    pub(crate) fn send_now(&mut self, event: Event) -> Result<(), ReaderGone> {
        self.0.try_send(Frame::data(event.0)).map_err(|_| ReaderGone)
    }
}

/// Data as JSON. Data that cannot be written ends the events: their reader sees that the last one is missing.
pub(crate) fn json(data: &impl Serialize) -> Result<String, ReaderGone> {
    serde_json::to_string(data).map_err(|_| ReaderGone)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[test]
    fn events_are_lines_with_an_empty_one_behind_them() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut events, body) = channel(2);
            events.send(Event::named("about", json(&["a\nb"]).unwrap())).await.unwrap();
            events.send_now(Event::unnamed("{}")).unwrap();
            assert!(events.send_now(Event::beat()).is_err(), "two wait for the reader");
            drop(events);
            let all = body.collect().await.unwrap().to_bytes();
            assert_eq!(all, "event: about\ndata: [\"a\\nb\"]\n\ndata: {}\n\n");
            let (mut events, body) = channel(2);
            drop(body);
            assert!(events.send(Event::beat()).await.is_err(), "nobody reads");
        });
    }
}
