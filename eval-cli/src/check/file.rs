//! One file: what it is, what is wrong with it, what was done about it.

use std::fs;
use std::path::Path;

use eval_format::{
    CheckedSet, Form, Problem, Value, check_compatibility, check_config, check_recording, check_session,
    check_set, file_stem,
};

use super::fix::{self, Fix};
use crate::answer::Refusal;
use crate::input::{Input, Kind, unreadable};
use crate::replace::replace;

/// What is known of a file after it was checked.
#[derive(Debug)]
pub(super) struct File {
    pub(super) shown: String,
    /// As what it was checked.
    pub(super) kind: Kind,
    /// How a set is written, now that it may have been fixed.
    pub(super) form: Option<Form>,
    pub(super) cases: usize,
    /// The text that the ranges of the problems point into.
    pub(super) text: String,
    pub(super) problems: Vec<Problem>,
    pub(super) fix: Option<Fix>,
    /// Why it could not be read, or a fix not be written.
    pub(super) failure: Option<Refusal>,
}

impl File {
    /// Reads and checks a file, and rewrites it where that is asked for and possible.
    pub(super) fn check(input: &Input, metrics: &[&str], write: bool) -> Self {
        let shown = input.shown();
        let bytes = match fs::read(&input.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let failure = Some(unreadable(&input.path, &error));
                return Self { failure, ..Self::empty(shown, input.kind) };
            }
        };
        let mut file = match input.kind {
            Kind::Config => Self::config(shown, &bytes, metrics),
            Kind::Recording => Self::recording(shown, &bytes),
            Kind::Session => Self::session(shown, &bytes, form_beside(&input.path)),
            Kind::Unknown if is_config(&bytes) => Self::config(shown, &bytes, metrics),
            Kind::Set | Kind::Unknown => Self::set_and_fix(&input.path, &shown, &bytes, metrics, write),
        };
        if file.problems.is_empty() {
            // No range points into it, and there may be thousands of files.
            file.text = String::new();
        }
        file
    }

    fn empty(shown: String, kind: Kind) -> Self {
        Self {
            shown,
            kind,
            form: None,
            cases: 0,
            text: String::new(),
            problems: Vec::new(),
            fix: None,
            failure: None,
        }
    }

    fn config(shown: String, bytes: &[u8], metrics: &[&str]) -> Self {
        let checked = check_config(&shown, bytes, metrics);
        Self { text: checked.text, problems: checked.problems, ..Self::empty(shown, Kind::Config) }
    }

    fn recording(shown: String, bytes: &[u8]) -> Self {
        let checked = check_recording(&shown, bytes);
        Self { text: checked.text, problems: checked.problems, ..Self::empty(shown, Kind::Recording) }
    }

    fn session(shown: String, bytes: &[u8], form: Form) -> Self {
        let checked = check_session(bytes, form);
        Self { text: checked.text, problems: checked.problems, ..Self::empty(shown, Kind::Session) }
    }

    fn set(path: &Path, mut checked: CheckedSet, metrics: &[&str]) -> Self {
        let misfits = misfits(path, &checked, metrics);
        checked.problems.extend(misfits);
        checked.problems.sort_by_key(|problem| problem.range.start);
        Self {
            form: Some(checked.form),
            cases: checked.cases.len(),
            text: checked.text,
            problems: checked.problems,
            ..Self::empty(checked.file, Kind::Set)
        }
    }

    fn set_and_fix(path: &Path, shown: &str, bytes: &[u8], metrics: &[&str], write: bool) -> Self {
        let checked = check_set(shown, bytes, None);
        let Some((fix, text)) = fix::of(&checked, path) else {
            return Self::set(path, checked, metrics);
        };
        let Some(text) = text.filter(|_| write) else {
            return Self { fix: Some(fix), ..Self::set(path, checked, metrics) };
        };
        match replace(path, &text) {
            Ok(()) => {
                let fixed = check_set(shown, text.as_bytes(), None);
                Self { fix: Some(fix.done()), ..Self::set(path, fixed, metrics) }
            }
            Err(error) => {
                let help = "let this user write it, or check without `--fix`";
                let refusal = Refusal::new(format!("cannot write `{shown}`: {error}"), help);
                Self { fix: Some(fix), failure: Some(refusal), ..Self::set(path, checked, metrics) }
            }
        }
    }
}

/// The config that the attribute takes where it names no other.
const BESIDE: &str = "test_config.json";

/// What keeps a set from being used with the config beside it. Where there is none, or one with errors of its own,
/// nobody knows what the set is scored with.
fn misfits(path: &Path, checked: &CheckedSet, metrics: &[&str]) -> Vec<Problem> {
    let config = fs::read(path.with_file_name(BESIDE)).ok();
    let config = config.and_then(|bytes| check_config(BESIDE, &bytes, metrics).config);
    let (Some(config), Some(set)) = (config, &checked.set) else { return Vec::new() };
    let misfits = check_compatibility(&config, metrics, &set.eval_cases);
    misfits.iter().map(|misfit| misfit.problem(checked)).collect()
}

/// The form of the set that a session file is named after; that of an old test file where there is none, since any
/// session file may be named in an attribute.
fn form_beside(session: &Path) -> Form {
    let name = session.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.trim_end_matches(".session.json");
    let forms = [".test.json", ".evalset.json"].iter().filter_map(|suffix| {
        let bytes = fs::read(session.with_file_name(format!("{stem}{suffix}"))).ok()?;
        Some(check_set("", &bytes, None).form)
    });
    // The first that takes a session file, else any.
    forms.max_by_key(|form| *form == Form::TestFile).unwrap_or(Form::TestFile)
}

/// Whether a file that no name explains is a config: an object with criteria and without cases.
fn is_config(bytes: &[u8]) -> bool {
    let Some(document) = str::from_utf8(bytes).ok().and_then(|text| Value::parse(text).ok()) else {
        return false;
    };
    let Some(keys) = document.as_object() else { return false };
    let has = |names: &[&str]| names.iter().any(|name| keys.contains_key(name));
    has(&["criteria", "custom_metrics", "customMetrics"]) && !has(&["eval_cases", "evalCases", "eval_set_id"])
}

/// The stem of a path, which names what ADK draws ids for.
pub(super) fn stem(path: &Path) -> String {
    file_stem(&path.to_string_lossy()).to_owned()
}
