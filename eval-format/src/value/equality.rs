//! Equality of values by Python's `==`, as ADK compares them.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::number::Number;
use super::tree::{Map, Value};

impl Value {
    /// Whether two values are equal in Python, which is how ADK compares arguments.
    ///
    /// Integers and floats compare by their exact values, `true` is 1 and `false` is 0, and `NaN` equals nothing. Objects
    /// compare by key, strings by code point.
    ///
    /// ```
    /// use eval_format::Value;
    ///
    /// assert!(Value::from(1_i64).equals(&Value::from(1.0)) && Value::from(1_i64) != Value::from(1.0));
    /// assert!(Value::from(true).equals(&Value::from(1_i64)));
    /// ```
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Object(a), Self::Object(b)) => a.equals(b),
            _ => match (Exact::of(self), Exact::of(other)) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// A hash with which equal values are found: values that [`equals`](Self::equals) holds equal have equal hashes.
    #[doc(hidden)]
    pub fn hash_as_equal(&self, state: &mut impl Hasher) {
        match self {
            Self::Null => 0_u8.hash(state),
            Self::String(text) => text.hash(state),
            Self::Array(items) => {
                items.len().hash(state);
                for item in items {
                    item.hash_as_equal(state);
                }
            }
            Self::Object(map) => map.hash_as_equal(state),
            Self::Bool(_) | Self::Number(_) => match Exact::of(self) {
                Some(Exact::Integer(integer)) => integer.hash(state),
                Some(Exact::Digits(digits)) => digits.hash(state),
                // `NaN` equals nothing, so any hash is right. One hash for all would make them collide.
                Some(Exact::Float(float)) if float.is_nan() => std::ptr::from_ref(self).hash(state),
                Some(Exact::Float(float)) => float.to_bits().hash(state),
                None => {}
            },
        }
    }
}

impl Map {
    /// Whether two objects have the same keys, with values that are [equal in Python](Value::equals).
    pub fn equals(&self, other: &Self) -> bool {
        self.len() == other.len() && self.matches(other, Value::equals)
    }

    /// A hash with which equal objects are found.
    #[doc(hidden)]
    pub fn hash_as_equal(&self, state: &mut impl Hasher) {
        // A sum does not depend on the order of the keys.
        let sum = self.iter().fold(0_u64, |sum, (key, value)| {
            let mut entry = DefaultHasher::new();
            key.hash(&mut entry);
            value.hash_as_equal(&mut entry);
            sum.wrapping_add(entry.finish())
        });
        self.len().hash(state);
        sum.hash(state);
    }
}

/// A number by its exact value, whatever its type.
#[derive(PartialEq)]
enum Exact {
    Integer(i64),
    /// The decimal digits of an integer outside `i64`.
    Digits(String),
    /// Any other number.
    Float(f64),
}

impl Exact {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Self::Integer(i64::from(*flag))),
            Value::Number(number) => Some(Self::of_number(number)),
            _ => None,
        }
    }

    fn of_number(number: &Number) -> Self {
        if let Some(integer) = number.as_i64() {
            return Self::Integer(integer);
        }
        if number.is_integer() {
            return Self::Digits(number.to_string());
        }
        let float = number.as_f64();
        if !float.is_finite() || float.fract() != 0.0 {
            return Self::Float(float);
        }
        // Writes all digits of an integral float.
        let digits = format!("{:.0}", float + 0.0);
        digits.parse().map_or(Self::Digits(digits), Self::Integer)
    }
}
