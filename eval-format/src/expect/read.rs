//! Reading of `_expect`: from its value to the notation, with every mistake that shows without the turns.

use eval_support::spelling::suggest;
use eval_support::words::{did_you_mean, quoted_list};

use super::answer::{Demands, JsonDemand, NumberDemand};
use super::fault::{Fault, Faults};
use super::matcher::{Matcher, Tolerance, WORDS, at_most, finite, fold, show};
use super::notation::{CallExpect, Expect, KEY, Others, TurnExpect};
use super::path::ArgPath;
use super::pattern::Pattern;
use crate::model::EvalCase;
use crate::problem::{ProblemCode, shown};
use crate::value::{Map, Value};

pub(crate) const TURN_KEYS: [&str; 7] =
    ["calls", "order", "others", "optional", "repeat", "responses", "answer"];

pub(crate) const DEMANDS: [&str; 8] =
    ["contains", "contains_any", "lacks", "regex", "is", "number", "json", "max_words"];

/// The matchers that are an object with one key, or with `min` and `max`.
pub(crate) const OBJECTS: [&str; 7] = ["contains", "regex", "one_of", "within", "min", "max", "optional"];

/// More repetitions are hardly meant, and pairing calls takes time for each.
const MAX_REPETITIONS: usize = 1000;

const TYPE: ProblemCode = ProblemCode::WrongType;
const MATCHER: ProblemCode = ProblemCode::Matcher;

impl EvalCase {
    /// The rules and demands of the key `_expect`; `None` without the key. [`check`](Self::check) finds mistakes in it. A rule
    /// with a mistake is left out here.
    pub fn expect(&self) -> Option<Expect> {
        expect(of(self)?).0
    }
}

/// The value of the key; `null` counts as absent.
pub(super) fn of(case: &EvalCase) -> Option<&Value> {
    case.extra.get(KEY).filter(|value| !value.is_null())
}

pub(super) fn expect(value: &Value) -> (Option<Expect>, Vec<Fault>) {
    let mut faults = Faults::below(KEY);
    let expect = object(&mut faults, value, "turns").map(|turns| {
        if turns.is_empty() {
            empty(
                &mut faults,
                "no turn has a rule",
                r#"remove the key, or write a rule: `"_expect": {"1": {..}}`"#,
            );
        }
        let mut expect = Expect::default();
        for (number, turn) in turns {
            faults.at(number, |faults| match number.parse() {
                Ok(at) if number == usize::to_string(&at) && at > 0 => {
                    expect.turns.extend(read_turn(faults, at, turn));
                }
                _ => {
                    let message = format!("`{}` is no number of a turn", shown(number));
                    let fault = faults.key(ProblemCode::UnknownPlace, message, "no turn");
                    fault.help(r#"name the turn by its number, from 1: `"_expect": {"1": {..}}`"#);
                }
            });
        }
        expect
    });
    (expect, faults.found)
}

fn read_turn(faults: &mut Faults, number: usize, value: &Value) -> Option<(usize, TurnExpect)> {
    let mut turn = TurnExpect::default();
    let rules = object(faults, value, "rules")?;
    if rules.is_empty() {
        empty(faults, "the turn has no rule", "remove the turn, or write a rule");
    }
    for (key, value) in rules {
        faults.at(key, |faults| match key {
            "calls" => {
                for (name, value) in rules_of(faults, value, "calls", "call") {
                    let call = faults.at(name, |faults| call(faults, value));
                    turn.calls.extend(call.map(|call| (name.to_owned(), call)));
                }
            }
            "order" if value == "any" => turn.any_order = true,
            "order" => wrong(faults, r#""any""#, value),
            "others" if value == "any" => turn.others = Some(Others::Any),
            "others" => {
                let tools = names(faults, value, r#""any" or a list of tools"#, "tool");
                turn.others = tools.map(Others::Tools);
            }
            "optional" => turn.optional = names(faults, value, "a list of calls", "call").unwrap_or_default(),
            "repeat" => {
                for (name, value) in rules_of(faults, value, "calls", "call") {
                    let most = faults.at(name, |faults| count(faults, value, MAX_REPETITIONS));
                    turn.repeat.extend(most.map(|most| (name.to_owned(), most)));
                }
            }
            "responses" => {
                for (name, value) in rules_of(faults, value, "responses", "response") {
                    let values = faults.at(name, |faults| args(faults, value, "values of the response"));
                    turn.responses.extend(values.map(|values| (name.to_owned(), values)));
                }
            }
            "answer" => turn.answer = demands(faults, value),
            _ => unknown(faults, key, "in a turn of `_expect`", &TURN_KEYS),
        });
    }
    Some((number, turn))
}

fn call(faults: &mut Faults, value: &Value) -> Option<CallExpect> {
    match value {
        Value::String(word) if word == "any" => Some(CallExpect::Any),
        Value::Object(_) => args(faults, value, "arguments").map(CallExpect::Args),
        _ => {
            wrong(faults, r#""any" or an object of arguments"#, value);
            None
        }
    }
}

/// The most rules of a call: each is looked for in each call of its name.
const MAX_RULES_OF_CALL: usize = 256;

fn args(faults: &mut Faults, value: &Value, of: &str) -> Option<Vec<(ArgPath, Matcher)>> {
    let mut read: Vec<(ArgPath, Matcher)> = Vec::new();
    let map = object(faults, value, of)?;
    if map.len() > MAX_RULES_OF_CALL {
        let message = format!("there are {} rules for one name, more than {MAX_RULES_OF_CALL}", map.len());
        faults.value(TYPE, message, "too many rules").help(r#"a rule for a whole call is `"any"`"#);
        return None;
    }
    for (text, value) in map {
        faults.at(text, |faults| {
            let Some(path) = path(faults, text) else { return };
            let Some(matcher) = matcher(faults, value) else { return };
            if path.is_further() && matcher != Matcher::Any {
                wrong(faults, r#""any""#, value);
            } else if let Some((twin, _)) = read.iter().find(|(known, _)| *known == path) {
                let message =
                    format!("`{}` and `{}` are the same argument", shown(twin.as_str()), shown(text));
                faults.key(ProblemCode::DuplicateKey, message, "said again here").help("remove one of them");
            } else {
                read.push((path, matcher));
            }
        });
    }
    Some(read)
}

fn path(faults: &mut Faults, text: &str) -> Option<ArgPath> {
    let path = ArgPath::parse(text);
    if path.is_none() {
        let message = format!("`{}` is no path of an argument", shown(text));
        let help = r#"write `city`, `steps[0].order`, `tags[*]`, `["a.b"]`, or `...` for further arguments"#;
        faults.key(ProblemCode::UnknownPlace, message, "no path").help(help);
    }
    path
}

fn matcher(faults: &mut Faults, value: &Value) -> Option<Matcher> {
    match value {
        Value::String(word) => {
            let found = WORDS.iter().find(|(name, _)| name == word);
            if found.is_none() {
                no_matcher(faults, word);
            }
            found.map(|(_, matcher)| matcher.clone())
        }
        Value::Object(map) => match map.keys().find(|key| !OBJECTS.contains(key)) {
            Some(key) => {
                no_matcher(faults, key);
                None
            }
            None => object_matcher(faults, map),
        },
        _ => {
            wrong(
                faults,
                r#"a matcher: a word such as "any", or an object such as {"contains": ".."}"#,
                value,
            );
            None
        }
    }
}

fn no_matcher(faults: &mut Faults, name: &str) {
    let known = WORDS.iter().map(|(word, _)| *word).chain(OBJECTS).collect::<Vec<_>>();
    let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| {
        format!("the matchers are {}; what is expected is in the turn", quoted_list(&known))
    });
    faults.value(MATCHER, format!("there is no matcher `{}`", shown(name)), "no matcher").help(help);
}

fn object_matcher(faults: &mut Faults, map: &Map) -> Option<Matcher> {
    let entries: Vec<(&str, &Value)> = map.iter().collect();
    match entries.as_slice() {
        [("contains", value)] => faults.at("contains", |faults| words(faults, value)).map(Matcher::Contains),
        [("regex", value)] => faults.at("regex", |faults| pattern(faults, value)).map(Matcher::Regex),
        [("one_of", value)] => faults.at("one_of", |faults| match value {
            Value::Array(values) if !values.is_empty() => Some(Matcher::OneOf(values.clone())),
            Value::Array(_) => {
                let fault = faults.value(MATCHER, "`one_of` has no value", "nothing is one of these");
                fault.help("list the values that may be there");
                None
            }
            _ => {
                wrong(faults, "a list of values", value);
                None
            }
        }),
        [("within", value)] => faults.at("within", |faults| tolerance(faults, value)).map(Matcher::Within),
        [("optional", value)] => faults.at("optional", |faults| match matcher(faults, value)? {
            Matcher::Optional(_) => {
                wrong(faults, "another matcher", value);
                None
            }
            inner => Some(inner.or_absent()),
        }),
        [("min" | "max", _)] | [("min", _), ("max", _)] | [("max", _), ("min", _)] => range(faults, map),
        _ => {
            let message = "this is not one matcher";
            let fault = faults.value(MATCHER, message, "expected one key, or `min` and `max`");
            fault.help(format!("keep one of {}", quoted_list(&OBJECTS)));
            None
        }
    }
}

fn range(faults: &mut Faults, map: &Map) -> Option<Matcher> {
    for (key, value) in map.iter().filter(|(_, value)| finite(value).is_none()) {
        faults.at(key, |faults| wrong(faults, "a number", value));
    }
    let bound = |key| map.get(key).and_then(finite).cloned();
    let (min, max) = (bound("min"), bound("max"));
    if let (Some(least), Some(most)) = (&min, &max)
        && !at_most(least, most)
    {
        let message = format!("no number is from {least} to {most}");
        faults.value(MATCHER, message, "an empty range").help("swap `min` and `max`");
        return None;
    }
    (min.is_some() || max.is_some()).then_some(Matcher::Range(min, max))
}

fn tolerance(faults: &mut Faults, value: &Value) -> Option<Tolerance> {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.trim().parse().ok());
    let found = match percent {
        Some(share) => Some(Tolerance::Percent(share)),
        None => value.as_f64().map(Tolerance::Absolute),
    };
    let is_sound = |tolerance: &Tolerance| {
        let (Tolerance::Absolute(most) | Tolerance::Percent(most)) = *tolerance;
        most.is_finite() && most >= 0.0
    };
    let found = found.filter(is_sound);
    if found.is_none() {
        wrong(faults, r#"a number from 0 such as 0.01, or a share such as "1%""#, value);
    }
    found
}

fn demands(faults: &mut Faults, value: &Value) -> Demands {
    let mut read = Demands::default();
    let demands = object(faults, value, "demands");
    if demands.is_some_and(Map::is_empty) {
        empty(faults, "nothing is demanded of the answer", "remove the key, or write a demand");
    }
    for (key, value) in demands.into_iter().flatten() {
        faults.at(key, |faults| match key {
            "contains" => read.contains = words(faults, value).unwrap_or_default(),
            "contains_any" => read.contains_any = words(faults, value).unwrap_or_default(),
            "lacks" => read.lacks = words(faults, value).unwrap_or_default(),
            "is" => read.is = each(faults, value, text).unwrap_or_default(),
            "regex" => read.regex = each(faults, value, demanded_pattern).unwrap_or_default(),
            "number" => read.number = each(faults, value, number).unwrap_or_default(),
            "json" => {
                let paths = object(faults, value, "paths");
                if paths.is_some_and(Map::is_empty) {
                    empty(faults, "no path is demanded", "remove the key, or write a path with a matcher");
                }
                for (text, value) in paths.into_iter().flatten() {
                    read.json.extend(faults.at(text, |faults| json(faults, text, value)));
                }
            }
            "max_words" => read.max_words = count(faults, value, usize::MAX),
            _ => unknown(faults, key, "in the demands on an answer", &DEMANDS),
        });
    }
    read
}

fn number(faults: &mut Faults, value: &Value) -> Option<NumberDemand> {
    if let Some(number) = finite(value) {
        return Some(NumberDemand::new(number.clone()));
    }
    let Value::Object(map) = value else {
        wrong(faults, r#"a number or {"is": .., "within": ..}"#, value);
        return None;
    };
    for key in map.keys().filter(|key| !["is", "within"].contains(key)) {
        faults.at(key, |faults| unknown(faults, key, "in a number", &["is", "within"]));
    }
    let Some(is) = map.get("is").and_then(finite) else {
        faults.at("is", |faults| wrong(faults, "a number", map.get("is").unwrap_or(&Value::Null)));
        return None;
    };
    let read = NumberDemand::new(is.clone());
    match map.get("within") {
        Some(within) => Some(read.within(faults.at("within", |faults| tolerance(faults, within))?)),
        None => Some(read),
    }
}

fn json(faults: &mut Faults, text: &str, value: &Value) -> Option<(ArgPath, JsonDemand)> {
    let path = path(faults, text)?;
    if path.is_further() {
        let message = "`...` names no value of an answer";
        faults.key(ProblemCode::UnknownPlace, message, "no path").help("further keys are allowed; remove it");
        return None;
    }
    if let Some(equals) = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("equals")) {
        return Some((path, JsonDemand::Equals(equals.clone())));
    }
    let matcher = matcher(faults, value)?;
    let compared = matcher.unwrapped();
    if compared.reads_golden() {
        let message = format!("`{}` compares with an expected value, and a demand has none", compared.name());
        let fault = faults.value(MATCHER, message, "nothing to compare with");
        fault.help(r#"write the value: `{"equals": ..}`, or another matcher"#);
        return None;
    }
    Some((path, JsonDemand::Matches(matcher)))
}

/// The mistake of an object that says nothing.
fn empty(faults: &mut Faults, message: &str, help: &str) {
    faults.value(TYPE, message, "says nothing").help(help);
}

/// One value, or a list of at least one.
fn each<T>(
    faults: &mut Faults,
    value: &Value,
    mut read: impl FnMut(&mut Faults, &Value) -> Option<T>,
) -> Option<Vec<T>> {
    let Value::Array(items) = value else { return read(faults, value).map(|one| vec![one]) };
    if items.is_empty() {
        faults.value(TYPE, "the list is empty", "nothing is asked for").help("remove the key");
    }
    let read = items.iter().enumerate().map(|(at, item)| faults.item(at, |faults| read(faults, item)));
    read.collect::<Vec<_>>().into_iter().collect()
}

fn text(faults: &mut Faults, value: &Value) -> Option<String> {
    let found = value.as_str().map(str::to_owned);
    if found.is_none() {
        wrong(faults, "a text", value);
    }
    found
}

/// Texts to be searched for. A blank text is in every text.
fn words(faults: &mut Faults, value: &Value) -> Option<Vec<String>> {
    each(faults, value, |faults, value| {
        let found = text(faults, value)?;
        let is_blank = fold(&found).is_empty();
        if is_blank {
            faults.value(MATCHER, "an empty text is in every text", "says nothing").help("remove it");
        }
        (!is_blank).then_some(found)
    })
}

fn pattern(faults: &mut Faults, value: &Value) -> Option<Pattern> {
    let text = text(faults, value)?;
    match Pattern::new(&text) {
        Ok(pattern) => Some(pattern),
        Err(reason) => {
            let message = format!("the regular expression cannot be used: {}", reason.trim_end_matches('.'));
            faults.value(MATCHER, message, "no regular expression").help(
                "expressions have the syntax of the crate `regex-lite`, close to Python's; a backslash is written twice in JSON",
            );
            None
        }
    }
}

/// An expression that finds something in any answer demands nothing.
fn demanded_pattern(faults: &mut Faults, value: &Value) -> Option<Pattern> {
    let pattern = pattern(faults, value)?;
    if pattern.finds("") && pattern.finds("\u{1}\n\u{fffd}") {
        let message = "the regular expression matches a part of every answer";
        faults.value(MATCHER, message, "demands nothing").help(r"demand something: `\\S`, `[0-9]+`");
        return None;
    }
    Some(pattern)
}

fn count(faults: &mut Faults, value: &Value, most: usize) -> Option<usize> {
    let found = value.as_i64().and_then(|number| usize::try_from(number).ok());
    let found = found.filter(|number| (1..=most).contains(number));
    if found.is_none() {
        let to = if most < usize::MAX { format!(" to {most}") } else { String::new() };
        wrong(faults, &format!("a number from 1{to}"), value);
    }
    found
}

fn names(faults: &mut Faults, value: &Value, expected: &str, one: &str) -> Option<Vec<String>> {
    let Value::Array(items) = value else {
        wrong(faults, expected, value);
        return None;
    };
    if items.is_empty() {
        empty(faults, &format!("no {one} is named"), &format!("remove the key, or name a {one}"));
    }
    Some(
        items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| faults.item(at, |faults| text(faults, item)))
            .collect(),
    )
}

/// The rules of an object by the names of calls or responses.
fn rules_of<'v>(
    faults: &mut Faults,
    value: &'v Value,
    of: &str,
    one: &str,
) -> impl Iterator<Item = (&'v str, &'v Value)> + use<'v> {
    let rules = object(faults, value, of);
    if rules.is_some_and(Map::is_empty) {
        empty(faults, &format!("no {one} has a rule"), "remove the key, or write a rule");
    }
    rules.into_iter().flatten()
}

fn object<'v>(faults: &mut Faults, value: &'v Value, of: &str) -> Option<&'v Map> {
    let found = value.as_object();
    if found.is_none() {
        wrong(faults, &format!("an object of {of}"), value);
    }
    found
}

fn wrong(faults: &mut Faults, expected: &str, found: &Value) {
    let found = match found {
        Value::Array(_) | Value::Object(_) => found.kind().to_owned(),
        scalar => show(scalar),
    };
    let message = format!("{} must be {expected}, not {found}", faults.name());
    faults.value(TYPE, message, &format!("expected {expected}"));
}

fn unknown(faults: &mut Faults, key: &str, place: &str, known: &[&str]) {
    let keys = quoted_list(known);
    let help = match suggest(key, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the keys are {keys}"),
    };
    let message = format!("unknown key `{}` {place}", shown(key));
    faults.key(ProblemCode::UnknownKey, message, "nothing reads this key").help(help);
}
