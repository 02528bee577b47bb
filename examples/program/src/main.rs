//! A program with its evals as a command: `cargo run -- eval --set evals/units.evalset.json`. The glue takes 4 lines.

use std::process::ExitCode;

use eval_core::agent_fn;
use eval_report::EvalCommand;
use example_program::answer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // The glue.
    let evals = EvalCommand::new().agent("units", || agent_fn(answer));
    if let Some(code) = evals.run_if_asked(std::env::args_os()).await {
        return code;
    }
    // End of the glue.
    println!("Ask me: how many kilometres are 26 miles?");
    ExitCode::SUCCESS
}
