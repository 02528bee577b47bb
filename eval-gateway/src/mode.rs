//! The variables `EVALSET_MODELS..`: whether recordings or models answer, and the limits of a run that is paid for.

use std::collections::BTreeMap;
use std::env;

use eval_support::price::{self, Prices};
use eval_support::variables::{
    MODELS, MODELS_CALLS, MODELS_COST, MODELS_FAILURES, MODELS_OFFLINE, MODELS_PRICE, MODELS_TOKENS,
    MODELS_TOTAL_CALLS, MODELS_TOTAL_COST, MODELS_TOTAL_TOKENS, MODELS_UNUSED,
};
use eval_support::words::{code_list, quoted_list};

use crate::limits::{Limit, Limits, Total};
use crate::provider::Provider;

/// The values of `EVALSET_MODELS`: whether the recording or the model answers a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ModelMode {
    /// The recording answers. A call that is not recorded is an error of its case.
    Replay,
    /// The recording answers. A call that is not recorded is asked, and the answer is recorded.
    Record,
    /// The model answers. The answers take the place of the case's recording.
    RecordAll,
    /// The agent asks its models itself. Recordings are neither read nor written.
    Live,
    /// The recording answers, also requests that changed since: its answers are put under the new requests.
    Rebind,
}

impl ModelMode {
    const ALL: [(&'static str, Self); 5] = [
        ("replay", Self::Replay),
        ("record", Self::Record),
        ("record-all", Self::RecordAll),
        ("live", Self::Live),
        ("rebind", Self::Rebind),
    ];

    /// Whether answers are written down.
    pub fn records(self) -> bool {
        matches!(self, Self::Record | Self::RecordAll)
    }

    /// Whether recordings are read.
    pub fn reads(self) -> bool {
        matches!(self, Self::Replay | Self::Record | Self::Rebind)
    }

    /// Whether a model may be asked.
    pub fn asks(self) -> bool {
        matches!(self, Self::Record | Self::RecordAll | Self::Live)
    }
}

/// The settings in the variables.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The mode; `None` if no variable says it. Then recordings that exist are replayed.
    pub mode: Option<ModelMode>,
    /// Whether recorded answers that no call asked for are an error.
    pub unused_is_error: bool,
    /// Whether failures that a retry cured are recorded.
    pub keeps_failures: bool,
    /// Whether agents may reach no other host while calls are replayed.
    pub is_offline: bool,
    /// The limits of runs.
    pub limits: Limits,
    /// Spending so far of all conversations under these settings.
    pub total: Total,
    /// The addresses that take the place of the servers of providers.
    pub upstreams: BTreeMap<Provider, String>,
}

impl Settings {
    /// Reads the variables. A value that is not known is an error that names the variable.
    pub fn from_env() -> Result<Self, String> {
        let read = Self::read(|name| env::var(name).ok().filter(|value| !value.is_empty()))?;
        Ok(Self { total: Total::of_process(), ..read })
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let flag = |name: &str, on: &str, off: &str| match get(name).as_deref() {
            None => Ok(false),
            Some(value) if value == off => Ok(false),
            Some(value) if value == on => Ok(true),
            Some(value) => Err(format!("`{name}` is `{value}`; it can be `{on}` or `{off}`")),
        };
        let mode = match get(MODELS) {
            None => None,
            Some(value) => match ModelMode::ALL.iter().find(|(name, _)| *name == value) {
                Some((_, mode)) => Some(*mode),
                None => {
                    let known = quoted_list(&ModelMode::ALL.map(|(name, _)| name));
                    return Err(format!("`{MODELS}` is `{value}`; it can be {known}"));
                }
            },
        };
        let limits = limits(&get)?;
        let set = limits.variables();
        if mode == Some(ModelMode::Live) && !set.is_empty() {
            return Err(format!(
                "{} {} calls that are recorded, and `{MODELS}=live` lets the agent ask its models itself",
                code_list(&set),
                if set.len() == 1 { "limits" } else { "limit" }
            ));
        }
        let is_offline = flag(MODELS_OFFLINE, "1", "0")?;
        if let Some(mode) = mode.filter(|mode| is_offline && mode.asks()) {
            let name = ModelMode::ALL.iter().find(|(_, it)| *it == mode).map_or("", |(name, _)| name);
            return Err(format!(
                "`{MODELS_OFFLINE}=1` lets agents reach no host, and `{MODELS}={name}` asks models"
            ));
        }
        Ok(Self {
            mode,
            unused_is_error: flag(MODELS_UNUSED, "error", "note")?,
            keeps_failures: flag(MODELS_FAILURES, "keep", "drop")?,
            is_offline,
            limits,
            total: Total::default(),
            upstreams: Provider::ALL
                .into_iter()
                .filter_map(|provider| Some((provider, get(provider.upstream_variable())?)))
                .filter(|(_, address)| !address.trim().is_empty())
                .collect(),
        })
    }
}

/// Reads the limits of a run and of all cases. A limited cost needs prices.
fn limits(get: &impl Fn(&str) -> Option<String>) -> Result<Limits, String> {
    let number = |name: &str| match get(name) {
        None => Ok(None),
        Some(value) => match value.trim().parse::<u64>() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(format!("`{name}` is `{value}`; it has to be a whole number from 1")),
        },
    };
    let cost = |name: &str| match get(name) {
        None => Ok(None),
        Some(value) => match price::amount(&value) {
            Some(amount) if amount > 0.0 => Ok(Some(amount)),
            _ => Err(format!("`{name}` is `{value}`; it has to be an amount above 0, such as 2.50")),
        },
    };
    let limit = |calls, tokens, most| {
        Ok::<_, String>(Limit { calls: number(calls)?, tokens: number(tokens)?, cost: cost(most)? })
    };
    let prices = get(MODELS_PRICE).map(|texts| Prices::read(&texts));
    let prices = prices.transpose().map_err(|why| format!("`{MODELS_PRICE}`: {why}; {}", price::HELP))?;
    let limits = Limits {
        of_run: limit(MODELS_CALLS, MODELS_TOKENS, MODELS_COST)?,
        of_all: limit(MODELS_TOTAL_CALLS, MODELS_TOTAL_TOKENS, MODELS_TOTAL_COST)?,
        prices: prices.unwrap_or_default(),
    };
    let limited = [(limits.of_run.cost, MODELS_COST), (limits.of_all.cost, MODELS_TOTAL_COST)];
    match limited.into_iter().find(|(cost, _)| cost.is_some()) {
        Some((_, name)) if limits.prices.is_empty() => {
            Err(format!("`{name}` needs prices: in `{MODELS_PRICE}`, {}", price::HELP))
        }
        _ => Ok(limits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_or_named_with_what_they_can_be() {
        let read = |name: &'static str, value: &'static str| {
            Settings::read(|asked| (asked == name).then(|| value.to_owned()))
        };
        assert!(Settings::read(|_| None).is_ok_and(|it| it.mode.is_none() && it.limits == Limits::default()));
        assert_eq!(read(MODELS, "record-all").map(|it| it.mode), Ok(Some(ModelMode::RecordAll)));
        assert_eq!(read(MODELS_TOKENS, "12").map(|it| it.limits.of_run.tokens), Ok(Some(12)));
        assert!(read(MODELS_UNUSED, "error").is_ok_and(|it| it.unused_is_error));
        let both = |name: &str| match name {
            MODELS => Some("live".to_owned()),
            MODELS_CALLS => Some("9".to_owned()),
            _ => None,
        };
        assert!(
            Settings::read(both).is_err_and(|why| why.contains("`EVALSET_MODELS=live` lets the agent ask"))
        );
        for mode in ["live", "record", "record-all"] {
            let both = |name: &str| match name {
                MODELS => Some(mode.to_owned()),
                MODELS_OFFLINE => Some("1".to_owned()),
                _ => None,
            };
            let why = format!(
                "`EVALSET_MODELS_OFFLINE=1` lets agents reach no host, and `EVALSET_MODELS={mode}` asks models"
            );
            assert_eq!(Settings::read(both).map(drop), Err(why));
        }
        for (name, value, expected) in [
            (
                MODELS,
                "rec",
                "`EVALSET_MODELS` is `rec`; it can be `replay`, `record`, `record-all`, `live` or `rebind`",
            ),
            (MODELS_CALLS, "0", "`EVALSET_MODELS_CALLS` is `0`; it has to be a whole number from 1"),
            (MODELS_UNUSED, "1", "`EVALSET_MODELS_UNUSED` is `1`; it can be `error` or `note`"),
            (
                MODELS_COST,
                "-1",
                "`EVALSET_MODELS_COST` is `-1`; it has to be an amount above 0, such as 2.50",
            ),
        ] {
            assert_eq!(read(name, value).map(drop), Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_limited_cost_needs_prices_that_can_be_read() {
        let read = |cost: &'static str, prices: &'static str| {
            Settings::read(|asked| match asked {
                MODELS_PRICE => Some(prices.to_owned()).filter(|prices| !prices.is_empty()),
                _ => (asked == cost).then(|| "2.50".to_owned()),
            })
        };
        let limits = read(MODELS_TOTAL_COST, "m=1/2, 0.30/2.50").unwrap().limits;
        assert_eq!((limits.of_run.cost, limits.of_all.cost), (None, Some(2.5)));
        assert!(limits.prices.of(Some("other")).is_some());
        for (cost, prices, expected) in [
            (
                MODELS_COST,
                "",
                "`EVALSET_MODELS_COST` needs prices: in `EVALSET_MODELS_PRICE`, write the prices",
            ),
            (MODELS_TOTAL_COST, "", "`EVALSET_MODELS_TOTAL_COST` needs prices"),
            (
                MODELS_COST,
                "cheap",
                "`EVALSET_MODELS_PRICE`: `cheap` is no price; write the prices of a million",
            ),
        ] {
            let error = read(cost, prices).map(drop).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
