//! The workspace on disk: its members, their manifests and files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use toml::{Table, Value};

use crate::tree::Sources;

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its folder, which is also what it is called in this repository.
    pub(crate) folder: String,
    /// The name of its package.
    pub(crate) package: String,
    /// The names of the packages that it is built with. Dev-dependencies are left out.
    pub(crate) dependencies: BTreeSet<String>,
    /// The files below `src`.
    pub(crate) sources: Sources,
}

/// The root of the workspace. The variable is read when the test runs, so that the sources may have moved since the
/// build.
pub(crate) fn root() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
}

/// The members that the root manifest names.
pub(crate) fn members() -> Vec<Member> {
    let manifest = manifest(&root().join("Cargo.toml"));
    let members = manifest["workspace"]["members"].as_array().expect("`members` is a list");
    members.iter().map(|folder| member(folder.as_str().expect("a member is a path"))).collect()
}

fn member(folder: &str) -> Member {
    assert!(!folder.contains('*'), "the member `{folder}` of Cargo.toml is a pattern: name each member");
    let manifest = manifest(&root().join(folder).join("Cargo.toml"));
    let package = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
    let sources = rust_files(&format!("{folder}/src"));
    Member { folder: folder.to_owned(), package, dependencies: dependencies(&manifest), sources }
}

fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The contradictions between the dependencies of the members on each other and a table of allowed ones.
pub(crate) fn check(members: &[Member], allowed: &[(&str, &[&str])]) -> Vec<String> {
    let mut found = Vec::new();
    for member in members {
        let Some((_, allowed)) = allowed.iter().find(|(folder, _)| *folder == member.folder) else {
            let folder = &member.folder;
            found.push(format!(
                "{folder}: the order of the crates lacks this member of the workspace: add it"
            ));
            continue;
        };
        for other in members {
            if member.dependencies.contains(&other.package) && !allowed.contains(&&*other.folder) {
                found.push(format!("{}/Cargo.toml: may not depend on {}", member.folder, other.folder));
            }
        }
    }
    found
}

/// The packages that a manifest names in its dependencies, for any target, without dev-dependencies.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([manifest]);
    let lists = tables.flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")]);
    let entries = lists.flatten().filter_map(Value::as_table).flat_map(Table::iter);
    let name = |(key, value): (&String, &Value)| {
        value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
    };
    entries.map(name).collect()
}

/// The Rust files below a folder, without those that a build has put there. No file if the folder does not exist.
pub(crate) fn rust_files(folder: &str) -> Sources {
    let mut found = Sources::new();
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return found };
    for entry in entries {
        let entry = entry.expect("a folder can be read");
        let name = entry.file_name().into_string().expect("the name of a file is Unicode");
        let path = format!("{folder}/{name}");
        if entry.file_type().expect("a file has a type").is_dir() {
            if name != "target" {
                found.append(&mut rust_files(&path));
            }
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|error| panic!("{path}: {error}"));
            found.insert(path, text);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_all_kinds_are_found_but_those_of_tests() {
        let manifest = r#"
            [dependencies]
            low.workspace = true
            renamed = { package = "real", version = "1" }
            [dependencies.table]
            path = "../table"
            [build-dependencies]
            build = "1"
            [target.'cfg(unix)'.dependencies]
            unix = "1"
            [dev-dependencies]
            test = "1"
        "#;
        let found = dependencies(&manifest.parse().unwrap());
        assert_eq!(found.iter().collect::<Vec<_>>(), ["build", "low", "real", "table", "unix"]);
    }

    #[test]
    fn a_dependency_against_the_order_is_named() {
        let member = |folder: &str, package: &str, dependencies: &[&str]| Member {
            folder: folder.to_owned(),
            package: package.to_owned(),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
            sources: Sources::new(),
        };
        let allowed: [(&str, &[&str]); 2] = [("low", &[]), ("high", &["low"])];
        let members = [member("low", "low", &["serde"]), member("high", "cargo-high", &["low", "serde"])];
        assert_eq!(check(&members, &allowed), Vec::<String>::new());
        let members = [
            member("low", "low", &["cargo-high"]),
            member("high", "cargo-high", &[]),
            member("new", "new", &["low"]),
        ];
        assert_eq!(
            check(&members, &allowed),
            [
                "low/Cargo.toml: may not depend on high",
                "new: the order of the crates lacks this member of the workspace: add it",
            ]
        );
    }

    #[test]
    fn the_workspace_is_read() {
        let members = members();
        assert!(members.iter().all(|member| member.sources.len() > 5), "{members:?}");
        assert!(members.iter().any(|member| !member.dependencies.is_empty()), "{members:?}");
    }
}
