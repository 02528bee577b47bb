//! The arguments of [`EvalCommand`](super::EvalCommand).

use std::ffi::OsString;
use std::fmt;

use eval_support::spelling::suggest;
use lexopt::{Arg, Parser};

use super::options::{OPTIONS, OptionError, RunOption, RunOptions};

/// The arguments after `eval`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Args {
    pub(super) agent: Option<String>,
    /// Selectors of sets and their cases; at least one.
    pub(super) sets: Vec<OsString>,
    /// The ids of the cases to run. Empty for all cases.
    pub(super) cases: Vec<String>,
    pub(super) options: RunOptions,
}

/// A request, parsed from the arguments.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    Run(Box<Args>),
    Help,
}

/// An error in the arguments.
#[derive(Debug)]
pub(super) enum ArgsError {
    NoSet,
    Unknown { option: String },
    ValueMissing { option: &'static str },
    NotUtf8 { option: &'static str },
    Option(OptionError),
    Other(lexopt::Error),
}

/// The options that say what runs: the name, the placeholder of the value, and the help.
const SELECTING: [[&str; 3]; 3] = [
    ["agent", "NAME", "the agent; not needed if there is only one"],
    [
        "set",
        "SET",
        "a file, a folder, a glob or the id of a set, `SET:case1,case2` for some of its cases; can be repeated",
    ],
    ["case", "ID", "runs only this case; can be repeated"],
];

impl Args {
    /// Reads the arguments after `eval`.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, ArgsError> {
        let mut args = Self::default();
        let mut parser = Parser::from_args(words);
        while let Some(arg) = parser.next().map_err(ArgsError::Other)? {
            let is_meant = |option: &&RunOption| match &arg {
                Arg::Long(name) => option.name == *name,
                Arg::Short(letter) => option.short == Some(*letter),
                Arg::Value(_) => false,
            };
            let selecting =
                SELECTING.iter().find(|[name, ..]| matches!(arg, Arg::Long(long) if long == *name));
            match (&arg, selecting, OPTIONS.iter().find(is_meant)) {
                (Arg::Short('h') | Arg::Long("help"), ..) => return Ok(Asked::Help),
                (_, Some([name, ..]), _) => {
                    let value = value(&mut parser, name)?;
                    match *name {
                        "set" => args.sets.push(value),
                        "case" => args.cases.push(utf8(name, value)?),
                        _ => args.agent = Some(utf8(name, value)?),
                    }
                }
                (_, None, Some(option)) => {
                    let text = match option.value {
                        Some(_) => utf8(option.name, value(&mut parser, option.name)?)?,
                        None => String::new(),
                    };
                    option.set(&mut args.options, &text).map_err(ArgsError::Option)?;
                }
                (Arg::Long(name), ..) => return Err(ArgsError::Unknown { option: format!("--{name}") }),
                (Arg::Short(letter), ..) => return Err(ArgsError::Unknown { option: format!("-{letter}") }),
                (Arg::Value(word), ..) => {
                    return Err(ArgsError::Unknown { option: word.to_string_lossy().into_owned() });
                }
            }
        }
        if args.sets.is_empty() { Err(ArgsError::NoSet) } else { Ok(Asked::Run(Box::new(args))) }
    }
}

fn value(parser: &mut Parser, option: &'static str) -> Result<OsString, ArgsError> {
    parser.value().map_err(|error| match error {
        lexopt::Error::MissingValue { .. } => ArgsError::ValueMissing { option },
        error => ArgsError::Other(error),
    })
}

fn utf8(option: &'static str, value: OsString) -> Result<String, ArgsError> {
    value.into_string().map_err(|_| ArgsError::NotUtf8 { option })
}

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(error) => error.fmt(f),
            Self::NoSet => f.write_str("name a set, or a folder of sets, with `--set`"),
            Self::Unknown { option } => {
                write!(f, "there is no option `{option}`")?;
                let names: Vec<String> = shown().map(|(name, ..)| format!("--{name}")).collect();
                match suggest(option, names.iter().map(String::as_str)) {
                    Some(meant) => write!(f, "; did you mean `{meant}`?"),
                    None => Ok(()),
                }
            }
            Self::ValueMissing { option } => write!(f, "`--{option}` lacks its value"),
            Self::NotUtf8 { option } => write!(f, "the value of `--{option}` is not UTF-8"),
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// All options in the order of the help: the name, the option with its value, and the help.
fn shown() -> impl Iterator<Item = (&'static str, String, String)> {
    let selecting = SELECTING
        .iter()
        .map(|[name, value, about]| (*name, format!("--{name} {value}"), (*about).to_owned()));
    let of_runs = OPTIONS.iter().map(|option| {
        let value = option.value.map(|value| format!(" {value}")).unwrap_or_default();
        let repeated = if option.is_repeated { "; can be repeated" } else { "" };
        (option.name, format!("--{}{value}", option.name), format!("{}{repeated}", option.about))
    });
    selecting.chain(of_runs)
}

/// The line that shows how the command is called.
pub(super) fn usage() -> String {
    let options = shown().map(|(name, option, _)| match name {
        "agent" | "set" => format!(" {option}"),
        _ => format!(" [{option}]"),
    });
    "usage: eval".to_owned() + &options.collect::<String>()
}

/// The help text: the options, and the names of the agents.
pub(super) fn help(agents: &[&str]) -> String {
    let mut text = format!(
        "Runs eval sets against an agent of this program and prints a report as JSON.\n\n{}\n\n",
        usage()
    );
    for (_, option, about) in shown() {
        text.push_str(&format!("  {option:<31} {about}\n"));
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

    fn parse(words: &[&str]) -> Result<Asked, ArgsError> {
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
            "-m",
            "safety_v1",
            "--metric=response_match_score=0.5",
            "--fail-fast",
            "--pass=at_least(2)",
            "--gate",
            "every_turn",
            "--timeout=2m",
            "--price=1/2",
            "--retry=2",
        ];
        let Asked::Run(args) = parse(&words).unwrap() else { unreachable!() };
        let Args { agent, sets, cases, options } = *args;
        assert_eq!((agent.as_deref(), cases), (Some("b"), vec!["e".to_owned()]));
        assert_eq!(sets, ["a", "c=d"]);
        assert_eq!((options.config.as_deref(), options.concurrency), (Some("f".as_ref()), 9));
        let metrics = [("safety_v1", None).into(), ("response_match_score", Some(0.5)).into()];
        assert_eq!(options.metrics, metrics);
        let kept = "--runs 3 --config f -m safety_v1 -m response_match_score=0.5 --pass at_least(2) --gate every_turn \
                    --timeout 2m --price 1/2 --retry 2";
        assert_eq!(options.words().join(" "), kept);
        let runner = format!("{:?}", options.apply(eval_core::EvalRunner::new()));
        for set in
            ["runs: 3", "pass: AtLeast(2)", "gate: EveryTurn", "timeout: 120s", "retry: 2", "fail_fast: true"]
        {
            assert!(runner.contains(set), "{set}: {runner}");
        }
        assert_eq!(parse(&["--set", "a", "-h"]).unwrap(), Asked::Help);
        assert_eq!(parse(&["--help"]).unwrap(), Asked::Help);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, says) in [
            (&[][..], "name a set, or a folder of sets, with `--set`"),
            (&["--set"], "`--set` lacks its value"),
            (&["--sets", "a"], "there is no option `--sets`; did you mean `--set`?"),
            (&["--sets=a"], "there is no option `--sets`; did you mean `--set`?"),
            (&["weather"], "there is no option `weather`"),
            (&["--set", "a", "-x"], "there is no option `-x`"),
            (&["--set", "a", "--runs", "0"], "`--runs` is `0`; it must be a whole number, at least 1"),
            (&["--set", "a", "--concurrency", "x"], "`--concurrency` is `x`"),
            (&["--set", "a", "-m", "safety_v1=high"], "`high` is no threshold for `safety_v1`"),
            (&["--set", "a", "-m", "safety_v1=NaN"], "`NaN` is no threshold for `safety_v1`"),
            (&["--set", "a", "--pass", "most"], "`--pass`: unknown `pass`: `most`; it is \"mean\""),
            (&["--set", "a", "--timeout", "30"], "`--timeout`: `30` is not a duration; write"),
            (&["--set", "a", "--fail-fats"], "did you mean `--fail-fast`?"),
        ] {
            let why = parse(words).unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn the_help_shows_each_option_and_the_default() {
        assert_eq!(
            usage(),
            "usage: eval --agent NAME --set SET [--case ID] [--config FILE] [--metric METRIC[=THRESHOLD]] [--runs N] \
             [--pass HOW] [--gate HOW] [--timeout TIME] [--price [MODEL=]IN/OUT] [--retry N] [--concurrency N] [--fail-fast]"
        );
        let help = help(&["weather"]);
        assert!(OPTIONS.iter().all(|option| help.contains(option.about)), "{help}");
        assert!(help.contains(&format!("[default: {}]", RunOptions::default().concurrency)), "{help}");
    }
}
