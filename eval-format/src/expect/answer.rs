//! Demands on the answer of a turn.

use std::fmt;

use super::compare::MAX_REASONS;
use super::matcher::{Matcher, Tolerance, fold, lacking, one_or_list, quoted, show};
use super::numbers::numbers;
use super::path::ArgPath;
use super::pattern::Pattern;
use crate::syntax;
use crate::value::{Map, Number, Value};

/// Demands on the answer of a turn, beside the golden answer. A demand does not loosen: an answer has to fulfil each.
///
/// ```
/// use eval_format::expect::Demands;
///
/// let demands = Demands::default().contains("Canada").contains("Kenya").lacks("France").number(6.0);
/// assert!(demands.check("These 6 countries: Canada, Kenya ..").is_empty());
/// let unfulfilled = demands.check("Canada and France");
/// assert_eq!(unfulfilled[0].to_string(), r#"lacks "Kenya""#);
/// assert_eq!(unfulfilled.len(), 3);
/// ```
///
/// Texts are compared in lower case, in NFC, with runs of white space as one blank.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Demands {
    /// Each of these texts is in the answer.
    pub contains: Vec<String>,
    /// At least one of these texts is in the answer.
    pub contains_any: Vec<String>,
    /// None of these texts is in the answer.
    pub lacks: Vec<String>,
    /// Each of these expressions matches a part of the answer.
    pub regex: Vec<Pattern>,
    /// The answer is one of these texts.
    pub is: Vec<String>,
    /// Each of these numbers is in the answer.
    pub number: Vec<NumberDemand>,
    /// The answer is JSON, or has JSON in a fence, and these values are in it.
    pub json: Vec<(ArgPath, JsonDemand)>,
    /// The most words of the answer.
    pub max_words: Option<usize>,
}

/// A number that an answer has to have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NumberDemand {
    /// The number.
    pub is: Number,
    /// The largest distance of the number in the answer.
    pub within: Option<Tolerance>,
}

/// A demand on a value in the JSON of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonDemand {
    /// A value that is equal by Python's `==`.
    Equals(Value),
    /// A value that matches.
    Matches(Matcher),
}

/// A demand that an answer does not fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfulfilled {
    /// The key of the demand: `contains`, `number`.
    pub demand: &'static str,
    /// The lack of the answer, in words that follow `the answer`: `lacks "Kenya"`.
    pub text: String,
}

impl fmt::Display for Unfulfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NumberDemand {
    /// This number and no other.
    pub fn new(is: impl Into<Number>) -> Self {
        Self { is: is.into(), within: None }
    }

    /// A number at most so far from it.
    #[must_use]
    pub fn within(mut self, tolerance: Tolerance) -> Self {
        self.within = Some(tolerance);
        self
    }

    fn to_value(&self) -> Value {
        let is = Value::Number(self.is.clone());
        match self.within {
            None => is,
            Some(within) => Value::Object(Map::from([("is", is), ("within", within.to_value())])),
        }
    }
}

impl Demands {
    /// Demands that this text is in the answer.
    #[must_use]
    pub fn contains(mut self, text: impl Into<String>) -> Self {
        self.contains.push(text.into());
        self
    }

    /// Demands that one of these texts is in the answer.
    #[must_use]
    pub fn contains_any<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.contains_any.extend(texts.into_iter().map(Into::into));
        self
    }

    /// Demands that this text is not in the answer.
    #[must_use]
    pub fn lacks(mut self, text: impl Into<String>) -> Self {
        self.lacks.push(text.into());
        self
    }

    /// Demands that the expression matches a part of the answer.
    #[must_use]
    pub fn regex(mut self, pattern: Pattern) -> Self {
        self.regex.push(pattern);
        self
    }

    /// Demands that the answer is this text, or one of the other texts that are given so.
    #[must_use]
    pub fn is(mut self, text: impl Into<String>) -> Self {
        self.is.push(text.into());
        self
    }

    /// Demands that this number is in the answer.
    #[must_use]
    pub fn number(self, number: impl Into<Number>) -> Self {
        self.number_near(NumberDemand::new(number))
    }

    /// Demands that a number is in the answer that may be near another one.
    #[must_use]
    pub fn number_near(mut self, number: NumberDemand) -> Self {
        self.number.push(number);
        self
    }

    /// Demands a value of an answer in JSON.
    #[must_use]
    pub fn json(mut self, path: ArgPath, demand: JsonDemand) -> Self {
        self.json.push((path, demand));
        self
    }

    /// Demands an answer of at most this number of words.
    #[must_use]
    pub fn max_words(mut self, words: usize) -> Self {
        self.max_words = Some(words);
        self
    }

    /// Whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The demands that an answer does not fulfil.
    pub fn check(&self, answer: &str) -> Vec<Unfulfilled> {
        let mut found = Vec::new();
        let mut add = |demand, text| found.push(Unfulfilled { demand, text });
        let folded = fold(answer);
        let has = |text: &&String| folded.contains(&fold(text));
        for text in lacking(&self.contains, answer) {
            add("contains", format!("lacks {}", quoted(&[text])));
        }
        if !self.contains_any.is_empty() && !self.contains_any.iter().any(|text| has(&text)) {
            add("contains_any", format!("has none of {}", quoted(&self.contains_any)));
        }
        for text in self.lacks.iter().filter(has) {
            add("lacks", format!("has {}", quoted(std::slice::from_ref(text))));
        }
        for pattern in self.regex.iter().filter(|pattern| !pattern.finds(answer)) {
            add("regex", format!("has nothing that matches {}", Matcher::Regex(pattern.clone())));
        }
        if !self.is.is_empty() && !self.is.iter().any(|text| fold(text) == folded) {
            add("is", format!("is not {}", quoted(&self.is)));
        }
        if !self.number.is_empty() {
            let there = numbers(answer);
            for demand in self.number.iter().filter(|demand| !demand.is_in(&there)) {
                add("number", demand.missing(&there));
            }
        }
        if !self.json.is_empty() {
            match json_in(answer) {
                Err(reason) => add("json", reason),
                Ok(value) => {
                    for (path, demand) in &self.json {
                        demand.reasons(path, &value).into_iter().for_each(|reason| add("json", reason));
                    }
                }
            }
        }
        let words = answer.split_whitespace().count();
        if let Some(most) = self.max_words.filter(|most| words > *most) {
            add("max_words", format!("has {words} words, at most {most} are allowed"));
        }
        found
    }

    /// The demands in the notation.
    pub fn to_value(&self) -> Value {
        let texts = |texts: &Vec<String>| (!texts.is_empty()).then(|| one_or_list(texts));
        let patterns: Vec<String> = self.regex.iter().map(|pattern| pattern.as_str().to_owned()).collect();
        let numbers: Vec<Value> = self.number.iter().map(NumberDemand::to_value).collect();
        let json: Map = self.json.iter().map(|(path, demand)| (path.as_str(), demand.to_value())).collect();
        let entries = [
            ("contains", texts(&self.contains)),
            ("contains_any", texts(&self.contains_any)),
            ("lacks", texts(&self.lacks)),
            ("regex", texts(&patterns)),
            ("is", texts(&self.is)),
            (
                "number",
                match numbers.as_slice() {
                    [] => None,
                    [only] => Some(only.clone()),
                    _ => Some(Value::Array(numbers)),
                },
            ),
            ("json", (!json.is_empty()).then_some(Value::Object(json))),
            ("max_words", self.max_words.map(|most| Value::Number((most as u64).into()))),
        ];
        Value::Object(entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
    }
}

impl NumberDemand {
    fn is_in(&self, numbers: &[Number]) -> bool {
        let tolerance = self.within.unwrap_or(Tolerance::Absolute(0.0));
        numbers.iter().any(|number| tolerance.takes(&self.is, number))
    }

    fn missing(&self, numbers: &[Number]) -> String {
        const MAX_SHOWN_NUMBERS: usize = 5;
        let wanted = match self.within {
            Some(within) => format!("no number within {within} of {}", self.is),
            None => format!("no number {}", self.is),
        };
        let shown: Vec<String> = numbers.iter().take(MAX_SHOWN_NUMBERS).map(ToString::to_string).collect();
        let more = if numbers.len() > MAX_SHOWN_NUMBERS { ", .." } else { "" };
        match numbers {
            [] => format!("has {wanted}; it has no number"),
            _ => format!("has {wanted}; it has {}{more}", shown.join(", ")),
        }
    }
}

impl JsonDemand {
    fn to_value(&self) -> Value {
        match self {
            Self::Equals(value) => Value::Object(Map::from([("equals", value.clone())])),
            Self::Matches(matcher) => matcher.to_value(),
        }
    }

    /// The reasons why the values at a path do not fulfil the demand.
    fn reasons(&self, path: &ArgPath, root: &Value) -> Vec<String> {
        let places = path.places(root);
        let may_be_absent = matches!(self, Self::Matches(Matcher::Optional(_)));
        // An item that lacks the value does not fulfil what is demanded of each.
        if !may_be_absent && (places.is_empty() || places.contains(&None)) {
            return vec![format!("has JSON without `{path}`")];
        }
        let refused = |seen: &&Value| match self {
            Self::Equals(value) if value.equals(seen) => None,
            Self::Equals(value) => Some(format!("is {}, not {}", show(seen), show(value))),
            Self::Matches(matcher) => {
                let matcher = matcher.unwrapped();
                (!matcher.takes(None, seen)).then(|| matcher.reason(None, seen))
            }
        };
        let values = places.iter().flatten().copied();
        values
            .filter_map(|seen| refused(&seen))
            .take(MAX_REASONS)
            .map(|reason| format!("has JSON in which `{path}` {reason}"))
            .collect()
    }
}

/// The JSON of an answer: in its first fence of JSON or without a language, else the whole text.
pub(super) fn json_in(answer: &str) -> Result<Value, String> {
    let mut repeated = Vec::new();
    let node = syntax::parse(fenced(answer).unwrap_or(answer), &mut repeated)
        .map_err(|problem| format!("is no JSON: {}", problem.message))?;
    match repeated.first() {
        Some(problem) => Err(format!("is JSON of two meanings: {}", problem.message)),
        None => Ok(node.to_value()),
    }
}

fn fenced(answer: &str) -> Option<&str> {
    const FENCE: &str = "```";
    let mut parts = answer.split(FENCE).skip(1);
    while let Some(part) = parts.next() {
        // A fence that is not closed does not count. The fence behind the text that follows opens another one.
        parts.next()?;
        if let Some((language, body)) = part.split_once('\n')
            && matches!(language.trim().to_ascii_lowercase().as_str(), "" | "json")
        {
            return Some(body);
        }
    }
    None
}
