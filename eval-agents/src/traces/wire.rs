//! The files that traces are stored in.
//!
//! A file holds one document, or several after each other, as lines of JSON. The fields of a document tell
//! its form.

mod jaeger;
mod otlp;
mod stream;

use std::io::{self, BufRead, BufReader};

use eval_support::file::GZIP;
use flate2::bufread::MultiGzDecoder;

use super::error::TraceError;
use super::store::Store;

const BUFFER_BYTES: usize = 262_144;

pub(super) fn read(reader: impl io::Read, store: &mut Store) -> Result<(), TraceError> {
    let io = TraceError::io;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let begin = reader.fill_buf().map_err(io)?;
    if begin.starts_with(&GZIP) {
        return unpacked(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(reader)), store);
    }
    unpacked(reader, store)
}

/// The mark of UTF-8 that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a text that is in memory and not packed. It is parsed in place, which is faster than through a reader.
pub(super) fn read_text(text: &[u8], store: &mut Store) -> Result<(), TraceError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    documents(serde_json::Deserializer::from_slice(text), store)
}

fn unpacked(mut reader: impl BufRead, store: &mut Store) -> Result<(), TraceError> {
    let begin = reader.fill_buf().map_err(TraceError::io)?;
    let mark = if begin.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    reader.consume(mark);
    documents(serde_json::Deserializer::from_reader(reader), store)
}

fn documents<'de>(
    mut deserializer: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    store: &mut Store,
) -> Result<(), TraceError> {
    let mut number = 0;
    loop {
        // Nothing but white space is left.
        if deserializer.end().is_ok() {
            break;
        }
        number += 1;
        stream::document(&mut deserializer, number, store)?;
    }
    if number == 0 { Err(TraceError::form("there is nothing in it")) } else { Ok(()) }
}
