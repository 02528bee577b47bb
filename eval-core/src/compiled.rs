//! What `#[eval_set]` compiled into the test binary: the text of each set, where its cases stand, and the options.
//!
//! Plain data without behaviour of its own, so every other module may refer to it.

mod target;

use eval_format::reader::Form;

use crate::options::Options;

pub(crate) use target::NOT_KNOWN;
pub use target::Target;

/// One eval set file with its cases, as the macro read it.
#[derive(Debug)]
pub struct SetSource {
    /// The folder of the package at compile time.
    pub manifest_dir: &'static str,
    /// The name of the package.
    pub package: &'static str,
    /// The target of the package that the tests are in.
    pub target: Target,
    /// The file, relative to the package, with `/`.
    pub file: &'static str,
    /// The file as the compiler shows paths: relative to the folder that cargo builds in.
    pub shown: &'static str,
    /// The text of the file.
    pub text: &'static str,
    /// The form the file is written in.
    pub form: Form,
    /// The id of the set.
    pub eval_set_id: &'static str,
    /// The cases that are tests. Cases that the attribute filters out are not here.
    pub cases: &'static [CaseSource],
    /// The names of the tests, for a reader of the binary.
    pub listing: &'static str,
    /// The criteria.
    pub config: ConfigSource,
    /// The initial session of an old test file.
    pub session: Option<FileSource>,
    /// Files that would have been read if they had existed.
    pub absent: &'static [&'static str],
    /// How the cases are run and decided.
    pub options: Options,
    /// The recording of judges' replies; `None` if nothing in this set can ask a judge.
    pub recording: Option<RecordingSource>,
}

/// The recording of a set.
#[derive(Debug)]
pub struct RecordingSource {
    /// The file, relative to the package, with `/`.
    pub file: &'static str,
    /// Its text; `None` if the file did not exist at compile time.
    pub text: Option<&'static str>,
}

/// Where a case stands in its file, and the name of its test.
#[derive(Debug)]
pub struct CaseSource {
    /// The id in the file.
    pub eval_id: &'static str,
    /// The test, from the attribute's module on: `weather::sunny`.
    pub test: &'static str,
    /// The first byte of the case.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The byte ranges of its questions in the set's recording.
    pub recorded: &'static [(usize, usize)],
}

/// A file that was compiled in.
#[derive(Debug)]
pub struct FileSource {
    /// The file, relative to the package, with `/`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Where the criteria come from.
#[derive(Debug)]
pub enum ConfigSource {
    /// ADK's default criteria.
    Default,
    /// The text of a config, written in the attribute.
    Inline(&'static str),
    /// A config file.
    File(FileSource),
}

/// One generated test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) set: &'static SetSource,
    pub(crate) source: &'static CaseSource,
    /// The module that the attribute stands in, with the crate in front.
    pub(crate) module: &'static str,
}

impl Test {
    /// The path of the test, as `cargo test` shows it.
    pub(crate) fn path(&self) -> String {
        match self.module.split_once("::") {
            Some((_, module)) => format!("{module}::{}", self.source.test),
            None => self.source.test.to_owned(),
        }
    }

    /// The text of the case; `None` if its range lies outside of the file.
    pub(crate) fn case_text(&self) -> Option<&'static str> {
        self.set.text.get(self.source.start..self.source.end)
    }

    /// The text of the session file, if the attribute names one.
    pub(crate) fn session_text(&self) -> Option<&'static str> {
        self.set.session.as_ref().map(|session| session.text)
    }

    /// The slices of the recording that hold the questions of this case.
    #[cfg(feature = "judges")]
    pub(crate) fn recorded(&self) -> impl Iterator<Item = &'static str> + use<> {
        let Self { set, source, .. } = *self;
        let text = set.recording.as_ref().and_then(|recording| recording.text);
        text.into_iter().flat_map(move |text| {
            source.recorded.iter().filter_map(move |(start, end)| text.get(*start..*end))
        })
    }

    /// The command that runs this test alone, with the runner that runs it now.
    pub(crate) fn rerun_command(&self) -> String {
        let takes_ignored = std::env::args_os().any(|arg| arg == "--ignored" || arg == "--include-ignored");
        let is_nextest = std::env::var_os("NEXTEST").is_some();
        // `app::evals`, and `app` for the library of the package `app`.
        let id = std::env::var("NEXTEST_BINARY_ID").ok().filter(|_| is_nextest);
        let id = id.as_deref().and_then(|id| id.strip_prefix(self.set.package));
        let id = id.and_then(|id| if id.is_empty() { Some(id) } else { id.strip_prefix("::") });
        let target = self.set.target.option(id, std::env::current_exe().ok().as_deref());
        rerun_command(self.set.package, target.as_deref(), &self.path(), is_nextest, takes_ignored)
    }
}

/// If ignored tests were asked for, the command asks for them again: without that it would run no test, and pass.
fn rerun_command(
    package: &str,
    target: Option<&str>,
    path: &str,
    is_nextest: bool,
    takes_ignored: bool,
) -> String {
    let which = target.map_or(format!("-p {package}"), |target| format!("-p {package} {target}"));
    match (is_nextest, takes_ignored) {
        (true, false) => format!("cargo nextest run {which} -E 'test(={path})'"),
        (true, true) => format!("cargo nextest run {which} --run-ignored all -E 'test(={path})'"),
        (false, false) => format!("cargo test {which} {path} -- --exact"),
        (false, true) => format!("cargo test {which} {path} -- --exact --include-ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_run_again_in_its_target_and_an_ignored_one_as_such() {
        for (target, is_nextest, takes_ignored, expected) in [
            (None, false, false, "cargo test -p app a::x -- --exact"),
            (Some("--test evals"), false, false, "cargo test -p app --test evals a::x -- --exact"),
            (Some("--lib"), false, true, "cargo test -p app --lib a::x -- --exact --include-ignored"),
            (Some("--test evals"), true, false, "cargo nextest run -p app --test evals -E 'test(=a::x)'"),
            (Some("--lib"), true, true, "cargo nextest run -p app --lib --run-ignored all -E 'test(=a::x)'"),
        ] {
            assert_eq!(rerun_command("app", target, "a::x", is_nextest, takes_ignored), expected);
        }
    }
}
