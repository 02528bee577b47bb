//! Dates, ids and paths in sentences.

use std::ops::Range;

use super::kind::{VolatileKind, has_uuid, is_epoch, is_time};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The years of dates that may be the day of a run. Others are history.
const YEARS: Range<u32> = 2000..2100;

/// A word of a sentence, without the punctuation around it, with its place.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    at: usize,
}

impl Word<'_> {
    fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// The parts of a text that will probably differ next time, in their order.
pub(super) fn found(text: &str) -> Vec<(VolatileKind, &str)> {
    let words = words(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let date = date(&words[at..]).map(|length| (VolatileKind::Time, length));
        match date.or_else(|| Some((of_word(words[at].text)?, 1))) {
            Some((kind, length)) => {
                found.push((kind, &text[words[at].at..words[at + length - 1].end()]));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for part in text.split_whitespace() {
        let at = part.as_ptr() as usize - text.as_ptr() as usize;
        let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\');
        let shown = part.trim_start_matches(is_around);
        let at = at + part.len() - shown.len();
        let text = shown.trim_end_matches(is_around);
        if !text.is_empty() {
            words.push(Word { text, at });
        }
    }
    words
}

fn of_word(word: &str) -> Option<VolatileKind> {
    let is_number = word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if has_uuid(word) {
        Some(VolatileKind::Uuid)
    } else if is_number && word.parse().is_ok_and(is_epoch) {
        Some(VolatileKind::Epoch)
    } else if WEEKDAYS.contains(&word) || is_iso(word) || is_in_numbers(word) {
        Some(VolatileKind::Time)
    } else if is_path(word) {
        Some(VolatileKind::Path)
    } else {
        None
    }
}

/// The number of words of the date that begins here: `23 November 2026`, `Nov 23rd`, `today is`.
fn date(words: &[Word<'_>]) -> Option<usize> {
    let text = |at: usize| words.get(at).map(|word| word.text);
    let year_at = |at: usize| text(at).and_then(year);
    let ends = |at: usize| match year_at(at) {
        Some(year) if YEARS.contains(&year) => Some(at + 1),
        Some(_) => None,
        None => Some(at),
    };
    let first = text(0)?;
    if first.eq_ignore_ascii_case("today") && text(1) == Some("is") {
        return Some(2);
    }
    if is_month(first) {
        return match text(1) {
            Some(next) if is_day(next) => ends(2),
            Some(next) => year(next).filter(|year| YEARS.contains(year)).map(|_| 2),
            None => None,
        };
    }
    if !is_day(first) {
        return None;
    }
    let month = if text(1) == Some("of") { 2 } else { 1 };
    text(month).filter(|word| is_month(word)).and_then(|_| ends(month + 1))
}

/// A month by its name or its first letters. In lower case `may` and `march` are other words.
fn is_month(word: &str) -> bool {
    MONTHS.iter().any(|month| word == *month || word.len() == 3 && month.starts_with(word) || word == "Sept")
}

/// A day of a month: `3`, `03`, `3rd`.
fn is_day(word: &str) -> bool {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    digits.len() <= 2 && within(digits, 1..32)
}

fn year(word: &str) -> Option<u32> {
    let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_year)
}

fn within(digits: &str, range: Range<u32>) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse().is_ok_and(|number| range.contains(&number))
}

/// `2026-11-23`, alone or before a time.
fn is_iso(word: &str) -> bool {
    let Some((day, rest)) = word.split_at_checked(10) else { return false };
    let is_near = day.get(..4).and_then(year).is_some_and(|year| YEARS.contains(&year));
    is_near && is_time(day) && !rest.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// `11/23/26`, `23.11.2026`. A version of two or three short numbers is no date.
fn is_in_numbers(word: &str) -> bool {
    let of = |separator: char, short_year: bool| {
        let parts: Vec<&str> = word.split(separator).collect();
        let [first, second, last] = parts.as_slice() else { return false };
        let is_year = year(last).is_some_and(|year| YEARS.contains(&year))
            || short_year && last.len() == 2 && within(last, 0..100);
        is_year
            && within(first, 1..32)
            && within(second, 1..32)
            && (within(first, 1..13) || within(second, 1..13))
    };
    of('/', true) || of('.', false) || of('-', false)
}

/// A path from the root of a file system.
pub(super) fn is_path(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '\\' | '.' | '_' | '-' | '~' | '+');
    let mut chars = word.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('/'), Some(second), _) if second != '/' => {
            word.trim_end_matches('/').matches('/').count() > 1 && word.chars().all(fits)
        }
        (Some(drive), Some(':'), Some('\\')) => drive.is_ascii_alphabetic() && word[2..].chars().all(fits),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use VolatileKind::{Epoch, Path, Time, Uuid};

    #[test]
    fn a_day_is_seen_in_each_of_its_spellings() {
        for (text, date) in [
            ("It is 2026-11-23.", "2026-11-23"),
            ("At 2026-11-23T09:30:00Z it began", "2026-11-23T09:30:00Z"),
            ("Clear skies today, 23 November 2026.", "23 November 2026"),
            ("on November 23, 2026 in Paris", "November 23, 2026"),
            ("Due (11/23/26)", "11/23/26"),
            ("Due 23.11.2026", "23.11.2026"),
            ("See you Nov 23!", "Nov 23"),
            ("See you on the 23rd of November.", "23rd of November"),
            ("Come on Monday.", "Monday"),
            ("Today is sunny", "Today is"),
            ("In November 2026 it rains", "November 2026"),
        ] {
            assert_eq!(found(text), [(Time, date)], "{text}");
        }
        assert_eq!(found("It began at 1795293574."), [(Epoch, "1795293574")]);
    }

    #[test]
    fn history_and_other_words_are_no_days() {
        for text in [
            "It was built in 1926.",
            "You may 5 times retry, in May or March.",
            "He was born on 23 November 1926.",
            "Version 1.2.3, or 10.4, or 1/2/3.",
            "3 of 12 rooms, 2026 guests",
            "Open on Mondays",
            "Paris has 24/7 service and a 1/2 discount",
            "https://example.com/a/b and either/or and //x/y",
            "",
            "日本 11月23日",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn ids_and_paths_are_seen_in_sentences() {
        let text =
            "Order 550e8400-e29b-41d4-a716-446655440000 is in /home/anna/orders.csv, or C:\\Temp\\a.csv.";
        assert_eq!(
            found(text),
            [
                (Uuid, "550e8400-e29b-41d4-a716-446655440000"),
                (Path, "/home/anna/orders.csv"),
                (Path, "C:\\Temp\\a.csv")
            ]
        );
    }
}
