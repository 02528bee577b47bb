//! Events for all open pages.

use eval_server::events::Event;
use serde_json::Value;
use tokio::sync::{broadcast, watch};

/// The sender of events. Copies send to the same readers.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    pub(super) events: broadcast::Sender<Event>,
    /// Whether the streams of events end.
    pub(super) ends: watch::Sender<bool>,
}

/// The most events that wait for a slow reader. A reader that misses some asks for everything again.
const MAX_WAITING_EVENTS: usize = 256;

impl Hub {
    pub(super) fn new() -> Self {
        Self { events: broadcast::Sender::new(MAX_WAITING_EVENTS), ends: watch::Sender::new(false) }
    }

    pub(super) fn tell(&self, name: &str, data: &Value) {
        // It fails without listeners, which is fine.
        drop(self.events.send(Event::named(name, data)));
    }
}
