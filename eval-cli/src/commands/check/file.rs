//! One checked file: its kind, its problems, and its rewriting.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path};

use eval_format::compat::{
    Incompatibility, NotCompared, OverlookedConfig, check_compatibility, check_needless, check_tools,
};
use eval_format::config::{MetricCommand, check_config};
use eval_format::conventions::{FileKind, set_names_of_session, shared_config_path};
use eval_format::expect::Loosened;
use eval_format::reader::{CheckedSet, SetFormat, check_session, check_set};
use eval_format::recording::check_recording;
use eval_format::tools::check_declarations;
use eval_format::{EvalCase, EvalConfig, Problem, ToolSource, TurnAggregation};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::fix::{self, Fix, FixState};
use super::models;
use crate::files::{
    FoundProblems, Input, config_beside, counts_not_compared, is_config, read, replace, unpassable, unwritten,
};
use crate::output::CommandError;

#[derive(Debug, Default, Serialize)]
pub(super) struct CheckedFile {
    /// Its path, as messages show it.
    #[serde(rename = "file")]
    pub(super) shown: String,
    pub(super) kind: &'static str,
    /// The form of a set, after it was fixed.
    pub(super) form: Option<&'static str>,
    pub(super) cases: usize,
    pub(super) drafts: usize,
    /// The expectations of a set that no metric of its config reads.
    #[serde(serialize_with = "counts_not_compared")]
    pub(super) not_compared: NotCompared,
    /// The points of golden values that may vary.
    #[serde(serialize_with = "counts_loosened", skip_serializing_if = "Loosened::is_empty")]
    pub(super) loosened: Loosened,
    /// The number of cases that change criteria of the config.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) own_criteria: usize,
    /// The programs that a config runs, by the metrics that they compute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) programs: Vec<MetricProgram>,
    pub(super) fix: Option<Fix>,
    #[serde(rename = "problems")]
    pub(super) found: FoundProblems,
    /// The error that kept it from being read, or a fix from being written.
    #[serde(skip)]
    pub(super) error: Option<CommandError>,
}

/// A program that a config runs to compute a metric.
#[derive(Debug, Serialize)]
pub(super) struct MetricProgram {
    pub(super) metric: String,
    /// The program and its arguments, as a shell takes them.
    pub(super) command: String,
}

/// The use of sets, as far as no file says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used<'a> {
    /// The names of metrics of the user's own.
    pub(super) metrics: &'a [&'a str],
    /// The source of answers to the agent's calls; `None` if that is not checked.
    pub(super) tools: Option<ToolSource>,
}

impl CheckedFile {
    /// Reads and checks a file. Rewrites it if `write` is true and it can be fixed.
    pub(super) fn check(input: &Input, used: Used<'_>, write: bool) -> Self {
        let metrics = used.metrics;
        let shown = input.shown();
        let bytes = match read(&input.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let kind = input.kind.unwrap_or(FileKind::Set);
                return Self { error: Some(error), ..Self::empty(shown, kind) };
            }
        };
        let mut file = match input.kind {
            Some(FileKind::Config) => Self::config(shown, &bytes, metrics),
            Some(FileKind::Recording) => {
                let checked = check_recording(&shown, &bytes);
                Self::other(shown, FileKind::Recording, checked.text, checked.problems)
            }
            Some(FileKind::ToolList) => {
                let checked = check_declarations(&shown, &bytes);
                Self::other(shown, FileKind::ToolList, checked.text, checked.problems)
            }
            Some(FileKind::Session) => {
                let checked = check_session(&bytes, form_beside(&input.path));
                Self::other(shown, FileKind::Session, checked.text, checked.problems)
            }
            None if is_config(&bytes) => Self::config(shown, &bytes, metrics),
            _ => Self::set_and_fix(input, &shown, &bytes, used, write),
        };
        if file.found.problems.is_empty() {
            // Without problems the text is not needed, and there may be thousands of files.
            file.found.text = String::new();
        }
        file
    }

    fn empty(shown: String, kind: FileKind) -> Self {
        Self {
            shown,
            kind: match kind {
                FileKind::Config => "config",
                FileKind::Session => "session",
                FileKind::Recording => "recording",
                FileKind::ToolList => "tools",
                _ => "set",
            },
            ..Self::default()
        }
    }

    fn config(shown: String, bytes: &[u8], metrics: &[&str]) -> Self {
        let checked = check_config(&shown, bytes, metrics);
        let of = |(metric, command): (&str, MetricCommand)| {
            (!metrics.contains(&metric))
                .then(|| MetricProgram { metric: metric.to_owned(), command: command.to_string() })
        };
        let programs = checked.config.iter().flat_map(EvalConfig::metric_commands).filter_map(of).collect();
        Self { programs, ..Self::other(shown, FileKind::Config, checked.text, checked.problems) }
    }

    fn other(shown: String, kind: FileKind, text: String, problems: Vec<Problem>) -> Self {
        Self { found: FoundProblems { text, problems }, ..Self::empty(shown, kind) }
    }

    fn set(input: &Input, mut checked: CheckedSet, used: Used<'_>) -> Self {
        let metrics = used.metrics;
        let config = config_beside(&input.path, metrics);
        let incompatible = incompatibilities(&input.path, config.as_ref(), &checked, used);
        let not_compared = not_compared(config.as_ref(), &checked, metrics);
        let drafts = checked.drafts().count();
        let cases = checked.set.as_ref().map(|set| set.eval_cases.as_slice()).unwrap_or_default();
        let loosened = Loosened::in_cases(cases);
        let own_criteria = cases.iter().filter(|case| case.own_criteria().is_some()).count();
        let draft_problem = checked.draft_problem(|_| true);
        checked.problems.extend(incompatible);
        checked.problems.extend(draft_problem);
        checked.problems.extend(overlooked_config(input));
        let unnamed = checked.unnamed();
        checked.problems.extend(unnamed);
        checked.problems.extend(models::unreadable(&input.path, &checked));
        checked.problems.sort_by_key(|problem| problem.range.start);
        Self {
            form: Some(match checked.form {
                SetFormat::EvalSet => "eval_set",
                SetFormat::TestFile => "old_test_file",
                SetFormat::OldEvalSet => "old_eval_set",
            }),
            cases: checked.cases.len(),
            drafts,
            not_compared,
            loosened,
            own_criteria,
            ..Self::other(checked.file, FileKind::Set, checked.text, checked.problems)
        }
    }

    fn set_and_fix(input: &Input, shown: &str, bytes: &[u8], used: Used<'_>, write: bool) -> Self {
        let path = &input.path;
        let checked = check_set(shown, bytes, None);
        let Some((fix, text)) = fix::rewrite(&checked, path) else {
            return Self::set(input, checked, used);
        };
        let Some(text) = text.filter(|_| write) else {
            return Self { fix: Some(fix), ..Self::set(input, checked, used) };
        };
        match replace(path, &text) {
            Ok(()) => {
                let fixed = check_set(shown, text.as_bytes(), None);
                let fix = Some(Fix { state: FixState::Done, ..fix });
                Self { fix, ..Self::set(input, fixed, used) }
            }
            Err(error) => {
                let error = unwritten(shown, &error);
                Self { fix: Some(fix), error: Some(error), ..Self::set(input, checked, used) }
            }
        }
    }
}

/// Most sets change no criteria.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

fn counts_loosened<S: Serializer>(of: &Loosened, serializer: S) -> Result<S::Ok, S::Error> {
    let by: BTreeMap<&str, usize> = of.by.iter().copied().collect();
    let mut fields = serializer.serialize_map(Some(3))?;
    fields.serialize_entry("points", &of.points)?;
    fields.serialize_entry("cases", &of.cases)?;
    fields.serialize_entry("by", &by)?;
    fields.end()
}

/// The reasons why a set cannot be used with the config beside it, and the expectations that no agent can meet.
fn incompatibilities(
    path: &Path,
    config: Option<&EvalConfig>,
    checked: &CheckedSet,
    Used { metrics, tools }: Used<'_>,
) -> Vec<Problem> {
    let Some(set) = &checked.set else { return Vec::new() };
    let cases = &set.eval_cases;
    let mut found = unpassable(path, metrics, cases);
    found.extend(tools.into_iter().flat_map(|tools| check_tools(tools, cases)));
    found.extend(by_criteria(path, config, metrics, cases));
    found.iter().map(|incompatibility| incompatibility.problem(checked)).collect()
}

/// The contradictions between the criteria and the cases. Without a config ADK's default criteria hold, unless an attribute names others:
/// then only the cases are checked that change criteria.
fn by_criteria(
    path: &Path,
    config: Option<&EvalConfig>,
    metrics: &[&str],
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let (has_config, default) = (config.is_some(), EvalConfig::adk_default());
    if !has_config && shared_config_path(path).exists() {
        // The config has errors, and its criteria are unknown.
        return Vec::new();
    }
    let config = config.unwrap_or(&default);
    let mut found = check_compatibility(config, metrics, TurnAggregation::Mean, cases);
    found.extend(check_needless(config, metrics, cases));
    let has_own = |at: usize| cases.get(at).is_some_and(|case| case.own_criteria().is_some());
    found.retain(|it| has_config || it.case.is_some_and(has_own));
    found
}

/// The expectations of a set that no criterion reads: of the config beside it, else of ADK's defaults.
fn not_compared(config: Option<&EvalConfig>, checked: &CheckedSet, metrics: &[&str]) -> NotCompared {
    let default = EvalConfig::adk_default();
    let criteria = &config.unwrap_or(&default).criteria;
    let criteria = criteria.iter().map(|(name, criterion)| (name.as_str(), criterion));
    NotCompared::of(criteria, metrics, checked.set.iter().flat_map(|set| &set.eval_cases))
}

/// The warning about a config that seems to belong to a set and is not used. It is no error, since an
/// attribute may name the config.
fn overlooked_config(input: &Input) -> Option<Problem> {
    let found = OverlookedConfig::of_set(&input.path, input.top.as_deref())?;
    Some(found.problem(|path| path.display().to_string().replace(MAIN_SEPARATOR, "/")))
}

/// The form of the sets that a session file is named after. [`SetFormat::TestFile`] wins, since no other form
/// takes a session file. It is also the default without such a set, since an attribute may name any session
/// file.
fn form_beside(session: &Path) -> SetFormat {
    let name = session.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let forms = set_names_of_session(&name).into_iter().filter_map(|set| {
        let bytes = read(&session.with_file_name(set)).ok()?;
        Some(check_set("", &bytes, None).form)
    });
    forms.max_by_key(|form| *form == SetFormat::TestFile).unwrap_or(SetFormat::TestFile)
}
