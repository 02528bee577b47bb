//! The names of tests.

use std::collections::{HashMap, HashSet};

use eval_format::__private::{module_name, test_names};
use eval_support::hash::content_hash;

/// The longest name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Takes each line of the input as an eval id and checks the rules for the names.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let ids: Vec<&str> = text.split('\n').collect();
    let names = test_names(ids.iter().copied());
    assert_eq!(names.len(), ids.len());
    for name in &names {
        is_a_name(name);
    }
    let distinct: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), distinct.len(), "{ids:?}: {names:?}");
    does_not_depend_on_the_order(&ids, &names);
    stands_apart(&ids, &names);
    for id in ids {
        let module = module_name(id);
        is_a_name(&module);
        assert_eq!(module_name(&module), module);
    }
}

fn is_a_name(name: &str) {
    assert!(syn::parse_str::<syn::Ident>(name).is_ok_and(|ident| ident == name), "{name:?}");
    assert!(!name.starts_with('_') && name != "is_current", "{name:?}");
    assert!(name.chars().count() <= MAX_NAME_CHARS, "{name:?}");
}

fn does_not_depend_on_the_order(ids: &[&str], names: &[String]) {
    let turned: Vec<String> = test_names(ids.iter().rev().copied()).into_iter().rev().collect();
    assert_eq!(turned, names, "{ids:?}");
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let by_id: HashMap<&str, String> =
        sorted.iter().copied().zip(test_names(sorted.iter().copied())).collect();
    assert!(ids.iter().zip(names).all(|(id, name)| by_id[id] == *name), "{ids:?}");
}

/// An id that can share its name with no other keeps its own name, and does not change the names of the others.
fn stands_apart(ids: &[&str], names: &[String]) {
    let Some((first, others)) = ids.split_first() else { return };
    let first = Spelling::of(first);
    if others.iter().map(|id| Spelling::of(id)).any(|other| first.may_meet(&other)) {
        return;
    }
    assert_eq!(names[0], first.name);
    assert_eq!(names[1..], test_names(others.iter().copied()), "{ids:?}");
}

/// The name of an id without others, and the suffixes that it gets if another id has the same name.
struct Spelling {
    name: String,
    hashes: [String; 2],
}

impl Spelling {
    fn of(id: &str) -> Self {
        let hash = content_hash(id.as_bytes());
        let half = (hash >> 32) ^ (hash & 0xffff_ffff);
        Self { name: module_name(id), hashes: [format!("_{half:08x}"), format!("_{hash:016x}")] }
    }

    fn may_meet(&self, other: &Self) -> bool {
        let is_spelt = |name: &str, hashes: &[String; 2]| hashes.iter().any(|hash| name.ends_with(hash));
        self.name == other.name || is_spelt(&self.name, &other.hashes) || is_spelt(&other.name, &self.hashes)
    }
}
