//! Writing values as JSON, without loss.
//!
//! `serde_json` has no text for `NaN` and no place for integers of any size, and scores depend on both. So numbers are
//! written as Python's `json` writes them; eval-format's own reader reads them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eval_format::{Map, Number, Value};

use super::line::Line;

/// What can be written in a record.
pub(super) trait ToJson {
    fn write(&self, out: &mut Line);

    /// Whether a field with this value is left out. A reader takes a missing field for this value.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Writes an array.
pub(super) fn write_list<T>(items: &[T], out: &mut Line, write: impl Fn(&T, &mut Line)) {
    out.push(b'[');
    let mut at = 0;
    while at < items.len() {
        if at > 0 {
            out.push(b',');
        }
        write(&items[at], out);
        at += 1;
    }
    out.push(b']');
}

/// An object that is being written.
pub(super) struct Object<'a> {
    out: &'a mut Line,
    /// Where the object begins. Its brace replaces the comma of the first key.
    begin: usize,
}

impl<'a> Object<'a> {
    pub(super) fn open(out: &'a mut Line) -> Self {
        let begin = out.len();
        Self { out, begin }
    }

    /// Adds a field, unless its value [is absent](ToJson::is_absent). The key is a [`key!`].
    pub(super) fn field<T: ToJson>(&mut self, key: &str, value: &T) {
        if !value.is_absent() {
            value.write(self.key(key));
        }
    }

    /// Adds a list, unless it is empty.
    pub(super) fn list<T: ToJson>(&mut self, key: &str, items: &[T]) {
        if !items.is_empty() {
            write_list(items, self.key(key), T::write);
        }
    }

    /// Adds a text, even if it is empty.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key).text(text);
    }

    /// Adds a text, if there is one.
    pub(super) fn some_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Begins a field; its value follows.
    pub(super) fn key(&mut self, key: &str) -> &mut Line {
        // The comma of a `key!` saves a call per field: it is copied with the name.
        self.out.add(key);
        self.out.replace(self.begin, b'{');
        self.out
    }

    /// Begins a field under any name; its value follows.
    fn any_key(&mut self, key: &str) -> &mut Line {
        self.out.push(b',');
        self.out.replace(self.begin, b'{');
        self.out.text(key);
        self.out.push(b':');
        self.out
    }

    pub(super) fn close(self) {
        if self.out.len() == self.begin {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }
}

/// The reader takes about 200 levels, of which a record needs a few. Values below this level are replaced by a remark.
pub(super) const DEEPEST: usize = 180;

fn write_value(value: &Value, depth: usize, out: &mut Line) {
    match value {
        Value::Null => out.add("null"),
        Value::Bool(flag) => flag.write(out),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => out.text(text),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            out.add("\"(nested too deep to be recorded)\"");
        }
        Value::Array(items) => write_list(items, out, |item, out| write_value(item, depth + 1, out)),
        Value::Object(map) => write_map(map, depth, out),
    }
}

fn write_map(map: &Map, depth: usize, out: &mut Line) {
    let mut object = Object::open(out);
    for (key, item) in map {
        write_value(item, depth + 1, object.any_key(key));
    }
    object.close();
}

fn write_number(number: &Number, out: &mut Line) {
    match number.as_i64() {
        // Most are too short to be a secret.
        Some(integer @ 0..=MOST_DIGIT_BY_DIGIT) => write_integer(integer, out),
        _ if number.is_integer() => out.number(&number.to_string()),
        _ => {
            let mut digits = Line::new();
            write_float(number.as_f64(), &mut digits);
            out.number(&digits.into_text());
        }
    }
}

/// Writes digits that read back as the same number. Most scores are 1 or 0, so those take no formatting.
fn write_float(float: f64, out: &mut Line) {
    let bits = float.to_bits();
    if bits == 1_f64.to_bits() {
        out.add("1.0");
    } else if bits == 0 {
        out.add("0.0");
    } else if float.is_nan() {
        out.add("NaN");
    } else if float.is_infinite() {
        out.add(if float > 0.0 { "Infinity" } else { "-Infinity" });
    } else if let Some(thousandths) = thousandths(float) {
        write_decimal(thousandths / 1000, thousandths % 1000, 100, out);
    } else {
        out.add(&format!("{float:?}"));
    }
}

/// The thousandths of a float that has no more digits than these, as seconds do; `None` if it has, or is not positive.
///
/// What takes fifteen digits is told apart from all other floats by them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is positive, whole and below 10^12"
)]
fn thousandths(float: f64) -> Option<u64> {
    let thousandths = (float * 1000.0).round();
    let is_exact = (thousandths / 1000.0).to_bits() == float.to_bits();
    (float > 0.0 && thousandths < 1e12 && is_exact).then_some(thousandths as u64)
}

/// Writes a number and the digits behind its point, digit by digit: formatting takes longer in builds without optimisation.
/// `unit` is that of the first digit behind the point.
fn write_decimal(whole: u64, mut fraction: u64, mut unit: u64, out: &mut Line) {
    match i64::try_from(whole) {
        Ok(whole) => write_integer(whole, out),
        Err(_) => out.add(&whole.to_string()),
    }
    out.push(b'.');
    loop {
        // The rest is below ten units.
        out.digit(fraction / unit);
        fraction %= unit;
        if fraction == 0 {
            return;
        }
        unit /= 10;
    }
}

fn write_integer(integer: i64, out: &mut Line) {
    let (0..=MOST_DIGIT_BY_DIGIT) = integer else { return out.add(&integer.to_string()) };
    let (rest, mut unit) = (integer.unsigned_abs(), 1);
    while rest / unit >= 10 {
        unit *= 10;
    }
    while unit > 0 {
        out.digit(rest / unit % 10);
        unit /= 10;
    }
}

/// Up to here, writing digit by digit takes no longer than formatting in builds without optimisation.
const MOST_DIGIT_BY_DIGIT: i64 = 999_999;

impl ToJson for Value {
    fn write(&self, out: &mut Line) {
        write_value(self, 0, out);
    }
}

impl ToJson for Map {
    fn write(&self, out: &mut Line) {
        write_map(self, 0, out);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl ToJson for BTreeMap<String, String> {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        for (key, text) in self {
            object.any_key(key).text(text);
        }
        object.close();
    }
}

impl<T: ToJson> ToJson for Arc<T> {
    fn write(&self, out: &mut Line) {
        T::write(self, out);
    }

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }
}

impl ToJson for String {
    fn write(&self, out: &mut Line) {
        out.text(self);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl ToJson for bool {
    fn write(&self, out: &mut Line) {
        out.add(if *self { "true" } else { "false" });
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl ToJson for f64 {
    fn write(&self, out: &mut Line) {
        write_float(*self, out);
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {
        $(impl ToJson for $kind {
            fn write(&self, out: &mut Line) {
                // No record holds a greater number, and none would be read.
                write_integer(i64::try_from(*self).unwrap_or(i64::MAX), out);
            }

            fn is_absent(&self) -> bool {
                *self == 0
            }
        })*
    };
}
integers!(i64, u32, usize);

impl ToJson for Duration {
    /// Seconds. They are exact to the nanosecond for a hundred days.
    fn write(&self, out: &mut Line) {
        write_decimal(self.as_secs(), u64::from(self.subsec_nanos()), 100_000_000, out);
    }

    fn is_absent(&self) -> bool {
        self.is_zero()
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn write(&self, out: &mut Line) {
        match self {
            Some(value) => value.write(out),
            None => out.add("null"),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn write(&self, out: &mut Line) {
        write_list(self, out, T::write);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: ToJson> ToJson for (String, T) {
    /// A pair is an array of two.
    fn write(&self, out: &mut Line) {
        out.push(b'[');
        self.0.write(out);
        out.push(b',');
        self.1.write(out);
        out.push(b']');
    }
}
