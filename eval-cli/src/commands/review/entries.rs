//! A review at a terminal: one entry after the other, until all are decided or the user quits.

use std::collections::BTreeMap;

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::console::{self, Key};
use super::review_loop::{Decided, Next, ReviewLoop, asks, echo};
use super::screen;
use crate::output::{CommandError, tell};
use crate::recorded::LoadedRun;
use crate::review::{Choice, Item, Offer, Queue, below, is_divided};

/// Reviews a queue, and returns the summary.
pub(super) fn review(queue: &mut Queue<'_>, loaded: Option<&LoadedRun>) -> Result<String, CommandError> {
    tell(&screen::head(queue, loaded));
    let decided = vec![Decided::Open; queue.items.len()];
    let mut review = ReviewLoop { queue, decided, written: Vec::new(), unsaved: BTreeMap::new() };
    let mut at = 0;
    while at < review.decided.len() {
        if review.decided[at] != Decided::Open {
            at += 1;
            continue;
        }
        match review.entry(at)? {
            Next::Further => at += 1,
            Next::To(other) => at = other,
            Next::Quit => break,
        }
    }
    Ok(review.summary(loaded))
}

impl ReviewLoop<'_, '_> {
    /// Shows an entry and asks until it is decided.
    fn entry(&mut self, at: usize) -> Result<Next, CommandError> {
        let shown = screen::item(self.item(at), at, self.queue.items.len());
        tell(&shown);
        let turns = self.item(at).change().map(|change| below(change, None).len()).unwrap_or_default();
        if turns > 1 && self.item(at).taken.is_empty() {
            return self.parts(at, None);
        }
        let whole = match self.queue.choices(self.item(at)).whole() {
            Ok(whole) => whole,
            Err(error) => return Ok(self.unmade(at, &error)),
        };
        if let Some(whole) = &whole {
            tell(&screen::indented(&screen::about(whole), 4));
        }
        loop {
            tell(&keys_of(self.item(at), whole.as_ref()));
            let key = console::key()?;
            tell(&echo(key));
            let next = match (key, &whole) {
                (Key::Char('a'), Some(whole)) => self.accept_shown(at, whole)?,
                (Key::Char('t'), Some(_)) if self.item(at).change().is_some() => Some(self.parts(at, None)?),
                (key, _) => self.other_key(at, key)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    fn accept_shown(&mut self, at: usize, choice: &Choice) -> Result<Option<Next>, CommandError> {
        if choice.asks() && !asks("it will probably be wrong next time: accept anyway?")? {
            return Ok(None);
        }
        if let Err(error) = self.write(at, choice) {
            return Ok(Some(self.stale(at, &error)));
        }
        self.decided[at] = Decided::Accepted;
        Ok(Some(Next::Further))
    }

    fn summary(&self, loaded: Option<&LoadedRun>) -> String {
        let counted = |decided| self.decided.iter().filter(|it| **it == decided).count();
        let accepted = counted(Decided::Accepted);
        let mut parts = vec![format!("{} accepted", count(accepted, "case"))];
        for (number, word) in
            [(counted(Decided::Rejected), "rejected"), (counted(Decided::Skipped), "skipped")]
        {
            parts.extend((number > 0).then(|| format!("{number} {word}")));
        }
        let left = counted(Decided::Open);
        parts.extend((left > 0).then(|| format!("{left} left")));
        let mut text = parts.join(", ") + "\n";
        if let Some(loaded) = loaded.filter(|_| !self.written.is_empty()) {
            let command = format!("{} rescore {}", eval_support::command::name(), loaded.args());
            text += &format!(
                "score the run again with the sets as they are now: `{}`\n",
                one_line(command.trim())
            );
        }
        text
    }
}

/// The keys of an entry, in the words of what they do there.
fn keys_of(item: &Item, whole: Option<&Choice>) -> String {
    let mut keys = Vec::new();
    keys.extend(whole.map(|whole| format!("a accept {}", whole.what)));
    keys.push(if matches!(item.offer, Offer::Draft) { "r remove" } else { "r reject" }.to_owned());
    keys.push("s skip".to_owned());
    let has_parts = item.change().is_some_and(|change| is_divided(change, None));
    keys.extend(has_parts.then(|| "t parts".to_owned()));
    keys.extend((!item.changes.is_empty()).then(|| "m loosen".to_owned()));
    keys.push("e edit".to_owned());
    keys.extend(item.test.is_some().then(|| "d whole record".to_owned()));
    keys.extend(item.again.is_some().then(|| "x run 5 times".to_owned()));
    keys.extend(["u undo", "q quit", "?"].map(str::to_owned));
    format!("    {} > ", keys.join("  "))
}
