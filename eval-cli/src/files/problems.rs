//! The problems of a file as a terminal shows them.

use std::path::Path;

use super::problem_json::FoundProblems;
use eval_format::compat::{Incompatibility, check_passable};
use eval_format::config::check_config;
use eval_format::conventions::{SHARED_CONFIG, shared_config_path};
use eval_format::problem::render;
use eval_format::{EvalCase, EvalConfig};
use eval_support::untrusted::{guard, one_line};
use eval_support::words::count;

use crate::output::style::{ERROR, WARNING, styled};
use crate::output::{CommandError, read};
use eval_support::shell;

/// How many problems of one file are shown. With more than these, it helps more to fix the first ones than to see the
/// rest.
const MOST_SHOWN: usize = 20;

/// The problems of one file as the compiler shows them, errors first, each followed by an empty line.
pub(crate) fn shown(file: &str, found: &FoundProblems) -> String {
    let FoundProblems { text, problems } = found;
    let (errors, warnings): (Vec<_>, Vec<_>) = problems.iter().partition(|problem| problem.is_error());
    let mut shown = String::new();
    for problem in errors.iter().chain(&warnings).take(MOST_SHOWN) {
        let level = if problem.is_error() { styled(ERROR, "error") } else { styled(WARNING, "warning") };
        shown.push_str(&format!("{level}: {}\n\n", guard(&render(problem, file, text))));
    }
    let hidden = problems.len().saturating_sub(MOST_SHOWN);
    if hidden > 0 {
        shown.push_str(&format!("... and {} in `{}`\n\n", count(hidden, "more problem"), one_line(file)));
    }
    shown
}

/// Reads a config. Its criteria may name these metrics of the user's own.
pub(crate) fn read_config(path: &Path, own: &[&str]) -> Result<EvalConfig, CommandError> {
    let shown = path.display().to_string();
    let checked = check_config(&shown, &read(path)?, own);
    let problems = checked.problems.len();
    checked.config.ok_or_else(|| {
        CommandError::new(
            format!("`{}` has {}", one_line(&shown), count(problems, "problem")),
            format!("`cargo evalset check {}` shows them", shell::word(&shown)),
        )
    })
}

/// The config beside a set; `None` if there is none, or if it has errors of its own: what the set is scored with is then
/// unknown.
pub(crate) fn config_beside(set: &Path, own: &[&str]) -> Option<EvalConfig> {
    check_config(SHARED_CONFIG, &read(&shared_config_path(set)).ok()?, own).config
}

/// The cases of a set that no agent can pass by the config beside it, or by ADK's default criteria if there is none.
pub(crate) fn unpassable(set: &Path, own: &[&str], cases: &[EvalCase]) -> Vec<Incompatibility> {
    let config = config_beside(set, own);
    if config.is_none() && shared_config_path(set).exists() {
        return Vec::new();
    }
    check_passable(config.as_ref(), own, cases)
}

#[cfg(test)]
mod tests {
    use eval_format::reader::check_set;

    use super::*;

    #[test]
    fn after_twenty_problems_the_rest_is_counted() {
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, vec!["1"; 25].join(","));
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        let shown = shown("s.evalset.json", &FoundProblems { text, problems: checked.problems });
        assert_eq!(shown.matches("--> s.evalset.json").count(), 20);
        assert!(shown.ends_with("... and 5 more problems in `s.evalset.json`\n\n"), "{shown}");
    }
}
