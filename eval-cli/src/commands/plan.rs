//! `cargo evalset plan`: the cases, runs and questions to judges of a run, before it starts.

mod judges;
mod set;

use std::collections::BTreeMap;
use std::path::PathBuf;

use eval_core::judge::JudgeMode;
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::{code_list, count, tokens};
use serde::{Serialize, Serializer};

use crate::files::{Scope, find_files};
use crate::output::width::fitted;
use crate::output::{Answer, BOLD, CommandError, ERROR, Format, GOOD, Outcome, styled};
use crate::recorded::{LoadedRun, TestResult, WhichRun};
use judges::Judged;
use set::{LastRun, Set};

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
    let last_run = LastRun::new(&tests);
    let paths = if args.paths.is_empty() { last_run.files() } else { args.paths.clone() };
    let inputs = find_files(&paths, Scope::Sets);
    if inputs.files.is_empty() && inputs.errors.is_empty() {
        return Err(CommandError::new(
            "there is no last run to take the sets from",
            "name sets or folders: `cargo evalset plan evals`",
        ));
    }
    let mut errors = inputs.errors;
    let mut sets = Vec::new();
    for input in inputs.files {
        match Set::read(&input.path, last_run.of_file(&input.path)) {
            Ok(set) => sets.push(PlannedSet { judged: judges::find(&set, mode), set }),
            Err(error) => errors.push(error),
        }
    }
    let summary = Summary {
        sets: sets.len(),
        cases: sets.iter().map(|planned| planned.set.cases.len()).sum(),
        runs: sets.iter().map(|planned| planned.set.runs()).sum(),
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
    /// The last run, if there is one.
    run: Option<String>,
    sets: Vec<PlannedSet>,
    /// An error for each path or set that cannot be planned.
    #[serde(rename = "not_planned")]
    errors: Vec<CommandError>,
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    sets: usize,
    cases: usize,
    runs: usize,
    questions: usize,
}

/// A set and its metrics that ask judges.
#[derive(Debug)]
struct PlannedSet {
    set: Set,
    judged: Vec<Judged>,
}

impl Plan {
    fn outcome(&self) -> Outcome {
        let obstacles = self.sets.iter().flat_map(|set| &set.judged).any(|judged| judged.obstacle.is_some());
        if obstacles || !self.errors.is_empty() { Outcome::Unmeasurable } else { Outcome::Passed }
    }
}

impl Serialize for PlannedSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'p> {
            file: String,
            cases: usize,
            runs: usize,
            in_last_run: bool,
            metrics: Vec<&'p String>,
            judged: &'p [Judged],
            /// The number of expectations of each kind that no metric reads: `tool_responses`, `rubrics` and so on.
            not_compared: BTreeMap<&'static str, usize>,
            agent_tokens: Option<i64>,
            judge_tokens: Option<i64>,
        }
        let Self { set, judged } = self;
        let [agent_tokens, judge_tokens] =
            set.tokens().map(|tokens| Some(i64::try_from(tokens?).unwrap_or(i64::MAX)));
        let entry = Entry {
            file: set.path.display().to_string(),
            cases: set.cases.len(),
            runs: set.runs(),
            in_last_run: set.last.is_some(),
            metrics: set.criteria.keys().collect(),
            judged,
            not_compared: set.not_compared().counts().collect(),
            agent_tokens,
            judge_tokens,
        };
        entry.serialize(serializer)
    }
}

fn text(plan: &Plan) -> String {
    let mut text = String::new();
    for planned in &plan.sets {
        text.push_str(&set(planned));
    }
    for error in &plan.errors {
        text.push_str(&error.shown());
    }
    text.push_str("──────────\n");
    text.push_str(&format!(
        "{} {} · {} · {} · {} to judges\n",
        styled(BOLD, "Plan"),
        count(plan.summary.sets, "set"),
        count(plan.summary.cases, "case"),
        count(plan.summary.runs, "run"),
        count(plan.summary.questions, "question")
    ));
    text.push_str(&format!("     {}\n", mode(plan.mode)));
    let unplanned = plan.sets.iter().filter(|planned| planned.set.last.is_none()).count();
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

fn set(planned: &PlannedSet) -> String {
    let PlannedSet { set, judged } = planned;
    let path = one_line(&set.path.display().to_string());
    let (cases, runs) = (count(set.cases.len(), "case"), count(set.runs(), "run"));
    let mut text = format!("{}  {cases} · {runs}\n", styled(BOLD, &path));
    let unjudged: Vec<String> = set
        .criteria
        .keys()
        .filter(|name| !judged.iter().any(|judged| judged.name == **name))
        .map(|name| one_line(name))
        .collect();
    if !unjudged.is_empty() {
        let ask = if unjudged.len() == 1 { "asks" } else { "ask" };
        text.push_str(&format!("  {} {ask} no judge\n", code_list(&unjudged)));
    }
    for judged in judged {
        text.push_str(&metric(judged));
    }
    let not_compared = set.not_compared();
    if !not_compared.is_empty() {
        text.push_str(&format!("  not compared: {not_compared}\n"));
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
    let mut text = format!(
        "  `{name}` asks {model} {about}{} ({} each), recorded for {recorded}/{}\n",
        count(*questions, "question"),
        count(*samples as usize, "sample"),
        count(*cases, "case")
    );
    match obstacle {
        Some(why) => {
            text.push_str(&format!("    {}: {}\n", styled(ERROR, "missing"), quoted(why, 4)));
        }
        None => text.push_str(&format!("    {}\n", styled(GOOD, "can be answered"))),
    }
    text
}

/// The tokens of all planned runs, estimated from the last run.
fn tokens_of(set: &Set) -> Option<String> {
    let last = set.measured()?;
    let used = ["agent", "judges"].into_iter().zip(set.tokens());
    let used = used.filter_map(|(who, number)| Some(format!("{who} about {}", tokens(number?))));
    let parts: Vec<String> = used.collect();
    let ran = count(last.ran, "run");
    (!parts.is_empty()).then(|| format!("{} (by {ran} of the last run)", parts.join(", ")))
}
