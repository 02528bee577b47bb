//! The general category of a character in Unicode 16, as far as this crate needs it.
//!
//! std has no categories. The table here tells four groups of them apart; a crate with all categories takes longer to
//! compile than the tokenizer that uses them.

mod ranges;

use ranges::RANGES;

/// A group of Unicode's general categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Not visible: separators, controls, surrogates, private and unassigned characters (`C`, `Z`).
    Hidden,
    /// A mark on the character before it (`M`).
    Mark,
    /// A letter or a number (`L`, `N`).
    Letter,
    /// Punctuation or a symbol (`P`, `S`).
    Sign,
}

/// The group that a character's category belongs to.
pub fn category(c: char) -> Category {
    let code = u32::from(c);
    match RANGES[RANGES.partition_point(|range| range >> 4 <= code) - 1] & 0xf {
        0 => Category::Hidden,
        1 => Category::Mark,
        2 => Category::Letter,
        _ => Category::Sign,
    }
}

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

    /// Generates the table. If it differs from the file, the message has the lines that the file should have.
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
