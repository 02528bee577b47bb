//! Programs that compute custom metrics: the keys `command` and `timeout` of an entry of `custom_metrics`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_support::shell;

use crate::coerce;
use crate::metric::Bound;
use crate::options::SECONDS_OF_A_DAY;
use crate::problem::{Problem, ProblemCode};
use crate::schema::{CUSTOM_METRIC, Place, opening};
use crate::syntax::Entry;
use crate::value::Value;

/// A program that computes a custom metric, as a config names it.
///
/// ```
/// use eval_format::EvalConfig;
///
/// let text = r#"{"criteria": {"brevity": 0.5}, "custom_metrics": {"brevity": {"command": ["metrics/brevity.py"]}}}"#;
/// let config = EvalConfig::parse(text)?;
/// assert_eq!(config.metric_command("brevity").unwrap().to_string(), "metrics/brevity.py");
/// # Ok::<(), eval_format::Problems>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricCommand {
    /// The program and its arguments; never empty.
    pub words: Vec<String>,
    /// The time limit for a run of a case; `None` for the limit of custom metrics.
    pub timeout: Option<Duration>,
    /// The folder in which it runs, which is the folder of the config; `None` for the folder of this process.
    pub folder: Option<PathBuf>,
}

/// The command as a shell takes it.
impl fmt::Display for MetricCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell::line(&self.words))
    }
}

impl MetricCommand {
    /// The sentence about a criterion of a program's metric that every score meets; `None` if a score misses it.
    pub(super) fn checks_nothing(name: &str, bound: Bound) -> Option<String> {
        bound.is_free(0.0, Some(1.0)).then(|| bound.checks_nothing(name))
    }

    /// The program of an entry of `custom_metrics`; `None` if it has none.
    pub(super) fn from_entry(entry: &Value, folder: Option<&Path>) -> Option<Self> {
        let entry = entry.as_object()?;
        let words = entry.get("command")?.as_array()?.iter();
        let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
        let timeout = entry.get("timeout").and_then(Value::as_f64);
        (!words.is_empty()).then(|| Self {
            words,
            timeout: timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            folder: folder.map(Path::to_owned),
        })
    }
}

/// Checks the values of the keys of an entry. Their types are checked before.
pub(super) fn check(keys: &[Entry<'_>], place: &Place<'_>, problems: &mut Vec<Problem>) {
    let command = CUSTOM_METRIC.entry(keys, "command");
    if let Some(entry) = command
        && let Some(words) = entry.value.array()
        && words.iter().all(|word| word.string().is_some())
    {
        let place = &Place::Key(place, &entry.key);
        let first = words.first().and_then(|word| word.string()).unwrap_or_default();
        let why = if first.trim().is_empty() {
            Some("`command` names no program")
        } else if words.iter().any(|word| word.string().is_some_and(|word| word.contains('\0'))) {
            Some("`command` has a word with a zero byte, which no program can get")
        } else {
            None
        };
        problems.extend(why.map(|why| {
            place
                .error(ProblemCode::WrongType, opening(&entry.value), why.to_owned())
                .label("expected a program and its arguments")
                .help("write `[\"metrics/brevity.py\"]` or `[\"node\", \"metrics/brevity.js\"]`")
        }));
    }
    let Some(timeout) = CUSTOM_METRIC.entry(keys, "timeout") else { return };
    let place = &Place::Key(place, &timeout.key);
    if let Some(seconds) = coerce::float(&timeout.value)
        && !(seconds > 0.0 && seconds <= SECONDS_OF_A_DAY)
    {
        let message = format!("`timeout` must be more than 0 and at most {SECONDS_OF_A_DAY} seconds");
        problems.push(
            place
                .error(ProblemCode::WrongType, timeout.value.range.clone(), message)
                .label("no such time limit")
                .help("write the seconds that the program has for a run of a case, such as `30`"),
        );
    }
    if command.is_none() {
        problems.push(
            place
                .warning_at_key(
                    ProblemCode::IgnoredKey,
                    timeout,
                    "`timeout` has no effect without `command`".to_owned(),
                )
                .label("no program is started")
                .help("remove it"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{EvalConfig, check_config};

    #[test]
    fn a_threshold_that_every_score_of_a_program_meets_is_an_error_at_its_place() {
        for (criterion, says) in [
            ("0.0", "no score of `b` is below its threshold 0.0, so it would check nothing"),
            ("-0.5", "no score of `b` is below its threshold -0.5"),
            (r#"{"threshold": 1, "direction": "at_most"}"#, "no score of `b` is above its threshold 1.0"),
            ("0.1", ""),
            (r#"{"threshold": 0, "direction": "at_most"}"#, ""),
        ] {
            let text = format!(
                r#"{{"criteria": {{"b": {criterion}}}, "custom_metrics": {{"b": {{"command": ["b.py"]}}}}}}"#
            );
            let problems = |answered: &[&str]| check_config("c.json", text.as_bytes(), answered).problems;
            let errors = problems(&[]);
            assert_eq!(errors.len(), usize::from(!says.is_empty()), "{criterion}: {errors:?}");
            for problem in errors {
                assert!(problem.is_error() && problem.message.contains(says), "{problem:?}");
                assert_eq!(&text[problem.range], criterion);
            }
            // The scores of a function in Rust have any range.
            assert!(problems(&["b"]).iter().all(|problem| !problem.is_error()), "{criterion}");
        }
    }

    fn found(entry: &str) -> Vec<String> {
        let text = format!(r#"{{"criteria": {{"b": 0.5}}, "custom_metrics": {{"b": {entry}}}}}"#);
        let problems = check_config("test_config.json", text.as_bytes(), &[]).problems;
        let shown = |problem: &Problem| {
            let text = format!("{} {}", problem.code, problem.path);
            if problem.is_error() { text } else { format!("[{text}]") }
        };
        problems.iter().map(shown).collect()
    }

    #[test]
    fn a_command_is_a_list_of_words_and_its_time_limit_is_a_number_of_seconds() {
        let at = "custom_metrics.b";
        for (entry, expected) in [
            (r#"{"command": ["b.py"]}"#, vec![]),
            (r#"{"command": ["b.py", ""], "timeout": 0.5, "description": "d"}"#, vec![]),
            (r#"{"command": ["b.py"], "code_config": {"name": "m.b"}, "timeout": 86400}"#, vec![]),
            (r#"{"command": []}"#, vec![format!("wrong-type {at}.command")]),
            (r#"{"command": [" "]}"#, vec![format!("wrong-type {at}.command")]),
            (r#"{"command": ["b", "\u0000"]}"#, vec![format!("wrong-type {at}.command")]),
            (r#"{"command": ["b", 1]}"#, vec![format!("wrong-type {at}.command[1]")]),
            (r#"{"command": "b.py"}"#, vec![format!("wrong-type {at}.command")]),
            (r#"{"command": null}"#, vec![format!("wrong-type {at}.command")]),
            (r#"{"comand": ["b.py"]}"#, vec![format!("misspelt-key {at}.comand")]),
            (r#"{"command": ["b"], "timeout": 0}"#, vec![format!("wrong-type {at}.timeout")]),
            (r#"{"command": ["b"], "timeout": -1}"#, vec![format!("wrong-type {at}.timeout")]),
            (r#"{"command": ["b"], "timeout": 86401}"#, vec![format!("wrong-type {at}.timeout")]),
            (r#"{"command": ["b"], "timeout": NaN}"#, vec![format!("wrong-type {at}.timeout")]),
            (r#"{"command": ["b"], "timeout": "soon"}"#, vec![format!("wrong-type {at}.timeout")]),
            ("{}", vec![format!("missing-key {at}")]),
            (
                r#"{"code_config": {"name": "m.b"}, "timeout": 3}"#,
                vec![format!("unanswered-custom-metric {at}"), format!("[ignored-key {at}.timeout]")],
            ),
        ] {
            assert_eq!(found(entry), expected, "{entry}");
        }
    }

    #[test]
    fn a_program_runs_in_the_folder_of_its_config_and_keeps_it_when_the_config_is_checked() {
        let text = r#"{"criteria": {"b": 0.5, "response_match_score": 1},
            "custom_metrics": {"b": {"command": ["b.py", "a b"], "timeout": 1.5}, "unused": {"command": ["c"]}}}"#;
        let config = EvalConfig::parse(text).unwrap();
        let command = config.metric_command("b").unwrap();
        assert_eq!((command.to_string().as_str(), &command.folder), ("b.py 'a b'", &None));
        assert_eq!(command.timeout, Some(Duration::from_millis(1500)));
        let config = config.in_folder_of("evals/test_config.json").checked(&[]).unwrap();
        let commands: Vec<_> = config.metric_commands().collect();
        assert_eq!(commands.len(), 1, "a metric without a criterion starts nothing");
        assert_eq!(commands[0].1.folder.as_deref(), Some(Path::new("evals")));
        assert_eq!(config.in_folder_of("test_config.json").folder, None);
    }

    #[test]
    fn a_program_is_not_started_if_its_metric_exists_in_rust() {
        let text = r#"{"criteria": {"b": 0.5}, "custom_metrics": {"b": {"command": ["b.py"]}}}"#;
        let checked = check_config("c.json", text.as_bytes(), &["b"]);
        assert_eq!(
            checked.problems[0].message,
            "custom metric `b` exists in Rust, so its program is not started"
        );
        assert!(checked.config.is_some());
    }
}
