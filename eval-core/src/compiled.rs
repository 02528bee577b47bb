//! Data that `#[eval_set]` compiled into the test binary: the text of each set, the places of its cases, and the
//! options.
//!
//! It has no behaviour of its own, so every other module may refer to it.

use std::path::Path;

use eval_format::conventions::{models_file, models_path};
use eval_format::reader::SetFormat;

use crate::options::Options;

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
    pub form: SetFormat,
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
    /// The faults of golden tools.
    pub faults: Option<FileSource>,
    /// The faults of models in all cases, as the text of the key `_models`.
    pub model_faults: Option<&'static str>,
    /// The declarations of golden tools.
    pub tool_list: Option<FileSource>,
    /// Files that would have been read if they had existed.
    pub absent: &'static [&'static str],
    /// The options for running and deciding the cases.
    pub options: Options,
    /// The recording of judges' replies; `None` if nothing in this set can ask a judge.
    pub recording: Option<RecordingSource>,
    /// The recorded calls of models; `None` if there were none at compile time.
    pub models: Option<ModelsSource>,
}

/// The recorded calls of models of a set.
#[derive(Debug)]
pub struct ModelsSource {
    /// The part that its cases share.
    pub shared: FileSource,
    /// The ids of the cases that have recorded calls, each with its file.
    pub cases: &'static [(&'static str, FileSource)],
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

/// The place of a case in its file, and the name of its test.
#[derive(Debug)]
pub struct CaseSource {
    /// The id in the file.
    pub eval_id: &'static str,
    /// The test, from the attribute's module on and without the modules of a variant: `weather::sunny`.
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

/// A variant of the attribute's matrix.
#[derive(Debug)]
pub struct VariantSource {
    /// The modules of its tests in the module of the function: `flash::a`.
    pub modules: &'static str,
    /// The label of its runs: `model=flash prompt=a`.
    pub label: &'static str,
    /// The number of the variant in the matrix, from 0.
    pub order: usize,
    /// Each axis with its value.
    pub values: &'static [(&'static str, &'static str)],
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
        std::iter::once(set)
            .chain(config)
            .chain(self.session)
            .chain(self.faults)
            .chain(self.tool_list)
            .chain(recording)
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

/// The source of the criteria.
#[derive(Debug)]
pub enum ConfigSource {
    /// ADK's default criteria.
    Default,
    /// The text of a config, written in the attribute.
    Inline(&'static str),
    /// A config file.
    File(FileSource),
}

/// Whether files with recorded answers are the ones that were compiled in, since nothing is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replays {
    pub(crate) judges: bool,
    pub(crate) models: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) set: &'static SetSource,
    pub(crate) source: &'static CaseSource,
    /// The module around the attribute, with the crate in front.
    pub(crate) module: &'static str,
    /// The variant of the agent; `None` without a matrix.
    pub(crate) variant: Option<&'static VariantSource>,
}

impl Test {
    /// The path of the test, as `cargo test` shows it.
    pub(crate) fn path(&self) -> String {
        let module = self.module.split_once("::").map(|(_, module)| module);
        let (function, case) = self.source.test.split_once("::").unwrap_or(("", self.source.test));
        let names = [module, Some(function), self.variant.map(|variant| variant.modules), Some(case)];
        names.into_iter().flatten().filter(|name| !name.is_empty()).collect::<Vec<_>>().join("::")
    }

    /// The text of the case; `None` if its range lies outside of the file.
    pub(crate) fn case_text(&self) -> Option<&'static str> {
        self.set.text.get(self.source.start..self.source.end)
    }

    /// The recorded calls of models of the case.
    pub(crate) fn own_models(&self) -> Option<FileSource> {
        let cases = self.set.models.as_ref()?.cases;
        cases.iter().find(|(eval_id, _)| *eval_id == self.source.eval_id).map(|(_, file)| *file)
    }

    /// The files with recorded calls of models that the test reads.
    pub(crate) fn model_files(&self) -> impl Iterator<Item = FileSource> {
        let shared = self.set.models.iter().map(|models| models.shared);
        shared.chain(self.own_models())
    }

    /// The file with recorded calls of models that the test would have read if it had existed.
    pub(crate) fn absent_model_file(&self) -> Option<String> {
        let is_absent = cfg!(feature = "models") && self.own_models().is_none();
        is_absent.then(|| format!("{}/{}", models_path(self.set.file), models_file(self.source.eval_id)))
    }

    pub(crate) fn session_text(&self) -> Option<&'static str> {
        self.set.session.as_ref().map(|session| session.text)
    }

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

/// The target of cargo that the attribute was expanded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Something else than cargo built it.
    Unknown,
    /// The library.
    Lib,
    /// A binary or an example, by its name.
    Bin(&'static str),
    /// A file of tests, by the name of its crate.
    Test(&'static str),
    /// A file of benchmarks, by the name of its crate.
    Bench(&'static str),
}

impl Target {
    /// The option that selects the target: `--test evals`.
    ///
    /// `nextest` is nextest's id of the binary without the package, if nextest runs the test: it has the name
    /// that is in the manifest. `executable` is the test binary: the binaries of examples have a folder of
    /// their own.
    pub(crate) fn option(self, nextest: Option<&str>, executable: Option<&Path>) -> Option<String> {
        if let Some(id) = nextest {
            return Some(of_nextest(id));
        }
        Some(match self {
            Self::Unknown => return None,
            Self::Lib => "--lib".to_owned(),
            Self::Bin(name) if is_example(executable) => format!("--example {name}"),
            Self::Bin(name) => format!("--bin {name}"),
            Self::Test(krate) => format!("--test {}", pattern(krate)),
            Self::Bench(krate) => format!("--bench {}", pattern(krate)),
        })
    }
}

/// The option for an id of nextest: `evals`, `bin/evals`, `proc-macro/evals`, or nothing for the library.
fn of_nextest(id: &str) -> String {
    match id.split_once('/') {
        _ if id.is_empty() => "--lib".to_owned(),
        Some(("proc-macro", _)) => "--lib".to_owned(),
        Some((kind, name)) => format!("--{kind} {name}"),
        None => format!("--test {id}"),
    }
}

/// Cargo puts the executables of examples into a folder `examples`, and all others into `deps`.
fn is_example(executable: Option<&Path>) -> bool {
    let folder = executable.and_then(Path::parent).and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "examples")
}

/// The names of targets that have a crate of this name, as a glob for a shell.
fn pattern(krate: &str) -> String {
    if krate.contains('_') { format!("'{}'", krate.replace('_', "[-_]")) } else { krate.to_owned() }
}

#[cfg(test)]
mod target_tests {
    use super::*;

    #[test]
    fn each_target_has_its_option() {
        let (deps, examples) = (Path::new("/t/debug/deps/a-1"), Path::new("/t/debug/examples/a-1"));
        for (target, nextest, executable, expected) in [
            (Target::Unknown, None, Some(deps), None),
            (Target::Lib, None, Some(deps), Some("--lib")),
            (Target::Bin("one-two"), None, Some(deps), Some("--bin one-two")),
            (Target::Bin("one-two"), None, None, Some("--bin one-two")),
            (Target::Bin("one-two"), None, Some(examples), Some("--example one-two")),
            (Target::Test("evals"), None, Some(deps), Some("--test evals")),
            (Target::Test("one_two"), None, Some(deps), Some("--test 'one[-_]two'")),
            (Target::Bench("one_two"), None, Some(deps), Some("--bench 'one[-_]two'")),
            (Target::Test("one_two"), Some("one-two"), Some(deps), Some("--test one-two")),
            (Target::Lib, Some(""), Some(deps), Some("--lib")),
            (Target::Lib, Some("proc-macro/app"), Some(deps), Some("--lib")),
            (Target::Bin("one-two"), Some("bin/one-two"), Some(deps), Some("--bin one-two")),
            (Target::Bin("one-two"), Some("example/one-two"), None, Some("--example one-two")),
            (Target::Bench("one_two"), Some("bench/one-two"), None, Some("--bench one-two")),
            (Target::Unknown, Some("evals"), None, Some("--test evals")),
        ] {
            assert_eq!(target.option(nextest, executable).as_deref(), expected, "{target:?} {nextest:?}");
        }
    }
}
