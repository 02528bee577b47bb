//! The arithmetic compared with the results of google-adk.

mod adk;
mod invocations;
mod jobs;
mod turns;
mod vectors;
