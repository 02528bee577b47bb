//! Suggestions: the known name that a wrong one was probably meant to be.

pub use strsim::osa_distance;

/// Longer names get no suggestion: they are no typing errors, and comparing them is slow.
const MAX_NAME_BYTES: usize = 128;

/// The known name that a wrong one was probably meant to be.
///
/// ```
/// use eval_support::spelling::suggest;
///
/// let known = ["response_match_score", "tool_trajectory_avg_score"];
/// assert_eq!(suggest("tool_trajectory_avg_scroe", known), Some("tool_trajectory_avg_score"));
/// assert_eq!(suggest("responseMatchScore", known), Some("response_match_score"));
/// assert_eq!(suggest("tool_trajectory", known), Some("tool_trajectory_avg_score"));
/// assert_eq!(suggest("latency", known), None);
/// ```
///
/// In this order: the same letters in another case or with other separators; the fewest edits, at
/// most one for every three letters; the only known name that begins with the wrong one. Of equally
/// good names the first wins.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut known = known.into_iter();
    best(name, &mut || known.next())
}

fn best<'a>(name: &str, next: &mut dyn FnMut() -> Option<&'a str>) -> Option<&'a str> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return None;
    }
    let known: Vec<&str> = std::iter::from_fn(next).filter(|known| known.len() <= MAX_NAME_BYTES).collect();
    same_letters(name, &known).or_else(|| nearest(name, &known)).or_else(|| only_beginning(name, &known))
}

fn same_letters<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = letters(name);
    (!letters.is_empty()).then(|| known.iter().find(|known| self::letters(known) == letters).copied())?
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    known
        .iter()
        .map(|known| (osa_distance(name, known), *known))
        .filter(|(edits, known)| *edits <= most && *edits < known.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

fn only_beginning<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // Shorter beginnings are words like `tool` that say too little.
    const SHORTEST: usize = 5;
    if name.len() < SHORTEST {
        return None;
    }
    let mut longer = known.iter().filter(|known| known.starts_with(name));
    let first = longer.next()?;
    longer.next().is_none().then_some(*first)
}

/// Whether a key is so similar to a known one that it is taken for a misspelling of it.
///
/// Within two edits, or one if the key is shorter than 8 characters, of a known key of at least
/// 5. An edit is a character too many, too few, wrong, or swapped with its neighbour.
pub fn is_misspelling(key: &str, known: &str) -> bool {
    let (length, known_length) = (key.chars().count(), known.chars().count());
    let most = if length < 8 { 1 } else { 2 };
    // The lengths are compared first: a key may be as long as a file.
    known_length >= 5
        && length.abs_diff(known_length) <= most
        && (1..=most).contains(&osa_distance(key, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_is_two_edits_away_or_one_where_the_key_is_short() {
        for (key, known, expected) in [
            ("conversaton", "conversation", true),
            ("conversatino", "conversation", true),
            ("final_session_sate", "final_session_state", true),
            ("criterias", "criteria", true),
            ("convresatoin", "conversation", true),
            ("conversation", "conversation", false),
            ("cnvrsatin", "conversation", false),
            ("rubrc", "rubrics", false),
            ("rubric", "rubrics", true),
            ("nam", "name", false),
            ("names", "name", false),
            ("stats", "state", true),
            ("", "state", false),
        ] {
            assert_eq!(is_misspelling(key, known), expected, "{key} for {known}");
        }
    }

    #[test]
    fn the_nearest_name_wins_and_a_far_one_is_not_offered() {
        let known = ["text", "tool_name", "test", "threshold", "tool_args"];
        for (name, expected) in [
            ("treshold", Some("threshold")),
            ("THRESHOLD", Some("threshold")),
            ("tool-name", Some("tool_name")),
            ("tests", Some("test")),
            ("thres", Some("threshold")),
            ("tool_", None),
            ("tool", None),
            ("verbose", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(suggest(name, known), expected, "{name}");
        }
    }

    #[test]
    fn a_name_as_long_as_a_file_is_not_compared() {
        let long = "n".repeat(20_000_000);
        assert_eq!(suggest(&long, ["name", &long]), None);
        assert!(!is_misspelling(&long, "conversation"));
    }
}
