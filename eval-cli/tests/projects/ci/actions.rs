//! The actions that the workflows use.

use std::collections::BTreeMap;
use std::fs;

use super::keys::Keys;
use super::machine::Machine;

/// An action with its inputs. Each input is known, with the values that it may have.
#[derive(Debug)]
pub(super) enum Action {
    /// `actions/checkout`.
    Checkout,
    /// `Swatinem/rust-cache`, which saves after failures too.
    RustCache,
    /// `actions/setup-python`. The machine has one.
    SetupPython,
    /// `actions/upload-artifact`. A file that is not there is an error here, even if the action would warn.
    Upload { name: String, paths: Vec<String> },
}

impl Action {
    pub(super) fn new(uses: &str, mut with: Keys<'_>) -> Result<Self, String> {
        let action = match uses {
            "actions/checkout@v4" => {
                with.only("persist-credentials", "false")?;
                Self::Checkout
            }
            "Swatinem/rust-cache@v2" => {
                with.only("cache-on-failure", "true")?;
                Self::RustCache
            }
            "actions/setup-python@v5" => {
                with.only("python-version", "3.13")?;
                Self::SetupPython
            }
            "actions/upload-artifact@v4" => {
                if with.text("if-no-files-found")?.is_some_and(|value| value != "error") {
                    return Err("files that are not there are no error".to_owned());
                }
                let name = with.text("name")?.ok_or("an artifact has no name")?;
                let paths = with.text("path")?.ok_or("an artifact has no files")?;
                Self::Upload { name, paths: paths.lines().map(str::to_owned).collect() }
            }
            _ => return Err(format!("`{uses}` is no action that is known here")),
        };
        with.end().map(|()| action)
    }

    /// Does what the action does when its step comes, and says what went wrong.
    pub(super) fn run(&self, machine: &Machine) -> Result<(), String> {
        match self {
            Self::Checkout => machine.checkout(),
            Self::RustCache => {
                machine.restore("rust-cache-home", &machine.cargo_home())?;
                machine.restore("rust-cache-target", &machine.workspace().join("target"))
            }
            Self::SetupPython => machine.run(&["-e"], "python3 --version", &BTreeMap::new()).ok(),
            Self::Upload { name, paths } => {
                let folder = machine.artifact(name);
                fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
                // Stricter than the action, which is content with one of several files.
                for path in paths {
                    let copied = fs::copy(machine.workspace().join(path), folder.join(path));
                    copied.map_err(|error| format!("no files were found: {path}: {error}"))?;
                }
                Ok(())
            }
        }
    }

    /// Does what the action does when the job ends.
    pub(super) fn after(&self, machine: &Machine) -> Result<(), String> {
        match self {
            Self::RustCache => {
                // Files in folders that are of no profile are not kept: recorded runs among them.
                drop(fs::remove_dir_all(machine.workspace().join("target/evalset")));
                machine.save("rust-cache-home", &machine.cargo_home())?;
                machine.save("rust-cache-target", &machine.workspace().join("target"))
            }
            Self::Checkout | Self::SetupPython | Self::Upload { .. } => Ok(()),
        }
    }
}
