//! Bytes to a tree of JSON values that know where they stand, on jiter, pydantic's own parser.
//!
//! Numbers are kept as text and strings are borrowed where they hold no escapes, so the tree
//! costs about what `serde_json::Value` costs. What pydantic takes as JSON is taken: `NaN` and the
//! infinities as numbers, the last of two equal keys, up to 200 levels of nesting.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jiter::{Jiter, JiterError, Peek};

use crate::problem::{Code, JsonPath, Problem};
use crate::value::{Map, Number, Value};

mod duplicates;
mod syntax_error;

/// Levels of nesting that pydantic's parser accepts: 200 below the outermost.
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
    let jiter = Jiter::new(text.as_bytes()).with_allow_inf_nan();
    let mut reader = Reader { jiter, text, duplicates: Vec::new() };
    match reader.document() {
        Ok(root) => {
            problems.append(&mut duplicates::warnings(&root, reader.duplicates));
            Ok(root)
        }
        Err(Failure::Json(error)) => Err(Box::new(syntax_error::problem(text, &error))),
        Err(Failure::TooDeep(at)) => Err(Box::new(
            Problem::error(Code::TooDeep, JsonPath::default(), at..at + 1, "nesting is too deep")
                .label(format!("level {} begins here", MAX_DEPTH + 1))
                .help(format!("ADK reads {MAX_DEPTH} levels; store deeper data as a string of JSON")),
        )),
    }
}

enum Failure {
    Json(JiterError),
    TooDeep(usize),
}

impl From<JiterError> for Failure {
    fn from(error: JiterError) -> Self {
        Self::Json(error)
    }
}

struct Reader<'a> {
    jiter: Jiter<'a>,
    text: &'a str,
    duplicates: Vec<duplicates::Duplicate>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node<'a>, Failure> {
        let peek = self.jiter.peek()?;
        let node = self.node(peek, 1)?;
        self.jiter.finish()?;
        Ok(node)
    }

    fn node(&mut self, peek: Peek, depth: usize) -> Result<Node<'a>, Failure> {
        let start = self.jiter.current_index();
        let kind = match peek {
            Peek::Null => {
                self.jiter.known_null()?;
                Kind::Null
            }
            Peek::True | Peek::False => Kind::Bool(self.jiter.known_bool(peek)?),
            Peek::String => Kind::String(in_text(self.text, self.jiter.known_str()?)),
            Peek::Array | Peek::Object if depth > MAX_DEPTH => return Err(Failure::TooDeep(start)),
            Peek::Array => self.array(depth)?,
            Peek::Object => self.object(start, depth)?,
            _ => {
                self.jiter.known_number_bytes(peek)?;
                Kind::Number(&self.text[start..self.jiter.current_index()])
            }
        };
        Ok(Node { range: start..self.jiter.current_index(), kind })
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, Failure> {
        let mut items = Vec::new();
        let mut next = self.jiter.known_array()?;
        while let Some(peek) = next {
            items.push(self.node(peek, depth + 1)?);
            next = self.jiter.array_step()?;
        }
        Ok(Kind::Array(items))
    }

    fn object(&mut self, start: usize, depth: usize) -> Result<Kind<'a>, Failure> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut key_start = self.skip_space(start + 1);
        let mut next = self.jiter.known_object()?.map(|key| in_text(self.text, key));
        while let Some(key) = next {
            let key_range = key_start..self.key_end(key_start, &key);
            let peek = self.jiter.peek()?;
            let value = self.node(peek, depth + 1)?;
            let after = self.skip_space(value.range.end);
            entries.push(Entry { key, key_range, value });
            // After a comma comes the next key; after a brace there is none and this is not used.
            key_start = self.skip_space(after + 1);
            next = self.jiter.next_key()?.map(|key| in_text(self.text, key));
        }
        self.drop_duplicates(start, &mut entries);
        Ok(Kind::Object(entries))
    }

    /// The end of a key that begins at `start`, past its closing quote.
    fn key_end(&self, start: usize, key: &str) -> usize {
        let closing = start + 1 + key.len();
        match self.text.get(start + 1..closing) {
            // As it stands between its quotes: it has no escapes.
            Some(written) if written == key && self.text.as_bytes().get(closing) == Some(&b'"') => {
                closing + 1
            }
            _ => string_end(self.text.as_bytes(), start),
        }
    }

    /// The first place from `at` on that is not white space.
    fn skip_space(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
        }
        at
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

/// Borrows a string from the text where the parser did; copies it where it held escapes.
fn in_text<'a>(text: &'a str, found: &str) -> Cow<'a, str> {
    let offset = (found.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match text.get(offset..offset.saturating_add(found.len())) {
        Some(borrowed) if offset < text.len() => Cow::Borrowed(borrowed),
        _ => Cow::Owned(found.to_owned()),
    }
}

/// The end of the string literal that begins at `start`, past its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
