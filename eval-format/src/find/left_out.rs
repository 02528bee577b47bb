//! Folders that a search does not enter: they hold what tools put there, not what a person wrote.

use std::fs;
use std::path::Path;

use crate::conventions::is_passed_over;

/// How a `CACHEDIR.TAG` begins, as <https://bford.info/cachedir/> says. Cargo writes one into `target`.
const TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether a folder below the one that is searched is left out. A folder that a path names is always searched.
///
/// It is hidden, it is a cache by its tag, or packages of others are installed in it.
pub fn is_left_out(name: &str, folder: &Path) -> bool {
    is_passed_over(name)
        || name == "node_modules"
        // A crate that `cargo vendor` wrote, and an environment of Python.
        || [".cargo-checksum.json", "pyvenv.cfg"].iter().any(|file| folder.join(file).is_file())
        || is_cache(folder)
}

fn is_cache(folder: &Path) -> bool {
    use std::io::Read;
    let mut begin = Vec::new();
    // A tag that cannot be read tags nothing.
    let read = fs::File::open(folder.join("CACHEDIR.TAG"))
        .and_then(|file| file.take(TAG.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == TAG
}
