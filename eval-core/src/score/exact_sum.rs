//! Sums of floats without rounding, as Python's `statistics` computes them with fractions.

/// The number of 64-bit digits: enough for 2^63 of the largest floats and the sign.
const LIMBS: usize = 34;

/// The negated binary exponent of the smallest float, which is the unit of the sum: 2^-1074.
const UNIT_EXPONENT: u32 = 1074;

/// An exact sum of finite floats and integers.
///
/// It is a fixed-point number in two's complement whose range covers every float, so adding never rounds.
#[derive(Clone, Debug)]
pub(crate) struct ExactSum {
    limbs: [u64; LIMBS],
}

impl ExactSum {
    pub(crate) const fn new() -> Self {
        Self { limbs: [0; LIMBS] }
    }

    /// Adds a float, which must be finite.
    pub(crate) fn add(&mut self, float: f64) {
        let bits = float.to_bits();
        let exponent = u32::try_from(bits >> 52 & 0x7ff).unwrap_or_default();
        let fraction = bits & ((1 << 52) - 1);
        // A subnormal float has no hidden bit, and the exponent of floats whose exponent field is 1.
        let digits = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        self.add_digits(digits, exponent.saturating_sub(1), float.is_sign_negative());
    }

    pub(crate) fn add_integer(&mut self, integer: i128) {
        let (low, high) = halves(integer.unsigned_abs());
        self.add_digits(low, UNIT_EXPONENT, integer < 0);
        self.add_digits(high, UNIT_EXPONENT + 64, integer < 0);
    }

    /// Adds `digits * 2^shift` units.
    fn add_digits(&mut self, digits: u64, shift: u32, negative: bool) {
        let (low, high) = halves(u128::from(digits) << (shift % 64));
        let mut carry = false;
        for (at, limb) in self.limbs[shift as usize / 64..].iter_mut().enumerate() {
            let part = match at {
                0 => low,
                1 => high,
                _ if carry => 0,
                _ => return,
            };
            (*limb, carry) =
                if negative { limb.borrowing_sub(part, carry) } else { limb.carrying_add(part, carry) };
        }
    }

    /// The sum divided by a count, rounded once, to the nearest float and from ties to even.
    ///
    /// The count must not be zero.
    pub(crate) fn divided_by(&self, count: u64) -> f64 {
        let negative = self.limbs[LIMBS - 1] >> 63 == 1;
        let mut quotient = if negative { negated(self.limbs) } else { self.limbs };
        let remainder = divide(&mut quotient, count);
        let float = round(&quotient, remainder, count);
        if negative { -float } else { float }
    }
}

fn negated(mut limbs: [u64; LIMBS]) -> [u64; LIMBS] {
    let mut carry = true;
    for limb in &mut limbs {
        (*limb, carry) = (!*limb).carrying_add(0, carry);
    }
    limbs
}

fn divide(limbs: &mut [u64; LIMBS], divisor: u64) -> u64 {
    let divisor = u128::from(divisor);
    let mut remainder = 0;
    for limb in limbs.iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*limb);
        // Both fit into one limb, since the remainder is smaller than the divisor.
        *limb = halves(dividend / divisor).0;
        remainder = halves(dividend % divisor).0;
    }
    remainder
}

/// The float nearest to `quotient + remainder / divisor` units.
fn round(quotient: &[u64; LIMBS], remainder: u64, divisor: u64) -> f64 {
    let Some(top) = quotient.iter().rposition(|limb| *limb != 0) else {
        return f64::from_bits(u64::from(rounds_up(remainder, divisor, false)));
    };
    let bits = top * 64 + 64 - quotient[top].leading_zeros() as usize;
    let dropped = bits.saturating_sub(53);
    let digits = digits_from(quotient, dropped) & ((1 << 53) - 1);
    let odd = digits & 1 == 1;
    let up = if dropped == 0 {
        rounds_up(remainder, divisor, odd)
    } else {
        let half = digits_from(quotient, dropped - 1) & 1 == 1;
        let more = remainder != 0 || has_digits_below(quotient, dropped - 1);
        half && (more || odd)
    };
    // The hidden bit, and a carry out of the digits, increase the exponent by one each, which is right.
    f64::from_bits(((dropped as u64) << 52) + digits + u64::from(up))
}

/// Whether a remainder rounds up: above one half, and at one half if the last digit kept is odd.
fn rounds_up(remainder: u64, divisor: u64, odd: bool) -> bool {
    let rest = divisor - remainder;
    remainder > rest || (remainder == rest && odd)
}

/// 64 binary digits, from a position on.
fn digits_from(limbs: &[u64; LIMBS], place: usize) -> u64 {
    let limb = |at: usize| limbs.get(at).copied().unwrap_or_default();
    let (at, shift) = (place / 64, place % 64);
    halves((u128::from(limb(at + 1)) << 64 | u128::from(limb(at))) >> shift).0
}

fn has_digits_below(limbs: &[u64; LIMBS], place: usize) -> bool {
    limbs[..place / 64].iter().any(|limb| *limb != 0) || limbs[place / 64] & ((1 << (place % 64)) - 1) != 0
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are returned")]
const fn halves(wide: u128) -> (u64, u64) {
    (wide as u64, (wide >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(terms: &[f64], count: u64, expected: f64) {
        let mut sum = ExactSum::new();
        for term in terms {
            sum.add(*term);
        }
        let found = sum.divided_by(count);
        assert_eq!(found.to_bits(), expected.to_bits(), "{terms:?} / {count}: {found:e}");
    }

    #[test]
    fn one_term_comes_back_as_it_was() {
        for float in
            [1.0, -0.1, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 1e-310, 2_f64.powi(1000)]
        {
            check(&[float], 1, float);
            check(&[float; 7], 7, float);
        }
    }

    #[test]
    fn terms_that_cancel_leave_the_rest() {
        check(&[1e308, 1.0, -1e308], 1, 1.0);
        check(&[f64::MAX, f64::MAX, 5e-324, -f64::MAX, -f64::MAX], 1, 5e-324);
        check(&[-1.0, 1.0], 2, 0.0);
        check(&[-0.0], 1, 0.0);
    }

    #[test]
    fn ties_go_to_even() {
        check(&[5e-324], 2, 0.0);
        check(&[5e-324; 3], 2, 1e-323);
        check(&[-5e-324; 3], 2, -1e-323);
        // 2^53 + 1 lies between two floats, 2^53 + 3 too.
        check(&[9_007_199_254_740_992.0, 1.0], 1, 9_007_199_254_740_992.0);
        check(&[9_007_199_254_740_992.0, 3.0], 1, 9_007_199_254_740_996.0);
        check(&[9_007_199_254_740_992.0, 1.0, 5e-324], 1, 9_007_199_254_740_994.0);
        check(&[f64::MAX, f64::MAX], 2, f64::MAX);
    }

    #[test]
    fn integers_are_not_rounded_before_the_end() {
        let mut sum = ExactSum::new();
        sum.add_integer(i128::MAX);
        sum.add_integer(i128::MIN);
        sum.add(0.5);
        assert_eq!(sum.divided_by(1).to_bits(), (-0.5_f64).to_bits());
    }
}
