//! Cargo's targets, and the tests of a test binary.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::cargo_tests::TestBinary;
use crate::cargo;

/// The targets of the workspace. Empty if cargo finds no workspace.
#[derive(Debug, Default)]
pub(super) struct Targets(Vec<Target>);

#[derive(Debug, PartialEq, Eq)]
struct Target {
    package: String,
    name: String,
    kind: String,
}

impl Targets {
    /// The targets of the workspace of the current folder.
    pub(super) fn here() -> Self {
        cargo::metadata().map(Self::of).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(metadata: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut targets = Vec::new();
        for package in list(&metadata["packages"]) {
            for target in list(&package["targets"]) {
                let kind = list(&target["kind"]).first().map(text).unwrap_or_default();
                targets.push(Target { package: text(&package["name"]), name: text(&target["name"]), kind });
            }
        }
        Self(targets)
    }

    /// The arguments that select a binary: `--test evals`. Empty if cargo has no such target: all binaries of the package
    /// are then asked for the tests.
    pub(super) fn selection(&self, binary: TestBinary<'_>) -> Vec<String> {
        let crate_name = |name: &str| name.replace('-', "_");
        let of_binary = self.0.iter().filter(|target| {
            target.package == binary.package
                && binary.name.is_some_and(|name| crate_name(&target.name) == crate_name(name))
                && target.kind != "custom-build"
        });
        of_binary
            .flat_map(|target| match target.kind.as_str() {
                kind @ ("test" | "bin" | "example" | "bench") => {
                    vec![format!("--{kind}"), target.name.clone()]
                }
                // A kind of library.
                _ => vec!["--lib".to_owned()],
            })
            .collect()
    }

    /// Whether cargo may start targets with tests after these. `true` if the targets are not known.
    ///
    /// Cargo starts the library and the programs of a package before its other tests.
    pub(super) fn may_be_others(&self, started: &BTreeSet<TestBinary<'_>>) -> bool {
        let packages: BTreeSet<&str> = started.iter().map(|binary| binary.package).collect();
        let is_other = |target: &Target| match target.kind.as_str() {
            "custom-build" | "example" | "bench" => false,
            "test" => !started.contains(&TestBinary { package: &target.package, name: Some(&target.name) }),
            _ => !packages.contains(target.package.as_str()),
        };
        self.0.is_empty() || self.0.iter().any(is_other)
    }

    /// The tests of a binary that are not ignored. Empty if it cannot be built.
    pub(super) fn unignored(&self, binary: TestBinary<'_>, more: &[String]) -> Vec<String> {
        let ignored = self.list(binary, more, &["--ignored"]).unwrap_or_default();
        let mut tests = self.all(binary, more).unwrap_or_default();
        tests.retain(|name| !ignored.contains(name));
        tests.into_iter().collect()
    }

    /// All tests of a binary; `None` if it cannot be built.
    pub(super) fn all(&self, binary: TestBinary<'_>, more: &[String]) -> Option<HashSet<String>> {
        self.list(binary, more, &[])
    }

    fn list(&self, binary: TestBinary<'_>, more: &[String], flags: &[&str]) -> Option<HashSet<String>> {
        let mut command = cargo::command();
        command.args(["test", "--quiet", "-p", binary.package]).args(self.selection(binary)).args(more);
        command.args(["--", "--list", "--format", "terse"]).args(flags);
        let output = command.output().ok().filter(|output| output.status.success())?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary<'a>(package: &'a str, name: &'a str) -> TestBinary<'a> {
        TestBinary { package, name: Some(name) }
    }

    #[test]
    fn other_binaries_are_those_that_cargo_starts_later() {
        let target = |package: &str, name: &str, kind: &str| serde_json::json!({ "name": package, "targets": [{ "name": name, "kind": [kind] }] });
        let started = BTreeSet::from([binary("app", "evals")]);
        for (package, name, kind, expected) in [
            ("app", "evals", "test", false),
            ("app", "app", "lib", false),
            ("app", "demo", "example", false),
            ("app", "smoke", "test", true),
            ("other", "other", "lib", true),
            ("other", "evals", "test", true),
        ] {
            let metadata = serde_json::json!({ "packages": [target("app", "evals", "test"), target(package, name, kind)] });
            assert_eq!(Targets::of(&metadata).may_be_others(&started), expected, "{package} {name} {kind}");
        }
        assert!(Targets::default().may_be_others(&started), "nobody knows");
    }

    #[test]
    fn a_binary_is_selected_by_its_kind() {
        let metadata = serde_json::json!({ "packages": [{ "name": "my-app", "targets": [
            { "name": "my_app", "kind": ["lib"] },
            { "name": "my-app", "kind": ["bin"] },
            { "name": "all-evals", "kind": ["test"] },
            { "name": "build-script-build", "kind": ["custom-build"] }
        ]}]});
        let targets = Targets::of(&metadata);
        assert_eq!(targets.selection(binary("my-app", "all_evals")), ["--test", "all-evals"]);
        assert_eq!(targets.selection(binary("my-app", "my_app")), ["--lib", "--bin", "my-app"]);
        assert_eq!(targets.selection(binary("my-app", "gone")), [""; 0]);
        assert_eq!(targets.selection(binary("other", "all_evals")), [""; 0]);
    }
}
