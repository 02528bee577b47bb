//! Reads the verdicts on rubrics from a judge's reply.

use std::collections::{HashMap, HashSet};

use eval_format::Rubric;
use unicode_normalization::UnicodeNormalization;

use crate::judge::is_space;

/// A yes or a no, with its rationale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) passed: bool,
    pub(super) rationale: String,
}

/// The verdicts of a reply by the id of their rubric.
pub(super) type Verdicts<'r> = HashMap<&'r str, Verdict>;

/// The rubrics of a question, to be looked up in replies.
#[derive(Debug)]
pub(super) struct Known<'r> {
    rubrics: &'r [Rubric],
    ids: HashSet<&'r str>,
    /// Ids by normalised text.
    by_text: HashMap<String, &'r str>,
}

impl<'r> Known<'r> {
    pub(super) fn new(rubrics: &'r [Rubric]) -> Self {
        let text = |rubric: &Rubric| normalised(rubric.text_property.as_deref().unwrap_or_default());
        Self {
            rubrics,
            ids: rubrics.iter().map(|rubric| rubric.rubric_id.as_str()).collect(),
            by_text: rubrics.iter().map(|rubric| (text(rubric), rubric.rubric_id.as_str())).collect(),
        }
    }

    /// Reads a reply: a block per property, `Property:` with the `ID:` before it and the `Rationale:` and `Verdict:`
    /// after it. The last verdict on a rubric counts. Other properties are ignored.
    pub(super) fn read(&self, reply: &str) -> Verdicts<'r> {
        let mut verdicts = Verdicts::new();
        for block in blocks(reply) {
            let by_id = || self.ids.get(block.id?.trim_matches(is_space));
            let id = by_id().or_else(|| self.by_text.get(&normalised(block.property)));
            if let (Some(id), Some(passed)) = (id, block.verdict()) {
                verdicts.insert(*id, Verdict { passed, rationale: block.rationale().to_owned() });
            }
        }
        verdicts
    }

    /// The ids of the rubrics without a verdict, in the order of the rubrics.
    pub(super) fn missing<'v>(&'v self, verdicts: &'v Verdicts<'r>) -> impl Iterator<Item = &'r str> + 'v {
        let ids = self.rubrics.iter().map(|rubric| rubric.rubric_id.as_str());
        ids.filter(|id| !verdicts.contains_key(id))
    }
}

/// The part of a reply on one property.
struct Block<'t> {
    id: Option<&'t str>,
    property: &'t str,
    lines: Vec<&'t str>,
}

/// The blocks of a reply. As in ADK, the id of a property is the last `ID:` since the previous property.
fn blocks(reply: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut id = None;
    for line in reply.split('\n') {
        let text = line.trim_start_matches(is_space);
        if let Some(property) = text.strip_prefix("Property: ") {
            blocks.push(Block { id: id.take(), property, lines: Vec::new() });
        } else if let Some(found) = text.strip_prefix("ID: ") {
            id = Some(found);
        } else if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    blocks
}

impl<'t> Block<'t> {
    fn verdict(&self) -> Option<bool> {
        self.after("Verdict: ", true).and_then(yes_or_no)
    }

    fn rationale(&self) -> &'t str {
        self.after("Rationale: ", false).unwrap_or_default().trim_matches(is_space)
    }

    /// The rest of the line after a word. A word at the beginning of a line comes before one within a line; of several
    /// lines it is the last, or the first.
    fn after(&self, word: &str, last: bool) -> Option<&'t str> {
        let at_start = |line: &&'t str| line.trim_start_matches(is_space).strip_prefix(word);
        let anywhere = |line: &&'t str| if last { line.rsplit_once(word) } else { line.split_once(word) };
        let rest = |line| anywhere(line).map(|(_, rest)| rest);
        let lines = || self.lines.iter();
        if last {
            lines().rev().find_map(at_start).or_else(|| lines().rev().find_map(rest))
        } else {
            lines().find_map(at_start).or_else(|| lines().find_map(rest))
        }
    }
}

/// The first word if it is `yes` or `no`; else the only one of both words that the text has.
///
/// ADK looks for the letters instead: `unknown` is a no there, and `No, eyes` a yes.
fn yes_or_no(text: &str) -> Option<bool> {
    let word = |word: &str| match word.to_ascii_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    if let Some(first) = words().next().and_then(word) {
        return Some(first);
    }
    let (yes, no) = (words().any(|w| word(w) == Some(true)), words().any(|w| word(w) == Some(false)));
    (yes != no).then_some(yes)
}

/// A property as ADK compares it: without typographic characters and the marks of Markdown.
fn normalised(text: &str) -> String {
    let plain = text.nfkc().map(|c| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2013}' | '\u{2014}' => '-',
        c if is_space(c) => ' ',
        c => c,
    });
    let mut out = String::with_capacity(text.len());
    for c in plain {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out.trim_matches([' ', '*', '_', '`', '#', '>', '-', '\u{2022}', '"', '\'']).to_lowercase()
}

#[cfg(test)]
mod tests;
