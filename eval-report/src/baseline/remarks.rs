//! Remarks on the two sides of a comparison: an old baseline, other versions, shared runs.

use std::collections::BTreeSet;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, Utc};
use eval_support::untrusted::one_line;
use eval_support::words::{are, count, short_code_list};

use super::file::Baseline;
use super::judges::Judges;

/// A baseline that is older says little about the agent's model of today.
const MAX_DAYS: i64 = 30;

/// A sentence for each difference that has another cause than the build.
pub fn remarks(before: &Baseline, now: &Baseline, today: SystemTime) -> Vec<String> {
    let today = DateTime::<Utc>::from(today).date_naive();
    let days = before.lines().filter_map(|line| line.from.at.parse::<NaiveDate>().ok());
    let old: Vec<NaiveDate> = days.filter(|day| (today - *day).num_days() > MAX_DAYS).collect();
    let mut said = Vec::new();
    if let Some(oldest) = old.iter().min() {
        let lines = count(old.len(), "line");
        said.push(format!(
            "{lines} of the baseline {} over {MAX_DAYS} days old, the oldest of {oldest}: bless a good build again, as models \
             change",
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
            "evalset {} measured before, and {} now: a metric that they compute in different ways is not compared",
            list(of_before),
            list(of_now)
        ));
    }
    said.extend(unknown_prompts(before, now));
    said
}

/// The metrics whose judge was asked on both sides, and of whose prompt a side does not say the version.
fn unknown_prompts(before: &Baseline, now: &Baseline) -> Option<String> {
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    for (old, line) in now.lines().filter_map(|line| Some((before.get(&line.key())?, line))) {
        let judges = |name: &String| Some([&old.metrics.get(name)?.judge, &line.metrics[name].judge]);
        let is_unknown =
            |judge: &Option<String>| judge.as_ref().is_some_and(|it| Judges::parse(it).lacks_prompts());
        let of_both = line.metrics.keys().filter(|name| {
            judges(name)
                .is_some_and(|both| both.iter().all(|it| it.is_some()) && both.into_iter().any(is_unknown))
        });
        metrics.extend(of_both.map(|name| one_line(name)));
    }
    let metrics: Vec<String> = metrics.into_iter().collect();
    (!metrics.is_empty()).then(|| {
        format!(
            "the version of the judge's prompt is not recorded for {}: a change of it would not be seen",
            short_code_list(&metrics)
        )
    })
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
    use crate::baseline::{Line, MetricLine, Provenance};

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
            tools: None,
            failed: false,
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
    fn a_judge_whose_prompt_is_not_known_is_told_with_its_metrics() {
        let today = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 20_780);
        let judged = |judge: Option<&str>| -> Baseline {
            let of_metric = |judge: Option<&str>| MetricLine {
                criterion: "c".to_owned(),
                judge: judge.map(str::to_owned),
                arithmetic: 1,
                at_most: false,
                passed: 1,
                scores: vec![Some(1.0)],
            };
            let with = |line: &Line| Line {
                metrics: BTreeMap::from([
                    ("response_match_score".to_owned(), of_metric(None)),
                    ("safety_v1".to_owned(), of_metric(judge)),
                ]),
                ..line.clone()
            };
            side("0.2.0", "2026-11-23", "r").lines().map(with).collect()
        };
        let told = |before: Option<&str>, now: Option<&str>| remarks(&judged(before), &judged(now), today);
        let (old, new) = (Some("gemini"), Some("gemini safety_v1/2"));
        let says = "the version of the judge's prompt is not recorded for `safety_v1`: a change of it would not be seen";
        for (before, now) in [(old, new), (new, old), (old, old)] {
            assert_eq!(told(before, now), [says]);
        }
        for (before, now) in [(new, new), (None, new), (old, None)] {
            assert_eq!(told(before, now), [""; 0], "{before:?} {now:?}");
        }
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
                "1 line of the baseline is over 30 days old, the oldest of 2026-10-23: bless a good build again, as models \
                 change",
                "evalset 0.1.0 measured before, and 0.2.0 now: a metric that they compute in different ways is not compared",
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
