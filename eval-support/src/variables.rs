//! Environment variables: the names of the `EVALSET_` variables and of nextest's, and a check of the values
//! that are set.

use std::sync::OnceLock;

use crate::spelling::suggest;

const PREFIX: &str = "EVALSET_";

macro_rules! variables {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        $($(#[$doc])* pub const $name: &str = $text;)+

        /// The variables that the crates read, in the order of `docs/configuration.md`.
        pub const ALL: [&str; 32] = [$($name),+];
    };
}

variables! {
    /// The amount of output of tests.
    PRINT = "EVALSET_PRINT",
    /// Whether tests write a journal.
    JOURNAL = "EVALSET_JOURNAL",
    /// The folder for journals and locks.
    DIR = "EVALSET_DIR",
    /// The run that a journal belongs to.
    RUN_ID = "EVALSET_RUN_ID",
    /// The number of this attempt at the tests of that run, from 1.
    ATTEMPT = "EVALSET_ATTEMPT",
    /// The number of runs that are kept.
    KEEP = "EVALSET_KEEP",
    /// The Python interpreter of agents that are objects of Python.
    PYTHON = "EVALSET_PYTHON",
    /// The variant of a program in a run with a matrix: an object of JSON with the value of each axis.
    VARIANT = "EVALSET_VARIANT",
    /// Whether calls are judged as ADK does, whatever `_expect` loosens.
    LITERAL = "EVALSET_LITERAL",
    /// The mode of judged metrics: replay, record or live.
    JUDGE = "EVALSET_JUDGE",
    /// The outcome of a metric without a judge to ask.
    MISSING_JUDGE = "EVALSET_MISSING_JUDGE",
    /// The model that judges.
    JUDGE_MODEL = "EVALSET_JUDGE_MODEL",
    /// The time limit of one request to a judge.
    JUDGE_TIMEOUT = "EVALSET_JUDGE_TIMEOUT",
    /// The time limit of one question to a judge, all samples and attempts together.
    JUDGE_BUDGET = "EVALSET_JUDGE_BUDGET",
    /// The server of a judge.
    JUDGE_BASE_URL = "EVALSET_JUDGE_BASE_URL",
    /// The number of retries of a failed request to a judge.
    JUDGE_RETRIES = "EVALSET_JUDGE_RETRIES",
    /// The number of concurrent requests to judges.
    JUDGE_SLOTS = "EVALSET_JUDGE_SLOTS",
    /// The mode of recorded calls of models: replay, record, record-all or live.
    MODELS = "EVALSET_MODELS",
    /// Whether recorded answers that no call asked for are an error.
    MODELS_UNUSED = "EVALSET_MODELS_UNUSED",
    /// Whether failures that a retry cured are recorded too.
    MODELS_FAILURES = "EVALSET_MODELS_FAILURES",
    /// The most calls of models in a run of a case.
    MODELS_CALLS = "EVALSET_MODELS_CALLS",
    /// The most tokens of models in a run of a case.
    MODELS_TOKENS = "EVALSET_MODELS_TOKENS",
    /// The highest cost of the calls of models in a run of a case.
    MODELS_COST = "EVALSET_MODELS_COST",
    /// The most calls of models in all cases of a process.
    MODELS_TOTAL_CALLS = "EVALSET_MODELS_TOTAL_CALLS",
    /// The most tokens of models in all cases of a process.
    MODELS_TOTAL_TOKENS = "EVALSET_MODELS_TOTAL_TOKENS",
    /// The highest cost of the calls of models in all cases of a process.
    MODELS_TOTAL_COST = "EVALSET_MODELS_TOTAL_COST",
    /// The prices of a million tokens of models in and out, with commas between them.
    MODELS_PRICE = "EVALSET_MODELS_PRICE",
    /// Whether agents reach no other host at all while calls are replayed.
    MODELS_OFFLINE = "EVALSET_MODELS_OFFLINE",
    /// The server to which calls of OpenAI's wires go while they are recorded.
    MODELS_UPSTREAM_OPENAI = "EVALSET_MODELS_UPSTREAM_OPENAI",
    /// The server to which calls of Anthropic's wire go while they are recorded.
    MODELS_UPSTREAM_ANTHROPIC = "EVALSET_MODELS_UPSTREAM_ANTHROPIC",
    /// The server to which calls of Gemini's wire go while they are recorded.
    MODELS_UPSTREAM_GEMINI = "EVALSET_MODELS_UPSTREAM_GEMINI",
    /// The address of this project's repository, for `cargo evalset new`.
    REPOSITORY = "EVALSET_REPOSITORY",
}

/// nextest's: the id of its run.
pub const NEXTEST_RUN_ID: &str = "NEXTEST_RUN_ID";
/// nextest's: the number of this attempt at the test, from 1.
pub const NEXTEST_ATTEMPT: &str = "NEXTEST_ATTEMPT";
/// nextest's: the id of the test's binary.
pub const NEXTEST_BINARY_ID: &str = "NEXTEST_BINARY_ID";

/// Whether a job of continuous integration runs the process (`CI`). A job may have a terminal, but no user at it.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false" && ci != "0")
}

/// The variables that tests and scripts of this project read.
pub const OF_THIS_PROJECT: [&str; 7] = [
    "EVALSET_CORPUS",
    "EVALSET_TRACES",
    "EVALSET_SERVICE",
    "EVALSET_ADK_PYTHON",
    "EVALSET_ADK_DOCUMENTS",
    "EVALSET_ADK_JOBS",
    "EVALSET_LAYERS",
];

/// The variables whose values are numbers, and the smallest value of each.
const NUMBERS: [(&str, u16); 5] =
    [(ATTEMPT, 1), (JUDGE_TIMEOUT, 1), (JUDGE_BUDGET, 1), (JUDGE_RETRIES, 0), (JUDGE_SLOTS, 1)];

/// Mistakes in the variables that are set: an unknown name, or a value that is not a number. The environment is read
/// once.
///
/// The check runs wherever cases run, with or without a judge, so that a misspelt name or value does not
/// change a later run.
pub fn check() -> Result<(), String> {
    static CHECKED: OnceLock<Result<(), String>> = OnceLock::new();
    let set = || {
        std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        })
    };
    CHECKED.get_or_init(|| check_all(set())).clone()
}

fn check_all(set: impl Iterator<Item = (String, String)>) -> Result<(), String> {
    let mut wrong: Vec<String> = Vec::new();
    for found in set.filter_map(|(name, value)| check_one(&name, &value)) {
        // The environment has no order. Sorting a few texts would be much code in every test crate.
        wrong.insert(wrong.partition_point(|other| *other < found), found);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn check_one(name: &str, value: &str) -> Option<String> {
    let own = name.strip_prefix(PREFIX)?;
    if !ALL.contains(&name) && !OF_THIS_PROJECT.contains(&name) {
        let known = ALL.iter().filter_map(|known| known.strip_prefix(PREFIX));
        let meant = match suggest(own, known) {
            Some(meant) => format!("did you mean `{PREFIX}{meant}`?"),
            None => format!("the known ones are {}", ALL.map(|known| format!("`{known}`")).join(", ")),
        };
        return Some(format!("nothing reads the variable `{name}`; {meant}"));
    }
    if name == LITERAL && flag(value).is_none() {
        return Some(format!("the variable `{LITERAL}` is `{value}`; it can be `1` or `0`"));
    }
    let (name, least) = NUMBERS.into_iter().find(|(number, _)| *number == name)?;
    let value = value.trim();
    (!value.is_empty() && number(value, least).is_none())
        .then(|| format!("the variable `{name}` has to be {}", expected(least)))
}

/// Whether [`LITERAL`] is on.
pub fn is_literal() -> bool {
    std::env::var(LITERAL).ok().and_then(|value| flag(&value)).unwrap_or_default()
}

fn flag(value: &str) -> Option<bool> {
    match value.trim() {
        "" | "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The value of a variable as a number of at least `least`. Only small numbers make sense for these
/// variables.
pub fn number(value: &str, least: u16) -> Option<u16> {
    value.parse::<u16>().ok().filter(|number| *number >= least)
}

/// The range of a number.
pub fn expected(least: u16) -> String {
    format!("a whole number from {least} to {}", u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(set: &[(&str, &str)]) -> Result<(), String> {
        check_all(set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_the_known_one() {
        for (name, meant) in [
            ("EVALSET_JUGDE", "EVALSET_JUDGE"),
            ("EVALSET_JUDGES", "EVALSET_JUDGE"),
            ("EVALSET_JOURNALS", "EVALSET_JOURNAL"),
            ("EVALSET_JUDGE_TIME_OUT", "EVALSET_JUDGE_TIMEOUT"),
            ("EVALSET_PRNT", "EVALSET_PRINT"),
            ("EVALSET_RUNID", "EVALSET_RUN_ID"),
            ("EVALSET_MISSING_JUGDE", "EVALSET_MISSING_JUDGE"),
        ] {
            let expected = format!("nothing reads the variable `{name}`; did you mean `{meant}`?");
            assert_eq!(check(&[(name, "live")]), Err(expected));
        }
        let error = check(&[("EVALSET_WHATEVER_ELSE", "")]).unwrap_err();
        assert!(error.contains("the known ones are `EVALSET_PRINT`, "), "{error}");
    }

    #[test]
    fn known_names_and_those_of_others_are_let_be() {
        for name in ALL.into_iter().chain(OF_THIS_PROJECT).chain(["EVALSETTINGS", "MY_EVALSET_JUGDE", "PATH"])
        {
            assert_eq!(check(&[(name, "")]), Ok(()), "{name}");
        }
    }

    #[test]
    fn values_are_checked() {
        for (name, value, ok) in [
            ("EVALSET_JUDGE_TIMEOUT", "60", true),
            ("EVALSET_JUDGE_TIMEOUT", "", true),
            ("EVALSET_JUDGE_TIMEOUT", "0", false),
            ("EVALSET_JUDGE_TIMEOUT", "2m", false),
            ("EVALSET_JUDGE_BUDGET", "0", false),
            ("EVALSET_JUDGE_RETRIES", "0", true),
            ("EVALSET_JUDGE_RETRIES", "many", false),
            ("EVALSET_JUDGE_RETRIES", "-1", false),
            ("EVALSET_JUDGE_SLOTS", "65536", false),
            ("EVALSET_LITERAL", "1", true),
            ("EVALSET_LITERAL", "0", true),
            ("EVALSET_LITERAL", "yes", false),
            ("EVALSET_ATTEMPT", "2", true),
            ("EVALSET_ATTEMPT", "0", false),
        ] {
            assert_eq!(check(&[(name, value)]).is_ok(), ok, "{name}={value}");
        }
        let both = check(&[("EVALSET_X", "1"), ("EVALSET_JUDGE_SLOTS", "0")]).unwrap_err();
        assert!(
            both.contains("`EVALSET_X`")
                && both.contains("`EVALSET_JUDGE_SLOTS` has to be a whole number from 1")
        );
    }
}
