//! Limits of a gate: demands on this build alone, and the largest fall of a metric's mean score since the baseline.

use std::collections::BTreeMap;

use eval_report::baseline::{Baseline, Line};
use eval_report::comparison::{ScoreChange, ScoreLimit, score_limit, short_p};
use eval_report::decide::exact::{SIGNIFICANCE_LEVEL, below_share, holm};
use eval_report::price::{Cost, Prices};
use eval_report::statistics::PassCount;
use eval_support::words::{count, grouped, tokens};

use crate::commands::report::prices;
use crate::output::CommandError;
use crate::recorded::{LoadedRun, RunUsage, TestResult, cost_of_all};

#[derive(Debug, clap::Args)]
pub(super) struct Limits {
    /// Demands that this share of all runs passes, 0 to 1. It is a demand, no test: the interval is printed.
    #[arg(long, value_name = "SHARE")]
    min_pass_rate: Option<f64>,

    /// Demands that each case passes this share of its runs, 0 to 1. A case breaks it where its runs show that it passes less often.
    #[arg(long, value_name = "SHARE")]
    min_reliability: Option<f64>,

    /// The most by which the mean score of a metric may fall, over the cases. It is broken where the cases show that it fell by more.
    #[arg(long, value_name = "DROP")]
    max_score_drop: Option<f64>,

    /// The most tokens of the agent in all runs together. Each run has to report its tokens.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<i64>,

    /// The most that the agent may cost in all runs together, in the currency of the prices. Each token has to have a price.
    #[arg(long, value_name = "COST")]
    max_cost: Option<f64>,

    /// The prices of a million tokens in and out, for all models or for one. Can be repeated. Without it, the prices that the run was
    /// given count.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT", requires = "max_cost")]
    prices: Vec<String>,
}

impl Limits {
    pub(super) fn check(&self) -> Result<(), CommandError> {
        for (name, share) in [
            ("--min-pass-rate", self.min_pass_rate),
            ("--min-reliability", self.min_reliability),
            ("--max-score-drop", self.max_score_drop),
        ] {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                let message = format!("`{name}` is {share}, and a share is from 0 to 1");
                return Err(CommandError::new(message, format!("for 10% write `{name} 0.1`")));
            }
        }
        if let Some(cost) = self.max_cost.filter(|cost| !(cost.is_finite() && *cost >= 0.0)) {
            return Err(CommandError::new(format!("`--max-cost` is {cost}"), "name an amount, such as 2.50"));
        }
        prices(&self.prices).map(drop)
    }

    /// Checks the limits on these runs, which `now` counts. `scores` are the changes of their scores.
    pub(super) fn checked(
        &self,
        runs: &[LoadedRun],
        now: &Baseline,
        scores: &[ScoreChange],
    ) -> Result<Checked, CommandError> {
        let tests: Vec<TestResult<'_>> = runs.iter().flat_map(|run| TestResult::all(&run.run)).collect();
        let mut checked = Checked::default();
        if let Some(least) = self.min_pass_rate {
            checked.pass_rate(now, least);
        }
        if let Some(least) = self.min_reliability {
            checked.reliability(now, least);
        }
        if let Some(most) = self.max_score_drop {
            let ScoreLimit { broken, unknown } = score_limit(scores, most);
            checked.broken.extend(broken);
            checked.unknown.extend(unknown);
        }
        if let Some(most) = self.max_tokens {
            checked.tokens(&tests, most);
        }
        if let Some(most) = self.max_cost {
            checked.cost(&tests, &prices(&self.prices)?, most);
        }
        Ok(checked)
    }
}

/// A sentence for each limit that is broken, and for each that cannot be checked.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) broken: Vec<String>,
    pub(super) unknown: Vec<String>,
    /// Limits on passes that are kept, with the interval: a demand is no test, whichever way it ends.
    pub(super) kept: Vec<String>,
}

impl Checked {
    /// A run without a verdict may have passed or failed: the limit is broken if it is so in either case.
    fn pass_rate(&mut self, now: &Baseline, least: f64) {
        let sum = |of: fn(&Line) -> usize| now.lines().map(of).sum::<usize>();
        let (passed, runs, errors) =
            (sum(|line| line.passed), sum(|line| line.runs), sum(|line| line.errors));
        let rate = |passed| PassCount::new(passed, runs).ok().and_then(PassCount::rate);
        let (Some(worst), Some(best)) = (rate(passed), rate(passed + errors)) else {
            self.unknown
                .push("no case ran, so `--min-pass-rate` cannot be checked; run the cases again".to_owned());
            return;
        };
        let interval = if errors == 0 { interval(passed, runs) } else { String::new() };
        let said = format!("{} passed{interval}{}", of_runs(passed, runs), without_verdict(errors));
        if best < least {
            self.broken
                .push(format!("{said}, and `--min-pass-rate` demands {least}: this is a demand, no test"));
        } else if worst < least {
            self.unknown.push(format!("{said}, so `--min-pass-rate {least}` cannot be checked; {REPAIR}"));
        } else {
            self.kept
                .push(format!("{said}, and `--min-pass-rate {least}` is kept: this is a demand, no test"));
        }
    }

    fn reliability(&mut self, now: &Baseline, least: f64) {
        let lines: Vec<&Line> = now.lines().collect();
        let p = |line: &Line, errors_pass: bool| {
            let passed = line.passed + if errors_pass { line.errors } else { 0 };
            PassCount::new(passed, line.runs).map_or(1.0, |runs| below_share(runs, least))
        };
        let shown = |errors_pass: bool| {
            holm(&lines.iter().map(|line| p(line, errors_pass)).collect::<Vec<_>>(), SIGNIFICANCE_LEVEL)
        };
        let (broken, unknown) = (self.broken.len(), self.unknown.len());
        for ((line, at_best), at_worst) in lines.iter().zip(shown(true)).zip(shown(false)) {
            let runs = of_runs(line.passed, line.with_verdict().total());
            let said = format!("{} passed {runs}{}", line.key(), without_verdict(line.errors));
            if at_best {
                self.broken.push(format!(
                    "{said}, which shows that it passes less often than `--min-reliability {least}` demands (p = {}; limit {}% over {}, \
                     Holm): this is a demand on each case, and nothing is compared with a run before",
                    short_p(p(line, true)),
                    SIGNIFICANCE_LEVEL * 100.0,
                    count(lines.len(), "case")
                ));
            } else if at_worst {
                self.unknown
                    .push(format!("{said}, so `--min-reliability {least}` cannot be checked; {REPAIR}"));
            }
        }
        let rate = |line: &Line| line.with_verdict().rate().unwrap_or(1.0);
        let lowest = lines.iter().min_by(|one, other| rate(one).total_cmp(&rate(other)));
        if let (true, Some(lowest)) = ((broken, unknown) == (self.broken.len(), self.unknown.len()), lowest) {
            let (passed, runs) = (lowest.passed, lowest.with_verdict().total());
            self.kept.push(format!(
                "`--min-reliability {least}` is kept: no case is shown to pass less often; the lowest is {}, which passed {}{}",
                lowest.key(),
                of_runs(passed, runs),
                interval(passed, runs)
            ));
        }
    }

    fn tokens(&mut self, tests: &[TestResult<'_>], most: i64) {
        let mut usage = RunUsage::default();
        for test in tests {
            usage.add(test.usage());
        }
        let known = usage.agent_tokens.unwrap_or_default();
        if known > i128::from(most) {
            let (known, most) = (tokens(known), grouped(i128::from(most)));
            self.broken.push(format!("the agent took {known}, and `--max-tokens` allows {most}"));
        } else {
            self.unknown.extend(without_tokens(tests, "--max-tokens"));
        }
    }

    fn cost(&mut self, tests: &[TestResult<'_>], prices: &Prices, most: f64) {
        let mut all = Cost::default();
        for test in tests {
            all.add(&cost_of_all(test.attempt, prices));
        }
        if all.money > most {
            self.broken.push(format!("the agent cost {}, and `--max-cost` allows {most}", all.amount()));
            return;
        }
        self.unknown.extend(without_tokens(tests, "--max-cost"));
        if all.unpriced > 0 {
            self.unknown.push(format!(
                "{} {} no price, so `--max-cost` cannot be checked; name the price of each model, `--price MODEL=IN/OUT`, and have the \
                 agent report input and output apart",
                tokens(all.unpriced),
                if all.unpriced == 1 { "has" } else { "have" }
            ));
        }
    }
}

/// A sentence about the runs whose tokens are not known: what they took may be anything.
fn without_tokens(tests: &[TestResult<'_>], limit: &str) -> Option<String> {
    let (mut unknown, mut all) = (0, 0);
    for test in tests {
        let mut is_known: BTreeMap<usize, bool> = BTreeMap::new();
        for ran in test.attempt.runs() {
            *is_known.entry(ran.run).or_insert(true) &= ran.tokens.is_some();
        }
        all += is_known.len();
        unknown += is_known.into_values().filter(|is_known| !is_known).count();
    }
    (unknown > 0).then(|| {
        format!(
            "{unknown} of {} reported no tokens, so `{limit}` cannot be checked; have the agent report its usage, or leave the limit \
             out",
            count(all, "run")
        )
    })
}

const REPAIR: &str = "repair what broke, and run the cases again";

/// ` (95% interval 0.51 to 0.92)`; empty if there is none.
fn interval(passed: usize, runs: usize) -> String {
    let interval = PassCount::new(passed, runs).ok().and_then(PassCount::interval);
    interval.map(|interval| format!(" (95% interval {interval})")).unwrap_or_default()
}

/// `3 of 4 runs`, `none of 4 runs`.
fn of_runs(passed: usize, runs: usize) -> String {
    let passed = if passed == 0 { "none".to_owned() } else { passed.to_string() };
    format!("{passed} of {}", count(runs, "run"))
}

fn without_verdict(errors: usize) -> String {
    match errors {
        0 => String::new(),
        1 => ", and 1 has no verdict".to_owned(),
        errors => format!(", and {errors} have no verdict"),
    }
}
