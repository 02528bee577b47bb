//! Small cargo projects, written where cargo may build them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use eval_core::{EvalCase, EvalSet, Invocation};

use crate::WORKSPACE;
use crate::run::Run;

/// The dependencies of most projects.
const DEV_DEPENDENCIES: &str = "[dev-dependencies]\neval-core = { {evals} }\n\
    tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\", \"time\"] }\n";
/// The keys that `{evals}` is replaced by, for eval-core in any project that does not test its features.
const EVALS: &str = "path = \"{workspace}/eval-core\", features = [\"judges\", \"multi-thread\"]";
/// The crates that are dependencies of each project with these keys. A project uses them or not: with the same features of
/// each crate, all projects share one build of all crates.
const BESIDE: [&str; 2] = ["eval-agents", "eval-report"];

/// A project that is not yet on disk.
pub(crate) struct Draft {
    name: &'static str,
    /// The whole manifest, in place of one that is made of the name and the dependencies.
    manifest: Option<String>,
    dependencies: String,
    files: BTreeMap<String, String>,
}

impl Draft {
    /// The project of the fixture of this name.
    pub(crate) fn new(name: &'static str) -> Self {
        let fixture = Path::new(WORKSPACE).join("tests/projects/fixtures").join(name);
        let mut draft = Self::empty(name);
        collect(&fixture, "", &mut draft.files);
        draft
    }

    /// A project without files.
    pub(crate) fn empty(name: &'static str) -> Self {
        Self { name, manifest: None, dependencies: DEV_DEPENDENCIES.to_owned(), files: BTreeMap::new() }
    }

    /// The example of this name. Its manifest names the features that all projects have.
    pub(crate) fn example(name: &'static str) -> Self {
        let mut draft = Self::empty(name);
        collect(&Path::new(WORKSPACE).join("examples").join(name), "", &mut draft.files);
        let manifest = draft.files.remove("Cargo.toml").expect("an example is a package");
        let lines = manifest.lines().map(|line| {
            if line.starts_with("eval-core = ") {
                "eval-core = { {evals} }\n".to_owned()
            } else {
                format!("{line}\n").replace("\"../../", "\"{workspace}/")
            }
        });
        draft.manifest = Some(lines.collect());
        draft
    }

    /// Gives the project another name: a fixture may serve several tests that change it.
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Replaces the dependencies: the end of the manifest, `{workspace}` being the folder of this one, and `{evals}` the keys of
    /// eval-core.
    pub(crate) fn dependencies(mut self, tables: &str) -> Self {
        tables.clone_into(&mut self.dependencies);
        self
    }

    /// Adds a file.
    pub(crate) fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        self.files.insert(path.to_owned(), text.into());
        self
    }

    /// The project for any number of tests, none of which changes it.
    ///
    /// Its folder is named after its content and moved into place as a whole, so tests that run at the same
    /// time, in one process or in several, find the same project, and a second run has nothing to build.
    pub(crate) fn shared(self) -> Project {
        let files = self.all_files();
        let content: String = files.iter().flat_map(|(path, text)| [path, "\0", text, "\0"]).collect();
        let folder = folder_of(&format!(
            "{}-{:016x}",
            self.name,
            eval_support::hash::content_hash(content.as_bytes())
        ));
        if !folder.exists() {
            let draft = folder_of(&format!("{}-draft-{}", self.name, fresh_number()));
            write_all(&draft, &files);
            if let Err(error) = fs::rename(&draft, &folder) {
                assert!(folder.exists(), "cannot move {} into place: {error}", folder.display());
                fs::remove_dir_all(&draft).expect("another test was faster; the draft can go");
            }
        }
        Project { folder }
    }

    /// The project for the one test that changes it, written anew.
    pub(crate) fn owned(self) -> Project {
        let folder = folder_of(self.name);
        match fs::remove_dir_all(&folder) {
            Ok(()) => {}
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound, "{}", folder.display()),
        }
        write_all(&folder, &self.all_files());
        Project { folder }
    }

    fn all_files(&self) -> BTreeMap<String, String> {
        let manifest = self.manifest.clone().unwrap_or_else(|| {
            format!(
                "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [lints]\nrust.warnings = \"deny\"\n\n{}",
                self.name, self.dependencies
            )
        });
        let lock =
            fs::read_to_string(Path::new(WORKSPACE).join("Cargo.lock")).expect("the lock file is there");
        let mut files = self.files.clone();
        files.insert("Cargo.toml".to_owned(), with_shared_features(&manifest));
        files.insert("Cargo.lock".to_owned(), lock);
        files
    }
}

/// A project on disk.
pub(crate) struct Project {
    folder: PathBuf,
}

impl Project {
    /// A folder that the test has made, outside of this workspace.
    #[allow(dead_code, reason = "the tests of the command line use it")]
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of its `Cargo.toml`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs cargo in it.
    pub(crate) fn cargo(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args))
    }

    /// Cargo, about to be run in it.
    pub(crate) fn command(&self) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
        self.prepared(Command::new(cargo))
    }

    /// Runs a line that was printed to be pasted into a shell.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Run {
        Run::of(self.prepared(Command::new("sh")).args(["-c", line]))
    }

    /// A command, about to be run in it with the environment of cargo's calls.
    pub(crate) fn prepared(&self, command: Command) -> Command {
        let mut command = without_this_run(command);
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_TERM_COLOR", "never")
            // These are never debugged; linking is most of their cost.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // Most are built once.
            .env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Whether cargo has this command; says so where it has not.
    pub(crate) fn has(&self, command: &[&str]) -> bool {
        let has = self.command().args(command).output().is_ok_and(|output| output.status.success());
        if !has {
            // Past the test harness, which keeps to itself what passing tests print.
            let mut stderr = io::stderr().lock();
            writeln!(stderr, "skipped: `cargo {}` does not work here", command.join(" "))
                .expect("stderr takes a line");
        }
        has
    }

    /// The executable that cargo makes of a file of tests, to be run as it is now.
    #[track_caller]
    pub(crate) fn test_binary(&self, source: &str) -> TestBinary {
        let run = self.cargo(&["test", "--no-run"]).passes();
        let begin = format!("Executable {source} (");
        let line = run.stderr().lines().find_map(|line| line.trim_start().strip_prefix(&begin));
        let path = line.unwrap_or_else(|| panic!("no `{source}`:\n{run}")).trim_end_matches(')');
        TestBinary { path: self.folder.join(path), folder: self.folder.clone() }
    }

    /// Writes a file, as an editor does.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.folder.join(path), text);
    }

    /// Writes a file and makes it look as old as a checkout or a restored cache would.
    pub(crate) fn write_as_of_yesterday(&self, path: &str, text: &str) {
        self.write(path, text);
        let file = fs::File::options().write(true).open(self.folder.join(path)).expect("it was just written");
        let yesterday = SystemTime::now() - Duration::from_hours(24);
        file.set_modified(yesterday).expect("times of own files can be set");
    }

    /// Makes a file look as if it had just been written.
    pub(crate) fn touch(&self, path: &str) {
        let file = fs::File::options().append(true).open(self.folder.join(path)).expect("it is there");
        file.set_modified(SystemTime::now()).expect("times of own files can be set");
    }

    /// Moves a file over another one, as `mv` does.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.folder.join(from), self.folder.join(to)).expect("what a test moves is there");
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.folder.join(path)).expect("what a test removes is there");
    }
}

/// A compiled file of tests.
pub(crate) struct TestBinary {
    path: PathBuf,
    folder: PathBuf,
}

impl TestBinary {
    /// Runs it without cargo, which would look whether it is up to date.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with(&[], args)
    }

    /// Runs it with variables of its own.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Run {
        Run::of(&mut self.command(variables, args))
    }

    /// The command that runs it.
    pub(crate) fn command(&self, variables: &[(&str, &str)], args: &[&str]) -> Command {
        let mut command = without_this_run(Command::new(&self.path));
        command.args(args).envs(variables.iter().copied()).current_dir(&self.folder);
        command
    }
}

/// A set of cases that an agent passes by saying what the user said: id and text.
pub(crate) fn echo_set(cases: &[(&str, &str)]) -> String {
    let cases: Vec<_> = cases.iter().map(|(id, text)| (*id, *text, *text)).collect();
    set(&cases)
}

/// A set of cases of one turn: id, what the user says, and the expected answer.
pub(crate) fn set(cases: &[(&str, &str, &str)]) -> String {
    let set = cases.iter().fold(EvalSet::new("set"), |set, (id, user, answer)| {
        set.case(EvalCase::new(*id).turn(Invocation::user(*user).response(*answer)))
    });
    set.to_json()
}

/// The manifest, with the crates that projects share beside eval-core.
fn with_shared_features(manifest: &str) -> String {
    let mut text = String::new();
    for line in manifest.lines() {
        text += &format!("{line}\n");
        if line.contains("{evals}") {
            let is_named = |name: &str| manifest.lines().any(|line| line.starts_with(name));
            for name in BESIDE.into_iter().filter(|name| !is_named(name)) {
                text += &format!("{name}.path = \"{{workspace}}/{name}\"\n");
            }
        }
    }
    text.replace("{evals}", EVALS).replace("{workspace}", WORKSPACE)
}

/// The command without what this test run has put into the environment.
fn without_this_run(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_of_this_run) {
            command.env_remove(name);
        }
    }
    command
}

/// Whether a variable was set for, or by, the run of this very test.
fn is_of_this_run(name: &str) -> bool {
    const KEPT: [&str; 5] = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    const OURS: [&str; 8] =
        ["CARGO", "EVALSET_", "NEXTEST", "RUSTC_", "RUSTDOCFLAGS", "RUSTFLAGS", "RUST_", "TRYBUILD"];
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    begins(&OURS) && !begins(&KEPT)
}

fn folder_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects").join(name)
}

/// The target folder of all projects.
pub(crate) fn target() -> PathBuf {
    folder_of("target")
}

/// A number that no other test uses now.
fn fresh_number() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a fixture is a folder") {
        let path = entry.expect("fixtures can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("fixtures have plain names");
        let below = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if path.is_dir() {
            collect(&path, &below, files);
        } else {
            files.insert(below, fs::read_to_string(&path).expect("fixtures are text"));
        }
    }
}

fn write_all(folder: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        write(&folder.join(path), text);
    }
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("folders can be made below the target folder");
    fs::write(path, text).expect("files can be written below the target folder");
}
