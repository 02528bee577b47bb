//! How long a store is waited for.

use std::time::Duration;

/// How often a request is repeated that may succeed later: after 0.5 s, 1 s, 2 s and 4 s, give or take.
pub(super) const REPEATED: usize = 4;
/// How long one request may take. A part has 8 MiB, so that it arrives over a slow line too.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
