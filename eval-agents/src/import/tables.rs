//! Tables of questions and answers: JSON, and lines with a delimiter.

use std::collections::HashSet;

use eval_core::format::Value;

use super::error::ImportError;
use super::format::{Format, Held};
use super::mapping::Mapping;
use super::rows::{Row, drafts};

/// The drafts of JSON: an object a line, or an array of objects.
pub(super) fn json_lines(from: &str, text: &str, mapping: Option<&Mapping>) -> Result<Held, ImportError> {
    let values = values(text).map_err(|why| ImportError::unreadable(from, why))?;
    let mut rows = Vec::with_capacity(values.len());
    let (mut columns, mut known) = (Vec::new(), HashSet::new());
    for (line, value) in values {
        let Value::Object(fields) = value else {
            let why = format!("line {line} should be an object and is {}", value.kind());
            return Err(ImportError::unreadable(from, why));
        };
        columns.extend(fields.keys().filter(|key| known.insert((*key).to_owned())).map(str::to_owned));
        rows.push(Row { line, fields });
    }
    drafts(from, Format::JsonLines, &columns, rows, mapping)
}

/// The values, each with its line, or with its place in an array, from 1.
fn values(text: &str) -> Result<Vec<(usize, Value)>, String> {
    match Value::parse(text) {
        Ok(Value::Array(items)) => Ok((1..).zip(items).collect()),
        Ok(value) => Ok(vec![(1, value)]),
        Err(_) => {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
            let read = lines.map(|(number, line)| {
                let value =
                    Value::parse(line).map_err(|error| format!("line {number}: not JSON: {error}"))?;
                Ok((number, value))
            });
            read.collect()
        }
    }
}

/// The drafts of a table whose first line names its columns.
#[cfg(feature = "csv")]
pub(super) fn csv(from: &str, text: &str, mapping: Option<&Mapping>) -> Result<Held, ImportError> {
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
        rows.push(Row { line, fields: fields.collect() });
    }
    drafts(from, Format::Csv, &columns, rows, mapping)
}

/// What stands most often between the names of the columns.
#[cfg(feature = "csv")]
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let count = |byte: u8| header.bytes().filter(|other| *other == byte).count();
    // Of those that are as frequent, the last one is the greatest.
    [b'\t', b';', b','].into_iter().max_by_key(|byte| count(*byte)).unwrap_or(b',')
}
