//! The file of a baseline.
//!
//! The first line is constant. An empty line precedes each case, so that git merges changes of neighbours. Lines are sorted, so
//! that two branches add a case at the same place only if it is the same case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use eval_support::untrusted::one_line;

use super::line::{Key, Line};

/// The first line of a file: the version of its form.
const HEAD: &str = r#"{"evalset_baseline": 1}"#;

/// The first key of a baseline's file, whatever the version of its form.
const HEAD_KEY: &str = "evalset_baseline";

/// The accepted runs of cases.
///
/// ```
/// use eval_report::baseline::Baseline;
///
/// let baseline = Baseline::parse("{\"evalset_baseline\": 1}\n")?;
/// assert_eq!(baseline.lines().count(), 0);
///
/// let error = Baseline::parse("{\"evalset_baseline\": 1}\n<<<<<<< HEAD\n").unwrap_err();
/// assert_eq!(error.line, 2);
/// # Ok::<(), eval_report::baseline::BaselineError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline(BTreeMap<Key, Line>);

/// An error in the file of a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError {
    /// The line of the file, from 1.
    pub line: usize,
    /// The mistake in words.
    pub message: String,
    /// The help.
    pub help: String,
}

/// The version of the form, if a line is the first one of a file.
fn version_of(line: &str) -> Option<serde_json::Value> {
    serde_json::from_str::<BTreeMap<String, serde_json::Value>>(line).ok()?.remove(HEAD_KEY)
}

/// Whether a text begins as a baseline does, whatever is wrong with it, such as the marks of a conflict.
#[doc(hidden)]
pub fn begins_as_baseline(text: &str) -> bool {
    text.lines().filter(|line| !line.trim().is_empty()).take(3).any(|line| version_of(line).is_some())
}

impl std::fmt::Display for BaselineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for BaselineError {}

/// An error of [`Baseline::read`]. Its text has the file and, if that was read, the line and what helps.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadBaselineError {
    /// The file cannot be read, or is not UTF-8.
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line of the file has a mistake.
    Line {
        /// The file.
        path: PathBuf,
        /// The mistake.
        error: BaselineError,
    },
}

impl std::fmt::Display for ReadBaselineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |path: &Path| one_line(&path.display().to_string());
        match self {
            Self::Io { path, source } => write!(f, "cannot read `{}`: {source}", shown(path)),
            Self::Line { path, error: BaselineError { line, message, help } } => {
                write!(f, "{}:{line}: {message}; {help}", shown(path))
            }
        }
    }
}

impl std::error::Error for ReadBaselineError {}

impl FromIterator<Line> for Baseline {
    fn from_iter<I: IntoIterator<Item = Line>>(lines: I) -> Self {
        Self(lines.into_iter().map(|line| (line.key(), line)).collect())
    }
}

impl Baseline {
    /// Reads a file, such as `evalset-baseline.jsonl`.
    ///
    /// ```
    /// use eval_report::Baseline;
    ///
    /// let error = Baseline::read("nowhere.jsonl").unwrap_err();
    /// assert!(error.to_string().starts_with("cannot read `nowhere.jsonl`: "));
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadBaselineError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|source| ReadBaselineError::Io { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|error| ReadBaselineError::Line { path: path.to_owned(), error })
    }

    /// Reads the text of a file. A line that cannot be read, that is not in its order, or that names a case for a second time is an
    /// error: a case that is passed over would not be compared.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let error =
            |line, message: String, help: &str| BaselineError { line, message, help: help.to_owned() };
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let (at, head) = lines.next().ok_or_else(|| {
            error(1, "the file is empty".to_owned(), "write it anew: `cargo evalset bless`")
        })?;
        unmerged(at, head)?;
        match version_of(head) {
            Some(version) if version == serde_json::json!(1) => {}
            Some(version) => {
                let message = format!("the form of the file is version {version}, and this version reads 1");
                return Err(error(at, message, "update cargo-evalset"));
            }
            None if head.starts_with('\u{feff}') => {
                let message =
                    "the file begins with a byte order mark (BOM), and JSON lines have none".to_owned();
                return Err(error(at, message, "save it as UTF-8 without a BOM, or restore it from git"));
            }
            None => {
                let message = format!("it is no baseline: the first line is not `{HEAD}`");
                return Err(error(at, message, "name the file that `cargo evalset bless` wrote"));
            }
        }
        let mut baseline = Self::default();
        for (at, text) in lines {
            unmerged(at, text)?;
            let restore =
                |case: &str| format!("restore the line from git; or remove it, commit, {}", again(case));
            let line: Line = serde_json::from_str(text).map_err(|wrong| {
                // Its place is in a text of one line.
                let place = format!(" at line {} column {}", wrong.line(), wrong.column());
                let wrong_text = wrong.to_string();
                let what = one_line(wrong_text.strip_suffix(&place).unwrap_or(&wrong_text));
                let column = wrong.column();
                let message = format!("the line of a case cannot be read: {what}, in column {column}");
                error(at, message, &restore("SET:CASE"))
            })?;
            let key = line.key();
            let name = one_line(&format!("{}:{}", key.set, key.case));
            if let Some(mistake) = line.mistake() {
                return Err(error(
                    at,
                    format!("the numbers of {key} do not agree: {mistake}"),
                    &restore(&name),
                ));
            }
            if baseline.0.contains_key(&key) {
                let help = format!(
                    "keep one of its lines, then commit; if neither is of this build, {}",
                    again(&name)
                );
                return Err(error(at, format!("{key} has a second line"), &help));
            }
            if let Some((last, _)) = baseline.0.last_key_value().filter(|(last, _)| **last > key) {
                let message = format!("{key} is behind {last}, and lines are sorted");
                let help = format!(
                    "put the line at its place, or restore the file from git; if it is not of this build, {}",
                    again(&name)
                );
                return Err(error(at, message, &help));
            }
            baseline.0.insert(key, line);
        }
        Ok(baseline)
    }

    /// The text of the file.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let mut text = format!("{HEAD}\n");
        for line in self.0.values() {
            text += &format!("\n{}\n", spaced(line)?);
        }
        Ok(text)
    }

    /// The lines in their order.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.0.values()
    }

    /// The line of a case.
    pub fn get(&self, key: &Key) -> Option<&Line> {
        self.0.get(key)
    }

    /// Replaces the lines of these cases, and adds the missing ones. Lines of other cases stay.
    pub fn bless(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.0.extend(lines.into_iter().map(|line| (line.key(), line)));
    }

    /// Keeps the lines of these cases alone, and returns the keys of the others.
    pub fn prune(&mut self, mut is_kept: impl FnMut(&Key) -> bool) -> Vec<Key> {
        self.0.extract_if(.., |key, _| !is_kept(key)).map(|(key, _)| key).collect()
    }
}

/// An error if a merge left its mark in a line.
fn unmerged(line: usize, text: &str) -> Result<(), BaselineError> {
    let marks = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
    let Some(mark) = marks.into_iter().find(|mark| text.starts_with(mark)) else { return Ok(()) };
    let of_branch =
        "keep the line of one branch and remove the marks, then commit; if neither is of this build";
    Err(BaselineError {
        line,
        message: format!("a merge left its mark `{mark}` here: git could not merge two lines of a case"),
        help: format!("{of_branch}, {}", again("SET:CASE")),
    })
}

/// The command that writes the line of a case anew.
fn again(case: &str) -> String {
    format!("run the case and bless it: `cargo evalset bless {case}`")
}

/// JSON in one line with a blank behind each colon and comma, as people write it.
fn spaced(line: &Line) -> Result<String, serde_json::Error> {
    struct Spaced;

    impl serde_json::ser::Formatter for Spaced {
        fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }

        fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }

        fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
            out.write_all(b": ")
        }
    }

    let mut text = Vec::new();
    serde::Serialize::serialize(line, &mut serde_json::Serializer::with_formatter(&mut text, Spaced))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{MetricLine, Provenance};

    fn line(case: &str, passed: usize) -> Line {
        let metric = MetricLine {
            criterion: "c".to_owned(),
            judge: None,
            arithmetic: 1,
            at_most: false,
            passed,
            scores: vec![Some(1.0), None],
        };
        Line {
            set: "a.json".to_owned(),
            case: case.to_owned(),
            variant: String::new(),
            asks: "1".to_owned(),
            expects: "2".to_owned(),
            runs: 2,
            passed,
            errors: 0,
            pass: "mean".to_owned(),
            gate: "mean".to_owned(),
            literal: false,
            tools: None,
            failed: false,
            metrics: BTreeMap::from([("m".to_owned(), metric)]),
            tokens: vec![Some(1), None],
            seconds: vec![0.1, 0.25],
            calls: vec![1, 2],
            from: Provenance::default(),
        }
    }

    const LINE_B: &str = r#"{"set": "a.json", "case": "b", "asks": "1", "expects": "2", "runs": 2, "passed": 2, "errors": 0, "pass": "mean", "gate": "mean", "metrics": {"m": {"criterion": "c", "passed": 2, "scores": [1.0, null]}}, "tokens": [1, null], "seconds": [0.1, 0.25], "calls": [1, 2], "from": {"evalset": "", "commit": null, "dirty": null, "runs": [], "models": [], "at": ""}}"#;

    #[test]
    fn a_file_has_a_line_for_each_case_with_an_empty_line_before_it() {
        let baseline: Baseline = [line("c", 1), line("b", 2)].into_iter().collect();
        let text = baseline.text().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), &lines[..3]), (5, &[HEAD, "", LINE_B][..]));
        assert_eq!((lines[3], text.ends_with("}\n")), ("", true));
        assert_eq!(Baseline::parse(&text).unwrap(), baseline);
        // Git may write other line ends.
        assert_eq!(Baseline::parse(&text.replace('\n', "\r\n")).unwrap(), baseline);
    }

    #[test]
    fn a_file_with_a_mistake_is_named_with_its_line_and_what_helps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.jsonl");
        fs::write(&path, [HEAD, LINE_B, LINE_B].join("\n")).unwrap();
        let error = Baseline::read(&path).unwrap_err().to_string();
        let place = format!("{}:3: a.json:b has a second line; ", path.display());
        assert!(error.starts_with(&place) && error.ends_with("`cargo evalset bless a.json:b`"), "{error}");
    }

    #[test]
    fn blessed_lines_take_the_place_of_those_of_the_same_cases_alone() {
        let mut baseline: Baseline = [line("b", 2), line("c", 2)].into_iter().collect();
        baseline.bless([line("c", 1), line("d", 2)]);
        let passed: Vec<(&str, usize)> =
            baseline.lines().map(|line| (line.case.as_str(), line.passed)).collect();
        assert_eq!(passed, [("b", 2), ("c", 1), ("d", 2)]);
        let gone = baseline.prune(|key| key.case != "b");
        assert_eq!(gone.iter().map(Key::to_string).collect::<Vec<_>>(), ["a.json:b"]);
        assert_eq!(baseline.lines().count(), 2);
    }

    #[test]
    fn a_file_that_could_hide_a_case_is_an_error_with_its_line() {
        let of = |lines: &[&str]| Baseline::parse(&lines.join("\n")).unwrap_err();
        let (b, c) = (LINE_B, LINE_B.replace(r#""b""#, r#""c""#));
        for (lines, at, message) in [
            (&[][..], 1, "the file is empty"),
            (
                &[r#"{"evalset_baseline": 2}"#],
                1,
                "the form of the file is version 2, and this version reads 1",
            ),
            (
                &["\u{feff}{\"evalset_baseline\": 1}"],
                1,
                "the file begins with a byte order mark (BOM), and JSON lines have none",
            ),
            (&["{}"], 1, "it is no baseline: the first line is not `{\"evalset_baseline\": 1}`"),
            (
                &["<<<<<<< HEAD", HEAD],
                1,
                "a merge left its mark `<<<<<<<` here: git could not merge two lines of a case",
            ),
            (
                &[HEAD, "", "=======", b],
                3,
                "a merge left its mark `=======` here: git could not merge two lines of a case",
            ),
            (&[HEAD, b, "", b], 4, "a.json:b has a second line"),
            (&[HEAD, &c, b], 3, "a.json:b is behind a.json:c, and lines are sorted"),
            (
                &[HEAD, &b.replace(r#""passed": 2, "errors": 0"#, r#""passed": 2, "errors": 1"#)],
                2,
                "the numbers of a.json:b do not agree: 2 runs passed and 1 had no verdict, of 2",
            ),
            (
                &[HEAD, &b.replace(r#""passed": 2, "scores""#, r#""passed": 3, "scores""#)],
                2,
                "the numbers of a.json:b do not agree: `m` passed in 3 of 2 runs",
            ),
            (
                &[
                    HEAD,
                    &b.replace(
                        r#""passed": 2, "errors": 0"#,
                        r#""passed": 2, "errors": 18446744073709551615"#,
                    ),
                ],
                2,
                "the numbers of a.json:b do not agree: 2 runs passed and 18446744073709551615 had no verdict, of 2",
            ),
            (
                &[HEAD, &b.replace(r#""runs": 2, "passed": 2"#, r#""runs": 0, "passed": 0"#)],
                2,
                "the numbers of a.json:b do not agree: 0 runs, and a case has 1 to 1000000",
            ),
            (
                &[HEAD, &b.replace(r#""calls": [1, 2]"#, r#""calls": [1, 2, 3]"#)],
                2,
                "the numbers of a.json:b do not agree: `calls` lists 3 runs of 2",
            ),
            (
                &[HEAD, &b.replace("[1.0, null]", "[1.0]")],
                2,
                "the numbers of a.json:b do not agree: 2 runs passed, and `m` lists 1 score",
            ),
            (
                &[
                    HEAD,
                    &b.replace(
                        r#""passed": 2, "scores": [1.0, null]"#,
                        r#""passed": 1, "scores": [1.0, 0.5]"#,
                    ),
                ],
                2,
                "the numbers of a.json:b do not agree: 2 runs passed, and `m` in 1 of them",
            ),
            (
                &[
                    HEAD,
                    &b.replace(r#""passed": 2, "errors""#, r#""passed": 0, "errors""#)
                        .replace("null]}}", "1.0]}}"),
                ],
                2,
                "the numbers of a.json:b do not agree: 2 runs failed, and a metric in 0 of them",
            ),
        ] {
            let error = of(lines);
            assert_eq!((error.line, error.message.as_str()), (at, message), "{lines:?}");
        }
        let unknown = of(&[HEAD, &b.replace(r#""runs": 2"#, r#""run": 2"#)]);
        assert!(unknown.line == 2 && unknown.message.contains("unknown field `run`"), "{unknown}");
        let broken = of(&[HEAD, &b[..20]]);
        assert!(broken.message.ends_with(", in column 20") && !broken.message.contains("line 1"), "{broken}");
    }
}
