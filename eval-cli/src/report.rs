//! `cargo evalset report`: what a run came to, complete or not.

mod github;
mod human;
mod json;
mod junit;
mod markdown;

use std::path::{Path, PathBuf};

use crate::answer::{Answer, Format, Refusal};
use crate::recorded::{OverCases, Recorded, Totals};
use crate::replace::replace;
use crate::runs::{Recording, Which};
pub(crate) use human::tokens;
pub(crate) use json::metric_state;

/// Shows what a run of tests came to: the last one, unless another is named.
///
/// Tests of `#[eval_set]` record what happens while they run, so a run that was killed is shown as far as it came.
/// Nothing is run or scored.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    /// The k of pass@k and pass^k: the number of runs that each case has, unless said.
    #[arg(short, long, value_name = "K")]
    k: Option<usize>,

    /// Writes a JUnit report here (`-`: to standard output, in place of what is printed there).
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Writes the report as JSON here (`-`: to standard output, in place of what is printed there).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a summary for a pull request here (`-`: to standard output, in place of what is printed there).
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Prints annotations of GitHub Actions too, on the lines of the cases.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset report
  cargo evalset report 2026-11-22T02-31-07-4f1c
  cargo evalset report --merge part-1 part-2
  cargo evalset report --junit junit.xml --markdown summary.md --github
  cargo evalset report --markdown - >> \"$GITHUB_STEP_SUMMARY\"

Exit codes:
  0  every case passed, or was skipped and another passed
  1  a case failed
  2  a case has no verdict (an error, not evaluated, unfinished), or there is no run";

/// What stands for standard output where a file can be named; it then gets that report and nothing else.
const STANDARD_OUTPUT: &str = "-";

/// A run and what it comes to.
#[derive(Debug)]
struct Report<'r> {
    recording: &'r Recording,
    tests: Vec<Recorded<'r>>,
    totals: Totals,
    over_cases: Option<OverCases>,
}

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let recording = args.which.read()?;
    let report = Report::of(&recording, args.k)?;
    let written = [
        (&args.junit, junit::text as fn(&Report<'_>) -> Result<String, Refusal>),
        (&args.json, json::text),
        (&args.markdown, markdown::text),
    ];
    let mut printed = None;
    for (path, text) in written {
        let Some(path) = path else { continue };
        let text = text(&report)?;
        if path.as_os_str() != STANDARD_OUTPUT {
            write(path, &text)?;
        } else if args.github || printed.replace(text).is_some() {
            return Err(Refusal::new(
                format!("more than one report is to go to standard output (`{STANDARD_OUTPUT}`)"),
                "name a file for the others",
            ));
        }
    }
    let outcome = report.totals.outcome();
    let mut text = match (printed, args.format) {
        (Some(printed), _) => printed,
        (None, Format::Human) => human::text(&report),
        (None, Format::Json) => json::text(&report)?,
    };
    if args.github {
        text.push_str(&github::annotations(&report));
    }
    Ok(Answer { outcome, text })
}

impl<'r> Report<'r> {
    fn of(recording: &'r Recording, k: Option<usize>) -> Result<Self, Refusal> {
        let tests = Recorded::all(&recording.run);
        let totals = Totals::of(&recording.run, &tests);
        let over_cases = totals.over_cases(k).map_err(|error| {
            Refusal::new(
                error.to_string(),
                "run each case more often (`runs = ..` in the attribute), or ask for a smaller k",
            )
        })?;
        Ok(Self { recording, tests, totals, over_cases })
    }

    /// The cases that did not come to a good end, in order.
    fn troubled(&self) -> impl Iterator<Item = &Recorded<'r>> {
        self.tests.iter().filter(|test| test.is_trouble())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Refusal> {
    replace(path, text).map_err(|error| {
        Refusal::new(
            format!("cannot write `{}`: {error}", path.display()),
            "name a file in a folder that is there",
        )
    })
}
