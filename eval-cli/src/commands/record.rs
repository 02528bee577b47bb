//! `cargo evalset record`: drafts of cases from new conversations with an agent.

mod chat;

use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_agents::record::{DraftRecorder, Script, scripts};
use eval_core::models::{ModelMode, asked_mode};
use eval_format::options::parse_timeout;
use eval_support::command;
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS;

use crate::agent::{self, AgentArgs, AnyAgent};
use crate::drafts::{Added, Destination};
use crate::files::read;
use crate::output::{Answer, CommandError, Format, runtime, tell};
use chat::{Recorded, watched};

/// Has conversations with an agent, and adds drafts of cases to a set: what the user said, and what the agent did.
///
/// Without a file of prompts the conversations are typed: in a terminal, or line by line on standard input. What the agent does
/// is shown as it comes. Tests refuse a draft until `accept` takes its mark away.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = command::line(USAGE), group = agent::exactly_one())]
pub(crate) struct Args {
    /// The user's messages: a text file (a paragraph is a conversation, a line is a turn), JSON lines, or an eval set.
    #[arg(value_name = "PROMPTS")]
    prompts: Option<PathBuf>,

    /// The set. A file that does not exist is made.
    #[arg(short, long, value_name = "SET")]
    output: PathBuf,

    #[command(flatten)]
    agent: AgentArgs,

    /// How often each conversation is had. A case keeps what was the same each time.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "prompts", value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,

    /// The user of the conversations, unless the prompts name one.
    #[arg(long, value_name = "ID")]
    user: Option<String>,

    /// The time limit of each turn: `500ms`, `30s`, `2m`. It is two minutes otherwise.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    timeout: Option<Duration>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const USAGE: &str = "record [OPTIONS] <AGENT> -o <SET> [PROMPTS]";

const AFTER_HELP: &str = "\
Examples:
  cargo evalset record --agent-cmd 'python3 agents/weather.py' -o evals/weather.evalset.json prompts.txt
  cargo evalset record --adk-cmd 'adk api_server --no_use_local_storage agents' --app weather -o evals/weather.evalset.json
  cargo evalset record --agent-url $URL --app trip -o evals/trip.evalset.json --runs 5 prompts.jsonl

What can be typed in a conversation:
  /case NAME  names this case, or ends it and begins another one
  /undo       takes the last turn back: a new agent is told all that was said before
  /state      shows the session state
  /quit       ends; so do the end of the input and Ctrl-C

Exit codes:
  0  each conversation was recorded, or the set has it already
  2  a conversation was not recorded, or the agent or the set cannot be used; what was recorded before stays";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    // This comes first: it registers the secrets to mask.
    let agent = args.agent.choose()?;
    check_models(asked_mode())?;
    let destination = Destination::new(&args.output)?;
    destination.check_writable()?;
    let scripts = args.prompts.as_deref().map(read_scripts).transpose()?;
    let runtime = runtime("agents")?;
    let mut recorder = DraftRecorder::new(args.agent.name()).runs(args.runs.into());
    if let Some(app) = args.agent.app() {
        recorder = recorder.app_name(app);
    }
    if let Some(user) = &args.user {
        recorder = recorder.user_id(user);
    }
    if let Some(timeout) = args.timeout {
        recorder = recorder.timeout(timeout);
    }
    let mut recorded = Recorded::default();
    runtime.block_on(async {
        agent.ready(false).await?;
        match &scripts {
            Some(scripts) => all(&recorder, scripts, &agent, &destination, &mut recorded).await?,
            None => chat::run(recorder, &agent, &destination, &mut recorded).await?,
        }
        recorded.failures.extend(agent.end().await.err().map(|error| error.message));
        Ok(())
    })?;
    let added = Added {
        command: "record",
        destination: &destination,
        drafts: &recorded.new.drafts,
        equal: recorded.new.equal,
        left_out: &[],
        failures: &recorded.failures,
        preview: None,
    };
    added.answer(args.format)
}

/// Fails if calls of models are to be recorded or replayed: what is recorded here has no case yet that they would belong to.
fn check_models(asked: Result<Option<ModelMode>, String>) -> Result<(), CommandError> {
    let set = "set it to `live` or unset it";
    match asked {
        Err(why) => Err(CommandError::new(one_line(&why), set)),
        Ok(None | Some(ModelMode::Live)) => Ok(()),
        Ok(Some(_)) => Err(CommandError::new(
            format!(
                "`record` lets the agent ask its models itself, so `{MODELS}` can neither record nor replay their calls"
            ),
            format!(
                "{set}; once the draft is accepted, `{MODELS}=record` and `cargo evalset run` record the calls of its case"
            ),
        )),
    }
}

fn read_scripts(path: &Path) -> Result<Vec<Script>, CommandError> {
    let shown = path.display().to_string();
    let text = String::from_utf8(read(path)?).map_err(|_| {
        CommandError::new(format!("`{}` is not UTF-8", one_line(&shown)), "write the prompts as plain text")
    })?;
    scripts(&shown, &text).map_err(|error| {
        let help = if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv")) {
            "`cargo evalset import` makes cases of a table with questions and answers; to ask the agent, write its questions \
             into a text file, with an empty line between two conversations"
        } else {
            "a paragraph is a conversation and a line is a turn; docs/goldens.md describes the other forms"
        };
        CommandError::new(one_line(&error.to_string()), help)
    })
}

/// Records scripts, and writes each into the set as soon as it is recorded.
async fn all(
    recorder: &DraftRecorder,
    scripts: &[Script],
    agent: &AnyAgent,
    destination: &Destination,
    recorded: &mut Recorded,
) -> Result<(), CommandError> {
    for (at, script) in scripts.iter().enumerate() {
        let first = script.turns.first().map(eval_format::Content::text).unwrap_or_default();
        let name = script.eval_id.as_ref().unwrap_or(&first);
        tell(&format!("recording {} of {}: {}\n", at + 1, scripts.len(), one_line(name)));
        match recorder.record(script, || watched(agent)).await {
            Ok(draft) => recorded.add(destination, draft)?,
            Err(error) => recorded.failures.push(format!("conversation {}, `{name}`: {error}", at + 1)),
        }
    }
    Ok(())
}
