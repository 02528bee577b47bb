//! File names that are nearly a set's: `weather.evalset.JSON`, `weather.evalsets.json`, `weather_evalset.json`.
//!
//! A search takes exact names only, so the cases of such a file would silently go untested.

use eval_support::spelling::osa_distance;

use crate::conventions::FileKind;

/// The name of a set that the file was probably meant to have; `None` if its name is not near to one.
pub(super) fn meant(name: &str) -> Option<String> {
    // Editors keep backups under such names.
    if name.starts_with('.') || name.ends_with('~') || FileKind::from_name(name).is_some() {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    // Editors for plain text add their own end, which file managers hide.
    if let Some(set) =
        lower.strip_suffix(".txt").filter(|set| FileKind::from_name(set) == Some(FileKind::Set))
    {
        return Some(name[..set.len()].to_owned());
    }
    let (rest, end) = lower.rsplit_once('.')?;
    match FileKind::from_name(&lower) {
        None if osa_distance(end, "json") <= 1 => {}
        Some(FileKind::Set) => {}
        _ => return None,
    }
    let (stem, kind) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let suffix = match kind {
        "test" if end != "json" || name != lower => "test",
        "tests" => "test",
        _ if is_near_evalset(kind) => "evalset",
        _ => {
            let stem = without_evalset(rest)?;
            let stem = if stem.is_empty() { "cases" } else { &name[..stem.len()] };
            return Some(format!("{stem}.evalset.json"));
        }
    };
    Some(format!("{}.{suffix}.json", &name[..stem.len()]))
}

/// Whether a part of a name is `evalset`, perhaps in two words, in the plural or with two wrong letters.
fn is_near_evalset(kind: &str) -> bool {
    let letters: String = kind.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    // A shorter word is a word of its own.
    letters.len() >= "evalset".len() - 1 && osa_distance(&letters, "evalset") <= 2
}

/// `weather` for `weather_evalset` and `weather-eval-sets`.
fn without_evalset(name: &str) -> Option<&str> {
    const SEPARATORS: [char; 3] = ['_', '-', ' '];
    let name = name.strip_suffix('s').unwrap_or(name).strip_suffix("set")?;
    let name = name.trim_end_matches(SEPARATORS).strip_suffix("eval")?;
    let stem = name.trim_end_matches(SEPARATORS);
    // `medieval_set` is another word.
    (stem.is_empty() || stem.len() < name.len()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_those_of_a_set() {
        for (name, expected) in [
            ("Weather.evalset.JSON", Some("Weather.evalset.json")),
            ("a.Evalset.json", Some("a.evalset.json")),
            ("a.evalsets.json", Some("a.evalset.json")),
            ("a.eval_set.json", Some("a.evalset.json")),
            ("a.eval-sets.json", Some("a.evalset.json")),
            ("a.elvaset.json", Some("a.evalset.json")),
            ("a.evalset.jsn", Some("a.evalset.json")),
            ("a.b.evalset.json5", Some("a.b.evalset.json")),
            ("a.TEST.json", Some("a.test.json")),
            ("a.test.Json", Some("a.test.json")),
            ("a.tests.json", Some("a.test.json")),
            ("a.test.jsn", Some("a.test.json")),
            ("weather_evalset.json", Some("weather.evalset.json")),
            ("weather-eval-sets.json", Some("weather.evalset.json")),
            ("evalset.json", Some("cases.evalset.json")),
            ("a.evalset.json.txt", Some("a.evalset.json")),
            ("a.test.json.TXT", Some("a.test.json")),
            ("天気_evalset.json", Some("天気.evalset.json")),
            // What has its right name.
            ("a.evalset.json", None),
            ("a.test.json", None),
            ("a.evalset.judge.json", None),
            ("test_config.json", None),
            ("a.session.json", None),
            // What has another name.
            ("a.json", None),
            ("notes.txt", None),
            ("a.json.txt", None),
            ("a.evals.json", None),
            ("a.dataset.json", None),
            ("a.text.json", None),
            ("medieval_set.json", None),
            ("Test_Config.JSON", None),
            ("a.SESSION.json", None),
            (".a.evalsets.json", None),
            ("a.evalset.json~", None),
            ("a.evalset.json.bak", None),
            ("a.evalset.yaml", None),
            ("evalset", None),
            ("", None),
        ] {
            assert_eq!(meant(name).as_deref(), expected, "{name}");
        }
    }
}
