//! The problems of values with a wrong shape: their messages, labels and help texts.

use eval_support::key_case::camel;
use eval_support::spelling::suggest;

use super::place::Place;
use super::table::{Extra, Field, Model, Type, is_camel_of};
use crate::problem::{Problem, ProblemCode, Severity, code_list, shown};
use crate::syntax::{Entry, Kind, Node};

/// The opening bracket of an object or array: the place of a problem about a missing part.
pub(crate) fn opening(node: &Node<'_>) -> std::ops::Range<usize> {
    node.range.start..node.range.end.min(node.range.start + 1)
}

pub(super) fn missing(node: &Node<'_>, field: &Field, model: &Model, place: &Place<'_>) -> Problem {
    let name = field.name;
    place
        .error(ProblemCode::MissingKey, opening(node), format!("{} has no `{name}`", subject(model)))
        .label(format!("`{name}` is missing here"))
        .help(format!("add `\"{name}\": {}`", field.example))
}

/// The model as the subject of a sentence: `the invocation`.
fn subject(model: &Model) -> String {
    let noun = model.what.strip_prefix("an ").or_else(|| model.what.strip_prefix("a "));
    format!("the {}", noun.unwrap_or(model.what))
}

fn unknown(code: ProblemCode, entry: &Entry<'_>, model: &Model, place: &Place<'_>) -> Problem {
    place.error_at_key(code, entry, format!("unknown key `{}` in {}", shown(&entry.key), model.what))
}

pub(super) fn unknown_key(
    entry: &Entry<'_>,
    model: &Model,
    meant: Option<usize>,
    place: &Place<'_>,
) -> Problem {
    let is_of_adk = model.extra == Extra::Forbidden;
    let help = match (stranger(entry, model), meant) {
        (Some(instead), _) => instead.to_owned(),
        (None, Some(at)) => did_you_mean(&entry.key, model, &model.fields[at]),
        (None, None) if entry.key.starts_with('_') && is_of_adk => format!(
            "{} takes no other keys, comments neither; in a case and in a criterion a key that begins with `_` is one",
            model.what
        ),
        (None, None) => format!("remove it; {} takes {}", model.what, keys(model)),
    };
    unknown(ProblemCode::UnknownKey, entry, model, place)
        .label(if is_of_adk { "ADK rejects this key" } else { NOT_READ })
        .help(help)
}

const NOT_READ: &str = "nothing reads this key";

fn stranger(entry: &Entry<'_>, model: &Model) -> Option<&'static str> {
    let is = |name: &str| entry.key == name || is_camel_of(&entry.key, name);
    model.foreign_keys.iter().find(|(name, _)| is(name)).map(|(_, instead)| *instead)
}

pub(super) fn unread_key(entry: &Entry<'_>, model: &Model, place: &Place<'_>) -> Problem {
    let help = stranger(entry, model).map_or_else(|| remove(model), str::to_owned);
    unknown(ProblemCode::UnknownKey, entry, model, place).label(NOT_READ).help(help)
}

fn remove(model: &Model) -> String {
    format!("remove it, or begin it with `_`; {} takes {}", model.what, keys(model))
}

pub(super) fn misspelt_key(entry: &Entry<'_>, model: &Model, field: &Field, place: &Place<'_>) -> Problem {
    let keeps = matches!(model.extra, Extra::Kept | Extra::Refused);
    let fate = if keeps { "keep it without reading it" } else { "ignore it" };
    unknown(ProblemCode::MisspeltKey, entry, model, place)
        .label(format!("ADK would {fate}"))
        .help(format!("{} (a key of your own can begin with `_`)", did_you_mean(&entry.key, model, field)))
}

fn did_you_mean(key: &str, model: &Model, field: &Field) -> String {
    let in_camel = model.camel && key.chars().any(char::is_uppercase);
    let name = if in_camel { camel(field.name) } else { field.name.to_owned() };
    format!("did you mean `{name}`?")
}

pub(super) fn ignored_key(entry: &Entry<'_>, model: &Model, place: &Place<'_>) -> Problem {
    let snake = model.fields.iter().find(|field| is_camel_of(&entry.key, field.name));
    let help = match snake {
        Some(field) => format!("ADK reads `{}` here, in snake_case only", field.name),
        None => remove(model),
    };
    let message = format!("key `{}` in {} is ignored", shown(&entry.key), model.what);
    place.warning_at_key(ProblemCode::IgnoredKey, entry, message).label(NOT_READ).help(help)
}

pub(super) fn both_spellings(
    loser: &Entry<'_>,
    winner: &Entry<'_>,
    model: &Model,
    place: &Place<'_>,
) -> Problem {
    let place = Place::Key(place, &loser.key);
    let message = format!("`{}` and `{}` are one key in two spellings", winner.key, loser.key);
    let is_lost = !loser.value.is_null() && loser.value.to_value() != winner.value.to_value();
    let is_rejected = model.extra.is_forbidden()
        && !(loser.value.is_null() && model.null_twins.contains(&loser.key.as_ref()));
    let (severity, label) = match (is_rejected, is_lost) {
        (true, _) => (Severity::Error, "ADK rejects this one"),
        (false, true) => (Severity::Error, "ADK would not read this value"),
        (false, false) => (Severity::Warning, "this one is ignored"),
    };
    let problem = place.error_at_key(ProblemCode::BothSpellings, loser, message).label(label);
    let problem = Problem { severity, ..problem };
    problem.related(winner.key_range.clone(), "this one counts").help("remove one of them")
}

pub(super) fn both_forms(one: &Entry<'_>, two: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("`{}` and `{}` exclude each other", one.key, two.key);
    place
        .error_at_key(ProblemCode::UnknownKey, two, message)
        .label("this is the form with every event in order")
        .related(one.key_range.clone(), "this is the form with flat lists")
        .help("keep one form: the flat lists, or `invocation_events` alone")
}

pub(super) fn null(entry: &Entry<'_>, field: &Field, place: &Place<'_>) -> Problem {
    let key = shown(&entry.key);
    let help = if field.required {
        format!("write `\"{key}\": {}`", field.example)
    } else {
        format!("remove the key; `{key}` may be absent, but not null")
    };
    let expected = expected(&field.kind);
    let message = format!("`{key}` must be {expected}, not null");
    place
        .error(ProblemCode::WrongType, entry.value.range.clone(), message)
        .label(format!("expected {expected}"))
        .help(help)
}

pub(crate) fn wrong_type(node: &Node<'_>, kind: &Type, example: &str, place: &Place<'_>) -> Problem {
    let subject = match place {
        Place::Root => "the document".to_owned(),
        Place::Key(_, key) => format!("`{}`", shown(key)),
        Place::Index(..) => format!("`{}`", place.path()),
    };
    let (expected, found) = (expected(kind), node.kind_name());
    let (message, label) = if is_kind(node, kind) {
        (format!("{subject} is not {expected}"), format!("expected {expected}"))
    } else {
        (format!("{subject} must be {expected}, not {found}"), format!("expected {expected}, found {found}"))
    };
    let range = match node.kind {
        Kind::Array(_) | Kind::Object(_) => opening(node),
        _ => node.range.clone(),
    };
    place.error(ProblemCode::WrongType, range, message).label(label).help(remedy(node, kind, example))
}

pub(super) fn not_a_pair(node: &Node<'_>, place: &Place<'_>) -> Problem {
    let path = place.path();
    let found = match node.array() {
        Some(items) if items.len() == 1 => "1 element".to_owned(),
        Some(items) => format!("{} elements", items.len()),
        None => node.kind_name().to_owned(),
    };
    let message = format!("`{path}` must be an array of an author and an array of parts, not {found}");
    Problem::error(ProblemCode::WrongType, path, opening(node), message)
        .label("expected two elements")
        .help(r#"write `["my_agent", [{"text": "..."}]]`"#)
}

/// Whether a refused value has the right JSON type, and only its content is wrong.
fn is_kind(node: &Node<'_>, kind: &Type) -> bool {
    match node.kind {
        Kind::String(_) => matches!(
            kind,
            Type::Bytes
                | Type::Choice { .. }
                | Type::Literal(_)
                | Type::Named(..)
                | Type::Float
                | Type::PythonFloat
                | Type::Int
                | Type::Bool
        ),
        Kind::Number(_) => matches!(kind, Type::Int | Type::Bool | Type::PythonFloat),
        _ => false,
    }
}

fn expected(kind: &Type) -> String {
    match kind {
        Type::String | Type::Enum(_) => "a string".to_owned(),
        Type::Float => "a number".to_owned(),
        Type::PythonFloat => "a number within the range of floats".to_owned(),
        Type::Int => "an integer".to_owned(),
        Type::Bool => "a boolean".to_owned(),
        Type::Bytes => "base64 text".to_owned(),
        Type::Choice { values, .. } => format!("one of {}", code_list(&mut values.iter().copied())),
        Type::Literal(text) => format!("`\"{text}\"`"),
        Type::Object | Type::Model(_) | Type::Dict(_) | Type::Either(..) => "an object".to_owned(),
        Type::Any => "a value".to_owned(),
        Type::List(_) | Type::Models(_) | Type::AuthorsAndParts(_) => "an array".to_owned(),
        Type::EmptyOr(inner) => expected(inner),
        Type::Named(..) => "an object or the name of a persona".to_owned(),
    }
}

fn remedy(node: &Node<'_>, kind: &Type, example: &str) -> String {
    match (kind, &node.kind) {
        (Type::String | Type::Enum(_), Kind::Number(text)) => {
            format!("put it in quotes: `\"{}\"`", shown(text))
        }
        (Type::String | Type::Enum(_), Kind::Bool(flag)) => format!("put it in quotes: `\"{flag}\"`"),
        (Type::Choice { values, .. }, Kind::String(text)) => match suggest(text, values.iter().copied()) {
            Some(near) => format!("did you mean `\"{near}\"`?"),
            None => format!("write `\"{}\"`, or leave the key out", values.join("\"`, `\"")),
        },
        (Type::Named(_, names), Kind::String(name)) => match suggest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `\"{near}\"`?"),
            None => format!("the personas are {}", code_list(&mut names.iter().copied())),
        },
        (Type::List(_) | Type::Models(_), Kind::Object(_) | Kind::String(_)) if example.is_empty() => {
            "put it in `[` and `]`".to_owned()
        }
        _ if !example.is_empty() => format!("write `{example}`"),
        (Type::Model(model), _) if !model.sample.is_empty() => format!("write `{}`", model.sample),
        (Type::Model(model), _) => format!("write {} with {}", model.what, keys(model)),
        (Type::Either(first, second), _) => {
            format!("write an object with {}, or with {}", keys(first), keys(second))
        }
        (Type::Float | Type::PythonFloat, _) => "write a number like `1` or `0.5`".to_owned(),
        (Type::Int, _) => "write a whole number like `1`".to_owned(),
        (Type::Bool, _) => "write `true` or `false`".to_owned(),
        (Type::Bytes, _) => "write the bytes in base64".to_owned(),
        (Type::Object | Type::Dict(_), _) => r#"write `{"key": ...}`, or `{}`"#.to_owned(),
        (Type::List(_) | Type::Models(_) | Type::AuthorsAndParts(_), _) => {
            "write `[...]`, or `[]`".to_owned()
        }
        (Type::String | Type::Enum(_), _) => r#"write text in quotes: `"..."`"#.to_owned(),
        (kind, _) => format!("write {}", expected(kind)),
    }
}

fn keys(model: &Model) -> String {
    code_list(&mut model.fields.iter().map(|field| field.name))
}
