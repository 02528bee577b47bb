//! Sessions that were damaged: errors or drafts with named gaps, and never a panic.

use super::*;

/// A generator of numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % most.max(1)
    }
}

/// Replacements of a value.
const OTHERS: [&str; 8] = ["null", "1", "\"\"", "[]", "{}", "[[]]", "true", "{\"parts\": [{\"text\": 1}]}"];

/// A text with one damage: truncated, a piece removed or doubled, bytes changed, or a value replaced by another type.
fn damaged(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let (from, to) = (dice.below(bytes.len()), dice.below(bytes.len()));
    let (from, to) = (from.min(to), from.max(to));
    match dice.below(6) {
        0 => bytes.truncate(from),
        1 => drop(bytes.drain(from..to.min(from + 200))),
        2 => {
            let piece = bytes[from..to.min(from + 200)].to_vec();
            bytes.splice(from..from, piece);
        }
        3 => bytes[from] = u8::try_from(dice.below(256)).unwrap_or_default(),
        _ => {
            // The value behind a colon, as far as it is a simple one; else the bracket that opens it.
            let colons: Vec<usize> = text.match_indices("\": ").map(|(at, _)| at + 3).collect();
            let at = colons[dice.below(colons.len())];
            let other = OTHERS[dice.below(OTHERS.len())];
            let end = at + text[at..].find([',', '\n', '}']).unwrap_or_default();
            bytes.splice(at..end, other.bytes());
        }
    }
    bytes
}

#[test]
fn damaged_sessions_are_errors_or_drafts_with_named_gaps() {
    let text = text("desk.session.json");
    let whole = parse(&text).drafts.remove(0);
    let mut dice = Dice(7);
    let (mut errors, mut drafts) = (0, 0);
    for number in 0..500 {
        let bytes = damaged(&text, &mut dice);
        match Import::new().parse("here", &bytes) {
            Err(error) => {
                errors += 1;
                assert!(error.to_string().len() > "`here`: ".len(), "{number}");
            }
            Ok(imported) => {
                for draft in &crate::draft::new_cases(imported.drafts, []).drafts {
                    drafts += 1;
                    draft.marked().check().unwrap_or_else(|problems| panic!("{number}: {problems}"));
                    // Gaps are named.
                    let answers = |draft: &Draft| {
                        draft.case.conversation.iter().filter(|turn| turn.final_response.is_some()).count()
                    };
                    let fewer = answers(draft) < answers(&whole);
                    let same_turns = draft.case.conversation.len() == whole.case.conversation.len();
                    assert!(
                        !(fewer && same_turns) || draft.gaps.len() > whole.gaps.len(),
                        "{number}: {:?}",
                        draft.gaps
                    );
                }
            }
        }
    }
    assert!(errors > 100 && drafts > 50, "{errors} errors, {drafts} drafts");
}
