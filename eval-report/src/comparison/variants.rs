//! The variants of a matrix in one run, each compared with one of them.

use std::collections::{BTreeMap, BTreeSet};

use eval_format::matrix::Variant;
use eval_support::words::count;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::decide::exact::{SIGNIFICANCE_LEVEL, Stratum, holm, over_cases};
use crate::price::{Cost, Prices};
use crate::recorded::{RunCounts, TestResult, prices as prices_of};
use crate::statistics::{PassCount, float};

/// The share of experiments in which the suggested number of runs shows a difference that is as large as the one seen.
const TARGET_POWER: f64 = 0.8;

/// The runs of each case with each variant.
#[derive(Debug)]
pub struct VariantTable {
    /// The variants, in the order in which they began.
    pub variants: Vec<VariantTotals>,
    /// The cases, in the order of the run.
    pub cases: Vec<VariantCase>,
    /// The index of the variant that the others are compared with.
    pub against: usize,
    /// A difference for each other variant.
    pub differences: Vec<Difference>,
}

/// A variant over all cases.
#[derive(Debug, Default, Serialize)]
pub struct VariantTotals {
    /// Its label: `model=flash prompt=a`.
    pub label: String,
    /// The value of each axis; empty for a label that a program gave.
    pub values: serde_json::Map<String, serde_json::Value>,
    /// The runs that passed.
    pub passed: usize,
    /// The runs with a verdict.
    pub with_verdict: usize,
    /// The runs without a verdict.
    pub errors: usize,
    /// The mean over its cases of the share of runs that passed. 0 to 1; `None` without a run with a verdict.
    pub mean_rate: Option<f64>,
    /// The tokens of its agent in all runs; `None` unless each run reports them.
    pub tokens: Option<i128>,
    /// The cost of its agent in the currency of the prices; `None` without prices, and if some tokens are not reported or have no
    /// price.
    pub cost: Option<f64>,
    /// The median of the seconds that the turns of a run took.
    pub seconds: Option<f64>,
}

/// A case with each variant.
#[derive(Debug)]
pub struct VariantCase {
    /// The file of the set.
    pub set: String,
    /// The id of the case.
    pub case: String,
    /// The function of its tests; empty for cases of programs.
    pub function: String,
    /// The runs with a verdict, and those without, for each variant; `None` where the case did not run.
    pub runs: Vec<Option<(PassCount, usize)>>,
}

/// A variant compared with the one that all are compared with.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The index of the variant.
    pub variant: usize,
    /// The cases with runs of both.
    pub cases: usize,
    /// The difference of the mean pass rates over these cases. -1 to 1.
    pub change: f64,
    /// The probability of a difference that is as large or larger, if both pass equally often. 0 to 1.
    pub p: f64,
    /// Whether a difference is shown.
    pub is_shown: bool,
    /// The number of runs of each case that would show a difference of this size in most experiments; `None` if none is seen, or
    /// if more than a thousand are needed.
    pub runs_needed: Option<usize>,
}

impl VariantTable {
    /// The table of a run. `against` is the label of the variant that the others are compared with; without it, the first of the
    /// matrix is. Fails with the labels that there are if the label is not one of them.
    ///
    /// Each comparison is the exact test over the cases as strata, two-sided: twice the smaller of both sides. Holm's procedure
    /// corrects for their number.
    pub fn new(
        tests: &[TestResult<'_>],
        prices: &Prices,
        against: Option<&str>,
    ) -> Result<Self, Vec<String>> {
        let mut of_variants: Vec<(String, Vec<&TestResult<'_>>)> = Vec::new();
        for test in tests {
            let Some(label) = &test.attempt.started.label else { continue };
            match of_variants.iter_mut().find(|(known, _)| known == label) {
                Some((_, tests)) => tests.push(test),
                None => of_variants.push((label.clone(), vec![test])),
            }
        }
        let place = |test: &&TestResult<'_>| (test.attempt.started.order, test.attempt.started.at);
        of_variants.sort_by_key(|(_, tests)| tests.iter().map(place).min());
        let labels = || of_variants.iter().map(|(label, _)| label.clone()).collect::<Vec<_>>();
        let against = match against {
            None => 0,
            Some(asked) => of_variants.iter().position(|(label, _)| label == asked).ok_or_else(labels)?,
        };
        let cases = cases(&of_variants);
        let variants = of_variants.iter().enumerate();
        let variants = variants.map(|(at, (label, tests))| totals(label, tests, rate(&cases, at), prices));
        let mut table = Self { variants: variants.collect(), cases, against, differences: Vec::new() };
        table.differences = table.compared();
        Ok(table)
    }

    /// A difference for each variant but the one that all are compared with.
    #[doc(hidden)]
    pub fn compared(&self) -> Vec<Difference> {
        let others = || (0..self.variants.len()).filter(|at| *at != self.against);
        let strata: Vec<Vec<Stratum>> = others().map(|at| self.strata(at, Errors::LeftOut)).collect();
        let p_values: Vec<f64> = others().map(|at| self.p_value(at)).collect();
        let shown = holm(&p_values, SIGNIFICANCE_LEVEL);
        let smallest_limit = SIGNIFICANCE_LEVEL / float(p_values.len().max(1));
        let difference = |(at, variant): (usize, usize)| Difference {
            variant,
            cases: strata[at].len(),
            change: change(&strata[at]),
            p: p_values[at],
            is_shown: shown[at] && change(&strata[at]) != 0.0,
            runs_needed: runs_needed(&strata[at], smallest_limit),
        };
        others().enumerate().map(difference).collect()
    }

    /// The cases with runs of this variant and of the one that all are compared with.
    fn strata(&self, variant: usize, errors: Errors) -> Vec<Stratum> {
        let of_case = |case: &VariantCase| {
            let (before, now) = (case.runs[self.against]?, case.runs[variant]?);
            let (before, now) = match errors {
                Errors::LeftOut => (before.0, now.0),
                Errors::AgainstIt => (with_errors(before, true), with_errors(now, false)),
                Errors::ForIt => (with_errors(before, false), with_errors(now, true)),
            };
            (before.total() > 0 && now.total() > 0).then_some(Stratum { before, now })
        };
        self.cases.iter().filter_map(of_case).collect()
    }

    /// The p-value of a variant's difference, two-sided: twice the probability on the side where it lies. Runs without a verdict
    /// could have been anything, so the highest value counts that they allow.
    fn p_value(&self, variant: usize) -> f64 {
        let plain = self.strata(variant, Errors::LeftOut);
        let is_worse = over_cases(&plain) <= over_cases(&mirrored(&plain));
        let side =
            |strata: &[Stratum]| if is_worse { over_cases(strata) } else { over_cases(&mirrored(strata)) };
        let bound = if is_worse { Errors::ForIt } else { Errors::AgainstIt };
        (2.0 * side(&plain).max(side(&self.strata(variant, bound)))).min(1.0)
    }

    /// The index of the variant that passes most, over the cases that both have: the one that all are compared with, unless another
    /// one passes more. `None` if no run has a verdict.
    pub fn best(&self) -> Option<usize> {
        let is_measured = self.variants.iter().any(|variant| variant.mean_rate.is_some());
        let better = self.differences.iter().filter(|difference| difference.change > 0.0);
        let most = better.max_by(|one, other| one.change.total_cmp(&other.change));
        is_measured.then(|| most.map_or(self.against, |difference| difference.variant))
    }

    /// The conclusion in a sentence: the best variant, and whether the runs can tell it from the one that all are compared with.
    pub fn conclusion(&self) -> String {
        let Some(best) = self.best() else {
            return "no run has a verdict, so nothing is compared".to_owned();
        };
        let label = |at: usize| &self.variants[at].label;
        let against = label(self.against);
        let Some(difference) = self.differences.iter().find(|it| it.variant == best) else {
            return format!("no variant has a higher mean than {against}");
        };
        if difference.is_shown {
            return format!("{} is better than {against}", label(best));
        }
        let runs =
            self.cases.iter().filter_map(|case| Some(case.runs[best]?.0.total())).max().unwrap_or_default();
        let of_data = format!("{} x {}", count(difference.cases, "case"), count(runs, "run"));
        let cannot =
            format!("{} has the best mean so far; {of_data} cannot tell it from {against}", label(best));
        match difference.runs_needed {
            Some(needed) => format!("{cannot}; about {needed} runs of each case would, if it stays as good"),
            None => format!("{cannot}, and a thousand runs of each case might not"),
        }
    }
}

/// The cases of all variants, each with its runs.
fn cases(of_variants: &[(String, Vec<&TestResult<'_>>)]) -> Vec<VariantCase> {
    let mut cases: Vec<VariantCase> = Vec::new();
    let mut places: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let functions = Functions::new(of_variants);
    for (at, (_, tests)) in of_variants.iter().enumerate() {
        for test in tests {
            let started = &test.attempt.started;
            let set = started.file.clone().or_else(|| started.eval_set_id.clone()).unwrap_or_default();
            let key = (functions.of(test), set, started.eval_id.clone());
            let place = *places.entry(key).or_insert_with_key(|(function, set, case)| {
                let runs = vec![None; of_variants.len()];
                cases.push(VariantCase {
                    set: set.clone(),
                    case: case.clone(),
                    function: function.clone(),
                    runs,
                });
                cases.len() - 1
            });
            // A program may have run a case several times under one label.
            let (known, errors) = cases[place].runs[at].unwrap_or_default();
            let RunCounts { passed, judged, total, .. } = test.first_with_verdict().runs;
            let passes = PassCount::new(known.passed() + passed, known.total() + judged);
            cases[place].runs[at] = Some((passes.unwrap_or_default(), errors + total - judged));
        }
    }
    cases
}

/// The paths of the functions of tests, without the modules of their variants.
///
/// A module of the program may have the name of a value: `a::agent::a` of `prompt=a` is `a::agent` or `agent::a`. So a path is the one
/// of these that most variants have.
struct Functions(BTreeMap<String, usize>);

impl Functions {
    fn new(of_variants: &[(String, Vec<&TestResult<'_>>)]) -> Self {
        let mut counts = BTreeMap::new();
        for (_, tests) in of_variants {
            let paths: BTreeSet<String> = tests.iter().flat_map(|test| candidates(test)).collect();
            for path in paths {
                *counts.entry(path).or_insert(0) += 1;
            }
        }
        Self(counts)
    }

    /// The path of the function of a test. Empty for cases of programs, which are named after the case.
    fn of(&self, test: &TestResult<'_>) -> String {
        self.most_common(candidates(test))
    }

    /// The first one of those that most variants have.
    fn most_common(&self, paths: Vec<String>) -> String {
        let count = |path: &String| self.0.get(path).copied().unwrap_or_default();
        paths.into_iter().rev().max_by_key(count).unwrap_or_default()
    }
}

/// The paths that the function of a test may have. None for cases of programs.
fn candidates(test: &TestResult<'_>) -> Vec<String> {
    let started = &test.attempt.started;
    if started.of_program {
        return Vec::new();
    }
    let module = test.test.name().rsplit_once("::").map_or("", |(module, _)| module);
    let binary = test.test.binary().unwrap_or_default();
    without_variant(&format!("{binary}::{module}"), &started.variant)
}

/// Paths without the modules of a variant, whole names: `agent::a` of `a` is `agent`. If a path has these modules in several places,
/// each place makes a path.
fn without_variant(path: &str, variant: &Variant) -> Vec<String> {
    let (path, modules): (Vec<&str>, Vec<String>) = (path.split("::").collect(), variant.modules().collect());
    let places = path.windows(modules.len().max(1)).enumerate().skip(1);
    let places = places.filter(|(_, at)| !modules.is_empty() && at.iter().eq(modules.iter()));
    let without = |at: usize| [&path[..at], &path[at + modules.len()..]].concat().join("::");
    let found: Vec<String> = places.map(|(at, _)| without(at)).collect();
    if found.is_empty() { vec![path.join("::")] } else { found }
}

/// The mean over the cases of the share of runs that passed.
fn rate(cases: &[VariantCase], variant: usize) -> Option<f64> {
    let rates: Vec<f64> = cases.iter().filter_map(|case| case.runs[variant]?.0.rate()).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / float(rates.len()))
}

fn totals(label: &str, tests: &[&TestResult<'_>], mean_rate: Option<f64>, prices: &Prices) -> VariantTotals {
    let mut totals = VariantTotals { label: label.to_owned(), mean_rate, ..VariantTotals::default() };
    let (mut cost, mut seconds, mut is_priced) = (Cost::default(), Vec::new(), true);
    for test in tests {
        let prices = prices_of(test.attempt, prices);
        is_priced &= !prices.is_empty();
        for (axis, value) in &test.attempt.started.variant.0 {
            totals.values.insert(axis.clone(), value.clone().into());
        }
        let runs = test.first_with_verdict().runs;
        totals.passed += runs.passed;
        totals.with_verdict += runs.judged;
        totals.errors += runs.total - runs.judged;
        if let Some(tokens) = test.usage().agent_tokens {
            totals.tokens = Some(totals.tokens.unwrap_or_default().saturating_add(tokens));
        }
        for evaluation in &test.attempt.evaluations {
            let turns = &evaluation.ran.transcript.turns;
            cost.add(&prices.cost_of_run(&evaluation.ran.transcript));
            seconds
                .push(turns.iter().filter_map(|turn| turn.invocation.duration).fold(0.0, std::ops::Add::add));
        }
    }
    // What is not reported may be anything: the rest is no sum.
    let evaluations = || tests.iter().flat_map(|test| &test.attempt.evaluations);
    let is_known = evaluations().all(|evaluation| evaluation.ran.tokens.is_some());
    totals.tokens = totals.tokens.filter(|_| is_known);
    seconds.sort_by(f64::total_cmp);
    totals.seconds = seconds.get(seconds.len() / 2).copied();
    totals.cost = (is_priced && is_known && cost.unpriced == 0).then_some(cost.money);
    totals
}

/// The treatment of runs without a verdict in a comparison.
#[derive(Clone, Copy)]
enum Errors {
    LeftOut,
    /// They failed with this variant, and passed with the one that it is compared with.
    AgainstIt,
    ForIt,
}

/// The runs of a case with those without a verdict as passed or as failed.
fn with_errors((passes, errors): (PassCount, usize), as_passed: bool) -> PassCount {
    let passed = passes.passed() + if as_passed { errors } else { 0 };
    PassCount::new(passed, passes.total() + errors).unwrap_or_default()
}

fn mirrored(strata: &[Stratum]) -> Vec<Stratum> {
    strata.iter().map(|stratum| Stratum { before: stratum.now, now: stratum.before }).collect()
}

fn rates(stratum: &Stratum) -> (f64, f64) {
    (stratum.before.rate().unwrap_or_default(), stratum.now.rate().unwrap_or_default())
}

fn change(strata: &[Stratum]) -> f64 {
    let sum: f64 = strata.iter().map(rates).map(|(before, now)| now - before).sum();
    // The sum of nothing is -0.
    sum / float(strata.len().max(1)) + 0.0
}

/// The number of runs of each case with which the test shows these differences with the probability [`TARGET_POWER`].
///
/// The normal approximation of the sum of passes over the cases, each with its pooled rate: Fleiss, Levin, Paik, *Statistical
/// Methods for Rates and Proportions* (2003), section 4.2, summed over strata.
fn runs_needed(strata: &[Stratum], level: f64) -> Option<usize> {
    let normal = Normal::standard();
    let z = normal.inverse_cdf(1.0 - level / 2.0) + normal.inverse_cdf(TARGET_POWER);
    let (mut sum, mut variance) = (0.0, 0.0);
    for (before, now) in strata.iter().map(rates) {
        let pooled = f64::midpoint(before, now);
        sum += now - before;
        variance += 2.0 * pooled * (1.0 - pooled);
    }
    let runs = (z * z * variance / (sum * sum)).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 2 and 1000")]
    (runs.is_finite() && runs <= 1000.0).then(|| (runs as usize).max(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<C: AsRef<[(usize, usize)]>>(cases: &[C], against: usize) -> VariantTable {
        let variants = cases[0].as_ref().len();
        let runs = |case: &C| {
            case.as_ref()
                .iter()
                .map(|(passed, total)| Some((PassCount::new(*passed, *total).unwrap(), 0)))
                .collect()
        };
        let cases: Vec<VariantCase> = cases
            .iter()
            .map(|case| VariantCase {
                set: String::new(),
                case: String::new(),
                function: String::new(),
                runs: runs(case),
            })
            .collect();
        let label = |at: usize| char::from(b'a' + u8::try_from(at).unwrap()).to_string();
        let variants = (0..variants).map(|at| VariantTotals {
            label: label(at),
            mean_rate: rate(&cases, at),
            ..VariantTotals::default()
        });
        let mut table =
            VariantTable { variants: variants.collect(), cases, against, differences: Vec::new() };
        table.differences = table.compared();
        table
    }

    #[test]
    fn a_difference_is_two_sided_and_corrected() {
        // Fisher's test of 0 of 5 and 5 of 5 is 1/252 on one side.
        let one = table(&[[(5, 5), (0, 5)]], 0);
        assert!((one.differences[0].p - 2.0 / 252.0).abs() < 1e-12, "{one:?}");
        assert!(one.differences[0].is_shown && one.differences[0].change < -0.999);
        assert_eq!(one.conclusion(), "no variant has a higher mean than a");
        assert_eq!(table(&[[(5, 5), (0, 5)]], 1).conclusion(), "a is better than b");
        // With seven comparisons the limit is 0.05 / 7, which is below 2/252.
        let mut runs = vec![(5, 5); 8];
        runs[7] = (0, 5);
        assert!(!table(&[runs], 0).differences[6].is_shown);
    }

    #[test]
    fn what_the_runs_cannot_tell_is_said_with_the_number_that_would() {
        let found = table(&[[(2, 3), (3, 3)]; 4], 0);
        assert!(!found.differences[0].is_shown);
        let needed = found.differences[0].runs_needed.unwrap();
        assert_eq!(
            found.conclusion(),
            format!(
                "b has the best mean so far; 4 cases x 3 runs cannot tell it from a; about {needed} runs of each case would, if it \
                 stays as good"
            )
        );
        // This number of runs shows it, with the shares as they are.
        let enough = [(needed * 2 / 3, needed), (needed, needed)];
        assert!(table(&[enough; 4], 0).differences[0].is_shown, "{needed}");
    }

    #[test]
    fn errors_may_have_been_anything() {
        let cell = |passed, total, errors| Some((PassCount::new(passed, total).unwrap(), errors));
        let table_of = |runs: &[[Option<(PassCount, usize)>; 2]]| {
            let mut table = table(&vec![[(0, 1), (0, 1)]; runs.len()], 0);
            for (case, runs) in table.cases.iter_mut().zip(runs) {
                case.runs = runs.to_vec();
            }
            for at in 0..2 {
                table.variants[at].mean_rate = rate(&table.cases, at);
            }
            table.differences = table.compared();
            table
        };
        // `b` is worse where it has verdicts, although its own mean is higher: a fails a case in which it breaks.
        let found = table_of(&[[cell(20, 20, 0), cell(6, 20, 0)], [cell(0, 20, 0), cell(0, 0, 20)]]);
        assert_eq!(found.conclusion(), "no variant has a higher mean than a");
        // All of these passes could be outweighed by what the errors would have been.
        assert!(!found.differences[0].is_shown, "{found:?}");
        let found = table_of(&[[cell(20, 20, 0), cell(6, 20, 0)], [cell(0, 20, 0), cell(0, 18, 2)]]);
        assert!(found.differences[0].is_shown, "{found:?}");
        let found = table_of(&[[cell(0, 0, 5), cell(0, 0, 5)]]);
        assert_eq!(found.conclusion(), "no run has a verdict, so nothing is compared");
    }

    #[test]
    fn modules_of_a_variant_are_whole_names() {
        let variant = |text| Variant::parse(text).unwrap();
        for (path, variant, expected) in [
            ("t::tests::agent::a", variant("prompt=a"), &["t::tests::agent"][..]),
            ("t::agent::b-1::x::trips", variant("prompt=b"), &["t::agent::b-1::x::trips"]),
            ("t::agent::b::x::trips", variant("prompt=b,model=x"), &["t::agent::trips"]),
            ("t::agent", Variant::default(), &["t::agent"]),
            ("t::a::agent::a", variant("prompt=a"), &["t::agent::a", "t::a::agent"]),
        ] {
            assert_eq!(without_variant(path, &variant), expected, "{path}");
        }
    }

    #[test]
    fn a_module_of_the_program_may_have_the_name_of_a_value() {
        let variant = |value: &str| Variant(vec![("prompt".to_owned(), value.to_owned())]);
        // `mod a { fn agent }` and `mod b { fn agent }`, of a folder with the set `a/trips`.
        let of = |module: &str, value: &str| {
            without_variant(&format!("t::{module}::agent::{value}::a::trips"), &variant(value))
        };
        let mut functions = Functions(BTreeMap::new());
        for value in ["a", "b"] {
            let paths: BTreeSet<String> = ["a", "b"].iter().flat_map(|module| of(module, value)).collect();
            for path in paths {
                *functions.0.entry(path).or_insert(0) += 1;
            }
        }
        for (module, value) in [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")] {
            let found = functions.most_common(of(module, value));
            assert_eq!(found, format!("t::{module}::agent::a::trips"), "{value}");
        }
    }

    #[test]
    fn equal_variants_rarely_differ() {
        // 8 equal variants of 20 cases that pass 0.8 of the time, 3 runs each.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut passes = || {
            (0..3)
                .filter(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state % 1000 < 800
                })
                .count()
        };
        let draws = 400;
        let called = (0..draws)
            .filter(|_| {
                let cases: Vec<Vec<(usize, usize)>> =
                    (0..20).map(|_| (0..8).map(|_| (passes(), 3)).collect()).collect();
                table(&cases, 0).differences.iter().any(|difference| difference.is_shown)
            })
            .count();
        // 5% and three standard errors.
        assert!(called <= 33, "{called} of {draws}");
    }
}
