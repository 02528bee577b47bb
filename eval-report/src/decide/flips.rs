//! The sign-flip test: whether the mean of differences of cases is above 0.

use fastrand::Rng;

/// The most differences whose signs are all flipped, which are about a million sums.
const MAX_EXACT: usize = 20;

/// The drawn flips of more differences.
const DRAWS: u32 = 20_000;

/// Sums that differ by less are equal: each is made in another order.
const TOLERANCE: f64 = 1e-9;

/// The probability of a sum at least this large if each difference had a random sign.
///
/// Up to 20 differences are tested exactly, more by drawn flips from a fixed seed. Differences of 0 tell nothing.
///
/// ```
/// use eval_report::decide::flips::sign_flips;
///
/// assert_eq!(sign_flips(&[0.1, 0.2, 0.3]), 0.125);
/// assert_eq!(sign_flips(&[0.1, -0.1]), 0.75);
/// assert_eq!(sign_flips(&[]), 1.0);
/// ```
pub fn sign_flips(differences: &[f64]) -> f64 {
    let told: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let observed: f64 = told.iter().sum::<f64>() - TOLERANCE;
    let sizes: Vec<f64> = told.iter().map(|difference| difference.abs()).collect();
    if sizes.len() <= MAX_EXACT { exact(&sizes, observed) } else { drawn(&sizes, observed) }
}

fn exact(sizes: &[f64], observed: f64) -> f64 {
    let all = 1_u32 << sizes.len();
    let mut signs = vec![1.0; sizes.len()];
    let mut sum: f64 = sizes.iter().sum();
    let mut as_great = u32::from(sum >= observed);
    // The code of Gray: each step flips one sign.
    for step in 1..all {
        let at = step.trailing_zeros() as usize;
        signs[at] = -signs[at];
        sum += 2.0 * signs[at] * sizes[at];
        as_great += u32::from(sum >= observed);
    }
    f64::from(as_great) / f64::from(all)
}

fn drawn(sizes: &[f64], observed: f64) -> f64 {
    let mut rng = Rng::with_seed(20_261_123);
    let mut sum = || sizes.iter().map(|size| if rng.bool() { *size } else { -size }).sum::<f64>();
    let as_great: u32 = (0..DRAWS).map(|_| u32::from(sum() >= observed)).sum();
    // What was observed is one of the flips.
    f64::from(as_great + 1) / f64::from(DRAWS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signs_are_flipped_as_by_brute_force() {
        let mut rng = Rng::with_seed(7);
        for count in 0..9 {
            let differences: Vec<f64> = (0..count).map(|_| f64::from(rng.i32(-5..=5)) / 10.0).collect();
            let observed: f64 = differences.iter().sum();
            let sums = (0..1_u32 << count).map(|mask| {
                let sign = |at: usize| if mask >> at & 1 == 1 { -1.0 } else { 1.0 };
                differences.iter().enumerate().map(|(at, it)| sign(at) * it).sum::<f64>()
            });
            let as_great = u32::try_from(sums.filter(|sum| *sum >= observed - TOLERANCE).count()).unwrap();
            let expected = f64::from(as_great) / f64::from(1_u32 << count);
            assert!((sign_flips(&differences) - expected).abs() < 1e-12, "{differences:?}");
        }
    }

    #[test]
    fn many_differences_are_drawn_and_near_the_exact_value() {
        // 15 or more heads of 21 throws of a fair coin.
        let differences: Vec<f64> = (0..21).map(|at| if at < 15 { 1.0 } else { -1.0 }).collect();
        let expected = 0.039_18;
        assert!((sign_flips(&differences) - expected).abs() < 0.005, "{}", sign_flips(&differences));
        assert!(sign_flips(&[0.1; 40]) < 0.001);
    }
}
