//! How the cases of a run are run and scored.

use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_core::EvalRunner;
use eval_format::EvalConfig;
use eval_format::config::check_config;
use eval_format::metric::{METRICS, MetricArgument, metric};
use eval_format::options::{Gate, ParseOptionError, Pass, parse_timeout};
use eval_report::price::Prices;
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, did_you_mean};

use crate::agent::in_ms;
use crate::commands::report;
use crate::files::read;
use crate::output::CommandError;

/// The arguments that say how cases are run and scored.
#[derive(Debug, clap::Args)]
pub(super) struct RunOptions {
    /// Scores with the criteria of this config, instead of the `test_config.json` beside each set.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Scores with this metric, and with others that are named so. Without a threshold, that of the config or of ADK holds.
    /// `METRIC<=5` is met by scores of at most 5.
    #[arg(short, long = "metric", value_name = "METRIC[=THRESHOLD]")]
    metrics: Vec<String>,

    /// How often each case runs.
    #[arg(long, value_name = "N")]
    runs: Option<usize>,

    /// How the runs of a case decide it: `mean`, `all`, `any` or `at_least(2)`.
    #[arg(long, value_name = "HOW", value_parser = parse_pass)]
    pass: Option<Pass>,

    /// How the turns of a run decide it: `mean` or `every_turn`.
    #[arg(long, value_name = "HOW", value_parser = parse_gate)]
    gate: Option<Gate>,

    /// How many cases run at a time.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(super) concurrency: usize,

    /// The time limit for opening a session and for each turn: `500ms`, `30s`, `2m`. It is two minutes otherwise.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    timeout: Option<Duration>,

    /// Repeats a run up to N times if its agent was not reached, each time once it can be: a server has `--ready-within` to be
    /// there, again or at all. What the agent answered is never asked for again.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) retry: u32,

    /// Begins no further case when one did not pass.
    #[arg(long)]
    fail_fast: bool,

    /// The prices of a million tokens in and out, for all models or for one. Shows what the agent costs; can be repeated.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT")]
    prices: Vec<String>,
}

fn parse_pass(text: &str) -> Result<Pass, ParseOptionError> {
    text.parse()
}

fn parse_gate(text: &str) -> Result<Gate, ParseOptionError> {
    text.parse()
}

impl RunOptions {
    /// The runner with these options. Fails if a config cannot be read or a metric does not exist.
    pub(super) fn set(&self, mut runner: EvalRunner) -> Result<EvalRunner, CommandError> {
        if let Some(path) = &self.config {
            runner = runner.config(read_config(path)?);
        }
        for text in &self.metrics {
            runner = runner.only_metric(metric_argument(text)?);
        }
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
        Ok(runner.retry(self.retry).fail_fast(self.fail_fast))
    }

    /// The prices of tokens; none if nobody wants to know what they cost.
    pub(super) fn prices(&self) -> Result<Prices, CommandError> {
        report::prices(&self.prices)
    }

    /// The arguments again, for a command that is shown.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        add("--config", self.config.as_ref().map(|path| path.display().to_string()));
        for metric in &self.metrics {
            add("-m", Some(metric.clone()));
        }
        add("--runs", self.runs.map(|runs| runs.to_string()));
        add("--pass", self.pass.map(|pass| pass.to_string()));
        add("--gate", self.gate.map(|gate| gate.to_string()));
        add("--timeout", self.timeout.map(in_ms));
        for price in &self.prices {
            add("--price", Some(price.clone()));
        }
        add("--retry", (self.retry > 0).then(|| self.retry.to_string()));
        words
    }
}

/// The built-in metric that `METRIC`, `METRIC=THRESHOLD`, `METRIC<=THRESHOLD` or `METRIC>=THRESHOLD` asks for.
fn metric_argument(text: &str) -> Result<MetricArgument, CommandError> {
    let parsed = MetricArgument::parse(text);
    let name = match &parsed {
        Ok(asked) => &asked.name,
        Err((name, _)) => name,
    };
    if metric(name).is_none() {
        let help = did_you_mean(name, METRICS.iter().map(|metric| metric.name));
        return Err(CommandError::new(
            format!("there is no metric `{}`", one_line(name)),
            help.unwrap_or_else(|| {
                "`cargo evalset metrics` lists them; metrics of your own run in tests".to_owned()
            }),
        ));
    }
    parsed.map_err(|(name, value)| {
        CommandError::new(
            format!("`{}` is no threshold for `{name}`", one_line(&value)),
            format!("write a number: `-m {name}=0.8`"),
        )
    })
}

fn read_config(path: &Path) -> Result<EvalConfig, CommandError> {
    let shown = path.display().to_string();
    let checked = check_config(&shown, &read(path)?, &[]);
    let problems = checked.problems.len();
    checked.config.ok_or_else(|| {
        CommandError::new(
            format!("`{}` has {}", one_line(&shown), count(problems, "problem")),
            format!("`cargo evalset check {}` shows them", shell::word(&shown)),
        )
    })
}
