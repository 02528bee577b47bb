//! The drops that a gate would find, by simulation.

use std::collections::HashMap;

use fastrand::Rng;
use serde::Serialize;

use crate::decide::exact::{Stratum, fisher};
use crate::decide::gate::{CaseRuns, Counts, Next, Policy};
use crate::statistics::{PassCount, float};

/// The shares of builds in which a gate finds a drop of this kind, 0 to 1, with these numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// One case that stopped working.
    pub dead: f64,
    /// All cases 10 points worse.
    pub all_by_tenth: f64,
    /// One case that passes half of its runs.
    pub half: f64,
}

/// The most simulated builds of each kind.
const MAX_DRAWN_BUILDS: usize = 2_000;

/// The most simulated runs of each kind, so that a gate of many cases does not wait for it.
const MAX_DRAWN_RUNS: usize = 1_000_000;

/// Builds that are simulated whatever they take.
const LEAST_DRAWS: usize = 50;

impl Power {
    /// Simulates builds in which each case passes as often as its baseline says, but for one kind of drop. `retried` says whether
    /// suspects are run again. The seed is fixed, so that a gate prints the same numbers for the same runs.
    pub fn new(policy: &Policy, cases: &[Counts], retried: bool) -> Option<Self> {
        if cases.is_empty() {
            return None;
        }
        let rates: Vec<f64> = cases.iter().map(|case| case.before.judged.rate().unwrap_or(0.0)).collect();
        let mut simulation = Simulation { policy, cases, retried, known: HashMap::new(), runs: 0 };
        let one = |now: &mut [f64], rng: &mut Rng, share: f64| {
            let at = rng.usize(..now.len());
            now[at] = now[at].min(share);
        };
        Some(Self {
            dead: simulation.share(&rates, &|now, rng| one(now, rng, 0.0)),
            all_by_tenth: simulation
                .share(&rates, &|now, _| now.iter_mut().for_each(|share| *share = (*share - 0.1).max(0.0))),
            half: simulation.share(&rates, &|now, rng| one(now, rng, 0.5)),
        })
    }
}

struct Simulation<'c> {
    policy: &'c Policy,
    cases: &'c [Counts],
    retried: bool,
    /// The p-values so far: cases are alike, so few differ.
    known: HashMap<Stratum, f64>,
    /// The runs that were simulated for this kind of drop.
    runs: usize,
}

impl Simulation<'_> {
    /// The share of builds with this change that are called a regression.
    fn share(&mut self, rates: &[f64], change: &dyn Fn(&mut [f64], &mut Rng)) -> f64 {
        let mut rng = Rng::with_seed(20_261_123);
        let (mut draws, mut found) = (0, 0);
        self.runs = 0;
        while draws < LEAST_DRAWS || draws < MAX_DRAWN_BUILDS && self.runs < MAX_DRAWN_RUNS {
            let mut now = rates.to_vec();
            change(&mut now, &mut rng);
            found += usize::from(self.is_found(&now, &mut rng));
            draws += 1;
        }
        float(found) / float(draws)
    }

    /// Whether a simulated build is called a regression.
    fn is_found(&mut self, rates: &[f64], rng: &mut Rng) -> bool {
        let Self { policy, cases, retried, known, runs: simulated_runs } = self;
        let mut p_of = |case: Stratum| *known.entry(case).or_insert_with(|| fisher(case));
        let runs_of =
            |passed, total| CaseRuns { judged: PassCount::new(passed, total).unwrap_or_default(), errors: 0 };
        let mut simulated = Vec::with_capacity(cases.len());
        for (case, rate) in cases.iter().zip(rates) {
            let runs = case.first.made();
            let passed = if *rate >= 1.0 { runs } else { (0..runs).filter(|_| rng.f64() < *rate).count() };
            let mut counts = Counts::new(CaseRuns { errors: 0, ..case.before }, runs_of(passed, runs));
            while *retried && policy.next_by(&counts, cases.len(), &mut p_of) == Next::Run {
                let (passed, made) = (counts.now.judged.passed(), counts.now.judged.total());
                counts.now = runs_of(passed + usize::from(rng.f64() < *rate), made + 1);
            }
            *simulated_runs += counts.now.made();
            simulated.push(counts);
        }
        policy.is_shown_by(&simulated, &mut p_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cases_are_simulated_in_bounded_work() {
        let runs = |passed, total| CaseRuns { judged: PassCount::new(passed, total).unwrap(), errors: 0 };
        let cases = vec![Counts::new(runs(19, 20), runs(3, 3)); 500];
        let policy = Policy::default();
        let mut simulation =
            Simulation { policy: &policy, cases: &cases, retried: true, known: HashMap::new(), runs: 0 };
        let found = simulation.share(&[0.85; 500], &|_, _| ());
        // All cases 10 points worse. The last build may go beyond the bound, and 2,000 builds would take over 3,000,000 runs.
        assert!(found > 0.99, "{found}");
        let most_of_build = cases.len() * policy.max_runs;
        assert!(
            (MAX_DRAWN_RUNS..MAX_DRAWN_RUNS + most_of_build).contains(&simulation.runs),
            "{}",
            simulation.runs
        );
    }
}
