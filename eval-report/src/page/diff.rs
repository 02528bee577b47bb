//! Two texts by words or by lines: the parts that both have, and the parts of one of them.
//!
//! Words are split as Unicode defines them, so that Japanese, Chinese and Thai texts are compared by signs.

use eval_support::words::grouped;
use serde::Serialize;
use similar::{ChangeTag, DiffableStr, TextDiff};

/// The text that has a part: both, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PartSide {
    #[serde(rename = "=")]
    Both,
    #[serde(rename = "-")]
    Expected,
    #[serde(rename = "+")]
    Actual,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    #[serde(rename = "d")]
    pub side: PartSide,
    #[serde(rename = "t")]
    pub text: String,
    /// The name of a long part that is the same in both texts and is closed at first: `1,240 equal words`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<String>,
    /// The words of lines that differ: the words of both texts, and the words of this one. Empty if the lines have little in common.
    #[serde(rename = "w", skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Part>,
}

impl Part {
    fn new(side: PartSide, text: String) -> Self {
        Self { side, text, fold: None, words: Vec::new() }
    }
}

/// The most words of two texts together, without their equal beginning and end, that are compared: with more, the page
/// would take minutes to write. Longer texts are compared by sentences. Texts that are compared by lines have as many for
/// all their lines that differ.
const MAX_WORDS: usize = 8_000;

/// The comparison by words; `None` if the texts are too long.
pub(super) fn words(expected: &str, actual: &str) -> Option<Vec<Part>> {
    let sentences = |text| str::split_inclusive(text, ['.', '!', '?', '。', '\n']).collect();
    let regions = by(expected, actual, |text| text.tokenize_unicode_words(), &mut { MAX_WORDS })
        .or_else(|| by(expected, actual, sentences, &mut { MAX_WORDS }))?;
    let regions = joined(regions);
    let is_other = is_another(&regions, expected, actual);
    let regions = if is_other {
        vec![Region { same: String::new(), expected: expected.to_owned(), actual: actual.to_owned() }]
    } else {
        regions
    };
    Some(folded(parts(regions), &WORDS))
}

pub(super) fn lines(expected: &str, actual: &str) -> Option<Vec<Part>> {
    let regions = by(expected, actual, |text| text.split_inclusive('\n').collect(), &mut { MAX_WORDS })?;
    let mut words_left = MAX_WORDS;
    let parts = regions.into_iter().flat_map(|region| with_words(region, &mut words_left));
    Some(folded(parts.collect(), &LINES))
}

/// The comparison of two texts that are cut into tokens; `None` if there are more than are left.
fn by<'t>(
    expected: &'t str,
    actual: &'t str,
    cut: fn(&'t str) -> Vec<&'t str>,
    tokens_left: &mut usize,
) -> Option<Vec<Region>> {
    let (left, right) = (cut(expected), cut(actual));
    let begin = left.iter().zip(&right).take_while(|(one, other)| one == other).count();
    let rest = left[begin..].iter().rev().zip(right[begin..].iter().rev());
    let end = rest.take_while(|(one, other)| one == other).count();
    let (one, other) = (&left[begin..left.len() - end], &right[begin..right.len() - end]);
    *tokens_left = tokens_left.checked_sub(one.len() + other.len())?;
    let diff = TextDiff::from_slices(one, other);
    let changes = diff.iter_all_changes().map(|change| (change.tag(), change.value()));
    let equal =
        |tokens: &[&'t str]| tokens.iter().map(|token| (ChangeTag::Equal, *token)).collect::<Vec<_>>();
    Some(regions(equal(&left[..begin]).into_iter().chain(changes).chain(equal(&left[left.len() - end..]))))
}

/// A text that both have, and then a text of each.
#[derive(Default)]
struct Region {
    same: String,
    expected: String,
    actual: String,
}

fn regions<'t>(changes: impl Iterator<Item = (ChangeTag, &'t str)>) -> Vec<Region> {
    let mut regions = vec![Region::default()];
    for (tag, text) in changes {
        let Some(last) = regions.last_mut() else { continue };
        match tag {
            ChangeTag::Delete => last.expected.push_str(text),
            ChangeTag::Insert => last.actual.push_str(text),
            ChangeTag::Equal if last.expected.is_empty() && last.actual.is_empty() => {
                last.same.push_str(text);
            }
            ChangeTag::Equal => regions.push(Region { same: text.to_owned(), ..Region::default() }),
        }
    }
    regions
}

/// Regions that only a blank parts are one: people read phrases. So are those that one or two signs of a script without blanks
/// part: of 東京 and 京都 the marks would leave 京 to be read with either.
fn joined(regions: Vec<Region>) -> Vec<Region> {
    let mut all: Vec<Region> = Vec::new();
    let replaces = |region: &Region| !region.expected.is_empty() && !region.actual.is_empty();
    let differs = |region: &Region| !region.expected.is_empty() || !region.actual.is_empty();
    for region in regions {
        let phrase = |last: &Region| region.same == " " && replaces(last) && replaces(&region);
        let word = |last: &Region| is_in_a_word(&region.same) && differs(last) && differs(&region);
        match all.last_mut().filter(|last| phrase(last) || word(last)) {
            Some(last) => {
                last.expected.push_str(&format!("{}{}", region.same, region.expected));
                last.actual.push_str(&format!("{}{}", region.same, region.actual));
            }
            None => all.push(region),
        }
    }
    all
}

/// Whether a text is too short to be read alone, and no blank parts it from what is around it.
fn is_in_a_word(text: &str) -> bool {
    let is_sign = |c: char| c.is_alphanumeric() && !c.is_ascii();
    (1..=2).contains(&text.chars().count()) && text.chars().all(is_sign)
}

/// Whether the texts have so little in common that its words would only disturb.
fn is_another(regions: &[Region], expected: &str, actual: &str) -> bool {
    let signs = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let same: usize = regions.iter().map(|region| signs(&region.same)).sum();
    same * 5 < signs(expected).min(signs(actual))
}

fn parts(regions: Vec<Region>) -> Vec<Part> {
    regions.into_iter().flat_map(of_region).collect()
}

fn of_region(region: Region) -> impl Iterator<Item = Part> {
    let all = [
        (PartSide::Both, region.same),
        (PartSide::Expected, region.expected),
        (PartSide::Actual, region.actual),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).map(|(side, text)| Part::new(side, text))
}

/// The parts of a region of lines, with the words that differ in them.
fn with_words(region: Region, words_left: &mut usize) -> Vec<Part> {
    let words = if region.expected.is_empty() || region.actual.is_empty() {
        None
    } else {
        by(&region.expected, &region.actual, |text| text.tokenize_unicode_words(), words_left)
    };
    let words = words.filter(|words| !is_another(words, &region.expected, &region.actual));
    let words = words.map(parts).unwrap_or_default();
    let of_side = |part: Part| {
        let is_of_side =
            |word: &&Part| part.side != PartSide::Both && [part.side, PartSide::Both].contains(&word.side);
        Part { words: words.iter().filter(is_of_side).cloned().collect(), ..part }
    };
    of_region(region).map(of_side).collect()
}

/// The unit of a comparison: how long equal texts are folded, and how much of them stays around a difference.
struct Unit {
    least: usize,
    around: usize,
    tokens: fn(&str) -> Vec<&str>,
    name: fn(&str) -> String,
}

const WORDS: Unit = Unit {
    least: 120,
    around: 30,
    tokens: |text| text.tokenize_unicode_words(),
    name: |text| {
        let (words, signs) = (text.split_whitespace().count(), text.chars().count());
        // Texts without blanks between words are counted by characters.
        if words * 12 < signs { equal(signs, "character") } else { equal(words, "word") }
    },
};

const LINES: Unit = Unit {
    least: 12,
    around: 3,
    tokens: |text| text.split_inclusive('\n').collect(),
    name: |text| equal(text.lines().count(), "line"),
};

fn equal(number: usize, noun: &str) -> String {
    let shown = grouped(i128::try_from(number).unwrap_or(i128::MAX));
    format!("{shown} equal {noun}{}", if number == 1 { "" } else { "s" })
}

/// Splits long equal parts, so that the text around differences stays in sight.
fn folded(parts: Vec<Part>, unit: &Unit) -> Vec<Part> {
    let last = parts.len().saturating_sub(1);
    // A text without differences is not folded: there is nothing to lead to.
    if parts.iter().all(|part| part.side == PartSide::Both) {
        return parts;
    }
    let split = parts.into_iter().enumerate().flat_map(|(at, part)| {
        let tokens = if part.side == PartSide::Both { (unit.tokens)(&part.text) } else { Vec::new() };
        if tokens.len() < unit.least {
            return vec![part];
        }
        let head = if at == 0 { 0 } else { unit.around };
        let tail = tokens.len() - if at == last { 0 } else { unit.around };
        let both = |tokens: &[&str]| Part::new(PartSide::Both, tokens.concat());
        let middle = tokens[head..tail].concat();
        let fold = Some((unit.name)(&middle));
        let middle = Part { fold, ..Part::new(PartSide::Both, middle) };
        let all = [both(&tokens[..head]), middle, both(&tokens[tail..])];
        all.into_iter().filter(|part| !part.text.is_empty()).collect()
    });
    split.collect()
}

#[cfg(test)]
mod tests;
