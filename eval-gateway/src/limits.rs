//! Limits of what models are asked: in a run of a case, and in all cases of the process together.

use std::sync::{Arc, LazyLock, MutexGuard};

use eval_support::mutex::Mutex;
use eval_support::price::{Prices, shown};
use eval_support::untrusted::one_line;
use eval_support::variables::{
    MODELS_CALLS, MODELS_COST, MODELS_PRICE, MODELS_TOKENS, MODELS_TOTAL_CALLS, MODELS_TOTAL_COST,
    MODELS_TOTAL_TOKENS,
};
use eval_support::words::{count, tokens};

use crate::usage::Usage;

/// Limits of what models may be asked. They hold before a call is sent, and count no call that is replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The limits of a run of a case.
    pub of_run: Limit,
    /// The limits of all cases of the process together.
    pub of_all: Limit,
    /// The prices of tokens. A limited cost needs them.
    pub prices: Prices,
}

/// The most of each kind; `None` if it is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// The most calls that are sent.
    pub calls: Option<u64>,
    /// The most tokens, by what the answers say.
    pub tokens: Option<u64>,
    /// The highest cost, in the currency of the prices.
    pub cost: Option<f64>,
}

/// Calls that were sent, and what their answers took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    calls: u64,
    tokens: u64,
    cost: f64,
}

/// Shared spending of conversations. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Total(Arc<Mutex<Spent>>);

/// A call that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending<'c> {
    pub(crate) eval_id: &'c str,
    pub(crate) run: usize,
    /// The number of the call in its turn.
    pub(crate) call: usize,
    /// The model; `None` for requests that cost nothing.
    pub(crate) model: Option<&'c str>,
}

/// The variables of the limits of a run, and of all cases.
const OF_RUN: [&str; 3] = [MODELS_CALLS, MODELS_TOKENS, MODELS_COST];
const OF_ALL: [&str; 3] = [MODELS_TOTAL_CALLS, MODELS_TOTAL_TOKENS, MODELS_TOTAL_COST];

impl Limits {
    /// The variables of limits that are set.
    pub(crate) fn variables(&self) -> Vec<&'static str> {
        let set = |limit: &Limit| [limit.calls.is_some(), limit.tokens.is_some(), limit.cost.is_some()];
        let all = OF_RUN.into_iter().zip(set(&self.of_run)).chain(OF_ALL.into_iter().zip(set(&self.of_all)));
        all.filter(|(_, is_set)| *is_set).map(|(variable, _)| variable).collect()
    }

    /// Counts a call that is about to be sent. Fails with the sentence about a limit that it would exceed.
    pub(crate) fn send(&self, sending: Sending<'_>, run: &mut Spent, total: &Total) -> Result<(), String> {
        let mut all = total.lock();
        let Sending { eval_id, run: number, call, model } = sending;
        if let Some(Reached { had, variable, most, more }) = self.of_run.reached(run, OF_RUN) {
            return Err(format!(
                "call {call} of a model was not sent: run {number} of case `{eval_id}` had {had}, and `{variable}` allows {most}; \
                 is it a loop? a higher limit lets it go on: {variable}={more}"
            ));
        }
        if let Some(Reached { had, variable, most, more }) = self.of_all.reached(&all, OF_ALL) {
            return Err(format!(
                "call {call} of a model was not sent in run {number} of case `{eval_id}`: all cases together had {had}, and \
                 `{variable}` allows {most}; a higher limit lets them go on: {variable}={more}"
            ));
        }
        let limited = [(self.of_run.cost, MODELS_COST), (self.of_all.cost, MODELS_TOTAL_COST)];
        let limited = limited.into_iter().find_map(|(cost, variable)| cost.map(|_| variable));
        if let (Some(variable), Some(model)) = (limited, model)
            && self.prices.of(Some(model)).is_none()
        {
            let model = one_line(model);
            return Err(format!(
                "call {call} of a model was not sent in run {number} of case `{eval_id}`: `{variable}` limits its cost, and \
                 `{MODELS_PRICE}` has no price of `{model}`: add `{model}=IN/OUT`, for a million tokens in and out"
            ));
        }
        run.calls += 1;
        all.calls += 1;
        Ok(())
    }

    /// Counts what an answer took.
    pub(crate) fn took(&self, model: &str, usage: Usage, run: &mut Spent, total: &Total) {
        let Usage { input, output, cached } = usage;
        let price = self.prices.of(Some(model));
        let cost = price.map_or(0.0, |price| price.of_tokens(input.into(), cached.into(), output.into()));
        for spent in [run, &mut *total.lock()] {
            spent.tokens = spent.tokens.saturating_add(usage.total());
            spent.cost += cost;
        }
    }
}

/// A limit that is reached: what was used, its variable, and its value now and a higher one.
struct Reached {
    had: String,
    variable: &'static str,
    most: String,
    more: String,
}

impl Limit {
    fn reached(&self, spent: &Spent, variables: [&'static str; 3]) -> Option<Reached> {
        let [of_calls, of_tokens, of_cost] = variables;
        let whole = |had: String, variable, most: u64| {
            Some(Reached { had, variable, most: most.to_string(), more: most.saturating_mul(2).to_string() })
        };
        match (self.calls, self.tokens, self.cost) {
            (Some(most), _, _) if spent.calls >= most => {
                let calls = usize::try_from(spent.calls).unwrap_or(usize::MAX);
                whole(count(calls, "call"), of_calls, most)
            }
            (_, Some(most), _) if spent.tokens >= most => {
                whole(tokens(i128::from(spent.tokens)), of_tokens, most)
            }
            (_, _, Some(most)) if spent.cost >= most => Some(Reached {
                had: format!("a cost of {}", shown(spent.cost)),
                variable: of_cost,
                most: most.to_string(),
                more: (most * 2.0).to_string(),
            }),
            _ => None,
        }
    }
}

impl Total {
    /// The spending of all sets of the process.
    pub(crate) fn of_process() -> Self {
        static OF_PROCESS: LazyLock<Total> = LazyLock::new(Total::default);
        OF_PROCESS.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDING: Sending<'static> = Sending { eval_id: "paris", run: 2, call: 3, model: Some("m") };

    fn costs(of_run: Option<f64>, of_all: Option<f64>) -> Limits {
        let limit = |cost| Limit { cost, ..Limit::default() };
        Limits { of_run: limit(of_run), of_all: limit(of_all), prices: Prices::read("m=1/10").unwrap() }
    }

    #[test]
    fn a_cost_is_limited_in_a_run_and_over_all_of_them() {
        for (limits, expected) in [
            (
                costs(Some(0.00025), None),
                "call 3 of a model was not sent: run 2 of case `paris` had a cost of 0.00030, and `EVALSET_MODELS_COST` allows \
                 0.00025; is it a loop? a higher limit lets it go on: EVALSET_MODELS_COST=0.0005",
            ),
            (
                costs(Some(9.0), Some(0.00025)),
                "call 3 of a model was not sent in run 2 of case `paris`: all cases together had a cost of 0.00030, and \
                 `EVALSET_MODELS_TOTAL_COST` allows 0.00025; a higher limit lets them go on: EVALSET_MODELS_TOTAL_COST=0.0005",
            ),
        ] {
            let (mut run, total) = (Spent::default(), Total::default());
            for _ in 0..2 {
                assert_eq!(limits.send(SENDING, &mut run, &total), Ok(()));
                limits.took("m", Usage { input: 100, output: 5, cached: 0 }, &mut run, &total);
            }
            assert_eq!(limits.send(SENDING, &mut run, &total), Err(expected.to_owned()));
            // A run that is refused has sent nothing more.
            assert_eq!((run.calls, total.lock().calls), (2, 2));
        }
    }

    #[test]
    fn another_run_has_its_own_limit_and_shares_that_of_all() {
        let limits = Limits {
            of_run: Limit { calls: Some(1), ..Limit::default() },
            of_all: Limit { calls: Some(2), ..Limit::default() },
            prices: Prices::default(),
        };
        let total = Total::default();
        for _ in 0..2 {
            assert_eq!(limits.send(SENDING, &mut Spent::default(), &total), Ok(()));
        }
        let refused = limits.send(SENDING, &mut Spent::default(), &total).unwrap_err();
        assert!(
            refused.contains("all cases together had 2 calls, and `EVALSET_MODELS_TOTAL_CALLS` allows 2")
        );
        assert_eq!(limits.variables(), [MODELS_CALLS, MODELS_TOTAL_CALLS]);
    }

    #[test]
    fn a_model_without_a_price_is_not_asked_while_its_cost_is_limited() {
        let sending = |model| Sending { model, ..SENDING };
        let limits = costs(None, Some(1.0));
        let (mut run, total) = (Spent::default(), Total::default());
        let refused = limits.send(sending(Some("other")), &mut run, &total).unwrap_err();
        let expected = "`EVALSET_MODELS_TOTAL_COST` limits its cost, and `EVALSET_MODELS_PRICE` has no price of `other`: add \
                        `other=IN/OUT`";
        assert!(refused.contains(expected), "{refused}");
        // The list of models costs nothing.
        assert_eq!(limits.send(sending(None), &mut run, &total), Ok(()));
        let free = Limits { of_all: Limit::default(), ..limits };
        assert_eq!(free.send(sending(Some("other")), &mut run, &total), Ok(()));
    }
}
