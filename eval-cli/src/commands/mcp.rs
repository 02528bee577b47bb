//! `cargo evalset mcp`: a server of MCP that is made of a case, for a client of standard input and output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use eval_agents::mcp::{bridge, serve_stdio};
use eval_core::tools::GoldenTools;
use eval_format::compat::check_tools;
use eval_format::options::ToolSource;
use eval_format::tools::{check_injections, read_declarations};
use eval_format::{EvalCase, ReadError};
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::run::ended::wrong_in;
use crate::edited::{one_set, open};
use crate::output::{Answer, CommandError, Outcome, read, runtime, tell};

/// Answers a client of MCP on standard input and output: with the golden responses of a case, or, in a run, with the mock of
/// the case in progress.
///
/// The declarations of the tools come from `SET.tools.json` beside the set, else they are guessed from the calls of the case.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The case: a set, and the id of the case if it has several.
    #[arg(value_name = "SET[:CASE]", required_unless_present = "connect", conflicts_with = "connect")]
    case: Option<OsString>,

    /// The turn whose responses answer, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "connect", value_parser = clap::value_parser!(u32).range(1..))]
    turn: u32,

    /// A file of faults: injections of ADK's environment simulation.
    #[arg(long, value_name = "FILE", conflicts_with = "connect")]
    faults: Option<PathBuf>,

    /// Hands the messages to the mock at this address: `mcp` in the `start` message of a program.
    #[arg(long, value_name = "URL")]
    connect: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset mcp evals/orders.evalset.json
  cargo evalset mcp orders:refund --turn 2
  cargo evalset mcp orders:refund --faults evals/outage.json
  cargo evalset mcp --connect \"$URL\"

Exit codes:
  0  the input ended, and a golden answered each call
  1  no golden answered a call; standard error names it
  2  the case or the mock cannot be used";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    if let Some(url) = &args.connect {
        let bridged = runtime("the mock")?.block_on(bridge(url));
        return match bridged {
            Ok(()) => Ok(Answer::new(Outcome::Passed, String::new())),
            Err(error) => Err(CommandError::new(
                one_line(&error.to_string()),
                "the address is `mcp` of the `start` message, and holds until the conversation ends",
            )),
        };
    }
    let tools = golden_tools(args)?;
    let told = |miss: &str| tell(&format!("{}\n", one_line(miss)));
    let served = runtime("answers")?.block_on(serve_stdio(tools.clone(), told));
    served.map_err(|error| {
        CommandError::new(format!("standard input and output: {error}"), "give it a client of MCP over stdio")
    })?;
    let turn = usize::try_from(args.turn).unwrap_or(usize::MAX);
    if let Some(unreached) = tools.unreached_in(turn) {
        tell(&format!("{}\n", one_line(&unreached)));
    }
    let outcome = if tools.misses().is_empty() { Outcome::Passed } else { Outcome::Failed };
    Ok(Answer::new(outcome, String::new()))
}

/// The golden tools of the case, in the turn that is asked for.
fn golden_tools(args: &Args) -> Result<GoldenTools, CommandError> {
    let word = args.case.clone().unwrap_or_default();
    let set = one_set(&word)?;
    let editor = open(&set.path)?;
    let selected = |case: &&EvalCase| set.cases.as_ref().is_none_or(|ids| ids.contains(&case.eval_id));
    let cases: Vec<&EvalCase> = editor.cases().filter(selected).collect();
    let shown = set.path.display().to_string();
    let [case] = cases.as_slice() else {
        let ids: Vec<&str> = cases.iter().map(|case| case.eval_id.as_str()).collect();
        let example = shell::word(&format!("{shown}:{}", ids.first().copied().unwrap_or_default()));
        return Err(CommandError::new(
            format!("`{}` has {}: {}", one_line(&shown), count(cases.len(), "case"), short_code_list(&ids)),
            format!("name one of them: `cargo evalset mcp {example}`"),
        ));
    };
    if let Some(found) = check_tools(ToolSource::Golden, std::slice::from_ref(case)).first() {
        let help = format!("`cargo evalset check {} --tools golden` shows where", shell::word(&shown));
        return Err(CommandError::new(one_line(&found.to_string()), help));
    }
    let turns = case.conversation.len();
    if usize::try_from(args.turn).map_or(true, |turn| turn > turns) {
        let message = format!(
            "there is no turn {}: the case `{}` has {}",
            args.turn,
            case.eval_id,
            count(turns, "turn")
        );
        return Err(CommandError::new(
            one_line(&message),
            format!("write `--turn {turns}`, or a smaller number"),
        ));
    }
    let mut tools = GoldenTools::new(case);
    if let Some(path) = &args.faults {
        let checked = check_injections(&path.display().to_string(), &read(path)?).into_result();
        let injections = checked.map_err(|problems| wrong_in(&problems, "fix the file of `--faults`"))?;
        tools = tools.with_injections(Arc::new(injections));
    }
    let help = "fix the declarations, or remove the file: they are guessed then";
    let declarations = read_declarations(&set.path).map_err(|error| match error {
        ReadError::Problems(problems) => wrong_in(&problems, help),
        error => CommandError::new(one_line(&error.to_string()), help),
    })?;
    if let Some(declarations) = declarations {
        tools = tools.with_declarations(Arc::new(declarations));
    }
    (0..args.turn).for_each(|_| tools.begin_turn());
    Ok(tools)
}
