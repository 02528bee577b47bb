//! What `#[eval_set]` compiled into the test binary: the text of each set, where its cases stand, and the options.
//!
//! Plain data without behaviour of its own, so every other module may refer to it.

mod target;

use eval_format::reader::Form;

use crate::options::Options;

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
    /// The ids of the cases that ask something, with the byte range of each of their questions.
    pub questions: &'static [(&'static str, &'static [(usize, usize)])],
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
}

impl SetSource {
    /// The files that were compiled in, the set first. `replays` tells whether the recording is among them.
    pub(crate) fn files(&self, replays: bool) -> impl Iterator<Item = FileSource> {
        let set = FileSource { file: self.file, text: self.text };
        let config = match &self.config {
            ConfigSource::File(file) => Some(*file),
            ConfigSource::Default | ConfigSource::Inline(_) => None,
        };
        let recording = self.recording.as_ref().filter(|_| replays);
        let recording = recording.and_then(|it| Some(FileSource { file: it.file, text: it.text? }));
        std::iter::once(set).chain(config).chain(self.session).chain(recording)
    }
}

/// A file that was compiled in.
#[derive(Clone, Copy, Debug)]
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
        let recording = set.recording.iter();
        let asked =
            recording.flat_map(|recording| recording.questions.iter().map(move |it| (recording.text, it)));
        let of_case = asked.filter(move |(_, (eval_id, _))| *eval_id == source.eval_id);
        of_case.flat_map(|(text, (_, questions))| {
            questions.iter().filter_map(move |(start, end)| text?.get(*start..*end))
        })
    }
}
