//! Exports of OTLP over HTTP: from the bytes of a request to the spans and records of each trace, and the answers.
//!
//! An export is parsed in place. The parsed form must not be many times as large: an empty element of two
//! bytes on the wire must not take hundreds in memory.

mod export;
mod json;
mod protobuf;
mod reply;

pub(crate) use export::{
    Batch, Encoding, Entry, Export, Origin, Rejected, Sent, Signal, Unreadable, trace_id,
};
pub(crate) use reply::{refused, stored};

/// Reads an export. A span or record that cannot be read is rejected, and the others are kept.
pub(crate) fn read(signal: Signal, encoding: Encoding, bytes: &[u8]) -> Result<Export, Unreadable> {
    match (signal, encoding) {
        (Signal::Metrics, _) => Ok(Export::default()),
        (_, Encoding::Protobuf) => protobuf::read(signal, bytes),
        (_, Encoding::Json) => json::read(signal, bytes),
    }
}
