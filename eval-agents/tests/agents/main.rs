//! Agents that are not Rust in the process: servers, programs and traces, as users connect them.

mod adk_server;
mod attribute;
mod dialects;
mod doors;
mod mcp;
mod process;
mod real_adk;
mod real_adk_typescript;
mod spawned;
mod support;
mod traces;
