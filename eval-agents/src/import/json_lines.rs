//! Questions and answers as JSON: an object a line, or an array of objects.

use std::collections::HashSet;

use eval_core::format::Value;

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
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let read = lines.map(|(at, line)| {
                let value =
                    Value::parse(line).map_err(|error| format!("line {}: not JSON: {error}", at + 1))?;
                Ok((at + 1, value))
            });
            read.collect()
        }
    }
}
