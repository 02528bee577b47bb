//! `evalset`: the command without cargo.

use std::process::ExitCode;

fn main() -> ExitCode {
    eval_cli::run(eval_cli::Program::Evalset, std::env::args_os())
}
