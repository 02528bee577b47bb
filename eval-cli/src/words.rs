//! Counts and lists as they stand in sentences.

/// A count with its noun: `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The words as a list of code: `` `a`, `b` and `c` ``.
pub(crate) fn code_list<S: AsRef<str>>(words: &[S]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The words of a list that may be long: the first three, and how many there are besides.
pub(crate) fn short_code_list<S: AsRef<str>>(words: &[S]) -> String {
    match words.len().saturating_sub(SHOWN) {
        0 => code_list(words),
        more => {
            let shown: Vec<_> = words[..SHOWN].iter().map(|word| format!("`{}`", word.as_ref())).collect();
            format!("{} and {more} more", shown.join(", "))
        }
    }
}

/// So many names still read as a sentence.
const SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reads_1_files() {
        assert_eq!([0, 1, 2].map(|number| count(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(code_list(&["a"]), "`a`");
        assert_eq!(code_list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(short_code_list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(short_code_list(&["a", "b", "c", "d", "e"]), "`a`, `b`, `c` and 2 more");
    }
}
