//! What each line ends with, so that a line that was changed, lost, moved or added is found: its number and a checksum.
//!
//! `{"record":"decided", .., "n":7,"sum":"0123456789abcdef"}`: the sum is that of everything before `,"sum"`.

use super::case_hash::hash;

/// Seals a line that ends with `}` and a line break. Other lines stay as they are.
pub(super) fn seal(mut line: Vec<u8>, number: usize) -> Vec<u8> {
    if !line.ends_with(b"}\n") {
        return line;
    }
    line.truncate(line.len() - 2);
    line.extend_from_slice(NUMBER);
    line.extend_from_slice(number.to_string().as_bytes());
    let sum = hash(&line);
    line.extend_from_slice(SUM);
    // Digit by digit: `format!` takes longer in builds without optimisation.
    let mut shift = 64;
    while shift > 0 {
        shift -= 4;
        line.push(b"0123456789abcdef"[(sum >> shift & 0xf) as usize]);
    }
    line.extend_from_slice(b"\"}\n");
    line
}

const NUMBER: &[u8] = b",\"n\":";
const SUM: &[u8] = b",\"sum\":\"";
/// The digits of a sum, and the end of a line.
#[cfg(feature = "reports")]
const TAIL: usize = 16 + 2;

/// Whether a line has a seal, sound or broken.
#[cfg(feature = "reports")]
pub(super) fn is_sealed(line: &[u8]) -> bool {
    line.len().checked_sub(TAIL + SUM.len()).is_some_and(|at| line[at..].starts_with(SUM))
}

/// The number of a sealed line without its line break. `None` if it has no seal, or if it was changed after it was written.
#[cfg(feature = "reports")]
pub(super) fn number(line: &[u8]) -> Option<usize> {
    let (before, tail) = line.split_at_checked(line.len().checked_sub(TAIL + SUM.len())?)?;
    let digits = std::str::from_utf8(tail.strip_prefix(SUM)?.strip_suffix(b"\"}")?).ok()?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_digit) || u64::from_str_radix(digits, 16).ok()? != hash(before) {
        return None;
    }
    let at = before.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let number = before[..at].ends_with(NUMBER).then(|| std::str::from_utf8(&before[at..]).ok()).flatten()?;
    number.parse().ok()
}

#[cfg(all(test, feature = "reports"))]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_line_counts() {
        let sealed = seal(b"{\"record\":\"decided\",\"test\":1}\n".to_vec(), 41);
        let line = sealed.strip_suffix(b"\n").unwrap();
        assert_eq!(number(line), Some(41), "{}", String::from_utf8_lossy(line));
        for bit in 0..line.len() * 8 {
            let mut flipped = line.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(number(&flipped), None, "{}", String::from_utf8_lossy(&flipped));
        }
        for cut in 0..line.len() {
            assert_eq!(number(&line[..cut]), None);
        }
        assert_eq!(number(b"{}"), None);
    }
}
