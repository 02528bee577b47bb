//! Problems that keep a run from passing, other than verdicts of its cases. Each format shows each of them as an error of
//! its own.

use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::Serialize;

use super::run::LoadedRun;
use super::totals::Totals;
use crate::journal::{Completeness, RecordedRun};

/// A problem of a run: a test or case that never began, an unreadable record, or a doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub package: Option<String>,
    pub binary: Option<String>,
    /// The name of the test or case; a count, if only that is known; else what is wrong, in a word.
    pub name: String,
    /// The reason, in a sentence without a period.
    pub message: String,
}

/// The name of a problem that is a doubt: the run may be another one than is meant.
pub const DOUBTFUL_RUN: &str = "(doubtful run)";

impl Problem {
    pub fn shown(&self) -> String {
        format!("{}: {}", one_line(&self.name), one_line(&self.message))
    }

    /// The last module of the test, in place of the id of its set, and the name of its case. For other
    /// problems, the test binary and the name.
    pub fn set_and_case(&self) -> (&str, &str) {
        let Some((module, case)) = self.name.rsplit_once("::") else {
            return (self.binary.as_deref().or(self.package.as_deref()).unwrap_or("evals"), &self.name);
        };
        (module.rsplit("::").next().unwrap_or(module), case)
    }
}

/// The problems of a run. `partial` says that tests were left out on purpose. A run in progress has none yet.
pub(super) fn problems(
    loaded: &LoadedRun,
    totals: &Totals,
    doubts: &[String],
    lacks: &Completeness,
    partial: bool,
) -> Vec<Problem> {
    if totals.is_running {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if !partial {
        for ((package, binary), names) in &lacks.never_began {
            problems.extend(names.iter().map(|name| Problem {
                package: package.clone(),
                binary: binary.clone(),
                name: name.clone(),
                message: "the test never began".to_owned(),
            }));
        }
    }
    let of_run =
        |name: &str, message| Problem { package: None, binary: None, name: name.to_owned(), message };
    let never_began = "the case was to run, and never began";
    problems.extend(lacks.of_programs.iter().map(|case| of_run(case, never_began.to_owned())));
    if totals.lost > 0 {
        let tests = count(totals.lost, "test");
        let message = format!("{tests} more began, and the record is incomplete");
        problems.push(of_run(&format!("({tests} more)"), message));
    }
    for line in &loaded.run.unreadable {
        let message = format!("{}:{} cannot be read: {}", line.file.display(), line.line, line.error);
        problems.push(of_run("(unreadable record)", message));
    }
    if totals.is_doubtful
        || totals.is_cut_short
        || totals.lacks_parts
        || totals.unlisted + totals.unended + totals.added > 0
    {
        problems.extend(doubts.iter().map(|doubt| of_run(DOUBTFUL_RUN, doubt.clone())));
    }
    if problems.is_empty()
        && totals.passed + totals.failed == 0
        && totals.errors + totals.not_evaluated + totals.unfinished == 0
    {
        problems.push(of_run("(no verdict)", totals.reason()));
    }
    problems
}

/// A sentence for each gap in the journals: incomplete and unreadable lines.
pub fn gaps(run: &RecordedRun) -> Vec<String> {
    let mut notes = Vec::new();
    if run.torn > 0 {
        let lines = count(run.torn, "incomplete line");
        notes.push(format!("{lines}: a process was killed, or its disk was full, while it wrote"));
    }
    for line in run.unreadable.iter().take(MAX_UNREADABLE_LINES) {
        let location = one_line(&format!("{}:{}", line.file.display(), line.line));
        notes.push(format!("{location} cannot be read: {}", one_line(&line.error.to_string())));
    }
    let more = run.unreadable.len().saturating_sub(MAX_UNREADABLE_LINES);
    if more > 0 {
        notes.push(format!("{} of the journal cannot be read", count(more, "more line")));
    }
    notes
}

/// The most unreadable lines that are listed. They are alike, so a few of them show what is wrong.
const MAX_UNREADABLE_LINES: usize = 3;
