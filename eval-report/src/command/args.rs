//! The arguments of [`EvalCommand`](super::EvalCommand).

use std::ffi::OsString;

use eval_support::spelling::suggest;
use lexopt::{Arg, Parser};

use super::options::{OPTIONS, RunOption, RunOptions};

#[derive(Debug, Default, PartialEq)]
pub(super) struct Args {
    pub(super) agent: Option<String>,
    /// Selectors of sets and their cases; at least one.
    pub(super) sets: Vec<OsString>,
    /// The ids of the cases to run. Empty for all cases.
    pub(super) cases: Vec<String>,
    pub(super) options: RunOptions,
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
    /// Reads the arguments after `eval`; `None` if they ask for the help.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut args = Self::default();
        let mut parser = Parser::from_args(words);
        while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
            let is_meant = |option: &&RunOption| match &arg {
                Arg::Long(name) => option.name == *name,
                Arg::Short(letter) => option.short == Some(*letter),
                Arg::Value(_) => false,
            };
            let selecting =
                SELECTING.iter().find(|[name, ..]| matches!(arg, Arg::Long(long) if long == *name));
            match (&arg, selecting, OPTIONS.iter().find(is_meant)) {
                (Arg::Short('h') | Arg::Long("help"), ..) => return Ok(None),
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
                    option.set(&mut args.options, &text).map_err(|error| error.to_string())?;
                }
                (Arg::Long(name), ..) => return Err(unknown(&format!("--{name}"))),
                (Arg::Short(letter), ..) => return Err(unknown(&format!("-{letter}"))),
                (Arg::Value(word), ..) => return Err(unknown(&word.to_string_lossy())),
            }
        }
        if args.sets.is_empty() {
            return Err("name a set, or a folder of sets, with `--set`".to_owned());
        }
        Ok(Some(args))
    }
}

fn value(parser: &mut Parser, option: &str) -> Result<OsString, String> {
    parser.value().map_err(|error| match error {
        lexopt::Error::MissingValue { .. } => format!("`--{option}` lacks its value"),
        error => error.to_string(),
    })
}

fn utf8(option: &str, value: OsString) -> Result<String, String> {
    value.into_string().map_err(|_| format!("the value of `--{option}` is not UTF-8"))
}

fn unknown(option: &str) -> String {
    let names: Vec<String> = shown().map(|(name, ..)| format!("--{name}")).collect();
    let meant = suggest(option, names.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
    format!("there is no option `{option}`{}", meant.unwrap_or_default())
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

pub(super) fn usage() -> String {
    let options = shown().map(|(name, option, _)| match name {
        "agent" | "set" => format!(" {option}"),
        _ => format!(" [{option}]"),
    });
    "usage: eval".to_owned() + &options.collect::<String>()
}

pub(super) fn help(agents: &[&str]) -> String {
    let head = "Runs eval sets against an agent of this program and prints a report as JSON.";
    let mut text = format!("{head}\n\n{}\n\n", usage());
    text.extend(shown().map(|(_, option, about)| format!("  {option:<31} {about}\n")));
    text.push_str(&format!("\nagents: {}\n", agents.join(", ")));
    text.push_str(
        "\nexit codes: 0 every case passed, 1 a case failed, 2 a case has no verdict, or the arguments are wrong\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<Args>, String> {
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
            "--tag",
            "f",
            "--skip-tag=g",
            "--tag=h",
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
            "--literal",
        ];
        let Args { agent, sets, cases, options } = parse(&words).unwrap().unwrap();
        assert_eq!((agent.as_deref(), cases), (Some("b"), vec!["e".to_owned()]));
        assert_eq!(sets, ["a", "c=d"]);
        assert_eq!((options.tags.any.join(" "), options.tags.none.join(" ")), ("f h".into(), "g".into()));
        assert_eq!((options.config.as_deref(), options.concurrency()), (Some("f".as_ref()), 9));
        let metrics = [("safety_v1", None).into(), ("response_match_score", Some(0.5)).into()];
        assert_eq!(options.metrics, metrics);
        let kept = "--runs 3 --config f -m safety_v1 -m response_match_score=0.5 --pass at_least(2) --gate every_turn \
                    --timeout 2m --price 1/2 --retry 2 --literal";
        assert_eq!(options.again.join(" "), kept);
        let runner = format!("{:?}", options.apply(eval_core::EvalRunner::new()));
        for set in [
            "runs: 3",
            "pass: AtLeast(2)",
            "gate: EveryTurn",
            "timeout: 120s",
            "retry: 2",
            "literal: true",
            "fail_fast: true",
        ] {
            assert!(runner.contains(set), "{set}: {runner}");
        }
        assert_eq!(parse(&["--set", "a", "-h"]).unwrap(), None);
        assert_eq!(parse(&["--help"]).unwrap(), None);
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
            let why = parse(words).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn the_help_shows_each_option_and_the_default() {
        assert_eq!(
            usage(),
            "usage: eval --agent NAME --set SET [--case ID] [--tag TAG] [--skip-tag TAG] [--config FILE] [--metric METRIC[=THRESHOLD]] [--runs N] \
             [--pass HOW] [--gate HOW] [--timeout TIME] [--price [MODEL=]IN/OUT] [--retry N] [--tools SOURCE] [--faults FILE] [--literal] [--concurrency N] [--fail-fast]"
        );
        let help = help(&["weather"]);
        assert!(OPTIONS.iter().all(|option| help.contains(option.about)), "{help}");
        assert!(help.contains(&format!("[default: {}]", RunOptions::default().concurrency())), "{help}");
    }
}
