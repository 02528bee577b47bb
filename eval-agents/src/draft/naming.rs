//! The ids of new cases.

use eval_core::format::EvalCase;

/// The most words and characters of an id that is made of what the user said.
const MOST_WORDS: usize = 6;
const MOST_CHARACTERS: usize = 40;

/// An id for a case that has none: the first words of the user, else `case`.
pub(super) fn derived(case: &EvalCase) -> String {
    let said = case.conversation.iter().map(eval_core::Invocation::user_text);
    let slug = said.map(|text| slug(&text)).find(|slug| !slug.is_empty());
    slug.unwrap_or_else(|| "case".to_owned())
}

/// The first words of a text as a name: `Weather in Paris?` is `weather_in_paris`.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words.take(MOST_WORDS) {
        let word = word.to_lowercase();
        let length = slug.chars().count() + word.chars().count();
        if !slug.is_empty() && length >= MOST_CHARACTERS {
            break;
        }
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.extend(word.chars().take(MOST_CHARACTERS));
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_core::Invocation;

    #[test]
    fn an_id_is_made_of_the_first_words() {
        for (text, id) in [
            ("Weather in Paris?", "weather_in_paris"),
            ("  What's  up -- doc?", "what_s_up_doc"),
            ("one two three four five six seven", "one_two_three_four_five_six"),
            ("大阪の天気は?", "大阪の天気は"),
            ("a verylongwordthatgoesonandonandonandonandon b", "a"),
            ("???", "case"),
            ("", "case"),
        ] {
            assert_eq!(derived(&EvalCase::new("").turn(Invocation::user(text))), id, "{text}");
        }
        assert_eq!(slug(&"x".repeat(100)).len(), MOST_CHARACTERS);
    }
}
