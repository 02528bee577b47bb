//! Test names from eval ids, and lists of tests in a test binary.
//!
//! The attribute puts a text for each set into the binary: the names of its tests. A test process reads the texts from
//! its own binary, since the journal of a killed run lacks the tests that never began.

use std::collections::HashMap;

use eval_support::hash::content_hash;
use unicode_ident::{is_xid_continue, is_xid_start};
use unicode_normalization::UnicodeNormalization;

/// The beginning of the text of a set. After it come `run` or `ignored`, a blank, the path of the module and a
/// line break, then a test on each line.
pub const LISTING_BEGIN: &str = "\n#evalset-tests-1 ";
/// The end of the text of a set.
pub const LISTING_END: &str = "#evalset-tests-end\n";

/// The longest name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The keywords of all editions, which cannot be names.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// The test that every module made from a directory has.
const IS_CURRENT: &str = "is_current";

/// The names of the tests for these eval ids, in the order of the ids.
///
/// ```
/// use eval_format::__private::test_names;
///
/// let names = test_names(["Sunny in Paris", "2nd try", "天気", "type", "a-b", "a b"]);
/// assert_eq!(names[..4], ["Sunny_in_Paris", "case_2nd_try", "天気", "type_"]);
/// assert_eq!(names[4..], ["a_b_e27efb9a", "a_b_e2bca18b"]);
/// ```
///
/// A name is made from its id alone. Characters of identifiers stay as they are, in Unicode's composed form.
/// Every run of other characters becomes one `_`, which is removed at the ends. A name that does not begin
/// with a letter gets the prefix `case_`. A keyword (or `is_current`, which every directory of sets has as a
/// test) gets the suffix `_`. Names of ids without any usable character, and names of more than 80
/// characters, end in a hash of the id.
///
/// Ids that would get the same name get a hash each, and so does an id that is spelt like one of
/// these hashed names. The order of the ids does not matter. A new id renames another one only if
/// both would get the same name. Distinct ids get distinct names. Equal ids, which no valid set
/// has, get equal names. No name begins with `_`.
pub fn test_names<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    let order: Vec<usize> = ids
        .into_iter()
        .map(|id| {
            *places.entry(id).or_insert_with(|| {
                candidates.push(Candidate::new(id));
                candidates.len() - 1
            })
        })
        .collect();
    part(&mut candidates);
    let names: Vec<String> = candidates.iter().map(Candidate::name).collect();
    order.into_iter().map(|at| names[at].clone()).collect()
}

/// Lengthens the names of candidates that collide until none do.
///
/// A name stays taken even when its ids have moved on to longer names. That makes the result independent of
/// the order, and the work linear: each id takes at most three names.
fn part(candidates: &mut [Candidate<'_>]) {
    let mut taken: HashMap<String, usize> = HashMap::with_capacity(candidates.len());
    let mut open: Vec<usize> = (0..candidates.len()).collect();
    while let Some(at) = open.pop() {
        let name = candidates[at].name();
        let Some(&first) = taken.get(&name) else {
            taken.insert(name, at);
            continue;
        };
        if candidates[first].name() == name && candidates[first].lengthen() {
            open.push(first);
        }
        if candidates[at].lengthen() {
            open.push(at);
        }
    }
}

/// The name of the module for a file, from its stem, by the rule of [`test_names`].
///
/// ```
/// assert_eq!(eval_format::__private::module_name("weather-v2"), "weather_v2");
/// ```
///
/// Files of one folder whose names may collide are named together, by [`test_names`].
pub fn module_name(stem: &str) -> String {
    Candidate::new(stem).name()
}

#[derive(Clone, Copy, PartialEq)]
enum Suffix {
    None,
    Half,
    Whole,
}

struct Candidate<'a> {
    id: &'a str,
    stem: String,
    suffix: Suffix,
}

impl<'a> Candidate<'a> {
    fn new(id: &'a str) -> Self {
        let (stem, found) = stem(id);
        let suffix =
            if !found || stem.chars().nth(MAX_NAME_CHARS).is_some() { Suffix::Half } else { Suffix::None };
        Self { id, stem, suffix }
    }

    fn name(&self) -> String {
        let hash = content_hash(self.id.as_bytes());
        match self.suffix {
            Suffix::None if self.stem == IS_CURRENT || KEYWORDS.contains(&self.stem.as_str()) => {
                format!("{}_", self.stem)
            }
            Suffix::None => self.stem.clone(),
            // Folded as the authors of FNV advise: neither half alone is mixed well.
            Suffix::Half => self.hashed(&format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))),
            Suffix::Whole => self.hashed(&format!("{hash:016x}")),
        }
    }

    fn hashed(&self, digits: &str) -> String {
        let cut: String = self.stem.chars().take(MAX_NAME_CHARS - 1 - digits.len()).collect();
        format!("{}_{digits}", cut.trim_end_matches('_'))
    }

    /// Takes more of the hash; `false` if all of it is in the name already.
    fn lengthen(&mut self) -> bool {
        let next = match self.suffix {
            Suffix::None => Suffix::Half,
            Suffix::Half => Suffix::Whole,
            Suffix::Whole => return false,
        };
        self.suffix = next;
        true
    }
}

/// The id as an identifier (or a keyword), and whether it has any character of the id.
fn stem(id: &str) -> (String, bool) {
    let mut kept = String::new();
    for c in id.nfc() {
        if is_xid_continue(c) {
            kept.push(c);
        } else if !kept.ends_with('\0') {
            // Marks the run; `\0` is in no identifier, so it cannot be a character that was kept.
            kept.push('\0');
        }
    }
    let kept = kept.replace('\0', "_");
    let stem = kept.trim_matches('_');
    match stem.chars().next() {
        None => ("case".to_owned(), false),
        Some(first) if is_xid_start(first) => (stem.to_owned(), true),
        Some(_) => (format!("case_{stem}"), true),
    }
}

#[cfg(test)]
mod tests;
