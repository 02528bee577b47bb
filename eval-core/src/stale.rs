//! Compares the files on disk with those that were compiled in.
//!
//! Cargo decides by modification times, so a file that was swapped for an older one (by a checkout, or from a restored
//! cache) does not cause a rebuild. Each test compares lengths, which is cheap. A failing test compares content.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiled::{ConfigSource, FileSource, SetSource};

/// How the files on disk compare with those compiled in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Nothing that was compared differs.
    Fresh,
    /// They differ. The sentence says how.
    Stale(String),
    /// They are not on this machine, so nothing was compared.
    Absent,
}

/// Compares lengths, and checks whether a file that was absent now exists. The recording is compared only if it
/// `replays`.
pub(crate) fn by_length(set: &SetSource, replays: bool) -> Freshness {
    check(set, replays, |path, compiled| {
        fs::metadata(path).ok().map(|found| found.len() == compiled.text.len() as u64)
    })
}

/// Compares content.
pub(crate) fn by_content(set: &SetSource, replays: bool) -> Freshness {
    check(set, replays, |path, compiled| fs::read(path).ok().map(|found| found == compiled.text.as_bytes()))
}

fn check(set: &SetSource, replays: bool, same: impl Fn(&PathBuf, &FileSource) -> Option<bool>) -> Freshness {
    let root = root(set.manifest_dir);
    let main = FileSource { file: set.file, text: set.text };
    // A config without its set proves nothing: the sources may be elsewhere.
    if !are_sources_here(&root, [main.file]) {
        return Freshness::Absent;
    }
    let config = match &set.config {
        ConfigSource::File(file) => Some(file),
        ConfigSource::Default | ConfigSource::Inline(_) => None,
    };
    let replayed = set.recording.as_ref().filter(|_| replays);
    let recording =
        replayed.and_then(|recording| Some(FileSource { file: recording.file, text: recording.text? }));
    let new_recording =
        replayed.filter(|recording| recording.text.is_none()).map(|recording| &recording.file);
    for compiled in std::iter::once(&main).chain(config).chain(&set.session).chain(&recording) {
        match same(&root.join(compiled.file), compiled) {
            Some(true) => {}
            Some(false) => {
                return Freshness::Stale(format!("`{}` changed after this test was built", compiled.file));
            }
            None => {
                return Freshness::Stale(format!(
                    "`{}` was removed after this test was built",
                    compiled.file
                ));
            }
        }
    }
    match set.absent.iter().chain(new_recording).find(|file| root.join(file).exists()) {
        Some(file) => Freshness::Stale(format!("`{file}` was created after this test was built")),
        None => Freshness::Fresh,
    }
}

/// Whether the file of the set still exists.
pub(crate) fn has_its_set(set: &SetSource) -> bool {
    root(set.manifest_dir).join(set.file).exists()
}

/// Whether the sources are on this machine: one of the files exists, or at least the folder of one.
///
/// If a set is gone and its folder still exists, the set was removed. The manifest proves nothing: nextest wants it
/// beside an archive too.
pub(crate) fn are_sources_here<'a>(root: &Path, files: impl IntoIterator<Item = &'a str>) -> bool {
    files.into_iter().any(|file| {
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        root.join(file).exists() || folder.is_some_and(|folder| root.join(folder).is_dir())
    })
}

/// The folder of the package. Cargo and nextest name it when they run a test, also from an archive.
pub(crate) fn root(compiled: &str) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled), PathBuf::from)
}
