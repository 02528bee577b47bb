//! The file of a baseline.
//!
//! The first line is constant. An empty line stands before each case, so that git merges changes of neighbours. Lines are sorted, so
//! that two branches add a case at the same place only if it is the same case.

use std::collections::BTreeMap;

use eval_support::untrusted::one_line;

use super::line::{Key, Line};

/// The first line of a file: the version of its form.
const HEAD: &str = r#"{"evalset_baseline": 1}"#;

/// What a baseline's file begins with, whatever the version of its form.
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
    /// What is wrong with it.
    pub message: String,
    /// What helps.
    pub help: String,
}

impl std::fmt::Display for BaselineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for BaselineError {}

impl FromIterator<Line> for Baseline {
    fn from_iter<I: IntoIterator<Item = Line>>(lines: I) -> Self {
        Self(lines.into_iter().map(|line| (line.key(), line)).collect())
    }
}

impl Baseline {
    /// Reads the text of a file. A line that cannot be read, that is not in its order, or that names a case for a second time is an
    /// error: a case that is passed over would be a case that nobody compares.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let error =
            |line, message: String, help: &str| BaselineError { line, message, help: help.to_owned() };
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let (at, head) = lines.next().ok_or_else(|| {
            error(1, "the file is empty".to_owned(), "write it anew: `cargo evalset bless`")
        })?;
        is_conflict(head).map_or(Ok(()), |mark| Err(conflict(at, mark)))?;
        let version = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(head).ok();
        match version.as_ref().and_then(|head| head.get(HEAD_KEY)) {
            Some(version) if version == &serde_json::json!(1) => {}
            Some(version) => {
                let message = format!("the form of the file is version {version}, and this version reads 1");
                return Err(error(at, message, "update cargo-evalset"));
            }
            None => {
                let message = format!("it is no baseline: the first line is not `{HEAD}`");
                return Err(error(at, message, "name the file that `cargo evalset bless` wrote"));
            }
        }
        let mut baseline = Self::default();
        for (at, text) in lines {
            is_conflict(text).map_or(Ok(()), |mark| Err(conflict(at, mark)))?;
            let line: Line = serde_json::from_str(text).map_err(|wrong| {
                let help = "restore it from git, or write it anew: `cargo evalset bless SET:CASE`";
                error(
                    at,
                    format!("the line of a case cannot be read: {}", one_line(&wrong.to_string())),
                    help,
                )
            })?;
            let key = line.key();
            let again = format!(
                "`cargo evalset bless {key}` writes the line of the case anew; remove both lines before"
            );
            if let Some(mistake) = line.mistake() {
                return Err(error(at, format!("the numbers of {key} do not agree: {mistake}"), &again));
            }
            if baseline.0.contains_key(&key) {
                return Err(error(at, format!("{key} has a second line"), &again));
            }
            if let Some((last, _)) = baseline.0.last_key_value().filter(|(last, _)| **last > key) {
                let message = format!("{key} is behind {last}, and lines are sorted");
                return Err(error(at, message, &again));
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

    /// Puts these lines in place of those of the same cases. Others stay as they are.
    pub fn bless(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.0.extend(lines.into_iter().map(|line| (line.key(), line)));
    }

    /// Keeps the lines of these cases alone, and returns the keys of the others.
    pub fn prune(&mut self, mut is_kept: impl FnMut(&Key) -> bool) -> Vec<Key> {
        let (kept, gone) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| is_kept(key));
        self.0 = kept;
        let gone: BTreeMap<Key, Line> = gone;
        gone.into_keys().collect()
    }
}

fn is_conflict(line: &str) -> Option<&str> {
    ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].into_iter().find(|mark| line.starts_with(mark))
}

fn conflict(line: usize, mark: &str) -> BaselineError {
    BaselineError {
        line,
        message: format!("a merge left its mark `{mark}` here: git could not merge two lines of a case"),
        help: "keep the line of one branch and remove the marks, or run the case and write its line anew: `cargo evalset bless SET:CASE`"
            .to_owned(),
    }
}

/// JSON in one line with a blank behind each colon and comma, as people write it.
fn spaced(line: &Line) -> Result<String, serde_json::Error> {
    struct Spaced;

    impl serde_json::ser::Formatter for Spaced {
        fn begin_array_value<W: ?Sized + std::io::Write>(
            &mut self,
            out: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }

        fn begin_object_key<W: ?Sized + std::io::Write>(
            &mut self,
            out: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }

        fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
            out.write_all(b": ")
        }
    }

    let mut text = Vec::new();
    serde::Serialize::serialize(line, &mut serde_json::Serializer::with_formatter(&mut text, Spaced))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
