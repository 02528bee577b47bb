//! The model of the page. Texts are plain: [`text`](super::text()) and [`line`](super::line) made them safe to read.

use serde::Serialize;

use super::details::CaseDetails;
use super::plot::{Histogram, PassRate, Scatter, Spark};

#[derive(Clone, Debug, Default)]
pub struct PageModel {
    pub title: String,
    /// The outcome in a word: `failed`.
    pub outcome: String,
    pub reason: String,
    pub counts: Vec<Count>,
    pub about: String,
    pub facts: Vec<Fact>,
    /// The facts that identify the run at a glance.
    pub glance: Vec<Fact>,
    pub rerun: Vec<String>,
    /// The pass rate, pass@k and the usage, each in a sentence.
    pub numbers: Vec<String>,
    pub notes: Vec<String>,
    pub histograms: Vec<Histogram>,
    /// The pass rate of the last runs; `None` if there is no run before this one.
    pub pass_rate: Option<PassRate>,
    pub scatters: Vec<Scatter>,
    /// The cases. Cases that need attention come first.
    pub cases: Vec<CaseRow>,
}

const MAX_OPEN_PLOTS: usize = 4;

impl PageModel {
    /// The plots of metrics that are visible at first, and the others. If there are many plots, the others
    /// are the plots of metrics that failed no case.
    pub fn plots(&self) -> (&[Histogram], &[Histogram]) {
        let failing = self.histograms.iter().filter(|plot| plot.below > 0).count();
        let first = if self.histograms.len() <= MAX_OPEN_PLOTS { MAX_OPEN_PLOTS } else { failing.max(1) };
        self.histograms.split_at(first.min(self.histograms.len()))
    }

    pub fn has_costs(&self) -> bool {
        self.cases.iter().any(|case| case.cost.is_some())
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The filter's name in the script: `failed`.
    pub filter: &'static str,
    pub name: &'static str,
    pub cases: usize,
}

/// A fact about the run; without a value if the journal does not record it.
#[derive(Clone, Debug)]
pub struct Fact {
    pub name: &'static str,
    pub value: Option<String>,
}

impl Fact {
    pub fn is_wide(&self) -> bool {
        self.value.as_ref().is_some_and(|value| value.contains('\n'))
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseRow {
    /// The name of the case in links.
    pub anchor: String,
    /// The filters that show it, separated by spaces.
    pub filters: String,
    /// Runs that passed, of all runs.
    pub runs: String,
    /// A remark on the runs: `flaky`.
    pub of_runs: Option<String>,
    pub pills: Vec<Pill>,
    pub tokens: Option<String>,
    /// In the currency of the prices; `None` without prices.
    pub cost: Option<String>,
    pub time: Option<String>,
    pub spark: Option<Spark>,
    pub details: CaseDetails,
}

#[derive(Clone, Debug, Serialize)]
pub struct Pill {
    pub name: String,
    pub state: &'static str,
    pub score: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plots_of_metrics_that_failed_cases_are_in_sight() {
        let plots = |below: &[usize]| {
            let plot = |below: &usize| {
                let bound = Some(eval_format::Bound::at_least(0.5));
                let failing = (0..*below).map(|_| (0.1, bound));
                Histogram::new("m".to_owned(), &failing.chain([(0.9, bound)]).collect::<Vec<_>>())
                    .expect("a plot")
            };
            let model = PageModel { histograms: below.iter().map(plot).collect(), ..PageModel::default() };
            let (first, others) = model.plots();
            (first.len(), others.len())
        };
        for (below, expected) in [
            (&[][..], (0, 0)),
            (&[2, 1, 0], (3, 0)),
            (&[0, 0, 0, 0], (4, 0)),
            (&[2, 1, 0, 0, 0], (2, 3)),
            (&[0, 0, 0, 0, 0], (1, 4)),
            (&[1, 1, 1, 1, 1, 1], (6, 0)),
        ] {
            assert_eq!(plots(below), expected, "{below:?}");
        }
    }

    #[test]
    fn a_fact_of_several_lines_is_wide() {
        let is_wide = |value: Option<&str>| Fact { name: "Sets", value: value.map(str::to_owned) }.is_wide();
        assert_eq!((is_wide(Some("a\nb")), is_wide(Some("a")), is_wide(None)), (true, false, false));
    }
}
