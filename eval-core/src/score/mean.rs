//! The two means that ADK computes, and its rounding.

use super::exact_sum::ExactSum;

/// The mean that most of ADK's evaluators compute over turns: a running sum of floats, divided by their number.
///
/// `None` if there are no scores.
#[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 scores")]
pub fn naive(scores: &[f64]) -> Option<f64> {
    // `Iterator::sum` starts from -0.0, so the sum of -0.0 alone would be -0.0; Python's is 0.0.
    let sum = scores.iter().fold(0.0, |sum, score| sum + score);
    (!scores.is_empty()).then(|| sum / scores.len() as f64)
}

/// The mean that ADK compares with a threshold: Python's `statistics.mean`, which sums the exact values and rounds
/// once.
///
/// `None` if there are no scores. Infinities and NaN propagate, as in Python.
pub fn exact(scores: &[f64]) -> Option<f64> {
    let count = u64::try_from(scores.len()).ok().filter(|count| *count > 0)?;
    let not_finite = || scores.iter().filter(|score| !score.is_finite());
    if not_finite().next().is_some() {
        return Some(not_finite().sum());
    }
    // Most often all scores are the same. The mean of equal floats is that float, and the mean of negative zeros is
    // zero.
    if scores.iter().all(|score| score.to_bits() == scores[0].to_bits()) {
        return Some(scores[0] + 0.0);
    }
    let mut sum = ExactSum::new();
    for score in scores {
        sum.add(*score);
    }
    Some(sum.divided_by(count))
}

/// The sum of integers divided by a count, rounded once: Python's division of integers.
///
/// `None` if the count is zero.
pub fn of_integers(integers: impl IntoIterator<Item = i128>, count: usize) -> Option<f64> {
    let count = u64::try_from(count).ok().filter(|count| *count > 0)?;
    let mut sum = ExactSum::new();
    for integer in integers {
        sum.add_integer(integer);
    }
    Some(sum.divided_by(count))
}

/// The limit below which the rounding error of the product is far below a thousandth.
const EXACT: f64 = 1e9;

/// Python's `round(float, 3)`: rounds the exact value to three decimals, ties to even, then to the nearest float.
pub fn round_3(float: f64) -> f64 {
    let thousandths = float * 1000.0;
    let nearest = thousandths.round();
    // Far from a tie, the error of the product cannot matter, and a quotient of integers is rounded once,
    // like a parsed decimal.
    if thousandths.abs() < EXACT && (thousandths - nearest).abs() < 0.499 {
        return nearest / 1000.0;
    }
    // Formatting rounds the exact value by the same rule.
    if float.is_finite() { format!("{float:.3}").parse().unwrap_or(float) } else { float }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_means_differ_in_the_last_bit() {
        let scores = [0.1, 0.2, 0.3];
        assert_eq!(naive(&scores), Some(0.200_000_000_000_000_04));
        assert_eq!(exact(&scores), Some(0.2));
        assert_eq!(exact(&[0.1; 3]), Some(0.1));
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!((naive(&[]), exact(&[]), of_integers([], 0)), (None, None, None));
    }

    #[test]
    fn infinities_win_and_cancel_to_nan() {
        assert_eq!(exact(&[1.0, f64::INFINITY]), Some(f64::INFINITY));
        assert_eq!(exact(&[1.0, f64::NEG_INFINITY, f64::NEG_INFINITY]), Some(f64::NEG_INFINITY));
        assert!(exact(&[f64::INFINITY, f64::NEG_INFINITY]).is_some_and(f64::is_nan));
        assert!(exact(&[f64::NAN, 1.0]).is_some_and(f64::is_nan));
    }

    #[test]
    fn negative_zero_is_lost_on_the_way() {
        for mean in [naive(&[-0.0]), exact(&[-0.0, -0.0])] {
            assert_eq!(mean.map(f64::to_bits), Some(0));
        }
    }

    #[test]
    fn rounding_goes_by_the_exact_value() {
        for (float, rounded) in [
            (0.0625, 0.062),
            (0.1875, 0.188),
            (0.3125, 0.312),
            (2.6755, 2.675),
            (1.2345 - 1.0 - 0.1, 0.134),
            (-0.0001, -0.0),
            (1e300, 1e300),
            (f64::INFINITY, f64::INFINITY),
        ] {
            assert_eq!(round_3(float).to_bits(), f64::to_bits(rounded), "{float}: {}", round_3(float));
        }
        let mut float = 1e-9_f64;
        while float < 1e12 {
            for float in
                [float, -float, (float * 1000.0).round() / 1000.0, (float * 1000.0).floor() / 1000.0 + 0.0005]
            {
                let formatted: f64 = format!("{float:.3}").parse().unwrap();
                assert_eq!(round_3(float).to_bits(), formatted.to_bits(), "{float}");
            }
            float *= 1.003;
        }
    }
}
