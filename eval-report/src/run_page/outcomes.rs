//! The outcomes of a case's runs: failed, without a verdict, and the turns that were not played.

use eval_support::words::count;

use crate::page::Run;

/// The runs of a case by what became of them, each by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    total: usize,
    failed: Vec<usize>,
    /// The runs that an error ended.
    broke: Vec<usize>,
    /// Further runs that have no verdict.
    unscored: Vec<usize>,
    /// The turns that the first run which did not come to its end did not play, from 1 and among how many.
    unplayed: Option<(usize, usize)>,
}

impl Outcomes {
    /// `total` counts the runs that did not begin, too.
    pub(super) fn new(runs: &[Run], total: usize) -> Self {
        let of_state =
            |state: &str| runs.iter().filter(|run| run.state == state).map(|run| run.number).collect();
        let first_unplayed = |run: &Run| {
            let at = run.turns.iter().position(|turn| !turn.played)?;
            Some((at + 1, run.turns.len()))
        };
        Self {
            total,
            failed: of_state("failed"),
            broke: of_state("error"),
            unscored: of_state("not_evaluated"),
            unplayed: runs.iter().find_map(first_unplayed),
        }
    }

    /// Whether runs failed and others have no verdict.
    pub(super) fn are_mixed(&self) -> bool {
        let without = self.broke.len() + self.unscored.len();
        !self.failed.is_empty() && without > 0
    }

    /// `run 2 of 3 failed`; `None` if there is one run alone, or if all of them failed.
    pub(super) fn failed(&self) -> Option<String> {
        self.said(&self.failed, "failed", "failed")
    }

    /// `runs 1 and 3 of 3 ended in an error`; `None` if there is one run alone, or if all of them did.
    pub(super) fn without_verdict(&self) -> Option<String> {
        if self.broke.is_empty() {
            return self.said(&self.unscored, "has no verdict", "have no verdict");
        }
        self.said(&self.broke, "ended in an error", "ended in an error")
    }

    fn said(&self, runs: &[usize], does: &str, do_so: &str) -> Option<String> {
        if runs.is_empty() || runs.len() >= self.total {
            return None;
        }
        let (name, does) = if runs.len() == 1 { ("run", does) } else { ("runs", do_so) };
        Some(format!("{name} {} of {} {does}", listed(runs), self.total))
    }

    /// `Turn 3 of 3 was not played.`; `None` if each run came to its end.
    pub(super) fn unplayed(&self) -> Option<String> {
        let (from, of) = self.unplayed?;
        Some(match of - from {
            0 => format!("Turn {of} of {of} was not played."),
            1 => format!("Turns {from} and {of} of {of} were not played."),
            _ => format!("Turns {from} to {of} of {of} were not played."),
        })
    }
}

/// The most runs that are named.
const MAX_NAMED: usize = 5;

/// `1, 2 and 4`.
fn listed(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    match (numbers.len() - shown.len(), shown.split_last()) {
        (0, Some((last, first))) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (0, _) => shown.concat(),
        (more, _) => format!("{} and {}", shown.join(", "), count(more, "more run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Turn;

    fn runs(states: &[&'static str]) -> Vec<Run> {
        let run = |(at, state): (usize, &&'static str)| Run { number: at + 1, state, ..Run::default() };
        states.iter().enumerate().map(run).collect()
    }

    #[test]
    fn runs_are_named_unless_all_of_them_are_meant() {
        for (states, failed, without) in [
            (&["failed"][..], None, None),
            (&["failed", "failed"], None, None),
            (&["passed", "failed", "passed"], Some("run 2 of 3 failed"), None),
            (
                &["failed", "error", "failed"],
                Some("runs 1 and 3 of 3 failed"),
                Some("run 2 of 3 ended in an error"),
            ),
            (
                &["error", "failed", "error"],
                Some("run 2 of 3 failed"),
                Some("runs 1 and 3 of 3 ended in an error"),
            ),
            (&["not_evaluated", "failed"], Some("run 2 of 2 failed"), Some("run 1 of 2 has no verdict")),
            (&["error", "error"], None, None),
        ] {
            let found = Outcomes::new(&runs(states), states.len());
            assert_eq!((found.failed().as_deref(), found.without_verdict().as_deref()), (failed, without));
            assert_eq!(found.are_mixed(), failed.is_some() && without.is_some(), "{states:?}");
        }
        assert_eq!(listed(&[1, 2, 4]), "1, 2 and 4");
        assert_eq!(listed(&[1, 2, 3, 4, 5, 6]), "1, 2, 3, 4, 5 and 1 more run");
    }

    #[test]
    fn turns_that_were_not_played_are_named() {
        for (played, said) in [
            (&[true, true][..], None),
            (&[true, true, false], Some("Turn 3 of 3 was not played.")),
            (&[true, false, false], Some("Turns 2 and 3 of 3 were not played.")),
            (&[true, false, false, false], Some("Turns 2 to 4 of 4 were not played.")),
        ] {
            let turns = played.iter().map(|played| Turn { played: *played, ..Turn::default() }).collect();
            let all = [Run::default(), Run { turns, ..Run::default() }];
            assert_eq!(Outcomes::new(&all, 2).unplayed().as_deref(), said);
        }
    }
}
