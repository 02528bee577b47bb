//! What was written, and what to do next.

use std::path::PathBuf;

use eval_support::words::count;

use super::new_file::{Name, shown};
use super::runtime;
use crate::output::style::{BOLD, GOOD, styled};

/// What was written.
pub(super) struct Written<'a> {
    pub(super) name: &'a Name,
    /// The file of the set, below the folder of the package.
    pub(super) set: String,
    /// The file of the tests.
    pub(super) tests: String,
    /// The name of the package, if it was made.
    pub(super) made: Option<String>,
    /// The lines that `Cargo.toml` got.
    pub(super) added: Vec<String>,
    /// The lines for dependencies that it had already.
    pub(super) kept: Vec<String>,
    /// Where the package is, if that is not the current folder.
    pub(super) folder: Option<PathBuf>,
}

pub(super) fn text(written: &Written<'_>) -> String {
    let Written { name, set, tests, made, added, kept, folder } = written;
    let mut text = String::new();
    if let Some(package) = made {
        text.push_str(&format!("{} the package `{package}`\n", styled(GOOD, "made")));
    }
    let wrote = styled(GOOD, "wrote");
    text.push_str(&format!("{wrote} `{set}`: a set of 2 cases\n"));
    text.push_str(&format!("{wrote} `{tests}`: an agent, and a test of each case\n"));
    if !added.is_empty() {
        let what = count(added.len(), "line");
        let verb = styled(GOOD, "added");
        text.push_str(&format!("{verb} {what} to `Cargo.toml`\n\n    [dev-dependencies]\n"));
        for line in added {
            text.push_str(&format!("    {line}\n"));
        }
    }
    for line in kept {
        let name = line.split(' ').next().unwrap_or_default();
        text.push_str(&format!("{} `{name}` in `Cargo.toml` as it was", styled(GOOD, "left")));
        if name != runtime::NAME {
            text.push_str(&format!("; the tests are written for `{line}`"));
        }
        text.push('\n');
    }
    text.push_str(&format!("\n{}\n", styled(BOLD, "next")));
    if let Some(folder) = folder {
        text.push_str(&format!("  cd {}\n", eval_support::shell::word(&shown(folder))));
    }
    text.push_str(&format!(
        "  cargo test --test {name}    both cases pass\n  \
           then change `{FROM}` to `{TO}` in line {LINE} of `{set}`: the same command shows a failure\n  \
           then put your agent into `{tests}`, and your conversations into the set\n"
    ));
    text
}

/// The edit that makes a case fail. A note in the set names it too.
pub(super) const LINE: usize = 21;
pub(super) const FROM: &str = "Oslo";
pub(super) const TO: &str = "Bergen";
