//! Options of the `#[eval_set]` attribute and of `eval_core::EvalRunner`: how often a case runs and when it passes.
//!
//! | option | type | default |
//! | --- | --- | --- |
//! | `pass` | [`PassRule`] | [`PassRule::Mean`] |
//! | `gate` | [`TurnAggregation`] | [`TurnAggregation::Mean`] |
//! | `timeout` | [`Duration`] | [`DEFAULT_TIMEOUT`] |
//! | `tools` | [`ToolSource`] | [`ToolSource::Real`] |
//!
//! `PassRule`, `TurnAggregation` and `ToolSource` are read and written in the spelling of the attribute:
//!
//! ```
//! use eval_format::options::{TurnAggregation, PassRule};
//!
//! assert_eq!("at_least(2)".parse(), Ok(PassRule::AtLeast(2)));
//! assert_eq!(TurnAggregation::EveryTurn.to_string(), "every_turn");
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The time limit for opening a session and for each turn, unless another one is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// The most runs of a case. A report keeps each of them.
pub const MOST_RUNS: u32 = 100_000;

/// The longest time limit or wait in a file, in seconds.
pub(crate) const SECONDS_OF_A_DAY: f64 = 86_400.0;

/// The app name of a session whose case has no `session_input`, as in ADK.
pub const DEFAULT_APP_NAME: &str = "EvaluationGenerator";

/// The user id of a session whose case has no `session_input`, as in ADK.
pub const DEFAULT_USER_ID: &str = "test_user_id";

/// The author of an agent's words and actions if no agent is named, as in ADK's evaluation.
pub const DEFAULT_AUTHOR: &str = "agent";

/// The model of a judge or of a simulated user whose settings name none, as in ADK.
pub const DEFAULT_MODEL: &str = "gemini-2.5-flash";

/// The rule by which the runs of a case decide it together: `pass = ".."` of the attribute.
///
/// ```
/// use eval_format::options::PassRule;
///
/// assert_eq!(PassRule::AtLeast(2).needed(3), Some(2));
/// assert_eq!(PassRule::All.needed(3), Some(3));
/// assert_eq!(PassRule::Mean.needed(3), None);
/// ```
///
/// With [`Mean`](Self::Mean) a good run can make up for a bad one. The other rules decide each run first and
/// then count the runs that passed. A run that ends in an error has not passed. With [`Mean`](Self::Mean) and
/// [`All`](Self::All) it makes the case an ERROR. The other rules are met if enough runs passed, even if the
/// rest ended in errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PassRule {
    /// `mean`: the mean over all turns of all runs is compared, as ADK's `AgentEvaluator` does.
    #[default]
    Mean,
    /// `all`: every run must pass.
    All,
    /// `any`: one run must pass.
    Any,
    /// `at_least(2)`: this many runs must pass. At least 1, and no more than there are runs.
    AtLeast(u32),
}

impl PassRule {
    /// The number of `runs` that must pass; `None` if the runs are not decided one by one.
    pub fn needed(self, runs: usize) -> Option<usize> {
        match self {
            Self::Mean => None,
            Self::All => Some(runs),
            Self::Any => Some(1),
            Self::AtLeast(count) => Some(usize::try_from(count).unwrap_or(usize::MAX)),
        }
    }
}

impl fmt::Display for PassRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::All => f.write_str("all"),
            Self::Any => f.write_str("any"),
            Self::AtLeast(count) => write!(f, "at_least({count})"),
        }
    }
}

impl FromStr for PassRule {
    type Err = ParseOptionError;

    /// Reads `mean`, `all`, `any` or `at_least(2)`; refuses `at_least(0)`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mean" => return Ok(Self::Mean),
            "all" => return Ok(Self::All),
            "any" => return Ok(Self::Any),
            _ => {}
        }
        let count = text.strip_prefix("at_least(").and_then(|rest| rest.strip_suffix(')'));
        match count.map(|count| count.trim().parse()) {
            Some(Ok(0)) => Err(ParseOptionError {
                message: "`at_least(0)` would pass whatever the agent does".to_owned(),
                help: "ask for at least 1 passing run",
            }),
            Some(Ok(count)) => Ok(Self::AtLeast(count)),
            _ => Err(ParseOptionError {
                message: format!("unknown `pass`: `{text}`"),
                help: r#"it is "mean", "all", "any" or "at_least(2)""#,
            }),
        }
    }
}

/// Reads a time limit such as `30s`, `500ms` or `2m`, as `timeout = ".."` of the attribute has it; refuses zero.
///
/// ```
/// use std::time::Duration;
///
/// use eval_format::options::parse_timeout;
///
/// assert_eq!(parse_timeout("500ms"), Ok(Duration::from_millis(500)));
/// assert!(parse_timeout("30").is_err());
/// ```
pub fn parse_timeout(text: &str) -> Result<Duration, ParseOptionError> {
    let help = r#"write a whole number and a unit: "500ms", "30s" or "2m""#;
    let wrong = || ParseOptionError { message: format!("`{text}` is not a duration"), help };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err(wrong()),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => Err(ParseOptionError {
            message: "a timeout of zero would end every turn before it begins".to_owned(),
            help,
        }),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => Err(wrong()),
    }
}

/// The rule by which the turns of a run decide it together: `gate = ".."` of the attribute.
///
/// ```
/// use eval_format::options::TurnAggregation;
///
/// assert_eq!("every_turn".parse(), Ok(TurnAggregation::EveryTurn));
/// assert_eq!(TurnAggregation::default(), TurnAggregation::Mean);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TurnAggregation {
    /// `mean`: the mean over the turns is compared with the threshold, as in ADK.
    #[default]
    Mean,
    /// `every_turn`: the score of each turn is compared with the threshold.
    EveryTurn,
}

impl fmt::Display for TurnAggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::EveryTurn => "every_turn",
        })
    }
}

impl FromStr for TurnAggregation {
    type Err = ParseOptionError;

    /// Reads `mean` or `every_turn`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mean" => Ok(Self::Mean),
            "every_turn" => Ok(Self::EveryTurn),
            _ => Err(ParseOptionError {
                message: format!("unknown `gate`: `{text}`"),
                help: r#"it is "mean" (over the turns, as ADK does) or "every_turn""#,
            }),
        }
    }
}

/// The source of the answers to the agent's calls: `tools = ".."` of the attribute.
///
/// ```
/// use eval_format::options::ToolSource;
///
/// assert_eq!("golden".parse(), Ok(ToolSource::Golden));
/// assert_eq!(ToolSource::default(), ToolSource::Real);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// `real`: the tools of the agent run.
    #[default]
    Real,
    /// `golden`: the responses of the case answer, and no tool runs.
    Golden,
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => "real",
            Self::Golden => "golden",
        })
    }
}

impl FromStr for ToolSource {
    type Err = ParseOptionError;

    /// Reads `real` or `golden`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "real" => Ok(Self::Real),
            "golden" => Ok(Self::Golden),
            _ => Err(ParseOptionError {
                message: format!("unknown `tools`: `{text}`"),
                help: r#"it is "golden" (the responses of the case answer) or "real""#,
            }),
        }
    }
}

/// The error of a text that is not a [`PassRule`], a [`TurnAggregation`], a [`ToolSource`] or a time limit.
///
/// ```
/// use eval_format::options::PassRule;
///
/// let error = "most".parse::<PassRule>().unwrap_err();
/// assert_eq!(error.to_string(), r#"unknown `pass`: `most`; it is "mean", "all", "any" or "at_least(2)""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseOptionError {
    message: String,
    help: &'static str,
}

impl ParseOptionError {
    /// The mistake.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The correct text.
    pub fn help(&self) -> &str {
        self.help
    }
}

impl fmt::Display for ParseOptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for ParseOptionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_is_one_of_four() {
        for (text, expected) in [
            ("mean", PassRule::Mean),
            ("all", PassRule::All),
            ("any", PassRule::Any),
            ("at_least(2)", PassRule::AtLeast(2)),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), text);
        }
        assert_eq!("at_least( 2 )".parse(), Ok(PassRule::AtLeast(2)));
        for text in ["", "most", "at_least(0)", "at_least()", "at_least(-1)", "at_least(2", "at_least 2"] {
            assert!(text.parse::<PassRule>().is_err(), "{text}");
        }
        let error = "at_least(0)".parse::<PassRule>().unwrap_err();
        assert_eq!(error.message(), "`at_least(0)` would pass whatever the agent does");
        assert_eq!(error.help(), "ask for at least 1 passing run");
        assert_eq!(error.to_string(), format!("{}; {}", error.message(), error.help()));
    }

    #[test]
    fn so_many_runs_must_pass_unless_their_mean_decides() {
        for (pass, needed) in [
            (PassRule::Mean, None),
            (PassRule::All, Some(3)),
            (PassRule::Any, Some(1)),
            (PassRule::AtLeast(2), Some(2)),
        ] {
            assert_eq!(pass.needed(3), needed, "{pass}");
        }
    }

    #[test]
    fn gate_is_one_of_two() {
        for (text, expected) in [("mean", TurnAggregation::Mean), ("every_turn", TurnAggregation::EveryTurn)]
        {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), text);
        }
        for text in ["", "all", "every turn", "Mean"] {
            assert!(text.parse::<TurnAggregation>().is_err(), "{text}");
        }
    }

    #[test]
    fn tools_are_one_of_two() {
        for (text, expected) in [("real", ToolSource::Real), ("golden", ToolSource::Golden)] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), text);
        }
        for text in ["", "Golden", "gold", "mock"] {
            assert!(text.parse::<ToolSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_limit_is_a_number_and_a_unit() {
        for (text, expected) in [("500ms", 500), ("30s", 30_000), ("2m", 120_000)] {
            assert_eq!(parse_timeout(text), Ok(Duration::from_millis(expected)), "{text}");
        }
        for text in ["", "30", "s", "0s", "1.5s", "-1s", "30 s", "1h", "18446744073709551615m", "３s"] {
            assert!(parse_timeout(text).is_err(), "{text}");
        }
    }
}
