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
    /// Whether a full stop follows at once, as after a day in `28. 11. 2026`.
    has_stop: bool,
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
            words.push(Word { text, at, has_stop: shown[text.len()..].starts_with('.') });
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
    } else if is_weekday(word)
        || is_iso(word)
        || is_in_numbers(word)
        || is_named_between(word)
        || is_clock(word)
    {
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
    if is_hour(first) && text(1).is_some_and(is_half_of_day) {
        return Some(2);
    }
    // In other cases than `May` and `March`, these are other words without a day and a year.
    let needs_year =
        |month: &str, end: usize| ends(end).filter(|ended| !is_another_word(month) || *ended > end);
    if is_month(first) {
        return match text(1) {
            Some(next) if is_day(next) => needs_year(first, 2),
            Some(next) if !is_another_word(first) => {
                year(next).filter(|year| YEARS.contains(year)).map(|_| 2)
            }
            _ => None,
        };
    }
    if !is_day(first) {
        return None;
    }
    if words[0].has_stop && words.get(1).is_some_and(|word| word.has_stop && within(word.text, 1..13)) {
        return year_at(2).filter(|year| YEARS.contains(year)).map(|_| 3);
    }
    let month = if text(1) == Some("of") { 2 } else { 1 };
    text(month).filter(|word| is_month(word)).and_then(|word| needs_year(word, month + 1))
}

/// A month by its name or its first letters.
fn is_month(word: &str) -> bool {
    let is_of = |month: &&str| {
        let is_start =
            word.len() == 3 && month.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(word));
        is_start || month.eq_ignore_ascii_case(word)
    };
    word.eq_ignore_ascii_case("sept") || MONTHS.iter().any(is_of)
}

/// Whether the name of a month is also another word in this spelling: `may`, `MARCH`.
fn is_another_word(month: &str) -> bool {
    let names = ["May", "March", "Mar"];
    !names.contains(&month) && names.iter().any(|name| name.eq_ignore_ascii_case(month))
}

fn is_weekday(word: &str) -> bool {
    WEEKDAYS.iter().any(|day| day.eq_ignore_ascii_case(word))
}

/// `28-Nov-2026`, `Nov/28/2026`.
fn is_named_between(word: &str) -> bool {
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = word.split(separator).collect();
        let [first, second, last] = parts.as_slice() else { return false };
        let is_date = is_day(first) && is_month(second) || is_month(first) && is_day(second);
        is_date && year(last).is_some_and(|year| YEARS.contains(&year))
    })
}

/// `14:32:07`, `3:42pm`. An hour with its minutes alone is as likely a time of each day.
fn is_clock(word: &str) -> bool {
    let halves = word.char_indices().find(|(_, c)| c.is_ascii_alphabetic()).map(|(at, _)| word.split_at(at));
    if let Some((hour, half)) = halves {
        return is_hour(hour) && is_half_of_day(half);
    }
    let (hour, seconds) = word.rsplit_once(':').unwrap_or_default();
    is_hour(hour) && seconds.len() == 2 && within(seconds, 0..61)
}

/// `3:42`, `14:32`.
fn is_hour(word: &str) -> bool {
    word.split_once(':').is_some_and(|(hour, minutes)| {
        (1..=2).contains(&hour.len()) && within(hour, 0..24) && minutes.len() == 2 && within(minutes, 0..60)
    })
}

/// `PM`, `a.m.` without its last point.
fn is_half_of_day(word: &str) -> bool {
    ["am", "pm", "a.m", "p.m", "a.m.", "p.m."].iter().any(|half| half.eq_ignore_ascii_case(word))
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

/// `11/23/26`, `23.11.2026`, `2026/11/23`, `20261123`. A version of two or three short numbers is no date.
fn is_in_numbers(word: &str) -> bool {
    let is_near = |text: &str| year(text).is_some_and(|year| YEARS.contains(&year));
    let in_order = |text: &str, month: &str, day: &str| {
        is_near(text) && month.len() == 2 && day.len() == 2 && within(month, 1..13) && within(day, 1..32)
    };
    let parts: Vec<&str> = word.split(['/', '.']).collect();
    if let [first, second, last] = parts.as_slice()
        && in_order(first, second, last)
    {
        return true;
    }
    if word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return in_order(&word[..4], &word[4..6], &word[6..]);
    }
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
        (Some(drive), Some(':'), Some('\\' | '/')) => {
            drive.is_ascii_alphabetic() && word[2..].chars().all(fits)
        }
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
            ("It is 14:32:07 now", "14:32:07"),
            ("It is 3:42 PM.", "3:42 PM"),
            ("It is 3:42pm", "3:42pm"),
            ("Due 2026/11/28", "2026/11/28"),
            ("Due 28-Nov-2026", "28-Nov-2026"),
            ("Am 28. 11. 2026 um zehn", "28. 11. 2026"),
            ("report 20261128 is ready", "20261128"),
            ("on 28 november 2026", "28 november 2026"),
            ("on saturday", "saturday"),
            ("NOVEMBER 28, 2026", "NOVEMBER 28, 2026"),
            ("on 5 may 2026", "5 may 2026"),
            ("on 5 May", "5 May"),
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
            "may 5 of them march 3 times, in MAY 2026",
            "You may, on a march: the sun sat",
            "from 9:30 to 18:00, score 3:2, ratio 1:2:3",
            "20269999 and 12345678 and 4032026",
            "1. 2. 3. and 28. 11. guests",
            "deadbeef and 0123456789",
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
        assert_eq!(
            found("id 550e8400e29b41d4a716446655440000, C:/Temp/x"),
            [(Uuid, "550e8400e29b41d4a716446655440000"), (Path, "C:/Temp/x")]
        );
    }
}
