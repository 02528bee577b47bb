//! Times as they are shown.

use std::time::SystemTime;

use chrono::{DateTime, Utc};

/// `2026-11-22 02:31:07 UTC`.
pub(crate) fn shown(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2026-11-22T02:31:07.250Z`.
pub(crate) fn iso(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
