//! `cargo evalset`.

use std::process::ExitCode;

fn main() -> ExitCode {
    eval_cli::run(std::env::args_os())
}
