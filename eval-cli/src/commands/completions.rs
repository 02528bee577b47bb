//! `cargo evalset completions`: completions for a shell.

use clap::Command;
use clap_complete::Shell;
use eval_support::command::program as own_name;

use crate::output::{Answer, Outcome};

/// Prints completions for a shell.
///
/// They complete `cargo-evalset`. The shells' own completions for cargo do not ask its subcommands.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The shell to complete in.
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset completions bash > ~/.local/share/bash-completion/completions/cargo-evalset
  cargo evalset completions fish > ~/.config/fish/completions/cargo-evalset.fish";

pub(crate) fn run(args: &Args, program: Command) -> Answer {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program.bin_name(own_name()), own_name(), &mut text);
    Answer::new(Outcome::Passed, String::from_utf8_lossy(&text).into_owned())
}
