//! The kinds of values that probably differ next time, by the shape of a text or a number.

use std::fmt;

/// The kind of a value that probably differs next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VolatileKind {
    /// A UUID.
    Uuid,
    /// A date, with or without a time.
    Time,
    /// A number of seconds, milliseconds, microseconds or nanoseconds since 1970.
    Epoch,
    /// A path of a file on one machine.
    Path,
}

impl fmt::Display for VolatileKind {
    /// With its article.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uuid => "a UUID",
            Self::Time => "a time",
            Self::Epoch => "a time since 1970",
            Self::Path => "a path of a machine",
        })
    }
}

const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Whether a UUID is in a text, alone or behind a prefix such as `order-`, with or without its dashes.
pub(super) fn has_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_bare = |run: &[u8]| {
        let has = |of: fn(&u8) -> bool| run.iter().any(of);
        run.len() == GROUPS.iter().sum::<usize>()
            && run.iter().all(u8::is_ascii_hexdigit)
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
    };
    if bytes.split(|byte| !byte.is_ascii_alphanumeric()).any(is_bare) {
        return true;
    }
    let length = GROUPS.iter().sum::<usize>() + GROUPS.len() - 1;
    let is_uuid = |window: &[u8]| {
        let mut groups = window.split(|byte| *byte == b'-');
        let fit = |length: usize| {
            groups
                .next()
                .is_some_and(|group| group.len() == length && group.iter().all(u8::is_ascii_hexdigit))
        };
        GROUPS.into_iter().all(fit)
    };
    bytes.windows(length).any(is_uuid)
}

/// Whether a text is a date (`2026-11-22`), with or without a time.
pub(super) fn is_time(text: &str) -> bool {
    let fits = |part: &str, pattern: &str| {
        part.len() == pattern.len()
            && part
                .bytes()
                .zip(pattern.bytes())
                .all(|(byte, wanted)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted })
    };
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    let in_range = |range: std::ops::Range<usize>, most: u8| {
        date.get(range)
            .and_then(|part| part.parse::<u8>().ok())
            .is_some_and(|part| (1..=most).contains(&part))
    };
    if !fits(date, "0000-00-00") || !in_range(5..7, 12) || !in_range(8..10, 31) {
        return false;
    }
    let Some(time) = rest.strip_prefix(['T', 't', ' ']) else { return rest.is_empty() };
    time.get(..5).is_some_and(|time| fits(time, "00:00"))
}

/// Whether a number is a time from 2001 to 2286, in seconds or smaller units.
pub(super) fn is_epoch(number: f64) -> bool {
    [1.0, 1e3, 1e6, 1e9].into_iter().any(|unit| (1e9 * unit..1e10 * unit).contains(&number))
}
