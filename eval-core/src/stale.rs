//! Are the files on disk those that were compiled in?
//!
//! Cargo decides by modification times, so a file swapped for an older one (a checkout, a restored cache)
//! does not rebuild. Each test compares lengths, which costs nothing; a failing one compares content.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiled::{ConfigSource, FileSource, SetSource};

/// What the files on disk say about the ones compiled in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// They are the same, as far as was looked.
    Fresh,
    /// They differ: this sentence says how.
    Stale(String),
    /// They are not on this machine, so there was nothing to compare.
    Absent,
}

/// Compares lengths, and whether a file that was absent now exists. The recording counts where it `replays`.
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
    // A config that exists without its set says nothing where the sources are elsewhere.
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

/// Whether the file of the set is still there.
pub(crate) fn has_its_set(set: &SetSource) -> bool {
    root(set.manifest_dir).join(set.file).exists()
}

/// Whether the sources are on this machine: one of the files is there, or at least the folder of one.
///
/// A set that is gone from a folder that is still there was removed. The manifest tells nothing: nextest
/// wants it beside an archive too.
pub(crate) fn are_sources_here<'a>(root: &Path, files: impl IntoIterator<Item = &'a str>) -> bool {
    files.into_iter().any(|file| {
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        root.join(file).exists() || folder.is_some_and(|folder| root.join(folder).is_dir())
    })
}

/// The folder of the package: cargo and nextest name it when they run a test, also from an archive.
pub(crate) fn root(compiled: &str) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled), PathBuf::from)
}
