//! The result of a command, and assertions about it that show all of its output when they fail.

use std::collections::BTreeMap;
use std::process::Command;

/// A command that has ended.
pub(crate) struct Run {
    shown: String,
    success: bool,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
        Self {
            shown: args.join(" "),
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// It must have succeeded.
    #[track_caller]
    pub(crate) fn passes(self) -> Self {
        assert!(self.success, "this should have passed:\n{self}");
        self
    }

    /// It must have failed.
    #[track_caller]
    pub(crate) fn fails(self) -> Self {
        assert!(!self.success, "this should have failed:\n{self}");
        self
    }

    /// It must have printed this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.output().contains(text), "this should say `{text}`:\n{self}");
        self
    }

    /// It must not have printed this.
    #[track_caller]
    pub(crate) fn never_says(self, text: &str) -> Self {
        assert!(!self.output().contains(text), "this should not say `{text}`:\n{self}");
        self
    }

    /// Whether cargo compiled the package of this name.
    pub(crate) fn compiled(&self, package: &str) -> bool {
        self.stderr.contains(&format!("Compiling {package} v"))
    }

    /// Everything it printed.
    pub(crate) fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Its standard output.
    pub(crate) fn stdout(&self) -> &str {
        &self.stdout
    }

    /// Its standard error.
    pub(crate) fn stderr(&self) -> &str {
        &self.stderr
    }

    /// The tests that ran and how each ended: `ok`, `FAILED`, `ignored, <reason>`.
    pub(crate) fn tests(&self) -> BTreeMap<&str, &str> {
        let lines = self.stdout.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
        lines.map(|(name, end)| (name.trim_end_matches(" - should panic"), end)).collect()
    }

    /// The tests that `--list` printed, in order.
    pub(crate) fn listed(&self) -> Vec<&str> {
        self.stdout.lines().filter_map(|line| line.strip_suffix(": test")).collect()
    }

    /// These tests must have run, and no others, and each must have ended so.
    #[track_caller]
    pub(crate) fn ran(self, expected: &[(&str, &str)]) -> Self {
        let expected: BTreeMap<_, _> = expected.iter().copied().collect();
        assert_eq!(self.tests(), expected, "\n{self}");
        self
    }

    /// The output of a failing test.
    #[track_caller]
    pub(crate) fn failure(&self, test: &str) -> &str {
        let begin = format!("---- {test} stdout ----\n");
        let rest = self.stdout.split_once(&begin).map(|(_, rest)| rest);
        let rest = rest.unwrap_or_else(|| panic!("`{test}` should have failed:\n{self}"));
        let ends = ["\n---- ", "\n\nfailures:\n"].iter().filter_map(|end| rest.find(end));
        rest[..ends.min().unwrap_or(rest.len())].trim_end()
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A log is often cut to its beginning, which the packages that cargo compiles would fill.
        let is_progress = |line: &&str| {
            ["Compiling ", "Downloaded "].iter().any(|verb| line.trim_start().starts_with(verb))
        };
        let stderr: Vec<&str> = self.stderr.lines().filter(|line| !is_progress(line)).collect();
        write!(f, "$ cargo {}\n--- stderr\n{}\n--- stdout\n{}", self.shown, stderr.join("\n"), self.stdout)
    }
}
