//! Files that a repository keeps. A report takes the place of none of them.

use std::path::Path;

use eval_format::Value;
use eval_format::conventions::{FileKind, MODELS_SUFFIX};
use eval_format::reader::check_set;
use eval_report::baseline::begins_as_baseline;
use eval_support::untrusted::one_line;

use super::read;
use crate::output::CommandError;

/// Fails if a report would take the place of an eval set, of a file beside one, of a baseline, or of a file that is no report, such
/// as the agent's source. Their content tells, else their names: an older report may be called anything.
pub(crate) fn check_report_path(path: &Path) -> Result<(), CommandError> {
    let Some(kind) = kept(path) else { return Ok(()) };
    let shown = one_line(&path.display().to_string());
    let message = format!("`{shown}` is {kind}, and a report would take its place");
    Err(CommandError::new(message, "choose another name for the report"))
}

/// The kind of a file that is kept, with its article; `None` without such a file.
fn kept(path: &Path) -> Option<&'static str> {
    if !path.is_file() {
        return None;
    }
    // A file that cannot be read is told by its name alone.
    let bytes = read(path).unwrap_or_default();
    let text = str::from_utf8(&bytes).unwrap_or_default();
    let document = Value::parse(text).ok();
    if document.as_ref().is_some_and(is_report) {
        return None;
    }
    let of_content = document.and_then(|document| of_document(&document, &bytes));
    let of_content = of_content.or_else(|| begins_as_baseline(text).then_some("a baseline"));
    of_content.or_else(|| of_name(path)).or_else(|| is_foreign(path, text).then_some("no report"))
}

/// Whether a file has an ending that no report has, and a text that begins as none.
fn is_foreign(path: &Path, text: &str) -> bool {
    const ENDINGS: [&str; 9] = ["csv", "htm", "html", "json", "log", "markdown", "md", "txt", "xml"];
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_other = ending.is_some_and(|ending| !ENDINGS.contains(&&*ending));
    is_other && !text.trim_start().is_empty() && !text.trim_start().starts_with('<')
}

fn of_document(document: &Value, bytes: &[u8]) -> Option<&'static str> {
    if has(document, &["eval_cases", "evalCases"]) {
        return Some("an eval set");
    }
    if is_criteria(document) {
        return Some("a config");
    }
    if has(document, &["judge_recording"]) {
        return Some("a recording of judges");
    }
    // The old forms of sets are lists.
    let is_set = document.as_array().is_some() && check_set("", bytes, None).set.is_some();
    is_set.then_some("an eval set in an old form")
}

fn of_name(path: &Path) -> Option<&'static str> {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    if folder.is_some_and(|folder| folder.ends_with(MODELS_SUFFIX)) {
        return Some("a file of recorded calls of models");
    }
    match FileKind::from_name(path.file_name()?.to_str()?)? {
        FileKind::Set => Some("an eval set"),
        FileKind::Config => Some("a config"),
        FileKind::Session => Some("a session file"),
        FileKind::Recording => Some("a recording of judges"),
        FileKind::ToolList => Some("a list of tools"),
        _ => None,
    }
}

/// Whether a document is a report of this program.
fn is_report(document: &Value) -> bool {
    has(document, &["command"]) && has(document, &["schema"])
}

/// Whether the content of a file is a config: an object with criteria and without cases.
pub(crate) fn is_config(bytes: &[u8]) -> bool {
    let document = str::from_utf8(bytes).ok().and_then(|text| Value::parse(text).ok());
    document.is_some_and(|document| is_criteria(&document))
}

fn is_criteria(document: &Value) -> bool {
    has(document, &["criteria", "custom_metrics", "customMetrics"])
        && !has(document, &["eval_cases", "evalCases", "eval_set_id"])
}

/// Whether a document is an object with one of these keys.
fn has(document: &Value, keys: &[&str]) -> bool {
    document.as_object().is_some_and(|object| keys.iter().any(|key| object.contains_key(key)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_kept_by_its_content_or_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = r#"{"eval_set_id": "s", "eval_cases": []}"#;
        let baseline = "\n{\"evalset_baseline\": 1}\n<<<<<<< HEAD\n";
        let old = r#"[{"query": "Hi", "expected_tool_use": [], "reference": "Hello!"}]"#;
        for (name, content, kind) in [
            ("a.json", set, Some("an eval set")),
            ("a.json", old, Some("an eval set in an old form")),
            ("a.json", r#"{"criteria": {}}"#, Some("a config")),
            ("a.json", r#"{"judge_recording": 1}"#, Some("a recording of judges")),
            ("a.html", baseline, Some("a baseline")),
            ("a.evalset.json", "{", Some("an eval set")),
            ("test_config.json", "", Some("a config")),
            ("x.evalset.models/a.json", "", Some("a file of recorded calls of models")),
            ("r.test.json", r#"{"command": "report", "schema": 1, "cases": []}"#, None),
            ("a.json", r#"{"cases": []}"#, None),
            ("a.html", "<html>", None),
            ("a.xml", "", None),
            ("agent.py", "import json\n", Some("no report")),
            ("junit", "anything", None),
            ("run.junit", "<?xml version=\"1.0\"?>", None),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, content).expect("a file");
            assert_eq!(kept(&path), kind, "{name}: {content}");
        }
        assert_eq!(kept(&folder.path().join("new.evalset.json")), None, "nothing is there");
    }
}
