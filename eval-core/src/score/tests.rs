//! The arithmetic against google-adk's own answers.

mod invocations;
mod jobs;
mod vectors;
