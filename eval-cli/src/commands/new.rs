//! `cargo evalset new`: the first eval set of a package, and the tests that run it.

mod ignored;
mod manifest;
mod new_file;
mod package;
mod source;

use std::path::PathBuf;

use clap::ValueEnum;
use eval_format::conventions::SET_SUFFIX;
use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::cargo;
use crate::output::{Answer, BOLD, CommandError, GOOD, Outcome, WARNING, styled};
use manifest::Manifest;
use new_file::{Name, refuse_existing, shown, write_new};
use package::{Made, Package};
use source::{EVAL_CORE, Source};

/// Writes a first eval set, the tests that run it, and the lines of `Cargo.toml` that they need.
///
/// In the folder of a package, or below it, the files are added to that package. Where there is no package, one is made
/// in the current folder. No existing file is replaced. The tests pass as they are; the agent in them is to be replaced
/// by yours.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The name of the set and its file of tests: small letters, digits, `-` and `_`.
    #[arg(default_value = "weather")]
    name: Name,

    /// The kind of agent in the tests.
    #[arg(long, value_enum, default_value_t)]
    agent: AgentKind,

    /// The clone of evalset to depend on. By default, the one that this program was built in.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,

    /// The address of evalset's repository, to depend on it in place of a clone. By default, the value of
    /// `EVALSET_REPOSITORY`, or the address that cargo installed this program from.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "path")]
    git: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset new
  cargo evalset new booking --agent struct
  cargo evalset new --agent rig --path ../evalset
  cargo evalset new --git file:///srv/git/evalset

Exit codes:
  0  the files were written
  2  a file exists already or cannot be written, or there is no clone or address to depend on";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let package = Package::here()?;
    let eval_core = Source::new(args.path.as_deref(), args.git.as_deref())?;
    let set = format!("evals/{}{SET_SUFFIX}", args.name);
    let tests = format!("tests/{}.rs", args.name);
    // Both would clash with the new file: `main.rs` is a second test target of the same name, which cargo
    // refuses, and `mod.rs` is a second file for a module of the tests, which rustc refuses.
    let folders = ["main", "mod"].map(|file| format!("tests/{}/{file}.rs", args.name));
    for file in [&set, &tests].into_iter().chain(&folders) {
        refuse_existing(&package.folder().join(file))?;
    }
    package.refuse_unseen_tests(&args.name)?;
    package.refuse_registry(EVAL_CORE)?;
    let folder = package.folder();
    let lines: Vec<_> = [eval_core.dependency(folder)].into_iter().chain(args.agent.dependencies()).collect();
    let made = package.make(&args.name, &lines.iter().map(|(name, _)| *name).collect::<Vec<_>>())?;
    let mut manifest = Manifest::read(&folder.join("Cargo.toml"))?;
    for (name, line) in lines {
        manifest.add(name, &line)?;
    }
    let (added, kept) = manifest.save()?;
    let files = [
        (folder.join(&set), args.name.filled(SET)),
        (folder.join(&tests), args.name.filled(args.agent.template())),
    ];
    write_new(&files)?;
    // The tests are there and pass without this line, so an error is no error of the command.
    let ignored = match ignored::ignore_target(folder, cargo::target_directory().as_deref(), made.is_some()) {
        Ok(added) => added.map(|added| format!("{} {added}\n", styled(GOOD, "added"))),
        Err(error) => Some(format!("{} `.gitignore` as it was: {error}\n", styled(WARNING, "left"))),
    };
    let folder = package.is_above().then(|| folder.to_path_buf());
    let written = Written { name: &args.name, set, tests, made, added, kept, ignored, folder };
    Ok(Answer::new(Outcome::Passed, text(&written)))
}

const SET: &str = include_str!("../../templates/weather.evalset.json");

/// The kind of agent in a new file of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentKind {
    /// A function from a message to an answer.
    #[default]
    Closure,
    /// A type with the trait `Agent`, which remembers its conversation.
    Struct,
    /// An agent of rig-core, with its mock model.
    Rig,
    /// A loop around async-openai, with a server on loopback in place of the model.
    AsyncOpenai,
}

impl AgentKind {
    /// The file of tests, with `weather` in place of the name.
    fn template(self) -> &'static str {
        match self {
            Self::Closure => include_str!("../../templates/closure.rs"),
            Self::Struct => include_str!("../../templates/struct.rs"),
            Self::Rig => include_str!("../../templates/rig.rs"),
            Self::AsyncOpenai => include_str!("../../templates/async_openai.rs"),
        }
    }

    /// The dependencies of the file besides eval-core: the name of each, and its value in `Cargo.toml`.
    fn dependencies(self) -> Vec<(&'static str, String)> {
        let lines: &[(&str, &str)] = match self {
            Self::Closure | Self::Struct => &[],
            Self::Rig => &[
                ("rig-core", r#"{ version = "0.40", default-features = false, features = ["test-utils"] }"#),
                ("serde_json", r#""1""#),
            ],
            Self::AsyncOpenai => &[
                (
                    "async-openai",
                    r#"{ version = "0.43", default-features = false, features = ["chat-completion"] }"#,
                ),
                ("serde_json", r#""1""#),
            ],
        };
        lines.iter().map(|(name, line)| (*name, (*line).to_owned())).collect()
    }
}

/// The files that were written.
struct Written<'a> {
    name: &'a Name,
    /// The file of the set, below the folder of the package.
    set: String,
    /// The file of the tests.
    tests: String,
    /// The package, if it was made.
    made: Option<Made>,
    /// The lines that were added to `Cargo.toml`.
    added: Vec<String>,
    /// The lines that were not added, since `Cargo.toml` had the dependencies already.
    kept: Vec<String>,
    /// The line on `.gitignore`, if it was changed or could not be.
    ignored: Option<String>,
    /// The folder of the package, if it is not the current folder.
    folder: Option<PathBuf>,
}

fn text(written: &Written<'_>) -> String {
    let Written { name, set, tests, made, added, kept, ignored, folder } = written;
    let mut text = String::new();
    if let Some(Made { name, refused }) = made {
        let verb = styled(GOOD, "made");
        text.push_str(&match refused {
            Some(refused) => {
                format!("{verb} the package `{name}`: none can be named `{}`\n", one_line(refused))
            }
            None => format!("{verb} the package `{name}`\n"),
        });
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
        if name != EVAL_CORE {
            text.push_str(&format!("; the tests are written for `{line}`"));
        }
        text.push('\n');
    }
    text.push_str(ignored.as_deref().unwrap_or_default());
    text.push_str(&format!("\n{}\n", styled(BOLD, "next")));
    if let Some(folder) = folder {
        text.push_str(&format!("  cd {}\n", eval_support::shell::word(&shown(folder))));
    }
    text.push_str(&format!(
        "  cargo test --test {name}    both cases pass\n  \
           then change `{EDIT_FROM}` to `{EDIT_TO}` in line {EDITED_LINE} of `{set}`: the same command shows a failure\n  \
           then put your agent into `{tests}`, and your conversations into the set\n"
    ));
    text
}

/// The edit that makes a case fail. A note in the set names it too.
const EDITED_LINE: usize = 21;
const EDIT_FROM: &str = "Oslo";
const EDIT_TO: &str = "Bergen";

#[cfg(test)]
mod tests {
    use eval_format::reader::check_set;

    use super::*;

    #[test]
    fn the_set_has_two_cases_and_no_problem() {
        let name: Name = "booking".parse().expect("a name");
        let checked = check_set("booking.evalset.json", name.filled(SET).as_bytes(), None);
        assert!(checked.problems.is_empty(), "{:?}", checked.problems);
        let set = checked.set.expect("a set");
        assert_eq!((set.eval_set_id.as_str(), set.eval_cases.len()), ("booking", 2));
    }

    #[test]
    fn the_line_that_the_note_names_has_what_is_to_be_changed() {
        let (line, from, to) = (EDITED_LINE, EDIT_FROM, EDIT_TO);
        assert!(
            SET.contains(&format!("to see a failure, change `{from}` to `{to}` in line {line}\"")),
            "{SET}"
        );
        let line = SET.lines().nth(line - 1).expect("a line of that number");
        assert_eq!(line.matches(from).count(), 1, "{line}");
        assert!(!line.contains(to), "{line}");
    }
}
