//! The plugin as a module in a temporary folder, and the command that loads it.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use eval_core::format::{Map, Value};
use tempfile::TempDir;

use eval_core::group::Launch;

/// The module of the plugin, which removes itself once it is loaded.
#[derive(Debug)]
pub(in super::super) struct Plugin(TempDir);

const SOURCE: &str = include_str!("plugin.py");

const MODULE: &str = "evalset_golden_tools";

impl Plugin {
    /// Writes the module for a server. The folder can be read by this user alone.
    pub(in super::super) fn write(router: SocketAddr, token: &str) -> Result<Self, io::Error> {
        let folder = tempfile::Builder::new().prefix("evalset-").tempdir()?;
        let mut settings = Map::from([("host", router.ip().to_string()), ("token", token.to_owned())]);
        settings.insert("port", i64::from(router.port()));
        std::fs::write(
            folder.path().join(MODULE).with_extension("json"),
            Value::Object(settings).to_string(),
        )?;
        std::fs::write(folder.path().join(MODULE).with_extension("py"), SOURCE)?;
        Ok(Self(folder))
    }

    /// The command with the plugin.
    pub(in super::super) fn loaded_by(&self, launch: &Launch) -> Launch {
        let mut launch = launch.clone();
        launch.args.extend(["--extra_plugins".into(), format!("{MODULE}.GoldenTools").into()]);
        let mut folders = vec![self.0.path().to_owned()];
        if let Some(known) = launch.variable("PYTHONPATH").filter(|known| !known.is_empty()) {
            folders.extend(std::env::split_paths(&known).collect::<Vec<PathBuf>>());
        }
        // A folder with the separator in its name cannot be joined: the server then finds no plugin, which is an error.
        let folders = std::env::join_paths(folders).unwrap_or_else(|_| OsString::from(self.0.path()));
        launch.set_variable("PYTHONPATH", folders);
        // A server that never loads the plugin does not remove it.
        launch.remove_with_it(self.0.path().to_owned());
        launch
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_command_loads_the_plugin_and_shows_no_token() {
        let plugin = Plugin::write(([127, 0, 0, 1], 4711).into(), "sesame").unwrap();
        let mut command = Command::new("adk");
        command.args(["api_server", "agents"]).env("PYTHONPATH", "/srv/agents");
        let launch = plugin.loaded_by(&Launch::new(&command));
        assert_eq!(
            launch.to_string(),
            "adk api_server agents --extra_plugins evalset_golden_tools.GoldenTools"
        );
        assert!(!format!("{launch:?} {plugin:?}").contains("sesame"));
        let folders = launch.variable("PYTHONPATH").unwrap();
        let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
        assert_eq!(folders[1], PathBuf::from("/srv/agents"));
        let settings = std::fs::read_to_string(folders[0].join("evalset_golden_tools.json")).unwrap();
        assert_eq!(settings, r#"{"host":"127.0.0.1","token":"sesame","port":4711}"#);
        drop(plugin);
        assert!(!folders[0].exists());
    }
}
