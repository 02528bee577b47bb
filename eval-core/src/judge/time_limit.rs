//! How long a judge may take for a question if it does not say so itself.

use std::time::Duration;

use super::environment::{self, EnvironmentError};

/// The limit of a question, and of a single request, if the environment sets none.
pub(super) const DEFAULT: Duration = Duration::from_mins(2);

/// The limit that `EVALSET_JUDGE_TIMEOUT` sets, else two minutes.
///
/// A value that cannot be read has failed the test before a judge is asked, so it is ignored here.
pub(super) fn default() -> Duration {
    from_env().ok().flatten().unwrap_or(DEFAULT)
}

/// The limit that `EVALSET_JUDGE_TIMEOUT` sets.
pub(super) fn from_env() -> Result<Option<Duration>, EnvironmentError> {
    let seconds = environment::number(environment::get, environment::TIMEOUT, 1)?;
    Ok(seconds.map(|seconds| Duration::from_secs(seconds as u64)))
}
