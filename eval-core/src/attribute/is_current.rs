//! The test for directories and globs: it compares the sets on disk with the sets that were compiled in.

use std::panic::resume_unwind;

use eval_format::find::fixed_folder;

use crate::stale::{are_sources_here, root};

/// Fails if the eval sets that `pattern` finds on disk differ from `files`, the sets that were compiled in.
///
/// Rustc cannot watch for new files, so this test looks for them. If the sources are not on this machine (a nextest
/// archive), the test says so and passes.
pub fn is_current(manifest_dir: &'static str, pattern: &'static str, files: &'static [&'static str]) {
    let root = root(manifest_dir);
    if !are_sources_here(&root, files.iter().copied()) {
        // The harness does not show what passing tests print.
        eval_support::message::show_past_the_harness(&format!(
            "`{pattern}`: the sources are not on this machine, so it was not checked whether sets are new or removed"
        ));
        return;
    }
    let found = match eval_format::find::find_sets(&root, pattern) {
        Ok(found) => found,
        Err(error) => fail(&format!("Error: cannot list `{pattern}`: {error}\nhelp: {}", error.help())),
    };
    let new: Vec<&str> = found.iter().map(String::as_str).filter(|file| !files.contains(file)).collect();
    let gone: Vec<&str> =
        files.iter().copied().filter(|file| !found.iter().any(|there| there == file)).collect();
    if new.is_empty() && gone.is_empty() {
        return;
    }
    let mut text = format!("Error: the eval sets of `{pattern}` are not those that were compiled in");
    for file in &new {
        text.push_str(&format!("\n  new:     {file}"));
    }
    for file in &gone {
        text.push_str(&format!("\n  removed: {file}"));
    }
    text.push_str(&help(pattern));
    fail(&text)
}

/// The help for building again. Cargo can watch the folder of a pattern, but not the folder of the package, which may
/// hold the target folder.
fn help(pattern: &str) -> String {
    let help = "\nhelp: touch the file with the attribute to build again";
    let folder = fixed_folder(pattern);
    if folder.is_empty() {
        return help.to_owned();
    }
    format!(
        "{help}; a build script makes cargo see new files by itself:\n  // build.rs\n  \
         fn main() {{ println!(\"cargo::rerun-if-changed={folder}\"); }}"
    )
}

fn fail(text: &str) -> ! {
    eval_support::message::show(text);
    resume_unwind(Box::new(text.lines().next().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_script_watches_a_folder_that_exists() {
        for (pattern, folder) in [("evals", "evals"), ("evals/re*.json", "evals"), ("a/b/**/*.json", "a/b")] {
            let help = help(pattern);
            assert!(help.contains(&format!("\"cargo::rerun-if-changed={folder}\"")), "{help}");
        }
        assert!(!help("*.json").contains("rerun-if-changed"));
    }
}
