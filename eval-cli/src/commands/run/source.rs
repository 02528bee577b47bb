//! Source of answers in a run: an agent, or stored traces of an agent.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgGroup;
use eval_agents::TraceAgent;
use eval_agents::traces::{MatchError, Traces};
use eval_core::models::ModelMode;
use eval_core::runner::RunPlan;
use eval_core::{Agent, BoxAgent};
use eval_format::matrix::Variant;
use eval_format::options::ToolSource;
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS;
use eval_support::words::{count, short_code_list};

use crate::agent::{self, AgentArgs, AnyAgent};
use crate::commands::traces::unreadable;
use crate::output::{CommandError, WARNING, notice, styled, tell};

pub(super) fn exactly_one() -> ArgGroup {
    agent::exactly_one().arg("traces")
}

/// The arguments that say what answers.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct SourceArgs {
    #[command(flatten)]
    pub(super) agent: AgentArgs,

    /// Stored traces, instead of an agent: OTLP or Jaeger's export as JSON, also packed with gzip. May be given several times.
    #[arg(
        long = "trace",
        value_name = "FILE",
        conflicts_with = "headers",
        help_heading = "Agent (exactly one)"
    )]
    traces: Vec<PathBuf>,

    /// Lets conversations of the traces belong to no case, which fails otherwise.
    #[arg(long, conflicts_with_all = ["agent", "agent_cmd", "adk_cmd", "agent_url"], help_heading = "Agent (exactly one)")]
    pub(super) allow_uncovered: bool,
}

impl SourceArgs {
    pub(super) fn choose(&self, variant: &Variant) -> Result<Source, CommandError> {
        if self.traces.is_empty() {
            return self.agent.choose_variant(variant).map(Source::Agent);
        }
        let traces = Traces::read_all(&self.traces).map_err(|error| unreadable(&error))?;
        Ok(Source::Traces(Arc::new(traces)))
    }

    /// The arguments for a command that is printed. Values of headers are left out.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.agent.words();
        for path in &self.traces {
            words.extend(["--trace".to_owned(), path.display().to_string()]);
        }
        words.extend(self.allow_uncovered.then(|| "--allow-uncovered".to_owned()));
        words
    }
}

#[derive(Debug)]
pub(super) enum Source {
    Agent(AnyAgent),
    Traces(Arc<Traces>),
}

impl Source {
    /// The same source, whose server is started with these tools. Fails for golden tools of traces: what is stored has its
    /// results already, and the user would take them for the golden ones.
    pub(super) fn with_tools(self, tools: ToolSource) -> Result<Self, CommandError> {
        match (self, tools) {
            (Self::Agent(agent), tools) => Ok(Self::Agent(agent.with_tools(tools))),
            (Self::Traces(_), ToolSource::Golden) => {
                let message = "stored traces call no tools, so golden tools cannot answer them";
                Err(CommandError::new(message, "leave out `--tools golden`"))
            }
            (traces @ Self::Traces(_), ToolSource::Real) => Ok(traces),
        }
    }

    /// The same source, whose server is started with its calls of models answered in this mode. Traces ask no model, so a mode
    /// that changes recordings is told to have no effect.
    pub(super) fn with_models(self, mode: Option<ModelMode>) -> Self {
        match self {
            Self::Agent(agent) => Self::Agent(agent.with_models(mode)),
            traces @ Self::Traces(_) => {
                if mode.is_some_and(|mode| mode.records() || mode == ModelMode::Rebind) {
                    notice(&format!(
                        "warning: stored traces ask no model, so `{MODELS}` changes no recording"
                    ));
                }
                traces
            }
        }
    }

    pub(super) async fn ready(&self, may_come_later: bool) -> Result<(), CommandError> {
        match self {
            Self::Agent(agent) => agent.ready(may_come_later).await,
            Self::Traces(_) => Ok(()),
        }
    }

    /// Ends what conversations shared, after the last one.
    pub(super) async fn end(&self) -> Result<(), CommandError> {
        match self {
            Self::Agent(agent) => agent.end().await,
            Self::Traces(_) => Ok(()),
        }
    }

    /// The agent of a conversation. If the case `is_only_case`, the only conversation of traces belongs to it.
    pub(super) fn boxed(&self, is_only_case: bool) -> BoxAgent {
        match self {
            Self::Agent(agent) => agent.boxed(),
            Self::Traces(traces) => TraceAgent::from(Arc::clone(traces)).only_case(is_only_case).boxed(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Matched {
    lines: Vec<String>,
    /// The conversations that belong to no case.
    uncovered: Vec<String>,
    /// The conversations of which several belong to one case alike, so that it has none.
    alike: Vec<String>,
    /// The conversations that belong to several cases, each with two of them.
    shared: Vec<(String, [String; 2])>,
    /// The runs of each case: a trace is one.
    runs: usize,
    /// Other words of the user than in a case, then gaps of the traces.
    warnings: Vec<String>,
}

impl Matched {
    /// Matches the cases of a plan with traces, which have no variants. Empty for other agents.
    pub(super) fn new(sources: &[Source], plans: &[RunPlan]) -> Self {
        let ([Source::Traces(traces)], [plan]) = (sources, plans) else { return Self::default() };
        let mut covered: HashMap<usize, String> = HashMap::new();
        let mut matched = Self { runs: plan.runs(), ..Self::default() };
        for (_, set, case) in plan.cases() {
            let name = one_line(&format!("{set}/{}", case.eval_id));
            matched.lines.push(match traces.conversation_of(case, plan.len() == 1) {
                Ok((at, by)) => {
                    let key = one_line(&traces.conversations()[at].key);
                    if let Some(other) = covered.insert(at, name.clone()) {
                        matched.shared.push((key.clone(), [other, name.clone()]));
                    }
                    let turns = traces.conversations()[at].turns.iter().zip(&case.conversation);
                    let others = (1..).zip(turns).filter_map(|(number, (turn, golden))| {
                        Some(format!("{name}: {}", one_line(&turn.other_words(number, &golden.user_text())?)))
                    });
                    matched.warnings.extend(others);
                    format!("{name}: conversation {key}, {by}")
                }
                Err(MatchError::Several { keys, .. }) => {
                    matched.alike.extend(keys.iter().map(|key| one_line(key)));
                    format!("{name}: {}, and only one can be meant", count(keys.len(), "conversation"))
                }
                Err(_) => format!("{name}: no conversation"),
            });
        }
        let all = traces.conversations().iter().enumerate();
        let others = all.filter(|(at, it)| !it.turns.is_empty() && !covered.contains_key(at));
        matched.uncovered = others.map(|(_, it)| one_line(&it.key)).collect();
        matched.warnings.extend(traces.gaps().iter().map(|gap| one_line(&gap.to_string())));
        matched
    }

    /// Prints the match on standard error, before the cases run: standard output is for the report.
    pub(super) fn tell(&self) -> &Self {
        let mut text = String::new();
        text.extend(self.lines.iter().map(|line| format!("     trace {line}\n")));
        text.extend(self.warnings.iter().map(|it| format!("   {} {it}\n", styled(WARNING, "warning"))));
        tell(&text);
        self
    }

    /// Fails if a conversation belongs to no case, unless that is allowed: what no case checks is no pass. Fails if one
    /// belongs to several cases, or would be scored several times, as each score would count as a run.
    pub(super) fn check(&self, is_allowed: bool) -> Result<(), CommandError> {
        if self.runs > 1 {
            let message = format!(
                "{} of each case are asked for, and a stored trace is one run",
                count(self.runs, "run")
            );
            let help = "leave out `--runs` and `EVALSET_RUNS`, or set them to 1; runs of an agent need the agent: `--agent-cmd`, `--adk-cmd` or `--agent-url`";
            return Err(CommandError::new(message, help));
        }
        if let Some((key, [one, other])) = self.shared.first() {
            return Err(CommandError::new(
                format!("the conversation {key} of the traces belongs to two cases: `{one}` and `{other}`"),
                "give the spans of each conversation the id of its case, as the attribute `agentevals.eval.case.id`, or run one of the cases alone: `cargo evalset run SET:CASE --trace FILE`",
            ));
        }
        if self.uncovered.is_empty() || is_allowed {
            return Ok(());
        }
        if !self.alike.is_empty() {
            return Err(CommandError::new(
                format!(
                    "the traces have the same conversation more than once: {}",
                    short_code_list(&self.alike)
                ),
                "keep one of them; a file to which an agent appends its traces has to be removed before the agent runs again",
            ));
        }
        let count = count(self.uncovered.len(), "conversation");
        let names = short_code_list(&self.uncovered);
        Err(CommandError::new(
            format!("{count} of the traces without a case in this run: {names}"),
            "add cases for them (`cargo evalset traces FILE` shows them), or allow it with `--allow-uncovered`",
        ))
    }
}
