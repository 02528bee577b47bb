//! Stored traces, read as agentevals 0.11.0 reads them, but where that loses something.

#![expect(clippy::needless_pass_by_value, reason = "spans and messages are written where they are used")]

mod forms;
mod frameworks;
mod gaps;
mod linked;
mod misfits;
mod mutated;
mod replay;
mod sorted;
mod support;
mod times;
mod vectors;
