use std::iter::repeat_n;

use proptest::prelude::*;

use super::*;

/// A turn: how often each expected call is made, which actual calls may be extra, and what fits.
#[derive(Clone, Debug)]
struct Turn {
    often: Vec<Often>,
    is_allowed: Vec<bool>,
    fits: Vec<Vec<Fit>>,
}

impl Turn {
    fn in_order(&self) -> Pairing {
        let fit = |e: usize, a: usize| Some(self.fits[e][a]);
        in_order(&self.often, &self.is_allowed, fit, &Steps::new(MAX_STEPS)).unwrap()
    }

    /// The calls without a partner that need one, in the best pairing in order.
    fn gaps(&self, of: &[Option<usize>]) -> usize {
        let missing =
            (0..self.often.len()).filter(|e| !self.often[*e].optional && !of.contains(&Some(*e))).count();
        missing + (0..of.len()).filter(|a| of[*a].is_none() && !self.is_allowed[*a]).count()
    }

    fn any_order(&self) -> Pairing {
        let candidates =
            |e: usize| (0..self.is_allowed.len()).filter(|a| self.fits[e][*a] != Fit::Not).collect();
        let class = |e| Class { members: vec![e], candidates: candidates(e) };
        let classes: Vec<Class> = (0..self.often.len()).map(class).collect();
        let mut used = vec![false; self.is_allowed.len()];
        let equal: Vec<Option<usize>> = (0..self.often.len())
            .map(|e| {
                let found = (0..used.len()).find(|a| !used[*a] && self.fits[e][*a] == Fit::Equal)?;
                used[found] = true;
                Some(found)
            })
            .collect();
        any_order(&classes, &self.often, &self.is_allowed, &equal, &Steps::new(MAX_STEPS)).unwrap()
    }

    /// All ways to pair the calls: each actual call with an expected one that it fits, none more often than it may be made.
    fn all(&self, in_order: bool, visit: &mut dyn FnMut(&[Option<usize>])) {
        fn go(
            turn: &Turn,
            in_order: bool,
            of: &mut Vec<Option<usize>>,
            visit: &mut dyn FnMut(&[Option<usize>]),
        ) {
            let at = of.len();
            if at == turn.is_allowed.len() {
                return visit(of);
            }
            for choice in std::iter::once(None).chain((0..turn.often.len()).map(Some)) {
                if let Some(e) = choice {
                    let is_back = in_order && of.iter().flatten().last().is_some_and(|last| *last > e);
                    let times = of.iter().flatten().filter(|other| **other == e).count();
                    if is_back || times == turn.often[e].most || turn.fits[e][at] == Fit::Not {
                        continue;
                    }
                }
                of.push(choice);
                go(turn, in_order, of, visit);
                of.pop();
            }
        }
        go(self, in_order, &mut Vec::new(), visit);
    }

    fn holds(&self, of: &[Option<usize>]) -> bool {
        let is_made = |e: usize| self.often[e].optional || of.contains(&Some(e));
        (0..self.often.len()).all(is_made) && (0..of.len()).all(|a| of[a].is_some() || self.is_allowed[a])
    }

    /// The numbers of needed calls, expected calls and actual calls with a partner.
    fn covered(&self, of: &[Option<usize>]) -> (usize, usize, usize) {
        let made: Vec<usize> = (0..self.often.len()).filter(|e| of.contains(&Some(*e))).collect();
        let needed = made.iter().filter(|e| !self.often[**e].optional).count();
        (needed, made.len(), of.iter().flatten().count())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for is_in_order in [true, false] {
            let found = if is_in_order { self.in_order() } else { self.any_order() };
            let mut holds = false;
            let mut is_a_way = false;
            let mut most = (0, 0, 0);
            let mut equal = 0;
            let mut gaps = usize::MAX;
            let count = |of: &[Option<usize>]| {
                let is_equal =
                    |(a, e): (usize, &Option<usize>)| e.is_some_and(|e| self.fits[e][a] == Fit::Equal);
                of.iter().enumerate().filter(|pair| is_equal(*pair)).count()
            };
            self.all(is_in_order, &mut |of| {
                is_a_way |= of == found.expected_of;
                let covered = self.covered(of);
                gaps = gaps.min(self.gaps(of));
                most = (most.0.max(covered.0), most.1.max(covered.1), most.2.max(covered.2));
                if self.holds(of) {
                    holds = true;
                    equal = equal.max(count(of));
                }
            });
            prop_assert_eq!(found.holds, holds, "{:?}", self);
            if holds {
                prop_assert!(is_a_way && self.holds(&found.expected_of), "{:?} {:?}", self, found);
            }
            if is_in_order {
                let fit = |e: usize, a: usize| Some(self.fits[e][a]);
                let found =
                    most_in_order(&self.often, &self.is_allowed, fit, &Steps::new(MAX_STEPS)).unwrap();
                prop_assert_eq!((self.gaps(&found.expected_of), found.holds), (gaps, holds), "{:?}", self);
            }
            if is_in_order && holds {
                prop_assert_eq!(count(&found.expected_of), equal, "{:?} {:?}", self, found);
            }
            if !is_in_order {
                prop_assert!(is_a_way);
                prop_assert_eq!(self.covered(&found.expected_of), most, "{:?} {:?}", self, found);
            }
        }
        Ok(())
    }
}

fn turn() -> impl Strategy<Value = Turn> {
    let often = (prop::bool::weighted(0.3), prop::sample::select(vec![1, 1, 1, 2, 3]))
        .prop_map(|(optional, most)| Often { optional, most });
    let fit =
        prop::sample::select(vec![Fit::Not, Fit::Not, Fit::Not, Fit::Loosely, Fit::Loosely, Fit::Equal]);
    let fits = prop::collection::vec(prop::collection::vec(fit, 5), 4);
    let others = prop::sample::select(vec![0.0, 0.4, 1.0]);
    let allowed = others.prop_flat_map(|others| prop::collection::vec(prop::bool::weighted(others), 0..=5));
    (prop::collection::vec(often, 0..=4), allowed, fits).prop_map(|(often, is_allowed, mut fits)| {
        fits.truncate(often.len());
        // Equality forms groups: a call that equals two expected calls makes these equal. Here only the first counts.
        for a in 0..is_allowed.len() {
            let first = fits.iter().position(|of| of[a] == Fit::Equal);
            for (e, of) in fits.iter_mut().enumerate() {
                if of[a] == Fit::Equal && Some(e) != first {
                    of[a] = Fit::Loosely;
                }
            }
        }
        Turn { often, is_allowed, fits }
    })
}

/// As many as the reference implementation was held to.
const DRAWS: u32 = 12_000;

fn draws() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|draws| draws.parse().ok()).unwrap_or(DRAWS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws()))]

    #[test]
    fn pairings_are_those_that_trying_all_ways_finds(turn in turn()) {
        turn.check()?;
    }
}

#[test]
fn a_loose_call_leaves_room_for_a_strict_one() {
    use Fit::{Equal, Loosely, Not};
    let fits = vec![vec![Loosely, Loosely], vec![Equal, Not]];
    let turn = Turn { often: vec![Often::ONCE; 2], is_allowed: vec![false; 2], fits };
    assert_eq!(turn.any_order(), Pairing { expected_of: vec![Some(1), Some(0)], holds: true });
    assert!(!turn.in_order().holds);
}

#[test]
fn long_lists_take_linear_time_or_are_given_up() {
    const CALLS: usize = 100_000;
    let loosely = |_: usize, _: usize| Some(Fit::Loosely);
    for is_allowed in [false, true] {
        let often = vec![Often::ONCE; CALLS];
        let found = in_order(&often, &vec![is_allowed; CALLS], loosely, &Steps::new(MAX_STEPS)).unwrap();
        assert!(found.holds && found.expected_of.iter().flatten().count() == CALLS);
        let others = in_order(
            &[often, vec![Often { optional: true, most: 1 }]].concat(),
            &vec![is_allowed; CALLS],
            loosely,
            &Steps::new(MAX_STEPS),
        );
        assert_eq!(others, None);
    }
    let class = Class { members: (0..CALLS).collect(), candidates: (0..CALLS).collect() };
    let equal: Vec<Option<usize>> = (0..CALLS).rev().map(Some).collect();
    let often = vec![Often::ONCE; CALLS];
    let found = any_order(&[class], &often, &vec![false; CALLS], &equal, &Steps::new(MAX_STEPS)).unwrap();
    assert!(found.holds);
    assert_eq!(found.times(CALLS), repeat_n(1, CALLS).collect::<Vec<_>>());
}

/// The steps that are counted, and no clock. A search that tries all ways would take thousands of times as many with twice the calls.
#[test]
fn twice_as_many_calls_that_all_fit_take_at_most_the_steps_of_a_cube() {
    let loosely = |steps: &Steps| {
        steps.take(1)?;
        Some(Fit::Loosely)
    };
    let of_order = |calls: usize| {
        let steps = Steps::new(usize::MAX);
        // One call may be left out, so that a table of all pairs is needed.
        let often = [vec![Often::ONCE; calls - 1], vec![Often { optional: true, most: 1 }]].concat();
        let found = in_order(&often, &vec![false; calls], |_, _| loosely(&steps), &steps).unwrap();
        assert!(found.holds);
        usize::MAX - steps.0.get()
    };
    let of_any_order = |calls: usize| {
        let steps = Steps::new(usize::MAX);
        let class = |e| Class { members: vec![e], candidates: (0..calls).collect() };
        let classes: Vec<Class> = (0..calls).map(class).collect();
        let often = vec![Often::ONCE; calls];
        let found = any_order(&classes, &often, &vec![false; calls], &vec![None; calls], &steps).unwrap();
        assert!(found.holds);
        usize::MAX - steps.0.get()
    };
    for (what, used) in [("in order", &of_order as &dyn Fn(usize) -> usize), ("in any order", &of_any_order)]
    {
        let (once, twice) = (used(200), used(400));
        assert!(once >= 200 && twice <= 9 * once, "{what}: {once} steps, then {twice}");
    }
}
