//! From a text to its tree.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::node::{Entry, Kind, Node, walk};
use super::scan::Scanner;
use super::syntax_error;
use super::syntax_error::{Fault, FaultKind, Inside, MAX_DEPTH};
use crate::problem::{JsonPath, Problem, ProblemCode, short, shown};

/// Reads the text as one JSON value.
///
/// Pushes an error for each duplicate key of an object, and goes on with its last value, so that the other
/// problems of the text are found too. If the text is not JSON, returns the error alone.
pub(crate) fn parse<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Result<Node<'a>, Box<Problem>> {
    let mut reader =
        Reader { scan: Scanner::new(text), items: Vec::new(), entries: Vec::new(), duplicates: Vec::new() };
    match reader.document() {
        Ok(root) => {
            problems.append(&mut duplicate_keys(&root, reader.duplicates));
            Ok(root)
        }
        Err(fault) => Err(Box::new(syntax_error::problem(text, fault))),
    }
}

struct Reader<'a> {
    scan: Scanner<'a>,
    /// A stack of the elements of all open arrays. When an array ends, it moves its own elements from the top
    /// into a vector of the right size.
    items: Vec<Node<'a>>,
    /// The same stack for the entries of objects.
    entries: Vec<Entry<'a>>,
    duplicates: Vec<Duplicate>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node<'a>, Fault> {
        let first = self.scan.value()?;
        let node = self.node(first, 1)?;
        match self.scan.peek() {
            None => Ok(node),
            Some(_) => Err(self.scan.fault(FaultKind::MoreText)),
        }
    }

    /// The value that begins with `first`, the next byte.
    fn node(&mut self, first: u8, depth: usize) -> Result<Node<'a>, Fault> {
        let start = self.scan.at;
        let kind = match first {
            _ if depth > MAX_DEPTH && first.is_ascii() => return Err(self.scan.fault(FaultKind::TooDeep)),
            b'"' => Kind::String(self.scan.string()?),
            b'[' => self.array(depth)?,
            b'{' => self.object(depth)?,
            b'n' => self.word("null", Kind::Null)?,
            b't' => self.word("true", Kind::Bool(true))?,
            b'f' => self.word("false", Kind::Bool(false))?,
            b'-' | b'0'..=b'9' | b'N' | b'I' => Kind::Number(self.scan.number()?),
            _ => return Err(self.scan.fault(FaultKind::NoValue)),
        };
        Ok(Node { range: start..self.scan.at, kind })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, Fault> {
        self.scan.word(word).map(|()| kind)
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, Fault> {
        let start = self.items.len();
        let mut more = self.open(Inside::Array)?;
        while more {
            let first = self.scan.value()?;
            let item = self.node(first, depth + 1)?;
            self.items.push(item);
            more = self.step(Inside::Array)?;
        }
        Ok(Kind::Array(self.items.drain(start..).collect()))
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, Fault> {
        let object = self.scan.at;
        let start = self.entries.len();
        let mut more = self.open(Inside::Object)?;
        while more {
            let (key, key_range) = self.key()?;
            let first = self.scan.value()?;
            let value = self.node(first, depth + 1)?;
            self.entries.push(Entry { key, key_range, value });
            more = self.step(Inside::Object)?;
        }
        let mut entries = self.entries.drain(start..).collect();
        self.drop_duplicates(object, &mut entries);
        Ok(Kind::Object(entries))
    }

    fn key(&mut self) -> Result<(Cow<'a, str>, Range<usize>), Fault> {
        if self.scan.value()? != b'"' {
            return Err(self.scan.fault(FaultKind::NoKey));
        }
        let start = self.scan.at;
        let key = self.scan.string()?;
        let range = start..self.scan.at;
        match self.scan.peek() {
            Some(b':') => self.scan.at += 1,
            Some(_) => return Err(self.scan.fault(FaultKind::NoColon)),
            None => return Err(self.scan.fault(FaultKind::EndInside(Inside::Object))),
        }
        Ok((key, range))
    }

    /// Skips an opening bracket, and the closing one if it follows. Returns whether an element follows.
    fn open(&mut self, inside: Inside) -> Result<bool, Fault> {
        self.scan.at += 1;
        match self.scan.peek() {
            Some(byte) if byte == inside.closing() => {
                self.scan.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.scan.fault(FaultKind::EndInside(inside))),
        }
    }

    /// Skips the comma or the closing bracket after an element. Returns whether an element follows.
    fn step(&mut self, inside: Inside) -> Result<bool, Fault> {
        let at = match self.scan.peek() {
            Some(byte) if byte == b',' || byte == inside.closing() => self.scan.at,
            Some(_) => return Err(self.scan.fault(FaultKind::NoComma(inside))),
            None => return Err(self.scan.fault(FaultKind::EndInside(inside))),
        };
        self.scan.at += 1;
        if self.scan.text.as_bytes()[at] != b',' {
            return Ok(false);
        }
        match self.scan.peek() {
            Some(byte) if byte == inside.closing() => Err(Fault { what: FaultKind::TrailingComma, at }),
            _ => Ok(true),
        }
    }

    /// Keeps the last value of each key, at the place of the first, as Python does.
    fn drop_duplicates(&mut self, object: usize, entries: &mut Vec<Entry<'a>>) {
        let repeats = |(at, entry): (usize, &Entry<'_>)| entries[..at].iter().any(|e| e.key == entry.key);
        if entries.len() <= SCAN_LIMIT && !entries.iter().enumerate().any(repeats) {
            return;
        }
        let firsts = first_places(entries);
        if firsts.iter().enumerate().all(|(at, first)| at == *first) {
            return;
        }
        // The final index of each unique key.
        let mut places = vec![0; entries.len()];
        for (at, entry) in std::mem::take(entries).into_iter().enumerate() {
            if firsts[at] == at {
                places[at] = entries.len();
                entries.push(entry);
                continue;
            }
            let first = &mut entries[places[firsts[at]]];
            self.duplicates.push(Duplicate {
                object,
                first: first.key_range.clone(),
                second: entry.key_range.clone(),
                key: entry.key.clone().into_owned(),
            });
            *first = entry;
        }
    }
}

/// For each entry, the position of the first entry with the same key.
fn first_places(entries: &[Entry<'_>]) -> Vec<usize> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(entries.len());
    let mut firsts = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        firsts.push(*seen.entry(&entry.key).or_insert(at));
    }
    firsts
}

/// Up to this many keys, comparing each pair is faster than hashing.
const SCAN_LIMIT: usize = 16;

/// A duplicate key of an object. Python keeps the last value and drops the others, so cases, turns or expected
/// arguments in the file would not be tested.
struct Duplicate {
    /// The offset at which the object begins.
    object: usize,
    first: Range<usize>,
    second: Range<usize>,
    key: String,
}

/// An error for each repeated key, found in one walk over the tree. Repeated keys inside a replaced value are
/// left out: they are reported once one of the two values is removed.
fn duplicate_keys(root: &Node<'_>, duplicates: Vec<Duplicate>) -> Vec<Problem> {
    if duplicates.is_empty() {
        return Vec::new();
    }
    let mut by_object: HashMap<usize, Vec<Duplicate>> = HashMap::new();
    for duplicate in duplicates {
        by_object.entry(duplicate.object).or_default().push(duplicate);
    }
    let mut found = Vec::new();
    walk(root, |node, path| {
        if let Some(here) = by_object.remove(&node.range.start) {
            found.extend(here.iter().map(|duplicate| duplicate_key(duplicate, path)));
        }
    });
    found
}

fn duplicate_key(duplicate: &Duplicate, object: &JsonPath) -> Problem {
    let path = object.key(&short(&duplicate.key));
    let message = format!("key `{}` is repeated in one object", shown(&duplicate.key));
    Problem::error(ProblemCode::DuplicateKey, path, duplicate.second.clone(), message)
        .label("ADK would read this value alone")
        .related(duplicate.first.clone(), "this one would be lost")
        .help("remove one of them, or merge their values")
}
