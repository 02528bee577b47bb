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
    /// The names of the packages that it is built with. Those of tests alone are left out.
    pub(crate) dependencies: BTreeSet<String>,
    /// The files below `src`.
    pub(crate) sources: Sources,
}

/// The root of the workspace. The variable is the one of the run, so that the sources may stand elsewhere.
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

/// The packages that a manifest names in its dependencies, for any target, without those of tests alone.
pub(crate) fn dependencies(manifest: &Table) -> BTreeSet<String> {
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
