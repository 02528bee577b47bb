//! A service that checks and scores eval sets of Google's Agent Development Kit over HTTP: what `cargo evalset serve` runs.
#![doc = crate::rustdoc_links::page!("../docs/service.md")]
//!
//! # In a program
//!
//! ```no_run
//! use eval_server::{Server, ServerOptions, stop_signal};
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! let server = Server::bind("127.0.0.1:8001".parse()?, ServerOptions::new()).await?;
//! println!("{}", server.url());
//! server.run(stop_signal()).await;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod access;
mod answer;
mod app;
mod body;
mod display;
mod drafts;
#[cfg(test)]
mod error_texts;
#[doc(hidden)]
pub mod events;
mod limits;
mod openapi;
mod options;
mod otlp;
mod problems;
mod receiver;
mod refusal;
mod routes;
mod rustdoc_links;
mod server;
mod sessions;
mod token;
mod work;

/// The crate of further routes.
pub use axum;
pub use drafts::{DraftRefused, DraftStore, SavedDraft};
pub use limits::Limits;
pub use options::ServerOptions;
pub use server::{BindError, Server, stop_signal};
pub use token::TokenError;

/// Compiles the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The `OpenAPI` document of the service as JSON, as it is served at `/openapi.json`.
///
/// ```
/// assert!(eval_server::openapi_document().contains("/api/validate/eval-set"));
/// ```
pub fn openapi_document() -> &'static str {
    openapi::document()
}
