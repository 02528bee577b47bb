//! Rubrics: what judges are asked about.

/// A property that a judge answers with yes or no.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rubric {
    /// The id, unique among the rubrics of a turn.
    pub rubric_id: String,
    /// The property, as a sentence.
    pub text_property: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Which metric it belongs to: `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY`, ...
    pub kind: Option<String>,
}

impl Rubric {
    /// A rubric of no particular metric, as the criterion of one has it.
    pub fn new(rubric_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rubric_id: rubric_id.into(), text_property: Some(text.into()), ..Self::default() }
    }

    /// Says which metric it belongs to, as rubrics of cases and turns must.
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
}
