//! Hashes that are the same on every machine and in every version.

/// The 64-bit FNV-1a hash of some bytes.
///
/// ```
/// assert_eq!(eval_support::hash::content_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
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

/// A 64-bit hash. Contents that differ in a single block of eight bytes have different hashes.
///
/// Journals and baselines carry it, so it never changes. It distinguishes contents; it is not cryptographic.
pub fn block_hash(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let (blocks, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut hash = (bytes.len() as u64 ^ u64::from_le_bytes(last)).wrapping_mul(PRIME);
    for block in blocks {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*block)).wrapping_mul(PRIME);
    }
    hash ^ (hash >> 32)
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

    /// Journals and baselines that exist were written with these.
    #[test]
    fn hashes_stay_what_they_are() {
        let text = "every good boy deserves fudge, and then some more of it; 0123456789";
        let found = [0, 1, 7, 8, 9, 31, 32, 33, 40, 67].map(|length| block_hash(&text.as_bytes()[..length]));
        let expected = [
            0,
            0xcdab_8c75_74b3_f441,
            0x2a60_c340_779e_ed4a,
            0x0b75_d00b_1b15_55b4,
            0xa61a_7036_14b7_c654,
            0x9bcf_663e_56ee_a02a,
            0x4a4d_9122_cfb2_bf10,
            0x8f8a_878b_2280_abcd,
            0x373b_715d_abea_e9bc,
            0x6017_37fc_3ef3_4312,
        ];
        assert_eq!(found, expected, "{found:#x?}");
    }
}
