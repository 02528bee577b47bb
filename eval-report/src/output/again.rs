//! The command that runs cases of `cargo evalset run` again.

use std::collections::{BTreeMap, BTreeSet};

use eval_support::shell;

/// A case by the file of its set and its id.
pub type CaseOfFile<'c> = (&'c str, &'c str);

/// The command that runs these cases again. The options say what answers, and how it is run and scored.
pub fn command<'c>(options: &[String], cases: impl IntoIterator<Item = CaseOfFile<'c>>) -> String {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, case) in cases {
        sets.entry(file).or_default().push(case);
    }
    line(sets.into_iter().map(|(file, cases)| format!("{file}:{}", cases.join(","))), options)
}

/// The command that runs whole sets again.
pub fn of_sets<'c>(options: &[String], files: impl IntoIterator<Item = &'c str>) -> String {
    let files: BTreeSet<&str> = files.into_iter().collect();
    line(files.into_iter().map(str::to_owned), options)
}

fn line(sets: impl Iterator<Item = String>, options: &[String]) -> String {
    let words = ["cargo", "evalset", "run"].map(str::to_owned).into_iter().chain(sets);
    shell::line(&words.chain(options.iter().cloned()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_stand_with_their_sets_before_the_options() {
        let options = ["--agent-cmd".to_owned(), "python3 agent.py".to_owned()];
        assert_eq!(
            command(&options, [("b.json", "x"), ("a.json", "degrees at home"), ("b.json", "y")]),
            "cargo evalset run 'a.json:degrees at home' b.json:x,y --agent-cmd 'python3 agent.py'"
        );
        assert_eq!(of_sets(&options[..0], ["b.json", "a.json", "b.json"]), "cargo evalset run a.json b.json");
    }
}
