//! The prompts and the tools of all cases of a set: `shared.json` in the folder of its recordings.
//!
//! Cases name them by a hash, so a prompt that is edited is one change in a review, and not one for each call. A person may
//! add rules for all cases, and answers to calls that no case has recorded.

use std::collections::BTreeMap;

use eval_format::__private::parse_value;
use eval_format::{Map, Value};

use super::{keys, layout, lines};
use crate::canonical::{Masks, hash};

/// The version of the files, and its key.
pub(super) const VERSION: i64 = 1;
pub(super) const VERSION_KEY: &str = "model_recordings";

/// The key of the rule that one run is enough, and its values.
const RUNS: &str = "models_runs";
const ONE_RUN: &str = "one";
const EACH_RUN: &str = "each";
/// The key of the answers that a person made.
pub(super) const BY_HAND: &str = "by_hand";

const MASK: &str = "models_mask";
const KEYS: [&str; 5] = [VERSION_KEY, MASK, RUNS, BY_HAND, "parts"];

/// Prompts and tools by their names, and the user's own rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// Rules for words that change with each run, such as dates. They are written by hand.
    pub masks: Masks,
    /// Whether all runs of a case replay the answers of its first run.
    pub is_one_run: bool,
    parts: BTreeMap<String, Value>,
    /// The answers that a person made, as they are written.
    by_hand: Vec<Value>,
}

/// The object in the text of a file, which has the version that this build reads. The error is a sentence about it.
pub(super) fn object_of_version(text: &str) -> Result<Map, String> {
    let Value::Object(map) = parse_value(text)? else { return Err("it is no object".to_owned()) };
    match map.get(VERSION_KEY).and_then(Value::as_i64) {
        Some(VERSION) => Ok(map),
        Some(other) => Err(format!("it has version {other}, and this build reads version {VERSION}")),
        None => Err(format!("it has no `{VERSION_KEY}`, which says its version")),
    }
}

impl Shared {
    /// Reads the text of a file. The error is a sentence about it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let map = object_of_version(text)?;
        keys::check(&map, &KEYS).map_err(|why| format!("it {why}"))?;
        let patterns: Vec<&str> = match map.get(MASK) {
            None => Vec::new(),
            Some(Value::Array(items)) if items.iter().all(|item| item.as_str().is_some()) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            Some(_) => return Err("`models_mask` has to be an array of regular expressions".to_owned()),
        };
        let masks = Masks::new(&patterns).map_err(|why| format!("in `models_mask`, {why}"))?;
        let is_one_run = match map.get(RUNS).map(Value::as_str) {
            None | Some(Some(EACH_RUN)) => false,
            Some(Some(ONE_RUN)) => true,
            Some(_) => return Err(format!("`{RUNS}` has to be \"{ONE_RUN}\" or \"{EACH_RUN}\"")),
        };
        let by_hand = match map.get(BY_HAND) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(_) => return Err(format!("`{BY_HAND}` has to be an array of requests with their answers")),
        };
        let parts = map.get("parts").and_then(Value::as_object).into_iter().flat_map(Map::iter);
        let mut shared = Self { masks, is_one_run, by_hand, ..Self::default() };
        for (name, part) in parts {
            let part = lines::join(part);
            let expected = name_of(name.split_once('-').map_or(name, |(kind, _)| kind), &part);
            if expected != name {
                return Err(format!("`{name}` was edited: its text gives the name `{expected}`"));
            }
            shared.parts.insert(name.to_owned(), part);
        }
        Ok(shared)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut map = Map::from([(VERSION_KEY, Value::from(VERSION))]);
        let patterns = self.masks.patterns();
        if !patterns.is_empty() {
            map.insert(MASK, patterns);
        }
        if self.is_one_run {
            map.insert(RUNS, ONE_RUN);
        }
        if !self.by_hand.is_empty() {
            map.insert(BY_HAND, self.by_hand.clone());
        }
        let parts: Map = self.parts.iter().map(|(name, part)| (name.clone(), lines::split(part))).collect();
        map.insert("parts", Value::Object(parts));
        layout::laid_out(&Value::Object(map))
    }

    /// The part of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.parts.get(name)
    }

    /// Adds a part, and returns its name.
    pub(super) fn add(&mut self, kind: &str, part: &Value) -> String {
        let name = name_of(kind, part);
        self.parts.entry(name.clone()).or_insert_with(|| part.clone());
        name
    }

    /// Adds the parts of another one.
    pub(crate) fn merge(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// The requests with answers that a person made, as they are written.
    pub(crate) fn by_hand(&self) -> &[Value] {
        &self.by_hand
    }

    /// Whether an entry that a person made names a part.
    pub(crate) fn is_named_by_hand(&self, part: &str) -> bool {
        self.by_hand.iter().any(|written| written.to_string().contains(part))
    }

    /// The names of all parts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    /// Removes a part.
    pub(crate) fn remove(&mut self, name: &str) {
        self.parts.remove(name);
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn name_of(kind: &str, part: &Value) -> String {
    format!("{kind}-{}", &hash(part.to_string().as_bytes())[..16])
}
