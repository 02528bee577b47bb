//! Paths of values below the arguments of a call.

use std::fmt;

use crate::syntax;
use crate::value::Value;

/// The path of a value below the arguments of a call: `city`, `steps[0].order`, `tags[*]`, `["any.name"]`.
///
/// `...` is the path of further arguments.
///
/// ```
/// use eval_format::expect::ArgPath;
///
/// assert!(ArgPath::parse(r#"plan.steps[*]["step type"]"#).is_some());
/// assert!(ArgPath::parse("[0]").is_none() && ArgPath::parse("a..b").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct ArgPath {
    text: String,
    /// Empty for further arguments.
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
    /// Any index: `[*]`.
    Each,
}

/// Two paths are equal if they name the same value: `a` and `["a"]`.
impl PartialEq for ArgPath {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps
    }
}

impl Eq for ArgPath {}

impl ArgPath {
    /// Reads a path; `None` if the text is no path.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = if text == "..." { "" } else { text };
        while !rest.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner)?,
                None => {
                    let named = if steps.is_empty() { rest } else { rest.strip_prefix('.')? };
                    let (name, rest) =
                        named.split_at(named.find(['.', '[', ']', '"']).unwrap_or(named.len()));
                    (Step::Key(Some(name).filter(|name| !name.is_empty())?.to_owned()), rest)
                }
            };
            steps.push(step);
        }
        let is_path = match steps.first() {
            Some(first) => matches!(first, Step::Key(_)),
            None => text == "...",
        };
        is_path.then(|| Self { text: text.to_owned(), steps })
    }

    /// A path that was written in Rust. If the text is no path, the check of the case says so.
    pub(super) fn unchecked(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|| Self { text: text.to_owned(), steps: Vec::new() })
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_further(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of steps that name no single index: the fewer, the more exact a rule.
    pub(super) fn wildcards(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Each).count()
    }

    /// Whether it names the value at a place.
    pub(super) fn names(&self, place: &[Step]) -> bool {
        let fits =
            |(own, step): (&Step, &Step)| own == step || *own == Step::Each && matches!(step, Step::Index(_));
        self.steps.len() == place.len() && self.steps.iter().zip(place).all(fits)
    }

    /// Whether another path goes on below a value that this one names.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        let steps = other.steps.get(..self.steps.len()).filter(|_| other.steps.len() > self.steps.len());
        !self.is_further() && steps.is_some_and(|steps| self.names(steps) || self.steps == steps)
    }

    /// The values that it names below a value.
    pub(super) fn values<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.places(root).into_iter().flatten().collect()
    }

    /// The values below a value, with `None` for each item that lacks what the path names below it.
    pub(super) fn places<'v>(&self, root: &'v Value) -> Vec<Option<&'v Value>> {
        let mut found = vec![Some(root)];
        for step in &self.steps {
            let below = |value: Option<&'v Value>| -> Vec<Option<&'v Value>> {
                match (step, value) {
                    (Step::Each, Some(Value::Array(items))) => items.iter().map(Some).collect(),
                    (Step::Key(key), Some(Value::Object(map))) => vec![map.get(key)],
                    (Step::Index(at), Some(Value::Array(items))) => vec![items.get(*at)],
                    _ => vec![None],
                }
            };
            found = found.into_iter().flat_map(below).collect();
        }
        found
    }
}

/// A step after its opening bracket, and the text behind it.
fn bracket(inner: &str) -> Option<(Step, &str)> {
    if inner.starts_with('"') {
        let end = closing_quote(inner)?;
        let (quoted, rest) = inner.split_at(end + 1);
        let node = syntax::parse(quoted, &mut Vec::new()).ok()?;
        return Some((Step::Key(node.string()?.to_owned()), rest.strip_prefix(']')?));
    }
    let (index, rest) = inner.split_once(']')?;
    let step = match index {
        "*" => Step::Each,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Step::Index(digits.parse().ok()?),
        _ => return None,
    };
    Some((step, rest))
}

/// The place of the quote that ends a JSON string.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

impl fmt::Display for ArgPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A place as messages show it: `steps[0].order`.
pub(super) fn shown(place: &[Step]) -> String {
    let mut text = String::new();
    for (at, step) in place.iter().enumerate() {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Each => text.push_str("[*]"),
            Step::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"']) => {
                text.push_str(&format!("[{}]", Value::from(key.as_str())));
            }
            Step::Key(key) => {
                text.push_str(if at == 0 { "" } else { "." });
                text.push_str(key);
            }
        }
    }
    text
}
