//! `cargo evalset report`: the results of a run, complete or not.

pub(super) mod formats;
#[cfg(feature = "store")]
mod stored;

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use eval_report::journal::RecordedTest;
use eval_report::price::{PriceError, Prices};
use eval_support::untrusted::one_line;

#[cfg(not(feature = "store"))]
use crate::features::StoreArgs;
use crate::output::{Answer, CommandError, Format};
use crate::recorded::{LoadedRun, RunArgs, RunResults, prune};
use crate::tags::TagArgs;
use formats::ReportFiles;
#[cfg(feature = "store")]
use stored::StoreArgs;

/// Shows the results of a test run: the last one, unless another one is named.
///
/// Tests of `#[eval_set]` record what happens while they run, so a run that was killed is shown up to that moment.
/// Nothing is run or scored.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, group = filed_under_an_app())]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// The k of pass@k and pass^k. Without it, the number of runs that each case has.
    #[arg(short, long, value_name = "K")]
    k: Option<usize>,

    /// Says that tests were left out on purpose, which a report cannot know of nextest's filters and partitions. Without it,
    /// a run that lacks tests ends with 2.
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    tags: TagArgs,

    #[command(flatten)]
    files: ReportFiles,

    /// The prices of a million tokens in and out, for all models or for one: the page and the JSON show what the agent cost. Can
    /// be repeated. Without it, the prices that the run was given count.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT")]
    prices: Vec<String>,

    /// Opens the page of `--html` in the browser.
    #[arg(long, requires = "html")]
    open: bool,

    /// The app that ADK's results are filed under: with `--adk-results`, the folder of the agent below DIR.
    #[arg(long, value_name = "NAME", requires = "filed_under_an_app")]
    app: Option<String>,

    #[command(flatten)]
    stored: StoreArgs,

    /// Also prints annotations of GitHub Actions, on the lines of the cases.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The group of arguments that file results under an app. `--app` requires one of them.
fn filed_under_an_app() -> ArgGroup {
    let group = ArgGroup::new("filed_under_an_app").multiple(true).arg("adk_results");
    if cfg!(feature = "store") { group.arg("publish") } else { group }
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset report
  cargo evalset report 2026-11-22T02-31-07-4f1c
  cargo evalset report --merge part-1 part-2
  cargo evalset report --tag smoke
  cargo evalset report --html report.html --open
  cargo evalset report --junit junit.xml --markdown summary.md --github
  cargo evalset report --csv results.csv --adk-results agents --app weather
  cargo evalset report --markdown - >> \"$GITHUB_STEP_SUMMARY\"

Exit codes:
  0  every case passed, or was skipped and another passed
  1  a case failed
  2  a case has no verdict (an error, not evaluated, unfinished), tests never began, there is no run, or the run is
     not of this CI job or of the tests that are there now (name it if it is the one you mean)";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    match report(args).map_err(|error| args.files.before_writing(error)) {
        Err(error) if args.github => Ok(Answer::annotated(error)),
        answer => answer,
    }
}

fn report(args: &Args) -> Result<Answer, CommandError> {
    args.files.check(args.github)?;
    let opens = if args.open { Some(page_to_open(args.files.page())?) } else { None };
    // Only formats for programs contain the scores of each run. For the others, an outline is enough.
    let takes_all = args.format == Format::Json || args.files.take_all();
    let run = args.run.which();
    #[cfg(not(feature = "store"))]
    args.stored.check()?;
    #[cfg(feature = "store")]
    let (stored, takes_all) = (args.stored.fetch(&run)?, takes_all || args.stored.publish);
    #[cfg(feature = "store")]
    let run = stored.as_ref().map_or(run.clone(), |it| run.fetched(it.fetched.folder.clone()));
    let loaded = if takes_all { run.load()? } else { run.load_outline()? };
    #[cfg(feature = "store")]
    let loaded = loaded.lacking(stored.as_ref().and_then(stored::StoredRun::missing_parts));
    let prices = prices(&args.prices)?;
    let tags = args.tags.among(tags(&loaded))?;
    #[cfg(feature = "store")]
    if args.stored.publish && !tags.is_empty() {
        let help = "leave out `--tag` and `--skip-tag`, or `--publish`";
        return Err(CommandError::new("`--publish` stores the report of the whole run", help));
    }
    let mut results = RunResults::of_tags(&loaded, args.k, args.partial, &tags).map_err(|error| {
        let help = "run each case more often (`runs = ..` in the attribute), or ask for a smaller k";
        CommandError::new(error.to_string(), help)
    })?;
    results.prices = prices;
    let written = args.files.write(&results, args.app.as_deref());
    let human = || eval_report::formats::human(&results);
    let answer = written.answer(&results, args.format, args.github, human)?;
    prune();
    #[cfg(feature = "store")]
    if let Some(stored) = &stored {
        stored.end(&results, args.app.as_deref())?;
    }
    drop(results);
    // Leaked on purpose, as the program ends now: freeing a hundred thousand cases takes a tenth of the time.
    std::mem::forget(loaded);
    Ok(Answer { opens, ..answer })
}

/// The tags of the recorded cases.
pub(super) fn tags(loaded: &LoadedRun) -> impl Iterator<Item = &String> {
    loaded.run.tests.iter().filter_map(RecordedTest::last).flat_map(|attempt| &attempt.started.tags)
}

pub(super) fn prices(texts: &[String]) -> Result<Prices, CommandError> {
    let mut prices = Prices::default();
    for text in texts {
        prices
            .add(text)
            .map_err(|error| CommandError::new(one_line(&error.to_string()), PriceError::HELP))?;
    }
    Ok(prices)
}

fn page_to_open(page: Option<&Path>) -> Result<PathBuf, CommandError> {
    page.map(Path::to_path_buf).ok_or_else(|| {
        CommandError::new("a page on standard output cannot be opened", "name a file: `--html FILE --open`")
    })
}
