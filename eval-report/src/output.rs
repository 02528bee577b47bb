//! Text for people and programs: styles, JSON, commands to run again, outcomes and errors of commands.

pub mod problem;
pub mod time;
pub mod width;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use anstyle::{AnsiColor, Style};
use eval_support::command;
use eval_support::file::{Unfit, read_file};
use eval_support::secrets::mask;
use eval_support::shell;
use eval_support::untrusted::{self, guard_styled, lines_below, one_line};
use serde::Serialize;

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BOLD: Style = Style::new().bold();

pub fn styled(style: Style, word: &str) -> String {
    format!("{style}{word}{style:#}")
}

/// Prints lines of progress on standard error, with secrets masked.
pub fn tell(lines: &str) {
    tell_to(&mut anstream::stderr(), lines);
}

/// Prints lines of progress. Errors are ignored, so that the work goes on.
pub(crate) fn tell_to(out: &mut dyn Write, lines: &str) {
    let text = guard_styled(&mask(lines));
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The outcome of a command. A worse outcome is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    /// Something could not be checked.
    Unmeasurable,
}

impl Outcome {
    pub fn exit_code(self) -> i32 {
        self as i32
    }

    /// The outcome of an exit code; `None` for codes that no command ends with.
    pub fn of_exit_code(code: i32) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Unmeasurable]
            .into_iter()
            .find(|outcome| outcome.exit_code() == code)
    }

    /// The outcome of a run, as a statement about its cases.
    pub fn of_cases(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed: a case did not pass",
            Self::Unmeasurable => "not measurable: a case has no verdict, or nothing was run",
        }
    }

    /// The outcome as the last line of a report shows it: `PASSED`.
    pub fn shown(self) -> String {
        styled(if self == Self::Passed { GOOD } else { ERROR }, &self.name().to_uppercase())
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unmeasurable => "unmeasurable",
        }
    }
}

/// An error of a command, or of one of its paths. The exit code is 2.
#[derive(Clone, Debug, Serialize)]
pub struct CommandError {
    pub message: String,
    pub help: String,
}

/// The error and its remedy, in one line without colours.
impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}
impl std::error::Error for CommandError {}

impl CommandError {
    /// The commands in `help` have the name that the user types.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: command::spelt(help.into()) }
    }

    pub fn document(&self, command: Option<&str>) -> String {
        let document =
            serde_json::json!({ "command": command, "outcome": Outcome::Unmeasurable, "error": self });
        untrusted::json(&format!("{document:#}")) + "\n"
    }

    /// The error as cargo prints its own errors. Untrusted text is below the first line, with its mark.
    pub fn shown(&self) -> String {
        let level = styled(ERROR, "error");
        format!("{level}: {}\n  = help: {}\n", lines_below(&self.message, 2), one_line(&self.help))
    }
}

pub fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    read_file(path).map_err(|error| {
        let unfit = error.get_ref().and_then(|inner| inner.downcast_ref::<Unfit>());
        let Some(unfit) = unfit else { return unreadable(path, &error) };
        let help = match unfit {
            Unfit::NoFile => "name a file or a folder",
            Unfit::TooLarge => "split it: no tool that reads eval sets reads one of that size",
        };
        let why = unfit.to_string();
        CommandError::new(format!("`{}` {}", path.display(), why.trim_start_matches("it ")), help)
    })
}

/// The error of an unreadable file. A link whose target does not exist is an error of its own.
pub fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    let shown = path.display();
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => CommandError::new(
            format!("`{shown}` is a link to `{}`, which does not exist", target.display()),
            "restore the target, or remove the link",
        ),
        _ => {
            let is_there = error.kind() != io::ErrorKind::NotFound;
            let help =
                if is_there { "give this user permission to read it" } else { "name a file that is there" };
            CommandError::new(format!("cannot read `{shown}`: {error}"), format!("{help}, or leave it out"))
        }
    }
}

pub fn json_document(document: &impl Serialize) -> Result<String, CommandError> {
    match serde_json::to_string_pretty(document) {
        Ok(text) => Ok(untrusted::json(&text) + "\n"),
        Err(error) => Err(CommandError::new(format!("cannot write JSON: {error}"), "use `--format human`")),
    }
}

/// The number, if JSON can express it. Metrics of the user's own may return infinities and NaN.
pub(crate) fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

pub type CaseOfFile<'c> = (&'c str, &'c str);

/// The options of a command with this value of one of them, in place of any other.
pub fn with_option(options: &[String], name: &str, value: &str) -> Vec<String> {
    let mut with = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if option == name {
            options.next();
        } else if option.strip_prefix(name).is_none_or(|rest| !rest.starts_with('=')) {
            with.push(option.clone());
        }
    }
    with.extend([name.to_owned(), value.to_owned()]);
    with
}

/// The command that runs these cases again, each named once. The options name the agent, and say how cases run and are scored.
pub fn rerun_command<'c>(options: &[String], cases: impl IntoIterator<Item = CaseOfFile<'c>>) -> String {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut named = HashSet::new();
    for (file, case) in cases.into_iter().filter(|case| named.insert(*case)) {
        sets.entry(file).or_default().push(case);
    }
    rerun_line(sets.into_iter().map(|(file, cases)| format!("{file}:{}", cases.join(","))), options)
}

pub fn rerun_sets_command<'c>(options: &[String], files: impl IntoIterator<Item = &'c str>) -> String {
    let files: BTreeSet<&str> = files.into_iter().collect();
    rerun_line(files.into_iter().map(str::to_owned), options)
}

fn rerun_line(sets: impl Iterator<Item = String>, options: &[String]) -> String {
    let words = command::name().split(' ').chain(["run"]).map(str::to_owned).chain(sets);
    shell::line(&words.chain(options.iter().cloned()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_one_value() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        for options in
            ["--agent-cmd ./agent --runs 3 --runs-of x", "--agent-cmd ./agent --runs=3 --runs-of x"]
        {
            let with = with_option(&words(options), "--runs", "5");
            assert_eq!(with, words("--agent-cmd ./agent --runs-of x --runs 5"));
        }
        assert_eq!(with_option(&[], "--timeout", "30s"), ["--timeout", "30s"]);
    }

    #[test]
    fn cases_are_with_their_sets_before_the_options() {
        let options = ["--agent-cmd".to_owned(), "python3 agent.py".to_owned()];
        assert_eq!(
            rerun_command(
                &options,
                [("b.json", "x"), ("a.json", "degrees at home"), ("b.json", "y"), ("b.json", "x")]
            ),
            "cargo evalset run 'a.json:degrees at home' b.json:x,y --agent-cmd 'python3 agent.py'"
        );
        assert_eq!(
            rerun_sets_command(&options[..0], ["b.json", "a.json", "b.json"]),
            "cargo evalset run a.json b.json"
        );
    }
}
