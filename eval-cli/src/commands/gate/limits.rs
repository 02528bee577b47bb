//! Limits of a gate: demands on this build alone, without a baseline.

use eval_report::baseline::{Baseline, Line};
use eval_report::decide::exact::{below_share, holm};
use eval_report::price::Prices;
use eval_report::statistics::PassCount;
use eval_support::words::{count, grouped};

use crate::commands::report::prices;
use crate::output::CommandError;
use crate::recorded::{LoadedRun, TestResult, cost};

#[derive(Debug, clap::Args)]
pub(super) struct Limits {
    /// Demands that this share of all runs passes, 0 to 1. It is a demand, no test: the interval is printed.
    #[arg(long, value_name = "SHARE")]
    min_pass_rate: Option<f64>,

    /// Demands that each case passes this share of its runs, 0 to 1. A case breaks it where its runs show that it passes less often.
    #[arg(long, value_name = "SHARE")]
    min_reliability: Option<f64>,

    /// The most tokens of the agent in all runs together.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<i64>,

    /// The most that the agent may cost in all runs together, in the currency of the prices.
    #[arg(long, value_name = "COST")]
    max_cost: Option<f64>,

    /// The prices of a million tokens in and out, for all models or for one. Can be repeated. Without it, the prices that the run was
    /// given count.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT", requires = "max_cost")]
    prices: Vec<String>,
}

/// The level of the demand on each case, over all cases.
const LEVEL: f64 = 0.05;

impl Limits {
    pub(super) fn check(&self) -> Result<(), CommandError> {
        for (name, share) in
            [("--min-pass-rate", self.min_pass_rate), ("--min-reliability", self.min_reliability)]
        {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                let message = format!("`{name}` is {share}, and a share is from 0 to 1");
                return Err(CommandError::new(message, format!("for 90% write `{name} 0.9`")));
            }
        }
        if let Some(cost) = self.max_cost.filter(|cost| !(cost.is_finite() && *cost >= 0.0)) {
            return Err(CommandError::new(format!("`--max-cost` is {cost}"), "name an amount, such as 2.50"));
        }
        prices(&self.prices).map(drop)
    }

    /// A sentence for each limit that is broken.
    pub(super) fn broken(&self, runs: &[LoadedRun], now: &Baseline) -> Result<Vec<String>, CommandError> {
        let mut broken = Vec::new();
        broken.extend(self.min_pass_rate.and_then(|least| below_rate(now, least)));
        broken.extend(self.min_reliability.map(|least| unreliable(now, least)).unwrap_or_default());
        if let Some(most) = self.max_tokens {
            broken.extend(over_tokens(runs, most)?);
        }
        if let Some(most) = self.max_cost {
            broken.extend(over_cost(runs, &prices(&self.prices)?, most)?);
        }
        Ok(broken)
    }
}

fn below_rate(now: &Baseline, least: f64) -> Option<String> {
    let sum = |of: fn(&Line) -> usize| now.lines().map(of).sum::<usize>();
    let runs = PassCount::new(sum(|line| line.passed), sum(|line| line.runs)).ok()?;
    let (rate, interval) = (runs.rate().unwrap_or(0.0), runs.interval());
    let interval = interval.map(|interval| format!(" (95% interval {interval})")).unwrap_or_default();
    (rate < least).then(|| {
        format!(
            "{runs} runs passed{interval}, and `--min-pass-rate` demands {least}: this is a demand, no test"
        )
    })
}

fn unreliable(now: &Baseline, least: f64) -> Vec<String> {
    let lines: Vec<&Line> = now.lines().filter(|line| line.with_verdict().total() > 0).collect();
    let p_values: Vec<f64> = lines.iter().map(|line| below_share(line.with_verdict(), least)).collect();
    let shown = holm(&p_values, LEVEL);
    let of = lines.iter().zip(&shown).filter(|(_, shown)| **shown);
    of.map(|(line, _)| {
        format!(
            "{} passed {} of {}, which shows that it passes less often than `--min-reliability {least}` demands",
            line.key(),
            line.passed,
            count(line.with_verdict().total(), "run")
        )
    })
    .collect()
}

fn over_tokens(runs: &[LoadedRun], most: i64) -> Result<Option<String>, CommandError> {
    let evaluations =
        runs.iter().flat_map(|run| TestResult::all(&run.run)).flat_map(|test| &test.attempt.evaluations);
    let known: Vec<i128> = evaluations.filter_map(|it| it.ran.tokens).map(i128::from).collect();
    if known.is_empty() {
        let help = "have the agent report its usage, or leave out `--max-tokens`";
        return Err(CommandError::new("no run tells how many tokens it took", help));
    }
    let sum: i128 = known.iter().sum();
    Ok((sum > i128::from(most)).then(|| {
        format!(
            "the agent took {} tokens, and `--max-tokens` allows {}",
            grouped(sum),
            grouped(i128::from(most))
        )
    }))
}

fn over_cost(runs: &[LoadedRun], prices: &Prices, most: f64) -> Result<Option<String>, CommandError> {
    let tests: Vec<TestResult<'_>> = runs.iter().flat_map(|run| TestResult::all(&run.run)).collect();
    let mut costs = tests.iter().filter_map(|test| cost(test.attempt, prices));
    let Some(mut all) = costs.next() else {
        let help = "name the prices of a million tokens: `--price IN/OUT`, or leave out `--max-cost`";
        return Err(CommandError::new(
            "what the agent cost is not known: no run has tokens with a price",
            help,
        ));
    };
    costs.for_each(|cost| all.add(&cost));
    Ok((all.money > most).then(|| format!("the agent cost {}, and `--max-cost` allows {most}", all.amount())))
}
