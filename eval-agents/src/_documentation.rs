//! Pages that belong to no item of this crate.

#[doc = crate::pages::page!("../docs/protocol.md")]
pub mod protocol {}

#[doc = crate::pages::page!("../docs/traces.md")]
pub mod stored_traces {}
