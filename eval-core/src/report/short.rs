//! Scores as they are printed for people.

use eval_format::metric::Bound;

use crate::score::mean::round_3;

/// A score in few digits that never looks as if it were on the other side of its threshold.
///
/// It has up to two digits after the point, or as many as it takes. Without a threshold it is a count, or a time, and has up
/// to three. Formats for machines have all digits.
///
/// ```
/// use eval_core::format::Bound;
/// use eval_core::report::short;
///
/// assert_eq!(short(2.0 / 3.0, Some(Bound::at_least(0.8))), "0.67");
/// assert_eq!(short(0.7999, Some(Bound::at_least(0.8))), "0.7999");
/// assert_eq!(short(5.0001, Some(Bound::at_most(5.0))), "5.0001");
/// assert_eq!(short(1.234_56, None), "1.235");
/// ```
pub fn short(score: f64, bound: Option<Bound>) -> String {
    let Some(bound) = bound else { return format!("{:?}", round_3(score)) };
    let is_on_its_side = |shown: &f64| bound.is_met(*shown) == bound.is_met(score);
    let mut rounded = (2..17).filter_map(|digits| format!("{score:.digits$}").parse::<f64>().ok());
    // No score is shown as `-0.0`.
    format!("{:?}", rounded.find(is_on_its_side).unwrap_or(score) + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_never_looks_as_if_it_were_on_the_other_side_of_the_threshold() {
        for (score, threshold, shown) in [
            (0.5, Some(0.8), "0.5"),
            (0.912, Some(0.8), "0.91"),
            (0.799_9, Some(0.8), "0.7999"),
            (0.8, Some(0.8), "0.8"),
            (0.799_999_999_999_999_9, Some(0.8), "0.7999999999999999"),
            (0.846, Some(0.85), "0.846"),
            (0.999_999, Some(1.0), "0.999999"),
            (2.0 / 3.0, Some(0.667), "0.6667"),
            (-0.001, Some(-1.0), "0.0"),
            (1.0, None, "1.0"),
            (1_234.0, None, "1234.0"),
            (0.012_345, None, "0.012"),
        ] {
            assert_eq!(short(score, threshold.map(Bound::at_least)), shown, "{score} {threshold:?}");
        }
    }
}
