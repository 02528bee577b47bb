//! The category of a case in a comparison.

use serde::Serialize;

/// The category of a case. Each case of either side has exactly one: the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Category {
    /// Its runs show that it is worse.
    Regressed,
    /// It passed more than half of its runs before and none now, which its runs do not show.
    NewlyFailing,
    /// It has no verdict now, and had one before.
    ErrorNow,
    /// A smaller share of its runs passed, which its runs do not show.
    Fell,
    /// Something in it changed, so that its runs say nothing about the build.
    Incomparable,
    /// Only the first side has it: it was removed, or did not run.
    OnlyBefore,
    /// It has no verdict on either side.
    NoVerdict,
    /// It had no verdict before, and has one now.
    Recovered,
    /// It passed none of its runs before and more than half now, which its runs do not show.
    NewlyPassing,
    /// A greater share of its runs passed, which its runs do not show.
    Rose,
    /// Its runs show that it is better.
    Improved,
    /// Only the second side has it.
    OnlyNow,
    /// The same share of its runs passed.
    Same,
}

/// The heading of cases with the same verdict of which fewer runs passed a metric.
pub const METRIC_FELL: &str = "same verdict, but fewer runs passed a metric";

impl Category {
    /// All categories, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::Regressed,
        Self::NewlyFailing,
        Self::ErrorNow,
        Self::Fell,
        Self::Incomparable,
        Self::OnlyBefore,
        Self::NoVerdict,
        Self::Recovered,
        Self::NewlyPassing,
        Self::Rose,
        Self::Improved,
        Self::OnlyNow,
        Self::Same,
    ];

    /// Its name in JSON, and of its filter on a page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::NewlyFailing => "newly_failing",
            Self::ErrorNow => "error_now",
            Self::Fell => "fell",
            Self::Incomparable => "incomparable",
            Self::OnlyBefore => "only_before",
            Self::NoVerdict => "no_verdict",
            Self::Recovered => "recovered",
            Self::NewlyPassing => "newly_passing",
            Self::Rose => "rose",
            Self::Improved => "improved",
            Self::OnlyNow => "only_now",
            Self::Same => "same",
        }
    }

    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::NewlyFailing => "newly failing",
            Self::ErrorNow => "error now",
            Self::Fell => "fell",
            Self::Incomparable => "incomparable",
            Self::OnlyBefore => "only before",
            Self::NoVerdict => "no verdict",
            Self::Recovered => "recovered",
            Self::NewlyPassing => "newly passing",
            Self::Rose => "rose",
            Self::Improved => "improved",
            Self::OnlyNow => "only now",
            Self::Same => "same",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_has_one_name_in_json_and_on_pages() {
        for category in Category::ALL {
            assert_eq!(serde_json::json!(category), category.name());
            assert_eq!(category.name().replace('_', " "), category.words());
        }
        assert!(Category::ALL.is_sorted());
    }
}
