//! The exports that were refused. What was in them is not known, so every session that ran then is in doubt, however many are
//! refused later.

use std::time::Instant;

/// When exports were refused.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    count: u64,
    /// In the order of time.
    spells: Vec<Spell>,
}

/// A time in which exports were refused, and why the last of them was.
#[derive(Debug)]
struct Spell {
    from: Instant,
    to: Instant,
    why: String,
}

/// The most times that are remembered. Those with the shortest pauses between them become one: that may put a session in doubt
/// that ran in a pause, and takes no session out of it.
const MOST: usize = 100;

impl Refusals {
    /// Notes that an export was refused.
    pub(super) fn add(&mut self, at: Instant, why: &str) {
        self.count += 1;
        // Threads may come here in another order than they looked at the clock.
        let at = self.spells.last().map_or(at, |last| last.to.max(at));
        self.spells.push(Spell { from: at, to: at, why: why.to_owned() });
        if self.spells.len() > MOST {
            let pause = |place: usize| self.spells[place + 1].from - self.spells[place].to;
            let shortest = (0..self.spells.len() - 1).min_by_key(|place| pause(*place)).unwrap_or_default();
            let later = self.spells.remove(shortest + 1);
            let earlier = &mut self.spells[shortest];
            (earlier.to, earlier.why) = (later.to, later.why);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Why the last one was refused.
    pub(super) fn last(&self) -> Option<&str> {
        self.spells.last().map(|last| last.why.as_str())
    }

    /// Why an export was refused in a time, if one was; `None` for `from` is the beginning of time.
    pub(super) fn between(&self, from: Option<Instant>, to: Instant) -> Option<&str> {
        let concerns = |it: &&Spell| from.is_none_or(|from| from <= it.to) && it.from <= to;
        self.spells.iter().rev().find(concerns).map(|it| it.why.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_refusal_is_forgotten_however_many_follow() {
        let mut refusals = Refusals::default();
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        assert_eq!(refusals.between(None, at(0)), None);
        refusals.add(at(1000), "first");
        for second in 5000..6000 {
            refusals.add(at(second), "later");
        }
        assert_eq!((refusals.count(), refusals.spells.len(), refusals.last()), (1001, MOST, Some("later")));
        assert_eq!(refusals.between(Some(at(999)), at(1001)), Some("first"));
        assert_eq!(refusals.between(Some(at(1000)), at(1000)), Some("first"));
        // The shortest pauses become one, and the long ones stay.
        assert_eq!(refusals.between(Some(at(1001)), at(4999)), None);
        assert_eq!(refusals.between(Some(at(6000)), at(7000)), None);
        for second in 5000..6000 {
            assert_eq!(refusals.between(Some(at(second)), at(second)), Some("later"), "{second}");
        }
    }
}
