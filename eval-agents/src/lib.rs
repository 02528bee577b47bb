//! Agents that are not Rust in this process: behind an ADK server, or programs in any language.
#![doc = crate::pages::page!("../docs/any-agent.md")]

mod adk_server;
mod group;
mod hidden;
mod pages;
mod process;
#[doc = crate::pages::page!("../docs/protocol.md")]
pub mod protocol {}
mod stderr;
pub mod traces;
mod wire;

pub use adk_server::{AdkServer, AdkServerError};
pub use process::{Process, ProcessError};

/// Compiles the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
