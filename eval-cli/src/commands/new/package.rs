//! The package to which the files are added.

use std::env;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::new_file::{Name, shown};
use crate::cargo;
use crate::output::CommandError;

/// The package of the current folder.
pub(super) struct Package {
    folder: PathBuf,
    current: PathBuf,
    exists: bool,
}

impl Package {
    /// The package of the current folder, or a new package in it.
    pub(super) fn here() -> Result<Self, CommandError> {
        let current = env::current_dir().map_err(|error| {
            CommandError::new(
                format!("cannot tell the current folder: {error}"),
                "go to a folder that exists",
            )
        })?;
        let Some(folder) = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file()) else {
            return Ok(Self { folder: current.clone(), current, exists: false });
        };
        let folder = folder.to_path_buf();
        let manifest = folder.join("Cargo.toml");
        if !Manifest::read(&manifest)?.has_package() {
            let message = format!("`{}` is a workspace without a package of its own", shown(&manifest));
            return Err(CommandError::new(message, "go to the folder of the package that the tests are for"));
        }
        Ok(Self { folder, current, exists: true })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the files go to a folder above the current one.
    pub(super) fn is_above(&self) -> bool {
        self.folder != self.current
    }

    /// Refuses a dependency of this name on a package of the registry, which is another project.
    pub(super) fn refuse_registry(&self, name: &str) -> Result<(), CommandError> {
        let manifest = self.folder.join("Cargo.toml");
        if !self.exists || !Manifest::read(&manifest)?.is_from_registry(name) {
            return Ok(());
        }
        let message = format!(
            "`{name}` in `{}` is a package of the registry, which is another project",
            shown(&manifest)
        );
        Err(CommandError::new(message, format!("remove that line; this command adds the right `{name}`")))
    }

    /// Refuses a package in which cargo would not see the file of tests.
    pub(super) fn refuse_unseen_tests(&self, name: &Name) -> Result<(), CommandError> {
        let manifest = self.folder.join("Cargo.toml");
        if !self.exists || Manifest::read(&manifest)?.sees_test(&name.to_string()) {
            return Ok(());
        }
        let message = format!(
            "`{}` has `autotests = false`, so cargo would not see `tests/{name}.rs`",
            shown(&manifest)
        );
        let help = format!("add `[[test]]` with `name = \"{name}\"` to it, then run the command again");
        Err(CommandError::new(message, help))
    }

    /// Makes the package, if there is none. The package is named after its folder, or after the set if the folder's name
    /// cannot be taken.
    pub(super) fn make(&self, set: &Name, dependencies: &[&str]) -> Result<Option<Made>, CommandError> {
        if self.exists {
            return Ok(None);
        }
        let folder =
            self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut why = "no name is left for it".to_owned();
        for name in [folder.clone(), set.to_string(), format!("{set}-evals")] {
            if !is_package_name(&name) || is_name_of_another(&name, dependencies) {
                continue;
            }
            match self.init(&name) {
                Ok(()) => {
                    let refused = (name != folder).then_some(folder);
                    return Ok(Some(Made { name, refused }));
                }
                Err(error) => why = error,
            }
            if !why.contains("package name") {
                break;
            }
        }
        let message = format!("`cargo init` made no package in `{}`: {why}", shown(&self.folder));
        let help = "make a package with `cargo init --lib --name NAME`, then run the command again";
        Err(CommandError::new(message, help))
    }

    /// Runs `cargo init`. The error is what cargo says.
    fn init(&self, name: &str) -> Result<(), String> {
        let mut init = cargo::command();
        init.args(["init", "--lib", "--vcs", "none", "--quiet", "--name", name]).current_dir(&self.folder);
        match init.output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A package that was made.
pub(super) struct Made {
    pub(super) name: String,
    /// The name of the folder, if a package cannot have it.
    pub(super) refused: Option<String>,
}

fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Whether a package of this name would take the place of a crate that the tests need. Cargo itself refuses keywords and `test`.
fn is_name_of_another(name: &str, dependencies: &[&str]) -> bool {
    const OF_RUST: [&str; 4] = ["alloc", "core", "proc_macro", "std"];
    // Cargo cannot lock two packages of one name and version.
    const OURS: [&str; 8] = [
        "eval_agents",
        "eval_core",
        "eval_format",
        "eval_gateway",
        "eval_macros",
        "eval_report",
        "eval_server",
        "eval_support",
    ];
    let of_crate = |name: &str| name.replace('-', "_");
    let name = of_crate(name);
    [&OF_RUST[..], &OURS].concat().contains(&name.as_str())
        || dependencies.iter().any(|it| of_crate(it) == name)
}
