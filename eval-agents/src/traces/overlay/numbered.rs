//! Lists that are spread over attributes, with the number of the element in the name.

use std::collections::BTreeMap;

use eval_core::format::{Map, Value};

use crate::traces::attributes::Attributes;
use crate::traces::message::{Message, NoContent, captured};

/// The field of an element and its value.
pub(super) type Field<'a> = (&'a str, &'a Value);

/// The attributes below a prefix, by their number: the rest of the name, and the value.
pub(super) fn numbered<'a>(
    attributes: impl IntoIterator<Item = Field<'a>>,
    prefix: &str,
) -> BTreeMap<u64, Vec<Field<'a>>> {
    let mut by_number: BTreeMap<u64, Vec<Field<'_>>> = BTreeMap::new();
    for (name, value) in attributes {
        let Some((number, field)) = name.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        if let Some(number) = number.parse().ok().filter(|_| !field.is_empty()) {
            by_number.entry(number).or_default().push((field, value));
        }
    }
    by_number
}

/// The attributes whose names begin so.
fn below<'a>(attributes: &'a Attributes, prefix: &'a str) -> impl Iterator<Item = Field<'a>> {
    let from = attributes.range(prefix.to_owned()..);
    from.map(|(name, value)| (name.as_str(), value)).take_while(move |(name, _)| name.starts_with(prefix))
}

/// The fields that are no lists.
pub(super) fn plain(fields: &[Field<'_>]) -> Map {
    fields.iter().filter(|(name, _)| !name.contains('.')).map(|(name, value)| (*name, *value)).collect()
}

/// The messages below a prefix, each of which `one` puts together; `None` if there are none.
pub(super) fn messages(
    attributes: &Attributes,
    prefix: &str,
    one: fn(&[Field<'_>]) -> Option<Message>,
) -> Option<Result<Vec<Message>, NoContent>> {
    let by_number = numbered(below(attributes, prefix), prefix);
    if by_number.is_empty() {
        return None;
    }
    let messages: Vec<Message> = by_number.into_values().filter_map(|fields| one(&fields)).collect();
    Some(captured(messages, |_| true))
}
