//! Numbers as JSON has them: exact integers, and floats.

use std::fmt;

/// A JSON number: an exact integer of any size, or a float.
///
/// ```
/// use eval_format::Number;
///
/// let big = Number::parse("1000000000000000000000000000000").unwrap();
/// assert_eq!(big.to_string(), "1000000000000000000000000000000");
/// assert!(big.is_integer());
/// assert_ne!(Number::parse("1"), Number::parse("1.0"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Number(Repr);

#[derive(Clone, Debug, PartialEq)]
enum Repr {
    Int(i64),
    /// An integer outside `i64`: an optional `-` and digits without leading zeros.
    Big(Box<str>),
    Float(f64),
}

impl Number {
    /// Reads the text of a JSON number, or `NaN`, `Infinity`, `-Infinity`.
    ///
    /// `None` if the text is something else. A number with a fraction or an exponent is a float,
    /// correctly rounded; one too large for a float is infinite, as in Python.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(int) = text.parse::<i64>() {
            // `i64::from_str` also takes a plus sign and leading zeros, which JSON does not have.
            return is_json_int(text).then_some(Self(Repr::Int(int)));
        }
        if is_json_int(text) {
            return Some(Self(Repr::Big(text.into())));
        }
        let float = match text {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ if is_json_float(text) => text.parse().ok()?,
            _ => return None,
        };
        Some(Self(Repr::Float(float)))
    }

    /// Whether it is an integer, as Python sees it: `1` is one, `1.0` is not.
    pub fn is_integer(&self) -> bool {
        !matches!(self.0, Repr::Float(_))
    }

    /// The integer, if this is an integer that fits into 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The value as a float; large integers are rounded to the nearest.
    #[expect(clippy::cast_precision_loss, reason = "rounding to the nearest float is what is asked for")]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Int(int) => *int as f64,
            Repr::Big(digits) => digits.parse().unwrap_or(f64::NAN),
            Repr::Float(float) => *float,
        }
    }
}

/// An integer, then a fraction, an exponent, or both; each with at least one digit.
fn is_json_float(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_json_int(whole) && fraction.is_none_or(digits) && exponent.is_none_or(digits)
}

fn is_json_int(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits[0] != b'0')
}

impl Number {
    /// An integer of a type whose size is not known, or that is wider than 64 bits.
    pub(super) fn of_any_size(int: impl fmt::Display) -> Self {
        let digits = int.to_string();
        Self(digits.parse().map_or_else(|_| Repr::Big(digits.into()), Repr::Int))
    }
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(Repr::Int(int))
    }
}

impl From<u64> for Number {
    fn from(int: u64) -> Self {
        match i64::try_from(int) {
            Ok(int) => Self(Repr::Int(int)),
            Err(_) => Self(Repr::Big(int.to_string().into())),
        }
    }
}

impl From<f64> for Number {
    fn from(float: f64) -> Self {
        Self(Repr::Float(float))
    }
}

impl fmt::Display for Number {
    /// The JSON text as pydantic writes it: the shortest that reads back the same. `NaN` and the infinities, for which
    /// JSON has no text, are `null`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(int) => write!(f, "{int}"),
            Repr::Big(digits) => f.write_str(digits),
            Repr::Float(float) => write_float(*float, f),
        }
    }
}

/// Shortest round-trip digits in pydantic's layout: plain between 1e-5 and 1e16, otherwise
/// with an exponent that carries its sign (`1e-7`, `1e+16`).
fn write_float(float: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // If two texts are equally short and near, pydantic and `serde_json` take the even one. Rust does not.
    let Some(number) = serde_json::Number::from_f64(float) else {
        return f.write_str("null");
    };
    let text = number.to_string();
    match text.split_once('e') {
        // Older versions of `serde_json` write no `+`.
        Some((digits, exponent)) if !exponent.starts_with(['-', '+']) => write!(f, "{digits}e+{exponent}"),
        _ => f.write_str(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for (text, shown) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1.0", "1.0"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854775808"),
            ("-1000000000000000000000000000000", "-1000000000000000000000000000000"),
            ("1e3", "1000.0"),
            ("1e400", "null"),
            ("NaN", "null"),
            ("0.1", "0.1"),
            ("1e-5", "0.00001"),
            ("-1e-6", "-1e-6"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("920848214828533.25", "920848214828533.2"),
            ("920848214828533.75", "920848214828533.8"),
        ] {
            assert_eq!(Number::parse(text).map(|n| n.to_string()).as_deref(), Some(shown), "{text}");
        }
        for bad in [
            "", "-", "01", "+1", "1x", "nan", "inf", "infinity", "0x1", "1_0", "+1.5", ".5", "1.", "1e",
            "1e+", "1.e3", "01.5", "1e1.5",
        ] {
            assert_eq!(Number::parse(bad), None, "{bad}");
        }
    }
}
