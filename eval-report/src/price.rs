//! Prices of tokens, and the cost of runs.

use std::fmt;

use eval_core::report::{CaseReport, Transcript};
use eval_format::UsageMetadata;
use eval_support::price::{self, Prices as Table};
use eval_support::variables::MODELS_PRICE;
use eval_support::words;

/// The prices of the tokens of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices(Table);

/// An error in the text of a price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceError(String);

impl fmt::Display for PriceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PriceError {}

impl PriceError {
    /// The syntax of prices.
    pub const HELP: &'static str = price::HELP;
}

impl Prices {
    /// Adds `IN/OUT` for all models, or `MODEL=IN/OUT` for one. `IN/OUT/CACHED` is less for cached tokens of the input.
    pub fn add(&mut self, text: &str) -> Result<(), PriceError> {
        self.0.add(text).map_err(PriceError)
    }

    /// Adds the prices in the value of `EVALSET_MODELS_PRICE`.
    pub(crate) fn add_all(&mut self, texts: &str) -> Result<(), PriceError> {
        texts.split(',').try_for_each(|text| self.add(text.trim()))
    }

    /// These prices; without them, the prices of `EVALSET_MODELS_PRICE`.
    #[must_use]
    pub fn or_of_environment(self) -> Self {
        let mut prices = self;
        if prices.is_empty()
            && let Ok(texts) = std::env::var(MODELS_PRICE)
        {
            // What limits the cost of models refuses invalid prices.
            drop(prices.add_all(&texts));
        }
        prices
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cost of a case's agent in all its runs.
    pub fn cost_of(&self, case: &CaseReport) -> Cost {
        let mut cost = Cost::default();
        case.runs.iter().for_each(|run| cost.add(&self.cost_of_run(&run.transcript)));
        cost
    }

    /// The agent's cost in a run, by [`Transcript::usage`].
    pub fn cost_of_run(&self, run: &Transcript) -> Cost {
        let mut cost = Cost::default();
        for (model, usage) in run.usage() {
            cost.add(&self.cost_of_usage(model, usage));
        }
        cost
    }

    fn cost_of_usage(&self, model: Option<&str>, usage: &UsageMetadata) -> Cost {
        let sum = |parts: [Option<i64>; 2]| parts.into_iter().flatten().map(i128::from).reduce(|a, b| a + b);
        let tokens_in = sum([usage.prompt_token_count, usage.tool_use_prompt_token_count]);
        let tokens_out = sum([usage.candidates_token_count, usage.thoughts_token_count]);
        let total = usage.total_token_count.map(i128::from);
        // A total alone cannot be split into input and output.
        let (Some(tokens_in), Some(tokens_out)) = (
            tokens_in.or_else(|| Some(total? - tokens_out?)),
            tokens_out.or_else(|| Some(total? - tokens_in?)),
        ) else {
            let unpriced = total.or(tokens_in).or(tokens_out).unwrap_or_default();
            return Cost { unpriced, ..Cost::default() };
        };
        match self.0.of(model) {
            None => Cost { unpriced: tokens_in + tokens_out, ..Cost::default() },
            Some(price) => {
                let cached = usage.cached_content_token_count.unwrap_or_default().into();
                let money = price.of_tokens(tokens_in, cached, tokens_out);
                Cost { money, tokens_in, tokens_out, unpriced: 0 }
            }
        }
    }
}

/// The cost of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// In the currency of the prices.
    pub money: f64,
    /// The input tokens in it.
    pub tokens_in: i128,
    /// The output tokens in it.
    pub tokens_out: i128,
    /// Tokens whose model has no price, or that cannot be split into input and output.
    pub unpriced: i128,
}

impl Cost {
    /// Adds another cost.
    pub fn add(&mut self, other: &Self) {
        self.money += other.money;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
        self.unpriced += other.unpriced;
    }

    /// `1.28`, with as many digits as a small amount needs: `0.00042`.
    pub fn amount(&self) -> String {
        price::shown(self.money)
    }
}

/// `1.28 for 12,345 tokens in and 678 out; 90 tokens have no price`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [tokens_in, tokens_out, unpriced] =
            [self.tokens_in, self.tokens_out, self.unpriced].map(words::grouped);
        write!(f, "{} for {tokens_in} tokens in and {tokens_out} out", self.amount())?;
        match self.unpriced {
            0 => Ok(()),
            1 => f.write_str("; 1 token has no price"),
            _ => write!(f, "; {unpriced} tokens have no price"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(texts: &[&str]) -> Result<Prices, PriceError> {
        let mut prices = Prices::default();
        texts.iter().try_for_each(|text| prices.add(text))?;
        Ok(prices)
    }

    fn usage(tokens_in: Option<i64>, tokens_out: Option<i64>, total: Option<i64>) -> UsageMetadata {
        let mut usage = UsageMetadata::default();
        usage.prompt_token_count = tokens_in;
        usage.candidates_token_count = tokens_out;
        usage.total_token_count = total;
        usage
    }

    #[test]
    fn tokens_cost_what_their_model_costs_and_none_is_dropped() {
        let of =
            |texts: &[&str], model, usage| prices(texts).unwrap().cost_of_usage(model, &usage).to_string();
        let call = || usage(Some(1_000_000), Some(100_000), Some(1_100_000));
        assert_eq!(of(&["0.30/2.50"], None, call()), "0.55 for 1,000,000 tokens in and 100,000 out");
        assert_eq!(of(&["1/1", "m=2/20"], Some("m"), call()), "4.00 for 1,000,000 tokens in and 100,000 out");
        assert_eq!(
            of(&["1/1", "m=2/20"], Some("m-lite"), call()),
            "1.10 for 1,000,000 tokens in and 100,000 out"
        );
        let unpriced = "0.00 for 0 tokens in and 0 out; 1,100,000 tokens have no price";
        assert_eq!(of(&["m=2/20"], Some("other"), call()), unpriced);
        assert_eq!(of(&["1/1"], None, usage(None, None, Some(1_100_000))), unpriced);
        // A part that is missing is the rest of the total.
        assert_eq!(
            of(&["1/2"], None, usage(Some(10), None, Some(15))),
            "0.000020 for 10 tokens in and 5 out"
        );
        assert_eq!(of(&["1/2"], None, usage(None, Some(5), Some(15))), "0.000020 for 10 tokens in and 5 out");
        let mut cached = usage(Some(1_000_000), Some(100_000), None);
        cached.cached_content_token_count = Some(500_000);
        assert_eq!(of(&["2/20/0.2"], None, cached), "3.10 for 1,000,000 tokens in and 100,000 out");
        let mut thinking = usage(Some(10), Some(5), None);
        (thinking.thoughts_token_count, thinking.tool_use_prompt_token_count) = (Some(7), Some(3));
        assert_eq!(of(&["1/2"], None, thinking), "0.000037 for 13 tokens in and 12 out");
    }

    #[test]
    fn costs_are_added() {
        let cost = |money, tokens_in, tokens_out, unpriced| Cost { money, tokens_in, tokens_out, unpriced };
        let mut all = cost(1.0, 10, 20, 30);
        all.add(&cost(0.5, 1, 2, 3));
        assert_eq!(all, cost(1.5, 11, 22, 33));
    }
}
