//! What a judge says about rubrics, read from its reply.

use std::collections::HashMap;

use eval_format::Rubric;
use unicode_normalization::UnicodeNormalization;

use crate::judge::is_space;

/// A yes or a no, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) passed: bool,
    pub(super) rationale: String,
}

/// One place per rubric of the question, empty where the reply has no verdict.
pub(super) type Verdicts = Vec<Option<Verdict>>;

/// The rubrics of a question, to be found again in replies.
#[derive(Debug)]
pub(super) struct Known<'r> {
    ids: Vec<&'r str>,
    by_id: HashMap<&'r str, usize>,
    by_text: HashMap<String, usize>,
}

impl<'r> Known<'r> {
    pub(super) fn new(rubrics: &'r [Rubric]) -> Self {
        let ids: Vec<&str> = rubrics.iter().map(|rubric| rubric.rubric_id.as_str()).collect();
        let text = |rubric: &Rubric| normalised(rubric.text_property.as_deref().unwrap_or_default());
        Self {
            by_id: ids.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
            by_text: rubrics.iter().enumerate().map(|(at, rubric)| (text(rubric), at)).collect(),
            ids,
        }
    }

    /// Reads a reply: a block per property, `Property:` with the `ID:` before it and the `Rationale:` and `Verdict:`
    /// after it. The last verdict on a rubric counts; properties that nobody asked about are passed over.
    pub(super) fn read(&self, reply: &str) -> Verdicts {
        let mut verdicts: Verdicts = vec![None; self.ids.len()];
        for block in blocks(reply) {
            let by_id = || self.by_id.get(block.id?.trim_matches(is_space));
            let at = by_id().or_else(|| self.by_text.get(&normalised(block.property)));
            if let (Some(at), Some(passed)) = (at, block.verdict()) {
                verdicts[*at] = Some(Verdict { passed, rationale: block.rationale().to_owned() });
            }
        }
        verdicts
    }

    /// The ids of the rubrics without a verdict.
    pub(super) fn missing<'v>(&'v self, verdicts: &'v Verdicts) -> impl Iterator<Item = &'r str> + 'v {
        self.ids.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_none()).map(|(id, _)| *id)
    }
}

/// What a reply says about one property.
struct Block<'t> {
    id: Option<&'t str>,
    property: &'t str,
    lines: Vec<&'t str>,
}

/// The blocks of a reply. As in ADK, the id of a property is the last one since the property before.
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

    /// The rest of the line after a word: at the beginning of a line, else anywhere; of several lines the last, or the
    /// first.
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

/// The first word if it is a yes or a no, else the one of the two that stands there alone.
///
/// ADK looks for the letters: `unknown` is a no there, and `No, eyes` a yes.
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

/// A property as ADK compares it: without what typography and Markdown add.
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
