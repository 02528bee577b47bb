//! Bounds: thresholds with their direction, and how an argument of a command spells one.

use std::fmt;

use eval_support::untrusted::one_line;

use super::choices::Direction;

/// The threshold of a criterion with its direction: the one place that compares a score with a threshold.
///
/// ```
/// use eval_format::Bound;
///
/// let at_least = Bound::at_least(0.8);
/// assert!(at_least.is_met(0.8) && !at_least.is_met(0.7));
/// let at_most = Bound::at_most(5.0);
/// assert!(at_most.is_met(5.0) && !at_most.is_met(10.0));
/// assert_eq!((at_least.to_string(), at_most.to_string()), ("0.8".to_owned(), "at most 5.0".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The number.
    pub threshold: f64,
    /// The side on which scores meet it.
    pub direction: Direction,
}

impl Bound {
    /// Scores from the threshold up meet it.
    pub const fn at_least(threshold: f64) -> Self {
        Self { threshold, direction: Direction::AtLeast }
    }

    /// Scores up to the threshold meet it.
    pub const fn at_most(threshold: f64) -> Self {
        Self { threshold, direction: Direction::AtMost }
    }

    /// Whether a score meets it. There is no tolerance, as in ADK.
    pub fn is_met(self, score: f64) -> bool {
        match self.direction {
            Direction::AtLeast => score >= self.threshold,
            Direction::AtMost => score <= self.threshold,
        }
    }

    /// Whether no score from `min` to `max` misses it. Without a `max` scores have no upper limit.
    pub fn is_free(self, min: f64, max: Option<f64>) -> bool {
        match self.direction {
            Direction::AtLeast => self.threshold <= min,
            Direction::AtMost => max.is_some_and(|max| self.threshold >= max),
        }
    }

    /// The word for runs that meet it: they reached or kept it.
    pub fn reached(self) -> &'static str {
        match self.direction {
            Direction::AtLeast => "reached",
            Direction::AtMost => "kept",
        }
    }

    /// The sentence about a metric no score of which misses it.
    #[doc(hidden)]
    pub fn checks_nothing(self, metric: &str) -> String {
        format!(
            "no score of `{}` is {} its threshold {:?}, so it would check nothing",
            one_line(metric),
            self.missed(),
            self.threshold
        )
    }

    /// The side on which a score misses it, in a word.
    pub fn missed(self) -> &'static str {
        match self.direction {
            Direction::AtLeast => "below",
            Direction::AtMost => "above",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.direction {
            Direction::AtLeast => write!(f, "{:?}", self.threshold),
            Direction::AtMost => write!(f, "at most {:?}", self.threshold),
        }
    }
}

/// A metric that a command asks for, with an optional threshold: `NAME`, `NAME=0.8`, `NAME>=0.8` or
/// `NAME<=5`.
///
/// ```
/// use eval_format::metric::MetricArgument;
/// use eval_format::Direction;
///
/// let asked = MetricArgument::parse("token_usage_v1<=5000")?;
/// assert_eq!((asked.name.as_str(), asked.threshold), ("token_usage_v1", Some(5000.0)));
/// assert_eq!(asked.direction, Some(Direction::AtMost));
/// assert_eq!(MetricArgument::parse("safety_v1=high").unwrap_err(), ("safety_v1".to_owned(), "high".to_owned()));
/// # Ok::<_, (String, String)>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MetricArgument {
    /// The name of the metric.
    pub name: String,
    /// The threshold; `None` leaves it to the config.
    pub threshold: Option<f64>,
    /// The direction; `None` leaves it to the config.
    pub direction: Option<Direction>,
}

impl MetricArgument {
    /// Reads an argument. The error holds the name of the metric and the text that is not a threshold.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let Some((name, value)) = text.split_once('=') else {
            return Ok(Self { name: text.to_owned(), threshold: None, direction: None });
        };
        let (name, direction) = match (name.strip_suffix('<'), name.strip_suffix('>')) {
            (Some(name), _) => (name, Some(Direction::AtMost)),
            (_, Some(name)) => (name, Some(Direction::AtLeast)),
            _ => (name, None),
        };
        match value.trim().parse::<f64>().ok().filter(|threshold| threshold.is_finite()) {
            Some(threshold) => {
                Ok(Self { name: name.trim().to_owned(), threshold: Some(threshold), direction })
            }
            None => Err((name.to_owned(), value.to_owned())),
        }
    }
}

impl<N: Into<String>> From<(N, Option<f64>)> for MetricArgument {
    /// A metric with a threshold, in the direction of its config.
    fn from((name, threshold): (N, Option<f64>)) -> Self {
        Self { name: name.into(), threshold, direction: None }
    }
}

impl<N: Into<String>> From<(N, Bound)> for MetricArgument {
    fn from((name, bound): (N, Bound)) -> Self {
        Self { name: name.into(), threshold: Some(bound.threshold), direction: Some(bound.direction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_no_score_of_the_range_misses_is_free() {
        for (bound, max, free) in [
            (Bound::at_least(0.0), Some(1.0), true),
            (Bound::at_least(0.1), Some(1.0), false),
            (Bound::at_most(1.0), Some(1.0), true),
            (Bound::at_most(0.9), Some(1.0), false),
            (Bound::at_most(0.0), None, false),
            (Bound::at_most(1e308), None, false),
        ] {
            assert_eq!(bound.is_free(0.0, max), free, "{bound:?}");
        }
        assert!(!Bound::at_most(f64::NAN).is_met(0.0) && !Bound::at_least(f64::NAN).is_met(0.0));
    }

    #[test]
    fn a_score_at_the_threshold_meets_it_in_either_direction() {
        for (bound, met, missed, words) in [
            (Bound::at_least(0.5), [0.5, 0.6], 0.4, ("reached", "below", "0.5")),
            (Bound::at_most(0.5), [0.5, 0.4], 0.6, ("kept", "above", "at most 0.5")),
        ] {
            assert!(met.into_iter().all(|score| bound.is_met(score)) && !bound.is_met(missed), "{bound:?}");
            assert_eq!((bound.reached(), bound.missed(), bound.to_string().as_str()), words);
        }
    }

    #[test]
    fn an_argument_names_a_metric_a_threshold_and_a_direction() {
        for (text, name, threshold, direction) in [
            ("a", "a", None, None),
            ("a=1", "a", Some(1.0), None),
            ("a<=5", "a", Some(5.0), Some(Direction::AtMost)),
            ("a>=.5", "a", Some(0.5), Some(Direction::AtLeast)),
            ("a <= 5", "a", Some(5.0), Some(Direction::AtMost)),
        ] {
            let parsed = MetricArgument::parse(text).unwrap();
            assert_eq!(
                (parsed.name.as_str(), parsed.threshold, parsed.direction),
                (name, threshold, direction)
            );
        }
        for text in ["a=", "a=x", "a<=", "a==1", "a<=<=1", "a=NaN", "a<=inf"] {
            assert!(MetricArgument::parse(text).is_err(), "{text}");
        }
    }
}
