//! What the tokens of a case cost, if the run was given prices.

use crate::journal::Attempt;
use crate::price::{Cost, Prices};
use eval_core::journal::Head;

/// The prices that a process was given: `--price 0.30/2.50`, as `cargo evalset run` and programs of evals take it.
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
            // The process refused what is no price.
            drop(prices.add(text));
        }
    }
    prices
}

/// What the agent of a case cost in all its runs: at these prices, else at those that the process was given. `None` without prices,
/// and if none of the tokens has one.
pub fn cost(attempt: &Attempt, given: &Prices) -> Option<Cost> {
    let own = if given.is_empty() { Some(of_process(&attempt.head)) } else { None };
    let prices = own.as_ref().unwrap_or(given);
    if prices.is_empty() {
        return None;
    }
    let runs = attempt.evaluations.iter().map(|it| &it.ran).chain(&attempt.repeated);
    let turns = runs.flat_map(|ran| &ran.transcript.turns);
    let cost = prices.cost_of_events(turns.flat_map(|turn| &turn.events));
    (cost.tokens_in > 0 || cost.tokens_out > 0).then_some(cost)
}
