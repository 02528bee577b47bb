//! Decisions about a build: whether it is worse than a baseline.

pub mod exact;
pub mod flips;
pub mod gate;
pub mod usage;
