//! Answers in server-sent events.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use hyper::body::Frame;
use serde::Serialize;

use crate::answer;

/// Where events go. Used on a thread that computes.
#[derive(Debug)]
pub(crate) struct Events(Sender<Bytes, Infallible>);

/// Nobody reads the events any more.
#[derive(Debug)]
pub(crate) struct Gone;

/// How many events may wait. What computes never waits for who reads: a slow reader would keep the thread from others.
const BUFFERED: usize = 1 << 16;

/// An answer in events, and where to put them.
pub(crate) fn channel() -> (Events, Response) {
    let (sender, body) = Channel::<Bytes, Infallible>::new(BUFFERED);
    let response = answer::of_body(StatusCode::OK, "text/event-stream; charset=utf-8", Body::new(body));
    (Events(sender), response)
}

impl Events {
    /// Sends an event without a name.
    pub(crate) fn send(&mut self, data: &impl Serialize) -> Result<(), Gone> {
        self.write("", data)
    }

    /// Sends an event with a name.
    pub(crate) fn send_named(&mut self, name: &str, data: &impl Serialize) -> Result<(), Gone> {
        self.write(&format!("event: {name}\n"), data)
    }

    /// JSON has no line breaks of its own, so that an event has one line of data.
    fn write(&mut self, name: &str, data: &impl Serialize) -> Result<(), Gone> {
        let data = serde_json::to_string(data).map_err(|_| Gone)?;
        let event = Bytes::from(format!("{name}data: {data}\n\n"));
        self.0.try_send(Frame::data(event)).map_err(|_| Gone)
    }
}
