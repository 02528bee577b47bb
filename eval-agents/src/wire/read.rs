//! Reading objects whose keys have either spelling.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use eval_core::format::__private::Piece;
use eval_core::format::problem::{ProblemCode, line_column};
use eval_core::format::{Map, Value};
use eval_support::spelling::is_misspelling;

pub(super) use eval_support::key_case::{camel, snake};

pub(crate) type Misread = String;

/// Reads a JSON text. As in files, a repeated key in an object is an error.
pub(crate) fn parse(text: &str) -> Result<Value, Misread> {
    Value::parse(text).map_err(|problems| {
        let is_json = problems.iter().all(|problem| problem.code == ProblemCode::DuplicateKey);
        match problems.iter().next() {
            Some(first) if is_json => format!("{}: its first value would be lost", first.message),
            Some(first) if first.code == ProblemCode::TooDeep => first.message.clone(),
            Some(first) => {
                let (line, column) = line_column(text, first.range.start);
                format!("not JSON (line {line}, column {column}: {})", first.message)
            }
            None => "not JSON".to_owned(),
        }
    })
}

/// The fields of an object that is being read, by their names in `snake_case`.
pub(crate) struct Reader {
    fields: Map,
    path: String,
    asked: Vec<&'static str>,
    /// The paths of keys that nothing reads, here and in the objects inside.
    unread: Rc<RefCell<Vec<String>>>,
}

impl Reader {
    /// The fields of a value. `path` is its name in messages. A key in two spellings is an error, as in
    /// files, unless both values are equal or the one in `snake_case` is `null`.
    pub(crate) fn new(value: Value, path: impl Into<String>) -> Result<Self, Misread> {
        Self::sharing(value, path.into(), Rc::default())
    }

    fn sharing(value: Value, path: String, unread: Rc<RefCell<Vec<String>>>) -> Result<Self, Misread> {
        let Value::Object(map) = value else { return Err(misread(&path, "an object", &value)) };
        let mut fields: Vec<(String, Value)> = Vec::with_capacity(map.len());
        let mut places: HashMap<String, (usize, String)> = HashMap::with_capacity(map.len());
        for (key, value) in map {
            let name = snake(&key);
            if key != name && key != camel(&name) {
                // It is neither spelling of that name.
                fields.push((key, value));
                continue;
            }
            let Some((at, first)) = places.get(&name) else {
                places.insert(name.clone(), (fields.len(), key));
                fields.push((name, value));
                continue;
            };
            let known = &mut fields[*at].1;
            let (of_camel, of_snake) = if key == name { (&*known, &value) } else { (&value, &*known) };
            if of_camel != of_snake && !of_snake.is_null() {
                return Err(two_spellings(&path, first, &key));
            }
            if key != name {
                *known = value;
            }
        }
        Ok(Self { fields: fields.into_iter().collect(), path, asked: Vec::new(), unread })
    }

    pub(crate) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// A field. `None` if it is missing or `null`.
    pub(crate) fn value(&mut self, key: &'static str) -> Option<Value> {
        self.raw(key).filter(|value| !value.is_null())
    }

    pub(crate) fn raw(&mut self, key: &'static str) -> Option<Value> {
        self.asked.push(key);
        self.fields.remove(key)
    }

    pub(crate) fn put_back(&mut self, key: &str, value: Value) {
        self.fields.insert(key, value);
    }

    fn taken<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        take: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Result<Option<T>, Misread> {
        let Some(value) = self.value(key) else { return Ok(None) };
        take(value).map(Some).map_err(|value| misread(&self.path(key), expected, &value))
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<String>, Misread> {
        self.taken(key, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, Misread> {
        self.taken(key, "true or false", |value| value.as_bool().ok_or(value))
    }

    pub(crate) fn int(&mut self, key: &'static str) -> Result<Option<i64>, Misread> {
        self.taken(key, "an integer", |value| value.as_i64().ok_or(value))
    }

    pub(crate) fn number(&mut self, key: &'static str) -> Result<Option<f64>, Misread> {
        self.taken(key, "a number", |value| value.as_f64().ok_or(value))
    }

    pub(crate) fn map(&mut self, key: &'static str) -> Result<Option<Map>, Misread> {
        self.taken(key, "an object", |value| match value {
            Value::Object(map) => Ok(map),
            other => Err(other),
        })
    }

    pub(crate) fn list(&mut self, key: &'static str) -> Result<Option<Vec<Value>>, Misread> {
        self.taken(key, "a list", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })
    }

    pub(crate) fn each<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(Reader) -> Result<T, Misread>,
    ) -> Result<Option<Vec<T>>, Misread> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        let path = self.path(key);
        let numbered = items.into_iter().enumerate();
        numbered
            .map(|(at, item)| read(Self::sharing(item, format!("{path}[{at}]"), Rc::clone(&self.unread))?))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    pub(crate) fn object<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Reader) -> Result<T, Misread>,
    ) -> Result<Option<T>, Misread> {
        match self.value(key) {
            Some(value) => read(Self::sharing(value, self.path(key), Rc::clone(&self.unread))?).map(Some),
            None => Ok(None),
        }
    }

    /// Ends reading. A remaining key that looks like a known one is an error. `known` are not read on purpose.
    pub(crate) fn end(&self, known: &[&str]) -> Result<(), Misread> {
        for (key, value) in &self.fields {
            let name = snake(key);
            if value.is_null() || known.contains(&&*name) && (key == name || *key == camel(&name)) {
                continue;
            }
            let read = self.asked.iter().chain(known);
            if let Some(meant) = read.copied().find(|asked| is_meant(&name, asked)) {
                return Err(format!(
                    "`{}` has the key `{key}`, which nothing reads; is `{}` meant?",
                    self.path,
                    camel(meant)
                ));
            }
            self.unread.borrow_mut().push(format!("{}.{key}", self.path));
        }
        Ok(())
    }

    /// The remaining fields of a piece of a message, in the spelling of ADK's files.
    pub(crate) fn rest_of(self, piece: Piece) -> Result<Map, Misread> {
        for key in self.fields.keys() {
            if let Some(help) = piece.instead_of(key) {
                return Err(format!("`{}` has the key `{key}`, which nothing reads; {help}", self.path));
            }
        }
        self.end(&piece.keys().collect::<Vec<_>>())?;
        self.rest()
    }

    /// The remaining fields, in the spelling of ADK's files. Fields that are `null` are left out.
    pub(crate) fn rest(self) -> Result<Map, Misread> {
        let mut rest = Map::new();
        for (key, value) in self.fields.into_iter().filter(|(_, value)| !value.is_null()) {
            if key == "part_metadata" {
                rest.insert(key, value);
                continue;
            }
            if let Some([first, second]) = in_two_spellings(&value) {
                return Err(two_spellings(&format!("{}.{key}", self.path), first, second));
            }
            rest.insert(key, respelled(value, snake));
        }
        Ok(rest)
    }

    pub(crate) fn unread(&self) -> Rc<RefCell<Vec<String>>> {
        Rc::clone(&self.unread)
    }

    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        self.fields.keys()
    }
}

fn is_meant(key: &str, asked: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    is_misspelling(key, asked) || letters(key) == letters(asked)
}

fn misread(path: &str, expected: &str, found: &Value) -> Misread {
    format!("`{path}` should be {expected} and is {}", found.kind())
}

fn two_spellings(path: &str, first: &str, second: &str) -> Misread {
    format!("`{path}` has `{first}` and `{second}`, which are one key in two spellings; leave one out")
}

/// Objects whose keys belong to tools and users, not to ADK.
const FREE: [&str; 7] = [
    "args",
    "response",
    "part_metadata",
    "parameters",
    "parameters_json_schema",
    "response_json_schema",
    "custom_metadata",
];

pub(super) fn respelled(value: Value, spell: fn(&str) -> String) -> Value {
    match value {
        Value::Object(map) => {
            let respelled = map.into_iter().map(|(key, value)| {
                let is_free = FREE.contains(&snake(&key).as_str());
                (spell(&key), if is_free { value } else { respelled(value, spell) })
            });
            Value::Object(respelled.collect())
        }
        Value::Array(items) => items.into_iter().map(|item| respelled(item, spell)).collect(),
        other => other,
    }
}

/// Two spellings of one of ADK's own keys in the same object, at any depth of the value.
fn in_two_spellings(value: &Value) -> Option<[&str; 2]> {
    match value {
        Value::Array(items) => items.iter().find_map(in_two_spellings),
        Value::Object(map) => {
            let mut names: HashMap<String, &str> = HashMap::new();
            map.iter().find_map(|(key, value)| {
                let name = snake(key);
                let inside = if FREE.contains(&name.as_str()) { None } else { in_two_spellings(value) };
                inside.or_else(|| names.insert(name, key).map(|first| [first, key]))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Reader, Misread> {
        Reader::new(parse(text)?, "event")
    }

    #[test]
    fn a_key_in_two_spellings_has_one_value_or_is_an_error() {
        for (text, expected) in [
            (r#"{"errorCode": "429", "error_code": null}"#, Some("429")),
            (r#"{"error_code": null, "errorCode": "429"}"#, Some("429")),
            (r#"{"error_code": "429", "errorCode": "429"}"#, Some("429")),
            (r#"{"errorCode": null, "error_code": "429"}"#, None),
            (r#"{"errorCode": "429", "error_code": "500"}"#, None),
        ] {
            let code = read(text).and_then(|mut reader| reader.text("error_code"));
            match (code, expected) {
                (Ok(code), expected @ Some(_)) => assert_eq!(code.as_deref(), expected, "{text}"),
                (Err(why), None) => assert!(why.contains("one key in two spellings"), "{why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_no_fault_of_the_json() {
        let why = parse(r#"{"type": "text", "text": "a", "text": "b"}"#).unwrap_err();
        assert_eq!(why, "key `text` is repeated in one object: its first value would be lost");
        assert!(parse("hi").unwrap_err().starts_with("not JSON"));
    }

    #[test]
    fn a_key_near_one_that_is_read_is_an_error_and_another_one_is_noted() {
        for (key, meant) in
            [("Text", "text"), ("TEXT", "text"), ("error-code", "errorCode"), ("autor", "author")]
        {
            let mut reader = read(&format!(r#"{{"{key}": "x"}}"#)).unwrap();
            for asked in ["text", "error_code", "author"] {
                assert_eq!(reader.text(asked), Ok(None));
            }
            let expected = format!("`event` has the key `{key}`, which nothing reads; is `{meant}` meant?");
            assert_eq!(reader.end(&[]), Err(expected));
        }
        let reader = read(r#"{"mood": 1, "turnComplete": true, "old": null}"#).unwrap();
        assert_eq!(reader.end(&["turn_complete"]), Ok(()));
        assert_eq!(*reader.unread().borrow(), ["event.mood"]);
    }

    #[test]
    fn keys_of_tools_stay_as_they_are() {
        let sent =
            Value::parse(r#"{"toolCall": {"toolType": "X", "args": {"cityName": {"zipCode": 1}}}}"#).unwrap();
        let read = Value::parse(r#"{"tool_call": {"tool_type": "X", "args": {"cityName": {"zipCode": 1}}}}"#)
            .unwrap();
        assert_eq!(respelled(sent.clone(), snake), read);
        assert_eq!(respelled(read, camel), sent);
    }
}
