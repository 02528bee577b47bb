//! Rubrics: what judges are asked about.

/// A property that a judge confirms or denies.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rubric {
    /// The id, unique among the rubrics of a turn.
    pub rubric_id: String,
    /// The property, as a sentence.
    pub text_property: Option<String>,
    /// What the property is about.
    pub description: Option<String>,
    /// The type, which says which metric reads it: `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY`, ...
    pub kind: Option<String>,
}

impl Rubric {
    /// A rubric without a type, as criteria have them.
    pub fn new(rubric_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rubric_id: rubric_id.into(), text_property: Some(text.into()), ..Self::default() }
    }

    /// Sets the type, which rubrics of cases and turns must have.
    ///
    /// ```
    /// use eval_format::Rubric;
    ///
    /// let rubric = Rubric::new("kind", "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
    /// assert_eq!(rubric.kind.as_deref(), Some("FINAL_RESPONSE_QUALITY"));
    /// ```
    #[must_use]
    pub fn of_type(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Sets what the property is about.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}
