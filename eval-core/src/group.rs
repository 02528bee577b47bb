//! Programs that end with this process, however it ends.
//!
//! A program runs in a process group with a small shell, the *watcher*. This process holds the pipe to the
//! watcher's input. When the pipe closes, the watcher kills the group: the value was dropped, or this process
//! is gone (`kill -9` included). The watcher starts first and leads the group. A program that is being
//! started also holds the pipe until it is a member of the group, so it cannot be left over. The watcher also removes the
//! temporary folders of the program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use eval_support::secrets::argument_without_assigned;
use eval_support::shell;

/// The script of the watcher. A line of input kills the group at once; the end of the input, after a second. Its arguments are
/// the folders to remove. They go first, as the watcher kills itself too.
#[cfg(unix)]
const WATCHER: &str = "trap '' HUP INT TERM; \
    if read -r _; then rm -rf -- \"$@\"; kill -KILL 0; fi; \
    kill -TERM 0; rm -rf -- \"$@\"; sleep 1; kill -KILL 0";

/// The start of a program, as a [`Command`] describes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    variables: BTreeMap<OsString, Option<OsString>>,
    folder: Option<PathBuf>,
    temporary: Vec<PathBuf>,
}

impl Launch {
    /// A copy of a command.
    pub fn new(command: &Command) -> Self {
        Self {
            program: command.get_program().to_owned(),
            args: command.get_args().map(OsStr::to_owned).collect(),
            variables: command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
                .collect(),
            folder: command.get_current_dir().map(Into::into),
            temporary: Vec::new(),
        }
    }

    /// The value of a variable as the program has it.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        match self.variables.get(OsStr::new(name)) {
            Some(value) => value.clone(),
            None => std::env::var_os(name),
        }
    }

    /// Whether the command itself sets or removes a variable.
    pub fn names(&self, name: &str) -> bool {
        self.variables.contains_key(OsStr::new(name))
    }

    /// Sets a variable of the program.
    pub fn set_variable(&mut self, name: &str, value: OsString) {
        self.variables.insert(name.into(), Some(value));
    }

    /// Has a folder removed with the program, however this process ends. Without process groups it stays.
    pub fn remove_with_it(&mut self, folder: PathBuf) {
        self.temporary.push(folder);
    }

    /// Starts the program in a group of its own. Its output and its errors can be read.
    pub fn start(&self, input: Stdio) -> Result<Group, io::Error> {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group::start(command, &self.temporary)
    }

    /// The program and its arguments, without secrets that they assign.
    fn shown_words(&self) -> impl Iterator<Item = String> {
        let words = [&self.program].into_iter().chain(&self.args);
        words.map(|word| argument_without_assigned(&word.to_string_lossy()).into_owned())
    }

    /// The command as a person types it into a shell, with the way into its folder. `before` is what comes before the program,
    /// such as a command whose output it reads.
    pub fn typed(&self, before: &str) -> String {
        let line = shell::line(&self.shown_words().collect::<Vec<_>>());
        match &self.folder {
            Some(folder) => format!("cd {} && {before}{line}", shell::word(&folder.to_string_lossy())),
            None => format!("{before}{line}"),
        }
    }
}

/// The program and its arguments. Values of variables are not shown: they may be secret. Nor are secrets that an argument
/// assigns.
impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown_words().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Launch").field(&self.to_string()).finish()
    }
}

/// A running program with all processes that it starts. It is killed when this is dropped.
#[derive(Debug)]
pub struct Group {
    /// The program itself.
    pub child: Child,
    watcher: Option<Watcher>,
}

#[derive(Debug)]
struct Watcher {
    process: Child,
    /// The pipe to the watcher, which kills the group when this closes; `None` after the command to kill.
    pipe: Option<ChildStdin>,
}

impl Group {
    #[cfg(unix)]
    fn start(mut command: Command, temporary: &[PathBuf]) -> Result<Self, io::Error> {
        use std::os::unix::process::CommandExt as _;

        let mut watcher = Command::new("sh");
        watcher.args(["-c", WATCHER, "sh"]).args(temporary);
        watcher.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = watcher.process_group(0).spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("`sh`, which ends the program with this process: {error}"))
        })?;
        let group = i32::try_from(process.id()).map_err(io::Error::other)?;
        let watcher = process.stdin.take().map(|pipe| Watcher { process, pipe: Some(pipe) });
        match command.process_group(group).spawn() {
            Ok(child) => Ok(Self { child, watcher }),
            Err(error) => {
                if let Some(watcher) = watcher {
                    watcher.kill();
                }
                Err(error)
            }
        }
    }

    /// Without process groups the program alone is ended, and only while this process lives.
    #[cfg(not(unix))]
    fn start(mut command: Command, _: &[PathBuf]) -> Result<Self, io::Error> {
        Ok(Self { child: command.spawn()?, watcher: None })
    }

    /// The id of the process group.
    pub fn id(&self) -> i32 {
        let leader = self.watcher.as_ref().map_or(&self.child, |watcher| &watcher.process);
        i32::try_from(leader.id()).unwrap_or_default()
    }

    /// The exit status of the program; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills the program and the processes that it started, and blocks until the program is gone. Async tasks
    /// wait in another way: see `SharedGroup` of eval-agents.
    pub fn kill(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.kill();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends the signals that end the group, and waits for none of its processes.
    pub fn begin_to_kill(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            watcher.wake();
        }
        let _ = self.child.kill();
    }

    /// Whether the program and the watcher are gone. The processes that the program started then have their
    /// signal.
    pub fn is_gone(&mut self) -> bool {
        let is_gone = |process: &mut Child| !matches!(process.try_wait(), Ok(None));
        self.watcher.as_mut().is_none_or(|watcher| is_gone(&mut watcher.process)) && is_gone(&mut self.child)
    }
}

impl Watcher {
    fn kill(mut self) {
        self.wake();
        let _ = self.process.wait();
    }

    fn wake(&mut self) {
        use std::io::Write as _;

        if let Some(mut pipe) = self.pipe.take() {
            // If the write fails, the watcher is gone already.
            let _ = pipe.write_all(b"\n");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
