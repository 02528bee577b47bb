//! `cargo evalset`.

use std::process::ExitCode;

fn main() -> ExitCode {
    eval_cli::run(eval_cli::Program::CargoEvalset, std::env::args_os())
}
