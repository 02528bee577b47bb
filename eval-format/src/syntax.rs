//! Bytes to a tree of JSON values that know where they stand.
//!
//! Numbers are kept as text and strings are borrowed where they hold no escapes, so the tree
//! costs about what `serde_json::Value` costs. What pydantic takes as JSON is taken: `NaN` and the
//! infinities as numbers, the last of two equal keys, up to 200 levels of nesting. The tests hold
//! this against jiter, pydantic's own parser; as a dependency it and what it needs would be a fifth
//! of what a user's clean build compiles.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::problem::Problem;
use crate::value::{Map, Number, Value};
use scan::Scanner;
use syntax_error::{Fault, Inside, Stumble};

mod duplicates;
mod scan;
mod string;
mod syntax_error;

/// Levels of nesting that pydantic's parser accepts: what lies 200 below the outermost, and nothing inside that.
const MAX_DEPTH: usize = 201;

/// A JSON value and its place in the text.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind<'a>,
}

/// What a [`Node`] holds.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Null,
    Bool(bool),
    /// The text as written: `5.0`, `1e400`, `-Infinity`.
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Entry<'a>>),
}

/// A key and its value; keys are unique within an object.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The elements, if this is an array.
    pub(crate) fn array(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if this is an object.
    pub(crate) fn object(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// The string, if this is one.
    pub(crate) fn string(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The entry under a key, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.object()?.iter().find(|entry| entry.key == key)
    }

    /// What it is, as it is called in messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    /// The value without its places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(text) => Number::parse(text).map_or(Value::Null, Value::Number),
            Kind::String(text) => Value::String(text.clone().into_owned()),
            Kind::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Object(entries) => Value::Object(to_map(entries)),
        }
    }
}

impl Entry<'_> {
    /// Key and value without their places.
    pub(crate) fn to_pair(&self) -> (String, Value) {
        (self.key.clone().into_owned(), self.value.to_value())
    }
}

/// The entries of an object node without their places.
pub(crate) fn to_map(entries: &[Entry<'_>]) -> Map {
    Map::from_unique(entries.iter().map(Entry::to_pair).collect())
}

/// Reads the text as one JSON value.
///
/// Pushes a warning for each key that stands twice in an object; returns the error alone when the
/// text is not JSON.
pub(crate) fn parse<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Result<Node<'a>, Box<Problem>> {
    let mut reader = Reader { scan: Scanner::new(text), duplicates: Vec::new() };
    match reader.document() {
        Ok(root) => {
            problems.append(&mut duplicates::warnings(&root, reader.duplicates));
            Ok(root)
        }
        Err(fault) => Err(Box::new(syntax_error::problem(text, fault))),
    }
}

struct Reader<'a> {
    scan: Scanner<'a>,
    duplicates: Vec<duplicates::Duplicate>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node<'a>, Fault> {
        let first = self.scan.value()?;
        let node = self.node(first, 1)?;
        match self.scan.peek() {
            None => Ok(node),
            Some(_) => Err(self.scan.fault(Stumble::MoreText)),
        }
    }

    /// The value that begins with a byte, the next one.
    fn node(&mut self, first: u8, depth: usize) -> Result<Node<'a>, Fault> {
        let start = self.scan.at;
        let kind = match first {
            _ if depth > MAX_DEPTH && first.is_ascii() => return Err(self.scan.fault(Stumble::TooDeep)),
            b'"' => Kind::String(self.scan.string()?),
            b'[' => self.array(depth)?,
            b'{' => self.object(depth)?,
            b'n' => self.word("null", Kind::Null)?,
            b't' => self.word("true", Kind::Bool(true))?,
            b'f' => self.word("false", Kind::Bool(false))?,
            b'-' | b'0'..=b'9' | b'N' | b'I' => Kind::Number(self.scan.number()?),
            _ => return Err(self.scan.fault(Stumble::NoValue)),
        };
        Ok(Node { range: start..self.scan.at, kind })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, Fault> {
        self.scan.word(word).map(|()| kind)
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, Fault> {
        let mut items = Vec::new();
        let mut more = self.open(Inside::Array)?;
        while more {
            let first = self.scan.value()?;
            items.push(self.node(first, depth + 1)?);
            more = self.step(Inside::Array)?;
        }
        Ok(Kind::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, Fault> {
        let object = self.scan.at;
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut more = self.open(Inside::Object)?;
        while more {
            let (key, key_range) = self.key()?;
            let first = self.scan.value()?;
            let value = self.node(first, depth + 1)?;
            entries.push(Entry { key, key_range, value });
            more = self.step(Inside::Object)?;
        }
        self.drop_duplicates(object, &mut entries);
        Ok(Kind::Object(entries))
    }

    /// A key and the colon after it.
    fn key(&mut self) -> Result<(Cow<'a, str>, Range<usize>), Fault> {
        if self.scan.value()? != b'"' {
            return Err(self.scan.fault(Stumble::NoKey));
        }
        let start = self.scan.at;
        let key = self.scan.string()?;
        let range = start..self.scan.at;
        match self.scan.peek() {
            Some(b':') => self.scan.at += 1,
            Some(_) => return Err(self.scan.fault(Stumble::NoColon)),
            None => return Err(self.scan.fault(Stumble::EndInside(Inside::Object))),
        }
        Ok((key, range))
    }

    /// Passes over an opening bracket, and over the closing one if it follows; whether an element does.
    fn open(&mut self, inside: Inside) -> Result<bool, Fault> {
        self.scan.at += 1;
        match self.scan.peek() {
            Some(byte) if byte == inside.closing() => {
                self.scan.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.scan.fault(Stumble::EndInside(inside))),
        }
    }

    /// Passes over what follows an element, a comma or the closing bracket; whether an element follows.
    fn step(&mut self, inside: Inside) -> Result<bool, Fault> {
        let at = match self.scan.peek() {
            Some(byte) if byte == b',' || byte == inside.closing() => self.scan.at,
            Some(_) => return Err(self.scan.fault(Stumble::NoComma(inside))),
            None => return Err(self.scan.fault(Stumble::EndInside(inside))),
        };
        self.scan.at += 1;
        if self.scan.text.as_bytes()[at] != b',' {
            return Ok(false);
        }
        match self.scan.peek() {
            Some(byte) if byte == inside.closing() => Err(Fault { what: Stumble::TrailingComma, at }),
            _ => Ok(true),
        }
    }

    /// Keeps the last value of each key, at the place of the first, as Python does.
    fn drop_duplicates(&mut self, object: usize, entries: &mut Vec<Entry<'a>>) {
        let repeats = match entries.len() {
            0 | 1 => return,
            2..=SCAN_LIMIT => {
                entries.iter().enumerate().any(|(at, entry)| entries[..at].iter().any(|e| e.key == entry.key))
            }
            _ => entries.iter().map(|entry| entry.key.as_ref()).collect::<HashSet<_>>().len() < entries.len(),
        };
        if !repeats {
            return;
        }
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for entry in std::mem::take(entries) {
            if let Some(&at) = places.get(&entry.key) {
                let first: &mut Entry<'a> = &mut entries[at];
                self.duplicates.push(duplicates::Duplicate {
                    object,
                    first: first.key_range.clone(),
                    second: entry.key_range.clone(),
                    key: entry.key.clone().into_owned(),
                });
                *first = entry;
            } else {
                places.insert(entry.key.clone(), entries.len());
                entries.push(entry);
            }
        }
    }
}

/// Up to this many keys, looking for a repeated one by comparing each pair beats hashing.
const SCAN_LIMIT: usize = 16;

#[cfg(test)]
mod tests;
