//! The exports that were refused. Their spans are unknown, so every session that ran then is in doubt, and
//! later refusals do not end the doubt. An export that is sent again and stored leaves no doubt.

use std::collections::VecDeque;
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Refusals {
    pub(super) count: u64,
    pub(super) last: Option<String>,
    /// Refused exports that would be recognized if they are sent again, in the order of refusal.
    awaited: VecDeque<Awaited>,
    spells: Vec<Spell>,
}

#[derive(Debug)]
struct Awaited {
    sent: u64,
    at: Instant,
    why: String,
}

#[derive(Debug)]
struct Spell {
    from: Instant,
    to: Instant,
    why: String,
}

/// The most spells. Beyond it, the two with the shortest pause between them are merged. That may put a session in doubt,
/// and ends no doubt.
const MAX_SPELLS: usize = 100;

/// The most refused exports that are awaited. Beyond it, the oldest is no longer recognized.
const MAX_AWAITED_EXPORTS: usize = 1000;

impl Refusals {
    /// Notes that an export was refused; `sent` is its hash, if it had arrived whole.
    pub(super) fn add(&mut self, at: Instant, why: &str, sent: Option<u64>) {
        self.count += 1;
        self.last = Some(why.to_owned());
        let Some(sent) = sent else {
            self.add_spell(at, why.to_owned());
            return;
        };
        self.awaited.push_back(Awaited { sent, at, why: why.to_owned() });
        if self.awaited.len() > MAX_AWAITED_EXPORTS
            && let Some(oldest) = self.awaited.pop_front()
        {
            self.add_spell(oldest.at, oldest.why);
        }
    }

    fn add_spell(&mut self, at: Instant, why: String) {
        let place = self.spells.partition_point(|spell| spell.from <= at);
        if self.spells[..place].last().is_some_and(|before| at <= before.to) {
            return;
        }
        self.spells.insert(place, Spell { from: at, to: at, why });
        if self.spells.len() > MAX_SPELLS {
            let pause = |place: usize| self.spells[place + 1].from - self.spells[place].to;
            let shortest = (0..self.spells.len() - 1).min_by_key(|place| pause(*place)).unwrap_or_default();
            let later = self.spells.remove(shortest + 1);
            let earlier = &mut self.spells[shortest];
            (earlier.to, earlier.why) = (later.to, later.why);
        }
    }

    pub(super) fn arrived(&mut self, sent: u64) {
        self.awaited.retain(|it| it.sent != sent);
    }

    pub(super) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// The reason for a refusal between two times whose export was not stored since.
    pub(super) fn between(&self, from: Option<Instant>, to: Instant) -> Option<&str> {
        let concerns = |begin: Instant, end: Instant| from.is_none_or(|from| from <= end) && begin <= to;
        let awaited = self.awaited.iter().rev().find(|it| concerns(it.at, it.at)).map(|it| &it.why);
        let spell = || self.spells.iter().rev().find(|it| concerns(it.from, it.to)).map(|it| &it.why);
        awaited.or_else(spell).map(String::as_str)
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
        refusals.add(at(1000), "first", None);
        for second in 5000..6000 {
            refusals.add(at(second), "later", None);
        }
        assert_eq!(
            (refusals.count, refusals.spells.len(), refusals.last.as_deref()),
            (1001, MAX_SPELLS, Some("later"))
        );
        assert_eq!(refusals.between(Some(at(999)), at(1001)), Some("first"));
        assert_eq!(refusals.between(Some(at(1000)), at(1000)), Some("first"));
        // Spells with the shortest pauses are merged, and long pauses stay.
        assert_eq!(refusals.between(Some(at(1001)), at(4999)), None);
        assert_eq!(refusals.between(Some(at(6000)), at(7000)), None);
        for second in 5000..6000 {
            assert_eq!(refusals.between(Some(at(second)), at(second)), Some("later"), "{second}");
        }
    }

    #[test]
    fn an_export_that_came_again_is_no_doubt_and_the_others_are() {
        let mut refusals = Refusals::default();
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let during = |refusals: &Refusals, second| refusals.between(Some(at(second)), at(second)).is_some();
        refusals.add(at(10), "full", Some(1));
        refusals.add(at(20), "full", Some(2));
        refusals.add(at(30), "full", Some(1));
        refusals.add(at(40), "no gzip", None);
        refusals.arrived(1);
        assert_eq!([10, 20, 30, 40].map(|at| during(&refusals, at)), [false, true, false, true]);
        refusals.arrived(2);
        assert!(!refusals.awaits() && !during(&refusals, 20));
        assert_eq!((refusals.count, refusals.last.as_deref()), (4, Some("no gzip")));
        // The oldest of too many exports are no longer awaited, and keep their times.
        for sent in 0..1002 {
            refusals.add(at(1000 + sent), "full", Some(sent));
        }
        for sent in 0..1002 {
            refusals.arrived(sent);
        }
        assert_eq!([999, 1000, 1001, 1002].map(|at| during(&refusals, at)), [false, true, true, false]);
    }
}
