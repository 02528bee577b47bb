//! Where a file is that was compiled into tests.

use std::env;
use std::path::{Path, PathBuf};

/// The file of a set: `file` is relative to the folder that cargo built in, which is the current folder or one above;
/// `set_file` is relative to the folder of its package.
pub fn path_of(file: &str, set_file: Option<&str>) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    [Some(file), set_file].into_iter().flatten().find_map(|file| {
        here.ancestors().map(|folder| folder.join(Path::new(file))).find(|path| path.is_file())
    })
}
