//! "Did you mean": the known name nearest to a misspelt one.

/// The known name a misspelt one was probably meant to be.
///
/// Case and the choice between `-`, `_` and blanks do not count; up to a third of the letters may differ.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(name);
    known
        .into_iter()
        .filter_map(|candidate| {
            let allowed = (candidate.len() / 3).max(1);
            // Edit distance costs the product of the lengths: a key of megabytes is not compared.
            if wanted.len().abs_diff(candidate.len()) > allowed * 4 {
                return None;
            }
            let distance = strsim::osa_distance(&wanted, &folded(candidate));
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether a key stands where a known one was meant: within two edits (one if the known key is
/// shorter than 8 letters) of a known key of at least 5 letters.
pub(crate) fn is_misspelling(key: &str, known: &str) -> bool {
    let allowed = match known.chars().count() {
        0..5 => return false,
        5..8 => 1,
        _ => 2,
    };
    key.len().abs_diff(known.len()) <= allowed * 4
        && key != known
        && strsim::osa_distance(key, known) <= allowed
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["tool_trajectory_avg_score", "response_match_score", "safety_v1"];
        for (name, meant) in [
            ("tool_trajectory_avg_scor", Some("tool_trajectory_avg_score")),
            ("Response-Match-Score", Some("response_match_score")),
            ("response_matchscore", Some("response_match_score")),
            ("saftey_v1", Some("safety_v1")),
            ("brevity", None),
            ("", None),
        ] {
            assert_eq!(suggest(name, known), meant, "{name}");
        }
        assert_eq!(suggest(&"x".repeat(1 << 24), known), None);
    }

    #[test]
    fn short_keys_are_never_misspellings_of_each_other() {
        for (key, known, is) in [
            ("criterias", "criteria", true),
            ("critreia", "criteria", true),
            ("criterion", "criteria", true),
            ("treshold", "threshold", true),
            ("modell", "model", true),
            ("moddell", "model", false),
            ("tipe", "type", false),
            ("criteria", "criteria", false),
            ("metrics", "criteria", false),
        ] {
            assert_eq!(is_misspelling(key, known), is, "{key}");
        }
    }
}
