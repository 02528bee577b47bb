//! What answers in a run: an agent, or stored traces of one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgGroup;
use eval_agents::TraceAgent;
use eval_agents::traces::Traces;
use eval_core::{Agent, BoxAgent, EvalRunner};

use crate::agent::{AgentArgs, AnyAgent};
use crate::commands::traces::unreadable;
use crate::output::CommandError;

/// The arguments of which exactly one says what answers.
pub(super) fn exactly_one() -> ArgGroup {
    ArgGroup::new("which_agent")
        .args(["agent_url", "agent_cmd", "adk_cmd", "traces"])
        .required(true)
        .multiple(false)
}

/// The arguments that say what answers.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct SourceArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// Stored traces, instead of an agent: OTLP or Jaeger's export as JSON, also packed with gzip. May be given several times.
    #[arg(
        long = "trace",
        value_name = "FILE",
        conflicts_with = "headers",
        help_heading = "Agent (exactly one)"
    )]
    traces: Vec<PathBuf>,

    /// Lets conversations of the traces belong to no case, which fails otherwise.
    #[arg(long, conflicts_with_all = ["agent_url", "agent_cmd", "adk_cmd"], help_heading = "Agent (exactly one)")]
    pub(super) allow_uncovered: bool,
}

impl SourceArgs {
    /// What the arguments name.
    pub(super) fn choose(&self) -> Result<Source, CommandError> {
        if self.traces.is_empty() {
            return self.agent.choose().map(Source::Agent);
        }
        let traces = Traces::read_all(&self.traces).map_err(|error| unreadable(&error))?;
        Ok(Source::Traces(Arc::new(traces)))
    }

    pub(super) fn app(&self) -> Option<&str> {
        self.agent.app()
    }

    /// The runner with the app name of cases that name none.
    pub(super) fn set(&self, runner: EvalRunner) -> EvalRunner {
        self.agent.set(runner)
    }

    /// The arguments again, for a command that is shown. Values of headers are left out.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.agent.words();
        for path in &self.traces {
            words.extend(["--trace".to_owned(), path.display().to_string()]);
        }
        words.extend(self.allow_uncovered.then(|| "--allow-uncovered".to_owned()));
        words
    }
}

/// What answers.
#[derive(Debug)]
pub(super) enum Source {
    Agent(AnyAgent),
    Traces(Arc<Traces>),
}

impl Source {
    /// Waits for a server. Traces are there already.
    pub(super) async fn ready(&self, may_come_later: bool) -> Result<(), CommandError> {
        match self {
            Self::Agent(agent) => agent.ready(may_come_later).await,
            Self::Traces(_) => Ok(()),
        }
    }

    /// The agent of a conversation. `is_only_case` matters to traces: their only conversation is that of the only case.
    pub(super) fn boxed(&self, is_only_case: bool) -> BoxAgent {
        match self {
            Self::Agent(agent) => agent.boxed(),
            Self::Traces(traces) => TraceAgent::from(Arc::clone(traces)).only_case(is_only_case).boxed(),
        }
    }
}
