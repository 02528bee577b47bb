//! The causes of failures. Cases with one cause are one row of the table, which opens.

use eval_support::hash::content_hash;

use crate::recorded::{State, TestResult};

/// The name of a cause: equal for cases with the same state, the same failed metrics, and the same difference or error
/// but for names and numbers of the case. `None` for a case that needs no attention.
pub(super) fn of_test(test: &TestResult<'_>, failed: &[&str], why: Option<&str>) -> Option<String> {
    if !test.needs_attention() {
        return None;
    }
    let names = [test.name.as_ref(), &test.attempt.started.eval_id];
    Some(of(test.state, failed, why.unwrap_or_default(), &names))
}

fn of(state: State, failed: &[&str], why: &str, names: &[&str]) -> String {
    let text = format!("{}\0{}\0{}", state.name(), failed.join("\0"), normalised(why, names));
    format!("{:016x}", content_hash(text.as_bytes()))
}

/// A text without what differs from case to case: the case's names, and numbers. Words with digits count as numbers if
/// they are long: ids, hashes and times.
fn normalised(text: &str, names: &[&str]) -> String {
    let mut text = text.to_owned();
    for name in names.iter().filter(|name| name.chars().count() >= MIN_NAME_CHARS) {
        text = text.replace(name, "(case)");
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let end =
            if is_part(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        let digits = word.chars().filter(char::is_ascii_digit).count();
        if digits > 0 && word.chars().count() >= MIN_ID_CHARS {
            out.push('#');
        } else {
            let mut was_digit = false;
            for c in word.chars() {
                match c.is_ascii_digit() {
                    true if was_digit => {}
                    true => out.push('#'),
                    false => out.push(c),
                }
                was_digit = c.is_ascii_digit();
            }
        }
        rest = after;
    }
    // The turn in which it happened is no cause, and a case of one turn does not tell it. A score may have decimals.
    out.replace("turn #: ", "").replace("#.#", "#")
}

/// Shorter names are words of messages too.
const MIN_NAME_CHARS: usize = 4;
const MIN_ID_CHARS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_the_same_if_only_numbers_and_names_differ() {
        let cause = |state, failed: &[&str], why: &str, name: &str| of(state, failed, why, &[name]);
        let base = cause(State::Failed, &["m"], "turn 1: get_weather not called", "weather::a");
        for (state, metrics, why, is_same) in [
            (State::Failed, &["m"][..], "turn 1: get_weather not called", true),
            (State::Failed, &["m"], "turn 12: get_weather not called", true),
            (State::Error, &["m"], "turn 1: get_weather not called", false),
            (State::Failed, &["m", "n"], "turn 1: get_weather not called", false),
            (State::Failed, &["m"], "turn 1: get_time not called", false),
            (State::Failed, &["m"], "", false),
        ] {
            assert_eq!(
                cause(state, metrics, why, "weather::b") == base,
                is_same,
                "{state:?} {metrics:?} {why}"
            );
        }
        for (one, other, is_same) in [
            ("KeyError: weather::one", "KeyError: weather::two", true),
            (
                "503 of request 0f8fad5b-d9cb-469f-a165-70867728950e",
                "503 of request 7c9e6679-7425-40de-944b-e07fc1f90ae7",
                true,
            ),
            ("port 8123 is closed", "port 91 is closed", true),
            ("`city` Oslo → Paris", "`city` Rome → Paris", false),
            ("“9 degrees” → “21 degrees”", "“30 degrees” → “2 degrees”", true),
            ("m: turn 1: no judge: there is no recording", "m: no judge: there is no recording", true),
            ("run 2, turn 1: f not called", "run 3, turn 1: f not called", true),
            ("m 0 < 0.8: too short", "m 0.75 < 0.8: too short", true),
        ] {
            let is_equal = normalised(one, &["weather::one"]) == normalised(other, &["weather::two"]);
            assert_eq!(is_equal, is_same, "{one}");
        }
        assert_eq!(normalised("a b", &["a"]), "a b", "a short name is a word");
    }
}
