//! The state of a review at a terminal, and what can be done with an entry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::console::{self, Key};
use super::screen;
use crate::output::{CommandError, GOOD, WARNING, styled, tell};
use crate::review::{Choice, Item, NotOffered, Offer, Queue, Written};

/// The end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Open,
    Accepted,
    Rejected,
    Skipped,
}

/// The end of a prompt for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next open entry.
    Further,
    /// This entry.
    To(usize),
    Quit,
}

pub(super) struct ReviewLoop<'q, 'r> {
    pub(super) queue: &'q mut Queue<'r>,
    pub(super) decided: Vec<Decided>,
    /// The writes so far, each with its entry.
    pub(super) written: Vec<(usize, Written)>,
    /// The files with what the user wrote in the editor and that is in no set yet, by entry.
    pub(super) unsaved: BTreeMap<usize, PathBuf>,
}

/// A second question, which only `y` answers with yes.
pub(super) fn asks(question: &str) -> Result<bool, CommandError> {
    tell(&format!("    {question} [y/N] > "));
    let key = console::key()?;
    tell(&echo(key));
    Ok(key == Key::Char('y'))
}

pub(super) fn tell_error(error: &CommandError) {
    tell(&format!("    {}\n", error.shown().trim_end()));
}

impl ReviewLoop<'_, '_> {
    pub(super) fn item(&self, at: usize) -> &Item {
        &self.queue.items[at]
    }

    /// Writes a choice that was shown.
    pub(super) fn write(&mut self, at: usize, choice: &Choice) -> Result<(), CommandError> {
        let written = choice.edit.write()?;
        self.written.push((at, written));
        if let Some(case) = choice.edit.case_after() {
            self.queue.items[at].case = case;
        }
        tell(&format!("    {}\n", styled(GOOD, "written")));
        Ok(())
    }

    /// Tells why an entry is not as it was shown, and shows it anew.
    pub(super) fn stale(&mut self, at: usize, error: &CommandError) -> Next {
        tell_error(error);
        match self.queue.renewed(at, false) {
            Ok(Some(item)) => self.queue.items[at] = item,
            Ok(None) => {
                self.decided[at] = Decided::Skipped;
                return Next::Further;
            }
            // It may be a moment of another writer. Nothing of the entry can be shown, and others may be in order.
            Err(error) => self.withdraw(at, &error),
        }
        Next::To(at)
    }

    /// Tells why a choice cannot be made, and shows the entry anew. If the file has the case that was shown, the entry is not offered
    /// any more: the choice would be made again at once, and no key is read between.
    pub(super) fn unmade(&mut self, at: usize, error: &CommandError) -> Next {
        let shown = self.item(at).case.clone();
        let next = self.stale(at, error);
        if next == Next::To(at) && self.item(at).case == shown {
            self.withdraw(at, error);
        }
        next
    }

    fn withdraw(&mut self, at: usize, error: &CommandError) {
        let offer = &mut self.queue.items[at].offer;
        if !matches!(offer, Offer::Not(_)) {
            *offer = Offer::Not(NotOffered::new(one_line(&error.message), error.help.clone()));
        }
    }

    pub(super) fn reject(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
        if matches!(self.item(at).offer, Offer::Draft) {
            let choice = match self.queue.choices(self.item(at)).removing() {
                Ok(choice) => choice,
                Err(error) => return Ok(Some(self.unmade(at, &error))),
            };
            tell(&screen::indented(&screen::about(&choice), 4));
            if !asks("remove the draft, or put the golden back that it replaces?")? {
                return Ok(None);
            }
            if let Err(error) = self.write(at, &choice) {
                return Ok(Some(self.stale(at, &error)));
            }
        }
        self.decided[at] = Decided::Rejected;
        Ok(Some(Next::Further))
    }

    pub(super) fn loosen(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
        let choices = match self.queue.choices(self.item(at)).loosening() {
            Ok(choices) => choices,
            Err(error) => return Ok(Some(self.stale(at, &error))),
        };
        for (number, choice) in choices.iter().take(MAX_NUMBERED).enumerate() {
            tell(&format!("      {}  {}\n", number + 1, choice.what));
        }
        if let Some(more) = choices.len().checked_sub(MAX_NUMBERED).filter(|more| *more > 0) {
            let (more, rules) = (count(more, "more rule"), if more == 1 { "has" } else { "have" });
            tell(&format!("      {more} {rules} no key: `cargo evalset review --list` names all\n"));
        }
        tell(NO_THRESHOLD);
        if choices.is_empty() {
            tell("      no rule fits what the runs did\n");
            return Ok(None);
        }
        tell("    number > ");
        let key = console::key()?;
        tell(&echo(key));
        let Key::Char(digit) = key else { return Ok((key == Key::End).then_some(Next::Quit)) };
        let number = digit.to_digit(10).and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let chosen = number.filter(|number| *number < MAX_NUMBERED).and_then(|number| choices.get(number));
        let Some(choice) = chosen else { return Ok(None) };
        self.written_after_question(at, choice)
    }

    /// Shows a choice, and writes it after a yes. An entry that will still fail is shown again.
    pub(super) fn written_after_question(
        &mut self,
        at: usize,
        choice: &Choice,
    ) -> Result<Option<Next>, CommandError> {
        tell(&screen::indented(&screen::about(choice), 4));
        if !asks("write?")? {
            return Ok(None);
        }
        if let Err(error) = self.write(at, choice) {
            return Ok(Some(self.stale(at, &error)));
        }
        let is_done = choice.forecast.as_ref().is_none_or(|it| it.still_fails.is_empty());
        if !is_done && let Ok(Some(item)) = self.queue.renewed(at, true) {
            self.queue.items[at] = item;
            return Ok(Some(Next::To(at)));
        }
        self.decided[at] = Decided::Accepted;
        Ok(Some(Next::Further))
    }

    pub(super) fn undo(&mut self) -> Option<Next> {
        let Some((at, written)) = self.written.pop() else {
            tell("    nothing is written yet\n");
            return None;
        };
        if let Err(error) = written.undo() {
            tell_error(&error);
            return None;
        }
        tell(&format!("    {}\n", styled(WARNING, "taken back")));
        self.decided[at] = Decided::Open;
        if let Ok(Some(item)) = self.queue.renewed(at, true) {
            self.queue.items[at] = item;
        }
        Some(Next::To(at))
    }
}

/// The most rules that have a key: a key is one digit, from 1.
const MAX_NUMBERED: usize = 9;

const NO_THRESHOLD: &str = "      (a lower threshold is not offered: it would be fitted to these runs)\n";

/// The text of a key behind its prompt.
pub(super) fn echo(key: Key) -> String {
    match key {
        Key::Char(c) => format!("{}\n", one_line(&c.to_string())),
        Key::End | Key::Other => "\n".to_owned(),
    }
}
