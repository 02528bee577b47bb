//! The options of judged metrics.

use super::Criterion;
use crate::metric::fields::{JUDGE, RUBRICS, WEIGHTS};
use crate::model::Rubric;
use crate::value::{Map, Value};

impl Criterion {
    /// The judge's model: `judge_model` of `judge_model_options`.
    pub fn judge_model(&self) -> Option<&str> {
        self.judge_option("judge_model").and_then(Value::as_str)
    }

    /// Sets the judge's model.
    ///
    /// ```
    /// use eval_format::{Criterion, EvalConfig};
    ///
    /// let criterion = Criterion::new(0.8).with_judge_model("gemini-2.5-pro").with_num_samples(3);
    /// assert!(EvalConfig::default().with("final_response_match_v2", criterion.clone()).checked(&[]).is_ok());
    /// // The judge would never be asked.
    /// let unasked = criterion.with_num_samples(0);
    /// assert!(EvalConfig::default().with("final_response_match_v2", unasked).checked(&[]).is_err());
    /// ```
    #[must_use]
    pub fn with_judge_model(self, model: impl Into<String>) -> Self {
        self.with_judge_option("judge_model", Value::String(model.into()))
    }

    /// The number of votes for each question: `num_samples` of `judge_model_options`.
    pub fn num_samples(&self) -> Option<u32> {
        self.judge_count("num_samples")
    }

    /// Sets how often the judge is asked each question.
    #[must_use]
    pub fn with_num_samples(self, samples: u32) -> Self {
        self.with_judge_option("num_samples", i64::from(samples))
    }

    /// The number of questions asked at a time: `parallelism_limit` of `judge_model_options`.
    pub fn parallelism_limit(&self) -> Option<u32> {
        self.judge_count("parallelism_limit")
    }

    /// Sets how many questions are asked at a time.
    #[must_use]
    pub fn with_parallelism_limit(self, limit: u32) -> Self {
        self.with_judge_option("parallelism_limit", i64::from(limit))
    }

    /// The configuration of the judge's model (`temperature`, `max_output_tokens`, ...), with keys in `snake_case`:
    /// `judge_model_config` of `judge_model_options`.
    pub fn judge_model_config(&self) -> Option<&Map> {
        self.judge_option("judge_model_config").and_then(Value::as_object)
    }

    /// Sets the configuration of the judge's model.
    #[must_use]
    pub fn with_judge_model_config(self, config: Map) -> Self {
        self.with_judge_option("judge_model_config", config)
    }

    /// The rubrics that the metric applies to every turn: `rubrics`.
    pub fn rubrics(&self) -> Vec<Rubric> {
        let rubrics = self.get(RUBRICS.name).and_then(Value::as_array).unwrap_or_default();
        rubrics.iter().filter_map(rubric).collect()
    }

    /// Sets the rubrics that the metric applies to every turn.
    ///
    /// ```
    /// use eval_format::{Criterion, Rubric};
    ///
    /// let kind = Rubric::new("kind", "The answer is kind.");
    /// let criterion = Criterion::new(1.0).with_rubrics([kind.clone()]).with_weights([("kind", 2.0)]);
    /// assert_eq!(criterion.rubrics(), [kind]);
    /// assert_eq!(criterion.weights().collect::<Vec<_>>(), [("kind", 2.0)]);
    /// ```
    #[must_use]
    pub fn with_rubrics(self, rubrics: impl IntoIterator<Item = Rubric>) -> Self {
        let rubrics: Vec<Value> = rubrics.into_iter().map(|rubric| rubric.to_value()).collect();
        self.with(RUBRICS.name, rubrics)
    }

    /// The weights of rubrics in the mean, by their ids: `weights`. A rubric that is not named has the weight 1.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        let weights = self.get(WEIGHTS.name).and_then(Value::as_object).into_iter().flat_map(Map::iter);
        weights.filter_map(|(id, weight)| Some((id, weight.as_f64()?)))
    }

    /// Sets the weights of rubrics in the mean, by their ids.
    #[must_use]
    pub fn with_weights<K: Into<String>>(self, weights: impl IntoIterator<Item = (K, f64)>) -> Self {
        self.with(WEIGHTS.name, weights.into_iter().collect::<Map>())
    }

    fn judge_option(&self, key: &str) -> Option<&Value> {
        self.get(JUDGE.name)?.as_object()?.get(key)
    }

    fn judge_count(&self, key: &str) -> Option<u32> {
        self.judge_option(key).and_then(Value::as_i64).and_then(|count| u32::try_from(count).ok())
    }

    fn with_judge_option(self, key: &str, value: impl Into<Value>) -> Self {
        let mut options = self.get(JUDGE.name).and_then(Value::as_object).cloned().unwrap_or_default();
        options.insert(key, value);
        self.with(JUDGE.name, options)
    }
}

/// A rubric of a criterion; `None` if the value was never checked and is not a rubric.
fn rubric(value: &Value) -> Option<Rubric> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Some(Rubric {
        rubric_id: text("rubric_id")?,
        text_property: value["rubric_content"]["text_property"].as_str().map(str::to_owned),
        description: text("description"),
        kind: text("type"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read_back() {
        let criterion = Criterion::new(1.0)
            .with_judge_model("m")
            .with_num_samples(3)
            .with_parallelism_limit(2)
            .with_intermediate_responses_in_final(true)
            .with_judge_model_config(Map::from([("temperature", 0.0)]));
        assert_eq!(criterion.judge_model(), Some("m"));
        assert!(criterion.include_intermediate_responses_in_final());
        assert_eq!((criterion.num_samples(), criterion.parallelism_limit()), (Some(3), Some(2)));
        assert_eq!(criterion.judge_model_config(), Some(&Map::from([("temperature", 0.0)])));
    }

    #[test]
    fn nothing_said_is_nothing_read() {
        let criterion = Criterion::new(1.0);
        assert_eq!((criterion.judge_model(), criterion.num_samples()), (None, None));
        assert!(criterion.rubrics().is_empty() && criterion.weights().next().is_none());
    }

    #[test]
    fn rubrics_that_are_none_are_left_out() {
        let rubrics = vec![Value::Null, Value::from("x"), Rubric::new("a", "b").to_value()];
        assert_eq!(Criterion::new(1.0).with("rubrics", rubrics).rubrics(), [Rubric::new("a", "b")]);
    }
}
