//! Agents that are not Rust in this process: behind an ADK server, or programs in any language.
//!
//! Each is an [`Agent`](eval_core::Agent), so it works wherever one does: in `#[eval_set]` functions, in
//! [`EvalRunner`](eval_core::EvalRunner), in conversations by hand.
//!
//! | your agent | use |
//! | --- | --- |
//! | runs behind `adk api_server`, `adk web`, or a server with their routes | [`AdkServer`] |
//! | is a program, or can be wrapped by one | [`Process`], and the [protocol] |
//!
//! ```no_run
//! use std::process::Command;
//!
//! use eval_agents::AdkServer;
//! use eval_core::{Agent, EvalRunner};
//!
//! fn trip() -> impl Agent {
//!     AdkServer::spawn(Command::new("adk").args(["api_server", "agents"]), "trip")
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! println!("{}", EvalRunner::new().run_dir("evals", trip, 4).await?);
//! # Ok(())
//! # }
//! ```

mod adk_server;
mod group;
mod hidden;
mod process;
/// The protocol of [`Process`].
#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}
mod stderr;
mod wire;

pub use adk_server::{AdkServer, AdkServerError};
pub use process::{Process, ProcessError};
