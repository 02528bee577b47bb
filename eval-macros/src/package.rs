//! The package and the target that cargo is building.

mod manifest;

use std::path::{Path, PathBuf};
use std::{env, fs};

use manifest::Manifest;
use proc_macro2::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A target of a build without cargo.
    Unknown,
    Lib,
    /// A binary or an example, by its name.
    Bin(String),
    /// A file of tests, by the name of its crate, which has `_` for each `-` in the name of the target.
    Test(String),
    /// A file of benchmarks, by the name of its crate.
    Bench(String),
}

impl Target {
    /// The target that the attribute is expanded in.
    ///
    /// Cargo sets `CARGO_BIN_NAME` for binaries and examples, `CARGO_TARGET_TMPDIR` for tests and benchmarks, and
    /// neither for the library.
    pub(crate) fn current() -> Self {
        Self::of(&|name| env::var(name).ok(), || {
            source_file(Span::call_site()).is_some_and(|file| is_bench(&file))
        })
    }

    fn of(variable: &dyn Fn(&str) -> Option<String>, is_bench: impl FnOnce() -> bool) -> Self {
        let Some(krate) = variable("CARGO_CRATE_NAME") else { return Self::Unknown };
        match variable("CARGO_BIN_NAME") {
            Some(name) => Self::Bin(name),
            None if variable("CARGO_TARGET_TMPDIR").is_none() => Self::Lib,
            None if is_bench() => Self::Bench(krate),
            None => Self::Test(krate),
        }
    }
}

/// The file with a span; `None` in editors, which do not know it.
pub(crate) fn source_file(span: Span) -> Option<PathBuf> {
    // `unwrap` converts to the compiler's span. It panics only outside of a compiler (in tests), where there
    // is no source file.
    proc_macro::is_available().then(|| span.unwrap().local_file()).flatten()
}

fn is_bench(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "benches")
}

/// The name by which the other targets of the package call its library; `None` if the target is the library,
/// or if there is none.
pub(crate) fn library_beside(target: &Target) -> Option<String> {
    if matches!(target, Target::Lib | Target::Unknown) {
        return None;
    }
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let manifest = Manifest::read(&folder)?;
    let has_one = manifest.has_library() || folder.join("src/lib.rs").is_file();
    let name = || env::var("CARGO_PKG_NAME").ok().map(|name| name.replace('-', "_"));
    has_one.then(|| manifest.library_name().or_else(name)).flatten()
}

/// The name that the package gave to eval-core, if it is another one.
pub(crate) fn renamed_eval_core() -> Option<String> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let manifest = Manifest::read(&folder)?;
    let above = folder.ancestors().skip(1).take(8);
    let workspace = || above.filter_map(Manifest::read).find(Manifest::is_workspace);
    manifest.renamed("eval-core", workspace)
}

impl Manifest {
    fn read(folder: &Path) -> Option<Self> {
        fs::read_to_string(folder.join("Cargo.toml")).ok().map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_which_target_it_builds() {
        let target = |set: &[(&str, &str)], is_bench| {
            let find = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            Target::of(&find, || is_bench)
        };
        let krate = ("CARGO_CRATE_NAME", "one_two");
        assert_eq!(target(&[], false), Target::Unknown);
        assert_eq!(target(&[krate], false), Target::Lib);
        assert_eq!(target(&[krate, ("CARGO_BIN_NAME", "one-two")], false), Target::Bin("one-two".to_owned()));
        assert_eq!(target(&[krate, ("CARGO_TARGET_TMPDIR", "t")], false), Target::Test("one_two".to_owned()));
        assert_eq!(target(&[krate, ("CARGO_TARGET_TMPDIR", "t")], true), Target::Bench("one_two".to_owned()));
    }

    #[test]
    fn benchmarks_stand_in_their_folder() {
        assert!(is_bench(Path::new("app/benches/speed.rs")));
        assert!(!is_bench(Path::new("app/tests/benches.rs")));
    }
}
