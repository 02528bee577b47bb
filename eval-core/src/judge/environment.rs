//! The variables that say how judges are asked.

use crate::judge::{JudgeError, JudgeErrorKind};

pub(super) const TIMEOUT: &str = "EVALSET_JUDGE_TIMEOUT";
#[cfg(feature = "model-judge")]
pub(super) const RETRIES: &str = "EVALSET_JUDGE_RETRIES";
#[cfg(feature = "model-judge")]
pub(super) const SLOTS: &str = "EVALSET_JUDGE_SLOTS";

/// A variable without the space around it; empty is the same as not set.
pub(super) fn get(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    let value = value.to_string_lossy();
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A whole number of at least `least`.
pub(super) fn number(
    get: impl Fn(&str) -> Option<String>,
    name: &'static str,
    least: u16,
) -> Result<Option<usize>, JudgeError> {
    let Some(value) = get(name) else { return Ok(None) };
    // A number of 16 bits is more than any of these variables can mean.
    let number = value.parse::<u16>().ok().filter(|number| *number >= least);
    let number =
        number.ok_or_else(|| wrong(name, &format!("a whole number from {least} to {}", u16::MAX)))?;
    Ok(Some(number.into()))
}

/// A variable that cannot be read. Its value is not shown: addresses may hold passwords.
pub(super) fn wrong(name: &str, expected: &str) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, format!("the variable `{name}` has to be {expected}"))
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
}
