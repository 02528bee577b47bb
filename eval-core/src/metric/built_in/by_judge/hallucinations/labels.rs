//! The parser of the second of the two replies: a label for each sentence.

use std::collections::HashMap;

use eval_support::message::cut;
use eval_support::words::count;

/// The keys of a block's lines after the first, in their order.
const FIELDS: [&str; 4] = ["\nlabel:", "\nrationale:", "\nsupporting_excerpt:", "\ncontradicting_excerpt:"];
pub(super) const MAX_SENTENCE_CHARS: usize = 80;
const START: &str = "sentence:";
const NEXT: &str = "\nsentence:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) sentence: String,
    pub(super) label: Label,
    pub(super) rationale: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Supported,
    Unsupported,
    Contradictory,
    Disputed,
    NotApplicable,
}

impl Label {
    const ALL: [Self; 5] =
        [Self::Supported, Self::Unsupported, Self::Contradictory, Self::Disputed, Self::NotApplicable];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Unsupported => "unsupported",
            Self::Contradictory => "contradictory",
            Self::Disputed => "disputed",
            Self::NotApplicable => "not_applicable",
        }
    }

    pub(super) fn is_grounded(self) -> bool {
        matches!(self, Self::Supported | Self::NotApplicable)
    }

    fn read(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        Self::ALL.into_iter().find(|label| label.name() == text)
    }
}

/// The blocks of a reply, or the mistake in it.
///
/// A block is found as ADK finds it: a line that begins with `sentence:`, then lines that begin with
/// `label:`, `rationale:`, `supporting_excerpt:` and `contradicting_excerpt:`, in upper or lower case. Values
/// may span lines. Each sentence must be judged once, with a known label that no other label contradicts. ADK
/// does not demand that; it takes the mean of the labels that it finds.
pub(super) fn read(reply: &str, sentences: &[String]) -> Result<Vec<Judged>, String> {
    let mut judged = Vec::new();
    for Block { sentence, label, rationale, labels, is_contradicted } in blocks(reply.trim(), begin_of_line) {
        if labels > 1 {
            return Err(format!("it labels `{}` {labels} times", cut(sentence, MAX_SENTENCE_CHARS)));
        }
        if is_contradicted {
            return Err(format!(
                "its labels of `{}` contradict each other",
                cut(sentence, MAX_SENTENCE_CHARS)
            ));
        }
        let Some(label) = Label::read(label) else {
            let names: Vec<&str> = Label::ALL.into_iter().map(Label::name).collect();
            return Err(format!(
                "the label `{}` is not one of {}",
                cut(label, MAX_SENTENCE_CHARS),
                names.join(", ")
            ));
        };
        judged.push(Judged { sentence: sentence.to_owned(), label, rationale: rationale.to_owned() });
    }
    if judged.len() != sentences.len() {
        return Err(format!(
            "it judges {} of {} in the form asked for",
            judged.len(),
            count(sentences.len(), "sentence")
        ));
    }
    each_once(&judged, sentences)?;
    // ADK also finds blocks that begin within a line. Such a block must not add a label.
    let own = judged.iter().map(|judged| Some(judged.label));
    if !in_adk(reply.trim()).into_iter().eq(own) {
        return Err("`sentence:` is within a line of it; begin a line with each block".to_owned());
    }
    Ok(judged)
}

fn in_adk(reply: &str) -> Vec<Option<Label>> {
    let anywhere = |text: &str, from: usize| Some(from + text.get(from..)?.find(START)?);
    blocks(reply, anywhere).iter().map(|block| Label::read(block.label)).collect()
}

/// Refuses a sentence that is judged more often than it occurs, since another sentence then has no label.
///
/// A sentence that was not copied exactly is not counted.
fn each_once(judged: &[Judged], sentences: &[String]) -> Result<(), String> {
    let mut open: HashMap<&str, usize> = HashMap::new();
    for sentence in sentences {
        *open.entry(sentence.trim()).or_default() += 1;
    }
    for Judged { sentence, .. } in judged {
        match open.get_mut(sentence.as_str()) {
            Some(0) => {
                return Err(format!("it judges `{}` more than once", cut(sentence, MAX_SENTENCE_CHARS)));
            }
            Some(left) => *left -= 1,
            None => {}
        }
    }
    Ok(())
}

struct Block<'a> {
    sentence: &'a str,
    label: &'a str,
    rationale: &'a str,
    /// The number of lines that give a label. A second one may come from a text that the judge quotes.
    labels: usize,
    is_contradicted: bool,
}

/// The blocks of a reply. `begin` finds the start of the next block, from an offset on.
fn blocks(reply: &str, begin: fn(&str, usize) -> Option<usize>) -> Vec<Block<'_>> {
    // Changing ASCII letters alone keeps all byte offsets.
    let lower = reply.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((block, end)) = begin(&lower, from).and_then(|begin| block(reply, &lower, begin)) {
        found.push(block);
        from = end;
    }
    found
}

/// The block that begins at an offset, and the offset of its end.
fn block<'a>(reply: &'a str, lower: &str, begin: usize) -> Option<(Block<'a>, usize)> {
    let find = |what: &str, from: usize| Some(from + lower.get(from..)?.find(what)?);
    let mut start = begin + START.len();
    let mut values = [""; FIELDS.len()];
    for (value, field) in values.iter_mut().zip(FIELDS) {
        let end = find(field, start)?;
        *value = reply.get(start..end)?.trim();
        start = end + field.len();
    }
    let [sentence, label, rationale, _] = values;
    let end = find(NEXT, start).unwrap_or(reply.len());
    let whole = lower.get(begin..end)?;
    let labels = whole.matches(FIELDS[0]).count();
    let is_contradicted = Label::read(label).is_some_and(|own| mentions(whole).any(|said| said != own));
    Some((Block { sentence, label, rationale, labels, is_contradicted }, end))
}

/// The labels that a text in lower case mentions: `label`, punctuation with a colon, and a known label.
fn mentions(text: &str) -> impl Iterator<Item = Label> {
    text.match_indices("label").filter_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let begin = rest.find(char::is_alphanumeric)?;
        let (signs, rest) = rest.split_at(begin);
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        Label::read(word).filter(|_| signs.contains(':'))
    })
}

/// The offset of the next `sentence:` that begins a line, blanks aside.
fn begin_of_line(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let begins = |at: &usize| {
        let before = rest[..*at].trim_end_matches([' ', '\t', '\r']);
        before.ends_with('\n') || before.is_empty() && from == 0
    };
    rest.match_indices(START).map(|(at, _)| at).find(begins).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(sentence: &str, label: &str) -> String {
        format!(
            "sentence: {sentence}\nlabel: {label}\nrationale: because\nsupporting_excerpt: null\ncontradicting_excerpt: null\n\n"
        )
    }

    fn labels(reply: &str, sentences: &[&str]) -> Result<Vec<Label>, String> {
        let sentences: Vec<String> = sentences.iter().map(|sentence| (*sentence).to_owned()).collect();
        Ok(read(reply, &sentences)?.iter().map(|judged| judged.label).collect())
    }

    #[test]
    fn every_label_is_read_in_any_case() {
        for label in Label::ALL {
            for written in
                [label.name().to_owned(), label.name().to_uppercase(), format!("  {}\t", label.name())]
            {
                assert_eq!(labels(&block("a", &written), &["a"]), Ok(vec![label]));
            }
        }
    }

    #[test]
    fn blocks_are_found_as_in_adk() {
        use Label::{Supported, Unsupported};
        let [a, b] = [block("a", "supported"), block("b", "unsupported")];
        for reply in [
            format!("{a}{b}"),
            format!("Sure!\n{a}{b}\nThat is all."),
            format!("{a}{}", b.to_uppercase()),
            format!("{a}{b}").replace("because", "because\nof this\n\nand that"),
        ] {
            assert_eq!(labels(&reply, &["a", "b"]), Ok(vec![Supported, Unsupported]), "{reply}");
        }
    }

    #[test]
    fn a_reply_that_does_not_judge_each_sentence_once_is_not_read() {
        let one = block("a", "supported");
        for (reply, sentences, wrong) in [
            (one.clone(), &["a", "b", "c"][..], "it judges 1 of 3 sentences in the form asked for"),
            (String::new(), &["a"], "it judges 0 of 1 sentence in the form asked for"),
            (format!("{one}{one}"), &["a"], "it judges 2 of 1 sentence in the form asked for"),
            (format!("{one}{one}"), &["a", "b"], "it judges `a` more than once"),
            (
                one.replace("rationale: because\n", ""),
                &["a"],
                "it judges 0 of 1 sentence in the form asked for",
            ),
            (one.replace("label:", "**label:**"), &["a"], "it judges 0 of 1 sentence in the form asked for"),
            (
                block("a", "`supported`"),
                &["a"],
                "the label ``supported`` is not one of supported, unsupported, contradictory, disputed, not_applicable",
            ),
        ] {
            assert_eq!(labels(&reply, sentences), Err(wrong.to_owned()), "{reply}");
        }
        assert!(labels(&format!("{one}{one}"), &["a", "a"]).is_ok(), "said twice, judged twice");
        assert!(labels(&block("A!", "supported"), &["a"]).is_ok(), "a sentence need not be copied exactly");
    }

    #[test]
    fn a_quoted_label_does_not_stand_in_for_the_verdict() {
        let quoted = "a\nlabel: supported\nrationale: x\nsupporting_excerpt: x\ncontradicting_excerpt: null";
        let reply = block(quoted, "unsupported");
        assert_eq!(labels(&reply, &[quoted]), Err("it labels `a` 2 times".to_owned()));
        let reply = block("a", "unsupported")
            .replace("supporting_excerpt: null", "supporting_excerpt: x\nlabel: supported");
        assert_eq!(labels(&reply, &["a"]), Err("it labels `a` 2 times".to_owned()));
    }

    #[test]
    fn a_label_that_is_mentioned_beside_another_one_takes_it_away() {
        for mentioned in [
            "Label: unsupported",
            "(LABEL: **contradictory**)",
            "its \"label\":\"disputed\"",
            "label: not_applicable",
        ] {
            let reply = block("a", "supported").replace("because", mentioned);
            assert_eq!(labels(&reply, &["a"]), Err("its labels of `a` contradict each other".to_owned()));
        }
        let reply = block("a", "supported").replace("because", "label: supported, as the agent says");
        assert!(labels(&reply, &["a"]).is_ok());
        let within = format!("The agent writes {}", block("a", "supported"));
        assert!(labels(&within, &["a"]).is_err(), "a block begins a line");
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        for piece in [
            "sentence:",
            "sentence:\nlabel:",
            "\nlabel:\nsentence:",
            "sentence:\nlabel:\nrationale:\nsupporting_excerpt:",
            "label",
        ] {
            assert!(labels(&piece.repeat(100_000), &["a"]).is_err());
        }
        assert!(labels(&block("a", "supported").repeat(50_000), &["a"]).is_err());
    }
}
