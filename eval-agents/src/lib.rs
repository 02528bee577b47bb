//! Agents outside of this Rust process: behind an ADK server, programs in any language, and stored traces of any agent.
#![doc = crate::rustdoc_links::page!("../docs/any-agent.md")]

#[cfg(any(doc, doctest))]
pub mod _documentation;
mod adk_server;
pub mod draft;
#[cfg(test)]
mod error_texts;
pub mod import;
pub mod mcp;
mod models;
mod process;
pub mod record;
mod rustdoc_links;
mod secret_headers;
mod shared_group;
mod trace_agent;
pub mod traces;
mod wire;

pub use adk_server::{AdkServer, AdkServerError};
/// The part of the protocol that fuzzing reaches. Not public API.
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use process::streams;
pub use process::{Process, ProcessError};
pub use trace_agent::TraceAgent;

/// Compiles the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
