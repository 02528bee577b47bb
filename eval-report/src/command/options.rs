//! Options of runs: one table for `EvalCommand` and `cargo evalset run`.

use std::path::PathBuf;
use std::time::Duration;

use eval_core::EvalRunner;
use eval_format::metric::MetricArgument;
use eval_format::options::{ParseOptionError, PassRule, ToolSource, TurnAggregation, parse_timeout};
use eval_format::tags::TagSelection;
use eval_support::untrusted::one_line;

use crate::output::CommandError;
use crate::price::{PriceError, Prices};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The config that replaces the one beside each set.
    pub config: Option<PathBuf>,
    /// The tags that select cases.
    pub tags: TagSelection,
    /// The metrics that score, with their given thresholds; empty for all metrics of the config.
    pub metrics: Vec<MetricArgument>,
    concurrency: Option<usize>,
    /// Prices of tokens; empty if no cost is asked for.
    pub prices: Prices,
    runs: Option<usize>,
    pass: Option<PassRule>,
    gate: Option<TurnAggregation>,
    timeout: Option<Duration>,
    retry: Option<u32>,
    literal: bool,
    tools: Option<ToolSource>,
    /// The file of the faults of golden tools.
    pub faults: Option<PathBuf>,
    fail_fast: bool,
    /// The options that run cases of the test run again.
    pub again: Vec<String>,
}

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

/// Reads the value of the option with this name.
type Read = fn(&mut RunOptions, &str, &str) -> Result<(), CommandError>;

/// The options of runs, as help shows them. [`RunOption::set`] reads them.
#[rustfmt::skip]
pub const OPTIONS: [RunOption; 15] = [
    RunOption {
        is_repeated: true,
        is_kept: false,
        ..option("tag", "TAG", "runs only cases with this tag; if several are given, with one of them",
            |options, _, value| { options.tags.any.push(value.to_owned()); Ok(()) })
    },
    RunOption {
        is_repeated: true,
        is_kept: false,
        ..option("skip-tag", "TAG", "runs no case with this tag",
            |options, _, value| { options.tags.none.push(value.to_owned()); Ok(()) })
    },
    option("config", "FILE", "scores with the criteria of this config, instead of the `test_config.json` beside each set",
        |options, _, value| { options.config = Some(value.into()); Ok(()) }),
    RunOption {
        short: Some('m'),
        is_repeated: true,
        ..option("metric", "METRIC[=THRESHOLD]", "scores with this metric, and with others that are named so; without a threshold, the config's or ADK's holds; `METRIC<=5` is met by scores of at most 5",
            add_metric)
    },
    option("runs", "N", "how often each case runs",
        |options, name, value| { options.runs = Some(count(name, value)?); Ok(()) }),
    option("pass", "HOW", "how the runs of a case decide it: `mean`, `all`, `any` or `at_least(2)`",
        |options, name, value| { options.pass = Some(parsed(name, value.parse())?); Ok(()) }),
    option("gate", "HOW", "how the turns of a run decide it: `mean` or `every_turn`",
        |options, name, value| { options.gate = Some(parsed(name, value.parse())?); Ok(()) }),
    option("timeout", "TIME", "the time limit for opening a session and for each turn, such as `500ms`, `30s`, `2m` [default: 2m]",
        |options, name, value| { options.timeout = Some(parsed(name, parse_timeout(value))?); Ok(()) }),
    RunOption {
        is_repeated: true,
        ..option("price", "[MODEL=]IN/OUT", "the prices of a million tokens in and out, for all models or for one; shows what the agent costs",
            |options, name, value| options.prices.add(value).map_err(|error| CommandError::new(format!("`--{name}`: {error}"), PriceError::HELP)))
    },
    option("retry", "N", "repeats a run up to N times if its agent was not reached, each time once it can be [default: 0]",
        |options, name, value| { options.retry = Some(value.parse().map_err(|_| no_count(name, value, "a whole number"))?); Ok(()) }),
    option("tools", "SOURCE", "what answers the agent's calls: `real`, its tools, or `golden`, the responses of each case [default: real]",
        |options, name, value| { options.tools = Some(parsed(name, value.parse())?); Ok(()) }),
    option("faults", "FILE", "has golden tools fail or wait as this file says: injections of ADK's environment simulation",
        |options, _, value| { options.faults = Some(value.into()); Ok(()) }),
    RunOption {
        value: None,
        ..option("literal", "", "judges calls as ADK does: what `_expect` loosens is passed over, and so are the criteria of a case",
            |options, _, _| { options.literal = true; Ok(()) })
    },
    RunOption {
        is_kept: false,
        ..option("concurrency", "N", "how many cases run at a time [default: 4]",
            |options, name, value| { options.concurrency = Some(count(name, value)?); Ok(()) })
    },
    RunOption {
        is_kept: false,
        value: None,
        ..option("fail-fast", "", "begins no further case when one did not pass",
            |options, _, _| { options.fail_fast = true; Ok(()) })
    },
];

const fn option(name: &'static str, value: &'static str, about: &'static str, read: Read) -> RunOption {
    RunOption { name, short: None, value: Some(value), about, is_repeated: false, is_kept: true, read }
}

impl RunOption {
    /// Sets the option. The text of an option without a value is empty.
    pub fn set(&self, options: &mut RunOptions, value: &str) -> Result<(), CommandError> {
        (self.read)(options, self.name, value)?;
        if self.is_kept {
            let name = self.short.map_or_else(|| format!("--{}", self.name), |short| format!("-{short}"));
            options.again.push(name);
            options.again.extend(self.value.map(|_| value.to_owned()));
        }
        Ok(())
    }
}

impl RunOptions {
    /// Whether no further case begins when one did not pass.
    pub fn fails_fast(&self) -> bool {
        self.fail_fast
    }

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
        if self.literal {
            runner = runner.literal(true);
        }
        if let Some(tools) = self.tools {
            runner = runner.tools(tools);
        }
        if self.fail_fast {
            runner = runner.fail_fast(true);
        }
        self.metrics.iter().cloned().fold(runner, EvalRunner::only_metric)
    }

    /// The number of cases that run at a time, at least one.
    pub fn concurrency(&self) -> usize {
        self.concurrency.unwrap_or(4)
    }

    /// The source of answers to the agent's calls.
    pub fn tools(&self) -> ToolSource {
        self.tools.unwrap_or_default()
    }

    pub fn retries(&self) -> bool {
        self.retry.is_some_and(|times| times > 0)
    }
}

fn count(name: &str, value: &str) -> Result<usize, CommandError> {
    let count = value.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| no_count(name, value, "a whole number, at least 1"))
}

fn no_count(name: &str, value: &str, what: &str) -> CommandError {
    CommandError::new(format!("`--{name}` is `{value}`"), format!("it must be {what}"))
}

fn add_metric(options: &mut RunOptions, _: &str, value: &str) -> Result<(), CommandError> {
    let metric = MetricArgument::parse(value).map_err(no_threshold)?;
    if options.metrics.iter().any(|known| known.name == metric.name) {
        let message = format!("the metric `{}` is named twice", one_line(&metric.name));
        return Err(CommandError::new(message, "keep one of the two thresholds"));
    }
    options.metrics.push(metric);
    Ok(())
}

/// The metric, and the text that is no threshold for it.
fn no_threshold((metric, value): (String, String)) -> CommandError {
    let help = format!("write a number: `-m {metric}=0.8`");
    CommandError::new(format!("`{value}` is no threshold for `{metric}`"), help)
}

fn parsed<T>(name: &str, value: Result<T, ParseOptionError>) -> Result<T, CommandError> {
    value.map_err(|error| CommandError::new(format!("`--{name}`: {}", error.message()), error.help()))
}
