//! Names of the files in and beside the folders of runs.

use std::path::Path;

/// The file that marks a folder as a run. Only folders that hold it are ever removed.
pub const MARKER: &str = "run.json";
/// The file beside the runs with the id of the run that was joined last. As an id, `latest` means the newest run.
pub const LATEST: &str = "latest";
/// The list of the parts that a copy of a run lacks.
pub const MISSING_PARTS: &str = "missing-parts.txt";
/// The extension of journals.
pub const JOURNAL: &str = "jsonl";

/// Whether a file is a journal, by its name.
pub fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == JOURNAL)
}

pub(super) fn plain(name: Option<&String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    name.iter().flat_map(|name| name.chars()).take(60).map(plain).collect()
}

/// The name of a binary without the hash that cargo adds: `evals-0123456789abcdef`.
pub(super) fn binary(program: &Path) -> String {
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    let without = name.rsplit_once('-').filter(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    });
    without.map_or(&*name, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_lose_the_hash_that_cargo_adds() {
        for (program, name) in [
            ("target/debug/deps/evals-0123456789abcdef", "evals"),
            ("target/debug/deps/my-evals-0123456789abcdef.exe", "my-evals"),
            ("bin/my-evals", "my-evals"),
            ("bin/my-cafe", "my-cafe"),
            ("bin/my-abcdefghijklmnop", "my-abcdefghijklmnop"),
            ("bin/evals-0123456789ABCDEF", "evals-0123456789ABCDEF"),
            ("", ""),
        ] {
            assert_eq!(binary(Path::new(program)), name);
        }
    }
}
