//! Keys that mean the same at each prompt of an entry.

use super::console::Key;
use super::record;
use super::review_loop::{Decided, Next, ReviewLoop};
use crate::output::{CommandError, tell};

const HELP: &str = "\
  a r s  accept, reject, skip this one          A R S  the rest of this set, after a list and a `yes`
  t      turns, calls and arguments one by one  m      loosen: a rule in `_expect` of the case
  e      edit the case in $EDITOR               u      undo the last write
  d      the whole record of the case           x      run the case 5 times more, and look at all its runs
  q      quit: what is written stays            Enter and Esc do nothing
";

impl ReviewLoop<'_, '_> {
    /// Does what a key says at any prompt of an entry. `None` asks again.
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
            Key::Char('d') => {
                let place = self.item(at).test;
                let text = place.map(|place| record::text(&self.queue.group(place)));
                tell(&text.unwrap_or_else(|| "    no run is reviewed here\n".to_owned()));
                Ok(None)
            }
            Key::Char('x') => Ok(self.run_again(at)),
            Key::Char('q') | Key::End => Ok(Some(Next::Quit)),
            Key::Char('?') => {
                tell(HELP);
                Ok(None)
            }
            Key::Char(_) | Key::Other => Ok(None),
        }
    }
}
