use std::collections::HashSet;

use super::object::{Extra, Object, place, wrong_type};
use super::{EvalConfig, criteria, custom_metrics, foreign, user_simulator};
use crate::problem::{Code, JsonPath, Problem};
use crate::syntax::{Entry, Node};
use crate::{Problems, metric, syntax, text};

/// What a config file turned out to hold.
#[derive(Clone, Debug)]
pub struct CheckedConfig {
    /// The name of the file as it is shown.
    pub file: String,
    /// The text that the ranges of the problems point into.
    pub text: String,
    /// The config, unless a problem is an error.
    pub config: Option<EvalConfig>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<Problem>,
}

impl CheckedConfig {
    /// The config, or the problems that keep it from being used. Warnings of a usable config are dropped.
    pub fn into_result(self) -> Result<EvalConfig, Problems> {
        match self.config {
            Some(config) => Ok(config),
            None => Err(Problems { file: self.file, text: self.text, items: self.problems }),
        }
    }
}

/// Reads and checks a config file (`test_config.json`, `eval_config.json`).
///
/// ```
/// use eval_format::check_config;
///
/// let text = r#"{"criteria": {"brevity": 0.5}}"#;
/// assert!(check_config("test_config.json", text.as_bytes(), &["brevity"]).config.is_some());
///
/// let checked = check_config("test_config.json", text.as_bytes(), &[]);
/// assert_eq!(checked.problems[0].path.to_string(), "criteria.brevity");
/// ```
///
/// `answered` names the custom metrics that exist in Rust; such a name wins over a built-in one, as
/// in ADK. What ADK accepts is accepted, but for what would leave a case unchecked: no criteria,
/// unknown metrics and criterion keys, values that ADK rejects only when the metric runs, thresholds
/// that no score can decide, and what this version does not run.
pub fn check_config(file: &str, bytes: &[u8], answered: &[&str]) -> CheckedConfig {
    let (text, config, problems) = match text::decode(bytes) {
        Ok(text) => {
            let (config, problems) = check_text(text, answered);
            (text.to_owned(), config, problems)
        }
        Err((text, problem)) => (text, None, vec![*problem]),
    };
    CheckedConfig { file: file.to_owned(), text, config, problems }
}

fn check_text(text: &str, answered: &[&str]) -> (Option<EvalConfig>, Vec<Problem>) {
    let mut problems = Vec::new();
    let root = match syntax::parse(text, &mut problems) {
        Ok(root) => root,
        Err(problem) => return (None, vec![foreign::not_json(text).unwrap_or(*problem)]),
    };
    if let Some(problem) = foreign::recognise(&root) {
        return (None, vec![problem]);
    }
    let config = read_config(&root, answered, &mut problems);
    problems.sort_by_key(|problem| problem.range.start);
    let usable = !problems.iter().any(Problem::is_error);
    (config.filter(|_| usable), problems)
}

/// The names of custom metrics: those that exist in Rust and those that the config declares.
pub(super) struct CustomNames<'n> {
    pub(super) answered: &'n [&'n str],
    pub(super) declared: HashSet<&'n str>,
}

impl CustomNames<'_> {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.answered.contains(&name) || self.declared.contains(name)
    }
}

fn read_config(root: &Node<'_>, answered: &[&str], problems: &mut Vec<Problem>) -> Option<EvalConfig> {
    let mut object = Object::read(root, JsonPath::default(), "a config", Extra::Keep, problems)?;
    let criteria = object.field("criteria");
    let custom = object.field("custom_metrics");
    let simulator = object.field("user_simulator_config");
    let live = object.field("live_model_config");

    let declared = custom.and_then(|entry| entry.value.object()).unwrap_or_default();
    let names = CustomNames { answered, declared: declared.iter().map(|entry| entry.key.as_ref()).collect() };
    let mut config = EvalConfig::default();
    if let Some(entry) = custom {
        let used = criteria.and_then(|entry| entry.value.object()).unwrap_or_default();
        config.custom_metrics = custom_metrics::read(entry, used, answered, problems);
    }
    config.user_simulator_config = simulator.and_then(|entry| user_simulator::read(entry, problems));
    if let Some(entry) = live.filter(|entry| !entry.value.is_null()) {
        problems.push(live_mode(entry));
    }
    let explained = report_unknown(&object, &names, problems);
    match criteria {
        Some(entry) => config.criteria = criteria::read(entry, &names, problems),
        None if explained => {}
        None => problems.push(nothing_checked(JsonPath::default(), root, "this config has no `criteria`")),
    }
    Some(config)
}

/// Reports keys that ADK ignores. True if one of them explains why there are no `criteria`.
fn report_unknown(object: &Object<'_, '_>, names: &CustomNames<'_>, problems: &mut Vec<Problem>) -> bool {
    let mut explained = object.is_misspelt("criteria");
    for entry in object.finish(problems) {
        if metric(&entry.key).is_some() || names.contains(&entry.key) {
            explained = true;
            problems.push(outside_criteria(entry));
        } else if !entry.key.starts_with('_') {
            problems.push(ignored(entry));
        }
    }
    explained
}

fn outside_criteria(entry: &Entry<'_>) -> Problem {
    Problem::error(
        Code::UnknownKey,
        JsonPath::default().key(&entry.key),
        entry.key_range.clone(),
        format!("metric `{}` stands outside `criteria`", entry.key),
    )
    .label("ADK ignores it here")
    .help(format!(r#"put it into `criteria`: {{ "criteria": {{ "{}": .. }} }}"#, entry.key))
}

fn ignored(entry: &Entry<'_>) -> Problem {
    Problem::warning(
        Code::IgnoredKey,
        JsonPath::default().key(&entry.key),
        entry.key_range.clone(),
        format!("`{}` is not a key of a config", entry.key),
    )
    .label("ADK ignores it")
    .help(
        "the keys are `criteria`, `custom_metrics`, `user_simulator_config` and `live_model_config`; \
         a key for yourself begins with `_`",
    )
}

fn live_mode(entry: &Entry<'_>) -> Problem {
    Problem::error(
        Code::NotAvailable,
        JsonPath::default().key(&entry.key),
        entry.key_range.clone(),
        format!("live mode (`{}`) is not available in this version", entry.key),
    )
    .label("asks for a bidirectional audio session")
    .help("remove it to run the cases turn by turn in text")
}

/// Criteria that check nothing; what to write is ADK's default.
pub(super) fn nothing_checked(path: JsonPath, node: &Node<'_>, what: &str) -> Problem {
    Problem::error(
        Code::NothingChecked,
        path,
        place(node),
        format!("{what}, so every case would pass unchecked"),
    )
    .label("no metric decides")
    .help(r#"ADK's default: "criteria": { "tool_trajectory_avg_score": 1.0, "response_match_score": 0.8 }"#)
}

/// The problem of a value that is not an object from names to something.
pub(super) fn not_a_table(entry: &Entry<'_>, example: &str) -> Problem {
    let path = JsonPath::default().key(&entry.key);
    wrong_type(path, &entry.value, &format!("`{}`", entry.key), "an object")
        .help(format!("for example {example}"))
}
