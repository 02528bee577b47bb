//! The drops that a gate would find, by simulation.

use fastrand::Rng;

use crate::decide::gate::{Counts, GateVerdict, Next, Policy, Side};
use crate::statistics::{PassCount, float};

/// The shares of builds in which a gate finds a drop of this kind, 0 to 1, with these numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// One case that stopped working.
    pub dead: f64,
    /// All cases 10 points worse.
    pub all_by_tenth: f64,
    /// One case that passes half of its runs.
    pub half: f64,
}

/// The number of simulated builds of each kind.
const DRAWS: usize = 2_000;

/// Above this number of cases times draws, fewer builds are simulated.
const MAX_CASES_DRAWN: usize = 200_000;

impl Power {
    /// Simulates builds in which each case passes as often as its baseline says, but for one kind of drop. `retried` says whether
    /// suspects are run again. The seed is fixed, so that a gate prints the same numbers for the same runs.
    pub fn new(policy: &Policy, cases: &[Counts], retried: bool) -> Option<Self> {
        if cases.is_empty() {
            return None;
        }
        let draws = (MAX_CASES_DRAWN / cases.len()).clamp(100, DRAWS);
        let rates: Vec<f64> = cases.iter().map(|case| case.before.runs.rate().unwrap_or(0.0)).collect();
        let simulated = |change: &dyn Fn(&mut [f64], &mut Rng)| {
            let mut rng = Rng::with_seed(20_261_123);
            let found = (0..draws).filter(|_| {
                let mut now = rates.clone();
                change(&mut now, &mut rng);
                is_found(policy, cases, &now, retried, &mut rng)
            });
            float(found.count()) / float(draws)
        };
        let one = |now: &mut [f64], rng: &mut Rng, share: f64| {
            let at = rng.usize(..now.len());
            now[at] = now[at].min(share);
        };
        Some(Self {
            dead: simulated(&|now, rng| one(now, rng, 0.0)),
            all_by_tenth: simulated(&|now, _| {
                now.iter_mut().for_each(|share| *share = (*share - 0.1).max(0.0))
            }),
            half: simulated(&|now, rng| one(now, rng, 0.5)),
        })
    }
}

/// Whether a simulated build is called a regression.
fn is_found(policy: &Policy, cases: &[Counts], rates: &[f64], retried: bool, rng: &mut Rng) -> bool {
    let drawn = |runs: usize, rate: f64, rng: &mut Rng| (0..runs).filter(|_| rng.f64() < rate).count();
    let side = |passed, total| Side { runs: PassCount::new(passed, total).unwrap_or_default(), errors: 0 };
    let simulated: Vec<Counts> = cases
        .iter()
        .zip(rates)
        .map(|(case, rate)| {
            let runs = case.first.runs.total() + case.first.errors;
            let now = side(drawn(runs, *rate, rng), runs);
            let mut simulated = Counts::new(Side { errors: 0, ..case.before }, now);
            while retried && policy.next(&simulated, cases.len()) == Next::Run {
                let (passed, made) = (simulated.now.runs.passed(), simulated.now.runs.total());
                simulated.now = side(passed + usize::from(rng.f64() < *rate), made + 1);
            }
            simulated.planned = policy.planned(&simulated, cases.len());
            simulated
        })
        .collect();
    policy.decide(&simulated).verdict == GateVerdict::Regression
}
