//! Recorded runs in the form of a baseline: how often each case passed in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::time::SystemTime;

use eval_core::report::{MetricOutcome, MetricReport, ScoredMetric};
use eval_format::{Criterion, Direction};
use eval_support::hash::content_hash;
use eval_support::words::{short_code_list, were};

use super::comparable::incomparable;
use super::file::Baseline;
use super::judges::Judges;
use super::line::{Key, Line, MAX_LISTED_RUNS, MetricLine, Provenance, first};
use super::mixed::{Mixed, agent, not_counted, several_agents};
use crate::journal::Evaluation;
use crate::output::time;
use crate::recorded::{LoadedRun, RunCounts, State, TestResult};
use crate::statistics::float;

/// The runs of each case in one or several test runs.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// A line for each case with a run.
    pub cases: Baseline,
    /// Cases that were edited between the test runs: only the runs of the last form count.
    pub edited: Vec<Key>,
    /// Cases that were measured in another way between the test runs: only the last runs count.
    pub mixed: Vec<Mixed>,
    /// The agents that ran each case, as the options of programs name them, if several did.
    pub agents: BTreeMap<Key, BTreeSet<String>>,
    /// The cases that a test runner tried again, because an attempt did not pass. Attempts are no runs: only the first one with a
    /// verdict counts.
    pub retried: Vec<Key>,
    /// The variants of the tests that the test binaries of these runs hold, by test binary.
    functions: BTreeMap<String, BTreeSet<String>>,
    /// The variants of the cases that programs ran, by set and case.
    variants: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Measured {
    /// The cases of which only the last runs count.
    pub fn replaced(&self) -> Vec<Key> {
        self.edited.iter().chain(self.mixed.iter().map(|mixed| &mixed.key)).cloned().collect()
    }

    /// Notes that the runs before do not count, as `now` cannot be compared with them.
    fn replaced_by(&mut self, before: Line, now: &Line) {
        let key = now.key();
        // The runs before are of other agents too.
        self.agents.remove(&key);
        if before.asks != now.asks || before.expects != now.expects {
            self.edited.push(key);
        } else if let Some(why) = incomparable(&before, now) {
            self.mixed.push(Mixed { key, why, before: before.from.runs, now: now.from.runs.clone() });
        }
    }

    /// Whether this case was the case of a test that its test binary no longer holds. A binary that did not run tells nothing.
    pub fn lacks_function(&self, key: &Key) -> bool {
        self.functions.iter().any(|(binary, functions)| {
            let is_of_binary = key.variant.strip_prefix(binary).is_some_and(|rest| rest.starts_with("::"));
            is_of_binary && !functions.contains(&key.variant)
        })
    }

    /// Whether programs ran this case, and none under this label. A case that did not run tells nothing, and neither does a function of
    /// tests.
    pub fn lacks_variant(&self, key: &Key) -> bool {
        let ran = self.variants.get(&(key.set.clone(), key.case.clone()));
        !key.variant.contains("::") && ran.is_some_and(|variants| !variants.contains(&key.variant))
    }
}

/// Remarks on how runs were counted.
pub fn notes(measured: &Measured) -> Vec<String> {
    let named = |keys: &[Key], what: &str| {
        let names: BTreeSet<String> = keys.iter().map(Key::to_string).collect();
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then(|| format!("{} {} {what}", short_code_list(&names), were(names.len())))
    };
    let edited = named(&measured.edited, "edited between the runs: only the last runs count");
    let retried = named(
        &measured.retried,
        "tried again by the test runner: the first attempt with a verdict counts, as attempts are no runs",
    );
    let mixed = not_counted(&measured.mixed);
    let agents = several_agents(&measured.agents);
    edited.into_iter().chain(mixed).chain(agents).chain(retried).collect()
}

/// The checkout of the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its commit.
    pub commit: String,
    /// Whether tracked files differ from the commit; `None` if git does not tell.
    pub is_dirty: Option<bool>,
}

/// Measures test runs of one build together, with the oldest first. `here` tells of the runs of its commit whether tracked files
/// differ from it.
///
/// Cases that come from no file are left out: nothing tells whether they are the same in another build. A case that was skipped has
/// no line.
pub fn measure<'r>(runs: impl IntoIterator<Item = &'r LoadedRun>, here: Option<&Checkout>) -> Measured {
    let mut measured = Measured::default();
    for run in runs {
        for listing in &run.run.listings {
            let binary = binary(listing.package.as_deref(), listing.binary.as_deref());
            let tests = listing.sets.iter().flat_map(|set| &set.tests);
            let functions = tests.filter_map(|test| Some(format!("{binary}::{}", module(test)?)));
            measured.functions.entry(binary.clone()).or_default().extend(functions);
        }
        for test in &TestResult::all(&run.run) {
            let Some(key) = key(test) else { continue };
            let Some(line) = line(&test.first_with_verdict(), &key, run, here) else { continue };
            if test.attempt.started.of_program {
                let case = (key.set.clone(), key.case.clone());
                measured.variants.entry(case).or_default().insert(key.variant.clone());
            }
            if test.retry().is_some() {
                measured.retried.push(key.clone());
            }
            match measured.cases.get(&key) {
                Some(before) if incomparable(before, &line).is_none() => {
                    let pooled = pooled(before.clone(), line);
                    measured.cases.bless([pooled]);
                }
                Some(before) => {
                    measured.replaced_by(before.clone(), &line);
                    measured.cases.bless([line]);
                }
                None => measured.cases.bless([line]),
            }
            if let Some(agent) = agent(test) {
                measured.agents.entry(key).or_default().insert(agent);
            }
        }
    }
    measured.agents.retain(|_, agents| agents.len() > 1);
    measured
}

/// The runs of both lines. A metric that one of them lacks, as all its runs broke, has no score in these.
fn pooled(mut line: Line, mut other: Line) -> Line {
    let without = |line: &Line, of: &MetricLine| MetricLine {
        criterion: of.criterion.clone(),
        judge: None,
        arithmetic: of.arithmetic,
        at_most: of.at_most,
        passed: 0,
        scores: vec![None; line.runs.min(MAX_LISTED_RUNS)],
    };
    for (name, metric) in &line.metrics {
        let empty = without(&other, metric);
        other.metrics.entry(name.clone()).or_insert(empty);
    }
    for (name, metric) in &other.metrics {
        let empty = without(&line, metric);
        line.metrics.entry(name.clone()).or_insert(empty);
    }
    line.runs += other.runs;
    line.passed += other.passed;
    line.errors += other.errors;
    line.pass = other.pass;
    line.failed |= other.failed;
    line.tokens.extend(other.tokens);
    line.seconds.extend(other.seconds);
    line.calls.extend(other.calls);
    for (name, metric) in other.metrics {
        let Some(of) = line.metrics.get_mut(&name) else { continue };
        let judges = [of.judge.take(), metric.judge].into_iter().flatten();
        of.judge = judges.map(|judge| Judges::parse(&judge)).reduce(Judges::and).and_then(|it| it.text());
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

/// The identity of the case of a test; `None` if it comes from no file. It says nothing about what else ran, so that a case is the same
/// in a run of a part.
///
/// One case may be a test of several functions, in several test binaries, so the function belongs to it. A program has a label for
/// that.
pub fn key(test: &TestResult<'_>) -> Option<Key> {
    let started = &test.attempt.started;
    let file = started.file.as_deref()?;
    let function = || {
        let binary = binary(test.test.package(), test.test.binary());
        module(test.test.name()).map_or_else(|| binary.clone(), |module| format!("{binary}::{module}"))
    };
    let variant = match &started.label {
        Some(label) if started.of_program => label.clone(),
        None if started.of_program => String::new(),
        _ => function(),
    };
    let whole = started.set_file.as_deref().map(Path::new).filter(|path| path.is_absolute());
    let set = whole.and_then(|path| relative(path, test.attempt.head.workspace.as_deref()?));
    Some(Key { set: set.unwrap_or_else(|| slashes(Path::new(file))), case: started.eval_id.clone(), variant })
}

/// `package::binary`, also if both names are the same: modules have such names too.
fn binary(package: Option<&str>, binary: Option<&str>) -> String {
    package.into_iter().chain(binary).collect::<Vec<_>>().join("::")
}

/// The path of the function of a test, without its case.
fn module(test: &str) -> Option<&str> {
    test.rsplit_once("::").map(|(module, _)| module)
}

fn relative(path: &Path, workspace: &str) -> Option<String> {
    path.strip_prefix(workspace).ok().map(slashes)
}

/// A path with `/` between its parts, whatever the system, without `.`. `..` takes away the part before it, so that a set has one
/// name wherever it is named from.
fn slashes(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        let is_above = parts.last().is_some_and(|last| last != ".." && last != "/");
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_above => drop(parts.pop()),
            Component::ParentDir if parts.last().is_some_and(|last| last == "/") => {}
            part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/").replacen("//", "/", 1)
}

/// The line of a test. `None` if it was skipped, if it has no run, and if its process was killed. A test that broke before its first
/// run has the runs that were to be, without a verdict.
fn line(test: &TestResult<'_>, key: &Key, run: &LoadedRun, here: Option<&Checkout>) -> Option<Line> {
    let attempt = test.attempt;
    let started = &attempt.started;
    let RunCounts { mut total, judged, passed, .. } = test.runs;
    if total == 0 && test.state.is_unmeasured() {
        total = started.runs;
    }
    attempt.decided.as_ref().filter(|_| test.state != State::Skipped && total > 0)?;
    // A test body may evaluate several times in a run.
    let mut by_run: BTreeMap<usize, Vec<&Evaluation>> = BTreeMap::new();
    for evaluation in &attempt.evaluations {
        by_run.entry(evaluation.ran.run).or_default().push(evaluation);
    }
    let of_runs: Vec<Vec<&Evaluation>> = by_run.into_values().collect();
    let runs = || of_runs.iter().take(MAX_LISTED_RUNS);
    let deciding = test.deciding().filter_map(|metric| Some((metric, metric.criterion.as_ref()?)));
    let metrics =
        deciding.map(|(metric, criterion)| (metric.name.clone(), metric_line(&of_runs, metric, criterion)));
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
        literal: started.literal,
        tools: started.tools.clone(),
        metrics: metrics.collect(),
        tokens: runs().map(|run| tokens(run)).collect(),
        seconds: runs().map(|run| seconds(run)).collect(),
        calls: runs().map(|run| run.iter().map(|it| calls(it)).sum()).collect(),
        from: provenance(test, run, here),
        failed: test.state == State::Failed,
    })
}

fn metric_line<'r>(runs: &[Vec<&'r Evaluation>], report: &MetricReport, criterion: &Criterion) -> MetricLine {
    let scored = |it: &&'r Evaluation| -> Option<&'r ScoredMetric> {
        it.scored.as_ref()?.metrics.iter().find(|metric| metric.name == report.name)
    };
    let of_runs: Vec<Vec<Option<&ScoredMetric>>> =
        runs.iter().map(|run| run.iter().map(scored).collect()).collect();
    let score = |metric: Option<&ScoredMetric>| match &metric?.outcome {
        MetricOutcome::Scored(scores) => scores.overall().filter(|score| score.is_finite()),
        _ => None,
    };
    let mean = |run: &Vec<Option<&ScoredMetric>>| -> Option<f64> {
        let scores: Vec<f64> = run.iter().copied().map(score).collect::<Option<_>>()?;
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / float(scores.len()))
    };
    let passed = |run: &&Vec<Option<&ScoredMetric>>| {
        !run.is_empty() && run.iter().all(|metric| metric.is_some_and(|metric| metric.verdict.passed()))
    };
    let judges = of_runs.iter().flatten().flatten().flat_map(|metric| &metric.judge);
    let mut asked = Judges::default();
    for judge in judges {
        asked.add(&judge.model, judge.questions.iter().filter_map(|question| question.template.as_deref()));
    }
    MetricLine {
        criterion: hash_of_criterion(criterion),
        judge: asked.text(),
        arithmetic: report.arithmetic.unwrap_or_else(first),
        at_most: criterion.direction() == Direction::AtMost,
        passed: of_runs.iter().filter(passed).count(),
        scores: of_runs.iter().take(MAX_LISTED_RUNS).map(mean).collect(),
    }
}

/// A hash of a criterion's values: its layout in the config and the order of its keys do not matter.
fn hash_of_criterion(criterion: &Criterion) -> String {
    // The keys of this map are sorted.
    let options: serde_json::Map<String, serde_json::Value> = criterion.options.clone().into();
    let text = serde_json::json!([criterion.threshold, options]).to_string();
    format!("{:016x}", content_hash(text.as_bytes()))
}

/// The tokens of a run; `None` if an evaluation reports none. The sum saturates, as a journal may hold any numbers.
fn tokens(run: &[&Evaluation]) -> Option<i64> {
    run.iter().try_fold(0_i64, |sum, it| Some(sum.saturating_add(it.ran.tokens?)))
}

fn seconds(run: &[&Evaluation]) -> f64 {
    let turns = run.iter().flat_map(|it| &it.ran.transcript.turns);
    let took: f64 =
        turns.filter_map(|turn| turn.invocation.duration).filter(|seconds| seconds.is_finite()).sum();
    (took * 1000.0).round() / 1000.0
}

fn calls(evaluation: &Evaluation) -> usize {
    let events = evaluation.ran.transcript.turns.iter().flat_map(|turn| &turn.events);
    events.map(|event| event.calls().count()).sum()
}

fn provenance(test: &TestResult<'_>, run: &LoadedRun, here: Option<&Checkout>) -> Provenance {
    let evaluations = test.attempt.evaluations.iter();
    let models: BTreeSet<&str> = evaluations.flat_map(|it| it.ran.transcript.model_names()).collect();
    let head = &test.attempt.head;
    let commit = run.commit();
    // Git tells what differs now, which says nothing about runs of another commit.
    let now = here.filter(|here| commit.as_ref() == Some(&here.commit)).and_then(|here| here.is_dirty);
    // What differed at the beginning may be undone by now.
    let dirty = if head.dirty == Some(true) { head.dirty } else { now };
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
    use eval_core::journal::{SCHEMA, sealed_line};
    use eval_format::Value;
    use serde_json::json;

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
        for (path, expected) in [
            ("./evals/a.json", "evals/a.json"),
            ("evals/a.json", "evals/a.json"),
            ("/x/a.json", "/x/a.json"),
            ("evals/../a.json", "a.json"),
            ("../shop/./evals/a.json", "../shop/evals/a.json"),
            ("x/../../a.json", "../a.json"),
            ("/x/../../a.json", "/a.json"),
        ] {
            assert_eq!(slashes(Path::new(path)), expected);
        }
        assert_eq!(relative(Path::new("/w/evals/a.json"), "/w").as_deref(), Some("evals/a.json"));
        assert_eq!(relative(Path::new("/v/evals/a.json"), "/w"), None);
    }

    /// A run of a test binary in whose first lines are these records, each with its test.
    fn loaded(records: &[serde_json::Value]) -> (tempfile::TempDir, LoadedRun) {
        let folder = tempfile::tempdir().unwrap();
        let head = json!({
            "record": "head", "schema": SCHEMA, "evalset": "0", "run": "r1", "pid": 1, "started": AT, "package": "shop",
            "binary": "evals", "workspace": "/w",
        });
        let lines = std::iter::once(&head).chain(records);
        let text: String = (1..).zip(lines).map(|(number, line)| sealed_line(line, number)).collect();
        std::fs::write(folder.path().join("a-b-1-0.jsonl"), text).unwrap();
        let run = LoadedRun::of_folder("r1".to_owned(), folder.path().to_owned(), false).unwrap();
        (folder, run)
    }

    const AT: &str = "2026-11-22T02:31:07.250Z";

    /// A test with runs that passed or not, as an attempt of the test runner.
    fn attempt(
        test: u32,
        name: &str,
        attempt: u32,
        passed: &[bool],
        verdict: &str,
    ) -> Vec<serde_json::Value> {
        let mut records = vec![json!({
            "record": "started", "test": test, "name": name, "eval_id": "c", "file": "evals/a.json", "asks": "0", "expects": "1",
            "runs": passed.len().max(1), "pass": "mean", "gate": "mean", "attempt": attempt, "at": AT,
        })];
        for (run, passed) in (1..).zip(passed) {
            let verdict = json!({ "is": if *passed { "passed" } else { "failed" } });
            let score = f64::from(u8::from(*passed));
            let outcome = json!({ "scored": { "overall": score, "scores": [{ "value": score }] } });
            let session = json!({ "app_name": "a", "user_id": "u", "session_id": "s" });
            records.push(json!({ "record": "ran", "test": test, "run": run, "evaluation": run,
                "transcript": { "session": session, "turns": [] } }));
            records.push(json!({ "record": "scored", "test": test, "run": run, "evaluation": run,
                "metrics": [{ "name": "m", "outcome": outcome, "verdict": verdict }] }));
        }
        let verdict = match verdict {
            "error" => json!({ "is": "error", "role": "agent", "reason": "503" }),
            "skipped" => json!({ "is": "skipped", "reason": "x" }),
            plain => json!({ "is": plain }),
        };
        let metric = json!({ "name": "m", "criterion": { "threshold": 0.5 }, "scored": 1, "total": 1, "verdict": verdict });
        records.push(json!({ "record": "decided", "test": test, "verdict": verdict, "metrics": [metric], "elapsed": 0.0, "at": AT }));
        records
    }

    fn counts(records: &[serde_json::Value]) -> Vec<(String, usize, usize)> {
        let (_folder, run) = loaded(records);
        measure([&run], None)
            .cases
            .lines()
            .map(|line| (line.variant.clone(), line.passed, line.runs))
            .collect()
    }

    #[test]
    fn a_test_counts_with_its_first_attempt_that_has_a_verdict() {
        let of = |attempts: &[(&[bool], &str)]| {
            let records: Vec<_> = (1..)
                .zip(attempts)
                .flat_map(|(number, (passed, verdict))| attempt(number, "desk::c", number, passed, verdict))
                .collect();
            counts(&records).into_iter().map(|(_, passed, runs)| (passed, runs)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[(&[false], "failed"), (&[true], "passed")]), [(0, 1)]);
        assert_eq!(of(&[(&[], "error"), (&[false], "failed"), (&[true], "passed")]), [(0, 1)]);
        assert_eq!(of(&[(&[true], "passed")]), [(1, 1)]);
    }

    #[test]
    fn a_metric_has_the_number_of_its_arithmetic_and_an_old_record_the_first() {
        let of = |number: Option<u32>| {
            let mut records = attempt(1, "desk::c", 1, &[true], "passed");
            if let (Some(number), Some(decided)) = (number, records.last_mut()) {
                decided["metrics"][0]["arithmetic"] = json!(number);
            }
            let (_folder, run) = loaded(&records);
            measure([&run], None).cases.text().unwrap()
        };
        assert!(!of(None).contains("arithmetic"), "{}", of(None));
        let text = of(Some(2));
        assert!(text.contains(r#""arithmetic": 2, "passed": 1"#), "{text}");
        let [old, new] = [of(None), text].map(|text| Baseline::parse(&text).unwrap());
        let numbers = [&old, &new].map(|side| side.lines().next().unwrap().metrics["m"].arithmetic);
        assert_eq!(numbers, [1, 2]);
        let why = incomparable(old.lines().next().unwrap(), new.lines().next().unwrap());
        assert_eq!(why.as_deref(), Some("`m`: it is computed in another way now"));
    }

    #[test]
    fn a_case_that_was_skipped_or_has_no_run_has_no_line() {
        assert_eq!(counts(&attempt(1, "desk::c", 1, &[true], "skipped")), []);
        assert_eq!(counts(&attempt(1, "desk::c", 1, &[], "passed")), []);
    }

    #[test]
    fn the_variant_of_a_test_does_not_depend_on_what_else_ran() {
        let [one, other] = [1, 2].map(|test| attempt(test, &format!("of_{test}::c"), 1, &[true], "passed"));
        let variants = |records: &[serde_json::Value]| -> Vec<String> {
            counts(records).into_iter().map(|(variant, ..)| variant).collect()
        };
        assert_eq!(variants(&one), ["shop::evals::of_1"]);
        assert_eq!(variants(&[one, other].concat()), ["shop::evals::of_1", "shop::evals::of_2"]);
        // `b` of the unit tests of `a` is another function than `b` of its test binary `a`.
        assert_eq!(binary(Some("a"), Some("a")), "a::a");
    }

    #[test]
    fn sums_of_tokens_saturate_and_unknown_ones_stay_unknown() {
        let mut records = attempt(1, "desk::c", 1, &[true, true], "passed");
        for (record, tokens) in [(1, json!(i64::MAX)), (3, json!(i64::MAX))] {
            records[record]["run"] = json!(1);
            records[record]["tokens"] = tokens;
        }
        records[2]["run"] = json!(1);
        records[4]["run"] = json!(1);
        let of = |records: &[serde_json::Value]| {
            let (_folder, run) = loaded(records);
            measure([&run], None).cases.lines().next().unwrap().tokens.clone()
        };
        assert_eq!(of(&records), [Some(i64::MAX)]);
        records[3]["tokens"] = json!(null);
        assert_eq!(of(&records), [None]);
    }

    #[test]
    fn a_variant_is_gone_only_if_programs_ran_its_case_without_it() {
        let mut records = attempt(1, "desk/c", 1, &[true], "passed");
        (records[0]["of_program"], records[0]["label"]) = (json!(true), json!("model=a"));
        let (_folder, run) = loaded(&records);
        let measured = measure([&run], None);
        for (case, variant, expected) in [
            ("c", "model=a", false),
            ("c", "model=b", true),
            ("c", "", true),
            ("c", "shop::evals::desk", false),
            ("other", "model=b", false),
        ] {
            let key =
                Key { set: "evals/a.json".to_owned(), case: case.to_owned(), variant: variant.to_owned() };
            assert_eq!(measured.lacks_variant(&key), expected, "{case} {variant}");
        }
    }

    #[test]
    fn a_function_is_gone_only_if_its_test_binary_tells_so() {
        let functions =
            BTreeMap::from([("shop::evals".to_owned(), BTreeSet::from(["shop::evals::of_1".to_owned()]))]);
        let measured = Measured { functions, ..Measured::default() };
        for (variant, expected) in [
            ("shop::evals::of_1", false),
            ("shop::evals::of_2", true),
            ("shop::other::of_2", false),
            ("", false),
        ] {
            let key = Key { set: "a".to_owned(), case: "c".to_owned(), variant: variant.to_owned() };
            assert_eq!(measured.lacks_function(&key), expected, "{variant}");
        }
    }
}
