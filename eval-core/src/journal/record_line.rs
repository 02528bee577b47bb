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
