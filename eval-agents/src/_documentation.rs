//! Pages that belong to no item of this crate.

#[doc = crate::rustdoc_links::page!("../docs/protocol.md")]
pub mod protocol {}

#[doc = crate::rustdoc_links::page!("../docs/python.md")]
pub mod python {}

#[doc = crate::rustdoc_links::page!("../docs/traces.md")]
pub mod stored_traces {}
