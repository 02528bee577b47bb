//! Options of a run as arguments of the command line. eval-report has their table.

use clap::{Arg, ArgAction, ArgMatches, Command};
use eval_core::EvalRunner;
use eval_format::ReadError;
use eval_format::metric::metric;
use eval_report::command::options::{OPTIONS, RunOption, RunOptions};
use eval_support::untrusted::one_line;

use super::ended::{WRONG_FAULTS, wrong_in};
use crate::commands::metrics::no_such_metric;
use crate::files::read_config;
use crate::output::CommandError;

/// The options of a run, or the error of the first wrong one.
#[derive(Debug)]
pub(super) struct OptionArgs(Result<RunOptions, CommandError>);

impl clap::Args for OptionArgs {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn arg(option: &RunOption) -> Arg {
    let mut about = option.about.to_owned();
    about[..1].make_ascii_uppercase();
    let repeated = if option.is_repeated { "; can be repeated" } else { "" };
    let arg = Arg::new(option.name).long(option.name).help(about + repeated);
    let arg = option.short.map_or(arg.clone(), |short| arg.short(short));
    match option.value {
        Some(value) if option.is_repeated => arg.value_name(value).action(ArgAction::Append),
        Some(value) => arg.value_name(value),
        None => arg.action(ArgAction::SetTrue),
    }
}

impl clap::FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = RunOptions::default();
        for option in &OPTIONS {
            let values: Vec<&str> = match option.value {
                None => matches.get_flag(option.name).then_some("").into_iter().collect(),
                Some(_) => {
                    let given = matches.get_many::<String>(option.name).into_iter().flatten();
                    given.map(String::as_str).collect()
                }
            };
            for value in values {
                if let Err(error) = option.set(&mut options, value) {
                    return Ok(Self(Err(error)));
                }
            }
        }
        Ok(Self(Ok(options)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl OptionArgs {
    pub(super) fn read(&self) -> Result<&RunOptions, CommandError> {
        let wrong = |error: &CommandError| CommandError::new(one_line(&error.message), &*error.help);
        let options = self.0.as_ref().map_err(wrong)?;
        // A config that cannot be read is an error when it is used.
        let config = options.config.as_ref().and_then(|path| read_config(path, &[]).ok());
        let is_known = |name: &str| {
            metric(name).is_some()
                || config.as_ref().is_some_and(|config| config.metric_command(name).is_some())
        };
        match options.metrics.iter().find(|asked| !is_known(&asked.name)) {
            Some(asked) => {
                let list = "`cargo evalset metrics` lists them; metrics of your own run in tests, or as programs that \
                            `--config FILE` names";
                Err(no_such_metric(&asked.name, list))
            }
            None => Ok(options),
        }
    }
}

pub(super) fn apply(options: &RunOptions, runner: EvalRunner) -> Result<EvalRunner, CommandError> {
    let runner = match &options.config {
        Some(path) => runner.config(read_config(path, &[])?),
        None => runner,
    };
    let runner = match &options.faults {
        Some(path) => runner.faults(path).map_err(|error| match error {
            ReadError::Problems(problems) => wrong_in(&problems, WRONG_FAULTS),
            error => CommandError::new(
                one_line(&error.to_string()),
                "name a file that you may read: `--faults outage.json`",
            ),
        })?,
        None => runner,
    };
    Ok(options.apply(runner))
}
