use std::env::VarError;

use super::limit;
use crate::message::quoted_list;

/// Whom a recorded question goes to: `EVALSET_JUDGE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JudgeMode {
    /// Answers come from recordings alone; what is not recorded is an error.
    Replay,
    /// What is not recorded is asked and recorded. Nothing that is recorded is asked again or removed.
    Record,
    /// Everything is asked; recordings are neither read nor written.
    Live,
}

impl JudgeMode {
    const ALL: [(&'static str, Self); 3] =
        [("replay", Self::Replay), ("record", Self::Record), ("live", Self::Live)];

    /// What `EVALSET_JUDGE` says; absent where it says nothing. Any other value is an error.
    pub fn from_env() -> Result<Option<Self>, String> {
        choice(MODE, &Self::ALL, variable(MODE)?)
    }
}

const MODE: &str = "EVALSET_JUDGE";
const MISSING: &str = "EVALSET_MISSING_JUDGE";
const MODEL: &str = "EVALSET_JUDGE_MODEL";

/// What the environment says about judges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `EVALSET_JUDGE`.
    pub(crate) mode: Option<JudgeMode>,
    /// `EVALSET_MISSING_JUDGE=skip`: what nobody can be asked about is left out.
    pub(crate) skip_missing: bool,
    /// `EVALSET_JUDGE_MODEL`: the model instead of the ones that criteria name.
    pub(crate) model: Option<String>,
}

impl Settings {
    /// Reads the variables; an unknown value is an error, so that a typo does not pass silently.
    pub(crate) fn from_env() -> Result<Self, String> {
        // A judge reads it where it is asked, too late to refuse a value.
        limit::from_env().map_err(|wrong| wrong.to_string())?;
        let missing = choice(MISSING, &[("fail", false), ("skip", true)], variable(MISSING)?)?;
        Ok(Self {
            mode: JudgeMode::from_env()?,
            skip_missing: missing.unwrap_or(false),
            model: variable(MODEL)?,
        })
    }

    /// Whether recorded answers are replayed and nobody is asked.
    pub(crate) fn replays(&self) -> bool {
        matches!(self.mode, None | Some(JudgeMode::Replay))
    }
}

/// The value of a variable; an empty one counts as none.
fn variable(name: &str) -> Result<Option<String>, String> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("`{name}` is not UTF-8 text")),
    }
}

fn choice<T: Copy>(name: &str, choices: &[(&str, T)], value: Option<String>) -> Result<Option<T>, String> {
    let Some(value) = value else { return Ok(None) };
    match choices.iter().find(|(known, _)| *known == value) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
            Err(format!("`{name}` is `{value}`; it can be {}", quoted_list(&known)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_of_the_known_or_an_error_that_names_them() {
        let read = |value: &str| choice(MODE, &JudgeMode::ALL, Some(value.to_owned()));
        assert_eq!(read("record"), Ok(Some(JudgeMode::Record)));
        assert_eq!(choice(MODE, &JudgeMode::ALL, None), Ok(None));
        for wrong in ["Replay", "rec", " live", "1"] {
            let error = read(wrong).unwrap_err();
            let expected = format!("`EVALSET_JUDGE` is `{wrong}`; it can be `replay`, `record` or `live`");
            assert_eq!(error, expected);
        }
    }
}
