//! A gateway for models: it records the calls of language models that agents make while eval sets run, and replays them.
//!
//! Agents ask an endpoint on loopback in place of their providers. It knows the case, the run and the turn of each call. What
//! is not recorded is an error of its case, with the difference from the nearest recorded call. eval-core's features `models`
//! and `record-models` use it; it is not for others, and anything in it may change in any version.

mod canonical;
mod cassette;
mod conversation;
mod deltas;
mod endpoint;
mod faults;
mod handler;
mod limits;
pub mod loopback;
mod miss;
mod mode;
mod provider;
mod recording;
mod router;
mod set;
mod sse;
mod store;
mod upstream;
mod usage;
mod variables;
mod wire;

pub use conversation::{Conversation, Ended};
pub use faults::Faults;
pub use limits::{Limit, Limits, Total};
pub use miss::Miss;
pub use mode::{ModelMode, Settings};
pub use provider::Provider;
pub use recording::{Answer, Body, CaseRecording, Exchange, Shared};
pub use router::{Lease, Router};
pub use set::ModelSet;
pub use sse::{Data, Event};
pub use store::{CompiledModels, ModelsFolder};
pub use usage::{ModelUse, Usage};
pub use wire::{Parts, Wire};
