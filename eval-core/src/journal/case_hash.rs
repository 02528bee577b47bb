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
#[expect(
    clippy::manual_rotate,
    reason = "the method is a call for each block in builds without optimisation"
)]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut blocks, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut hash = (bytes.len() as u64 ^ u64::from_le_bytes(last)).wrapping_mul(PRIME);
    // Each test takes the hashes of its case and of its records, without optimisation. Four blocks at a time take two
    // thirds of the instructions of one at a time, and a function for each block takes more.
    macro_rules! add {
        ($block:expr) => {
            // A rotation to the left by 23.
            hash = ((hash << 23 | hash >> 41) ^ u64::from_le_bytes(*$block)).wrapping_mul(PRIME);
        };
    }
    while let [one, two, three, four, others @ ..] = blocks {
        add!(one);
        add!(two);
        add!(three);
        add!(four);
        blocks = others;
    }
    while let [one, others @ ..] = blocks {
        add!(one);
        blocks = others;
    }
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Journals that exist were written with these.
    #[test]
    fn hashes_stay_what_they_are() {
        let text = "every good boy deserves fudge, and then some more of it; 0123456789";
        let found = [0, 1, 7, 8, 9, 31, 32, 33, 40, 67].map(|length| hash(&text.as_bytes()[..length]));
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
