//! `cargo evalset models`: the recorded calls of models beside sets.

mod listed;
mod recorded;
mod shown;

use std::ffi::OsString;
use std::process::Command;

use clap::Subcommand;
use eval_core::models::ModelsFolder;
use eval_format::conventions::models_path;
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS;
use eval_support::words::count;

use self::recorded::{Recorded, unreadable};
use crate::edited::{open, select};
use crate::output::{Answer, CommandError, Format, Outcome};

/// Lists, shows and repairs the recorded calls of models beside sets.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists what is recorded for each case.
    List {
        #[command(flatten)]
        sets: Sets,

        /// The output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },

    /// Shows the recorded calls of cases as dialogues.
    Show {
        #[command(flatten)]
        sets: Sets,
    },

    /// Removes recordings of cases that the sets do not have, and prompts that no case names.
    Prune {
        #[command(flatten)]
        sets: Sets,
    },

    /// Runs cases without their models, and puts the recorded answers under the requests that changed. It takes the arguments of
    /// `run`. The answers stay marked as answers to older requests.
    Rebind {
        /// The arguments of `run`: sets and cases, and the agent.
        #[arg(
            value_name = "SET[:CASE,..] AGENT",
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        run: Vec<OsString>,
    },
}

#[derive(Debug, clap::Args)]
struct Sets {
    /// Sets: files, folders, globs in quotes, or ids of sets below this folder. `SET:case1,case2` selects cases.
    #[arg(value_name = "SET[:CASE,..]", required = true)]
    sets: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Recording is no command: `EVALSET_MODELS=record` records the calls of tests and of `run`.

Examples:
  cargo evalset models list evals
  cargo evalset models show weather:sunny
  cargo evalset models prune evals
  cargo evalset models rebind weather:sunny --agent-cmd 'python3 agent.py'
  EVALSET_MODELS=rebind cargo test weather::sunny

Exit codes:
  0  done
  1  a recording has errors
  2  a set or a case does not exist, or a set has errors; of `rebind`: as `run`";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    match &args.action {
        Action::List { sets, format } => listed::list(&sets.opened()?, *format),
        Action::Show { sets } => shown::show(&sets.opened()?),
        Action::Prune { sets } => prune(&sets.opened()?),
        Action::Rebind { run } => rebind(run),
    }
}

impl Sets {
    fn opened(&self) -> Result<Vec<Recorded>, CommandError> {
        let mut opened = Vec::new();
        for selected in select(&self.sets)? {
            let set = open(&selected.path)?;
            let cases = set.cases().map(|case| case.eval_id.clone()).collect();
            let path = models_path(&selected.path.to_string_lossy());
            let folder = ModelsFolder::new(&path, &*path);
            opened.push(Recorded { selected, cases, folder });
        }
        Ok(opened)
    }
}

fn prune(sets: &[Recorded]) -> Result<Answer, CommandError> {
    let mut text = String::new();
    for Recorded { selected, cases, folder } in sets {
        let shown = selected.path.display();
        if selected.cases.is_some() {
            return Err(CommandError::new(
                format!("{shown}: cases of the set are named, and what is removed has no case"),
                "name the set alone",
            ));
        }
        if !folder.exists() {
            text.push_str(&format!("{shown}: no recorded calls of models\n"));
            continue;
        }
        let known: Vec<&str> = cases.iter().map(String::as_str).collect();
        let removed = folder.prune(&known).map_err(|why| unreadable(&why))?;
        text.push_str(&format!("{shown}: {} removed\n", count(removed.len(), "part")));
        for name in &removed {
            text.push_str(&format!("  {}\n", one_line(name)));
        }
    }
    Ok(Answer::new(Outcome::Passed, text))
}

/// Runs the cases in another process, whose variable says what becomes of requests that changed.
fn rebind(run: &[OsString]) -> Result<Answer, CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::new(
            format!("cannot run the cases: {error}"),
            "set the variable yourself: `EVALSET_MODELS=rebind`",
        )
    };
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    if eval_support::command::name() == "cargo evalset" {
        command.arg("evalset");
    }
    let status = command.arg("run").args(run).env(MODELS, "rebind").status().map_err(failed)?;
    let outcome = match status.code() {
        Some(0) => Outcome::Passed,
        Some(1) => Outcome::Failed,
        _ => Outcome::Unmeasurable,
    };
    Ok(Answer::new(outcome, String::new()))
}
