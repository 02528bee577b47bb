//! Settings of judges: the variables `EVALSET_JUDGE..`.

use std::time::Duration;

use super::budget;
use super::environment::{self, BUDGET, EnvironmentError, MISSING, MODE, MODEL};

/// The values of `EVALSET_JUDGE`: whether the recording or the judge answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JudgeMode {
    /// The recording answers. A question that is not recorded is an error.
    Replay,
    /// The recording answers. A question that is not recorded is asked, and the answer is recorded. Nothing that is
    /// recorded is asked again or removed.
    Record,
    /// The judge answers. Recordings are neither read nor written.
    Live,
}

impl JudgeMode {
    const ALL: [(&'static str, Self); 3] =
        [("replay", Self::Replay), ("record", Self::Record), ("live", Self::Live)];

    /// The mode that `EVALSET_JUDGE` names. `None` if the variable is not set or empty, which means the same as
    /// [`Replay`](Self::Replay).
    ///
    /// An unknown value is an error.
    pub fn from_env() -> Result<Option<Self>, EnvironmentError> {
        environment::choice(MODE, &Self::ALL, environment::text(MODE)?)
    }
}

/// The settings of judges in the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `EVALSET_JUDGE`.
    pub(crate) mode: Option<JudgeMode>,
    /// `EVALSET_MISSING_JUDGE=skip`: a metric that has no judge to ask is left out.
    pub(crate) skip_missing: bool,
    /// `EVALSET_JUDGE_MODEL`: the model to ask, in place of the ones that criteria name.
    pub(crate) model: Option<String>,
    /// The time limit of a question, all samples and attempts together: `EVALSET_JUDGE_BUDGET`, else
    /// `EVALSET_JUDGE_TIMEOUT` (the limit of a single request) if that is longer than the default budget.
    pub(crate) budget: Option<Duration>,
}

impl Settings {
    /// Reads the variables. An unknown value is an error, so that a typing mistake does not pass unseen.
    pub(crate) fn from_env() -> Result<Self, EnvironmentError> {
        // Read here to refuse a wrong value early: a judge reads the variable only when it is asked.
        let limit = environment::given_time_limit()?;
        let budget = environment::number(environment::get, BUDGET, 1)?;
        let missing =
            environment::choice(MISSING, &[("fail", false), ("skip", true)], environment::text(MISSING)?)?;
        Ok(Self {
            mode: JudgeMode::from_env()?,
            skip_missing: missing.unwrap_or(false),
            model: environment::text(MODEL)?,
            budget: budget
                .map(|seconds| Duration::from_secs(seconds as u64))
                .or(limit.filter(|limit| *limit > budget::DEFAULT)),
        })
    }

    /// Whether recordings answer and no judge is asked.
    pub(crate) fn replays(&self) -> bool {
        matches!(self.mode, None | Some(JudgeMode::Replay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_by_their_names() {
        for (value, mode) in
            [("replay", JudgeMode::Replay), ("record", JudgeMode::Record), ("live", JudgeMode::Live)]
        {
            let read = environment::choice(MODE, &JudgeMode::ALL, Some(value.to_owned()));
            assert_eq!(read, Ok(Some(mode)));
        }
    }
}
