//! The rules of ADK's tokenizer for ASCII and of its stemmer, one function and one string for each step.

/// The tokens of a text of ASCII.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| if word.len() > 3 { stem(word) } else { word.to_owned() })
        .collect()
}

/// The stem of a word of lower-case ASCII letters and digits.
fn stem(word: &str) -> String {
    let irregular = match word {
        "sky" | "skies" => Some("sky"),
        "dying" => Some("die"),
        "lying" => Some("lie"),
        "tying" => Some("tie"),
        "inning" | "innings" => Some("inning"),
        "outing" | "outings" => Some("outing"),
        "canning" | "cannings" => Some("canning"),
        "news" | "howe" | "proceed" | "exceed" | "succeed" => Some(word),
        _ => None,
    };
    if let Some(stem) = irregular {
        return stem.to_owned();
    }
    [plural, participle, final_y, step_2, step_3, step_4, final_e, final_l]
        .iter()
        .fold(word.to_owned(), |word, step| step(&word))
}

fn plural(word: &str) -> String {
    if word.len() == 4 && word.ends_with("ies") {
        return word[..3].to_owned();
    }
    first_rule(word, &[("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")], |_, _| true)
}

fn participle(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ied") {
        return format!("{rest}{}", if word.len() == 4 { "ie" } else { "i" });
    }
    if let Some(rest) = word.strip_suffix("eed") {
        return if syllables(rest) > 0 { format!("{rest}ee") } else { word.to_owned() };
    }
    let rest =
        ["ed", "ing"].iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| has_vowel(rest)));
    rest.map_or_else(|| word.to_owned(), infinitive)
}

fn infinitive(rest: &str) -> String {
    if ["at", "bl", "iz"].iter().any(|ending| rest.ends_with(ending)) {
        return format!("{rest}e");
    }
    if is_doubled(rest) {
        let is_kept = rest.ends_with(['l', 's', 'z']);
        return rest[..rest.len() - usize::from(!is_kept)].to_owned();
    }
    format!("{rest}{}", if syllables(rest) == 1 && is_short(rest) { "e" } else { "" })
}

fn final_y(word: &str) -> String {
    first_rule(word, &[("y", "i")], |rest, _| rest.len() > 1 && kinds(rest).ends_with('c'))
}

fn step_2(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("alli")
        && syllables(rest) > 0
    {
        return step_2(&format!("{rest}al"));
    }
    let rules = [
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
        ("fulli", "ful"),
        ("logi", "log"),
    ];
    first_rule(word, &rules, |rest, ending| {
        let counted = if ending == "logi" { format!("{rest}l") } else { rest.to_owned() };
        syllables(&counted) > 0
    })
}

fn step_3(word: &str) -> String {
    let rules = [
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    ];
    first_rule(word, &rules, |rest, _| syllables(rest) > 0)
}

fn step_4(word: &str) -> String {
    let endings = [
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
        "ate", "iti", "ous", "ive", "ize",
    ];
    let rules = endings.map(|ending| (ending, ""));
    first_rule(word, &rules, |rest, ending| {
        syllables(rest) > 1 && (ending != "ion" || rest.ends_with(['s', 't']))
    })
}

fn final_e(word: &str) -> String {
    first_rule(word, &[("e", "")], |rest, _| syllables(rest) > 1 || (syllables(rest) == 1 && !is_short(rest)))
}

fn final_l(word: &str) -> String {
    first_rule(word, &[("ll", "l")], |rest, _| syllables(&format!("{rest}l")) > 1)
}

/// Replaces the first ending that the word has, if the condition holds for the part before it.
fn first_rule(word: &str, rules: &[(&str, &str)], holds: impl Fn(&str, &str) -> bool) -> String {
    for (ending, replacement) in rules {
        if let Some(rest) = word.strip_suffix(ending) {
            return if holds(rest, ending) { format!("{rest}{replacement}") } else { word.to_owned() };
        }
    }
    word.to_owned()
}

/// A `v` for each vowel and a `c` for each other character.
fn kinds(word: &str) -> String {
    let mut kinds = String::new();
    for letter in word.chars() {
        let is_vowel = "aeiou".contains(letter) || (letter == 'y' && kinds.ends_with('c'));
        kinds.push(if is_vowel { 'v' } else { 'c' });
    }
    kinds
}

fn syllables(word: &str) -> usize {
    kinds(word).matches("vc").count()
}

fn has_vowel(word: &str) -> bool {
    kinds(word).contains('v')
}

fn is_doubled(word: &str) -> bool {
    let mut letters = word.chars().rev();
    matches!((letters.next(), letters.next()), (Some(a), Some(b)) if a == b) && kinds(word).ends_with('c')
}

fn is_short(word: &str) -> bool {
    let kinds = kinds(word);
    kinds == "vc" || (kinds.ends_with("cvc") && !word.ends_with(['w', 'x', 'y']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_nltk() {
        let vectors = include_str!("../../../eval-core/tests/vectors/porter_vectors.tsv");
        assert!(vectors.lines().count() > 1000);
        for line in vectors.lines() {
            let (word, expected) = line.split_once('\t').unwrap();
            // The tokenizer does not stem shorter words.
            if word.len() > 2 {
                assert_eq!(stem(word), expected, "{word}");
            }
        }
    }
}
