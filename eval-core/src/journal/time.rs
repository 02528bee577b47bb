//! Times as texts that sort: `2026-11-22T02:31:07.250Z`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_core::de::{Error as _, Unexpected};
use serde_core::{Deserialize as _, Deserializer};

use super::line::{Field, Line};

const DAY: u64 = 24 * 60 * 60;

pub(super) fn now() -> SystemTime {
    in_millis(SystemTime::now())
}

/// A time to the millisecond, as a record holds it.
pub(super) fn in_millis(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis(time))
}

/// A time as part of the name of a run: `2026-11-22T02-31-07`, in UTC.
pub(super) fn in_name(time: SystemTime) -> String {
    let text = text(time);
    text.get(..19).unwrap_or(&text).replace(':', "-")
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn text(time: SystemTime) -> String {
    let millis = millis(time);
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (year, month, day) = date(seconds / DAY);
    let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Year, month and day after this many days since 1970-01-01. Years are counted from March, so that a leap day is the last
/// day of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// The days from 1970-01-01 to a date: the inverse of [`date`].
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + day_of_year;
    (year / 400 * 146_097 + day_of_era).checked_sub(719_468)
}

pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, millis) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, separator| -> Option<[u64; 3]> {
        let parts: Result<Vec<u64>, _> = text.split(separator).map(str::parse).collect();
        parts.ok()?.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let valid = year < 10_000 && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !valid || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day)? * DAY + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_millis(seconds * 1000 + millis.parse::<u64>().ok()?.min(999)))
}

impl Field for SystemTime {
    fn write(&self, line: &mut Line) {
        line.word(&text(*self));
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| {
            D::Error::invalid_value(Unexpected::Str(&text), &"a time like `2026-11-22T02:31:07.250Z`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_795_314_667, "2026-11-22T02:31:07.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(text(at(seconds)), expected);
            assert_eq!(parse(expected), Some(at(seconds)), "{expected}");
        }
        assert_eq!(in_name(at(1_795_314_667)), "2026-11-22T02-31-07");
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in 0..146_097 {
            let (year, month, date) = date(day);
            assert_eq!(days(year, month, date), Some(day));
        }
    }

    #[test]
    fn what_is_no_time_is_not_read_as_one() {
        for text in [
            "",
            "2026-11-22",
            "2026-13-22T02:31:07Z",
            "2026-11-22T02:31Z",
            "99999999999999-1-1T0:0:0Z",
            "T.Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_kept_to_the_millisecond() {
        let time = at(1_795_314_667) + Duration::from_micros(250_999);
        let kept = at(1_795_314_667) + Duration::from_millis(250);
        assert_eq!(in_millis(time), kept);
        assert_eq!(text(time), "2026-11-22T02:31:07.250Z");
        assert_eq!(parse("2026-11-22T02:31:07.250Z"), Some(kept));
        assert_eq!(parse("2026-11-22T02:31:07Z"), Some(at(1_795_314_667)));
    }

    #[test]
    fn each_part_of_a_time_has_its_limit() {
        for (text, is_time) in [
            ("2026-11-22T23:59:60Z", true),
            ("2026-11-22T24:00:00Z", false),
            ("2026-11-22T23:60:00Z", false),
            ("2026-11-22T23:59:61Z", false),
            ("2026-01-01T00:00:00Z", true),
            ("2026-00-01T00:00:00Z", false),
            ("2026-01-00T00:00:00Z", false),
            ("2026-12-31T00:00:00Z", true),
            ("2026-13-31T00:00:00Z", false),
            ("2026-12-32T00:00:00Z", false),
            ("9999-12-31T23:59:59Z", true),
            ("10000-01-01T00:00:00Z", false),
            ("1969-12-31T23:59:59Z", false),
        ] {
            assert_eq!(parse(text).is_some(), is_time, "{text}");
        }
    }
}
