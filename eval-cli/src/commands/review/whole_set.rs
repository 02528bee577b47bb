//! Keys for the rest of a set: a list with a count, then one `yes` typed in full.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::console;
use super::review_loop::{Decided, Next, ReviewLoop};
use super::screen;
use crate::output::{CommandError, tell};
use crate::review::{Choice, Offer};

impl ReviewLoop<'_, '_> {
    /// Decides the rest of the set of an entry, this one too. Entries with a warning are never accepted so, and drafts are never
    /// removed so.
    pub(super) fn rest_of_set(&mut self, at: usize, key: char) -> Result<Option<Next>, CommandError> {
        let path = self.item(at).path.clone();
        let open = (at..self.decided.len()).filter(|other| self.decided[*other] == Decided::Open);
        let of_set: Vec<usize> = open.filter(|other| self.item(*other).path == path).collect();
        if key == 'A' {
            return self.accept_all(&of_set);
        }
        let is_decided = |other: &usize| key == 'S' || !matches!(self.item(*other).offer, Offer::Draft);
        let chosen: Vec<usize> = of_set.into_iter().filter(is_decided).collect();
        let (verb, decided) =
            if key == 'S' { ("skip", Decided::Skipped) } else { ("reject", Decided::Rejected) };
        for other in &chosen {
            tell(&format!("      {}\n", one_line(&self.item(*other).id)));
        }
        if !is_confirmed(verb, chosen.len())? {
            return Ok(None);
        }
        for other in chosen {
            self.decided[other] = decided;
        }
        Ok(Some(Next::Further))
    }

    fn accept_all(&mut self, of_set: &[usize]) -> Result<Option<Next>, CommandError> {
        let mut chosen: Vec<(usize, Choice)> = Vec::new();
        let mut left = 0;
        for other in of_set {
            let whole = self.queue.choices(self.item(*other)).whole().ok().flatten();
            let is_plain = |choice: &Choice| {
                choice.warnings.is_empty()
                    && choice
                        .forecast
                        .as_ref()
                        .is_none_or(|it| it.still_fails.is_empty() && it.unseen.is_empty())
            };
            match whole.filter(is_plain) {
                Some(choice) => chosen.push((*other, choice)),
                None => left += 1,
            }
        }
        for (_, choice) in &chosen {
            tell(&format!("      {}\n", one_line(&choice.id)));
            tell(&screen::indented(&screen::about(choice), 8));
        }
        if left > 0 {
            let verb = if left == 1 {
                "has a warning, varies or still fails"
            } else {
                "have a warning, vary or still fail"
            };
            tell(&format!("      {} {verb}: asked for one by one\n", count(left, "case")));
        }
        if !is_confirmed("accept", chosen.len())? {
            return Ok(None);
        }
        for (other, choice) in chosen {
            match self.write(other, &choice) {
                Ok(()) => self.decided[other] = Decided::Accepted,
                Err(error) => drop(self.stale(other, &error)),
            }
        }
        Ok(Some(Next::Further))
    }
}

fn is_confirmed(verb: &str, cases: usize) -> Result<bool, CommandError> {
    if cases == 0 {
        tell(&format!("      there is nothing to {verb}\n"));
        return Ok(false);
    }
    tell(&format!("    {verb} {}? type `yes` > ", count(cases, "case")));
    Ok(console::line()?.is_some_and(|line| line.trim() == "yes"))
}
