//! A machine of a CI service: nothing on it but the tools, before a job begins.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

use crate::WORKSPACE;
use crate::first_steps::place;
use crate::project::Project;

/// The line that installs the command.
const INSTALL: &str = "cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset";

/// A shell that has ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) log: String,
}

impl Ended {
    pub(super) fn ok(self) -> Result<(), String> {
        if self.code == Some(0) { Ok(()) } else { Err(self.log) }
    }
}

/// The repository of a user, the machine of its jobs, and what the service keeps.
pub(super) struct Machine {
    place: PathBuf,
    /// Whether the command and the crates are built from the address, and each job begins with its cache. Otherwise the built
    /// program replaces the install line, the crates are patched to this workspace, and all projects share the target folder.
    is_real: bool,
    /// The address of this project.
    address: String,
}

impl Machine {
    /// A service for which no job has run.
    pub(super) fn new(name: &str, address: &str, is_real: bool) -> Self {
        let place = place(&format!("ci_{name}"));
        drop(fs::remove_dir_all(&place));
        fs::create_dir_all(place.join("origin")).expect("there is a place for temporary files");
        let machine = Self { place, is_real, address: address.to_owned() };
        if is_real {
            // It names the registry.
            let config = fs::read_to_string(home_of_cargo().join("config.toml"));
            machine.configure(".", &config.unwrap_or_default());
        }
        machine
    }

    /// Writes a configuration of cargo for all that is in a folder.
    fn configure(&self, folder: &str, config: &str) {
        let folder = self.place.join(folder).join(".cargo");
        fs::create_dir_all(&folder).expect("the folder is ours");
        fs::write(folder.join("config.toml"), config).expect("the folder is ours");
    }

    /// The name of the user's package. No other test has it: packages of one name overwrite each other in the target folder that
    /// all projects share.
    pub(super) fn package(&self) -> String {
        self.place.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The folder in which the user works.
    pub(super) fn origin(&self) -> Project {
        Project::in_folder(self.place.join("origin"))
    }

    /// The folder of a job, into which the repository is checked out.
    pub(super) fn workspace(&self) -> PathBuf {
        self.place.join("work/my-agent")
    }

    fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    /// Cargo's folder if no variable names another one.
    pub(super) fn cargo_home(&self) -> PathBuf {
        self.home().join(".cargo")
    }

    /// The folder of an artifact.
    pub(super) fn artifact(&self, name: &str) -> PathBuf {
        self.place.join("artifacts").join(name)
    }

    /// A file of the runner.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.place.join("runner").join(name)
    }

    /// Commits what the user has written, as the only commit.
    pub(super) fn commit(&self) {
        let line = "rm -rf .git && git init -q && git add --all && \
                    git -c user.name=user -c user.email=user@example.com commit -q -m evals";
        let origin = self.place.join("origin");
        let ended = Command::new("sh").args(["-c", line]).current_dir(origin).status().expect("sh runs");
        assert!(ended.success());
    }

    /// Takes another machine, and drops the artifacts of the last job.
    pub(super) fn begin_job(&self) {
        for folder in ["home", "work", "artifacts", "runner"] {
            drop(fs::remove_dir_all(self.place.join(folder)));
        }
        for folder in [self.cargo_home(), self.workspace(), self.place.join("runner")] {
            fs::create_dir_all(folder).expect("the folder is ours");
        }
        if !self.is_real {
            let (core, address) = (format!("{WORKSPACE}/eval-core"), &self.address);
            self.configure("work", &format!("[patch.\"{address}\"]\neval-core.path = \"{core}\"\n"));
        }
    }

    /// Clones the repository into the folder of the job.
    pub(super) fn checkout(&self) -> Result<(), String> {
        let origin = format!("file://{}", self.place.join("origin").display());
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--depth", "1", &origin]).arg(self.workspace());
        let output = git.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Restores what was saved under a key, if anything was.
    pub(super) fn restore(&self, key: &str, to: &Path) -> Result<(), String> {
        let saved = self.place.join("cache").join(key);
        if saved.exists() { copy(&saved, to) } else { Ok(()) }
    }

    /// Saves a folder under a key, in place of what was saved there.
    pub(super) fn save(&self, key: &str, from: &Path) -> Result<(), String> {
        let saved = self.place.join("cache").join(key);
        drop(fs::remove_dir_all(&saved));
        if from.exists() { copy(from, &saved) } else { Ok(()) }
    }

    /// Runs a script in bash, in the folder of the job.
    pub(super) fn run(&self, options: &[&str], script: &str, variables: &BTreeMap<String, String>) -> Ended {
        let cargo_home = variables.get("CARGO_HOME").map_or_else(|| self.cargo_home(), PathBuf::from);
        let script = if self.is_real { script.to_owned() } else { self.without_install(script, &cargo_home) };
        let (file, log) = (self.file("script.sh"), self.file("log"));
        fs::write(&file, script).expect("the folder is ours");
        let out = File::create(&log).expect("the folder is ours");
        let err = out.try_clone().expect("a file can be open twice");
        let mut command = Project::in_folder(self.workspace()).prepared(Command::new("bash"));
        for (name, _) in env::vars_os() {
            let services = ["ACTIONS_", "CI", "GITHUB_", "GITLAB_", "RUNNER_"];
            if services.iter().any(|service| name.to_string_lossy().starts_with(service)) {
                command.env_remove(name);
            }
        }
        let home = env::var_os("HOME").unwrap_or_default();
        let rustup = env::var_os("RUSTUP_HOME").unwrap_or_else(|| Path::new(&home).join(".rustup").into());
        command.envs(variables).env("HOME", self.home()).env("RUSTUP_HOME", rustup);
        // Of the toolchain that builds this test.
        let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
        let tools = Path::new(&cargo).parent().expect("cargo is in a folder").to_owned();
        let mut path = vec![tools];
        if self.is_real {
            command.env_remove("CARGO_TARGET_DIR").env("CARGO_HOME", cargo_home);
        } else {
            path.push(cargo_home.join("bin"));
            command.env("CARGO_HOME", home_of_cargo()).env("CARGO_NET_OFFLINE", "true");
            if self.workspace().join("Cargo.toml").exists() {
                command.env("EVALSET_DIR", self.workspace().join("target/evalset"));
            }
        }
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        command.env("PATH", env::join_paths(path).expect("they were joined before"));
        command.args(options).arg(file).stdin(Stdio::null()).stdout(out).stderr(err);
        let code = command.status().expect("bash runs").code();
        let log = fs::read(log).expect("the log was written");
        Ended { code, log: String::from_utf8_lossy(&log).into_owned() }
    }

    /// A script in which the program of this workspace takes the place of the line that installs it.
    fn without_install(&self, script: &str, cargo_home: &Path) -> String {
        let installed = format!(
            "test \"$EVALSET_REPOSITORY\" = '{}' && mkdir -p '{home}/bin' && ln -sf '{program}' '{home}/bin'",
            self.address,
            home = cargo_home.display(),
            program = env!("CARGO_BIN_EXE_cargo-evalset"),
        );
        let line = |line| if line == INSTALL { &*installed } else { line };
        script.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Whether a script has the line that installs the command.
pub(super) fn installs(script: &str) -> bool {
    script.lines().any(|line| line == INSTALL)
}

/// Cargo's folder of this machine.
fn home_of_cargo() -> PathBuf {
    let home = || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cargo");
    env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}

/// Copies the content of a folder, links and times as they are.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = fs::create_dir_all(to).and_then(|()| {
        let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other("cp failed")) }
    });
    copied.map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}
