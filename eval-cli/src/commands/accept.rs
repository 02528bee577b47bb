//! `cargo evalset accept`: makes drafts goldens.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};

use eval_support::shell;
use eval_support::untrusted::{guard_styled, one_line};
use eval_support::variables::is_ci;
use eval_support::words::count;

use crate::drafts::{Draft, accept, shown};
use crate::edited::{Change, SelectedSet, changed, open, select};
use crate::output::{Answer, CommandError, Format, mask};

/// Makes drafts goldens: shows what each of them expects, and takes its mark `_draft` away.
///
/// On a terminal each draft is shown, and you are asked. Elsewhere, as in CI, a draft is accepted only if it is named.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Sets, or drafts with their set: files, folders, globs in quotes, or ids of sets below this folder.
    #[arg(value_name = "SET[:CASE,..]", required = true)]
    drafts: Vec<OsString>,

    /// Asks nothing, also on a terminal. The drafts have to be named.
    #[arg(long, short)]
    yes: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset accept evals                             # asks for each draft
  cargo evalset accept weather:sunny,oslo                # on a terminal: asks for these two
  cargo evalset accept weather:sunny,oslo --yes

Exit codes:
  0  the drafts were accepted, or looked at
  2  a draft is not named and nobody can be asked; a set or a case does not exist, or is no draft; a file cannot be written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let sets = select(&args.drafts)?;
    let asks = !args.yes && args.format == Format::Human && is_interactive();
    if !asks && let Some(set) = sets.iter().find(|set| set.cases.is_none()) {
        return Err(not_named(set)?);
    }
    let mut drafts = Vec::new();
    for set in sets {
        drafts.extend(drafts_of(&set)?);
    }
    if !asks {
        let text: String = drafts.iter().map(shown).collect();
        accept(&drafts)?;
        let answer = changed("accept", ("accepted", "in"), &by_file(&drafts), "", args.format)?;
        return Ok(if args.format == Format::Json {
            answer
        } else {
            Answer { text: text + &answer.text, ..answer }
        });
    }
    let (all, mut accepted) = (drafts.len(), Vec::new());
    let mut input = io::stdin().lock();
    for (at, draft) in drafts.into_iter().enumerate() {
        let question = format!("{}accept `{}`?", shown(&draft), one_line(&draft.case.eval_id));
        match on_terminal(&question, at + 1, all, &mut input)? {
            Decision::Accept => {
                // Written at once, so that a later failure does not lose this decision.
                accept(std::slice::from_ref(&draft))?;
                accepted.push(draft);
            }
            Decision::Keep => {}
            Decision::Quit => break,
        }
    }
    let left = match all - accepted.len() {
        0 if all == 0 => "there are no drafts\n".to_owned(),
        0 => String::new(),
        left => format!("{} left\n", count(left, "draft")),
    };
    changed("accept", ("accepted", "in"), &by_file(&accepted), &left, args.format)
}

/// Whether questions can be answered.
fn is_interactive() -> bool {
    !is_ci() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn on_terminal(
    question: &str,
    at: usize,
    all: usize,
    input: &mut dyn BufRead,
) -> Result<Decision, CommandError> {
    let mut output = anstream::stderr().lock();
    let progress = if all > 1 { format!(" ({at} of {all})") } else { String::new() };
    let question = mask(&guard_styled(&format!("{question}{progress}"))).into_owned();
    let decision = ask(&question, input, &mut output).and_then(|decision| output.flush().map(|()| decision));
    decision.map_err(|error| {
        CommandError::new(format!("cannot ask on this terminal: {error}"), "name the drafts, with `--yes`")
    })
}

/// The selected drafts of a set: the named cases, else all drafts. A named case that is no draft is an error.
fn drafts_of(set: &SelectedSet) -> Result<Vec<Draft>, CommandError> {
    let editor = open(&set.path)?;
    let ids: Vec<String> = match &set.cases {
        Some(ids) => ids.clone(),
        None => editor.drafts().map(str::to_owned).collect(),
    };
    let drafts = ids.iter().map(|id| match editor.case(id) {
        Some(case) if case.draft().is_some() => Ok(Draft { path: set.path.clone(), case: case.clone() }),
        _ => Err(no_draft(set, id)),
    });
    drafts.collect()
}

fn no_draft(set: &SelectedSet, id: &str) -> CommandError {
    let shown = set.path.display().to_string();
    let help = format!("`cargo evalset list {} --drafts` shows the drafts", shell::word(&shown));
    CommandError::new(format!("`{}`: the case `{}` is no draft", one_line(&shown), one_line(id)), help)
}

fn not_named(set: &SelectedSet) -> Result<CommandError, CommandError> {
    let editor = open(&set.path)?;
    let shown = set.path.display().to_string();
    let drafts: Vec<&str> = editor.drafts().collect();
    let help = if drafts.is_empty() {
        "it has no drafts".to_owned()
    } else {
        format!(
            "read them, then name them: `cargo evalset accept {}`",
            shell::word(&format!("{shown}:{}", drafts.join(",")))
        )
    };
    let why = "drafts are accepted by name where no question can be answered";
    Ok(CommandError::new(format!("`{}`: no draft is named, and {why}", one_line(&shown)), help))
}

fn by_file(drafts: &[Draft]) -> Vec<Change> {
    let of_files = drafts.chunk_by(|one, next| one.path == next.path).map(|drafts| Change {
        file: drafts[0].path.display().to_string(),
        cases: drafts.iter().map(|draft| draft.case.eval_id.clone()).collect(),
        ..Change::default()
    });
    of_files.collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Accept,
    Keep,
    Quit,
}

/// Asks until there is an answer. The end of the input quits.
fn ask(question: &str, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<Decision> {
    loop {
        write!(output, "{question} [y = yes, n = stays a draft, q = quit] ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            return Ok(Decision::Quit);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Decision::Accept),
            "n" | "no" => return Ok(Decision::Keep),
            "q" | "quit" => return Ok(Decision::Quit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_accepts() {
        for (typed, expected, asked) in [
            ("y\n", Decision::Accept, 1),
            ("YES\r\n", Decision::Accept, 1),
            ("n\n", Decision::Keep, 1),
            ("q\n", Decision::Quit, 1),
            ("", Decision::Quit, 1),
            ("\nyy\nno\n", Decision::Keep, 3),
            ("\n", Decision::Quit, 2),
        ] {
            let mut output = Vec::new();
            assert_eq!(
                ask("accept?", &mut typed.as_bytes(), &mut output).expect("it reads"),
                expected,
                "{typed:?}"
            );
            let output = String::from_utf8(output).expect("UTF-8");
            assert_eq!(output.matches("accept? [y = yes").count(), asked, "{typed:?}");
        }
    }
}
