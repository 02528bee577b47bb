//! Reading and saving of ADK's models: one table for each type, which lists the fields of the struct.
//!
//! A value is written in ADK's order, without fields that are `null` or have their default.

use crate::schema::{Extra, Model};
use crate::value::{Map, Value};

/// A value as ADK saves it.
pub(crate) trait Saved {
    fn saved(&self) -> Value;

    /// Whether it is the default of a field, which is not written if the file may leave it out.
    fn is_default(&self) -> bool {
        false
    }
}

/// Scalars and maps, each with its value and its default.
macro_rules! saved_values {
    ($($kind:ty: $saved:expr, $is_default:expr;)+) => {
        $(impl Saved for $kind {
            fn saved(&self) -> Value {
                $saved(self)
            }

            fn is_default(&self) -> bool {
                $is_default(self)
            }
        })+
    };
}

saved_values! {
    Value: Value::clone, |_| false;
    bool: |flag: &bool| Value::from(*flag), |_| false;
    i64: |int: &i64| Value::from(*int), |_| false;
    f64: |seconds: &f64| Value::from(*seconds), |seconds: &f64| *seconds == 0.0;
    String: |text: &String| Value::from(text), String::is_empty;
    Map: |map: &Map| Value::Object(map.clone()), Map::is_empty;
}

impl<T: Saved> Saved for Vec<T> {
    fn saved(&self) -> Value {
        self.iter().map(T::saved).collect()
    }

    fn is_default(&self) -> bool {
        self.is_empty()
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn saved(&self) -> Value {
        Value::Array(vec![self.0.saved(), self.1.saved()])
    }
}

/// Writes `Some` even if its value is the default.
impl<T: Saved> Saved for Option<T> {
    fn saved(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::saved)
    }

    fn is_default(&self) -> bool {
        self.is_none()
    }
}

/// The value of a field, unless it is a default.
pub(crate) fn some(value: &impl Saved) -> Option<Value> {
    (!value.is_default()).then(|| value.saved())
}

/// An object of the fields that have a value.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map {
    let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Map::from_unique(fields.collect())
}

/// Collects the fields of one object in the order of its model.
pub(super) struct Fields {
    model: &'static Model,
    known: Vec<Option<Value>>,
}

impl Fields {
    pub(super) fn new(model: &'static Model) -> Self {
        Self { model, known: vec![None; model.fields.len()] }
    }

    /// Puts the value of the field at a position, unless it is a default that the file may leave out.
    pub(super) fn put(&mut self, at: usize, value: &impl Saved) {
        if self.model.fields[at].required || !value.is_default() {
            self.put_always(at, value);
        }
    }

    pub(super) fn put_always(&mut self, at: usize, value: &impl Saved) {
        self.known[at] = Some(value.saved());
    }

    /// The object, with other keys, which are no fields of the struct. If both have a key, the field counts.
    /// ADK writes no `null`.
    ///
    /// If the model keeps unknown keys, a key among the others with the name of a field is dropped: beside
    /// the field it would be a duplicate, and alone it would be read as the field.
    pub(super) fn finish(mut self, others: &[&Map]) -> Value {
        let Self { model, known } = &mut self;
        let mut unknown = Vec::new();
        for (key, value) in others.iter().flat_map(|map| map.iter()).filter(|(_, value)| !value.is_null()) {
            if model.extra == Extra::Kept && model.has(key) {
                continue;
            }
            // Each key is searched in the few fields of the model. The other keys are never searched: there
            // may be any number of them.
            match model.fields.iter().position(|field| field.name == key) {
                Some(at) => _ = known[at].get_or_insert_with(|| value.clone()),
                None => unknown.push((key.to_owned(), value.clone())),
            }
        }
        let mut entries = Vec::with_capacity(known.len() + unknown.len());
        for (field, value) in model.fields.iter().zip(known) {
            if let Some(value) = value.take() {
                entries.push((field.name.to_owned(), value));
            }
        }
        entries.extend(unknown);
        Value::Object(Map::from_unique(entries))
    }
}

/// Reading and saving of a struct: its model, and its fields by their names in the model. A field after `..`
/// holds the keys that have no field of their own. After `always`, a field is written with its default too if
/// the condition holds.
macro_rules! saved {
    ($(#[$doc:meta])* $type:ident: $model:ident {
        $($field:ident),+ $(, ..$others:ident)?
    } $(always $always:ident if $condition:path)?) => {
        impl From<$crate::schema::Record> for $type {
            fn from(mut record: $crate::schema::Record) -> Self {
                Self {
                    $($field: record.take(stringify!($field)).unwrap_or_default(),)+
                    $($others: record.rest(),)?
                }
            }
        }

        impl $type {
            $(#[$doc])*
            pub fn to_value(&self) -> $crate::value::Value {
                use $crate::schema::$model as MODEL;
                let Self { $($field,)+ $($others)? } = self;
                let mut fields = $crate::model::saved::Fields::new(&MODEL);
                $(fields.put(const { MODEL.position(stringify!($field)) }, $field);)+
                $(if $condition(self) {
                    fields.put_always(const { MODEL.position(stringify!($always)) }, $always);
                })?
                fields.finish(&[$($others)?])
            }
        }

        $crate::model::saved::saved!($type);
    };
    // A type with its own `From<Record>` for reading and its own `to_value` for writing.
    ($type:ident) => {
        $crate::schema::from_record!($type);

        impl $crate::model::saved::Saved for $type {
            fn saved(&self) -> $crate::value::Value {
                self.to_value()
            }
        }
    };
}

pub(crate) use eval_support::setters;
pub(crate) use saved;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EvalCase, EvalSet, Invocation, SessionInput};
    use crate::schema;

    #[test]
    fn a_key_that_is_a_field_is_never_written_as_an_extra_one() {
        let session =
            SessionInput::new("shop", "anna").with_extra("userId", "bob").with_extra("tier", "gold");
        let case = EvalCase::new("c")
            .turn(Invocation::user("Hi"))
            .with_session_input(session)
            .with_extra("eval_id", "other")
            .with_extra("conversationScenario", "none")
            .with_extra("id", 7_i64)
            .with_extra("owner", "me");
        let text = EvalSet::new("s").case(case).to_json();
        let read = EvalSet::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let case = &read.eval_cases[0];
        assert_eq!((case.eval_id.as_str(), case.conversation.len()), ("c", 1), "{text}");
        let session = case.session_input.as_ref().unwrap();
        assert_eq!(
            (session.user_id.as_str(), session.extra.len(), case.extra.len()),
            ("anna", 1, 2),
            "{text}"
        );
    }

    /// A slow [`Fields::finish`], key by key.
    fn merged_one_by_one(own: &[(&str, &str)], other: &Map, model: &Model) -> Value {
        let mut all: Map = own.iter().copied().collect();
        for (key, value) in other.iter().filter(|(_, value)| !value.is_null()) {
            if !all.contains_key(key) {
                all.insert(key, value.clone());
            }
        }
        let mut merged = Map::new();
        for field in model.fields {
            if let Some(value) = all.remove(field.name) {
                merged.insert(field.name, value);
            }
        }
        merged.extend(all);
        Value::Object(merged)
    }

    #[test]
    fn fields_stand_in_the_order_of_the_model_before_all_others() {
        let model = &schema::PART;
        let last = model.fields.len() - 1;
        for unknown in [0, 1, 15, 300] {
            let mut other = Map::new();
            for at in 0..unknown {
                other.insert(format!("x{}", (at * 7919) % 1000), at.to_string());
            }
            // Not in the order of the model, with a duplicate of a field, and with a `null`.
            other.insert(model.fields[last].name, "last");
            other.insert(model.fields[0].name, "first");
            other.insert("text", "of the file");
            other.insert("nothing", Value::Null);
            let mut fields = Fields::new(model);
            fields.put(model.position("text"), &"own".to_owned());
            let merged = fields.finish(&[&other]);
            // As text, since objects are equal in any order.
            let expected = merged_one_by_one(&[("text", "own")], &other, model);
            assert_eq!(merged.to_string(), expected.to_string());
            assert_eq!(merged["text"].as_str(), Some("own"));
            assert_eq!(merged.as_object().map(Map::len), Some(unknown + 3));
        }
    }
}
