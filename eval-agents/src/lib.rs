//! Agents that are not Rust in this process: behind an ADK server, programs in any language, and what stored traces say
//! that one did.
#![doc = crate::pages::page!("../docs/any-agent.md")]

#[cfg(any(doc, doctest))]
pub mod _documentation;
mod adk_server;
pub mod draft;
#[cfg(test)]
mod error_texts;
mod group;
mod gzip;
mod hidden;
pub mod import;
mod pages;
mod process;
pub mod record;
mod shared_group;
mod stderr;
mod trace_agent;
pub mod traces;
mod wire;

pub use adk_server::{AdkServer, AdkServerError};
pub use process::{Process, ProcessError};
pub use trace_agent::TraceAgent;

/// What `cargo-evalset` and `eval-server` use. Not for others: it may change at any time.
#[doc(hidden)]
pub mod __private {
    pub use crate::group::{Group, Launch};
    pub use crate::gzip::GZIP;
}

/// Compiles the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
