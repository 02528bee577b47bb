//! A record as the line of a journal.

use std::io;

use super::fields::Kind;
use super::line::Line;
use super::serializer::LineSerializer;

/// Writes a record: its kind, then its fields.
pub(super) fn write_record<T: Kind>(record: &T, line: &mut Line) -> io::Result<()> {
    line.add("{\"record\":");
    line.word(T::NAME);
    let fields = line.len();
    record.write(LineSerializer::new(line)).map_err(io::Error::other)?;
    // The brace of the object becomes a comma. Each record has a field that is never left out.
    line.replace(fields, b',');
    Ok(())
}

/// A record as it is written, without its seal: for tests of what reads journals.
#[doc(hidden)]
pub fn record_text(record: &impl Kind) -> String {
    let mut line = Line::new();
    // What cannot be written is no record, which every reader says.
    let _ = write_record(record, &mut line);
    String::from_utf8_lossy(line.as_bytes()).into_owned()
}
