//! The stored part of a live session.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::refusals::Refusals;
use super::view::Digest;
use crate::otlp::Origin;

#[derive(Debug)]
pub(super) struct Session {
    /// The conversation's name in its spans, or the id of its first trace.
    pub(super) name: String,
    /// The name as it is shown: the second run of a name has a number behind it.
    pub(super) key: String,
    pub(super) run: usize,
    pub(super) origin: Origin,
    pub(super) traces: Vec<u128>,
    pub(super) count: usize,
    pub(super) bytes: usize,
    pub(super) last: Instant,
    pub(super) opened: (Instant, SystemTime),
    pub(super) received: SystemTime,
    pub(super) revision: u64,
    pub(super) is_of_agent: bool,
    pub(super) lost: Vec<String>,
    pub(super) digest: Digest,
    /// The revision that was read, when, and how long it took.
    pub(super) read: Option<(u64, Instant, Duration)>,
}

/// The pause before a list reads a slow session again, as a multiple of its reading time. Otherwise each
/// small export would cost as much as all before it. A session is slow if its reading takes longer than
/// `SLOW_READ_TIME`.
const REREAD_FACTOR: u32 = 10;
const SLOW_READ_TIME: Duration = Duration::from_millis(50);

/// The time before the first and after the last span of a session in which a refused export concerns it.
const REFUSAL_REACH: Duration = Duration::from_secs(30);

pub(super) const MAX_REMARKS: usize = 20;

impl Session {
    /// A session without traces. `run` is its number among the sessions of its name.
    pub(super) fn new(
        name: String,
        (run, key): (usize, String),
        origin: Origin,
        opened: (Instant, SystemTime),
    ) -> Self {
        Self {
            name,
            key,
            run,
            origin,
            traces: Vec::new(),
            count: 0,
            bytes: 0,
            last: opened.0,
            opened,
            received: SystemTime::now(),
            revision: 0,
            is_of_agent: false,
            lost: Vec::new(),
            digest: Digest::default(),
            read: None,
        }
    }

    pub(super) fn note_loss(&mut self, why: &str) {
        self.revision += 1;
        if self.lost.len() < MAX_REMARKS && !self.lost.iter().any(|known| known == why) {
            self.lost.push(why.to_owned());
        }
    }

    pub(super) fn is_quiet(&self, now: Instant, quiet: Duration) -> bool {
        now.saturating_duration_since(self.last) >= quiet
    }

    pub(super) fn is_behind(&self) -> bool {
        self.read.is_none_or(|(read, _, _)| read != self.revision)
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        let may_be_read = self.read.is_none_or(|(_, at, took)| {
            took < SLOW_READ_TIME || now.saturating_duration_since(at) >= took * REREAD_FACTOR
        });
        self.is_behind() && may_be_read
    }

    /// The doubt about exports that were refused while the session ran. Their spans are not known.
    pub(super) fn refused_during(&self, refusals: &Refusals) -> Option<String> {
        if !self.is_of_agent {
            return None;
        }
        // The agent's clock may be ahead, and then `started` is too late. The duration of the turns does not
        // depend on the clock, so the longer of both counts.
        let (opened, at) = self.opened;
        let started = self.digest.started.and_then(|started| UNIX_EPOCH.checked_add(started));
        let before = started.and_then(|started| at.duration_since(started).ok()).unwrap_or_default();
        let began = opened.checked_sub(before.max(self.digest.lasted.unwrap_or_default()).max(REFUSAL_REACH));
        let why = refusals.between(began, self.last + REFUSAL_REACH)?;
        Some(format!("an export was refused while it ran, and its spans may have been in it: {why}"))
    }
}
