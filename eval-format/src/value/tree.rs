//! Values and the entries of objects.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use super::number::Number;

/// A JSON value of a free-form field: tool arguments, tool responses, session state, unknown keys.
///
/// ```
/// use eval_format::Value;
/// use serde_json::json;
///
/// let args = Value::from(json!({ "city": "Paris", "days": 3 }));
/// assert_eq!(args["city"].as_str(), Some("Paris"));
/// assert_eq!(args.to_string(), r#"{"city":"Paris","days":3}"#);
/// assert_eq!(serde_json::Value::from(args), json!({ "city": "Paris", "days": 3 }));
/// assert_eq!(Value::from(vec![Some(1), None]), json!([1, null]));
/// ```
///
/// Functions take values as `impl Into<Value>`, so values of `serde_json` can be passed as they are.
/// [`parse`](Value::parse) reads arguments that a model wrote as text.
///
/// Unlike [`serde_json::Value`] without features that would leak into every user of it, it keeps the facts
/// that Python's parser keeps: objects keep the order of the file, integers of any size stay exact, `1` and
/// `1.0` stay apart, and `NaN` and the infinities are values. `Display` writes compact JSON, `{:#}` JSON
/// indented by two as ADK saves its files, both with `null` for the numbers JSON has no text for.
///
/// `==` is structural: numbers are equal when they are of the same kind and value, objects when
/// they hold the same entries in any order. ADK's metrics compare differently (Python's `==`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any size or a float.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object, in the order of the file.
    Object(Map),
}

impl Value {
    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The number as a float. A large integer is rounded to the nearest float.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// The number as an integer, if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if this is an object.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The kind of this JSON value, as messages name it: `an object`, `a string`, ...
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

static NULL: Value = Value::Null;

impl std::ops::Index<&str> for Value {
    type Output = Value;

    /// The entry of that name; `null` if this is not an object or has no such entry.
    fn index(&self, key: &str) -> &Value {
        self.as_object().and_then(|map| map.get(key)).unwrap_or(&NULL)
    }
}

impl std::ops::Index<usize> for Value {
    type Output = Value;

    /// The element at that position; `null` if this is not an array or is shorter.
    fn index(&self, index: usize) -> &Value {
        self.as_array().and_then(|items| items.get(index)).unwrap_or(&NULL)
    }
}

/// The entries of a JSON object, in the order of the file.
///
/// ```
/// use eval_format::Map;
///
/// let mut state = Map::new();
/// state.insert("city", "Paris");
/// assert_eq!(state.get("city").and_then(|v| v.as_str()), Some("Paris"));
/// assert!(state.get("country").is_none());
/// for (key, value) in &state {
///     println!("{key}: {value}");
/// }
/// ```
///
/// Keys are unique: inserting one again replaces its value and keeps its place, as a Python `dict`
/// does. Look-ups scan, which is the fastest thing for the handful of keys that tool arguments have;
/// collecting, extending and comparing use an index if the objects are large.
#[derive(Clone, Default)]
pub struct Map {
    entries: Vec<(String, Value)>,
}

impl Map {
    /// An empty object.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Takes entries with keys that the caller knows to be unique, as in the syntax tree.
    pub(crate) fn from_unique(entries: Vec<(String, Value)>) -> Self {
        Self { entries }
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether the key is there, whatever its value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a key and returns its old value.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.put(key.into(), value.into())
    }

    fn put(&mut self, key: String, value: Value) -> Option<Value> {
        if let Some((_, old)) = self.entries.iter_mut().find(|(name, _)| *name == key) {
            return Some(std::mem::replace(old, value));
        }
        self.entries.push((key, value));
        None
    }

    /// Takes a key out, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(at).1)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> Entries<'_> {
        Entries(self.entries.iter())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The values in order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }
}

impl std::ops::Index<&str> for Map {
    type Output = Value;

    /// The value under a key; `null` if there is none, as in a [`Value`].
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }
}

/// With more entries than this, operations on whole objects use an index instead of scans.
const SCAN_LIMIT: usize = 16;

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.matches(other, |a, b| a == b)
    }
}

impl Map {
    /// Whether `other` has the key of every entry here, with a value that `same` accepts.
    ///
    /// Linear in the entries, so that a hostile object of a million keys does not stall a comparison.
    pub fn matches(&self, other: &Self, same: impl Fn(&Value, &Value) -> bool) -> bool {
        let theirs = other.index();
        self.iter().all(|(key, value)| theirs.get(key).is_some_and(|theirs| same(value, theirs)))
    }

    /// The entries for many look-ups.
    pub(crate) fn index(&self) -> Index<'_> {
        let large = (self.len() > SCAN_LIMIT).then(|| self.iter().collect());
        Index { map: self, large }
    }
}

/// The entries of an object for many look-ups, which take the same time however large it is.
pub(crate) struct Index<'m> {
    map: &'m Map,
    large: Option<HashMap<&'m str, &'m Value>>,
}

impl<'m> Index<'m> {
    pub(crate) fn get(&self, key: &str) -> Option<&'m Value> {
        match &self.large {
            Some(entries) => entries.get(key).copied(),
            None => self.map.get(key),
        }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<String>, V: Into<Value>> Extend<(K, V)> for Map {
    /// Inserts the entries one after the other.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        // An index of all entries pays off only if there are many.
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, value) in entries {
            let (key, value) = (key.into(), value.into());
            if self.len() <= SCAN_LIMIT {
                self.put(key, value);
                continue;
            }
            if places.is_empty() {
                places.extend(self.entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)));
            }
            match places.entry(key) {
                Entry::Occupied(place) => self.entries[*place.get()].1 = value,
                Entry::Vacant(place) => {
                    self.entries.push((place.key().clone(), value));
                    place.insert(self.entries.len() - 1);
                }
            }
        }
    }
}

/// The entries of a [`Map`], in order.
#[derive(Clone, Debug)]
pub struct Entries<'a>(std::slice::Iter<'a, (String, Value)>);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key.as_str(), value))
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a str, &'a Value);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserting_again_keeps_the_place() {
        let mut map = Map::from([("a", 1), ("b", 2)].map(|(k, n)| (k, i64::from(n))));
        assert_eq!(map.insert("a", 3_i64), Some(Value::from(1_i64)));
        assert_eq!(Value::from(map).to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn a_map_is_iterated_borrowed_and_owned() {
        let map = Map::from([("a", 1), ("b", 2)]);
        let mut seen = Vec::new();
        for (key, value) in &map {
            seen.push(format!("{key}={value}"));
        }
        assert_eq!(seen, ["a=1", "b=2"]);
        assert_eq!(map.iter().rev().map(|(key, _)| key).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(map.values().filter_map(Value::as_i64).sum::<i64>(), 3);
        assert_eq!((map["b"].as_i64(), map["c"].is_null(), map.iter().len()), (Some(2), true, 2));
        assert_eq!(map.into_iter().map(|(key, _)| key).collect::<String>(), "ab");
    }

    #[test]
    fn collecting_inserts_one_after_the_other_at_any_size() {
        for n in [3_i64, 15, 16, 17, 40] {
            let twice = (0..n).chain(0..n).map(|i| (format!("k{}", i % n), Value::from(i + 1)));
            let mut one_by_one = Map::new();
            for (key, value) in twice.clone().chain([("k1".to_owned(), Value::from(-1_i64))]) {
                one_by_one.insert(key, value);
            }
            let mut collected: Map = twice.collect();
            collected.extend([("k1", -1_i64)]);
            assert_eq!(Value::from(collected).to_string(), Value::from(one_by_one).to_string(), "{n}");
        }
    }

    #[test]
    fn order_does_not_matter_for_equality_at_any_size() {
        for n in [3_i64, 40] {
            let forward: Map = (0..n).map(|i| (i.to_string(), i)).collect();
            let backward: Map = (0..n).rev().map(|i| (i.to_string(), i)).collect();
            assert_eq!(forward, backward);
            let mut other = backward.clone();
            other.insert("0", "x");
            assert_ne!(forward, other);
        }
    }
}
