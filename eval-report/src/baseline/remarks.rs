//! Remarks on the two sides of a comparison: an old baseline, other versions, shared runs.

use std::collections::BTreeSet;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, Utc};
use eval_support::untrusted::one_line;
use eval_support::words::{are, count, short_code_list};

use super::file::Baseline;

/// A baseline that is older says little about the agent's model of today.
const MAX_DAYS: i64 = 30;

/// A sentence for each thing that may explain a difference, and is none of the build.
pub fn remarks(before: &Baseline, now: &Baseline, today: SystemTime) -> Vec<String> {
    let today = DateTime::<Utc>::from(today).date_naive();
    let days = before.lines().filter_map(|line| line.from.at.parse::<NaiveDate>().ok());
    let old: Vec<NaiveDate> = days.filter(|day| (today - *day).num_days() > MAX_DAYS).collect();
    let mut said = Vec::new();
    if let Some(oldest) = old.iter().min() {
        let lines = count(old.len(), "line");
        said.push(format!(
            "{lines} of the baseline {} over {MAX_DAYS} days old, the oldest of {oldest}: models change meanwhile, so bless a good \
             build again",
            are(old.len())
        ));
    }
    let [of_before, of_now] = [before, now].map(|side| -> BTreeSet<&str> {
        let versions = side.lines().map(|line| line.from.evalset.as_str());
        versions.filter(|version| !version.is_empty()).collect()
    });
    if !of_before.is_empty() && !of_now.is_empty() && of_before != of_now {
        let list = |versions: BTreeSet<&str>| -> String {
            versions.into_iter().map(one_line).collect::<Vec<_>>().join(", ")
        };
        said.push(format!(
            "evalset {} measured before, and {} now: a metric may be computed in another way",
            list(of_before),
            list(of_now)
        ));
    }
    said
}

/// A doubt if a test run is on both sides: runs that are compared with themselves show no drop.
pub fn shared_runs(before: &Baseline, now: &Baseline) -> Option<String> {
    let [of_before, of_now] = [before, now]
        .map(|side| -> BTreeSet<&String> { side.lines().flat_map(|line| &line.from.runs).collect() });
    let both: Vec<String> = of_before.intersection(&of_now).map(|id| one_line(id)).collect();
    (!both.is_empty()).then(|| {
        format!(
            "{} {} on both sides, and a run that is compared with itself shows no drop: run the cases again",
            short_code_list(&both),
            are(both.len())
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::baseline::{Line, Provenance};

    fn side(evalset: &str, at: &str, run: &str) -> Baseline {
        let line = Line {
            set: "a".to_owned(),
            case: "c".to_owned(),
            variant: String::new(),
            asks: String::new(),
            expects: String::new(),
            runs: 1,
            passed: 1,
            errors: 0,
            pass: String::new(),
            gate: String::new(),
            literal: false,
            metrics: BTreeMap::new(),
            tokens: Vec::new(),
            seconds: Vec::new(),
            calls: Vec::new(),
            from: Provenance {
                evalset: evalset.to_owned(),
                at: at.to_owned(),
                runs: vec![run.to_owned()],
                ..Provenance::default()
            },
        };
        [line].into_iter().collect()
    }

    #[test]
    fn an_old_baseline_another_version_and_runs_on_both_sides_are_told() {
        // 2026-11-23
        let today = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 20_780);
        let now = side("0.2.0", "2026-11-23", "r2");
        assert_eq!(remarks(&side("0.2.0", "2026-10-24", "r1"), &now, today), [""; 0]);
        assert_eq!(remarks(&side("0.2.0", "no day", "r1"), &now, today), [""; 0]);
        let old = remarks(&side("0.1.0", "2026-10-23", "r1"), &now, today);
        assert_eq!(
            old,
            [
                "1 line of the baseline is over 30 days old, the oldest of 2026-10-23: models change meanwhile, so bless a good build \
                 again",
                "evalset 0.1.0 measured before, and 0.2.0 now: a metric may be computed in another way",
            ]
        );
        assert_eq!(shared_runs(&side("", "", "r1"), &now), None);
        assert_eq!(
            shared_runs(&side("", "", "r2"), &now).as_deref(),
            Some(
                "`r2` is on both sides, and a run that is compared with itself shows no drop: run the cases again"
            )
        );
    }
}
