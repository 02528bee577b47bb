//! Rubrics: statements that judges confirm or deny.

use super::saved::{Saved, object, saved, setters, some};
use crate::schema::Record;
use crate::value::Value;

/// A property that a judge confirms or denies.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rubric {
    /// The id, unique among the rubrics of a turn.
    pub rubric_id: String,
    /// The property, as a sentence.
    pub text_property: Option<String>,
    /// A description of the property.
    pub description: Option<String>,
    /// The type, which says which metric reads it: `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY`, ...
    pub kind: Option<String>,
}

impl From<Record> for Rubric {
    fn from(mut record: Record) -> Self {
        let content: Option<Record> = record.take("rubric_content");
        Self {
            rubric_id: record.take("rubric_id").unwrap_or_default(),
            text_property: content.and_then(|mut content| content.take("text_property")),
            description: record.take("description"),
            kind: record.take("type"),
        }
    }
}

saved!(Rubric);

impl Rubric {
    /// The rubric in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let content = object([("text_property", some(&self.text_property))]);
        Value::Object(object([
            ("rubric_id", Some(self.rubric_id.saved())),
            ("rubric_content", Some(Value::Object(content))),
            ("description", some(&self.description)),
            ("type", some(&self.kind)),
        ]))
    }

    /// A rubric without a type, as criteria have them.
    pub fn new(rubric_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rubric_id: rubric_id.into(), text_property: Some(text.into()), ..Self::default() }
    }

    setters! {
        /// Sets the type, which rubrics of cases and turns must have.
        ///
        /// ```
        /// use eval_format::Rubric;
        ///
        /// let rubric = Rubric::new("kind", "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
        /// assert_eq!(rubric.kind.as_deref(), Some("FINAL_RESPONSE_QUALITY"));
        /// ```
        of_type(kind: impl Into<String>) { kind = Some(kind.into()) }

        /// Sets the description of the property.
        with_description(description: impl Into<String>) { description = Some(description.into()) }
    }
}
