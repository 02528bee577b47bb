//! Recorded runs in the form of a baseline: how often each case passed in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path};
use std::time::SystemTime;

use eval_core::report::{MetricOutcome, ScoredMetric};
use eval_format::Criterion;
use eval_support::hash::content_hash;

use super::file::Baseline;
use super::line::{Key, Line, MAX_LISTED_RUNS, MetricLine, Provenance};
use crate::journal::{Evaluation, RecordedTest, revision_of_run};
use crate::output::time;
use crate::recorded::{LoadedRun, RunCounts, TestResult};

/// The runs of each case in one or several test runs.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// A line for each case with a run.
    pub cases: Baseline,
    /// Cases that were edited between the test runs: only the runs of the last form count.
    pub edited: Vec<Key>,
    /// The cases that a test runner tried again, because an attempt did not pass. Attempts are no runs: only the last one
    /// counts.
    pub retried: Vec<Key>,
}

/// Measures test runs of one build together, with the oldest first. `dirty` says whether tracked files differ from the commit.
///
/// Cases that come from no file are left out: nothing tells whether they are the same in another build.
pub fn measure(runs: &[&LoadedRun], dirty: Option<bool>) -> Measured {
    let mut measured = Measured::default();
    for run in runs {
        let tests = TestResult::all(&run.run);
        let variants = variants(&tests);
        for test in &tests {
            let Some(key) = key(test, &variants) else { continue };
            let Some(line) = line(test, &key, run, dirty) else { continue };
            if test.retry().is_some() {
                measured.retried.push(key.clone());
            }
            match measured.cases.get(&key) {
                Some(before) if is_same_case(before, &line) => {
                    let pooled = pooled(before.clone(), line);
                    measured.cases.bless([pooled]);
                }
                before => {
                    measured.edited.extend(before.map(Line::key));
                    measured.cases.bless([line]);
                }
            }
        }
    }
    measured
}

/// The identity of each test that comes from a file.
#[doc(hidden)]
pub fn keys<'t>(tests: &[TestResult<'t>]) -> HashMap<*const RecordedTest, Key> {
    let variants = variants(tests);
    tests.iter().filter_map(|test| Some((std::ptr::from_ref(test.test), key(test, &variants)?))).collect()
}

/// Whether runs of two lines can be counted together.
fn is_same_case(one: &Line, other: &Line) -> bool {
    let criteria = |line: &Line| -> Vec<(String, String, Option<String>)> {
        let of = |(name, metric): (&String, &MetricLine)| {
            (name.clone(), metric.criterion.clone(), metric.judge.clone())
        };
        line.metrics.iter().map(of).collect()
    };
    (&one.asks, &one.expects, &one.gate) == (&other.asks, &other.expects, &other.gate)
        && criteria(one) == criteria(other)
}

fn pooled(mut line: Line, other: Line) -> Line {
    line.runs += other.runs;
    line.passed += other.passed;
    line.errors += other.errors;
    line.pass = other.pass;
    line.tokens.extend(other.tokens);
    line.seconds.extend(other.seconds);
    line.calls.extend(other.calls);
    for (name, metric) in other.metrics {
        let Some(of) = line.metrics.get_mut(&name) else { continue };
        of.passed += metric.passed;
        of.scores.extend(metric.scores);
        of.scores.truncate(MAX_LISTED_RUNS);
    }
    line.tokens.truncate(MAX_LISTED_RUNS);
    line.seconds.truncate(MAX_LISTED_RUNS);
    line.calls.truncate(MAX_LISTED_RUNS);
    let together = |one: Vec<String>, other: Vec<String>| -> Vec<String> {
        one.into_iter().chain(other).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let (from, of) = (line.from, other.from);
    line.from = Provenance {
        evalset: of.evalset,
        commit: of.commit,
        dirty: of.dirty,
        runs: together(from.runs, of.runs),
        models: together(from.models, of.models),
        at: of.at,
    };
    line
}

/// The tests of each case of a set: one case may be a test of several functions.
fn variants<'t>(tests: &[TestResult<'t>]) -> HashMap<(&'t str, &'t str, Option<&'t str>), BTreeSet<&'t str>> {
    let mut variants: HashMap<_, BTreeSet<&str>> = HashMap::new();
    for test in tests {
        let started = &test.attempt.started;
        if let Some(file) = started.file.as_deref() {
            let key = (file, started.eval_id.as_str(), started.label.as_deref());
            variants.entry(key).or_default().insert(test.test.name());
        }
    }
    variants
}

fn key<'t>(
    test: &TestResult<'t>,
    variants: &HashMap<(&'t str, &'t str, Option<&'t str>), BTreeSet<&'t str>>,
) -> Option<Key> {
    let started = &test.attempt.started;
    let file = started.file.as_deref()?;
    let label = started.label.as_deref();
    let is_alone = variants.get(&(file, started.eval_id.as_str(), label)).is_none_or(|tests| tests.len() < 2);
    let parts = [label, Some(test.test.name()).filter(|_| !is_alone)];
    let variant = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let whole = started.set_file.as_deref().map(Path::new).filter(|path| path.is_absolute());
    let set = whole.and_then(|path| relative(path, test.attempt.head.workspace.as_deref()?));
    Some(Key { set: set.unwrap_or_else(|| slashes(Path::new(file))), case: started.eval_id.clone(), variant })
}

fn relative(path: &Path, workspace: &str) -> Option<String> {
    path.strip_prefix(workspace).ok().map(slashes)
}

/// A path with `/` between its parts, whatever the system, without `.`.
fn slashes(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/").replacen("//", "/", 1)
}

/// The line of a test. `None` if no run of it ended, and no error did either: its process was killed.
fn line(test: &TestResult<'_>, key: &Key, run: &LoadedRun, dirty: Option<bool>) -> Option<Line> {
    let attempt = test.attempt;
    let started = &attempt.started;
    let RunCounts { total, judged, passed, .. } = test.runs;
    attempt.decided.as_ref()?;
    let runs = || attempt.evaluations.iter().take(MAX_LISTED_RUNS);
    let deciding =
        test.deciding().filter_map(|metric| Some((metric.name.clone(), metric.criterion.as_ref()?)));
    let metrics = deciding.map(|(name, criterion)| {
        let line = metric_line(&attempt.evaluations, &name, criterion);
        (name, line)
    });
    Some(Line {
        set: key.set.clone(),
        case: key.case.clone(),
        variant: key.variant.clone(),
        asks: started.asks.clone(),
        expects: started.expects.clone(),
        runs: total,
        passed,
        errors: total - judged,
        pass: started.pass.to_string(),
        gate: started.gate.to_string(),
        metrics: metrics.collect(),
        tokens: runs().map(|it| it.ran.tokens).collect(),
        seconds: runs().map(seconds).collect(),
        calls: runs().map(calls).collect(),
        from: provenance(test, run, dirty),
    })
}

fn metric_line(evaluations: &[Evaluation], name: &str, criterion: &Criterion) -> MetricLine {
    let scored = |it: &Evaluation| -> Option<ScoredMetric> {
        it.scored.as_ref()?.metrics.iter().find(|metric| metric.name == name).cloned()
    };
    let of_runs: Vec<Option<ScoredMetric>> = evaluations.iter().map(scored).collect();
    let score = |metric: &Option<ScoredMetric>| match &metric.as_ref()?.outcome {
        MetricOutcome::Scored(scores) => scores.overall().filter(|score| score.is_finite()),
        _ => None,
    };
    let judges = of_runs.iter().flatten().flat_map(|metric| &metric.judge);
    let mut templates: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for judge in judges {
        let known = templates.entry(&judge.model).or_default();
        known.extend(judge.questions.iter().filter_map(|question| question.template.as_deref()));
    }
    let judge = templates
        .into_iter()
        .map(|(model, templates)| [model].into_iter().chain(templates).collect::<Vec<_>>().join(" "));
    let judge = judge.collect::<Vec<_>>().join(", ");
    MetricLine {
        criterion: hash_of_criterion(criterion),
        judge: Some(judge).filter(|judge| !judge.is_empty()),
        passed: of_runs.iter().flatten().filter(|metric| metric.verdict.passed()).count(),
        scores: of_runs.iter().take(MAX_LISTED_RUNS).map(score).collect(),
    }
}

/// A hash of a criterion's values: its layout in the config and the order of its keys do not matter.
fn hash_of_criterion(criterion: &Criterion) -> String {
    // The keys of this map are sorted.
    let options: serde_json::Map<String, serde_json::Value> = criterion.options.clone().into();
    let text = serde_json::json!([criterion.threshold, options]).to_string();
    format!("{:016x}", content_hash(text.as_bytes()))
}

fn seconds(evaluation: &Evaluation) -> f64 {
    let turns = evaluation.ran.transcript.turns.iter();
    let took: f64 =
        turns.filter_map(|turn| turn.invocation.duration).filter(|seconds| seconds.is_finite()).sum();
    (took * 1000.0).round() / 1000.0
}

fn calls(evaluation: &Evaluation) -> usize {
    let events = evaluation.ran.transcript.turns.iter().flat_map(|turn| &turn.events);
    events.map(|event| event.calls().count()).sum()
}

fn provenance(test: &TestResult<'_>, run: &LoadedRun, dirty: Option<bool>) -> Provenance {
    let turns = test.attempt.evaluations.iter().flat_map(|it| &it.ran.transcript.turns);
    let models: BTreeSet<&str> =
        turns.flat_map(|turn| &turn.events).filter_map(|event| event.model_version.as_deref()).collect();
    let head = &test.attempt.head;
    let commit =
        run.folders.iter().find_map(|folder| revision_of_run(folder)).map(|revision| revision.commit);
    Provenance {
        evalset: head.evalset.clone(),
        commit,
        dirty,
        runs: run.run.ids.clone(),
        models: models.into_iter().map(str::to_owned).collect(),
        at: day(head.started),
    }
}

fn day(at: SystemTime) -> String {
    time::iso(at).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use eval_format::Value;

    use super::*;

    #[test]
    fn the_hash_of_a_criterion_is_of_its_values() {
        let of = |criterion: Criterion| hash_of_criterion(&criterion);
        let one = Criterion::new(0.5).with("a", 1).with("b", Value::parse(r#"{"x": 1, "y": 2}"#).unwrap());
        let other = Criterion::new(0.5).with("b", Value::parse(r#"{"y": 2, "x": 1}"#).unwrap()).with("a", 1);
        assert_eq!(of(one.clone()), of(other));
        for changed in
            [Criterion::new(0.6).with("a", 1), Criterion::new(0.5).with("a", 2), Criterion::new(0.5)]
        {
            assert_ne!(of(one.clone()), of(changed));
        }
    }

    #[test]
    fn a_path_has_slashes() {
        for (path, expected) in
            [("./evals/a.json", "evals/a.json"), ("evals/a.json", "evals/a.json"), ("/x/a.json", "/x/a.json")]
        {
            assert_eq!(slashes(Path::new(path)), expected);
        }
        assert_eq!(relative(Path::new("/w/evals/a.json"), "/w").as_deref(), Some("evals/a.json"));
        assert_eq!(relative(Path::new("/v/evals/a.json"), "/w"), None);
    }
}
