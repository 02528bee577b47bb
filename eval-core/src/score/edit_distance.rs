//! The edit distance of two texts.

use std::collections::HashMap;

/// The minimum number of characters to insert, delete or replace to turn one text into the other.
///
/// By bit vectors (G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
/// programming", 1999, with the blocks of H. Hyyrö, 2003): a column of the textbook table is stored as the
/// differences of neighbouring rows, 64 of them in a word. A table of a million characters a side would still
/// take long, so the caller limits the texts.
pub(super) fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (rows, columns) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if rows.is_empty() {
        return columns.len();
    }
    let words = rows.len().div_ceil(64);
    // For each distinct character, the rows that have it, as one bit per row.
    let mut places: HashMap<char, Vec<u64>> = HashMap::new();
    for (row, char) in rows.iter().enumerate() {
        places.entry(*char).or_insert_with(|| vec![0; words])[row / 64] |= 1 << (row % 64);
    }
    let mut blocks = vec![Block { more: u64::MAX, less: 0 }; words];
    // The bit of the last row, whose differences between columns change the distance.
    let last = 1_u64 << ((rows.len() - 1) % 64);
    let mut distance = rows.len();
    for column in columns {
        // The row above the first one grows by one in each column.
        let mut carry = Carry { more: 1, less: 0 };
        let equal = places.get(&column);
        for (at, block) in blocks.iter_mut().enumerate() {
            let end = if at + 1 == words { last } else { 1 << 63 };
            carry = block.advance(equal.map_or(0, |equal| equal[at]), carry, end);
        }
        distance = distance + usize::from(carry.more) - usize::from(carry.less);
    }
    distance
}

/// 64 rows of a column: where a row has one more than the row above, and where one less.
#[derive(Clone, Copy)]
struct Block {
    more: u64,
    less: u64,
}

/// Whether the last row of a block has one more than in the column before, or one less.
#[derive(Clone, Copy)]
struct Carry {
    more: u8,
    less: u8,
}

impl Block {
    /// Advances by one column. `equal` has the rows with the column's character, `above` is the carry of the
    /// block above, `end` the bit of the last row.
    fn advance(&mut self, equal: u64, above: Carry, end: u64) -> Carry {
        let Self { more, less } = *self;
        let (above_more, above_less) = (u64::from(above.more), u64::from(above.less));
        let equal = equal | above_less;
        // Rows that equal their upper neighbour in the previous column.
        let same = ((equal & more).wrapping_add(more) ^ more) | equal | less;
        let (row_more, row_less) = (less | !(same | more), same & more);
        let below = Carry { more: u8::from(row_more & end != 0), less: u8::from(row_less & end != 0) };
        let (row_more, row_less) = (row_more << 1 | above_more, row_less << 1 | above_less);
        *self = Self { more: row_less | !(same | row_more), less: row_more & same };
        below
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_carry_what_happens_at_their_ends() {
        for length in [1, 63, 64, 65, 127, 128, 129, 200] {
            let text = "ab".repeat(length);
            assert_eq!(edit_distance(&text, &text), 0);
            assert_eq!(edit_distance(&text, &format!("x{text}")), 1);
            assert_eq!(edit_distance(&text, &text[1..]), 1);
            assert_eq!(edit_distance(&text, &"c".repeat(length)), 2 * length);
            assert_eq!(edit_distance(&text, ""), 2 * length);
        }
    }

    proptest! {
        #[test]
        fn it_is_that_of_the_table(a in "[abc天👍]{0,200}", b in "[abc天👍]{0,200}") {
            prop_assert_eq!(edit_distance(&a, &b), strsim::levenshtein(&a, &b));
        }

        #[test]
        fn it_is_that_of_the_table_for_texts_that_are_alike(
            text in "[ab]{100,300}",
            at in 0_usize..100,
            cut in 0_usize..30,
            put in "[abc]{0,90}",
        ) {
            let other = format!("{}{put}{}", &text[..at], &text[(at + cut).min(text.len())..]);
            prop_assert_eq!(edit_distance(&text, &other), strsim::levenshtein(&text, &other));
        }
    }
}
