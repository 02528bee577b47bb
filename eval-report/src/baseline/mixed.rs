//! Runs of one build that were made in different ways: with other criteria, with other tools, by other agents.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::line::Key;
use crate::recorded::TestResult;

/// A case whose runs cannot be counted together, though it asks and expects the same in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The case.
    pub key: Key,
    /// The reason why the later runs cannot be compared with the ones before: `response_match_score`: another criterion.
    pub why: String,
    /// The ids of the test runs before.
    pub before: Vec<String>,
    /// The ids of the later test run.
    pub now: Vec<String>,
}

/// `evals/desk.evalset.json:refund` was measured in another way in `r2` than in `r1` (..).
impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |ids: &[String]| short_code_list(&ids.iter().map(|id| one_line(id)).collect::<Vec<_>>());
        let Self { key, why, before, now } = self;
        write!(f, "`{key}` was measured in another way in {} than in {} ({why})", ids(now), ids(before))
    }
}

/// A note about cases whose earlier runs do not count.
pub(super) fn not_counted(mixed: &[Mixed]) -> Option<String> {
    let first = mixed.first()?;
    let more = match mixed.len() - 1 {
        0 => String::new(),
        more => format!(", and {} too", count(more, "more case")),
    };
    Some(format!("{first}{more}: only the last runs count"))
}

/// A note about cases that several agents ran.
pub(super) fn several_agents(of_cases: &BTreeMap<Key, BTreeSet<String>>) -> Option<String> {
    let agents: BTreeSet<String> = of_cases.values().flatten().map(|agent| one_line(agent)).collect();
    let agents: Vec<String> = agents.into_iter().collect();
    (!agents.is_empty()).then(|| {
        let cases = count(of_cases.len(), "case");
        format!("the runs of {cases} are of several agents, and count together: {}", short_code_list(&agents))
    })
}

/// The options of a program that name its agent.
const AGENT_OPTIONS: [&str; 5] = ["--agent", "--agent-cmd", "--agent-url", "--adk-cmd", "--app"];

/// The agent that a program ran, as its options name it: `--agent-cmd 'python3 agent.py'`. `None` for a test.
pub(super) fn agent(test: &TestResult<'_>) -> Option<String> {
    agent_of(test.attempt.head.again.as_ref()?)
}

fn agent_of(options: &[String]) -> Option<String> {
    let mut words = options.iter();
    let mut named: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if AGENT_OPTIONS.contains(&name) {
            named.push(word);
            if name == word {
                named.extend(words.next().map(String::as_str));
            }
        }
    }
    (!named.is_empty()).then(|| shell::line(&named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_an_agent_are_its_name() {
        let of = |words: &[&str]| agent_of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of(&["--agent-cmd", "python3 a.py", "--runs", "3"]).as_deref(),
            Some("--agent-cmd 'python3 a.py'")
        );
        assert_eq!(
            of(&["--tools=golden", "--agent-url=http://x", "--app", "trip"]).as_deref(),
            Some("--agent-url=http://x --app trip")
        );
        assert_eq!(of(&["--trace", "t.json"]), None);
    }
}
