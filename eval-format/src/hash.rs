//! A hash that is the same on every machine and in every version.

/// The 64-bit FNV-1a hash of some bytes.
///
/// ```
/// assert_eq!(eval_format::__private::content_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
///
/// Test names carry parts of it and test binaries compare files with it, so it never changes. It
/// distinguishes contents; it is not cryptographic.
pub const fn content_hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        // `as` because `From` is not const; a byte always fits.
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the test suite of the reference implementation by Fowler, Noll and Vo.
    #[test]
    fn the_published_vectors_come_out() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("foobar", 0x8594_4171_f739_67e8),
            ("chongo was here!\n", 0x4681_0940_eff5_f915),
        ] {
            assert_eq!(content_hash(text.as_bytes()), hash, "{text:?}");
        }
    }
}
