//! Calls of cargo, and the target folder without a call.

mod targets;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use serde_json::Value;
use toml_edit::{Array, Document, Item};

pub use targets::{Targets, TestBinary};

/// The cargo that called this program, else the one on the path.
pub fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The target folder of the workspace here; `None` without one. Cargo takes long: it is asked in doubt only.
pub fn target_directory() -> Option<PathBuf> {
    of_here().unwrap_or_else(|Doubt| metadata()?["target_directory"].as_str().map(PathBuf::from))
}

/// The output of `cargo metadata` here; `None` without a manifest. Cargo takes long, and is asked once.
pub fn metadata() -> Option<&'static Value> {
    static METADATA: LazyLock<Option<Value>> = LazyLock::new(|| {
        if !env::current_dir().ok()?.ancestors().any(|folder| folder.join("Cargo.toml").is_file()) {
            return None;
        }
        let mut command = command();
        let output =
            command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output().ok()?;
        serde_json::from_slice(&output.stdout).ok()
    });
    METADATA.as_ref()
}

/// A case that only cargo can decide: excluded packages, pointers to workspaces, configs that include others.
#[derive(Debug)]
struct Doubt;

/// The target folder of the current folder. The caller handles a value of `CARGO_TARGET_DIR`.
fn of_here() -> Result<Option<PathBuf>, Doubt> {
    let Ok(here) = env::current_dir() else { return Ok(None) };
    // Cargo decides if a variable is set: an empty value is an error of cargo.
    if ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].iter().any(|name| env::var_os(name).is_some()) {
        return if here.ancestors().any(has_manifest) { Err(Doubt) } else { Ok(None) };
    }
    let filled = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home =
        filled("CARGO_HOME").map(|home| here.join(home)).or_else(|| Some(filled("HOME")?.join(".cargo")));
    found(&here, home.as_deref())
}

/// The target folder for commands in a folder, with cargo's own folder; `None` without a manifest here or above.
fn found(here: &Path, cargo_home: Option<&Path>) -> Result<Option<PathBuf>, Doubt> {
    let Some(package) = here.ancestors().find(|folder| has_manifest(folder)) else { return Ok(None) };
    match configured(here, cargo_home.ok_or(Doubt)?)? {
        Some(folder) => Ok(Some(folder)),
        None => Ok(Some(workspace(package)?.join("target"))),
    }
}

fn has_manifest(folder: &Path) -> bool {
    folder.join("Cargo.toml").is_file()
}

fn toml(path: &Path) -> Result<Option<Document<String>>, Doubt> {
    match fs::read_to_string(path) {
        Ok(text) => Document::parse(text).map(Some).map_err(|_| Doubt),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(_) => Err(Doubt),
    }
}

/// The target folder in the nearest config: the configs of the folder and its parents, then the one in cargo's own folder.
fn configured(here: &Path, cargo_home: &Path) -> Result<Option<PathBuf>, Doubt> {
    let nearest = here.ancestors().map(|folder| folder.join(".cargo"));
    let mut named = None;
    for folder in nearest.chain([cargo_home.to_owned()]) {
        // The old name of configs.
        if folder.join("config").exists() {
            return Err(Doubt);
        }
        let Some(config) = toml(&folder.join("config.toml"))? else { continue };
        let build = config.get("build");
        if config.contains_key("include") || build.is_some_and(|build| !build.is_table_like()) {
            return Err(Doubt);
        }
        let Some(target) = build.and_then(|build| build.get("target-dir")) else { continue };
        let is_plain = |target: &&str| !target.is_empty() && !target.contains(['{', '}']);
        let target = target.as_str().filter(is_plain).ok_or(Doubt)?;
        // A relative path is relative to the parent of the folder `.cargo`.
        named = named.or(Some(folder.parent().ok_or(Doubt)?.join(target)));
    }
    Ok(named)
}

fn workspace(package: &Path) -> Result<&Path, Doubt> {
    let manifest = manifest(package)?;
    if manifest.contains_key("workspace") {
        return Ok(package);
    }
    for folder in package.ancestors().skip(1).filter(|folder| has_manifest(folder)) {
        let manifest = self::manifest(folder)?;
        let Some(workspace) = manifest.get("workspace") else { continue };
        let none = Array::new();
        let list = |name: &str| match workspace.get(name) {
            None => Ok(&none),
            Some(list) => list.as_array().ok_or(Doubt),
        };
        let below = package.strip_prefix(folder).map_err(|_| Doubt)?;
        let is_member =
            list("members")?.iter().any(|member| member.as_str().is_some_and(|it| matches(it, below)));
        // A package that is not listed can be a member as a dependency of another member.
        return if is_member && list("exclude")?.is_empty() { Ok(folder) } else { Err(Doubt) };
    }
    Ok(package)
}

/// A manifest of a package or a workspace that names no workspace elsewhere.
fn manifest(folder: &Path) -> Result<Document<String>, Doubt> {
    let manifest = toml(&folder.join("Cargo.toml"))?.ok_or(Doubt)?;
    let package = manifest.get("package").or_else(|| manifest.get("project"));
    let is_plain =
        package.is_none_or(|package| package.is_table_like() && package.get("workspace").is_none());
    let is_known = package.is_some() || manifest.get("workspace").is_some_and(Item::is_table_like);
    if is_plain && is_known { Ok(manifest) } else { Err(Doubt) }
}

/// Whether an entry of `members` matches a path. `*` matches one whole name.
fn matches(member: &str, path: &Path) -> bool {
    let member: Vec<&str> = member.trim_end_matches('/').split('/').collect();
    let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
    names.is_some_and(|names| {
        names.len() == member.len()
            && member.iter().zip(names).all(|(wanted, name)| *wanted == "*" || *wanted == name)
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const PACKAGE: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[lib]\npath = \"Cargo.toml\"\n";

    /// Cargo's answer in a folder.
    fn asked(here: &Path, home: &Path) -> Option<PathBuf> {
        let mut command = Command::new(env!("CARGO"));
        command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(here);
        command.env("CARGO_HOME", home).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
        let output = command.output().expect("cargo runs");
        let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
        metadata["target_directory"].as_str().map(PathBuf::from)
    }

    /// The folder found in `here` of a layout, after a comparison with cargo's answer.
    fn compared(what: &str, files: &[(&str, &str)], here: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        // The temporary folder can be behind a link. Cargo and this program see its target.
        let root = folder.path().canonicalize().expect("the folder");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the file");
            fs::write(path, text).expect("the file");
        }
        let (here, home) = (root.join(here), root.join("home/.cargo"));
        fs::create_dir_all(&here).expect("the folder to be in");
        let asked = asked(&here, &home);
        match found(&here, Some(&home)) {
            Ok(Some(folder)) => {
                assert_eq!(Some(&folder), asked.as_ref(), "{what}");
                folder.strip_prefix(&root).unwrap_or(&folder).display().to_string()
            }
            Ok(None) => {
                assert_eq!(asked, None, "{what}");
                "none".to_owned()
            }
            Err(Doubt) => "cargo is asked".to_owned(),
        }
    }

    #[test]
    fn the_folder_is_the_one_that_cargo_says_and_what_is_not_plain_is_left_to_cargo() {
        let workspace = "[workspace]\nmembers = [\"x\", \"crates/*\"]\nresolver = \"3\"\n";
        let excluding = "[workspace]\nexclude = [\"x\"]\n";
        let pointing = PACKAGE.replace("[lib]", "workspace = \"..\"\n[lib]");
        let (root, member) = (("w/Cargo.toml", workspace), ("w/x/Cargo.toml", PACKAGE));
        let globbed = ("w/crates/y/Cargo.toml", PACKAGE);
        let y: &'static str = PACKAGE.replace("\"a\"", "\"b\"").leak();
        let globbed = (globbed.0, y);
        let all = [root, member, globbed];
        let with = |more: (&'static str, &'static str)| [&all[..], &[more]].concat();
        let target = |dir: &str| -> &'static str { format!("[build]\ntarget-dir = \"{dir}\"\n").leak() };
        for (what, files, here, expected) in [
            ("no manifest", vec![], "w", "none"),
            ("a package alone", vec![member], "w/x/src/deep", "w/x/target"),
            ("a workspace", all.to_vec(), "w", "w/target"),
            ("a member", all.to_vec(), "w/x/src", "w/target"),
            ("a member of a glob", all.to_vec(), "w/crates/y", "w/target"),
            (
                "a workspace in a workspace",
                vec![root, ("w/x/Cargo.toml", "[workspace]\n")],
                "w/x",
                "w/x/target",
            ),
            (
                "a package in a package",
                vec![("w/Cargo.toml", PACKAGE), ("w/x/Cargo.toml", y)],
                "w/x",
                "w/x/target",
            ),
            ("an excluded package", vec![("w/Cargo.toml", excluding), member], "w/x", "cargo is asked"),
            (
                "a package that no list names",
                vec![("w/Cargo.toml", "[workspace]\n"), member],
                "w/x",
                "cargo is asked",
            ),
            ("a package beside the members", with(("w/z/Cargo.toml", y)), "w/z", "cargo is asked"),
            ("a package below a member", with(("w/x/z/Cargo.toml", y)), "w/x/z", "cargo is asked"),
            (
                "a member beside an excluded package",
                vec![("w/Cargo.toml", "[workspace]\nmembers = [\"x\"]\nexclude = [\"z\"]\n"), member],
                "w/x",
                "cargo is asked",
            ),
            ("an empty manifest", vec![("w/Cargo.toml", "")], "w", "cargo is asked"),
            (
                "a package that is a number",
                vec![("w/Cargo.toml", "package = 1\n[workspace]\n")],
                "w",
                "cargo is asked",
            ),
            (
                "a build that is a number",
                with((".cargo/config.toml", "build = 1\n")),
                "w/x",
                "cargo is asked",
            ),
            ("a config without a name", with((".cargo/config.toml", target(""))), "w/x", "cargo is asked"),
            (
                "a config with a template",
                with((".cargo/config.toml", target("{workspace-root}"))),
                "w/x",
                "cargo is asked",
            ),
            ("a folder for a config", with((".cargo/config.toml/file", "")), "w/x", "cargo is asked"),
            ("a pointer", vec![root, ("w/x/Cargo.toml", &pointing), globbed], "w/x", "cargo is asked"),
            ("a broken manifest", vec![("w/Cargo.toml", "[package")], "w", "cargo is asked"),
            ("a config above", with((".cargo/config.toml", target("out"))), "w/x", "out"),
            (
                "a config further below",
                [
                    &with((".cargo/config.toml", target("out")))[..],
                    &[("w/.cargo/config.toml", target("../near"))],
                ]
                .concat(),
                "w/x",
                "w/../near",
            ),
            (
                "an absolute path",
                with(("w/.cargo/config.toml", target("/elsewhere/t"))),
                "w/x",
                "/elsewhere/t",
            ),
            ("cargo's own folder", with(("home/.cargo/config.toml", target("own"))), "w/x", "home/own"),
            ("a config without it", with(("w/.cargo/config.toml", "[build]\njobs = 1\n")), "w/x", "w/target"),
            ("dotted keys", with(("w/.cargo/config.toml", "build.target-dir = 'd'\n")), "w/x", "w/d"),
            ("an old name", with(("w/.cargo/config", target("old"))), "w/x", "cargo is asked"),
            (
                "an include",
                with(("w/.cargo/config.toml", "include = [\"more.toml\"]\n")),
                "w/x",
                "cargo is asked",
            ),
            (
                "a list",
                with(("w/.cargo/config.toml", "[build]\ntarget-dir = [\"a\"]\n")),
                "w/x",
                "cargo is asked",
            ),
        ] {
            assert_eq!(compared(what, &files, here), expected, "{what}");
        }
    }
}
