//! A review at a terminal: one entry after the other, until all are decided or the user quits.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::console::{Console, Key};
use super::screen;
use crate::output::{CommandError, GOOD, WARNING, styled};
use crate::recorded::LoadedRun;
use crate::review::{Choice, Item, Offer, Queue, Written, below, is_divided};

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

const HELP: &str = "\
  a r s  accept, reject, skip this one          A R S  the rest of this set, after a list and a `yes`
  t      turns, calls and arguments one by one  m      loosen: a rule in `_expect` of the case
  e      edit the case in $EDITOR               u      undo the last write
  q      quit: what is written stays            Enter and Esc do nothing
";

/// Reviews a queue, and returns the summary.
pub(super) fn review<C: Console>(
    queue: &mut Queue<'_>,
    loaded: Option<&LoadedRun>,
    console: &mut C,
) -> Result<String, CommandError> {
    console.tell(&screen::head(queue, loaded));
    let decided = vec![Decided::Open; queue.items.len()];
    let mut session = Session { queue, console, decided, written: Vec::new() };
    let mut at = 0;
    while at < session.decided.len() {
        if session.decided[at] != Decided::Open {
            at += 1;
            continue;
        }
        match session.entry(at)? {
            Next::Further => at += 1,
            Next::To(other) => at = other,
            Next::Quit => break,
        }
    }
    Ok(session.summary(loaded))
}

impl<C: Console> Session<'_, '_, C> {
    pub(super) fn item(&self, at: usize) -> &Item {
        &self.queue.items[at]
    }

    /// Shows an entry and asks until it is decided.
    fn entry(&mut self, at: usize) -> Result<Next, CommandError> {
        let shown = screen::item(self.item(at), at, self.queue.items.len());
        self.console.tell(&shown);
        let turns = self.item(at).change().map(|change| below(change, None).len()).unwrap_or_default();
        if turns > 1 && self.item(at).taken.is_empty() {
            return self.parts(at, None);
        }
        let whole = match self.queue.choices(self.item(at)).whole() {
            Ok(whole) => whole,
            Err(error) => return Ok(self.stale(at, &error)),
        };
        if let Some(whole) = &whole {
            self.console.tell(&screen::indented(&screen::about(whole), 4));
        }
        loop {
            self.console.tell(&keys_of(self.item(at), whole.as_ref()));
            let key = self.console.key()?;
            self.console.tell(&echo(key));
            let next = match (key, &whole) {
                (Key::Char('a'), Some(whole)) => self.accept(at, whole)?,
                (Key::Char('t'), Some(_)) if self.item(at).change().is_some() => Some(self.parts(at, None)?),
                (key, _) => self.other_key(at, key)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    /// The keys that mean the same at each prompt of an entry. `None` asks again.
    pub(super) fn other_key(&mut self, at: usize, key: Key) -> Result<Option<Next>, CommandError> {
        match key {
            Key::Char('r') => self.reject(at),
            Key::Char('s') => {
                self.decided[at] = Decided::Skipped;
                Ok(Some(Next::Further))
            }
            Key::Char(rest @ ('A' | 'R' | 'S')) => self.rest_of_set(at, rest),
            Key::Char('m') => self.loosen(at),
            Key::Char('e') => self.edit(at),
            Key::Char('u') => Ok(self.undo()),
            Key::Char('q') | Key::End => Ok(Some(Next::Quit)),
            Key::Char('?') => {
                self.console.tell(HELP);
                Ok(None)
            }
            Key::Char(_) | Key::Other => Ok(None),
        }
    }

    /// A second question, which only `y` answers with yes.
    pub(super) fn asks(&mut self, question: &str) -> Result<bool, CommandError> {
        self.console.tell(&format!("    {question} [y/N] > "));
        let key = self.console.key()?;
        self.console.tell(&echo(key));
        Ok(key == Key::Char('y'))
    }

    fn accept(&mut self, at: usize, choice: &Choice) -> Result<Option<Next>, CommandError> {
        if choice.asks() && !self.asks("it will probably be wrong next time: accept anyway?")? {
            return Ok(None);
        }
        if let Err(error) = self.write(at, choice) {
            return Ok(Some(self.stale(at, &error)));
        }
        self.decided[at] = Decided::Accepted;
        Ok(Some(Next::Further))
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

    fn reject(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
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

    fn loosen(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
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

    fn edit(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
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

    fn undo(&mut self) -> Option<Next> {
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

const NO_THRESHOLD: &str = "      (a lower threshold is not offered: it would be fitted to these runs)\n";

/// The keys of an entry, in the words of what they do there.
fn keys_of(item: &Item, whole: Option<&Choice>) -> String {
    let mut keys = Vec::new();
    keys.extend(whole.map(|whole| format!("a accept {}", whole.what)));
    keys.push(if matches!(item.offer, Offer::Draft) { "r remove" } else { "r reject" }.to_owned());
    keys.push("s skip".to_owned());
    let has_parts = item.change().is_some_and(|change| is_divided(change, None));
    keys.extend(has_parts.then(|| "t parts".to_owned()));
    keys.extend((!item.changes.is_empty()).then(|| "m loosen".to_owned()));
    keys.extend(["e edit", "u undo", "q quit", "?"].map(str::to_owned));
    format!("    {} > ", keys.join("  "))
}

/// What a key looks like behind its prompt.
pub(super) fn echo(key: Key) -> String {
    match key {
        Key::Char(c) => format!("{}\n", one_line(&c.to_string())),
        Key::End | Key::Other => "\n".to_owned(),
    }
}
