//! The text of a failing test, of a passing one, and of one that could not begin.

use std::time::Duration;

use eval_format::Direction;
use eval_support::message::{MissingCall, cut};
use eval_support::secrets::mask;
use eval_support::shell;
use eval_support::untrusted::{self, below_headline, guard, marked, name as named, quoted};
use eval_support::variables::{NEXTEST_BINARY_ID, PRINT};
use eval_support::words::count;

use super::lines::{MAX_HEADLINE_CHARS, line};
use super::{hints, lines, table, turns};
use crate::compiled::Test;
use crate::decide::forbidden;
use crate::journal::Journal;
use crate::judge_outcome::asks_for_a_recording;
use crate::model_use::missing_call;
use crate::report::{CaseReport, Location, MetricOutcome, RunReport, short};
use crate::stale::{Freshness, has_its_set};
use crate::verdict::Verdict;

/// The metrics that were skipped because no judge could be asked; `None` if there are none.
pub(crate) fn skipped(name: &str, report: &CaseReport) -> Option<String> {
    let scored = || report.runs.iter().flat_map(|run| &run.metrics);
    let reason = scored().find_map(|metric| match &metric.outcome {
        MetricOutcome::Unjudged(reason) => Some(reason),
        _ => None,
    })?;
    let mut metrics: Vec<&str> = scored()
        .filter(|metric| matches!(metric.outcome, MetricOutcome::Unjudged(_)) && metric.criterion.is_some())
        .map(|metric| metric.name.as_str())
        .collect();
    // Several runs may have skipped the same metric.
    metrics.sort_unstable();
    metrics.dedup();
    let what = match report.verdict {
        Verdict::Skipped(_) => "skipped",
        _ => "partly skipped",
    };
    Some(format!("{name}: {what}: no judge for {}: {reason}", metrics.join(", ")))
}

/// The first line: which test, and what is wrong with it.
pub(crate) fn headline(name: &str, report: &CaseReport) -> String {
    format!("Error: {}: {}", named(name), reason(report))
}

pub(crate) fn reason(report: &CaseReport) -> String {
    match &report.verdict {
        Verdict::Failed => failed(report),
        Verdict::Error { message, .. } => one_line(message),
        Verdict::NotEvaluated(reason) => one_line(reason),
        other => other.to_string(),
    }
}

/// The part that fits into a headline. `JUnit` files and lists of failures show one line.
fn one_line(text: &str) -> String {
    named(&cut(&untrusted::headline(text), MAX_HEADLINE_CHARS)).into_owned()
}

fn failed(report: &CaseReport) -> String {
    let failure =
        |run: &'_ RunReport| Some((run.number, run.error.clone().filter(|error| error.is_failure)?));
    if let Some((number, error)) = report.runs.iter().find_map(failure) {
        let of = if report.run_count() > 1 { format!("run {number}: ") } else { String::new() };
        return one_line(&format!("{of}{error}"));
    }
    let mut failed = report.metrics.iter().filter(|metric| metric.verdict == Verdict::Failed);
    let Some(first) = failed.next() else {
        let runs = count(report.run_count(), "run");
        return match report.passed_runs {
            Some(passed) => format!("{passed} of {runs} passed every metric, too few"),
            None => report.verdict.to_string(),
        };
    };
    if let Some(forbidden) = forbidden(first.criterion.as_ref(), &report.repeated) {
        return forbidden;
    }
    let score = first.score.map_or_else(|| "-".to_owned(), |score| short(score, first.bound()));
    let name = named(&first.name);
    let what = match (first.bound(), first.passed_runs) {
        (None, _) => format!("{name} {}", first.verdict),
        (Some(bound), Some(passed)) => {
            let runs = count(report.run_count(), "run");
            let in_runs = match passed {
                0 => format!("none of {runs}"),
                passed => format!("{passed} of {runs} only"),
            };
            format!("{name} {} {bound} in {in_runs}", bound.reached())
        }
        (Some(bound), None) if first.score.is_some_and(|score| bound.is_met(score)) => {
            format!("{name} is {score}, but a turn is {} {:?}", bound.missed(), bound.threshold)
        }
        (Some(bound), None) => match bound.direction {
            Direction::AtLeast => format!("{name} is {score}, below {bound}"),
            Direction::AtMost => format!("{name} is {score}, {bound}"),
        },
    };
    match failed.count() {
        0 => what,
        more => format!("{what} (and {})", count(more, "more metric")),
    }
}

/// A report without the commands that only a generated test has.
pub(crate) fn describe(report: &CaseReport) -> String {
    let name = report.eval_id();
    let mut out = if report.verdict.fails() {
        headline(name, report)
    } else {
        format!("{}: {}", named(name), report.verdict)
    };
    body(&mut out, report, Print::Failures, None);
    guard(&out).into_owned()
}

/// The headline and the whole text of a case that failed in a program; `None` if it does not fail.
pub fn texts(report: &CaseReport) -> Option<(String, String)> {
    report.verdict.fails().then(|| (reason(report), describe(report)))
}

/// The setting under which a command records what another run would lack, too.
fn how_to_record(verdict: &Verdict) -> Option<&'static str> {
    let of_judge = || asks_for_a_recording(verdict).then_some("EVALSET_JUDGE=record");
    missing_call(verdict).map(MissingCall::setting).or_else(of_judge)
}

pub(crate) fn failing(
    test: &Test,
    report: &CaseReport,
    print: Print,
    freshness: &Freshness,
    journal: Option<&Journal>,
) -> String {
    let mut out = headline(&test.path(), report);
    body(&mut out, report, print, Some(test.set.options.timeout));
    match freshness {
        Freshness::Fresh => {}
        Freshness::Stale(how) => {
            line(&mut out, &format!("note: {how}; this test still holds the old one, build again"));
        }
        Freshness::Absent => {
            line(
                &mut out,
                "note: the JSON is not on this machine, so it was not compared with the one compiled in",
            );
        }
    }
    warnings(&mut out, test);
    let again = rerun_command(test);
    match how_to_record(&report.verdict) {
        Some(setting) => {
            let record = format!("{setting} {again}");
            // The error has the command too, among the marked lines.
            for indent in ["  ", "    "] {
                out = out.replace(&format!("\n{indent}| record it  {record}"), "");
            }
            line(&mut out, &format!("\nrecord it     {record}"));
        }
        None => line(&mut out, &format!("\nrun again     {again}")),
    }
    line(&mut out, &format!("              {NOT_KNOWN}"));
    match journal {
        Some(journal) => {
            if matches!(freshness, Freshness::Fresh) && hints::may_be_out_of_date(report) {
                // Several sets may have one id.
                let case = shell::word(&format!("{}:{}", test.set.shown, report.case.eval_id));
                line(&mut out, &format!("review        cargo evalset review {case} --run {}", journal.run));
            }
            line(&mut out, &format!("whole record  cargo evalset report {}", journal.run));
            line(&mut out, &format!("              {}", journal.path.display()));
        }
        None => line(&mut out, &format!("whole record  EVALSET_PRINT=record {again}")),
    }
    out
}

/// The output of a failing test, without the notes and commands that only a generated test has.
impl std::fmt::Display for CaseReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&mask(&describe(self)))
    }
}

/// The table of a passing test, for `EVALSET_PRINT=all`.
pub(crate) fn passing(test: &Test, report: &CaseReport, print: Print) -> String {
    let mut out = format!("{}: {}", test.path(), report.verdict);
    body(&mut out, report, print, None);
    out
}

/// The text of a test whose files changed after it was built.
///
/// `touch` makes cargo build again. It is left out for a set that was removed, since it would create an empty file.
pub(crate) fn stale(test: &Test, how: &str) -> String {
    let shown = test.set.shown;
    let touch =
        if has_its_set(test.set) { format!("touch {} && ", shell::word(shown)) } else { String::new() };
    format!(
        "Error: {}: stale: {how}\n  --> {shown}\nCargo goes by modification times, so a file that was swapped for an \
         older one, or that is new, does not rebuild.\n\nbuild again  {touch}{}\n             {NOT_KNOWN}",
        test.path(),
        rerun_command(test)
    )
}

pub(crate) fn harness(test: &Test, message: &str) -> String {
    format!(
        "Error: {}: harness error: {message}\n\nrun again  {}\n           {NOT_KNOWN}",
        test.path(),
        rerun_command(test)
    )
}

/// `timeout` is the limit that the attribute of a test has.
fn body(out: &mut String, report: &CaseReport, print: Print, timeout: Option<Duration>) {
    let mut case = format!("case `{}`", named(&report.case.eval_id));
    if let Some(eval_set_id) = &report.eval_set_id {
        case.push_str(&format!(" of set `{}`", named(eval_set_id)));
    }
    match &report.location {
        Some(Location { file, line: at, column }) => {
            line(out, &format!("  --> {}:{at}:{column}  {case}", named(file)));
        }
        None => line(out, &format!("  --> {case}")),
    }
    let measured = report.metrics.iter().any(|metric| metric.score.is_some());
    if measured || !matches!(report.verdict, Verdict::Error { .. }) {
        out.push('\n');
        table::write(out, report);
    }
    for note in &report.notes {
        line(out, &format!("note: {}", quoted(note, 6)));
    }
    for metric in &report.metrics {
        for note in &metric.notes {
            line(out, &format!("note: {}: {}", named(&metric.name), quoted(note, 6)));
        }
    }
    if report.verdict.fails() {
        broken_metrics(out, report);
        turns::write(out, report);
        for (at, hint) in hints::of(report, timeout).iter().enumerate() {
            line(out, &format!("{}hint: {hint}", if at == 0 { "\n" } else { "" }));
        }
    }
    if print != Print::Failures && !report.verdict.fails() {
        turns::loosened(out, report);
    }
    if print == Print::Record {
        lines::write(out, report);
    }
}

/// The lines of metrics' errors that do not fit into the headline, which has one error. An error that several metrics share
/// is printed once.
fn broken_metrics(out: &mut String, report: &CaseReport) {
    let headline = report.verdict.reason().and_then(|reason| reason.lines().next());
    let mut said: Vec<&str> = Vec::new();
    for metric in report.runs.iter().flat_map(|run| &run.metrics) {
        let MetricOutcome::Error { message, .. } = &metric.outcome else { continue };
        if said.len() < MAX_SHOWN_ERRORS && !said.contains(&message.as_str()) {
            said.push(message);
            let first = format!("{}: {}", metric.name, message.lines().next().unwrap_or_default());
            // Another metric may have an error with the same first line.
            let is_headline = headline == Some(&*first);
            let rest = if is_headline {
                below_headline(message).to_owned()
            } else {
                format!("{}: {message}", metric.name)
            };
            if !rest.is_empty() {
                line(out, &format!("\n  {}", marked(&rest, 2)));
            }
        }
    }
}

const MAX_SHOWN_ERRORS: usize = 3;

/// Warnings about the case: likely mistakes that ADK accepts. The rest of the file is not read, so that a failing test
/// of a large set costs no more than its case.
fn warnings(out: &mut String, test: &Test) {
    let Test { set, source, .. } = test;
    let Some(slice) = test.case_text() else { return };
    let session = test.session_text();
    let Ok((_, warnings)) = eval_format::__private::check_case(set.form, slice, source.eval_id, session)
    else {
        return;
    };
    for problem in warnings.iter().take(3) {
        let (below, column) = eval_format::problem::line_column(slice, problem.range.start);
        let (at, column) = match below {
            1 => (source.line as usize, source.column as usize + column - 1),
            below => (source.line as usize + below - 1, column),
        };
        line(out, &format!("warning: {} ({}:{at}:{column})", problem.message, set.shown));
    }
    if warnings.len() > 3 {
        line(out, &format!("warning: {} more in {}", warnings.len() - 3, test.set.shown));
    }
}

/// The amount of output: `EVALSET_PRINT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Print {
    /// Failures only (the default).
    Failures,
    /// The table of passing cases too.
    All,
    /// Tables and every recorded event, as JSON.
    Record,
}

impl Print {
    /// Reads `EVALSET_PRINT`. An unknown value is an error, so that a typo does not go unnoticed.
    pub(crate) fn from_env() -> Result<Self, String> {
        match std::env::var(PRINT).as_deref() {
            Err(_) | Ok("" | "failures") => Ok(Self::Failures),
            Ok("all") => Ok(Self::All),
            Ok("record") => Ok(Self::Record),
            Ok(other) => Err(format!(
                "`EVALSET_PRINT` is `{other}`; it can be `failures` (the default), `all` (the table of passing cases \
                 too) or `record` (every event)"
            )),
        }
    }
}

/// The note on options that the command lacks: no variable tells a test how it was built.
pub(crate) const NOT_KNOWN: &str = "with the --features and the --profile of this run, if it had any";

/// The command that runs this test alone, with the runner that runs it now.
pub(crate) fn rerun_command(test: &Test) -> String {
    let set = test.set;
    let takes_ignored = std::env::args_os().any(|arg| arg == "--ignored" || arg == "--include-ignored");
    let is_nextest = std::env::var_os("NEXTEST").is_some();
    // `app::evals`, and `app` for the library of the package `app`.
    let id = std::env::var(NEXTEST_BINARY_ID).ok().filter(|_| is_nextest);
    let id = id.as_deref().and_then(|id| id.strip_prefix(set.package));
    let id = id.and_then(|id| if id.is_empty() { Some(id) } else { id.strip_prefix("::") });
    let target = set.target.option(id, std::env::current_exe().ok().as_deref());
    command(set.package, target.as_deref(), &test.path(), is_nextest, takes_ignored)
}

/// If ignored tests were asked for, the command asks for them again: without that it would run no test, and pass.
fn command(package: &str, target: Option<&str>, path: &str, is_nextest: bool, takes_ignored: bool) -> String {
    let which = target.map_or(format!("-p {package}"), |target| format!("-p {package} {target}"));
    match (is_nextest, takes_ignored) {
        (true, false) => format!("cargo nextest run {which} -E 'test(={path})'"),
        (true, true) => format!("cargo nextest run {which} --run-ignored all -E 'test(={path})'"),
        (false, false) => format!("cargo test {which} {path} -- --exact"),
        (false, true) => format!("cargo test {which} {path} -- --exact --include-ignored"),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod rerun_tests {
    use super::*;

    #[test]
    fn a_test_is_run_again_in_its_target_and_an_ignored_one_as_such() {
        for (target, is_nextest, takes_ignored, expected) in [
            (None, false, false, "cargo test -p app a::x -- --exact"),
            (Some("--test evals"), false, false, "cargo test -p app --test evals a::x -- --exact"),
            (Some("--lib"), false, true, "cargo test -p app --lib a::x -- --exact --include-ignored"),
            (Some("--test evals"), true, false, "cargo nextest run -p app --test evals -E 'test(=a::x)'"),
            (Some("--lib"), true, true, "cargo nextest run -p app --lib --run-ignored all -E 'test(=a::x)'"),
        ] {
            assert_eq!(command("app", target, "a::x", is_nextest, takes_ignored), expected);
        }
    }
}
