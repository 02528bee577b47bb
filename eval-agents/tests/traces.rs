//! Stored traces, read as agentevals 0.11.0 reads them, but where that loses something.

#![expect(clippy::needless_pass_by_value, reason = "spans and messages are written where they are used")]

#[path = "traces/forms.rs"]
mod forms;
#[path = "traces/frameworks.rs"]
mod frameworks;
#[path = "traces/gaps.rs"]
mod gaps;
#[path = "traces/linked.rs"]
mod linked;
#[path = "traces/misfits.rs"]
mod misfits;
#[path = "traces/mutated.rs"]
mod mutated;
#[path = "traces/replay.rs"]
mod replay;
#[path = "traces/sorted.rs"]
mod sorted;
#[path = "traces/support.rs"]
mod support;
#[path = "traces/times.rs"]
mod times;
#[path = "traces/vectors.rs"]
mod vectors;
