//! YAML whose keys are all known: a key that nothing reads is an error.

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode, Yaml};

/// A document.
pub(super) fn parse(text: &str) -> Result<Yaml<'_>, String> {
    let mut documents = Yaml::load_from_str(text).map_err(|error| format!("{error}:\n{text}"))?;
    let document = documents.pop().ok_or("there is no document")?;
    if documents.is_empty() { Ok(document) } else { Err("there are several documents".to_owned()) }
}

/// The keys of a mapping that were not read yet.
pub(super) struct Keys<'y> {
    place: String,
    left: BTreeMap<String, &'y Yaml<'y>>,
}

impl<'y> Keys<'y> {
    pub(super) fn new(place: &str, yaml: &'y Yaml<'y>) -> Result<Self, String> {
        let mapping = yaml.as_mapping().ok_or_else(|| format!("`{place}` is no mapping"))?;
        let left = mapping.iter().map(|(key, value)| Ok((text(place, key)?, value)));
        Ok(Self { place: place.to_owned(), left: left.collect::<Result<_, String>>()? })
    }

    pub(super) fn take(&mut self, key: &str) -> Option<&'y Yaml<'y>> {
        self.left.remove(key)
    }

    pub(super) fn need(&mut self, key: &str) -> Result<&'y Yaml<'y>, String> {
        self.take(key).ok_or_else(|| format!("`{}` has no `{key}`", self.place))
    }

    /// The mapping below a key. A key that is not there has an empty one.
    pub(super) fn keys(&mut self, key: &str) -> Result<Self, String> {
        let place = format!("{}.{key}", self.place);
        match self.take(key) {
            Some(value) => Self::new(&place, value),
            None => Ok(Self { place, left: BTreeMap::new() }),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        self.take(key).map(|value| text(&format!("{}.{key}", self.place), value)).transpose()
    }

    /// The only value that a key may have here.
    pub(super) fn only(&mut self, key: &str, value: &str) -> Result<(), String> {
        let found = self.text(key)?;
        if found.as_deref() == Some(value) {
            return Ok(());
        }
        Err(format!("`{}.{key}` is {found:?}, and here it is {value:?}", self.place))
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Vec<String>, String> {
        let place = format!("{}.{key}", self.place);
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let list = value.as_sequence().ok_or_else(|| format!("`{place}` is no list"))?;
        list.iter().map(|value| text(&place, value)).collect()
    }

    /// All keys that are left, with their texts.
    pub(super) fn texts(self) -> Result<BTreeMap<String, String>, String> {
        let Self { place, left } = self;
        left.into_iter().map(|(key, value)| Ok((key, text(&place, value)?))).collect()
    }

    /// The mapping must have no other keys.
    pub(super) fn end(self) -> Result<(), String> {
        let keys: Vec<_> = self.left.keys().map(String::as_str).collect();
        if keys.is_empty() { Ok(()) } else { Err(format!("`{}` has `{}`", self.place, keys.join("`, `"))) }
    }

    /// The keys that are left.
    pub(super) fn names(&self) -> Vec<String> {
        self.left.keys().cloned().collect()
    }
}

fn text(place: &str, yaml: &Yaml<'_>) -> Result<String, String> {
    let text = yaml.as_str().map(str::to_owned);
    let text = text.or_else(|| yaml.as_integer().map(|number| number.to_string()));
    text.or_else(|| yaml.as_bool().map(|it| it.to_string())).ok_or_else(|| format!("`{place}` is no text"))
}
