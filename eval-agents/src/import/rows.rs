//! Rows of questions and answers as conversations.

use std::collections::{HashMap, HashSet};

use eval_core::format::{EvalCase, FunctionCall, Invocation, Map, Value};
use eval_support::words::first_of_code_list;

use super::error::{ImportError, MAX_LISTED_ITEMS};
use super::format::{Format, ReadDrafts};
use super::mapping::{Mapping, Role};
use crate::draft::{Draft, Origin};
use crate::wire;

pub(super) struct Row {
    pub(super) line: usize,
    pub(super) fields: Map,
}

#[derive(Default)]
struct Conversation {
    case: EvalCase,
    id: Option<String>,
    line: usize,
    name: Option<String>,
    gaps: Vec<String>,
}

pub(super) fn drafts(
    from: &str,
    format: Format,
    columns: &[String],
    rows: Vec<Row>,
    mapping: Option<&Mapping>,
) -> Result<ReadDrafts, ImportError> {
    let roles = Mapping::roles(mapping, columns)
        .map_err(|source| ImportError::Mapping { from: from.to_owned(), source })?;
    let column = |role: Role| roles.iter().find(|(_, of)| *of == role).map(|(name, _)| name.as_str());
    let mut conversations: Vec<Conversation> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    // Warns about columns that are not mapped, unless the user gave a mapping.
    let mut left_out: Vec<String> =
        if mapping.is_none() { not_read(columns, &roles).into_iter().collect() } else { Vec::new() };
    for Row { line, fields } in rows {
        let text = |role: Role| -> Result<Option<String>, ImportError> {
            let Some(name) = column(role) else { return Ok(None) };
            let text = match fields.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(other) => {
                    let why = format!("line {line}: `{name}` should be a text and is {}", other.kind());
                    return Err(ImportError::unreadable(from, why));
                }
            };
            Ok(Some(text).filter(|text| !text.trim().is_empty()))
        };
        let Some(user) = text(Role::User)? else {
            left_out.push(format!("line {line}: the user says nothing"));
            continue;
        };
        let calls = column(Role::Tools).and_then(|name| fields.get(name));
        let calls = calls.map_or(Ok(Vec::new()), calls_of);
        let calls = calls.map_err(|why| ImportError::unreadable(from, format!("line {line}: {why}")))?;
        let named = text(Role::Conversation)?;
        let known = named.as_ref().and_then(|name| places.get(name).copied());
        let place = known.unwrap_or_else(|| {
            conversations.push(Conversation { line, name: named.clone(), ..Conversation::default() });
            let place = conversations.len() - 1;
            places.extend(named.clone().map(|name| (name, place)));
            place
        });
        let Conversation { case, id, gaps, .. } = &mut conversations[place];
        if id.is_none() {
            *id = text(Role::Id)?;
        }
        let number = case.conversation.len() + 1;
        let without = calls.iter().filter(|call| call.args.is_none()).filter_map(|call| call.name.as_deref());
        gaps.extend(without.map(|name| format!("turn {number}: the arguments of `{name}` are not known")));
        let mut turn = Invocation::user(user);
        turn = match text(Role::Final)? {
            Some(answer) => turn.response(answer),
            None => {
                gaps.push(format!("turn {number} has no answer"));
                turn
            }
        };
        case.conversation.push(calls.into_iter().fold(turn, Invocation::call));
    }
    let draft = |Conversation { mut case, id, line, name, gaps }: Conversation| {
        case.eval_id = id.unwrap_or_default();
        let mut origin = Origin::new(from).with("format", format.name()).with("line", line);
        if let Some(name) = name {
            origin = origin.with("conversation", name);
        }
        let draft =
            Draft::from_case(case, origin).map_err(ImportError::case(from, format!("line {line}")))?;
        Ok(draft.with_gaps(gaps))
    };
    let drafts = conversations.into_iter().map(draft).collect::<Result<_, _>>()?;
    Ok(ReadDrafts { drafts, left_out })
}

fn not_read(columns: &[String], roles: &[(String, Role)]) -> Option<String> {
    let is_unknown = |column: &&String| !roles.iter().any(|(known, _)| known == *column);
    let unknown: Vec<&String> = columns.iter().filter(is_unknown).collect();
    match unknown.as_slice() {
        [] => None,
        [one] => {
            Some(format!("the column `{one}`: its name is not known, and no mapping says what it holds"))
        }
        several => {
            let shown = first_of_code_list(several, MAX_LISTED_ITEMS);
            Some(format!(
                "the columns {shown}: their names are not known, and no mapping says what they hold"
            ))
        }
    }
}

/// The calls of a cell: JSON, or names between commas.
fn calls_of(cell: &Value) -> Result<Vec<FunctionCall>, String> {
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(call).collect(),
        Value::Object(_) => Ok(vec![call(cell)?]),
        Value::String(text) if text.trim_start().starts_with(['[', '{', '"']) => {
            let value = wire::parse(text).map_err(|why| format!("the tools are {why}"))?;
            match value {
                Value::String(name) => Ok(vec![named(&name)?]),
                value => calls_of(&value),
            }
        }
        Value::String(text) => {
            text.split([',', ';', '\n']).map(str::trim).filter(|name| !name.is_empty()).map(named).collect()
        }
        other => Err(format!("the tools should be names or calls, and are {}", other.kind())),
    }
}

fn named(name: &str) -> Result<FunctionCall, String> {
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "(){}[]\"'".contains(c)) {
        return Err(format!(
            "`{name}` is no name of a tool; calls with arguments are written as JSON: `[{{\"name\": \"f\", \"args\": {{}}}}]`"
        ));
    }
    let mut call = FunctionCall::default();
    call.name = Some(name.to_owned());
    Ok(call)
}

/// A call in a common form: a name, or an object with the name and the arguments.
fn call(value: &Value) -> Result<FunctionCall, String> {
    if let Some(name) = value.as_str() {
        return named(name);
    }
    // OpenAI's form has the call inside.
    let value = if value["function"].as_object().is_some() { &value["function"] } else { value };
    let name = ["name", "tool_name", "tool", "function"].iter().find_map(|key| value[*key].as_str());
    let name = name.ok_or_else(|| format!("a call has no `name`: {value}"))?;
    let mut call = named(name)?;
    let args = ["args", "arguments", "tool_input", "input", "parameters"].iter().map(|key| &value[*key]);
    let args = args.into_iter().find(|args| !args.is_null());
    call.args = match args {
        None => None,
        Some(Value::Object(args)) => Some(args.clone()),
        Some(Value::String(text)) => match Value::parse(text) {
            Ok(Value::Object(args)) => Some(args),
            _ => return Err(format!("the arguments of `{name}` are no object")),
        },
        Some(other) => {
            return Err(format!("the arguments of `{name}` should be an object and are {}", other.kind()));
        }
    };
    Ok(call)
}

pub(super) fn json_lines(
    from: &str,
    text: &str,
    mapping: Option<&Mapping>,
) -> Result<ReadDrafts, ImportError> {
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
                wire::parse(line).map(|value| (number, value)).map_err(|why| format!("line {number}: {why}"))
            });
            read.collect()
        }
    }
}

#[cfg(feature = "csv")]
pub(super) fn csv(from: &str, text: &str, mapping: Option<&Mapping>) -> Result<ReadDrafts, ImportError> {
    let failed = |error: csv::Error| ImportError::of_library(from, &error.to_string(), error);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(text)).from_reader(text.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(failed)?.iter().map(|name| name.trim().to_owned()).collect();
    let mut names = HashSet::new();
    if let Some(twice) = columns.iter().find(|name| !name.is_empty() && !names.insert(*name)) {
        let why = format!("two columns are called `{twice}`, and one of them would be lost; rename it");
        return Err(ImportError::unreadable(from, why));
    }
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

#[cfg(feature = "csv")]
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let count = |byte: u8| header.bytes().filter(|other| *other == byte).count();
    // Of equally frequent delimiters `max_by_key` takes the last one.
    [b'\t', b';', b','].into_iter().max_by_key(|byte| count(*byte)).unwrap_or(b',')
}
