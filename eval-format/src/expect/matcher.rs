//! Matchers: conditions on a value in place of equality with the golden one.

use std::fmt;

use eval_support::message::truncated;
use eval_support::untrusted::one_line;
use unicode_normalization::UnicodeNormalization;

use super::pattern::Pattern;
use crate::value::{Layout, Map, Number, Value, print};

/// A condition on a value, in place of equality with the golden value. A value that equals the golden one matches too.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Matcher {
    /// Any value. The key must be there; `null` counts.
    Any,
    /// The text of a date that exists: `2026-11-23`.
    Date,
    /// The text of a date and a time as in RFC 3339; `T` or a blank between them, the offset optional.
    DateTime,
    /// The text of a UUID.
    Uuid,
    /// The text of a web address: `http://` or `https://`.
    Url,
    /// A finite number.
    Number,
    /// An integer: `3` or `3.0`.
    Integer,
    /// A text that is not blank.
    Text,
    /// The golden text, in any case and with any white space between its words.
    IgnoreCase,
    /// The items of the golden list, in any order.
    Unordered,
    /// The golden list or object, with more items in any order, or more keys.
    AtLeast,
    /// A text with all of these texts in it, in any case.
    Contains(Vec<String>),
    /// A text that matches as a whole.
    Regex(Pattern),
    /// One of these values.
    OneOf(Vec<Value>),
    /// A number near the golden one.
    Within(Tolerance),
    /// A number from the first to the second; at least one of them is there.
    Range(Option<Number>, Option<Number>),
    /// Nothing, or what the inner matcher takes; without one the golden value.
    Optional(Option<Box<Matcher>>),
}

/// The largest distance of a number from the golden one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// By so much.
    Absolute(f64),
    /// By a share of the golden number, in percent.
    Percent(f64),
}

/// The matchers that are a word.
pub(super) static WORDS: [(&str, Matcher); 12] = [
    ("any", Matcher::Any),
    ("date", Matcher::Date),
    ("date_time", Matcher::DateTime),
    ("uuid", Matcher::Uuid),
    ("url", Matcher::Url),
    ("number", Matcher::Number),
    ("integer", Matcher::Integer),
    ("text", Matcher::Text),
    ("ignore_case", Matcher::IgnoreCase),
    ("unordered", Matcher::Unordered),
    ("at_least", Matcher::AtLeast),
    ("optional", Matcher::Optional(None)),
];

/// The words of the notation.
#[cfg(feature = "json-schema")]
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, _)| *word)
}

impl Matcher {
    /// A text with this text in it.
    pub fn contains(text: impl Into<String>) -> Self {
        Self::Contains(vec![text.into()])
    }

    /// A text that the expression matches as a whole. The error says what is wrong with it.
    pub fn regex(expression: &str) -> Result<Self, String> {
        Pattern::new(expression).map(Self::Regex)
    }

    /// One of these values.
    pub fn one_of<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Self {
        Self::OneOf(values.into_iter().map(Into::into).collect())
    }

    /// A number at most so far from the golden one.
    pub fn within(distance: f64) -> Self {
        Self::Within(Tolerance::Absolute(distance))
    }

    /// Nothing, or what this matcher takes.
    #[must_use]
    pub fn or_absent(self) -> Self {
        Self::Optional(Some(Box::new(self)))
    }

    /// The key or the word by which the notation names it: `contains`, `date`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Contains(_) => "contains",
            Self::Regex(_) => "regex",
            Self::OneOf(_) => "one_of",
            Self::Within(_) => "within",
            Self::Range(Some(_), _) => "min",
            Self::Range(None, _) => "max",
            Self::Optional(_) => "optional",
            word => WORDS.iter().find(|(_, known)| known == word).map_or("any", |(name, _)| name),
        }
    }

    /// The matcher in the notation.
    pub fn to_value(&self) -> Value {
        let of = |key: &str, value: Value| Value::Object(Map::from([(key, value)]));
        match self {
            Self::Contains(texts) => of("contains", one_or_list(texts)),
            Self::Regex(pattern) => of("regex", pattern.as_str().into()),
            Self::OneOf(values) => of("one_of", Value::Array(values.clone())),
            Self::Within(tolerance) => of("within", tolerance.to_value()),
            Self::Range(min, max) => {
                let bounds = [("min", min), ("max", max)].into_iter();
                let bounds = bounds.filter_map(|(key, bound)| Some((key, Value::Number(bound.clone()?))));
                Value::Object(bounds.collect())
            }
            Self::Optional(Some(inner)) => of("optional", inner.to_value()),
            word => word.name().into(),
        }
    }

    /// The matcher that counts if the value is there.
    pub(super) fn unwrapped(&self) -> &Self {
        match self {
            Self::Optional(Some(inner)) => inner,
            matcher => matcher,
        }
    }

    /// Whether it decides about a list or an object as a whole, so that rules of its items are not asked.
    pub(super) fn hides_items(&self) -> bool {
        !matches!(self.unwrapped(), Self::Unordered | Self::AtLeast | Self::Optional(_))
    }

    /// Whether it reads the golden value, so that it says nothing where there is none.
    pub(super) fn reads_golden(&self) -> bool {
        matches!(
            self,
            Self::IgnoreCase | Self::Unordered | Self::AtLeast | Self::Within(_) | Self::Optional(_)
        )
    }

    /// Whether it says something about a value that the golden call lacks. Other rules leave that to the ones above it.
    pub(super) fn says_what_may_be_added(&self) -> bool {
        matches!(self, Self::Optional(Some(inner)) if !inner.reads_golden())
    }

    /// Whether a value that differs from the golden one matches. Lists and objects are compared by their items, not here.
    pub(super) fn takes(&self, golden: Option<&Value>, seen: &Value) -> bool {
        let text = seen.as_str();
        match self {
            Self::Any | Self::Optional(_) | Self::Unordered | Self::AtLeast => true,
            Self::Date => text.is_some_and(is_date),
            Self::DateTime => text.is_some_and(is_date_time),
            Self::Uuid => text.is_some_and(is_uuid),
            Self::Url => text.is_some_and(is_url),
            Self::Number => finite(seen).is_some(),
            Self::Integer => finite(seen).is_some_and(is_integer),
            Self::Text => text.is_some_and(|text| !text.trim().is_empty()),
            Self::IgnoreCase => text
                .zip(golden.and_then(Value::as_str))
                .is_some_and(|(text, golden)| fold(text) == fold(golden)),
            Self::Contains(texts) => text.is_some_and(|text| lacking(texts, text).is_empty()),
            Self::Regex(pattern) => text.is_some_and(|text| pattern.is_whole(text)),
            Self::OneOf(values) => values.iter().any(|value| value.equals(seen)),
            Self::Within(tolerance) => golden
                .and_then(finite)
                .zip(finite(seen))
                .is_some_and(|(golden, seen)| tolerance.takes(golden, seen)),
            Self::Range(min, max) => finite(seen).is_some_and(|seen| {
                min.as_ref().is_none_or(|min| at_most(min, seen))
                    && max.as_ref().is_none_or(|max| at_most(seen, max))
            }),
        }
    }

    /// The reason why a value does not match, in words that follow the path of the value.
    pub(super) fn reason(&self, golden: Option<&Value>, seen: &Value) -> String {
        let golden = golden.map(show).unwrap_or_default();
        let otherwise = match self {
            Self::Contains(texts) => match seen.as_str() {
                Some(text) => {
                    return format!("lacks {}: it is {}", quoted(&lacking(texts, text)), show(seen));
                }
                None => "no text".to_owned(),
            },
            Self::DateTime => "no date with a time".to_owned(),
            Self::Uuid => "no UUID".to_owned(),
            Self::Url => "no URL".to_owned(),
            Self::Regex(pattern) => format!("which does not match /{}/", one_line(pattern.as_str())),
            Self::IgnoreCase => format!("not {golden} in any case"),
            Self::Within(tolerance) => format!("not within {tolerance} of {golden}"),
            Self::OneOf(_) | Self::Range(..) => format!("not {self}"),
            word => format!("no {}", word.name()),
        };
        format!("is {}, {otherwise}", show(seen))
    }
}

impl fmt::Display for Matcher {
    /// The matcher in words, as failures print it: `date`, `contains "visa", "Seattle"`, `within 0.001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(texts) => write!(f, "contains {}", quoted(texts)),
            Self::Regex(pattern) => write!(f, "regex /{}/", one_line(pattern.as_str())),
            Self::OneOf(values) => write!(f, "one of {}", listed(values)),
            Self::Within(tolerance) => write!(f, "within {tolerance}"),
            Self::Range(Some(min), Some(max)) => write!(f, "from {min} to {max}"),
            Self::Range(Some(min), None) => write!(f, "at least {min}"),
            Self::Range(None, Some(max)) => write!(f, "at most {max}"),
            Self::Optional(Some(inner)) => write!(f, "optional, {inner}"),
            word => f.write_str(&word.name().replace('_', " ")),
        }
    }
}

impl Tolerance {
    pub(super) fn to_value(self) -> Value {
        match self {
            Self::Absolute(distance) => distance.into(),
            Self::Percent(share) => format!("{share}%").into(),
        }
    }

    /// The distance from this number.
    pub(super) fn of(self, golden: f64) -> f64 {
        match self {
            Self::Absolute(distance) => distance,
            Self::Percent(share) => golden.abs() * share / 100.0,
        }
    }

    /// Whether a number is near enough. Integers beyond 2^53 are compared exactly.
    pub(super) fn takes(self, golden: &Number, seen: &Number) -> bool {
        if Value::Number(golden.clone()).equals(&Value::Number(seen.clone())) {
            return true;
        }
        let most = self.of(golden.as_f64());
        if most == 0.0 {
            return false;
        }
        let (float, other) = (golden.as_f64(), seen.as_f64());
        #[expect(clippy::cast_precision_loss, reason = "a distance is compared with a float")]
        let (distance, largest) =
            match whole(golden).zip(whole(seen)).and_then(|(golden, seen)| golden.checked_sub(seen)) {
                Some(distance) => (distance.unsigned_abs() as f64, most),
                None => ((float - other).abs(), float.abs().max(other.abs())),
            };
        // The files have decimals, and floats are near them: 1.1 - 1.0 is a little more than 0.1.
        let rounding = 2.0 * f64::EPSILON * largest;
        // Numbers beyond these integers may differ and be the same float.
        let least = f64::MIN_POSITIVE;
        distance.is_finite() && distance.max(least) <= most + rounding
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(distance) => write!(f, "{distance}"),
            Self::Percent(share) => write!(f, "{share} %"),
        }
    }
}

/// A text as `contains` and `ignore_case` compare it: in NFC and lower case, with one blank for white space.
pub(super) fn fold(text: &str) -> String {
    let lower = text.nfc().collect::<String>().to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts that are not in a text.
pub(super) fn lacking(texts: &[String], text: &str) -> Vec<String> {
    let folded = fold(text);
    texts.iter().filter(|wanted| !folded.contains(&fold(wanted))).cloned().collect()
}

pub(super) fn finite(value: &Value) -> Option<&Number> {
    value.as_number().filter(|number| number.is_integer() || number.as_f64().is_finite())
}

fn is_integer(number: &Number) -> bool {
    number.is_integer() || number.as_f64().fract() == 0.0
}

/// Whether a number is at most another one.
pub(super) fn at_most(a: &Number, b: &Number) -> bool {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a <= b,
        _ => a.as_f64() <= b.as_f64(),
    }
}

/// The exact value of an integral number of up to 38 digits.
fn whole(number: &Number) -> Option<i128> {
    const LARGEST: f64 = 1e38;
    if number.is_integer() {
        return number.as_i64().map(i128::from).or_else(|| number.to_string().parse().ok());
    }
    let float = number.as_f64();
    #[expect(clippy::cast_possible_truncation, reason = "it is integral and fits")]
    (float.fract() == 0.0 && float.abs() < LARGEST).then_some(float as i128)
}

/// Whether a text has this form: `0` is a digit, `x` a hexadecimal one, any other character itself.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        form => byte == form,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

fn is_uuid(text: &str) -> bool {
    has_form(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

fn is_date(text: &str) -> bool {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    has_form(text, "0000-00-00") && (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked("0000-00-00".len()) else { return false };
    let Some(clock) = rest.strip_prefix(['T', ' ']) else { return false };
    let (time, offset) = clock.split_at(clock.find(['Z', '+', '-']).unwrap_or(clock.len()));
    let (time, fraction) = time.split_once('.').map_or((time, None), |(time, rest)| (time, Some(rest)));
    let has_seconds = has_form(time, "00:00:00");
    let is_fraction = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A minute may have a second 60.
    let is_time = time < "24" && (has_seconds || has_form(time, "00:00")) && is_clock(time);
    let is_offset = match offset.strip_prefix(['+', '-']) {
        Some(hours) => {
            (has_form(hours, "00:00") || has_form(hours, "0000"))
                && *hours < *"24"
                && hours[hours.len() - 2..] < *"60"
        }
        None => matches!(offset, "" | "Z"),
    };
    is_date(date) && is_time && fraction.is_none_or(|digits| has_seconds && is_fraction(digits)) && is_offset
}

/// Whether the minutes are at most 59, and the seconds at most 60.
fn is_clock(time: &str) -> bool {
    let mut parts = time.split(':').skip(1);
    parts.next().is_some_and(|minutes| minutes < "60") && parts.next().is_none_or(|seconds| seconds <= "60")
}

fn is_url(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with('/')) && !text.contains(char::is_whitespace)
}

/// A value as reasons print it: on one line, cut, with control characters spelt out.
pub(super) fn show(value: &Value) -> String {
    const MAX_VALUE_CHARS: usize = 80;
    one_line(&truncated(&print(value, &Layout::for_people()), MAX_VALUE_CHARS, "..."))
}

/// Texts as reasons list them: in quotes, with commas between them.
pub(super) fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| show(&Value::from(text.as_str()))).collect::<Vec<_>>().join(", ")
}

fn listed(values: &[Value]) -> String {
    values.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// A list of texts in the notation: the text itself if it is alone.
pub(super) fn one_or_list(texts: &[String]) -> Value {
    match texts {
        [only] => only.as_str().into(),
        texts => texts.iter().map(String::as_str).collect(),
    }
}
