//! What each line ends with, so that a line that was changed, lost, moved or added is found: its number and a checksum.
//!
//! `{"record":"decided", .., "n":7,"sum":"0123456789abcdef"}`: the sum is that of everything before `,"sum"`.

use eval_support::hash::block_hash;

/// Ends a line that holds a record: seals it, and adds the line break.
pub(super) fn seal(json: &mut String, number: usize) {
    debug_assert!(json.ends_with('}'), "only objects have a seal");
    // The brace that closes the record comes behind the seal.
    json.pop();
    json.push_str(&format!("{NUMBER}{number}"));
    let sum = block_hash(json.as_bytes());
    json.push_str(&format!("{SUM}{sum:016x}\"}}\n"));
}

/// A line of a journal with this record, its kind first, and with its seal: for tests of what reads journals.
#[doc(hidden)]
pub fn sealed_line(record: &serde_json::Value, number: usize) -> String {
    let mut text = format!("{{\"record\":{}", record["record"]);
    for (name, value) in record.as_object().into_iter().flatten().filter(|(name, _)| *name != "record") {
        text.push_str(&format!(",{name:?}:{value}"));
    }
    sealed(&(text + "}"), number)
}

/// A record, which is complete but for its seal, as a line of a journal: for tests of what reads journals.
#[doc(hidden)]
pub fn sealed(record: &str, number: usize) -> String {
    let mut line = record.to_owned();
    seal(&mut line, number);
    line
}

const NUMBER: &str = ",\"n\":";
const SUM: &str = ",\"sum\":\"";
/// The digits of a sum, and the end of a line.
const TAIL: usize = 16 + 2;

/// The number of a sealed line without its line break. `None` if it has no seal, or if it was changed after it was written.
#[doc(hidden)]
pub fn sealed_number(line: &[u8]) -> Option<usize> {
    let (before, tail) = line.split_at_checked(line.len().checked_sub(TAIL + SUM.len())?)?;
    let digits = std::str::from_utf8(tail.strip_prefix(SUM.as_bytes())?.strip_suffix(b"\"}")?).ok()?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_digit) || u64::from_str_radix(digits, 16).ok()? != block_hash(before) {
        return None;
    }
    let at = before.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let number = before[..at]
        .ends_with(NUMBER.as_bytes())
        .then(|| std::str::from_utf8(&before[at..]).ok())
        .flatten()?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_line_counts() {
        let sealed = sealed("{\"record\":\"decided\",\"test\":1}", 41);
        let line = sealed.as_bytes().strip_suffix(b"\n").unwrap();
        assert_eq!(sealed_number(line), Some(41), "{}", String::from_utf8_lossy(line));
        for bit in 0..line.len() * 8 {
            let mut flipped = line.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(sealed_number(&flipped), None, "{}", String::from_utf8_lossy(&flipped));
        }
        for cut in 0..line.len() {
            assert_eq!(sealed_number(&line[..cut]), None);
        }
        assert_eq!(sealed_number(b"{}"), None);
    }
}
