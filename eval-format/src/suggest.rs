//! The known name that a misspelt one was probably meant to be.

/// Longer names are not compared: nobody misspells a key of a hundred letters.
const LONGEST: usize = 100;

/// The known name a misspelt one was probably meant to be.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether a key is within two edits (one if shorter than 8 letters) of a known key of at least 5.
pub(crate) fn is_misspelling(key: &str, known: &str) -> bool {
    if known.len() < 5 || key.len() > LONGEST {
        return false;
    }
    let allowed = if known.len() < 8 { 1 } else { 2 };
    key != known && key.len().abs_diff(known.len()) <= 4 && strsim::osa_distance(key, known) <= allowed
}
