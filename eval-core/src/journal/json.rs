//! Values of Rust to JSON and back, without loss: what is read again is what was written.
//!
//! `serde_json` has no text for `NaN` and no place for integers of any size; scores depend on both. So lines are
//! written as Python's `json` writes them and read by eval-format's own reader.

use std::time::Duration;

use eval_format::{Map, Number, Value};

use super::line::Line;
use super::text::write_text;

/// Why a record cannot be read.
pub(super) type Misread = String;

/// What can stand in a record.
pub(super) trait Json: Sized {
    fn write(&self, out: &mut Line);
    fn read(value: Value) -> Result<Self, Misread>;

    /// What a field is that is not there; none where it must be there.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether a field is left out: it is what [`absent`](Self::absent) makes.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Writes and reads a struct field by field, under the fields' names.
macro_rules! fields {
    ($kind:ty { $($field:ident),* $(,)? }) => {
        impl $crate::journal::json::Json for $kind {
            fn write(&self, out: &mut $crate::journal::line::Line) {
                let mut object = $crate::journal::json::Object::open(out);
                $(object.field(concat!(",\"", stringify!($field), "\":"), &self.$field);)*
                object.close();
            }

            fn read(value: ::eval_format::Value) -> Result<Self, $crate::journal::json::Misread> {
                let mut fields = $crate::journal::json::Fields::of(value)?;
                Ok(Self { $($field: fields.take(stringify!($field))?,)* })
            }
        }
    };
}
pub(super) use fields;

/// Writes and reads an enum without data as words.
macro_rules! words {
    ($kind:ty { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $crate::journal::json::Json for $kind {
            fn write(&self, out: &mut $crate::journal::line::Line) {
                let word = match self { $(Self::$variant => $word,)* };
                $crate::journal::text::write_text(word, out);
            }

            fn read(value: ::eval_format::Value) -> Result<Self, $crate::journal::json::Misread> {
                match value.as_str() {
                    $(Some($word) => Ok(Self::$variant),)*
                    _ => Err($crate::journal::json::misread(concat!("one of", $(" `", $word, "`"),*), &value)),
                }
            }
        }
    };
}
pub(super) use words;

/// An object on its way into a line.
pub(super) struct Object<'a> {
    out: &'a mut Line,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn open(out: &'a mut Line) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Adds a field, unless it holds what its absence means. See [`key`](Self::key) for its name.
    pub(super) fn field<T: Json>(&mut self, key: &str, value: &T) {
        if !value.is_absent() {
            value.write(self.key(key));
        }
    }

    /// Adds a list, unless it is empty.
    pub(super) fn list<T: Json>(&mut self, key: &str, items: &[T]) {
        if !items.is_empty() {
            write_list(items, self.key(key), T::write);
        }
    }

    /// Adds a text.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        write_text(text, self.key(key));
    }

    /// Begins a field; its value follows. The key is as it stands behind another field, `,"name":`, so that it is
    /// copied in one piece.
    pub(super) fn key(&mut self, key: &str) -> &mut Line {
        let key = if self.is_empty { &key[1..] } else { key };
        self.is_empty = false;
        self.out.add(key.as_bytes());
        self.out
    }

    /// Begins an entry under any key.
    fn any_key(&mut self, key: &str) -> &mut Line {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        write_text(key, self.out);
        self.out.push(b':');
        self.out
    }

    /// Adds a text under any key.
    pub(super) fn entry(&mut self, key: &str, text: &str) {
        write_text(text, self.any_key(key));
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }
}

/// The fields of an object that is being read. Those that nobody takes are of a later version, and no error.
pub(super) struct Fields(Map);

impl Fields {
    pub(super) fn of(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            other => Err(misread("an object", &other)),
        }
    }

    pub(super) fn take<T: Json>(&mut self, name: &str) -> Result<T, Misread> {
        match self.0.remove(name) {
            Some(value) => T::read(value).map_err(|why| format!("{name}: {why}")),
            None => T::absent().ok_or_else(|| format!("{name} is missing")),
        }
    }
}

pub(super) fn misread(expected: &str, found: &Value) -> Misread {
    format!("{} stands where {expected} should", found.kind())
}

/// Values nested deeper than this become a remark: the reader takes about 200 levels, of which a record needs a few.
const DEEPEST: usize = 180;

fn write_value(value: &Value, depth: usize, out: &mut Line) {
    match value {
        Value::Null => out.add(b"null"),
        Value::Bool(flag) => flag.write(out),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            write_text("(nested too deep to be recorded)", out);
        }
        Value::Array(items) => write_list(items, out, |item, out| write_value(item, depth + 1, out)),
        Value::Object(map) => write_map(map, depth, out),
    }
}

fn write_map(map: &Map, depth: usize, out: &mut Line) {
    let mut object = Object::open(out);
    for (key, item) in map.iter() {
        write_value(item, depth + 1, object.any_key(key));
    }
    object.close();
}

pub(super) fn write_list<T>(items: &[T], out: &mut Line, write: impl Fn(&T, &mut Line)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn write_number(number: &Number, out: &mut Line) {
    match number.as_i64() {
        Some(integer) => write_integer(integer, out),
        None if number.is_integer() => out.add(number.to_string().as_bytes()),
        None => write_float(number.as_f64(), out),
    }
}

/// Digits that read back as the same number, after the usual ones: most scores are 1 or 0.
fn write_float(float: f64, out: &mut Line) {
    let bits = float.to_bits();
    if bits == 1_f64.to_bits() {
        out.add(b"1.0");
    } else if bits == 0 {
        out.add(b"0.0");
    } else if float.is_nan() {
        out.add(b"NaN");
    } else if float.is_infinite() {
        out.add(if float > 0.0 { b"Infinity" } else { b"-Infinity" });
    } else {
        out.add(format!("{float:?}").as_bytes());
    }
}

fn write_integer(integer: i64, out: &mut Line) {
    match u8::try_from(integer) {
        Ok(digit @ 0..10) => out.push(b'0' + digit),
        _ => out.add(integer.to_string().as_bytes()),
    }
}

impl Json for Value {
    fn write(&self, out: &mut Line) {
        write_value(self, 0, out);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        Ok(value)
    }
}

impl Json for Map {
    fn write(&self, out: &mut Line) {
        write_map(self, 0, out);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(misread("an object", &other)),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for String {
    fn write(&self, out: &mut Line) {
        write_text(self, out);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(misread("a string", &other)),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for bool {
    fn write(&self, out: &mut Line) {
        out.add(if *self { b"true" } else { b"false" });
    }

    fn read(value: Value) -> Result<Self, Misread> {
        value.as_bool().ok_or_else(|| misread("a boolean", &value))
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Json for f64 {
    fn write(&self, out: &mut Line) {
        write_float(*self, out);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        value.as_f64().ok_or_else(|| misread("a number", &value))
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {
        $(impl Json for $kind {
            fn write(&self, out: &mut Line) {
                // Larger numbers are none of ours, and would not be read.
                write_integer(i64::try_from(*self).unwrap_or(i64::MAX), out);
            }

            fn read(value: Value) -> Result<Self, Misread> {
                let integer = value.as_i64().and_then(|number| Self::try_from(number).ok());
                integer.ok_or_else(|| misread("an integer in range", &value))
            }

            fn absent() -> Option<Self> {
                Some(0)
            }

            fn is_absent(&self) -> bool {
                *self == 0
            }
        })*
    };
}
integers!(i64, u32, usize);

impl Json for Duration {
    /// Seconds. They are exact to the nanosecond for a hundred days.
    fn write(&self, out: &mut Line) {
        self.as_secs_f64().write(out);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let seconds = f64::read(value)?;
        Ok(Self::try_from_secs_f64(seconds).unwrap_or(if seconds > 0.0 { Self::MAX } else { Self::ZERO }))
    }

    fn absent() -> Option<Self> {
        Some(Self::ZERO)
    }

    fn is_absent(&self) -> bool {
        self.is_zero()
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self, out: &mut Line) {
        match self {
            Some(value) => value.write(out),
            None => out.add(b"null"),
        }
    }

    fn read(value: Value) -> Result<Self, Misread> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, out: &mut Line) {
        write_list(self, out, T::write);
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let Value::Array(items) = value else { return Err(misread("an array", &value)) };
        let numbered = items.into_iter().enumerate();
        numbered.map(|(at, item)| T::read(item).map_err(|why| format!("[{at}]: {why}"))).collect()
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Json> Json for (String, T) {
    /// A pair is an array of two.
    fn write(&self, out: &mut Line) {
        out.push(b'[');
        self.0.write(out);
        out.push(b',');
        self.1.write(out);
        out.push(b']');
    }

    fn read(value: Value) -> Result<Self, Misread> {
        match value {
            Value::Array(items) => match <[Value; 2]>::try_from(items) {
                Ok([first, second]) => Ok((String::read(first)?, T::read(second)?)),
                Err(items) => Err(format!("an array of {} stands where a pair should", items.len())),
            },
            other => Err(misread("a pair", &other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again<T: Json>(value: &T) -> T {
        let mut line = Line::new();
        value.write(&mut line);
        let line = String::from_utf8(line.into_bytes()).unwrap();
        assert!(!line.contains('\n'), "{line}");
        T::read(Value::parse(&line).unwrap()).unwrap()
    }

    #[test]
    fn numbers_that_json_has_no_text_for_come_back() {
        for number in [f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 1e300, 0.1] {
            assert_eq!(again(&number).to_bits(), number.to_bits());
            assert_eq!(again(&Value::from(number)), Value::from(number), "an integer stays one, a float too");
        }
        assert!(again(&f64::NAN).is_nan());
        let big = Number::parse("-1000000000000000000000000").unwrap();
        assert_eq!(again(&Value::Number(big.clone())), Value::Number(big));
    }

    #[test]
    fn any_string_stays_on_its_line() {
        let long = "a text that is longer than sixteen bytes ";
        for text in [
            "",
            long,
            &format!("{long}\n{long}\"{long}é{long}\u{1}"),
            "q\"b\\s/",
            "\u{0}\u{8}\r\n\t\u{1f}\u{7f}",
            "é\u{2028}🎉",
        ] {
            assert_eq!(again(&text.to_owned()), text);
        }
    }

    #[test]
    fn times_come_back_to_the_nanosecond() {
        for nanos in [1, 999_999_999, 1_234_567_891, 86_400_000_000_007] {
            let time = Duration::from_nanos(nanos);
            assert_eq!(again(&time), time);
        }
        assert_eq!(again(&Duration::MAX), Duration::MAX);
    }

    #[test]
    fn a_record_is_readable_however_deep_its_values_are() {
        let deep = |levels| (0..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
        assert_eq!(again(&deep(DEEPEST)), deep(DEEPEST));
        let cut = again(&deep(1000));
        assert!(cut.to_string().contains("nested too deep"));
    }

    #[test]
    fn a_misread_field_is_named() {
        let value = Value::parse(r#"{"a": [1, "x"]}"#).unwrap();
        let mut fields = Fields::of(value).unwrap();
        let why = fields.take::<Vec<u32>>("a").unwrap_err();
        assert_eq!(why, "a: [1]: a string stands where an integer in range should");
        assert_eq!(fields.take::<f64>("b").unwrap_err(), "b is missing");
    }
}
