//! From compiled-in text to the parts of a run: the case, its criteria, its metrics and judges.

use std::fmt;

use eval_format::{EvalCase, EvalConfig, Meaning, Problems};
use eval_support::words::count;

use crate::case_runner::{CaseRunner, CaseRunnerError, SessionNames};
use crate::compiled::{ConfigSource, SetSource, Test};
use crate::judge::JudgeRouter;
use crate::metric::MakeMetric;

/// The reason why a test cannot run, although its files were checked at compile time.
#[derive(Debug)]
pub(super) enum Unprepared {
    /// The range of the case lies outside of its file.
    OutsideOfFile,
    /// The case cannot be read.
    Case(Problems),
    /// The config has problems: its name, and their number.
    Config(&'static str, usize),
    /// The criteria and the metrics do not fit together.
    Runner(CaseRunnerError),
}

impl fmt::Display for Unprepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideOfFile => f.write_str("the case lies outside its file"),
            Self::Case(problems) => problems.fmt(f),
            Self::Config(name, problems) => write!(f, "{name} has {}", count(*problems, "problem")),
            Self::Runner(error) => error.fmt(f),
        }
    }
}

/// The case of a test. It lives as long as the program, since the setup function may keep references into it.
pub(super) fn case(test: &Test) -> Result<&'static EvalCase, Unprepared> {
    let slice = test.case_text().ok_or(Unprepared::OutsideOfFile)?;
    let (form, eval_id) = (test.set.form, test.source.eval_id);
    let case = eval_format::__private::read_case(form, slice, eval_id, test.session_text());
    // One case per test is a small leak.
    Ok(Box::leak(Box::new(case.map_err(Unprepared::Case)?)))
}

/// The meaning of a case, as its set has it; empty if it cannot be read.
pub(super) fn meaning(test: &Test, case: Option<&EvalCase>) -> Meaning {
    // Later comparisons with the set do not know the session file.
    let alone = test.session_text().and_then(|_| {
        let (form, eval_id) = (test.set.form, test.source.eval_id);
        eval_format::__private::read_case(form, test.case_text()?, eval_id, None).ok()
    });
    alone.as_ref().or(case).map(Meaning::from_case).unwrap_or_default()
}

pub(super) fn case_runner(
    set: &SetSource,
    metrics: &[(&'static str, MakeMetric)],
    judges: JudgeRouter,
) -> Result<CaseRunner, Unprepared> {
    let config = config(set, metrics)?;
    let custom = metrics.iter().map(|(name, make)| ((*name).to_owned(), make())).collect();
    let names = SessionNames::default();
    CaseRunner::new(&config, custom, judges, set.options, names, None).map_err(Unprepared::Runner)
}

fn config(set: &SetSource, metrics: &[(&'static str, MakeMetric)]) -> Result<EvalConfig, Unprepared> {
    let (name, text) = match &set.config {
        ConfigSource::Default => return Ok(EvalConfig::adk_default()),
        ConfigSource::Inline(text) => ("criteria(..)", *text),
        ConfigSource::File(file) => (file.file, file.text),
    };
    let answered: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
    let checked = eval_format::config::check_config(name, text.as_bytes(), &answered);
    let problems = checked.problems.len();
    checked.config.ok_or(Unprepared::Config(name, problems))
}
