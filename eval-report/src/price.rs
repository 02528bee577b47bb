//! Prices of tokens, and the cost of runs.

use std::collections::BTreeMap;
use std::fmt;

use eval_format::UsageMetadata;

use eval_core::agent::Event;
use eval_core::report::CaseReport;

/// The prices of the tokens of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    of_any: Option<Price>,
    of_models: BTreeMap<String, Price>,
}

/// The prices of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Price {
    input: f64,
    output: f64,
}

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
    pub const HELP: &'static str = "write the prices of a million tokens in and out, `0.30/2.50`, for one model `gemini-2.5-flash=0.30/2.50`";
}

impl Prices {
    /// Adds `IN/OUT` for all models, or `MODEL=IN/OUT` for one.
    pub fn add(&mut self, text: &str) -> Result<(), PriceError> {
        let (model, prices) = match text.rsplit_once('=') {
            Some((model, prices)) => (Some(model.trim()), prices),
            None => (None, text),
        };
        let wrong = || PriceError(format!("`{text}` is no price"));
        let (input, output) = prices.split_once('/').ok_or_else(wrong)?;
        let price =
            Price { input: amount(input).ok_or_else(wrong)?, output: amount(output).ok_or_else(wrong)? };
        let is_new = match model {
            None => self.of_any.replace(price).is_none(),
            Some("") => return Err(wrong()),
            Some(model) => self.of_models.insert(model.to_owned(), price).is_none(),
        };
        match (is_new, model) {
            (true, _) => Ok(()),
            (false, None) => Err(PriceError("there are two prices for all models".to_owned())),
            (false, Some(model)) => Err(PriceError(format!("there are two prices for `{model}`"))),
        }
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.of_any.is_none() && self.of_models.is_empty()
    }

    /// The cost of a case's agent in all its runs.
    pub fn cost_of(&self, case: &CaseReport) -> Cost {
        let turns = case.runs.iter().flat_map(|run| &run.transcript.turns);
        self.cost_of_events(turns.flat_map(|turn| &turn.events))
    }

    /// The agent's cost in these events.
    pub fn cost_of_events<'e>(&self, events: impl Iterator<Item = &'e Event>) -> Cost {
        let mut cost = Cost::default();
        for event in events {
            if let Some(usage) = &event.usage {
                cost.add(&self.cost_of_call(event.model_version.as_deref(), usage));
            }
        }
        cost
    }

    fn cost_of_call(&self, model: Option<&str>, usage: &UsageMetadata) -> Cost {
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
        match model.and_then(|model| self.of_models.get(model)).copied().or(self.of_any) {
            None => Cost { unpriced: tokens_in + tokens_out, ..Cost::default() },
            Some(Price { input, output }) => {
                #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 tokens nobody counts cents")]
                let of = |tokens: i128, price: f64| tokens as f64 * price / 1e6;
                Cost {
                    money: of(tokens_in, input) + of(tokens_out, output),
                    tokens_in,
                    tokens_out,
                    unpriced: 0,
                }
            }
        }
    }
}

fn amount(text: &str) -> Option<f64> {
    // `1e9` and `inf` are numbers too, but no price is written so.
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let text = Some(text.trim()).filter(|text| is_plain(text))?;
    text.parse().ok().filter(|amount: &f64| amount.is_finite())
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
        let money = self.money.max(0.0);
        match money {
            0.0 => "0.00".to_owned(),
            0.1.. => format!("{money:.2}"),
            _ => {
                // Two digits behind the zeros.
                let zeros = (1..12).take_while(|zeros| money < 10_f64.powi(-zeros)).count();
                format!("{money:.*}", zeros + 2)
            }
        }
    }
}

/// `1.28 for 12345 tokens in and 678 out; 90 tokens have no price`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tokens_in, tokens_out, unpriced, .. } = self;
        write!(f, "{} for {tokens_in} tokens in and {tokens_out} out", self.amount())?;
        match unpriced {
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
    fn a_price_is_two_amounts_for_all_models_or_for_one() {
        for texts in [&["0.30/2.50"][..], &["0/0"], &["m=1/2", "a=b=3/4", "5/6"], &["publishers/x/m=1/2"]] {
            assert!(prices(texts).is_ok(), "{texts:?}");
        }
        for (texts, says) in [
            (&["0.30"][..], "`0.30` is no price"),
            (&[""], "`` is no price"),
            (&["/"], "`/` is no price"),
            (&["1/"], "`1/` is no price"),
            (&["-1/2"], "`-1/2` is no price"),
            (&["1/2/3"], "`1/2/3` is no price"),
            (&["1/inf"], "`1/inf` is no price"),
            (&["1/1e9"], "`1/1e9` is no price"),
            (&["$1/$2"], "`$1/$2` is no price"),
            (&["1,5/2"], "`1,5/2` is no price"),
            (&["=1/2"], "`=1/2` is no price"),
            (&["gemini"], "`gemini` is no price"),
            (&["m=cheap"], "`m=cheap` is no price"),
            (&["1/2", "1/2"], "there are two prices for all models"),
            (&["m=1/2", "m=1/3"], "there are two prices for `m`"),
        ] {
            assert_eq!(prices(texts).unwrap_err().to_string(), says, "{texts:?}");
        }
    }

    #[test]
    fn tokens_cost_what_their_model_costs_and_none_is_dropped() {
        let of =
            |texts: &[&str], model, usage| prices(texts).unwrap().cost_of_call(model, &usage).to_string();
        let call = || usage(Some(1_000_000), Some(100_000), Some(1_100_000));
        assert_eq!(of(&["0.30/2.50"], None, call()), "0.55 for 1000000 tokens in and 100000 out");
        assert_eq!(of(&["1/1", "m=2/20"], Some("m"), call()), "4.00 for 1000000 tokens in and 100000 out");
        assert_eq!(
            of(&["1/1", "m=2/20"], Some("m-lite"), call()),
            "1.10 for 1000000 tokens in and 100000 out"
        );
        let unpriced = "0.00 for 0 tokens in and 0 out; 1100000 tokens have no price";
        assert_eq!(of(&["m=2/20"], Some("other"), call()), unpriced);
        assert_eq!(of(&["1/1"], None, usage(None, None, Some(1_100_000))), unpriced);
        // A part that is missing is the rest of the total.
        assert_eq!(
            of(&["1/2"], None, usage(Some(10), None, Some(15))),
            "0.000020 for 10 tokens in and 5 out"
        );
        assert_eq!(of(&["1/2"], None, usage(None, Some(5), Some(15))), "0.000020 for 10 tokens in and 5 out");
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

    #[test]
    fn small_amounts_keep_two_digits() {
        for (money, shown) in [
            (0.0, "0.00"),
            (12.345, "12.35"),
            (0.5, "0.50"),
            (0.042, "0.042"),
            (0.1, "0.10"),
            (0.01, "0.010"),
            (0.000_421, "0.00042"),
        ] {
            assert_eq!(Cost { money, ..Cost::default() }.amount(), shown);
        }
    }
}
