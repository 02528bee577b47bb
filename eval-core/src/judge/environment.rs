//! The environment variables that configure judges, and the settings in them.

use std::env::VarError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use eval_support::variables;
use eval_support::words::quoted_list;

use super::JudgeError;

pub(super) use variables::{
    JUDGE as MODE, JUDGE_BASE_URL as BASE_URL, JUDGE_BUDGET as BUDGET, JUDGE_MODEL as MODEL,
    JUDGE_TIMEOUT as TIMEOUT, MISSING_JUDGE as MISSING,
};
#[cfg(feature = "model-judge")]
pub(super) use variables::{JUDGE_RETRIES as RETRIES, JUDGE_SLOTS as SLOTS};

/// The error of an environment variable whose value cannot be used.
///
/// ```
/// use eval_core::judge::JudgeMode;
///
/// match JudgeMode::from_env() {
///     Ok(mode) => println!("{mode:?}"),
///     Err(error) => println!("look at `{}`: {error}", error.variable()),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentError {
    variable: &'static str,
    message: String,
}

impl EnvironmentError {
    /// An error about a value in the wrong form. It is not shown: an address may hold a password.
    pub(super) fn unfit(variable: &'static str, expected: &str) -> Self {
        Self { variable, message: format!("the variable `{variable}` has to be {expected}") }
    }

    /// The name of the variable.
    pub fn variable(&self) -> &str {
        self.variable
    }
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EnvironmentError {}

impl From<EnvironmentError> for JudgeError {
    fn from(error: EnvironmentError) -> Self {
        Self::failed(error.message)
    }
}

/// The value of a variable without the white space around it. `None` if it is not set or empty.
pub(super) fn get(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    let value = value.to_string_lossy();
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The value of a variable as it is written. `None` if it is not set or empty.
pub(super) fn text(name: &'static str) -> Result<Option<String>, EnvironmentError> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(EnvironmentError { variable: name, message: format!("`{name}` is not UTF-8 text") })
        }
    }
}

pub(super) fn choice<T: Copy>(
    name: &'static str,
    choices: &[(&'static str, T)],
    value: Option<String>,
) -> Result<Option<T>, EnvironmentError> {
    let Some(value) = value else { return Ok(None) };
    match choices.iter().find(|(known, _)| *known == value) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
            let message = format!("`{name}` is `{value}`; it can be {}", quoted_list(&known));
            Err(EnvironmentError { variable: name, message })
        }
    }
}

/// A whole number of at least `least`. `get` reads a variable.
pub(super) fn number(
    get: impl Fn(&str) -> Option<String>,
    name: &'static str,
    least: u16,
) -> Result<Option<usize>, EnvironmentError> {
    let Some(value) = get(name) else { return Ok(None) };
    let number = variables::number(&value, least);
    let number = number.ok_or_else(|| EnvironmentError::unfit(name, &variables::expected(least)))?;
    Ok(Some(number.into()))
}

/// The default time limit of a question, and of a single request.
pub(super) const DEFAULT_TIME_LIMIT: Duration = Duration::from_mins(2);
/// The budget if neither the environment nor the time limit of a request gives more.
pub(super) const DEFAULT_BUDGET: Duration = Duration::from_mins(5);

/// The time limit that `EVALSET_JUDGE_TIMEOUT` sets, else two minutes.
/// An unreadable value is ignored here: it fails the test before a judge is asked.
pub(super) fn time_limit() -> Duration {
    given_time_limit().ok().flatten().unwrap_or(DEFAULT_TIME_LIMIT)
}

pub(super) fn given_time_limit() -> Result<Option<Duration>, EnvironmentError> {
    let seconds = number(get, TIMEOUT, 1)?;
    Ok(seconds.map(|seconds| Duration::from_secs(seconds as u64)))
}

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
        choice(MODE, &Self::ALL, text(MODE)?)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
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
        let limit = given_time_limit()?;
        let budget = number(get, BUDGET, 1)?;
        let missing = choice(MISSING, &[("fail", false), ("skip", true)], text(MISSING)?)?;
        Ok(Self {
            mode: JudgeMode::from_env()?,
            skip_missing: missing.unwrap_or(false),
            model: text(MODEL)?,
            budget: budget
                .map(|seconds| Duration::from_secs(seconds as u64))
                .or(limit.filter(|limit| *limit > DEFAULT_BUDGET)),
        })
    }

    pub(crate) fn replays(&self) -> bool {
        matches!(self.mode, None | Some(JudgeMode::Replay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_in_their_range() {
        for (value, expected) in [
            (None, Some(None)),
            (Some("1"), Some(Some(1))),
            (Some("65535"), Some(Some(65_535))),
            (Some("0"), None),
            (Some("65536"), None),
            (Some("-1"), None),
            (Some("1.5"), None),
            (Some("many"), None),
        ] {
            let read = number(|_| value.map(str::to_owned), TIMEOUT, 1);
            assert_eq!(read.as_ref().ok(), expected.as_ref(), "{value:?}");
            if let Err(error) = read {
                assert_eq!(
                    error.to_string(),
                    "the variable `EVALSET_JUDGE_TIMEOUT` has to be a whole number from 1 to 65535"
                );
            }
        }
    }

    #[test]
    fn a_value_is_one_of_the_known_or_an_error_that_names_them() {
        let choices = [("replay", 1), ("record", 2), ("live", 3)];
        let read = |value: &str| choice(MODE, &choices, Some(value.to_owned()));
        assert_eq!(read("record"), Ok(Some(2)));
        assert_eq!(choice(MODE, &choices, None), Ok(None));
        for wrong in ["Replay", "rec", " live", "1"] {
            let error = read(wrong).unwrap_err();
            let expected = format!("`EVALSET_JUDGE` is `{wrong}`; it can be `replay`, `record` or `live`");
            assert_eq!((error.variable(), error.to_string()), (MODE, expected));
        }
    }

    #[test]
    fn modes_are_read_by_their_names() {
        for (value, mode) in
            [("replay", JudgeMode::Replay), ("record", JudgeMode::Record), ("live", JudgeMode::Live)]
        {
            let read = choice(MODE, &JudgeMode::ALL, Some(value.to_owned()));
            assert_eq!(read, Ok(Some(mode)));
        }
    }
}
