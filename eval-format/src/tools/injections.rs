//! Fault files: the injections of ADK's environment simulation, as far as they are the same each time.

mod check;

use std::time::Duration;

pub use check::{CheckedInjections, check_injections};

use super::faults::FaultOutcome;
use crate::value::{Map, Number, Value};

/// The injections of a fault file, for the tools of any case.
///
/// ```
/// use eval_format::tools::ToolInjections;
/// use eval_format::Map;
///
/// let text = r#"{"tool_simulation_configs": [{"tool_name": "get_weather", "injection_configs": [
///     {"match_args": {"city": "Paris"}, "injected_error": {"injected_http_error_code": 503, "error_message": "down"}}]}]}"#;
/// let injections = ToolInjections::parse(text)?;
/// assert_eq!(injections.matching("get_weather", &Map::from([("city", "Paris")])).count(), 1);
/// assert_eq!(injections.matching("get_weather", &Map::from([("city", "Oslo")])).count(), 0);
/// # Ok::<(), eval_format::Problems>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolInjections {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The injections, in the order of the file.
    pub items: Vec<ToolInjection>,
}

/// One injection: what a tool does with the calls that it matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolInjection {
    /// The name of the tool.
    pub tool: String,
    /// The arguments that a call must have. It may have others.
    pub match_args: Map,
    /// The numbers of matching calls that it answers, from 1; empty for all.
    pub calls: Vec<usize>,
    /// The behaviour of the tool.
    pub outcome: FaultOutcome,
    /// The wait before the answer.
    pub after: Duration,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl ToolInjections {
    /// The injections that match a call, in the order of the file, each with its position. The first one whose turn it is
    /// answers: see [`ToolInjection::calls`].
    ///
    /// Arguments are equal as in Python, at the top level.
    pub fn matching<'a>(
        &'a self,
        tool: &'a str,
        args: &'a Map,
    ) -> impl Iterator<Item = (usize, &'a ToolInjection)> {
        self.items.iter().enumerate().filter(move |(_, it)| it.tool == tool && it.matches(args))
    }
}

impl ToolInjection {
    fn matches(&self, args: &Map) -> bool {
        self.match_args
            .iter()
            .all(|(key, expected)| args.get(key).is_some_and(|value| value.equals(expected)))
    }

    /// Whether it answers the call of this number among the calls that it matches, from 1.
    pub fn answers(&self, call: usize) -> bool {
        self.calls.is_empty() || self.calls.contains(&call)
    }
}

/// The answer of a tool that failed, in ADK's shape.
fn error_response(code: Number, message: &str) -> FaultOutcome {
    let mut error = Map::from([("error_code", Value::Number(code))]);
    error.insert("error_message", message);
    FaultOutcome::Error(error)
}
