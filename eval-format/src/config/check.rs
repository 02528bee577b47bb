//! Reading and checking config files.

use std::ops::Range;
use std::path::Path;

use eval_support::file::read_file;
use eval_support::spelling::is_misspelling;

use super::custom_metrics::{self, CustomNames};
use super::eval_config::EvalConfig;
use super::messages::nothing_checked;
use super::{criteria, foreign, user_simulator};
use crate::error::ReadError;
use crate::metric::metric;
use crate::problem::{JsonPath, PathSegment, Problem, ProblemCode, Problems, shown};
use crate::schema::{EVAL_CONFIG, Place, Walker};
use crate::syntax::{Entry, Node};
use crate::text;

/// A checked config file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedConfig {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The text that the ranges of the problems point into.
    pub text: String,
    /// The config, unless a problem is an error.
    pub config: Option<EvalConfig>,
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
}

impl CheckedConfig {
    /// The config, or its problems if one of them is an error. The warnings of a usable config are dropped.
    pub fn into_result(self) -> Result<EvalConfig, Problems> {
        self.config.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }
}

impl EvalConfig {
    /// Reads a config without custom metrics in Rust. [`check_config`] takes the names of such metrics.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        check_config("<config>", text.as_bytes(), &[]).into_result()
    }

    /// Reads a config file; see [`parse`](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        let config = check_config(&path.display().to_string(), &bytes, &[]).into_result()?;
        Ok(config.in_folder_of(path))
    }

    /// Checks a config that was built in Rust by the rules of a file, and returns it as if read from one.
    ///
    /// `answered` names the custom metrics that exist in Rust.
    pub fn checked(&self, answered: &[&str]) -> Result<Self, Problems> {
        let config = check_config("<config>", self.to_json().as_bytes(), answered).into_result()?;
        Ok(Self { folder: self.folder.clone(), left_out: self.left_out.clone(), ..config })
    }
}

/// Reads and checks a config file (`test_config.json`, `eval_config.json`).
///
/// ```
/// use eval_format::config::check_config;
///
/// let text = r#"{"criteria": {"brevity": 0.5}}"#;
/// assert!(check_config("test_config.json", text.as_bytes(), &["brevity"]).config.is_some());
///
/// let checked = check_config("test_config.json", text.as_bytes(), &[]);
/// assert_eq!(checked.problems[0].path.to_string(), "criteria.brevity");
/// ```
///
/// `answered` names the custom metrics that exist in Rust. It need not name metrics that a program computes (`command`).
/// A custom metric of either kind takes the place of a built-in one of the same name, as in ADK.
///
/// These configs are refused although ADK accepts them: no criteria, unknown metrics and criterion keys,
/// values that ADK rejects only when the metric runs, thresholds that are infinite or not a number, and
/// features that this version does not run. A threshold that no score reaches fails every case, as in ADK.
pub fn check_config(file: &str, bytes: &[u8], answered: &[&str]) -> CheckedConfig {
    let (text, config, problems) = text::read(bytes, foreign::not_json, |root, problems| {
        if let Some(problem) = foreign::recognise(root) {
            *problems = vec![problem];
            return None;
        }
        read_config(root, answered, problems)
    });
    CheckedConfig { file: file.to_owned(), text, config, problems }
}

fn read_config(root: &Node<'_>, answered: &[&str], problems: &mut Vec<Problem>) -> Option<EvalConfig> {
    let mut record = Walker { problems }.record(root, &EVAL_CONFIG, &Place::Root)?;
    let entries = root.object()?;
    let field = |name| EVAL_CONFIG.entry(entries, name);

    let declared = field("custom_metrics").and_then(|entry| entry.value.object()).unwrap_or_default();
    let names = CustomNames { answered, declared: declared.iter().map(|entry| entry.key.as_ref()).collect() };
    let explained = refuse_strays(&names, problems);
    let criteria = field("criteria").map(|entry| criteria::read(entry, &names, problems));
    if criteria.is_none() && !explained {
        problems.push(nothing_checked(&Place::Root, root, "this config has no `criteria`"));
    }
    if let Some(entry) = field("custom_metrics") {
        let used = field("criteria").and_then(|entry| entry.value.object()).unwrap_or_default();
        custom_metrics::check(entry, used, criteria.as_deref().unwrap_or_default(), answered, problems);
    }
    problems.extend(field("live_model_config").filter(|entry| !entry.value.is_null()).map(live_mode));
    Some(EvalConfig {
        criteria: criteria.unwrap_or_default(),
        custom_metrics: record.take("custom_metrics").unwrap_or_default(),
        user_simulator_config: field("user_simulator_config")
            .and_then(|entry| user_simulator::read(entry, problems)),
        folder: None,
        left_out: Vec::new(),
    })
}

/// Turns the warning about an ignored key into an error if the key is the name of a metric. Returns whether a key
/// explains why there are no `criteria`.
fn refuse_strays(names: &CustomNames<'_>, problems: &mut [Problem]) -> bool {
    let mut explained = false;
    for problem in problems {
        let [PathSegment::Key(key)] = problem.path.steps() else { continue };
        match problem.code {
            ProblemCode::IgnoredKey if metric(key).is_some() || names.contains(key) => {
                *problem = outside_criteria(key, problem.range.clone());
                explained = true;
            }
            ProblemCode::MisspeltKey => explained |= is_misspelling(key, "criteria"),
            _ => {}
        }
    }
    explained
}

fn outside_criteria(key: &str, range: Range<usize>) -> Problem {
    let path = JsonPath::default().key(key);
    let key = shown(key);
    Problem::error(ProblemCode::UnknownKey, path, range, format!("metric `{key}` is outside `criteria`"))
        .label("ADK ignores it here")
        .help(format!(r#"write `{{"criteria": {{"{key}": ...}}}}`"#))
}

fn live_mode(entry: &Entry<'_>) -> Problem {
    Problem::error(
        ProblemCode::NotAvailable,
        JsonPath::default().key(&entry.key),
        entry.key_range.clone(),
        format!("live mode (`{}`) is not available in this version", entry.key),
    )
    .label("asks for a bidirectional audio session")
    .help("remove it to run the cases turn by turn in text")
}
