//! What is recorded in one conversation: the turn in progress, and what came too late for its turn.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_support::words::count;

use super::chunks;
use super::event::Event;
use super::weight;

/// The most events that a turn may have.
pub(crate) const MOST_EVENTS: usize = 100_000;

/// The most bytes that the events of a turn may have.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// What an agent that calls tools without ever waiting leaves to the runtime: after this many calls, other work is
/// given a chance, such as the timer that ends the turn.
const CALLS_IN_A_ROW: usize = 32;

/// The log of one conversation. Its recorders share it.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// How many turns began.
    turns: usize,
    /// How many calls were given an id.
    calls_with_ids: usize,
    /// The turn in progress.
    open: Option<OpenTurn>,
    late: Option<Late>,
}

#[derive(Debug)]
struct OpenTurn {
    begun: Instant,
    recorded: Recorded,
    /// Which events are chunks of streamed text.
    chunks: Vec<usize>,
    bytes: usize,
    calls: usize,
}

/// Everything that was recorded in a turn.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<Event>,
    /// Time spent in tools that were run through the recorder.
    pub(crate) tools: Duration,
    /// How long the turn took when it took place, if it is replayed.
    pub(crate) took: Option<Duration>,
    /// Which limit was reached. What was recorded beyond it is lost.
    pub(crate) overflow: Option<Overflow>,
}

/// The limit of a turn that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    Events,
    Bytes,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events => write!(f, "more than {} recorded", count(MOST_EVENTS, "event"))?,
            Self::Bytes => write!(f, "more than {} MiB recorded", MOST_BYTES >> 20)?,
        }
        f.write_str(", the rest is lost; is it a loop?")
    }
}

/// What a recorder writes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The turn of this number.
    Turn(usize),
    /// The turn in progress, whichever it is.
    InProgress,
}

/// What was recorded although no turn could take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// The turn of the recorder; `None` for a recorder of the session.
    pub(crate) turn: Option<usize>,
    /// How many events there are, of all turns.
    count: usize,
    /// Whether they are of more than one turn.
    several: bool,
    /// What the first one says.
    first: String,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, count: events, several, first } = self;
        let events = count(*events, "event");
        match turn {
            Some(_) => write!(
                f,
                "{events} recorded after {} had ended, the first: {first}; await what a turn starts before it returns, \
                 and give tools that are built once `session.recorder()`",
                if *several { "their turns" } else { "the turn" }
            ),
            None => write!(
                f,
                "{events} recorded through `session.recorder()` while no turn was in progress, the first: {first}; \
                 only what happens in a turn is scored"
            ),
        }
    }
}

impl Log {
    /// Begins the next turn and returns its number. A turn that was not ended ends.
    pub(super) fn begin(&self) -> usize {
        let mut state = self.state();
        state.turns += 1;
        let recorded = Recorded::default();
        state.open =
            Some(OpenTurn { begun: Instant::now(), recorded, chunks: Vec::new(), bytes: 0, calls: 0 });
        state.turns
    }

    /// Ends the turn in progress. The chunks of streamed text are joined.
    pub(crate) fn end(&self) -> Recorded {
        let Some(OpenTurn { mut recorded, chunks, .. }) = self.state().open.take() else {
            return Recorded::default();
        };
        recorded.events = chunks::joined(recorded.events, &chunks);
        recorded
    }

    /// What the turn would have recorded if it ended now.
    pub(super) fn so_far(&self, target: Target) -> Vec<Event> {
        let mut state = self.state();
        let Some(turn) = state.turn(target) else { return Vec::new() };
        chunks::joined(turn.recorded.events.clone(), &turn.chunks)
    }

    /// An id that no other call of this conversation has.
    pub(super) fn next_call_id(&self) -> String {
        let mut state = self.state();
        state.calls_with_ids += 1;
        format!("call-{}", state.calls_with_ids)
    }

    /// What came too late so far.
    pub(crate) fn late(&self) -> Option<Late> {
        self.state().late.clone()
    }

    /// Whether a recorder of this conversation still exists.
    pub(crate) fn has_recorders(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    /// Adds an event. Fails if the turn may have no more.
    pub(super) fn add(&self, target: Target, event: Event) -> Result<(), Overflow> {
        self.push(target, event, false)
    }

    /// Adds a chunk of streamed text. Fails if the turn may have no more.
    pub(super) fn add_chunk(&self, target: Target, event: Event) -> Result<(), Overflow> {
        self.push(target, event, true)
    }

    fn push(&self, target: Target, mut event: Event, is_chunk: bool) -> Result<(), Overflow> {
        let mut state = self.state();
        let Some(turn) = state.turn(target) else {
            state.add_late(target, &event);
            return Ok(());
        };
        event.at = turn.begun.elapsed();
        turn.bytes = turn.bytes.saturating_add(weight::of_event(&event));
        let overflow = match turn.recorded.overflow {
            None if turn.recorded.events.len() == MOST_EVENTS => Some(Overflow::Events),
            None if turn.bytes > MOST_BYTES => Some(Overflow::Bytes),
            reached => reached,
        };
        turn.recorded.overflow = overflow;
        match overflow {
            Some(overflow) => Err(overflow),
            None => {
                if is_chunk {
                    turn.chunks.push(turn.recorded.events.len());
                }
                turn.recorded.events.push(event);
                Ok(())
            }
        }
    }

    /// Adds the time that a tool took.
    pub(super) fn add_tool_time(&self, target: Target, took: Duration) {
        if let Some(turn) = self.state().turn(target) {
            turn.recorded.tools += took;
        }
    }

    /// Sets how long the turn took when it took place.
    pub(super) fn set_took(&self, target: Target, took: Duration) {
        if let Some(turn) = self.state().turn(target) {
            turn.recorded.took = Some(took);
        }
    }

    /// Counts a tool call. Whether it is time to let the runtime do something else.
    pub(super) fn counts_call(&self, target: Target) -> bool {
        match self.state().turn(target) {
            Some(turn) => {
                turn.calls += 1;
                turn.calls.is_multiple_of(CALLS_IN_A_ROW)
            }
            // A task that outlives its turn may loop just as well.
            None => true,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic halfway happens under the lock, so a poisoned log is complete.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The turn that takes what is recorded for `target`.
    fn turn(&mut self, target: Target) -> Option<&mut OpenTurn> {
        match target {
            Target::Turn(number) if number != self.turns => None,
            Target::Turn(_) | Target::InProgress => self.open.as_mut(),
        }
    }

    fn add_late(&mut self, target: Target, event: &Event) {
        let turn = match target {
            Target::Turn(number) => Some(number),
            Target::InProgress => None,
        };
        let late =
            self.late.get_or_insert_with(|| Late { turn, count: 0, several: false, first: event.in_short() });
        late.count += 1;
        late.several |= late.turn != turn;
    }
}
