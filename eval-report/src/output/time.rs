//! Times as they are shown.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};

/// `2026-11-22 02:31:07 UTC`.
pub fn shown(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2026-11-22T02:31:07.250Z`.
pub fn iso(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// `1.25 s`, `2 min 5 s`.
pub fn took(time: Duration) -> String {
    if time < Duration::from_mins(1) {
        return format!("{:.2} s", time.as_secs_f64());
    }
    format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
}

/// `4 ms`, `1.25 s`: how long an agent took, which is nearly nothing in many tests.
pub fn latency(time: Duration) -> String {
    // Rounded: clocks of traces and sums of seconds often lack a part of a microsecond.
    match time.saturating_add(Duration::from_micros(500)).as_millis() {
        0 if time.is_zero() => "0 ms".to_owned(),
        0 => "< 1 ms".to_owned(),
        millis @ 1..1000 => format!("{millis} ms"),
        _ => took(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_minutes() {
        let shown = [1250, 60_000, 125_900].map(|millis| took(Duration::from_millis(millis)));
        assert_eq!(shown, ["1.25 s", "1 min 0 s", "2 min 5 s"]);
    }

    #[test]
    fn short_times_have_milliseconds() {
        let shown =
            [0, 10, 4_000, 999_400, 999_999, 1_250_000].map(|micros| latency(Duration::from_micros(micros)));
        assert_eq!(shown, ["0 ms", "< 1 ms", "4 ms", "999 ms", "1.00 s", "1.25 s"]);
    }
}
