//! The parser of verdicts on rubrics in a judge's reply.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use eval_format::Rubric;
use unicode_normalization::UnicodeNormalization;

use crate::judge::{is_copy, is_space};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RubricVerdict {
    pub(super) passed: bool,
    /// The number of noes that the verdict adds to the vote: ADK counts each verdict of a reply.
    pub(super) noes: usize,
    pub(super) rationale: String,
}

pub(super) type Verdicts<'r> = HashMap<&'r str, RubricVerdict>;

#[derive(Debug)]
pub(super) struct Known<'r> {
    rubrics: &'r [Rubric],
    ids: HashSet<&'r str>,
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
    /// after it, each at the beginning of its line. Other properties are ignored.
    ///
    /// A yes counts if it is a yes in ADK too, no verdict contradicts it, and no words follow it in its
    /// block. A block that the prompt contains is a copy and does not count. Every no that ADK reads is a no.
    pub(super) fn read(&self, reply: &str, prompt: &str) -> Verdicts<'r> {
        let blocks = blocks(reply);
        let id_of = |block: &Block<'_>| {
            let by_id = || self.ids.get(block.id?.trim_matches(is_space));
            by_id().or_else(|| self.by_text.get(&normalised(block.property))).copied()
        };
        let mut found: HashMap<&'r str, (Option<RubricVerdict>, Range<usize>)> = HashMap::new();
        for block in &blocks {
            let Some(id) = id_of(block) else { continue };
            let verdict = match block.verdict() {
                Said::Nothing => continue,
                Said::Contradiction => None,
                Said::Verdict(passed) => Some(RubricVerdict {
                    passed,
                    noes: usize::from(!passed),
                    rationale: block.rationale().to_owned(),
                }),
            };
            match found.entry(id) {
                Entry::Vacant(entry) => {
                    entry.insert((verdict, block.part.clone()));
                }
                Entry::Occupied(mut entry) => {
                    let passed = |verdict: Option<&RubricVerdict>| verdict.map(|verdict| verdict.passed);
                    if passed(entry.get().0.as_ref()) != passed(verdict.as_ref()) {
                        entry.get_mut().0 = None;
                    }
                }
            }
        }
        let own = found.into_iter().filter(|(_, (_, part))| !is_copy(&reply[part.clone()], prompt));
        let mut verdicts: Verdicts<'r> = own.filter_map(|(id, (verdict, _))| Some((id, verdict?))).collect();
        let mut adk: HashMap<&'r str, (usize, usize)> = HashMap::new();
        for (block, said) in blocks.iter().zip(in_adk(reply, blocks.len())) {
            let (Some(id), Some(passed)) = (id_of(block), said) else { continue };
            let (yes, no) = adk.entry(id).or_default();
            *(if passed { yes } else { no }) += 1;
        }
        verdicts.retain(|id, verdict| !verdict.passed || adk.contains_key(id));
        for (id, (_, noes)) in adk.into_iter().filter(|(_, (yes, no))| no >= yes) {
            let verdict = verdicts.entry(id).or_default();
            (verdict.passed, verdict.noes) = (false, noes);
        }
        verdicts
    }

    /// The ids of the rubrics without a verdict, in the order of the rubrics.
    pub(super) fn missing<'v>(&'v self, verdicts: &'v Verdicts<'r>) -> impl Iterator<Item = &'r str> + 'v {
        let ids = self.rubrics.iter().map(|rubric| rubric.rubric_id.as_str());
        ids.filter(|id| !verdicts.contains_key(id))
    }
}

struct Block<'t> {
    id: Option<&'t str>,
    property: &'t str,
    lines: Vec<&'t str>,
    /// The range from the property to the last line with its verdict.
    part: Range<usize>,
}

enum Said {
    Verdict(bool),
    Contradiction,
    Nothing,
}

/// The blocks of a reply. As in ADK, the id of a property is the last `ID:` since the previous property.
fn blocks(reply: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut id = None;
    let mut at = 0;
    for line in reply.split('\n') {
        let text = line.trim_start_matches(is_space);
        let end = at + line.len();
        if let Some(property) = text.strip_prefix("Property: ") {
            blocks.push(Block { id: id.take(), property, lines: Vec::new(), part: at..end });
        } else if let Some(found) = text.strip_prefix("ID: ") {
            id = Some(found);
        } else if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
            if text.starts_with(VERDICT) {
                block.part.end = end;
            }
        }
        at = end + 1;
    }
    blocks
}

const VERDICT: &str = "Verdict: ";
const RATIONALE: &str = "Rationale: ";

/// The verdict that ADK reads on each property, from the text after each `Verdict: `, anywhere in a line.
/// Empty if the numbers of verdicts, rationales and properties differ.
fn in_adk(reply: &str, properties: usize) -> Vec<Option<bool>> {
    let rest = |word| reply.split('\n').filter_map(move |line: &str| Some(line.split_once(word)?.1));
    let said: Vec<Option<bool>> = rest(VERDICT)
        .map(str::to_lowercase)
        .map(|text| text.contains("yes").then_some(true).or(text.contains("no").then_some(false)))
        .collect();
    let is_whole = said.len() == properties && rest(RATIONALE).count() == properties;
    if is_whole { said } else { Vec::new() }
}

impl<'t> Block<'t> {
    /// The verdict of the lines that begin with `Verdict:`. Other mentions of a verdict must not contradict
    /// it: a mention may be the judge's own word, and the line a quotation.
    fn verdict(&self) -> Said {
        let own = |line: &&'t str| line.trim_start_matches(is_space).strip_prefix(VERDICT).map(yes_and_no);
        let mut verdict = None;
        for line in &self.lines {
            let said = match own(line) {
                Some((true, true)) => return Said::Contradiction,
                Some((false, false)) | None => continue,
                Some((yes, _)) => yes,
            };
            if verdict.is_some_and(|verdict| verdict != said) {
                return Said::Contradiction;
            }
            verdict = Some(said);
        }
        let Some(verdict) = verdict else { return Said::Nothing };
        let quoted = self.lines.iter().filter(|line| own(line).is_none()).flat_map(|line| mentions(line));
        if quoted.into_iter().any(|mentioned| mentioned != verdict) || verdict && self.has_words_after() {
            return Said::Contradiction;
        }
        Said::Verdict(verdict)
    }

    /// Whether words that may take the verdict back follow it. The number of the next block does not count.
    fn has_words_after(&self) -> bool {
        let after = self.lines.iter().map(|line| line.trim_start_matches(is_space));
        let after = after.skip_while(|line| !line.starts_with(VERDICT)).skip(1);
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        after.filter(|line| !line.starts_with(RATIONALE) && !line.starts_with(VERDICT)).any(|line| {
            let words = || line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let is_heading = words().count() <= 2
                && words().any(is_number)
                && !words().any(|word| word.eq_ignore_ascii_case("no"));
            words().next().is_some() && !is_heading
        })
    }

    /// The text after `Rationale: ` in the first line that begins with it, else in the first line that
    /// contains it.
    fn rationale(&self) -> &'t str {
        let at_start = |line: &&'t str| line.trim_start_matches(is_space).strip_prefix(RATIONALE);
        let anywhere = |line: &&'t str| line.split_once(RATIONALE).map(|(_, rest)| rest);
        let lines = || self.lines.iter();
        let found = lines().find_map(at_start).or_else(|| lines().find_map(anywhere));
        found.unwrap_or_default().trim_matches(is_space)
    }
}

/// The verdicts that a line mentions: `verdict`, punctuation with a colon, and yes or no.
fn mentions(line: &str) -> Vec<bool> {
    // Changing ASCII letters alone keeps all byte offsets.
    let lower = line.to_ascii_lowercase();
    let verdict = |(at, word): (usize, &str)| {
        let rest = &lower[at + word.len()..];
        let signs = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let (signs, rest) = rest.split_at(signs);
        let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        match word {
            "yes" if signs.contains(':') => Some(true),
            "no" if signs.contains(':') => Some(false),
            _ => None,
        }
    };
    lower.match_indices("verdict").filter_map(verdict).collect()
}

/// Whether a text has the word yes, and the word no. ADK looks for the letters instead: `unknown` is a no there, and
/// `No, eyes` a yes.
fn yes_and_no(text: &str) -> (bool, bool) {
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let has = |word: &str| words().any(|found| found.eq_ignore_ascii_case(word));
    (has("yes"), has("no"))
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
