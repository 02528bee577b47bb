//! The arguments: a handful of options, so that a user's program is built with no more than it has.

use std::ffi::OsString;
use std::path::PathBuf;

use eval_format::suggest;

/// What is to be run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Args {
    pub(super) agent: Option<String>,
    pub(super) sets: Vec<PathBuf>,
    pub(super) config: Option<PathBuf>,
    /// The ids of the cases to run; all where there are none.
    pub(super) cases: Vec<String>,
    pub(super) runs: Option<usize>,
    pub(super) concurrency: usize,
}

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Run(Args),
    Help,
}

/// Each option: its name, what follows it, and what it is about.
const OPTIONS: [(&str, &str, &str); 6] = [
    ("--agent", "NAME", "the agent; may be left out where there is one"),
    ("--set", "PATH", "a set, or a folder of sets; may be said several times"),
    ("--config", "FILE", "criteria, instead of the `test_config.json` beside each set"),
    ("--case", "ID", "runs this case only; may be said several times"),
    ("--runs", "N", "how often each case runs"),
    ("--concurrency", "N", "how many cases run at a time; 4 unless said"),
];

const CONCURRENCY: usize = 4;

impl Args {
    /// Reads what follows `eval`; the error says what is wrong.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, String> {
        let mut args = Self {
            agent: None,
            sets: Vec::new(),
            config: None,
            cases: Vec::new(),
            runs: None,
            concurrency: CONCURRENCY,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--help" || word == "-h" {
                return Ok(Asked::Help);
            }
            let (name, value) = option(&word)?;
            let value = match value {
                Some(value) => value,
                None => words.next().ok_or_else(|| format!("`{name}` lacks its value"))?,
            };
            args.set(name, value)?;
        }
        if args.sets.is_empty() {
            return Err("`--set` says which set, or which folder of sets".to_owned());
        }
        Ok(Asked::Run(args))
    }

    fn set(&mut self, name: &str, value: OsString) -> Result<(), String> {
        let text = |value: OsString| value.into_string().map_err(|_| format!("`{name}` is no UTF-8 text"));
        match name {
            "--set" => self.sets.push(value.into()),
            "--config" => self.config = Some(value.into()),
            "--agent" => self.agent = Some(text(value)?),
            "--case" => self.cases.push(text(value)?),
            "--runs" => self.runs = Some(number(name, &text(value)?)?),
            _ => self.concurrency = number(name, &text(value)?)?,
        }
        Ok(())
    }
}

/// An option, and its value where it follows a `=`.
fn option(word: &OsString) -> Result<(&'static str, Option<OsString>), String> {
    let shown = word.to_string_lossy();
    let (name, value) = match word.to_str().and_then(|word| word.split_once('=')) {
        Some((name, value)) => (name, Some(value.into())),
        None => (&*shown, None),
    };
    let mut names = OPTIONS.iter().map(|(name, ..)| *name);
    if let Some(known) = names.clone().find(|known| *known == name) {
        return Ok((known, value));
    }
    Err(match suggest(name, &mut names) {
        Some(meant) => format!("there is no option `{name}`; did you mean `{meant}`?"),
        None => format!("there is no option `{name}`"),
    })
}

fn number(name: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{name}` is `{text}`; it is a whole number, at least 1"))
}

/// The line that shows how it is called.
pub(super) fn usage() -> String {
    "usage: eval --agent NAME --set PATH [--config FILE] [--case ID] [--runs N] [--concurrency N]".to_owned()
}

/// The options, and the agents that there are.
pub(super) fn help(agents: &[&str]) -> String {
    let mut text = format!(
        "Runs eval sets against an agent of this program and prints a report as JSON.\n\n{}\n\n",
        usage()
    );
    for (name, value, about) in OPTIONS {
        text.push_str(&format!("  {:<18} {about}\n", format!("{name} {value}")));
    }
    text.push_str(&format!("\nagents: {}\n", agents.join(", ")));
    text.push_str(
        "\nexit codes: 0 every case passed, 1 a case failed, 2 a case has no verdict, or the arguments are wrong\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Asked, String> {
        Args::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn options_are_read_with_a_space_or_an_equals_sign() {
        let words = [
            "--set",
            "a",
            "--agent=b",
            "--set=c=d",
            "--runs",
            "3",
            "--case",
            "e",
            "--config=f",
            "--concurrency=9",
        ];
        let expected = Args {
            agent: Some("b".to_owned()),
            sets: vec!["a".into(), "c=d".into()],
            config: Some("f".into()),
            cases: vec!["e".to_owned()],
            runs: Some(3),
            concurrency: 9,
        };
        assert_eq!(parse(&words), Ok(Asked::Run(expected)));
        assert_eq!(parse(&["--set", "a", "-h"]), Ok(Asked::Help));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, says) in [
            (&[][..], "`--set` says which set"),
            (&["--set"], "`--set` lacks its value"),
            (&["--sets", "a"], "there is no option `--sets`; did you mean `--set`?"),
            (&["weather"], "there is no option `weather`"),
            (&["--set", "a", "--runs", "0"], "`--runs` is `0`; it is a whole number, at least 1"),
            (&["--set", "a", "--concurrency", "x"], "`--concurrency` is `x`"),
        ] {
            let why = parse(words).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
