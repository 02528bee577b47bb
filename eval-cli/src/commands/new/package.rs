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

    /// Makes the package, if there is none, and returns its name then. The package is named after its folder, or after the set if
    /// cargo would not take the folder's name.
    pub(super) fn make(&self, set: &Name) -> Result<Option<String>, CommandError> {
        if self.exists {
            return Ok(None);
        }
        let folder = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = folder.filter(|name| is_package_name(name)).unwrap_or_else(|| set.to_string());
        let mut init = cargo::command();
        init.args(["init", "--lib", "--vcs", "none", "--quiet", "--name", &name]).current_dir(&self.folder);
        let why = match init.output() {
            Ok(output) if output.status.success() => return Ok(Some(name)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        let message = format!("`cargo init` made no package in `{}`: {why}", shown(&self.folder));
        Err(CommandError::new(message, "make a package with `cargo init`, then run the command again"))
    }
}

fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
