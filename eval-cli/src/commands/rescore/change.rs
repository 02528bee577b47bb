//! A metric before and after it was scored again.

use eval_core::report::MetricReport;

use super::rescored::RescoredCase;

/// A metric that can fail a case, before and now. At least one of the two is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    pub(super) name: &'a str,
    /// `None` for a new criterion.
    pub(super) before: Option<&'a MetricReport>,
    /// `None` for a criterion that is gone.
    pub(super) now: Option<&'a MetricReport>,
}

/// The metrics of a case: those of now, then those that are gone.
pub(super) fn changes<'a>(case: &'a RescoredCase<'_>) -> Vec<Change<'a>> {
    let before: Vec<&MetricReport> = case.test.gating().collect();
    let now: Vec<&MetricReport> = case.metrics().iter().filter(|metric| metric.criterion.is_some()).collect();
    let find = |all: &[&'a MetricReport], name: &str| all.iter().find(|metric| metric.name == name).copied();
    let gone = before.iter().filter(|metric| find(&now, &metric.name).is_none());
    let names = now.iter().chain(gone).map(|metric| metric.name.as_str());
    names.map(|name| Change { name, before: find(&before, name), now: find(&now, name) }).collect()
}
