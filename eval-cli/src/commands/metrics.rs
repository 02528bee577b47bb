//! `cargo evalset metrics`: the metrics that a config can use.

mod human;
mod json;

use eval_format::metric::{METRICS, MetricInfo, metric};
use eval_support::untrusted::one_line;
use eval_support::words::did_you_mean;

use crate::output::width::fitted;
use crate::output::{Answer, CommandError, Format, Outcome};
use json::Document;

/// Lists the metrics, or describes one: its range, what it needs, and the fields of its criterion.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The metric to describe.
    name: Option<String>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset metrics
  cargo evalset metrics tool_trajectory_avg_score
  cargo evalset metrics --format json";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let one = args.name.as_deref().map(find).transpose()?;
    match (args.format, one) {
        (Format::Human, None) => Ok(Answer::new(Outcome::Passed, fitted(human::list()))),
        (Format::Human, Some(info)) => Ok(Answer::new(Outcome::Passed, fitted(human::description(info)))),
        (Format::Json, None) => Answer::json(Outcome::Passed, &Document::of(METRICS)),
        (Format::Json, Some(info)) => Answer::json(Outcome::Passed, &Document::of([info])),
    }
}

fn find(name: &str) -> Result<&'static MetricInfo, CommandError> {
    metric(name).ok_or_else(|| {
        let help = did_you_mean(name, METRICS.iter().map(|info| info.name));
        let list =
            "`cargo evalset metrics` lists the built-in metrics; metrics of your own are not among them";
        CommandError::new(
            format!("there is no metric `{}`", one_line(name)),
            help.unwrap_or_else(|| list.to_owned()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_is_not_there_is_guessed() {
        assert_eq!(find("tool_trajectory").unwrap_err().help, "did you mean `tool_trajectory_avg_score`?");
        assert!(find("brevity").unwrap_err().help.contains("lists the built-in metrics"));
    }
}
