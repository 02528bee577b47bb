//! The text with which the simulated user ends the conversation.

/// What the simulated user writes to end the conversation: in any case, and anywhere in a reply.
pub(super) use eval_format::__private::DEFAULT_STOP_SIGNAL as STOP_SIGNAL;

/// Whether a text has the signal in it.
pub(super) fn is_in(text: &str) -> bool {
    let signal = STOP_SIGNAL.as_bytes();
    text.as_bytes().windows(signal.len()).any(|window| window.eq_ignore_ascii_case(signal))
}

/// What stands in place of a stop signal that somebody other than the simulated user wrote.
const DISARMED: &str = "(finished)";

/// A text with every stop signal in it replaced.
pub(super) fn disarmed(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    // Lower case in ASCII keeps every offset.
    for (at, found) in lower.match_indices(STOP_SIGNAL) {
        out.push_str(&text[done..at]);
        out.push_str(DISARMED);
        done = at + found.len();
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_is_found_and_replaced_in_any_case() {
        for (given, expected) in [
            ("", ""),
            ("</finished></Finished>x", "(finished)(finished)x"),
            ("İ</finished", "İ</finished"),
            ("<</finished>/finished>", "<(finished)/finished>"),
        ] {
            assert_eq!(disarmed(given), expected);
            assert_eq!(is_in(given), given != expected);
        }
    }
}
