//! What a character is, by its general category in Unicode 16, which std does not tell. A table for just the questions
//! asked here: the crate that knows every category compiles for longer than the tokenizer that asks it.

mod ranges;

use ranges::RANGES;

/// The categories of Unicode, as far as they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// Nothing that is seen: separators, controls, surrogates, and what is private or not assigned (`C`, `Z`).
    Hidden,
    /// A mark on the character before it (`M`).
    Mark,
    /// A letter or a number (`L`, `N`).
    Letter,
    /// Punctuation or a symbol (`P`, `S`).
    Sign,
}

/// The category of a character.
pub(crate) fn category(c: char) -> Category {
    let code = u32::from(c);
    let block = (code >> BLOCK_BITS) as usize;
    // The range that a block begins in may begin before it.
    let (first, end) = (usize::from(BLOCKS[block]), usize::from(BLOCKS[block + 1]) + 1);
    let ranges = &RANGES[first..end];
    match ranges[ranges.partition_point(|range| range >> 4 <= code) - 1] & 0xf {
        0 => Category::Hidden,
        1 => Category::Mark,
        2 => Category::Letter,
        _ => Category::Sign,
    }
}

/// A block has 256 code points.
const BLOCK_BITS: u32 = 8;
const BLOCK_COUNT: usize = 0x11_0000 >> BLOCK_BITS;

/// For each block, where in `RANGES` the one stands that the block begins in; last, the last range.
static BLOCKS: [u16; BLOCK_COUNT + 1] = {
    let mut blocks = [0; BLOCK_COUNT + 1];
    let (mut block, mut range) = (0, 0);
    while block <= BLOCK_COUNT {
        while range + 1 < RANGES.len() && (RANGES[range + 1] >> 4) as usize <= block << BLOCK_BITS {
            range += 1;
        }
        assert!(range <= u16::MAX as usize);
        #[expect(clippy::cast_possible_truncation, reason = "asserted while compiling")]
        let narrow = range as u16;
        blocks[block] = narrow;
        block += 1;
    }
    blocks
};

#[cfg(test)]
mod tests {
    use unicode_general_category::get_general_category;

    use super::*;

    fn expected(c: char) -> Category {
        match get_general_category(c).abbreviation().as_bytes()[0] {
            b'C' | b'Z' => Category::Hidden,
            b'M' => Category::Mark,
            b'L' | b'N' => Category::Letter,
            _ => Category::Sign,
        }
    }

    #[test]
    fn every_character_has_the_category_of_unicode() {
        assert_eq!(unicode_general_category::UNICODE_VERSION, (16, 0, 0));
        for c in '\0'..=char::MAX {
            assert_eq!(category(c), expected(c), "{:#x}", u32::from(c));
        }
    }

    /// Generates the table: where they differ, what is printed belongs into the file.
    #[test]
    fn no_range_is_written_that_is_not_needed() {
        let mut ranges = Vec::new();
        let mut before = None;
        for c in '\0'..=char::MAX {
            let category = expected(c);
            if before.replace(category) != Some(category) {
                ranges.push(format!("{:#x}", (u32::from(c) << 4) | category as u32));
            }
        }
        let generated: Vec<String> =
            ranges.chunks(10).map(|line| format!("    {},", line.join(", "))).collect();
        let written: Vec<&str> =
            include_str!("category/ranges.rs").lines().filter(|line| line.starts_with("    ")).collect();
        assert!(generated == written, "ranges.rs should hold\n{}", generated.join("\n"));
    }
}
