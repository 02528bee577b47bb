//! The hash that tells whether a case was edited.

/// The hash of the text of a case as it stands in its file. A different hash means that the case was edited.
///
/// ```
/// # #[cfg(feature = "reports")] {
/// use eval_core::journal::case_hash;
///
/// assert_eq!(case_hash("{}"), case_hash("{}"));
/// assert_ne!(case_hash("{}"), case_hash("{ }"));
/// # }
/// ```
///
/// It is the same in all versions with the same [`SCHEMA`](super::SCHEMA).
pub fn case_hash(text: &str) -> String {
    format!("{:016x}", hash(text.as_bytes()))
}

/// A hash of bytes that differs if one block of eight differs.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    // Each test takes the hash of its case, without optimisation: eight bytes at a time are a step for each block only.
    let (blocks, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut hash = (bytes.len() as u64 ^ u64::from_le_bytes(last)).wrapping_mul(PRIME);
    let mut at = 0;
    while at < blocks.len() {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(blocks[at])).wrapping_mul(PRIME);
        at += 1;
    }
    hash ^ (hash >> 32)
}
