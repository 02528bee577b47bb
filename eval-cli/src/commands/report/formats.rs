//! The formats of a report.
//!
//! A format that is written to a file has a module, an option in [`ReportFiles`], and a line in its list.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eval_report::formats as format;
use eval_support::untrusted::one_line;
use eval_support::words::code_list;

use crate::files::{check_report_path, write};
use crate::output::{Answer, CommandError, Format as OutputFormat, mask};
use crate::recorded::{RunResults, near};
use crate::run_page;
use crate::sides::against;

/// The files to write reports to.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ReportFiles {
    /// Writes a JUnit report to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Writes the report as JSON to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a summary for a pull request to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Writes the report as a page to look at: one HTML file with all that was said, which asks nothing of any network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// The baseline whose cases the page compares with the run. Without it, the `evalset-baseline.jsonl` of this folder or of the
    /// nearest folder above it in the project, if there is one.
    #[arg(long, value_name = "FILE", requires = "html")]
    baseline: Option<PathBuf>,

    /// Writes the table of ADK's `AgentEvaluator` to this file: a row per metric, turn and run, and one for each error. `-` prints it instead of
    /// the usual output.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Saves ADK's results of the sets below this folder of agents, where `adk web` lists them:
    /// `DIR/APP/.adk/eval_history`. Needs `--app`.
    #[arg(long, value_name = "DIR", requires = "app")]
    adk_results: Option<PathBuf>,

    /// Whether [`write`](Self::write) was called.
    #[arg(skip)]
    came_to_write: Cell<bool>,
}

/// A report as text, without secrets.
type Render<'a> = Box<dyn Fn(&RunResults<'_>) -> Result<String, CommandError> + 'a>;

struct Format<'a> {
    path: Option<&'a Path>,
    /// Whether it has the scores of each run, for which whole journals are read.
    is_whole: bool,
    render: Render<'a>,
}

impl<'a> Format<'a> {
    fn new(
        path: Option<&'a PathBuf>,
        render: impl Fn(&RunResults<'_>) -> Result<String, CommandError> + 'a,
    ) -> Self {
        Self { path: path.map(PathBuf::as_path), is_whole: true, render: Box::new(render) }
    }
}

/// The place of a file that may not be there yet.
fn place(path: &Path) -> (PathBuf, Option<&OsStr>) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), path.file_name())
}

impl ReportFiles {
    fn list(&self) -> [Format<'_>; 5] {
        let markdown = Format::new(self.markdown.as_ref(), |results| Ok(masked(format::markdown(results))));
        [
            Format::new(self.junit.as_ref(), |results| format::junit(results).map(masked)),
            Format::new(self.json.as_ref(), |results| format::json(results).map(masked)),
            Format { is_whole: false, ..markdown },
            Format::new(self.csv.as_ref(), |results| format::csv(results).map(masked)),
            // The page masks its own texts. Its policy has hashes of the rest, which must not change.
            Format::new(self.html.as_ref(), |results| {
                run_page::text(results, against(self.baseline.as_deref())?.as_ref())
            }),
        ]
    }

    pub(super) fn take_all(&self) -> bool {
        self.adk_results.is_some()
            || self.list().iter().any(|format| format.is_whole && format.path.is_some())
    }

    /// The page, if it is written to a file.
    pub(super) fn page(&self) -> Option<&Path> {
        self.html.as_deref().filter(|path| !is_printed(path))
    }

    /// Fails if several reports go to standard output, annotations of `github` among them, or if one would take the place of a file
    /// that is no report. This comes before anything runs.
    pub(in crate::commands) fn check(&self, github: bool) -> Result<(), CommandError> {
        let paths: Vec<&Path> = self.list().into_iter().filter_map(|format| format.path).collect();
        let (printed, files): (Vec<&Path>, Vec<&Path>) = paths.into_iter().partition(|path| is_printed(path));
        if printed.len() > 1 || github && !printed.is_empty() {
            let help = "name a file for each other report";
            let message = format!("only one report can go to standard output (`{STANDARD_OUTPUT}`)");
            return Err(CommandError::new(message, help));
        }
        for (at, path) in files.iter().enumerate() {
            check_report_path(path)?;
            if files[..at].iter().any(|other| place(other) == place(path)) {
                let message = format!(
                    "two reports go to `{}`, and the last one alone would stay",
                    one_line(&path.display().to_string())
                );
                return Err(CommandError::new(message, "name a file for each report"));
            }
        }
        Ok(())
    }

    /// Writes all files that can be written. `app` is the app of ADK's results.
    pub(in crate::commands) fn write(&self, results: &RunResults<'_>, app: Option<&str>) -> Written {
        self.came_to_write.set(true);
        let mut done = Written { printed: None, saved: Vec::new(), failed: None };
        let mut unwritten = Vec::new();
        for Format { path, render, .. } in self.list() {
            let Some(path) = path else { continue };
            let written = render(results).and_then(|text| {
                if !is_printed(path) {
                    return write(path, &text);
                }
                done.printed = Some(text);
                Ok(())
            });
            if let Err(error) = written {
                done.failed.get_or_insert(error);
                unwritten.push(path);
            }
        }
        done.failed = done.failed.map(|error| naming_earlier(error, unwritten));
        if let (Some(agents), Some(app)) = (&self.adk_results, app) {
            match format::save_adk_results(results, agents, app) {
                Ok(saved) => done.saved = saved,
                Err(error) => done.failed = done.failed.or(Some(error)),
            }
        }
        done
    }

    /// An error of a command. Before [`write`](Self::write), it names the files of an earlier run.
    pub(in crate::commands) fn before_writing(&self, error: CommandError) -> CommandError {
        let unwritten = self.list().into_iter().filter_map(|format| format.path);
        if self.came_to_write.get() { error } else { naming_earlier(error, unwritten) }
    }
}

/// The error, with the names of the unwritten files that exist: an earlier run wrote them, and they may be green.
fn naming_earlier<'p>(error: CommandError, unwritten: impl IntoIterator<Item = &'p Path>) -> CommandError {
    let is_of_a_run = |path: &&Path| !is_printed(path) && path.exists() && check_report_path(path).is_ok();
    let there = unwritten.into_iter().filter(is_of_a_run);
    let names: Vec<String> = there.map(|path| one_line(&path.display().to_string())).collect();
    if names.is_empty() {
        return error;
    }
    let (is, it) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    let (help, names) = (error.help, code_list(&names));
    let help = format!("{help}; {names} {is} of an earlier run: do not take {it} for this one");
    CommandError::new(error.message, help)
}

pub(in crate::commands) struct Written {
    pub(in crate::commands) printed: Option<String>,
    /// Files whose names this program chose.
    saved: Vec<PathBuf>,
    /// The error of the first report that was not written.
    pub(in crate::commands) failed: Option<CommandError>,
}

impl Written {
    /// The answer of a command. `human` makes its text for people.
    pub(in crate::commands) fn answer(
        self,
        results: &RunResults<'_>,
        format: OutputFormat,
        github: bool,
        human: impl FnOnce() -> String,
    ) -> Result<Answer, CommandError> {
        let line =
            |path: &PathBuf| format!("saved         {}\n", one_line(&near(path).display().to_string()));
        let text = match (self.printed, format) {
            (Some(printed), _) => printed,
            (None, OutputFormat::Human) => human() + &self.saved.iter().map(line).collect::<String>(),
            (None, OutputFormat::Json) => format::json(results)?,
        };
        let annotations = if github { format::github(results) } else { String::new() };
        let answer = Answer::new(results.totals.outcome(), text);
        Ok(Answer { annotations, failed: self.failed, ..answer })
    }
}

const STANDARD_OUTPUT: &str = "-";

/// Whether a report goes to standard output in place of a file.
pub(in crate::commands) fn is_printed(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

fn masked(text: String) -> String {
    match mask(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => masked,
    }
}
