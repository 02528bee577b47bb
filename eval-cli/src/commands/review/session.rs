//! The state of a review at a terminal, and what can be done with an entry.

use eval_support::untrusted::one_line;

use super::console::{Console, Key};
use super::screen;
use crate::output::{CommandError, GOOD, WARNING, styled};
use crate::review::{Choice, Item, Offer, Queue, Written};

/// What became of an entry.
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

pub(super) struct Session<'q, 'r, C> {
    pub(super) queue: &'q mut Queue<'r>,
    pub(super) console: &'q mut C,
    pub(super) decided: Vec<Decided>,
    /// The writes so far, each with its entry.
    pub(super) written: Vec<(usize, Written)>,
}

impl<C: Console> Session<'_, '_, C> {
    pub(super) fn item(&self, at: usize) -> &Item {
        &self.queue.items[at]
    }

    /// A second question, which only `y` answers with yes.
    pub(super) fn asks(&mut self, question: &str) -> Result<bool, CommandError> {
        self.console.tell(&format!("    {question} [y/N] > "));
        let key = self.console.key()?;
        self.console.tell(&echo(key));
        Ok(key == Key::Char('y'))
    }

    /// Writes a choice that was shown.
    pub(super) fn write(&mut self, at: usize, choice: &Choice) -> Result<(), CommandError> {
        let written = choice.edit.write()?;
        self.written.push((at, written));
        if let Some(case) = choice.edit.case_after() {
            self.queue.items[at].case = case;
        }
        self.console.tell(&format!("    {}\n", styled(GOOD, "written")));
        Ok(())
    }

    /// Tells why an entry is not as it was shown, and shows it anew.
    pub(super) fn stale(&mut self, at: usize, error: &CommandError) -> Next {
        self.console.tell(&format!("    {}\n", error.shown().trim_end()));
        match self.queue.renewed(at, false) {
            Some(item) => {
                self.queue.items[at] = item;
                Next::To(at)
            }
            None => {
                self.decided[at] = Decided::Skipped;
                Next::Further
            }
        }
    }

    pub(super) fn reject(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
        if matches!(self.item(at).offer, Offer::Draft) {
            let choice = match self.queue.choices(self.item(at)).removing() {
                Ok(choice) => choice,
                Err(error) => return Ok(Some(self.stale(at, &error))),
            };
            self.console.tell(&screen::indented(&screen::about(&choice), 4));
            if !self.asks("remove the draft, or put the golden back that it replaces?")? {
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
        let choices: Vec<Choice> = choices.into_iter().take(9).collect();
        for (number, choice) in choices.iter().enumerate() {
            self.console.tell(&format!("      {}  {}\n", number + 1, choice.what));
        }
        self.console.tell(NO_THRESHOLD);
        if choices.is_empty() {
            self.console.tell("      no rule fits what the runs did\n");
            return Ok(None);
        }
        self.console.tell("    number > ");
        let key = self.console.key()?;
        self.console.tell(&echo(key));
        let Key::Char(digit) = key else { return Ok((key == Key::End).then_some(Next::Quit)) };
        let number = digit.to_digit(10).and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let Some(choice) = number.and_then(|number| choices.get(number)) else { return Ok(None) };
        self.written_after_question(at, choice)
    }

    pub(super) fn edit(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
        let item = self.item(at);
        let text = crate::edited::open(&item.path)?.case_text(&item.case.eval_id).map(str::to_owned);
        let Some(text) = text else {
            let error =
                CommandError::new("the case is gone", "list what is left: `cargo evalset review --list`");
            return Ok(Some(self.stale(at, &error)));
        };
        let edited = match self.console.edit(&format!("{text}\n")) {
            Ok(edited) => edited,
            Err(error) => {
                self.console.tell(&format!("    {}\n", error.shown().trim_end()));
                return Ok(None);
            }
        };
        let edited = edited.trim().to_owned();
        if edited == text {
            self.console.tell("    nothing was changed\n");
            return Ok(None);
        }
        match self.queue.choices(self.item(at)).text(edited) {
            Ok(choice) => self.written_after_question(at, &choice),
            Err(error) => {
                self.console.tell(&format!("    {}\n", error.shown().trim_end()));
                Ok(None)
            }
        }
    }

    /// Shows a choice, and writes it after a yes. An entry that will still fail is shown again.
    fn written_after_question(&mut self, at: usize, choice: &Choice) -> Result<Option<Next>, CommandError> {
        self.console.tell(&screen::indented(&screen::about(choice), 4));
        if !self.asks("write?")? {
            return Ok(None);
        }
        if let Err(error) = self.write(at, choice) {
            return Ok(Some(self.stale(at, &error)));
        }
        let is_done = choice.forecast.as_ref().is_none_or(|it| it.still_fails.is_empty());
        if !is_done && let Some(item) = self.queue.renewed(at, true) {
            self.queue.items[at] = item;
            return Ok(Some(Next::To(at)));
        }
        self.decided[at] = Decided::Accepted;
        Ok(Some(Next::Further))
    }

    pub(super) fn undo(&mut self) -> Option<Next> {
        let Some((at, written)) = self.written.pop() else {
            self.console.tell("    nothing is written yet\n");
            return None;
        };
        if let Err(error) = written.undo() {
            self.console.tell(&format!("    {}\n", error.shown().trim_end()));
            return None;
        }
        self.console.tell(&format!("    {}\n", styled(WARNING, "taken back")));
        self.decided[at] = Decided::Open;
        if let Some(item) = self.queue.renewed(at, true) {
            self.queue.items[at] = item;
        }
        Some(Next::To(at))
    }
}

const NO_THRESHOLD: &str = "      (a lower threshold is not offered: it would be fitted to these runs)\n";

/// What a key looks like behind its prompt.
pub(super) fn echo(key: Key) -> String {
    match key {
        Key::Char(c) => format!("{}\n", one_line(&c.to_string())),
        Key::End | Key::Other => "\n".to_owned(),
    }
}
