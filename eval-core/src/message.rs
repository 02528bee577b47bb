//! The words that several sentences share.

/// A count with its noun: `1 turn`, `2 turns`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A list of code: `` `a`, `b` or `c` ``.
pub(crate) fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// A text cut to about `limit` characters, saying how many are left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let rest = text[end..].chars().count();
    if rest <= 24 {
        // The remark would be as long as what it leaves out.
        return text.to_owned();
    }
    format!("{}... ({rest} more characters)", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(
            (count(1, "turn"), count(0, "turn"), count(2, "run")),
            ("1 turn".into(), "0 turns".into(), "2 runs".into())
        );
    }

    #[test]
    fn long_texts_are_cut_on_characters() {
        assert_eq!(cut("äöü", 2), "äöü");
        let long = "ä".repeat(100);
        assert_eq!(cut(&long, 10), format!("{}... (90 more characters)", "ä".repeat(10)));
    }
}
