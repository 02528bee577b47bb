//! What was written, and what to do next.

use super::{Args, Written, shown};
use crate::output::style::{BOLD, GOOD, styled};
use crate::output::words::count;

pub(super) fn text(written: &Written, args: &Args) -> String {
    let Written { set, tests, made, added, kept, folder } = written;
    let mut text = String::new();
    if let Some(package) = made {
        text.push_str(&format!("{} the package `{package}`\n", styled(GOOD, "made")));
    }
    let wrote = styled(GOOD, "wrote");
    text.push_str(&format!("{wrote} `{set}`: a set of 2 cases\n"));
    text.push_str(&format!("{wrote} `{tests}`: an agent, and a test of each case\n"));
    if !added.is_empty() {
        let lines = added.iter().map(|line| format!("    {line}\n")).collect::<String>();
        let what = count(added.len(), "line");
        text.push_str(&format!(
            "{} {what} to `Cargo.toml`\n\n    [dev-dependencies]\n{lines}",
            styled(GOOD, "added")
        ));
    }
    for name in kept {
        text.push_str(&format!("{} `{name}` in `Cargo.toml` as it was\n", styled(GOOD, "left")));
    }
    text.push_str(&format!("\n{}\n", styled(BOLD, "next")));
    if let Some(folder) = folder {
        text.push_str(&format!("  cd {}\n", crate::output::shell::word(&shown(folder))));
    }
    text.push_str(&format!(
        "  cargo test --test {name}    both cases pass\n  \
           then change `{FROM}` to `{TO}` in line {LINE} of `{set}`: the same command shows a failure\n  \
           then put your agent into `{tests}`, and your conversations into the set\n",
        name = args.name
    ));
    text
}

/// The edit that makes a case fail. A note in the set names it too.
pub(super) const LINE: usize = 21;
pub(super) const FROM: &str = "Oslo";
pub(super) const TO: &str = "Bergen";
