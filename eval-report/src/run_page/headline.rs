//! The headline of a run: its cases counted in words, and what keeps the run from being measured.

use eval_support::words::count;

use crate::output::{Outcome, time};
use crate::page::{Headline, Progress, Tone, line};
use crate::recorded::{State, Totals};

pub(super) fn of(totals: &Totals) -> Headline {
    let in_work = if totals.is_running { "in work" } else { "unfinished" };
    let missing = if totals.is_running { "to begin" } else { "never began" };
    let counted = [
        (totals.failed, "failed"),
        (totals.errors, State::Error.counted(totals.errors)),
        (totals.not_evaluated, State::NotEvaluated.counted(totals.not_evaluated)),
        (totals.unfinished, in_work),
        (totals.missing, missing),
        (totals.passed, "passed"),
        (totals.skipped, "skipped"),
    ];
    let parts: Vec<String> = counted
        .iter()
        .filter(|(cases, _)| *cases > 0)
        .map(|(cases, what)| format!("{cases} {what}"))
        .collect();
    let nothing = if totals.is_running { "no case began yet" } else { "no case ran" };
    let text = if parts.is_empty() { nothing.to_owned() } else { parts.join(", ") };
    let tone = match totals.outcome() {
        _ if totals.failed > 0 => Tone::Bad,
        // An error is no failure: something has no verdict.
        _ if totals.errors > 0 => Tone::Unsure,
        _ if totals.is_running => Tone::Working,
        Outcome::Passed => Tone::Good,
        Outcome::Failed => Tone::Bad,
        Outcome::Unmeasurable => Tone::Unsure,
    };
    Headline {
        outcome: totals.outcome_word(),
        tone,
        text,
        cause: cause(totals).map(|text| line(&text)),
        progress: progress(totals),
    }
}

fn progress(totals: &Totals) -> Option<Progress> {
    let (of, decided) = (totals.cases + totals.missing, totals.cases - totals.unfinished);
    totals.is_running.then(|| Progress {
        decided,
        of: of.max(1),
        text: format!(
            "Running: {decided} of {} decided, {} so far",
            count(of, "case"),
            time::took(totals.elapsed)
        ),
    })
}

/// `1 of 4 cases has no verdict; 2 more tests never began`. `None` if the counts say it all.
fn cause(totals: &Totals) -> Option<String> {
    if totals.is_running {
        return None;
    }
    let unmeasured = totals.not_evaluated + totals.errors + totals.unfinished;
    let have = if unmeasured == 1 { "has" } else { "have" };
    let without = (unmeasured > 0)
        .then(|| format!("{unmeasured} of {} {have} no verdict", count(totals.cases, "case")));
    let nothing = (totals.cases > 0 && totals.cases == totals.skipped)
        .then(|| "all cases were skipped, so nothing was checked".to_owned());
    let causes: Vec<String> = without.into_iter().chain(nothing).chain(totals.gaps_and_uncovered()).collect();
    (!causes.is_empty()).then(|| causes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_counts_what_needs_attention_first_and_says_what_is_not_measured() {
        type Change = fn(&mut Totals);
        let all: [(Change, &str, Tone, Option<&str>); 12] = [
            (|it| (it.cases, it.passed) = (3, 3), "3 passed", Tone::Good, None),
            (|it| (it.cases, it.passed, it.skipped) = (3, 2, 1), "2 passed, 1 skipped", Tone::Good, None),
            (|it| (it.cases, it.passed, it.failed) = (3, 2, 1), "1 failed, 2 passed", Tone::Bad, None),
            (
                |it| (it.cases, it.failed, it.errors, it.passed) = (28, 3, 1, 24),
                "3 failed, 1 error, 24 passed",
                Tone::Bad,
                Some("1 of 28 cases has no verdict"),
            ),
            (
                |it| (it.cases, it.errors) = (2, 2),
                "2 errors",
                Tone::Unsure,
                Some("2 of 2 cases have no verdict"),
            ),
            (
                |it| (it.cases, it.not_evaluated, it.unfinished) = (2, 1, 1),
                "1 unscored, 1 unfinished",
                Tone::Unsure,
                Some("2 of 2 cases have no verdict"),
            ),
            (
                |it| (it.cases, it.passed, it.missing) = (1, 1, 2),
                "2 never began, 1 passed",
                Tone::Unsure,
                Some("2 more tests never began"),
            ),
            (
                |it| (it.cases, it.passed, it.left_out) = (1, 1, 2),
                "1 passed",
                Tone::Good,
                Some("2 more tests were left out on purpose"),
            ),
            (|_| {}, "no case ran", Tone::Unsure, None),
            (
                |it| (it.cases, it.skipped) = (1, 1),
                "1 skipped",
                Tone::Unsure,
                Some("all cases were skipped, so nothing was checked"),
            ),
            (
                |it| (it.cases, it.passed, it.unfinished, it.missing, it.is_running) = (2, 1, 1, 3, true),
                "1 in work, 3 to begin, 1 passed",
                Tone::Working,
                None,
            ),
            (|it| (it.cases, it.failed, it.is_running) = (1, 1, true), "1 failed", Tone::Bad, None),
        ];
        for (change, text, tone, cause) in all {
            let mut totals = Totals::default();
            change(&mut totals);
            let headline = of(&totals);
            assert_eq!(
                (headline.text.as_str(), headline.tone, headline.cause.as_deref()),
                (text, tone, cause)
            );
            assert_eq!(headline.progress.is_some(), totals.is_running);
        }
        let mut totals = Totals::default();
        totals.is_running = true;
        (totals.cases, totals.passed, totals.unfinished, totals.missing) = (3, 1, 1, 4);
        let progress = progress(&totals).unwrap();
        assert_eq!((progress.decided, progress.of), (2, 7));
        assert_eq!(progress.text, "Running: 2 of 7 cases decided, 0.00 s so far");
    }
}
