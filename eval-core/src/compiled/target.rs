//! The target of cargo that a test is in: what a command that runs the test again has to name.
//!
//! Without it, cargo leaves out targets whose features are off, runs no test and succeeds.

use std::path::Path;

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
    /// `nextest` is the binary id if nextest runs the test, without the package: it has the name as it is in the manifest.
    /// `executable` is the test binary: that of an example has a folder of its own.
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

/// `evals`, `bin/evals`, `proc-macro/evals`, or nothing for the library.
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

/// The names that a crate of this name can have as a target, as a glob for a shell.
fn pattern(krate: &str) -> String {
    if krate.contains('_') { format!("'{}'", krate.replace('_', "[-_]")) } else { krate.to_owned() }
}

#[cfg(test)]
mod tests {
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
