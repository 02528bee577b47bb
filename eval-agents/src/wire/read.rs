//! Reading objects whose keys have either spelling.

use eval_core::format::{Map, Value};

use super::keys::{respelled, snake};

/// Why a value cannot be read: the path to it, and what stands there.
pub(crate) type Misread = String;

/// The fields of an object that is being read, by their names in `snake_case`.
pub(crate) struct Reader {
    fields: Map,
    path: String,
}

impl Reader {
    /// The fields of a value. `path` is what messages call it.
    pub(crate) fn new(value: Value, path: impl Into<String>) -> Result<Self, Misread> {
        let path = path.into();
        match value {
            Value::Object(map) => {
                Ok(Self { fields: map.into_iter().map(|(key, value)| (snake(&key), value)).collect(), path })
            }
            other => Err(misread(&path, "an object", &other)),
        }
    }

    /// What messages call a field.
    pub(crate) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// A field. `None` if it is missing or `null`.
    pub(crate) fn value(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    /// Gives a field back that was taken.
    pub(crate) fn put_back(&mut self, key: &str, value: Value) {
        self.fields.insert(key, value);
    }

    fn taken<T>(
        &mut self,
        key: &str,
        expected: &str,
        take: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Result<Option<T>, Misread> {
        let Some(value) = self.value(key) else { return Ok(None) };
        take(value).map(Some).map_err(|value| misread(&self.path(key), expected, &value))
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, Misread> {
        self.taken(key, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, Misread> {
        self.taken(key, "true or false", |value| value.as_bool().ok_or(value))
    }

    pub(crate) fn int(&mut self, key: &str) -> Result<Option<i64>, Misread> {
        self.taken(key, "an integer", |value| value.as_i64().ok_or(value))
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>, Misread> {
        self.taken(key, "a number", |value| value.as_f64().ok_or(value))
    }

    pub(crate) fn map(&mut self, key: &str) -> Result<Option<Map>, Misread> {
        self.taken(key, "an object", |value| match value {
            Value::Object(map) => Ok(map),
            other => Err(other),
        })
    }

    pub(crate) fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, Misread> {
        self.taken(key, "a list", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })
    }

    /// The objects of a list, each read by `read`.
    pub(crate) fn each<T>(
        &mut self,
        key: &str,
        read: impl Fn(Reader) -> Result<T, Misread>,
    ) -> Result<Option<Vec<T>>, Misread> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        let path = self.path(key);
        let numbered = items.into_iter().enumerate();
        numbered
            .map(|(at, item)| read(Self::new(item, format!("{path}[{at}]"))?))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// An object, read by `read`.
    pub(crate) fn object<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Reader) -> Result<T, Misread>,
    ) -> Result<Option<T>, Misread> {
        match self.value(key) {
            Some(value) => read(Self::new(value, self.path(key))?).map(Some),
            None => Ok(None),
        }
    }

    /// The fields that were not taken, in ADK's spelling of files. Those that are `null` are left out.
    pub(crate) fn rest(self) -> Map {
        let free = |key: &str| key == "part_metadata";
        let rest = self.fields.into_iter().filter(|(_, value)| !value.is_null());
        rest.map(|(key, value)| if free(&key) { (key, value) } else { (key, respelled(value, snake)) })
            .collect()
    }

    /// The names of the fields that were not taken.
    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        self.fields.keys()
    }
}

fn misread(path: &str, expected: &str, found: &Value) -> Misread {
    format!("`{path}` should be {expected} and is {}", found.kind())
}
