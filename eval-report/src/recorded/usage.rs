//! Usage of a run: the models that were asked, and the tokens.

use std::borrow::Cow;

use eval_core::__private::sum_of_known;
use eval_core::journal::{Head, JudgeUse};
use eval_support::variables::MODELS_PRICE;

use crate::journal::Attempt;
use crate::price::{Cost, Prices};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunUsage {
    /// Tokens of the agent; `None` if neither its events nor the gateway told any.
    pub agent_tokens: Option<i128>,
    /// Tokens of the judges; `None` if no answer reports them.
    pub judge_tokens: Option<i128>,
    /// Questions to judges. Each sample is a question.
    pub asked: usize,
    pub unanswered: usize,
    /// Questions that a recording answered, as far as the journal tells.
    replayed: usize,
    /// Questions for which the journal does not tell it, as in earlier versions.
    untold: usize,
}

impl RunUsage {
    pub(super) fn new(attempt: &Attempt) -> Self {
        let mut usage = Self::default();
        for evaluation in &attempt.evaluations {
            usage.agent_tokens = sum_of_known(usage.agent_tokens, evaluation.ran.tokens.map(i128::from));
            let scored = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
            for judge in scored.flat_map(|metric| &metric.judge).chain(&evaluation.ran.simulator) {
                usage.add(Self::of_judge(judge));
            }
        }
        for ran in &attempt.repeated {
            usage.agent_tokens = sum_of_known(usage.agent_tokens, ran.tokens.map(i128::from));
            ran.simulator.iter().for_each(|judge| usage.add(Self::of_judge(judge)));
        }
        usage
    }

    fn of_judge(judge: &JudgeUse) -> Self {
        Self {
            agent_tokens: None,
            judge_tokens: judge.usage.all_tokens().map(i128::from),
            asked: judge.asked,
            unanswered: judge.failed,
            replayed: judge.replayed.unwrap_or_default(),
            untold: if judge.replayed.is_none() { judge.asked } else { 0 },
        }
    }

    /// Adds another usage. Sums saturate: a journal may hold any numbers.
    pub fn add(&mut self, other: Self) {
        self.agent_tokens = sum_of_known(self.agent_tokens, other.agent_tokens);
        self.judge_tokens = sum_of_known(self.judge_tokens, other.judge_tokens);
        self.asked = self.asked.saturating_add(other.asked);
        self.unanswered = self.unanswered.saturating_add(other.unanswered);
        self.replayed = self.replayed.saturating_add(other.replayed);
        self.untold = self.untold.saturating_add(other.untold);
    }

    /// The questions that a recording answered; `None` if the journal does not tell it for all of them.
    pub fn replayed(&self) -> Option<usize> {
        (self.untold == 0).then_some(self.replayed)
    }
}

/// The prices that a process was given: `--price 0.30/2.50`, as `cargo evalset run` and programs of evals take it, else the prices of
/// `EVALSET_MODELS_PRICE`.
fn of_process(head: &Head) -> Prices {
    let mut prices = Prices::default();
    let mut args = head.args.iter();
    while let Some(arg) = args.next() {
        let text = match arg.strip_prefix("--price") {
            Some("") => args.next().map(String::as_str),
            Some(inline) => inline.strip_prefix('='),
            None => None,
        };
        if let Some(text) = text {
            // The process refused invalid prices.
            drop(prices.add(text));
        }
    }
    if let Some(texts) = head.env.get(MODELS_PRICE).filter(|_| prices.is_empty()) {
        drop(prices.add_all(texts));
    }
    prices
}

/// The prices that count for an attempt: these, else those that its process was given.
pub fn prices<'p>(attempt: &Attempt, given: &'p Prices) -> Cow<'p, Prices> {
    if given.is_empty() { Cow::Owned(of_process(&attempt.head)) } else { Cow::Borrowed(given) }
}

/// The cost of a case's agent in all its runs. `None` without prices, and if none of the tokens has one.
pub fn cost(attempt: &Attempt, given: &Prices) -> Option<Cost> {
    Some(cost_of_all(attempt, given)).filter(|cost| cost.tokens_in > 0 || cost.tokens_out > 0)
}

/// The cost of a case's agent in all its runs: at these prices, else at the prices that the process was given. Tokens without a
/// price are in it too.
pub fn cost_of_all(attempt: &Attempt, given: &Prices) -> Cost {
    let prices = prices(attempt, given);
    let mut cost = Cost::default();
    attempt.runs().for_each(|ran| cost.add(&prices.cost_of_run(&ran.transcript)));
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_prices_of_its_option_or_of_the_variable() {
        let mut head = Head::unwritten(std::time::SystemTime::UNIX_EPOCH);
        let prices = |texts: &[&str]| {
            let mut prices = Prices::default();
            texts.iter().try_for_each(|text| prices.add(text)).map(|()| prices).unwrap()
        };
        head.env.insert(MODELS_PRICE.to_owned(), "m=1/2, 3/4".to_owned());
        assert_eq!(of_process(&head), prices(&["m=1/2", "3/4"]));
        head.args = ["run", "--price", "5/6"].map(str::to_owned).to_vec();
        assert_eq!(of_process(&head), prices(&["5/6"]));
    }

    #[test]
    fn usage_is_a_sum_of_what_is_known() {
        let mut all = RunUsage { agent_tokens: Some(1), asked: 2, replayed: 2, ..RunUsage::default() };
        all.add(RunUsage { judge_tokens: Some(5), asked: 1, unanswered: 1, ..RunUsage::default() });
        assert_eq!((all.agent_tokens, all.judge_tokens), (Some(1), Some(5)));
        assert_eq!((all.asked, all.unanswered, all.replayed()), (3, 1, Some(2)));
        let mut untold = JudgeUse::default();
        untold.asked = 4;
        all.add(RunUsage::of_judge(&untold));
        assert_eq!(
            (all.asked, all.replayed()),
            (7, None),
            "a journal of before does not tell it of four questions"
        );
        untold.replayed = Some(1);
        assert_eq!(RunUsage::of_judge(&untold).replayed(), Some(1));
        all.add(RunUsage { agent_tokens: Some(2), judge_tokens: Some(i128::MAX), ..RunUsage::default() });
        assert_eq!((all.agent_tokens, all.judge_tokens), (Some(3), Some(i128::MAX)));
    }
}
