//! What a user would see of a part.

use eval_format::Part;

/// What a part may say about its text, beside the text.
const ABOUT_TEXT: &[&str] = &["thought_signature", "part_metadata", "media_processing"];

/// Whether a user would see anything of the part: text that is no thought and not blank, a call, a result, data.
pub fn shows_something(part: &Part) -> bool {
    has_visible_text(part) || other_than_text(part).is_some()
}

/// Whether the part has text that is no thought and not blank.
pub(super) fn has_visible_text(part: &Part) -> bool {
    part.thought != Some(true) && part.text.as_deref().is_some_and(|text| !is_blank(text))
}

/// The key of what a part holds that is not text.
pub(super) fn other_than_text(part: &Part) -> Option<&str> {
    let call = part.function_call.as_ref().map(|_| "function_call");
    let response = part.function_response.as_ref().map(|_| "function_response");
    let other = || part.other.keys().find(|key| !ABOUT_TEXT.contains(key));
    call.or(response).or_else(other)
}

/// Whether a text shows nothing: white space, controls, and characters without a shape of their own.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace()
            || c.is_control()
            // Unicode's `Default_Ignorable_Code_Point`, and the blank pattern of Braille.
            || matches!(
                c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                    | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
                    | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            )
    })
}

#[cfg(test)]
mod tests {
    use eval_format::Map;

    use super::*;

    #[test]
    fn white_space_and_characters_without_a_shape_are_blank() {
        for blank in ["", "\n", " \t\r\n", "\u{200b}", "\u{feff}\u{2060}", "\u{3164}", "\u{a0}\u{2028}", "\0"]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in [".", "0", "-", "\u{200b}a", "\u{1f600}", "\u{e9}", "\u{202e}x"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn a_thought_a_blank_and_a_signature_show_nothing() {
        let mut thought = Part::text("It may be sunny.");
        thought.thought = Some(true);
        let signed = Part::default().with_other("thought_signature", "c2ln");
        for part in [Part::default(), Part::text("\n"), thought, signed] {
            assert!(!shows_something(&part), "{part:?}");
        }
        let image = Part::default().with_other("inline_data", Map::new());
        for part in [Part::text("x"), image] {
            assert!(shows_something(&part), "{part:?}");
        }
    }
}
