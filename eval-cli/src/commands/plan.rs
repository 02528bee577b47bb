//! `cargo evalset plan`: the cases, runs and questions to judges of a run, before it starts.

mod judges;
mod set;

use std::path::PathBuf;

use eval_core::judge::JudgeMode;
use eval_format::compat::NotCompared;
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::{code_list, count, tokens};
use serde::Serialize;

use crate::files::{Scope, counts_not_compared, find_files};
use crate::output::width::fitted;
use crate::output::{Answer, BOLD, CommandError, ERROR, Format, GOOD, Outcome, styled};
use crate::recorded::{LoadedRun, TestResult, WhichRun};
use judges::Judged;
use set::{Set, last_run};

/// Shows what running eval sets takes: cases, runs, questions to judges, and whether these can be answered.
///
/// How often cases run and with which criteria is in your attributes, so it is taken from the last run. A set that has not
/// run yet is planned with one run, and with the `test_config.json` beside it or ADK's default criteria. Nothing is run,
/// and no judge is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes. Without any, the sets of the last run are meant.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset plan
  cargo evalset plan evals
  EVALSET_JUDGE=live cargo evalset plan      # are the keys there?

Exit codes:
  0  every question to a judge can be answered, or no judge is asked
  2  a key or a recording is missing, or a set cannot be read";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let mode = JudgeMode::from_env()
        .map_err(|error| CommandError::new(error.to_string(), "unset it to have recordings replayed"))?;
    // A project without a run can be planned too.
    let loaded = WhichRun::default().load().ok();
    let tests = loaded.as_ref().map(|loaded| TestResult::all(&loaded.run)).unwrap_or_default();
    let last_run = last_run(&tests);
    let paths = if args.paths.is_empty() { last_run.keys().cloned().collect() } else { args.paths.clone() };
    let inputs = find_files(&paths, Scope::Sets);
    if inputs.files.is_empty() && inputs.errors.is_empty() {
        let help = "name sets or folders: `cargo evalset plan evals`";
        return Err(CommandError::new("there is no last run to take the sets from", help));
    }
    let mut errors = inputs.errors;
    let mut sets = Vec::new();
    for input in inputs.files {
        match Set::read(&input.path, last_run.get(&input.path)) {
            Ok(set) => sets.push(PlannedSet::new(&set, mode)),
            Err(error) => errors.push(error),
        }
    }
    let summary = Summary {
        sets: sets.len(),
        cases: sets.iter().map(|set| set.cases).sum(),
        runs: sets.iter().map(|set| set.runs).sum(),
        questions: sets.iter().flat_map(|set| &set.judged).map(|judged| judged.questions).sum(),
    };
    let plan = Plan { mode, run: loaded.as_ref().map(LoadedRun::name), sets, errors, summary };
    match args.format {
        Format::Human => Ok(Answer::new(plan.outcome(), fitted(text(&plan)))),
        Format::Json => Answer::results("plan", plan.outcome(), &plan),
    }
}

/// A plan of runs. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Plan {
    /// `EVALSET_JUDGE`, if it is set.
    #[serde(skip)]
    mode: Option<JudgeMode>,
    run: Option<String>,
    sets: Vec<PlannedSet>,
    /// An error for each path or set that cannot be planned.
    #[serde(rename = "not_planned")]
    errors: Vec<CommandError>,
    summary: Summary,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Summary {
    sets: usize,
    cases: usize,
    runs: usize,
    questions: usize,
}

#[derive(Debug, Serialize)]
struct PlannedSet {
    file: String,
    cases: usize,
    runs: usize,
    in_last_run: bool,
    metrics: Vec<String>,
    judged: Vec<Judged>,
    #[serde(serialize_with = "counts_not_compared")]
    not_compared: NotCompared,
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
    /// The runs of it in the last run, from which tokens are estimated.
    #[serde(skip)]
    ran: Option<usize>,
}

impl Plan {
    fn outcome(&self) -> Outcome {
        let obstacles = self.sets.iter().flat_map(|set| &set.judged).any(|judged| judged.obstacle.is_some());
        if obstacles || !self.errors.is_empty() { Outcome::Unmeasurable } else { Outcome::Passed }
    }
}

impl PlannedSet {
    fn new(set: &Set, mode: Option<JudgeMode>) -> Self {
        let [agent_tokens, judge_tokens] =
            set.tokens().map(|tokens| Some(i64::try_from(tokens?).unwrap_or(i64::MAX)));
        Self {
            file: set.path.display().to_string(),
            cases: set.cases.len(),
            runs: set.runs(),
            in_last_run: set.last.is_some(),
            metrics: set.criteria.keys().cloned().collect(),
            judged: judges::find(set, mode),
            not_compared: set.not_compared(),
            agent_tokens,
            judge_tokens,
            ran: set.measured().map(|last| last.ran),
        }
    }
}

fn text(plan: &Plan) -> String {
    let mut text = String::new();
    text.extend(plan.sets.iter().map(set));
    text.extend(plan.errors.iter().map(CommandError::shown));
    text.push_str("──────────\n");
    let Summary { sets, cases, runs, questions } = plan.summary;
    let (sets, cases, runs) = (count(sets, "set"), count(cases, "case"), count(runs, "run"));
    let (head, questions) = (styled(BOLD, "Plan"), count(questions, "question"));
    text.push_str(&format!("{head} {sets} · {cases} · {runs} · {questions} to judges\n"));
    text.push_str(&format!("     {}\n", mode(plan.mode)));
    let unplanned = plan.sets.iter().filter(|set| !set.in_last_run).count();
    if let Some(run) = plan.run.as_ref().filter(|_| unplanned < plan.sets.len()) {
        text.push_str(&format!("     runs, criteria and tokens are taken from the last run, {run}\n"));
    }
    if unplanned > 0 {
        let sets = count(unplanned, "set");
        text.push_str(&format!(
            "     {sets} not in the last run: planned with one run, and the criteria of `test_config.json` or of ADK\n"
        ));
    }
    text
}

fn mode(mode: Option<JudgeMode>) -> &'static str {
    match mode {
        None => "`EVALSET_JUDGE` is not set: recordings are replayed, and no judge is asked over the network",
        Some(JudgeMode::Replay) => {
            "`EVALSET_JUDGE=replay`: recordings are replayed, and no judge is asked over the network"
        }
        Some(JudgeMode::Record) => {
            "`EVALSET_JUDGE=record`: judges are asked what is not recorded, which costs money"
        }
        Some(JudgeMode::Live) => "`EVALSET_JUDGE=live`: judges are asked every question, which costs money",
        Some(_) => "`EVALSET_JUDGE` has a value that this version of cargo-evalset does not know",
    }
}

fn set(set: &PlannedSet) -> String {
    let (cases, runs) = (count(set.cases, "case"), count(set.runs, "run"));
    let mut text = format!("{}  {cases} · {runs}\n", styled(BOLD, &one_line(&set.file)));
    let unjudged = set.metrics.iter().filter(|name| !set.judged.iter().any(|judged| judged.name == **name));
    let unjudged: Vec<String> = unjudged.map(|name| one_line(name)).collect();
    if !unjudged.is_empty() {
        let ask = if unjudged.len() == 1 { "asks" } else { "ask" };
        text.push_str(&format!("  {} {ask} no judge\n", code_list(&unjudged)));
    }
    text.extend(set.judged.iter().map(metric));
    if !set.not_compared.is_empty() {
        text.push_str(&format!("  not compared: {}\n", set.not_compared));
    }
    if let Some(tokens) = tokens_of(set) {
        text.push_str(&format!("  {tokens}\n"));
    }
    text
}

fn metric(judged: &Judged) -> String {
    let Judged { name, model, samples, questions, is_estimate, recorded, cases, obstacle } = judged;
    let about = if *is_estimate { "about " } else { "" };
    let (name, model) = (one_line(name), one_line(model));
    let (questions, cases) = (count(*questions, "question"), count(*cases, "case"));
    let each = count(*samples as usize, "sample");
    let asks = format!("`{name}` asks {model} {about}{questions} ({each} each)");
    let mut text = format!("  {asks}, recorded for {recorded}/{cases}\n");
    match obstacle {
        Some(why) => {
            text.push_str(&format!("    {}: {}\n", styled(ERROR, "missing"), quoted(why, 4)));
        }
        None => text.push_str(&format!("    {}\n", styled(GOOD, "can be answered"))),
    }
    text
}

fn tokens_of(set: &PlannedSet) -> Option<String> {
    let ran = count(set.ran?, "run");
    let used = [("agent", set.agent_tokens), ("judges", set.judge_tokens)];
    let used =
        used.into_iter().filter_map(|(who, used)| Some(format!("{who} about {}", tokens(used?.into()))));
    let parts: Vec<String> = used.collect();
    (!parts.is_empty()).then(|| format!("{} (by {ran} of the last run)", parts.join(", ")))
}
