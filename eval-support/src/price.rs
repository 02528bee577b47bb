//! Prices of the tokens of models, and amounts of money.

use std::collections::BTreeMap;

/// The prices of the tokens of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    of_any: Option<Price>,
    of_models: BTreeMap<String, Price>,
}

/// The prices of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    input: f64,
    output: f64,
    cached: f64,
}

/// The syntax of prices.
pub const HELP: &str = "write the prices of a million tokens in and out, `0.30/2.50`, for one model `gemini-2.5-flash=0.30/2.50`; a third price is for cached tokens, `0.30/2.50/0.03`";

impl Prices {
    /// Reads prices with commas between them.
    pub fn read(texts: &str) -> Result<Self, String> {
        let mut prices = Self::default();
        texts.split(',').try_for_each(|text| prices.add(text.trim()))?;
        Ok(prices)
    }

    /// Adds `IN/OUT` for all models, or `MODEL=IN/OUT` for one. `IN/OUT/CACHED` is less for cached tokens of the input.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let (model, prices) = match text.rsplit_once('=') {
            Some((model, prices)) => (Some(model.trim()), prices),
            None => (None, text),
        };
        let wrong = || format!("`{text}` is no price");
        let amounts: Option<Vec<f64>> = prices.split('/').map(amount).collect();
        let price = match *amounts.ok_or_else(wrong)? {
            [input, output] => Price { input, output, cached: input },
            [input, output, cached] => Price { input, output, cached },
            _ => return Err(wrong()),
        };
        let is_new = match model {
            None => self.of_any.replace(price).is_none(),
            Some("") => return Err(wrong()),
            Some(model) => self.of_models.insert(model.to_owned(), price).is_none(),
        };
        match (is_new, model) {
            (true, _) => Ok(()),
            (false, None) => Err("there are two prices for all models".to_owned()),
            (false, Some(model)) => Err(format!("there are two prices for `{model}`")),
        }
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.of_any.is_none() && self.of_models.is_empty()
    }

    /// The price of a model; `None` if it has none.
    pub fn of(&self, model: Option<&str>) -> Option<Price> {
        model.and_then(|model| self.of_models.get(model)).copied().or(self.of_any)
    }
}

impl Price {
    /// The cost of a number of tokens of input, `cached` of them from a cache, and of output.
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 tokens cents do not matter")]
    pub fn of_tokens(self, input: i128, cached: i128, output: i128) -> f64 {
        let cached = cached.clamp(0, input.max(0));
        ((input - cached) as f64 * self.input + cached as f64 * self.cached + output as f64 * self.output)
            / 1e6
    }
}

/// An amount of money in a text, from 0.
pub fn amount(text: &str) -> Option<f64> {
    // `1e9` and `inf` are numbers too, but no price is written so.
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let text = Some(text.trim()).filter(|text| is_plain(text))?;
    text.parse().ok().filter(|amount: &f64| amount.is_finite())
}

/// `1.28`, with as many digits as a small amount needs: `0.00042`.
pub fn shown(money: f64) -> String {
    let money = money.max(0.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_two_amounts_for_all_models_or_for_one() {
        for texts in ["0.30/2.50", "0/0", "1/2/0.1", "m=1/2, a=b=3/4/1,5/6", "publishers/x/m=1/2"] {
            assert!(Prices::read(texts).is_ok(), "{texts}");
        }
        for (texts, says) in [
            ("0.30", "`0.30` is no price"),
            ("", "`` is no price"),
            ("/", "`/` is no price"),
            ("1/", "`1/` is no price"),
            ("-1/2", "`-1/2` is no price"),
            ("1/2/", "`1/2/` is no price"),
            ("1/2/3/4", "`1/2/3/4` is no price"),
            ("1/inf", "`1/inf` is no price"),
            ("1/1e9", "`1/1e9` is no price"),
            ("$1/$2", "`$1/$2` is no price"),
            ("=1/2", "`=1/2` is no price"),
            ("gemini", "`gemini` is no price"),
            ("m=cheap", "`m=cheap` is no price"),
            ("1/2,", "`` is no price"),
            ("1/2,1/2", "there are two prices for all models"),
            ("m=1/2,m=1/3", "there are two prices for `m`"),
        ] {
            assert_eq!(Prices::read(texts), Err(says.to_owned()), "{texts}");
        }
    }

    #[test]
    fn a_model_without_a_price_has_that_of_all_or_none() {
        let prices = Prices::read("1/1,m=2/20").unwrap();
        let cost = |model| prices.of(model).map(|price| price.of_tokens(1_000_000, 500_000, 100_000));
        assert_eq!([cost(Some("m")), cost(Some("m-lite")), cost(None)], [Some(4.0), Some(1.1), Some(1.1)]);
        assert_eq!(Prices::read("m=2/20").unwrap().of(Some("other")), None);
    }

    #[test]
    fn cached_tokens_have_the_price_of_input_or_their_own() {
        let cost = |texts, cached| {
            Prices::read(texts).unwrap().of(None).map(|price| price.of_tokens(1_000_000, cached, 100_000))
        };
        assert_eq!([cost("2/20", 500_000), cost("2/20/0.2", 500_000)], [Some(4.0), Some(3.1)]);
        // More than the whole input, as odd answers have it, is the whole input.
        assert_eq!([cost("2/20/0", 2_000_000), cost("2/20/0", -1)], [Some(2.0), Some(4.0)]);
    }

    #[test]
    fn small_amounts_keep_two_digits() {
        for (money, expected) in [
            (0.0, "0.00"),
            (12.345, "12.35"),
            (0.5, "0.50"),
            (0.042, "0.042"),
            (0.1, "0.10"),
            (0.01, "0.010"),
            (0.000_421, "0.00042"),
        ] {
            assert_eq!(shown(money), expected);
        }
    }
}
