//! The false alarms and the detection of a gate, and the false alarms of a comparison of variants, by simulation:
//! `cargo run --release -p eval-report --example gate_rates`.
//!
//! Each cell draws builds in which each case passes with the same probability before and now, but for one kind of drop. Suspects are
//! run again, as the gate does. The program ends with 1 if a cell has more false alarms than 5% and three standard errors, or if it
//! finds a drop less often than the reference less three standard errors.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::cast_precision_loss, reason = "counts of draws are small")]

use std::process::ExitCode;

use eval_report::comparison::{VariantCase, VariantTable, VariantTotals};
use eval_report::decide::gate::{CaseRuns, Counts, GateVerdict, Next, Policy};
use eval_report::statistics::PassCount;
use fastrand::Rng;

/// Cases, runs before, runs now, and how often a case passes.
type Cell = (usize, usize, usize, f64);

/// A function that lowers the shares of cases that pass.
type Drop<'d> = &'d dyn Fn(&mut [f64]);

/// Cells without a drop, each with many draws.
const UNCHANGED: [Cell; 5] =
    [(20, 10, 3, 0.8), (20, 5, 1, 0.95), (100, 5, 5, 0.95), (1, 20, 5, 0.5), (20, 5, 3, 1.0)];

const DRAWS: usize = 10_000;

/// The shares that the reference simulation found in 1,000 draws: one case dead, one at half, all worse by 5, 10 and 20 points, two
/// cases worse by 50 points.
const FOUND: [(Cell, [f64; 6]); 9] = [
    ((20, 3, 3, 0.95), [0.88, 0.03, 0.11, 0.32, 0.85, 0.10]),
    ((20, 5, 1, 0.95), [0.98, 0.03, 0.06, 0.21, 0.59, 0.05]),
    ((20, 5, 3, 0.8), [0.73, 0.02, 0.08, 0.24, 0.70, 0.15]),
    ((20, 5, 3, 1.0), [1.00, 0.13, 0.33, 0.87, 1.00, 0.36]),
    ((20, 10, 1, 0.95), [1.00, 0.08, 0.09, 0.27, 0.68, 0.27]),
    ((20, 10, 3, 0.8), [0.96, 0.05, 0.11, 0.29, 0.81, 0.45]),
    ((20, 10, 3, 0.95), [1.00, 0.15, 0.20, 0.60, 0.97, 0.42]),
    ((20, 10, 5, 0.95), [1.00, 0.18, 0.26, 0.76, 0.99, 0.49]),
    ((20, 20, 5, 0.95), [1.00, 0.56, 0.34, 0.83, 1.00, 0.87]),
];

const DRAWS_OF_FOUND: usize = 1_000;

/// The shares of fewer and of more cases, for the drops that the reference has. It drew 300 builds of 100 cases.
const FOUND_OF_OTHERS: [(Cell, [Option<f64>; 6]); 3] = [
    ((5, 5, 1, 0.95), [Some(0.94), None, None, None, Some(0.05), None]),
    ((100, 10, 3, 0.95), [Some(1.00), Some(0.05), Some(0.79), Some(1.00), None, None]),
    ((100, 5, 1, 0.95), [Some(0.81), None, None, Some(0.84), None, None]),
];

const DRAWS_OF_OTHERS: usize = 300;

/// Equal variants: how many, cases, runs, and how often a case passes.
const EQUAL_VARIANTS: [Cell; 2] = [(8, 20, 3, 0.8), (8, 20, 10, 0.8)];

fn main() -> ExitCode {
    let mut is_well = true;
    println!("nothing changed, {DRAWS} builds each: at most 5%");
    for cell in UNCHANGED {
        let (red, further) = share(cell, DRAWS, |_| ());
        is_well &= red <= 0.05 + 3.0 * error(0.05, DRAWS);
        println!("  {cell:?}: {:.2}%  ({further:.1} further runs)", red * 100.0);
    }
    let (dead, _) = share((20, 10, 3, 0.95), DRAWS, |shares| shares[0] = 0.0);
    is_well &= dead >= 0.98;
    println!("one case of 20 dead, {DRAWS} builds of (20, 10, 3, 0.95): {:.2}%, at least 98%", dead * 100.0);
    println!("found in {DRAWS_OF_FOUND} builds each, with the reference behind it");
    println!("  cell: one dead | one at half | all by .05 | by .1 | by .2 | 2 cases by .5");
    for (cell, reference) in FOUND {
        is_well &= is_found(cell, reference.map(Some), DRAWS_OF_FOUND);
    }
    println!("found in {DRAWS_OF_OTHERS} builds each");
    for (cell, reference) in FOUND_OF_OTHERS {
        is_well &= is_found(cell, reference, DRAWS_OF_OTHERS);
    }
    println!("equal variants called different, {DRAWS} runs of a matrix each: at most 5%");
    for cell in EQUAL_VARIANTS {
        let called = called_different(cell);
        is_well &= called <= 0.05 + 3.0 * error(0.05, DRAWS);
        println!("  {cell:?}: {:.2}%", called * 100.0);
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether each drop that has a reference is found as often, but for chance. Prints both.
fn is_found(cell: Cell, reference: [Option<f64>; 6], draws: usize) -> bool {
    let kinds: [Drop<'_>; 6] = [
        &|shares| shares[0] = 0.0,
        &|shares| shares[0] = shares[0].min(0.5),
        &|shares| lower(shares, 0.05),
        &|shares| lower(shares, 0.1),
        &|shares| lower(shares, 0.2),
        &|shares| lower(&mut shares[..2], 0.5),
    ];
    let (mut line, mut is_well) = (String::new(), true);
    for (kind, reference) in kinds.into_iter().zip(reference) {
        let Some(reference) = reference else {
            line += "  -";
            continue;
        };
        let found = share(cell, draws, kind).0;
        // Both are simulated, and the reference is rounded to two digits.
        let both = error(reference, draws).hypot(error(found, draws));
        let is_found = found >= reference - 3.0 * both - 0.005;
        is_well &= is_found;
        line += &format!("  {found:.3} ({reference:.2}){}", if is_found { "" } else { " TOO FEW" });
    }
    println!("  {cell:?}:{line}");
    is_well
}

/// The standard error of a share of a number of draws. A share near 0 or 1 has hardly any.
fn error(share: f64, draws: usize) -> f64 {
    let share = share.clamp(0.005, 0.995);
    (share * (1.0 - share) / draws as f64).sqrt()
}

fn lower(shares: &mut [f64], by: f64) {
    for share in shares {
        *share -= by;
    }
}

/// The share of builds that the gate calls a regression, and the mean number of further runs.
fn share((cases, before, now, p0): Cell, draws: usize, change: impl Fn(&mut [f64])) -> (f64, f64) {
    let policy = Policy::default();
    let mut rng = Rng::with_seed(7);
    let mut shares = vec![p0; cases];
    change(&mut shares);
    let (mut red, mut further) = (0_u32, 0_u32);
    for _ in 0..draws {
        let build: Vec<Counts> = shares
            .iter()
            .map(|share| {
                let mut case = Counts::new(side(before, p0, &mut rng), side(now, *share, &mut rng));
                while policy.next(&case, cases) == Next::Run {
                    let (passed, made) = (case.now.judged.passed(), case.now.judged.total());
                    case.now = counted(passed + usize::from(rng.f64() < *share), made + 1);
                    further += 1;
                }
                case
            })
            .collect();
        red += u32::from(policy.decide(&build).verdict == GateVerdict::Regression);
    }
    (f64::from(red) / draws as f64, f64::from(further) / draws as f64)
}

/// The share of matrices of equal variants in which a difference is called.
fn called_different((variants, cases, runs, share): Cell) -> f64 {
    let mut rng = Rng::with_seed(8);
    let mut called = 0_u32;
    for _ in 0..DRAWS {
        let mut case = || VariantCase {
            set: String::new(),
            case: String::new(),
            function: String::new(),
            runs: (0..variants).map(|_| Some((side(runs, share, &mut rng).judged, 0))).collect(),
        };
        let table = VariantTable {
            variants: (0..variants).map(|_| VariantTotals::default()).collect(),
            cases: (0..cases).map(|_| case()).collect(),
            against: 0,
            differences: Vec::new(),
        };
        called += u32::from(table.compared().iter().any(|difference| difference.is_shown));
    }
    f64::from(called) / DRAWS as f64
}

fn side(runs: usize, share: f64, rng: &mut Rng) -> CaseRuns {
    counted((0..runs).filter(|_| rng.f64() < share).count(), runs)
}

fn counted(passed: usize, total: usize) -> CaseRuns {
    CaseRuns { judged: PassCount::new(passed, total).unwrap_or_default(), errors: 0 }
}
