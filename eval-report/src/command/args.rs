//! The arguments of [`EvalCommand`](super::EvalCommand).

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use eval_format::metric::MetricArgument;
use eval_format::options::{Gate, ParseOptionError, Pass, parse_timeout};
use eval_support::spelling::suggest;
use lexopt::{Arg, Parser};

use crate::price::{PriceError, Prices};

/// The arguments after `eval`.
#[derive(Debug, PartialEq)]
pub(super) struct Args {
    pub(super) agent: Option<String>,
    /// Selectors of sets and their cases; at least one.
    pub(super) sets: Vec<OsString>,
    pub(super) config: Option<PathBuf>,
    /// The ids of the cases to run. Empty for all cases.
    pub(super) cases: Vec<String>,
    /// How often each case runs, at least once.
    pub(super) runs: Option<usize>,
    /// The only metrics, with the thresholds that are given.
    pub(super) metrics: Vec<MetricArgument>,
    pub(super) pass: Option<Pass>,
    pub(super) gate: Option<Gate>,
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Option<u32>,
    pub(super) fail_fast: bool,
    /// What tokens cost, as `--price` says; empty without it.
    pub(super) prices: Prices,
    /// How many cases run at a time, at least one.
    pub(super) concurrency: usize,
}

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    Run(Box<Args>),
    Help,
}

/// What is wrong with the arguments.
#[derive(Debug)]
pub(super) enum ArgsError {
    NoSet,
    Unknown { option: String },
    ValueMissing { option: &'static str },
    NotUtf8 { option: &'static str },
    NotACount { option: &'static str, value: String },
    NotAThreshold { metric: String, value: String },
    Option { option: &'static str, source: ParseOptionError },
    Price(PriceError),
    Other(lexopt::Error),
}

/// An option that takes a value.
struct ValueOption {
    /// Its name, without the dashes.
    name: &'static str,
    /// The placeholder of its value in the help.
    value: &'static str,
    about: &'static str,
    /// Whether the usage shows it in brackets.
    in_brackets: bool,
    set: fn(&mut Args, Value) -> Result<(), ArgsError>,
}

/// The value of an option.
struct Value {
    option: &'static str,
    text: OsString,
}

const OPTIONS: [ValueOption; 12] = [
    ValueOption {
        name: "agent",
        value: "NAME",
        about: "the agent; not needed if there is only one",
        in_brackets: false,
        set: |args, value| {
            args.agent = Some(value.utf8()?);
            Ok(())
        },
    },
    ValueOption {
        name: "set",
        value: "SET",
        about: "a file, a folder, a glob or the id of a set, `SET:case1,case2` for some of its cases; can be repeated",
        in_brackets: false,
        set: |args, value| {
            args.sets.push(value.text);
            Ok(())
        },
    },
    ValueOption {
        name: "config",
        value: "FILE",
        about: "criteria, instead of the `test_config.json` beside each set",
        in_brackets: true,
        set: |args, value| {
            args.config = Some(value.text.into());
            Ok(())
        },
    },
    ValueOption {
        name: "case",
        value: "ID",
        about: "runs only this case; can be repeated",
        in_brackets: true,
        set: |args, value| {
            args.cases.push(value.utf8()?);
            Ok(())
        },
    },
    ValueOption {
        name: "runs",
        value: "N",
        about: "how often each case runs",
        in_brackets: true,
        set: |args, value| {
            args.runs = Some(value.count()?);
            Ok(())
        },
    },
    ValueOption {
        name: "metric",
        value: "NAME[=THRESHOLD]",
        about: "scores with this metric and no others (also `-m`); `NAME<=5` is met by scores of at most 5; can be repeated",
        in_brackets: true,
        set: |args, value| {
            args.metrics.push(value.metric()?);
            Ok(())
        },
    },
    ValueOption {
        name: "pass",
        value: "HOW",
        about: "how the runs of a case decide it: mean, all, any or `at_least(2)`",
        in_brackets: true,
        set: |args, value| {
            args.pass = Some(value.parsed(str::parse)?);
            Ok(())
        },
    },
    ValueOption {
        name: "gate",
        value: "HOW",
        about: "how the turns of a run decide it: mean or every_turn",
        in_brackets: true,
        set: |args, value| {
            args.gate = Some(value.parsed(str::parse)?);
            Ok(())
        },
    },
    ValueOption {
        name: "timeout",
        value: "TIME",
        about: "the time limit of a turn: 500ms, 30s, 2m",
        in_brackets: true,
        set: |args, value| {
            args.timeout = Some(value.parsed(parse_timeout)?);
            Ok(())
        },
    },
    ValueOption {
        name: "retry",
        value: "N",
        about: "how often a run is repeated whose agent was not reached",
        in_brackets: true,
        set: |args, value| {
            let option = value.option;
            let times = value.count()?;
            args.retry = Some(
                u32::try_from(times)
                    .map_err(|_| ArgsError::NotACount { option, value: times.to_string() })?,
            );
            Ok(())
        },
    },
    ValueOption {
        name: "concurrency",
        value: "N",
        about: "how many cases run at a time [default: 4]",
        in_brackets: true,
        set: |args, value| {
            args.concurrency = value.count()?;
            Ok(())
        },
    },
    ValueOption {
        name: "price",
        value: "[MODEL=]IN/OUT",
        about: "the prices of a million tokens in and out, for all models or for one; can be repeated",
        in_brackets: true,
        set: |args, value| args.prices.add(&value.utf8()?).map_err(ArgsError::Price),
    },
];

/// The option without a value.
const FAIL_FAST: &str = "fail-fast";
const FAIL_FAST_ABOUT: &str = "begins no further case when one did not pass";

const CONCURRENCY: usize = 4;

impl Args {
    /// Reads the arguments after `eval`.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, ArgsError> {
        let mut args = Self {
            agent: None,
            sets: Vec::new(),
            config: None,
            cases: Vec::new(),
            runs: None,
            metrics: Vec::new(),
            pass: None,
            gate: None,
            timeout: None,
            retry: None,
            fail_fast: false,
            prices: Prices::default(),
            concurrency: CONCURRENCY,
        };
        let mut parser = Parser::from_args(words);
        while let Some(arg) = parser.next().map_err(ArgsError::Other)? {
            let option = match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(Asked::Help),
                Arg::Long(FAIL_FAST) => {
                    args.fail_fast = true;
                    continue;
                }
                Arg::Short('m') => named("metric")?,
                Arg::Long(name) => named(name)?,
                Arg::Short(letter) => return Err(ArgsError::Unknown { option: format!("-{letter}") }),
                Arg::Value(word) => {
                    return Err(ArgsError::Unknown { option: word.to_string_lossy().into_owned() });
                }
            };
            let text = parser.value().map_err(|error| match error {
                lexopt::Error::MissingValue { .. } => ArgsError::ValueMissing { option: option.name },
                error => ArgsError::Other(error),
            })?;
            (option.set)(&mut args, Value { option: option.name, text })?;
        }
        if args.sets.is_empty() { Err(ArgsError::NoSet) } else { Ok(Asked::Run(Box::new(args))) }
    }
}

fn named(name: &str) -> Result<&'static ValueOption, ArgsError> {
    let found = OPTIONS.iter().find(|option| option.name == name);
    found.ok_or_else(|| ArgsError::Unknown { option: format!("--{name}") })
}

impl Value {
    fn metric(self) -> Result<MetricArgument, ArgsError> {
        let text = self.utf8()?;
        MetricArgument::parse(&text).map_err(|(metric, value)| ArgsError::NotAThreshold { metric, value })
    }

    fn parsed<T>(self, parse: impl Fn(&str) -> Result<T, ParseOptionError>) -> Result<T, ArgsError> {
        let option = self.option;
        parse(&self.utf8()?).map_err(|source| ArgsError::Option { option, source })
    }

    fn utf8(self) -> Result<String, ArgsError> {
        self.text.into_string().map_err(|_| ArgsError::NotUtf8 { option: self.option })
    }

    /// A whole number, at least 1.
    fn count(self) -> Result<usize, ArgsError> {
        let option = self.option;
        let value = self.utf8()?;
        let count = value.parse().ok().filter(|count| *count > 0);
        count.ok_or(ArgsError::NotACount { option, value })
    }
}

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAThreshold { metric, value } => {
                write!(f, "`{value}` is no threshold for `{metric}`; it must be a number")
            }
            Self::Option { option, source } => {
                write!(f, "`--{option}`: {}; {}", source.message(), source.help())
            }
            Self::Price(error) => write!(f, "`--price`: {error}; {}", PriceError::HELP),
            Self::NoSet => f.write_str("name a set, or a folder of sets, with `--set`"),
            Self::Unknown { option } => {
                write!(f, "there is no option `{option}`")?;
                let names = OPTIONS.iter().map(|option| option.name).chain([FAIL_FAST]);
                let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
                match suggest(option, names.iter().map(String::as_str)) {
                    Some(meant) => write!(f, "; did you mean `{meant}`?"),
                    None => Ok(()),
                }
            }
            Self::ValueMissing { option } => write!(f, "`--{option}` lacks its value"),
            Self::NotUtf8 { option } => write!(f, "the value of `--{option}` is not UTF-8"),
            Self::NotACount { option, value } => {
                write!(f, "`--{option}` is `{value}`; it must be a whole number, at least 1")
            }
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// The line that shows how the command is called.
pub(super) fn usage() -> String {
    let mut text = "usage: eval".to_owned();
    for ValueOption { name, value, in_brackets, .. } in OPTIONS {
        let option = format!("--{name} {value}");
        text.push_str(&if in_brackets { format!(" [{option}]") } else { format!(" {option}") });
    }
    text + " [--fail-fast]"
}

/// The options, and the names of the agents.
pub(super) fn help(agents: &[&str]) -> String {
    let mut text = format!(
        "Runs eval sets against an agent of this program and prints a report as JSON.\n\n{}\n\n",
        usage()
    );
    for ValueOption { name, value, about, .. } in OPTIONS {
        text.push_str(&format!("  {:<26} {about}\n", format!("--{name} {value}")));
    }
    text.push_str(&format!("  {:<26} {FAIL_FAST_ABOUT}\n", format!("--{FAIL_FAST}")));
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
        let prices = || {
            let mut prices = Prices::default();
            prices.add("1/2").map(|()| prices)
        };
        let expected = Args {
            agent: Some("b".to_owned()),
            sets: vec!["a".into(), "c=d".into()],
            config: Some("f".into()),
            cases: vec!["e".to_owned()],
            runs: Some(3),
            metrics: vec![("safety_v1", None).into(), ("response_match_score", Some(0.5)).into()],
            pass: Some(Pass::AtLeast(2)),
            gate: Some(Gate::EveryTurn),
            timeout: Some(Duration::from_mins(2)),
            retry: Some(2),
            fail_fast: true,
            prices: prices().unwrap(),
            concurrency: 9,
        };
        assert_eq!(parse(&words).unwrap(), Asked::Run(Box::new(expected)));
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
            "usage: eval --agent NAME --set SET [--config FILE] [--case ID] [--runs N] [--metric NAME[=THRESHOLD]] \
             [--pass HOW] [--gate HOW] [--timeout TIME] [--retry N] [--concurrency N] \
             [--price [MODEL=]IN/OUT] [--fail-fast]"
        );
        let help = help(&["weather"]);
        assert!(OPTIONS.iter().all(|option| help.contains(option.about)), "{help}");
        assert!(help.contains(&format!("[default: {CONCURRENCY}]")), "{help}");
    }
}
