//! `cargo evalset diff`: two builds side by side.

use std::collections::BTreeMap;
use std::time::SystemTime;

use clap::ValueEnum;
use eval_report::baseline::remarks;
use eval_report::comparison::{Category, ComparedCase, Comparison, annotations, categories, html};
use eval_report::decide::gate::Policy;
use serde::Serialize;

use crate::output::{Answer, CommandError, Outcome, WARNING, styled};
use crate::sides::Side;

/// Compares two builds: each case is in one category. It decides nothing: `gate` does.
///
/// A side is the file of a baseline, or the id or the folder of a recorded run.
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
    /// A page in one file.
    Html,
    /// Text for people, with a warning of GitHub Actions on the set of each case that may be worse.
    Github,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset diff evalset-baseline.jsonl 2026-11-22T02-31-07-4f1c
  cargo evalset diff 2026-11-22T02-31-07-4f1c 2026-11-22T02-40-12-99ab   # two runs of one commit: what is chance?

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
    incomparable: Option<&'c str>,
    metrics: &'c [eval_report::comparison::MetricChange],
}

#[derive(Serialize)]
struct Runs {
    passed: usize,
    with_verdict: usize,
    errors: usize,
}

impl<'c> CaseEntry<'c> {
    pub(super) fn new(case: &'c ComparedCase) -> Self {
        let runs = |line: &eval_report::baseline::Line| Runs {
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
            incomparable: case.incomparable.as_deref(),
            metrics: &case.metrics,
        }
    }
}

#[derive(Serialize)]
struct Document<'c> {
    before: &'c str,
    now: &'c str,
    doubts: &'c [&'c String],
    notes: &'c [String],
    categories: BTreeMap<Category, usize>,
    p: f64,
    cases: Vec<CaseEntry<'c>>,
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let (before, now) = (Side::named(&args.before)?, Side::named(&args.now)?);
    let comparison = Comparison::new(&before.cases, &now.cases, &now.cases, Policy::default());
    let doubts: Vec<&String> = before.doubts.iter().chain(&now.doubts).collect();
    let mut notes = [before.notes, now.notes].concat();
    notes.extend(remarks(&before.cases, &now.cases, SystemTime::now()));
    let outcome = if doubts.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable };
    if args.format == Format::Html {
        let page = html(&comparison, [&before.name, &now.name], &doubts, &notes);
        let page = page.map_err(|error| {
            CommandError::new(format!("cannot write the page: {error}"), "use `--format human`")
        })?;
        return Ok(Answer::new(outcome, page));
    }
    if args.format == Format::Json {
        let document = Document {
            before: &before.name,
            now: &now.name,
            doubts: &doubts,
            notes: &notes,
            categories: comparison.counted(),
            p: comparison.decision.p,
            cases: comparison.cases.iter().map(CaseEntry::new).collect(),
        };
        return Answer::results("diff", outcome, &document);
    }
    let mut text = format!("{} -> {}\n", before.name, now.name);
    for doubt in doubts {
        text += &format!("  {doubt}\n");
    }
    for note in notes {
        text += &format!("  {}: {note}\n", styled(WARNING, "note"));
    }
    let mut answer = Answer::new(outcome, text + &categories(&comparison));
    if args.format == Format::Github {
        answer.annotations = annotations(&comparison);
    }
    Ok(answer)
}
