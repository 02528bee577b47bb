//! Events for all open pages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eval_server::events::Event;
use serde_json::Value;
use tokio::sync::{broadcast, watch};

/// The sender of events. Copies send to the same readers.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    events: broadcast::Sender<Event>,
    ends: watch::Sender<bool>,
}

/// The most events that wait for a slow reader. A reader that misses some asks for everything again.
const MAX_WAITING_EVENTS: usize = 256;

impl Hub {
    pub(super) fn new() -> Self {
        Self { events: broadcast::Sender::new(MAX_WAITING_EVENTS), ends: watch::Sender::new(false) }
    }

    /// Ends the streams of events.
    pub(super) fn end(&self) {
        self.ends.send_replace(true);
    }

    pub(super) fn ending(&self) -> watch::Receiver<bool> {
        self.ends.subscribe()
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    pub(super) fn has_listeners(&self) -> bool {
        self.events.receiver_count() > 0
    }

    /// Tells all open pages.
    pub(super) fn tell(&self, name: &str, data: &Value) {
        // It fails without listeners, which is fine.
        drop(self.events.send(Event::named(name, data)));
    }
}

/// Locks a mutex. The value of a poisoned mutex is used as it is.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
