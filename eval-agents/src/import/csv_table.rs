//! Questions and answers as a table. The first line names its columns.

use eval_core::format::{Map, Value};

use super::Format;
use super::error::ImportError;
use super::mapping::Mapping;
use super::rows::{Row, drafts};
use crate::draft::Draft;

pub(super) fn read(
    from: &str,
    text: &str,
    mapping: Option<&Mapping>,
) -> Result<(Vec<Draft>, Vec<String>), ImportError> {
    let failed = |error: csv::Error| ImportError::of_library(from, &error.to_string(), error);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(text)).from_reader(text.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(failed)?.iter().map(|name| name.trim().to_owned()).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let line =
            record.position().map_or(0, |position| usize::try_from(position.line()).unwrap_or(usize::MAX));
        let fields = columns.iter().zip(record.iter()).map(|(name, cell)| (name.clone(), Value::from(cell)));
        rows.push(Row { line, fields: fields.collect::<Map>() });
    }
    drafts(from, Format::Csv, &columns, rows, mapping)
}

/// What stands most often between the names of the columns.
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let count = |byte: u8| header.bytes().filter(|other| *other == byte).count();
    // Of those that are as frequent, the last one is the greatest.
    [b'\t', b';', b','].into_iter().max_by_key(|byte| count(*byte)).unwrap_or(b',')
}
