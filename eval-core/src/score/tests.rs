//! The arithmetic against google-adk's own answers.

mod adk;
mod invocations;
mod jobs;
mod vectors;
