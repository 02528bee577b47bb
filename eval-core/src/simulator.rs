//! The simulated user of a scenario: a model that gets the plan of the user and the conversation so far.
//!
//! The model is asked like a judge, so its answers are recorded and replayed in the same way. Settings and
//! end conditions agree with ADK's `LlmBackedUserSimulator`. The words of the prompt are not ADK's. A
//! conversation that the user did not end is an error here; ADK just stops it.

mod history;
mod personas;
mod user;

pub(crate) use personas::profile;
pub(crate) use user::{Simulation, Simulator, Trouble};

#[cfg(test)]
mod tests;
