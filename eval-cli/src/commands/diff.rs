//! `cargo evalset diff`: two builds side by side.

use std::collections::BTreeMap;

use clap::ValueEnum;
use eval_report::baseline::{Line, Origin, shared_runs};
use eval_report::comparison::{
    Category, ComparedCase, Diff, MetricChange, ScoreChange, UsageRatio, annotations, html,
};
use serde::Serialize;

use crate::output::{Answer, CommandError, Outcome};
use crate::sides::side;

/// Compares two builds: each case is in one category. It decides nothing: `gate` does.
///
/// A side is the file of a baseline, the id or the folder of a recorded run, or a run in a store: `URL#RUN`, or its URL alone for the run that
/// was stored last.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The side before: a baseline or a run.
    #[arg(value_name = "A")]
    before: String,

    /// The side now: a baseline or a run.
    #[arg(value_name = "B")]
    now: String,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Human,
    /// One JSON document for programs; eval-cli/README.md describes its fields.
    Json,
    /// A comment for a pull request. Its first line is a mark by which a script finds the comment again.
    Markdown,
    /// A page in one file.
    Html,
    /// Text for people, with a warning of GitHub Actions on the set of each case that may be worse.
    Github,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset diff evalset-baseline.jsonl 2026-11-22T02-31-07-4f1c
  cargo evalset diff 2026-11-22T02-31-07-4f1c 2026-11-22T02-40-12-99ab   # two runs of one commit: what is chance?
  cargo evalset diff gs://my-evals#2026-11-22T02-31-07-4f1c gs://my-evals
  cargo evalset diff evalset-baseline.jsonl target/evalset --format html > diff.html

Exit codes:
  0  both sides were read
  2  a side cannot be read, or is not complete";

/// A case in JSON.
#[derive(Serialize)]
pub(super) struct CaseEntry<'c> {
    set: &'c str,
    case: &'c str,
    variant: Option<&'c str>,
    category: Category,
    before: Option<Runs>,
    now: Option<Runs>,
    p: Option<f64>,
    /// The reason why it cannot be compared, or the metrics that fewer of its runs passed.
    why: Option<String>,
    /// The medians of a run before, and now.
    tokens: [Option<f64>; 2],
    calls: [Option<f64>; 2],
    incomparable: Option<&'c str>,
    metrics: &'c [MetricChange],
}

#[derive(Serialize)]
struct Runs {
    passed: usize,
    with_verdict: usize,
    errors: usize,
}

impl<'c> CaseEntry<'c> {
    /// A case of a gate, whose tests look for drops alone.
    pub(super) fn new(case: &'c ComparedCase) -> Self {
        let runs = |line: &Line| Runs {
            passed: line.passed,
            with_verdict: line.with_verdict().total(),
            errors: line.errors,
        };
        Self {
            set: &case.key.set,
            case: &case.key.case,
            variant: Some(case.key.variant.as_str()).filter(|variant| !variant.is_empty()),
            category: case.category,
            before: case.before.as_ref().map(runs),
            now: case.now.as_ref().map(runs),
            p: case.compared.map(|(_, decision)| decision.p),
            why: case.why(),
            tokens: case.tokens(),
            calls: case.calls(),
            incomparable: case.incomparable.as_deref(),
            metrics: &case.metrics,
        }
    }

    /// A case of a diff, whose tests look for changes in both directions.
    fn two_sided(case: &'c ComparedCase) -> Self {
        Self { p: case.p, ..Self::new(case) }
    }
}

#[derive(Serialize)]
struct Document<'c> {
    before: &'c str,
    now: &'c str,
    /// The origins of both sides.
    from: Origins,
    doubts: Vec<&'c String>,
    notes: &'c [String],
    categories: BTreeMap<Category, usize>,
    p: f64,
    tokens: Option<UsageEntry>,
    calls: Option<UsageEntry>,
    scores: Vec<ScoreEntry<'c>>,
    cases: Vec<CaseEntry<'c>>,
}

#[derive(Serialize)]
struct Origins {
    before: Origin,
    now: Origin,
}

#[derive(Serialize)]
struct UsageEntry {
    cases: usize,
    ratio: f64,
    p: f64,
}

/// A metric over the cases in which it can be compared.
#[derive(Serialize)]
struct ScoreEntry<'c> {
    metric: &'c str,
    cases: usize,
    /// The mean over the cases before, and now.
    means: [f64; 2],
    p: f64,
}

impl<'c> From<&'c ScoreChange> for ScoreEntry<'c> {
    fn from(change: &'c ScoreChange) -> Self {
        Self { metric: &change.metric, cases: change.cases(), means: change.means, p: change.p() }
    }
}

impl From<UsageRatio> for UsageEntry {
    fn from(usage: UsageRatio) -> Self {
        Self { cases: usage.cases, ratio: usage.ratio, p: usage.p() }
    }
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let before = side(&args.before)?;
    let now = side(&args.now)?.recorded();
    let mut diff = Diff::new(before.before(&now.cases)?, now);
    let shared = shared_runs(&diff.before.cases, &diff.now.cases);
    diff.notes.extend(shared);
    let is_whole = diff.doubts().next().is_none();
    let outcome = if is_whole { Outcome::Passed } else { Outcome::Unmeasurable };
    match args.format {
        Format::Human => Ok(Answer::new(outcome, diff.text())),
        Format::Github => {
            let annotations = annotations(&diff.comparison);
            Ok(Answer { annotations, ..Answer::new(outcome, diff.text()) })
        }
        Format::Markdown => Ok(Answer::new(outcome, diff.to_markdown())),
        Format::Html => {
            let help = "use `--format human`";
            let page = html(&diff);
            let page =
                page.map_err(|error| CommandError::new(format!("cannot write the page: {error}"), help))?;
            Ok(Answer::new(outcome, page))
        }
        Format::Json => Answer::results("diff", outcome, &Document::new(&diff)),
    }
}

impl<'d> Document<'d> {
    fn new(diff: &'d Diff) -> Self {
        let Diff { before, now, comparison, scores, notes, .. } = diff;
        let [of_before, of_now] = diff.origins();
        Self {
            before: &before.name,
            now: &now.name,
            from: Origins { before: of_before, now: of_now },
            doubts: diff.doubts().collect(),
            notes,
            categories: comparison.counted(),
            p: comparison.p,
            tokens: comparison.tokens.map(UsageEntry::from),
            calls: comparison.calls.map(UsageEntry::from),
            scores: scores.iter().map(ScoreEntry::from).collect(),
            cases: comparison.cases.iter().map(CaseEntry::two_sided).collect(),
        }
    }
}
