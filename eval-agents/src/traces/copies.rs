//! Shared copies of texts that many spans repeat: names, and the messages of histories.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use eval_core::format::Value;

use super::history::hash;
use super::message::Response;

/// One shared copy of each text and tool result. Results are held weakly, so finished conversations drop them.
#[derive(Debug, Default)]
pub(super) struct Copies {
    texts: HashSet<Arc<str>>,
    values: HashMap<u64, Weak<Value>>,
    responses: HashMap<u64, Weak<Response>>,
}

impl Copies {
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }

    pub(super) fn response(&mut self, response: &Arc<Response>) -> Arc<Response> {
        let value = self.value(Arc::clone(&response.value));
        // Equal values share one address.
        let place = hash((&response.id, &response.name, Arc::as_ptr(&value).addr()));
        let one = || Arc::new(Response { id: response.id.clone(), name: response.name.clone(), value });
        only(&mut self.responses, place, |known| known == &**response, one)
    }

    pub(super) fn value(&mut self, value: Arc<Value>) -> Arc<Value> {
        let same = Arc::clone(&value);
        only(&mut self.values, hash(value.to_string()), |known| *known == *same, || value)
    }
}

/// The stored copy with this hash that `is_same` accepts, else a new one. If another value has that hash, the next free
/// number is used.
fn only<T>(
    copies: &mut HashMap<u64, Weak<T>>,
    mut hash: u64,
    is_same: impl Fn(&T) -> bool,
    new: impl FnOnce() -> Arc<T>,
) -> Arc<T> {
    loop {
        let place = copies.entry(hash).or_default();
        match place.upgrade() {
            Some(known) if is_same(&known) => return known,
            Some(_) => hash = hash.wrapping_add(1),
            None => {
                let new = new();
                *place = Arc::downgrade(&new);
                return new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_kept_once_even_where_hashes_are_equal() {
        let mut by_hash = HashMap::new();
        let mut only = |text: &'static str| {
            only(&mut by_hash, 7, |known: &String| known == text, || Arc::new(text.to_owned()))
        };
        let (one, two, three) = (only("one"), only("two"), only("three"));
        assert!(
            Arc::ptr_eq(&one, &only("one"))
                && Arc::ptr_eq(&two, &only("two"))
                && Arc::ptr_eq(&three, &only("three"))
        );
        assert_eq!((one.as_str(), two.as_str(), three.as_str()), ("one", "two", "three"));
        // A place that is free is taken again.
        drop(one);
        let four = only("four");
        assert!(Arc::ptr_eq(&four, &only("four")) && Arc::ptr_eq(&two, &only("two")));
        let mut copies = Copies::default();
        assert!(Arc::ptr_eq(&copies.text("Paris?"), &copies.text("Paris?")));
        let value = |copies: &mut Copies, text: &str| copies.value(Arc::new(Value::from(text)));
        let first = value(&mut copies, "sunny");
        assert!(
            Arc::ptr_eq(&first, &value(&mut copies, "sunny"))
                && !Arc::ptr_eq(&first, &value(&mut copies, "rainy"))
        );
    }
}
