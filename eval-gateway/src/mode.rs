//! The variables `EVALSET_MODELS..`: whether recordings or models answer, and the limits of a run that is paid for.

use std::collections::BTreeMap;
use std::env;

use eval_support::variables::{
    MODELS, MODELS_CALLS, MODELS_FAILURES, MODELS_OFFLINE, MODELS_TOKENS, MODELS_UNUSED,
};
use eval_support::words::quoted_list;

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

/// What the variables say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The mode; `None` if no variable says it. Then recordings that exist are replayed.
    pub mode: Option<ModelMode>,
    /// Whether recorded answers that no call asked for are an error.
    pub unused_is_error: bool,
    /// Whether failures that a retry cured are recorded.
    pub keeps_failures: bool,
    /// Whether agents may reach no other host while calls are replayed.
    pub is_offline: bool,
    /// The limits of a run.
    pub limits: Limits,
    /// The addresses that take the place of the servers of providers.
    pub upstreams: BTreeMap<Provider, String>,
}

/// Limits of what a run of a case may ask models for. They hold before a call is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most calls.
    pub calls: Option<u64>,
    /// The most tokens, by what the answers say.
    pub tokens: Option<u64>,
}

impl Settings {
    /// Reads the variables. A value that is not known is an error that names the variable.
    pub fn from_env() -> Result<Self, String> {
        Self::read(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let flag = |name: &str, on: &str, off: &str| match get(name).as_deref() {
            None => Ok(false),
            Some(value) if value == off => Ok(false),
            Some(value) if value == on => Ok(true),
            Some(value) => Err(format!("`{name}` is `{value}`; it can be `{on}` or `{off}`")),
        };
        let number = |name: &str| match get(name) {
            None => Ok(None),
            Some(value) => match value.trim().parse::<u64>() {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(format!("`{name}` is `{value}`; it has to be a whole number from 1")),
            },
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
        let limits = Limits { calls: number(MODELS_CALLS)?, tokens: number(MODELS_TOKENS)? };
        if mode == Some(ModelMode::Live) && limits != Limits::default() {
            return Err(format!(
                "`{MODELS_CALLS}` and `{MODELS_TOKENS}` limit calls that are recorded, and `{MODELS}=live` lets the agent ask its \
                 models itself"
            ));
        }
        Ok(Self {
            mode,
            unused_is_error: flag(MODELS_UNUSED, "error", "note")?,
            keeps_failures: flag(MODELS_FAILURES, "keep", "drop")?,
            is_offline: flag(MODELS_OFFLINE, "1", "0")?,
            limits,
            upstreams: Provider::ALL
                .into_iter()
                .filter_map(|provider| Some((provider, get(provider.upstream_variable())?)))
                .filter(|(_, address)| !address.trim().is_empty())
                .collect(),
        })
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
        assert_eq!(Settings::read(|_| None), Ok(Settings::default()));
        assert_eq!(read(MODELS, "record-all").map(|it| it.mode), Ok(Some(ModelMode::RecordAll)));
        assert_eq!(read(MODELS_TOKENS, "12").map(|it| it.limits.tokens), Ok(Some(12)));
        assert!(read(MODELS_UNUSED, "error").is_ok_and(|it| it.unused_is_error));
        let both = |name: &str| match name {
            MODELS => Some("live".to_owned()),
            MODELS_CALLS => Some("9".to_owned()),
            _ => None,
        };
        assert!(
            Settings::read(both).is_err_and(|why| why.contains("`EVALSET_MODELS=live` lets the agent ask"))
        );
        for (name, value, expected) in [
            (
                MODELS,
                "rec",
                "`EVALSET_MODELS` is `rec`; it can be `replay`, `record`, `record-all`, `live` or `rebind`",
            ),
            (MODELS_CALLS, "0", "`EVALSET_MODELS_CALLS` is `0`; it has to be a whole number from 1"),
            (MODELS_UNUSED, "1", "`EVALSET_MODELS_UNUSED` is `1`; it can be `error` or `note`"),
        ] {
            assert_eq!(read(name, value), Err(expected.to_owned()));
        }
    }
}
