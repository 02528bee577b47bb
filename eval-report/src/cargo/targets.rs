//! The targets of cargo, with and without tests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::metadata;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestBinary<'r> {
    pub package: &'r str,
    /// `None` if the system did not tell its name. It may be any binary of the package then.
    pub name: Option<&'r str>,
}

/// The targets of the workspace. Empty if cargo finds no workspace.
#[derive(Debug, Default)]
pub struct Targets(Vec<Target>);

#[derive(Debug, PartialEq, Eq)]
struct Target {
    package: String,
    name: String,
    kind: String,
}

impl Targets {
    pub fn here() -> Self {
        metadata().map(Self::from_metadata).unwrap_or_default()
    }

    fn from_metadata(metadata: &Value) -> Self {
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
    pub fn selection(&self, binary: TestBinary<'_>) -> Vec<String> {
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

    /// The targets with tests that cargo may start after these binaries, each with its package. `None` if a
    /// binary belongs to no package here: the later targets are unknown then.
    ///
    /// Cargo starts the library and the programs of a package before its other tests.
    pub(crate) fn others(&self, started: &BTreeSet<TestBinary<'_>>) -> Option<Vec<(&str, &str)>> {
        let packages: BTreeSet<&str> = started.iter().map(|binary| binary.package).collect();
        let crate_name = |name: &str| name.replace('-', "_");
        let is_started = |target: &Target| {
            started.iter().any(|binary| {
                binary.package == target.package
                    && binary.name.is_none_or(|name| crate_name(name) == crate_name(&target.name))
            })
        };
        let is_other = |target: &&Target| match target.kind.as_str() {
            "custom-build" | "example" | "bench" => false,
            "test" => !is_started(target),
            _ => !packages.contains(target.package.as_str()),
        };
        let is_known = |package: &&str| self.0.iter().any(|target| target.package == *package);
        let others = self.0.iter().filter(is_other).map(|target| (&*target.package, &*target.name));
        packages.iter().all(is_known).then(|| others.collect())
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
        let started = BTreeSet::from([binary("app", "evals"), binary("app", "all_evals")]);
        for (package, name, kind, expected) in [
            ("app", "evals", "test", false),
            ("app", "all-evals", "test", false),
            ("app", "app", "lib", false),
            ("app", "demo", "example", false),
            ("app", "smoke", "test", true),
            ("other", "other", "lib", true),
            ("other", "evals", "test", true),
        ] {
            let metadata = serde_json::json!({ "packages": [target("app", "evals", "test"), target(package, name, kind)] });
            let others = expected.then_some((package, name)).into_iter().collect();
            assert_eq!(
                Targets::from_metadata(&metadata).others(&started),
                Some(others),
                "{package} {name} {kind}"
            );
        }
        assert_eq!(Targets::default().others(&started), None, "they are not known");
    }

    #[test]
    fn a_binary_is_selected_by_its_kind() {
        let metadata = serde_json::json!({ "packages": [{ "name": "my-app", "targets": [
            { "name": "my_app", "kind": ["lib"] },
            { "name": "my-app", "kind": ["bin"] },
            { "name": "all-evals", "kind": ["test"] },
            { "name": "build-script-build", "kind": ["custom-build"] }
        ]}]});
        let targets = Targets::from_metadata(&metadata);
        assert_eq!(targets.selection(binary("my-app", "all_evals")), ["--test", "all-evals"]);
        assert_eq!(targets.selection(binary("my-app", "my_app")), ["--lib", "--bin", "my-app"]);
        assert_eq!(targets.selection(binary("my-app", "gone")), [""; 0]);
        assert_eq!(targets.selection(binary("other", "all_evals")), [""; 0]);
    }
}
