//! Options of runs: one table for `EvalCommand` and `cargo evalset run`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use eval_core::EvalRunner;
use eval_format::metric::MetricArgument;
use eval_format::options::{ParseOptionError, PassRule, TurnAggregation, parse_timeout};

use crate::price::{PriceError, Prices};

/// Options for running and scoring cases.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The config that replaces the one beside each set.
    pub config: Option<PathBuf>,
    /// The metrics that score, with their given thresholds; empty for all metrics of the config.
    pub metrics: Vec<MetricArgument>,
    /// How many cases run at a time, at least one.
    pub concurrency: usize,
    /// Prices of tokens; empty if no cost is asked for.
    pub prices: Prices,
    runs: Option<usize>,
    pass: Option<PassRule>,
    gate: Option<TurnAggregation>,
    timeout: Option<Duration>,
    retry: Option<u32>,
    fail_fast: bool,
    /// The options as words of a command that runs cases again.
    words: Vec<String>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            config: None,
            metrics: Vec::new(),
            concurrency: 4,
            prices: Prices::default(),
            runs: None,
            pass: None,
            gate: None,
            timeout: None,
            retry: None,
            fail_fast: false,
            words: Vec::new(),
        }
    }
}

/// An option of runs.
#[derive(Debug)]
pub struct RunOption {
    /// Its name, without the dashes.
    pub name: &'static str,
    pub short: Option<char>,
    /// The placeholder of its value in the help; `None` for an option without a value.
    pub value: Option<&'static str>,
    pub about: &'static str,
    pub is_repeated: bool,
    /// Whether it belongs to a command that runs some of the cases again.
    is_kept: bool,
    read: Read,
}

/// Reads the value of an option.
type Read = fn(&mut RunOptions, &str) -> Result<(), Wrong>;

/// An error in the value of an option.
#[derive(Debug)]
enum Wrong {
    /// The value is not a whole number of this kind.
    NotACount(&'static str),
    NotAThreshold {
        metric: String,
        value: String,
    },
    Option(ParseOptionError),
    Price(PriceError),
}

/// An option with a wrong value.
#[derive(Debug)]
pub struct OptionError {
    option: &'static str,
    value: String,
    wrong: Wrong,
}

/// The options of runs, as help shows them. [`RunOption::set`] reads them.
#[rustfmt::skip]
pub const OPTIONS: [RunOption; 10] = [
    option("config", "FILE", "scores with the criteria of this config, instead of the `test_config.json` beside each set",
        |options, value| { options.config = Some(value.into()); Ok(()) }),
    RunOption {
        short: Some('m'),
        is_repeated: true,
        ..option("metric", "METRIC[=THRESHOLD]", "scores with this metric, and with others that are named so; without a threshold, the config's or ADK's holds; `METRIC<=5` is met by scores of at most 5",
            |options, value| { options.metrics.push(MetricArgument::parse(value)?); Ok(()) })
    },
    option("runs", "N", "how often each case runs",
        |options, value| { options.runs = Some(count(value)?); Ok(()) }),
    option("pass", "HOW", "how the runs of a case decide it: `mean`, `all`, `any` or `at_least(2)`",
        |options, value| { options.pass = Some(value.parse()?); Ok(()) }),
    option("gate", "HOW", "how the turns of a run decide it: `mean` or `every_turn`",
        |options, value| { options.gate = Some(value.parse()?); Ok(()) }),
    option("timeout", "TIME", "the time limit for opening a session and for each turn, such as `500ms`, `30s`, `2m` [default: 2m]",
        |options, value| { options.timeout = Some(parse_timeout(value)?); Ok(()) }),
    RunOption {
        is_repeated: true,
        ..option("price", "[MODEL=]IN/OUT", "the prices of a million tokens in and out, for all models or for one; shows what the agent costs",
            |options, value| options.prices.add(value).map_err(Wrong::Price))
    },
    option("retry", "N", "repeats a run up to N times if its agent was not reached, each time once it can be [default: 0]",
        |options, value| { options.retry = Some(value.parse().map_err(|_| Wrong::NotACount("a whole number"))?); Ok(()) }),
    RunOption {
        is_kept: false,
        ..option("concurrency", "N", "how many cases run at a time [default: 4]",
            |options, value| { options.concurrency = count(value)?; Ok(()) })
    },
    RunOption {
        is_kept: false,
        value: None,
        ..option("fail-fast", "", "begins no further case when one did not pass",
            |options, _| { options.fail_fast = true; Ok(()) })
    },
];

const fn option(name: &'static str, value: &'static str, about: &'static str, read: Read) -> RunOption {
    RunOption { name, short: None, value: Some(value), about, is_repeated: false, is_kept: true, read }
}

impl RunOption {
    /// Sets the option. The text of an option without a value is empty.
    pub fn set(&self, options: &mut RunOptions, value: &str) -> Result<(), OptionError> {
        let wrong = |wrong| OptionError { option: self.name, value: value.to_owned(), wrong };
        (self.read)(options, value).map_err(wrong)?;
        if self.is_kept {
            let name = self.short.map_or_else(|| format!("--{}", self.name), |short| format!("-{short}"));
            options.words.extend([name, value.to_owned()]);
        }
        Ok(())
    }
}

impl RunOptions {
    /// The runner with these options, except the config.
    pub fn apply(&self, mut runner: EvalRunner) -> EvalRunner {
        if let Some(runs) = self.runs {
            runner = runner.runs(runs);
        }
        if let Some(pass) = self.pass {
            runner = runner.pass(pass);
        }
        if let Some(gate) = self.gate {
            runner = runner.gate(gate);
        }
        if let Some(timeout) = self.timeout {
            runner = runner.timeout(timeout);
        }
        if let Some(retry) = self.retry {
            runner = runner.retry(retry);
        }
        if self.fail_fast {
            runner = runner.fail_fast(true);
        }
        self.metrics.iter().cloned().fold(runner, EvalRunner::only_metric)
    }

    /// Whether runs with an unreachable agent are repeated.
    pub fn retries(&self) -> bool {
        self.retry.is_some_and(|times| times > 0)
    }

    /// The options as words of a command that runs cases again.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

fn count(value: &str) -> Result<usize, Wrong> {
    value.parse().ok().filter(|count| *count > 0).ok_or(Wrong::NotACount("a whole number, at least 1"))
}

/// The metric, and the text that is no threshold for it.
impl From<(String, String)> for Wrong {
    fn from((metric, value): (String, String)) -> Self {
        Self::NotAThreshold { metric, value }
    }
}

impl From<ParseOptionError> for Wrong {
    fn from(error: ParseOptionError) -> Self {
        Self::Option(error)
    }
}

impl OptionError {
    /// The error, and the help for it.
    pub fn message_and_help(&self) -> (String, String) {
        let Self { option, value, wrong } = self;
        match wrong {
            Wrong::NotACount(what) => (format!("`--{option}` is `{value}`"), format!("it must be {what}")),
            Wrong::NotAThreshold { metric, value } => (
                format!("`{value}` is no threshold for `{metric}`"),
                format!("write a number: `-m {metric}=0.8`"),
            ),
            Wrong::Option(error) => (format!("`--{option}`: {}", error.message()), error.help().to_owned()),
            Wrong::Price(error) => (format!("`--{option}`: {error}"), PriceError::HELP.to_owned()),
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, help) = self.message_and_help();
        write!(f, "{message}; {help}")
    }
}
