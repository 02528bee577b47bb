//! A case in parts: turns, in them calls and answers, in calls arguments.

use super::console::{self, Key};
use super::review_loop::{Decided, Next, ReviewLoop, asks, echo};
use super::screen;
use crate::output::{CommandError, tell};
use crate::review::{Part, below, is_divided};

/// The end of the prompt for a part.
enum Asked {
    Decided,
    Skipped,
    /// The other parts are not asked for.
    Left(Next),
}

impl ReviewLoop<'_, '_> {
    /// Asks for the parts below a part, one by one. Each is written as it is accepted.
    pub(super) fn parts(&mut self, at: usize, above: Option<&Part>) -> Result<Next, CommandError> {
        let Some(change) = self.item(at).change().cloned() else { return Ok(Next::Further) };
        let mut parts = below(&change, above);
        // A turn alone is not asked for: its calls are.
        while let [only] = parts.as_slice()
            && is_divided(&change, Some(only))
        {
            parts = below(&change, Some(only));
        }
        let mut was_skipped = false;
        for part in parts {
            if self.item(at).taken.contains(&part) {
                continue;
            }
            match self.part(at, &part)? {
                Asked::Decided => {}
                Asked::Skipped => was_skipped = true,
                Asked::Left(next) => {
                    // A case with a part that was written is no longer open.
                    if next == Next::Quit && !self.item(at).taken.is_empty() {
                        self.decided[at] = Decided::Accepted;
                    }
                    return Ok(next);
                }
            }
        }
        if above.is_none() {
            self.decided[at] = match (self.item(at).taken.is_empty(), was_skipped) {
                (false, _) => Decided::Accepted,
                (true, true) => Decided::Skipped,
                (true, false) => Decided::Rejected,
            };
        }
        Ok(Next::Further)
    }

    /// Asks for one part.
    fn part(&mut self, at: usize, part: &Part) -> Result<Asked, CommandError> {
        let Some(change) = self.item(at).change().cloned() else { return Ok(Asked::Left(Next::Further)) };
        let choice = match self.queue.choices(self.item(at)).parts(
            &change,
            &part.to_string(),
            std::slice::from_ref(part),
        ) {
            Ok(choice) => choice,
            Err(error) => return Ok(Asked::Left(self.unmade(at, &error))),
        };
        let is_divided = is_divided(&change, Some(part));
        tell(&screen::indented(&screen::about(&choice), 4));
        loop {
            let inner = if is_divided { "/t" } else { "" };
            tell(&format!("    {}? [a/r/s{inner}/q] > ", choice.what));
            let key = console::key()?;
            tell(&echo(key));
            match key {
                Key::Char('a') => {
                    if choice.asks() && !asks("it will probably be wrong next time: accept anyway?")? {
                        continue;
                    }
                    if let Err(error) = self.write(at, &choice) {
                        return Ok(Asked::Left(self.stale(at, &error)));
                    }
                    self.queue.items[at].taken.push(part.clone());
                    return Ok(Asked::Decided);
                }
                Key::Char('r') => return Ok(Asked::Decided),
                Key::Char('s') => return Ok(Asked::Skipped),
                Key::Char('t') if is_divided => {
                    return match self.parts(at, Some(part))? {
                        Next::Further => Ok(Asked::Decided),
                        next => Ok(Asked::Left(next)),
                    };
                }
                Key::Char('u' | 'm' | 'e' | 'd' | 'x' | 'q' | '?' | 'A' | 'R' | 'S') | Key::End => {
                    if let Some(next) = self.other_key(at, key)? {
                        return Ok(Asked::Left(next));
                    }
                }
                Key::Char(_) | Key::Other => {}
            }
        }
    }
}
