//! How much a test prints.

use eval_support::variables::PRINT;

/// How much is printed: `EVALSET_PRINT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Print {
    /// What fails (the default).
    Failures,
    /// The table of passing cases too.
    All,
    /// Tables and every recorded event, as JSON.
    Record,
}

impl Print {
    /// Reads `EVALSET_PRINT`. An unknown value is an error, so that a typo does not go unnoticed.
    pub(crate) fn from_env() -> Result<Self, String> {
        match std::env::var(PRINT).as_deref() {
            Err(_) | Ok("" | "failures") => Ok(Self::Failures),
            Ok("all") => Ok(Self::All),
            Ok("record") => Ok(Self::Record),
            Ok(other) => Err(format!(
                "`EVALSET_PRINT` is `{other}`; it can be `failures` (the default), `all` (the table of passing cases \
                 too) or `record` (every event)"
            )),
        }
    }
}
