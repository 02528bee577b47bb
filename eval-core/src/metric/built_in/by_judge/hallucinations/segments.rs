//! The parser of the first of the two replies: a text, copied sentence by sentence.

use unicode_normalization::UnicodeNormalization;

const OPEN: &str = "<sentence>";
const CLOSE: &str = "</sentence>";

/// The number of words that a message shows, from the first difference between sentences and text.
const MAX_SHOWN_WORDS: usize = 6;

/// The sentences of a reply, or the mistake in it.
///
/// A sentence is the text between the tags, as in ADK; blank sentences are left out. Together the sentences must be
/// the text, word by word: a dropped word would not be judged, and an added word was never said. Only the number
/// before an item of a list may be missing.
pub(super) fn read(reply: &str, text: &str) -> Result<Vec<String>, String> {
    let sentences: Vec<&str> =
        between_tags(reply).into_iter().filter(|sentence| !sentence.trim().is_empty()).collect();
    if sentences.is_empty() {
        return Err(format!("it has no {OPEN}..{CLOSE}"));
    }
    covers(&sentences, text)?;
    Ok(sentences.into_iter().map(str::to_owned).collect())
}

fn between_tags(reply: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = reply;
    while let Some((_, after)) = rest.split_once(OPEN)
        && let Some((sentence, after)) = after.split_once(CLOSE)
    {
        found.push(sentence);
        rest = after;
    }
    found
}

/// Checks that the sentences together are the text.
///
/// Only letters and digits are compared: where words end depends on the language, and judges drop punctuation and
/// Markdown.
fn covers(sentences: &[&str], text: &str) -> Result<(), String> {
    let copied: String = sentences.iter().map(|sentence| letters(sentence)).collect();
    let mut rest = copied.as_str();
    let mut before = None;
    for line in text.lines() {
        let mut numbering = true;
        for word in line.split_whitespace() {
            let letters = letters(word);
            let skippable = numbering && is_number_of_item(word);
            numbering = letters.is_empty();
            match rest.strip_prefix(letters.as_str()) {
                Some(after) => rest = after,
                None if skippable => {}
                None => return Err(parted(text, before, word)),
            }
            before = Some(word);
        }
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err("its sentences say more than the text, of which each word belongs in one sentence".to_owned())
}

/// `12.` or `12)`, the number before an item of a list.
fn is_number_of_item(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// The letters and digits of a text, in lower case and normalised (NFKC).
fn letters(text: &str) -> String {
    // Character by character: the lower case of a final letter (sigma) depends on what follows it.
    text.nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Says where sentences and text differ: at `word`, which comes after `before`. Both are slices of `text`.
fn parted(text: &str, before: Option<&str>, word: &str) -> String {
    let start = before.unwrap_or(word).as_ptr() as usize - text.as_ptr() as usize;
    let shown: Vec<&str> = text[start..].split_whitespace().take(MAX_SHOWN_WORDS).collect();
    format!("its sentences drop or change words of the text, at `{}`", shown.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(sentences: &[&str]) -> String {
        let lines: Vec<String> =
            sentences.iter().map(|sentence| format!("{OPEN}{sentence}{CLOSE}")).collect();
        lines.join("\n")
    }

    #[test]
    fn sentences_that_are_the_text_are_read() {
        for (text, sentences) in [
            ("It is sunny. It is warm.", &["It is sunny.", "It is warm."][..]),
            ("It is sunny.\nIt is warm.", &["It is sunny.\nIt is warm."]),
            ("**Fruits**\n1. Apples are red.\n2. Pears.", &["Fruits", "1. Apples are red.", "2. Pears."]),
            ("**Fruits**\n1. Apples are red.\n* 2) Pears.", &["Fruits", "Apples are red.", "Pears."]),
            ("It’s “warm”!", &["It's \"warm\"!"]),
            ("Ångström ﬁle", &["A\u{30a}ngstro\u{308}m FILE"]),
            ("今日は晴れ明日は雨", &["今日は晴れ", "明日は雨"]),
            ("| a | b |\n| - | - |\n| 1 | 2 |", &["| a | b |\n|---|---|\n| 1 | 2 |"]),
            ("👍", &["👍"]),
        ] {
            let read = read(&tagged(sentences), text).unwrap();
            assert_eq!(read, sentences, "{text}");
        }
    }

    #[test]
    fn blank_sentences_and_what_stands_outside_of_the_tags_are_left_out() {
        let reply =
            "Here you are: <sentence>a</sentence>, <sentence> </sentence> and <sentence>b</sentence>!";
        assert_eq!(read(reply, "a b"), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn sentences_that_drop_change_or_add_words_are_not_read() {
        let text = "It is sunny in Paris. It is warm, and 21 degrees. Enjoy!";
        for (sentences, wrong) in [
            (
                &["It is sunny in Paris.", "Enjoy!"][..],
                "its sentences drop or change words of the text, at `Paris. It is warm, and 21`",
            ),
            (
                &["It is sunny in Paris."],
                "its sentences drop or change words of the text, at `Paris. It is warm, and 21`",
            ),
            (
                &["It rains in Paris."],
                "its sentences drop or change words of the text, at `It is sunny in Paris. It`",
            ),
            (
                &["Hello.", text],
                "its sentences drop or change words of the text, at `It is sunny in Paris. It`",
            ),
            (
                &[text, "I made this up."],
                "its sentences say more than the text, of which each word belongs in one sentence",
            ),
            (
                &[text, text],
                "its sentences say more than the text, of which each word belongs in one sentence",
            ),
            (&["", " "], "it has no <sentence>..</sentence>"),
            (&[], "it has no <sentence>..</sentence>"),
        ] {
            assert_eq!(read(&tagged(sentences), text), Err(wrong.to_owned()), "{sentences:?}");
        }
        assert!(read("<sentence>It is sunny", "It is sunny").is_err(), "a tag that does not end");
        assert!(
            read(&tagged(&["It is."]), "It is 42.").is_err(),
            "only the number of an item may be missing"
        );
        assert!(read(&tagged(&["It is warm."]), "Sunny. It is warm.").is_err(), "a word is no number");
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        let reply = OPEN.repeat(200_000);
        assert!(read(&reply, "a").is_err());
        assert!(read(&tagged(&["a"]), &"1. ".repeat(200_000)).is_err());
    }
}
