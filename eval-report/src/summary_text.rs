//! Summary of a run in words, shared by several formats.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use eval_core::__private::reads_the_golden;
use eval_core::journal::Decided;
use eval_support::message::{
    NEVER_ASKED_FOR, NO_FAULT, NOTHING_RECORDED, TO_AN_OLDER_REQUEST, changed_parts,
};
use eval_support::untrusted::{guard, headline, one_line};
use eval_support::variables::is_ci;
use eval_support::words::{self, count, short_code_list};
use eval_support::{command, shell};

use crate::output::{CaseOfFile, WARNING, rerun_command, rerun_sets_command, time};
use crate::recorded::{
    Lacking, PassEstimates, Problem, RunCounts, RunResults, RunUsage, State, TestResult, gaps,
};
use crate::statistics::percent;

/// The word for the state of a test. A case that passed although some of its runs did not is flaky.
pub fn word(test: &TestResult<'_>) -> (&'static str, Style) {
    if test.is_in_progress {
        return ("IN WORK", WARNING);
    }
    if test.state == State::Passed && test.runs.are_flaky() { ("FLAKY", WARNING) } else { test.state.label() }
}

/// `2/3 flaky`: runs that passed, of all runs.
pub fn runs(test: &TestResult<'_>) -> String {
    let RunCounts { total, ran, judged, .. } = test.runs;
    let mut text = match total {
        0 => "-".to_owned(),
        _ => test.runs.tally().to_string(),
    };
    if test.runs.are_flaky() {
        text.push_str(" flaky");
    }
    if ran < total {
        text.push_str(&format!(" ({ran}/{total} ran)"));
    } else if judged < total {
        text.push_str(&format!(" ({judged}/{total} {} a verdict)", have(total)));
    }
    text
}

pub fn have(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// `12 cases: 8 passed (1 flaky), 1 failed`.
pub fn counts(results: &RunResults<'_>) -> String {
    let totals = &results.totals;
    let is_flaky = |test: &&TestResult<'_>| test.state == State::Passed && test.runs.are_flaky();
    let flaky = match results.tests.iter().filter(is_flaky).count() {
        0 => String::new(),
        flaky => format!(" ({flaky} flaky)"),
    };
    let mut parts = vec![format!("{} passed{flaky}", totals.passed)];
    for (number, state) in [
        (totals.failed, State::Failed),
        (totals.not_evaluated, State::NotEvaluated),
        (totals.errors, State::Error),
        (totals.unfinished, State::Unfinished),
        (totals.skipped, State::Skipped),
    ] {
        if number > 0 {
            parts.push(format!("{number} {}", state.counted(number)));
        }
    }
    format!("{}: {}", count(totals.cases, "case"), parts.join(", "))
}

/// The numbers of a report that say more than counts: the pass rate, pass@k, and the usage.
pub fn numbers(results: &RunResults<'_>) -> Vec<String> {
    let repetition = results.over_cases.map(|over| repetition(over, results.totals.cases));
    numbers_with(results, repetition)
}

/// The numbers of a report for people who do not know pass@k.
pub fn plain_numbers(results: &RunResults<'_>) -> Vec<String> {
    let repetition = results.over_cases.map(|over| plain_repetition(over, results.totals.cases));
    numbers_with(results, repetition)
}

fn numbers_with(results: &RunResults<'_>, repetition: Option<String>) -> Vec<String> {
    [rate(results), repetition, loosened(results), literal(results), usage(results.totals.usage)]
        .into_iter()
        .flatten()
        .collect()
}

/// ``3 rules of `_expect` in 2 of 40 cases, 1 needed``; `None` if no rule was applied.
fn loosened(results: &RunResults<'_>) -> Option<String> {
    let rules: Vec<_> =
        results.tests.iter().map(TestResult::rules).filter(|rules| !rules.is_empty()).collect();
    let applied = rules.iter().map(Vec::len).sum();
    let needed = rules.iter().flatten().filter(|rule| rule.needed > 0).count();
    let (cases, all) = (rules.len(), count(results.totals.cases, "case"));
    (applied > 0)
        .then(|| format!("{} of `_expect` in {cases} of {all}, {needed} needed", count(applied, "rule")))
}

/// `2 of 40 cases judged as ADK does, without ..`; `None` if each case was judged by its own rules.
fn literal(results: &RunResults<'_>) -> Option<String> {
    let literal = results.tests.iter().filter(|test| test.attempt.started.literal).count();
    let all = count(results.totals.cases, "case");
    (literal > 0).then(|| {
        format!(
            "{literal} of {all} judged as ADK does, without rules of `_expect` and `_criteria` (`--literal`)"
        )
    })
}

fn rate(results: &RunResults<'_>) -> Option<String> {
    let tally = results.totals.tally();
    let (rate, interval) = (tally.rate()?, tally.interval()?);
    let totals = &results.totals;
    let unfinished = if totals.is_running { 0 } else { totals.unfinished };
    let without = match totals.errors + totals.not_evaluated + unfinished {
        0 => String::new(),
        1 => "; 1 without a verdict counts as not passed".to_owned(),
        number => format!("; {number} without a verdict count as not passed"),
    };
    Some(format!(
        "pass rate {tally} = {} of cases{without}; 95% interval for the rate of all such cases: {interval}",
        percent(rate)
    ))
}

fn repetition(over: PassEstimates, of: usize) -> String {
    let PassEstimates { k, pass_at, pass_all, cases } = over;
    let (pass_at, pass_all) = (probability(pass_at), probability(pass_all));
    let (runs, over) = (count(k, "run"), counted_cases(cases, of).unwrap_or_else(|| count(of, "case")));
    let at = format!("pass@{k} {pass_at} (one of {runs} passes)");
    format!("{at}, pass^{k} {pass_all} (all {k} pass): unbiased, mean of {over}")
}

/// `at least one of 5 runs passes: 100%; all 5 runs pass: 80% (pass@5, pass^5)`.
fn plain_repetition(over: PassEstimates, of: usize) -> String {
    let PassEstimates { k, pass_at, pass_all, cases } = over;
    let (pass_at, pass_all) = (percent(pass_at), percent(pass_all));
    let over = counted_cases(cases, of).map(|over| format!("of {over}: ")).unwrap_or_default();
    if k == 1 {
        return format!("{over}a run passes: {pass_at} (pass@1)");
    }
    format!(
        "{over}at least one of {k} runs passes: {pass_at}; all {k} runs pass: {pass_all} (pass@{k}, pass^{k})"
    )
}

/// The cases of a mean that leaves out cases with a run without a verdict; `None` if it has all cases.
fn counted_cases(cases: usize, of: usize) -> Option<String> {
    let all = count(of, "case");
    (cases < of).then(|| format!("the {cases} of {all} whose runs all have a verdict"))
}

/// A probability with two digits after the point, or with as many as it takes to tell it from 0 and 1.
fn probability(of: f64) -> String {
    let told = |text: &String| text.parse::<f64>().is_ok_and(|shown| 0.0 < shown && shown < 1.0);
    let mut with = (2..20).map(|digits| format!("{of:.digits$}"));
    let is_inside = 0.0 < of && of < 1.0;
    with.find(|text| !is_inside || told(text)).unwrap_or_else(|| format!("{of:?}"))
}

fn usage(usage: RunUsage) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(tokens) = usage.agent_tokens {
        parts.push(format!("agent {}", words::tokens(tokens)));
    }
    if usage.asked > 0 {
        let tokens = usage.judge_tokens.map_or_else(|| "unknown tokens".to_owned(), words::tokens);
        parts.push(format!("judges {}{}, {tokens}", count(usage.asked, "question"), answers(usage)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// ` (10 replayed, 2 asked)`: how the questions to judges were answered, as far as the journal tells.
fn answers(usage: RunUsage) -> String {
    let mut parts = Vec::new();
    if let Some(replayed) = usage.replayed() {
        let asked = usage.asked.saturating_sub(replayed).saturating_sub(usage.unanswered);
        parts.extend([format!("{replayed} replayed"), format!("{asked} asked")]);
    }
    if usage.unanswered > 0 {
        parts.push(format!("{} without an answer", usage.unanswered));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The times at which the run began and its tests were built; `None` if the journal does not tell.
pub fn times(results: &RunResults<'_>) -> Option<String> {
    let began = results.times.began.map(|began| format!("began {}", time::shown(began)));
    let built = results.times.built.map(|built| format!("tests built {}", time::shown(built)));
    let times: Vec<String> = [began, built].into_iter().flatten().collect();
    (!times.is_empty()).then(|| times.join(" · "))
}

/// The skipped metrics, each with its number of cases and one reason; `None` if none was skipped.
pub fn skipped(results: &RunResults<'_>) -> Option<String> {
    let mut skipped: BTreeMap<&str, (usize, Cow<'_, str>)> = BTreeMap::new();
    for metric in results.tests.iter().flat_map(TestResult::skipped_metrics) {
        let reason = || headline(metric.verdict.reason().unwrap_or_default());
        skipped.entry(&metric.name).or_insert_with(|| (0, reason())).0 += 1;
    }
    let each = skipped.into_iter().map(|(name, (cases, reason))| {
        format!("`{}` in {} ({})", one_line(name), count(cases, "case"), one_line(&reason))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("skipped, and so not checked: {}", each.join(", ")))
}

/// The reason why calls of models are not recorded, if it is the same one in several cases, and the only one.
fn changed_requests(results: &RunResults<'_>) -> Option<String> {
    let reasons: Vec<String> = results.tests.iter().filter_map(TestResult::reason).collect();
    common_change(reasons.iter().map(String::as_str))
}

fn common_change<'r>(reasons: impl Iterator<Item = &'r str>) -> Option<String> {
    let changed: Vec<&str> = reasons.filter_map(changed_parts).collect();
    let first = changed.first().filter(|first| changed.len() > 1 && changed.iter().all(|it| it == *first))?;
    Some(format!(
        "calls of models are not recorded in {}, and in all of them {} changed; if that is meant, \
         `EVALSET_MODELS=record-all` records these cases again",
        count(changed.len(), "case"),
        one_line(first),
    ))
}

/// The names of the cases of which a run has such a note; `None` if there are none.
fn cases_with(results: &RunResults<'_>, is_it: fn(&str) -> bool) -> Option<String> {
    let says = |test: &&TestResult<'_>| {
        let mut evaluations = test.attempt.evaluations.iter();
        evaluations.any(|it| it.ran.transcript.notes.iter().any(|note| is_it(note)))
    };
    let names: Vec<String> = results.tests.iter().filter(says).map(|test| one_line(&test.name)).collect();
    (!names.is_empty()).then(|| short_code_list(&names))
}

/// The faults of recorded calls of models of cases that may have passed: nothing was recorded, an answer was never
/// asked for, or an answer is to a request that changed.
fn recordings(results: &RunResults<'_>) -> impl Iterator<Item = String> {
    let nothing = cases_with(results, |note| note == NOTHING_RECORDED).map(|names| {
        format!(
            "{NOTHING_RECORDED}, in {names}; is the agent's client given its address, or has it a cache of answers? \
             (`docs/recorded-models.md` has a table of clients)"
        )
    });
    let unused = cases_with(results, |note| note.contains(NEVER_ASKED_FOR)).map(|names| {
        format!(
            "recorded answers of models were not asked for in {names}; `EVALSET_MODELS=record-all` records these cases again, and \
             `EVALSET_MODELS_UNUSED=error` makes it an error"
        )
    });
    let older = cases_with(results, |note| note.ends_with(TO_AN_OLDER_REQUEST)).map(|names| {
        format!(
            "answers of models are to requests that changed since in {names}: what the model says to the new ones is not known; \
             `EVALSET_MODELS=record-all` asks it"
        )
    });
    [nothing, unused, older].into_iter().flatten()
}

/// A fault file that changed nothing in any case.
fn idle_faults(results: &RunResults<'_>) -> Option<String> {
    let note = |test: &TestResult<'_>| {
        let mut evaluations = test.attempt.evaluations.iter().peekable();
        evaluations.peek()?;
        let mut notes =
            evaluations.map(|it| it.ran.transcript.notes.iter().find(|note| note.starts_with(NO_FAULT)));
        let first = notes.next()??;
        notes.all(|note| note.is_some()).then(|| first.clone())
    };
    let notes: Vec<String> = results.tests.iter().map(note).collect::<Option<_>>()?;
    let first = notes.first()?;
    Some(format!(
        "{} in any case: it tested nothing; change the file, or leave `--faults` out",
        one_line(first)
    ))
}

fn repeated(results: &RunResults<'_>) -> Option<String> {
    let was_repeated = |test: &&TestResult<'_>| test.repeated() > 0;
    let names: Vec<String> =
        results.tests.iter().filter(was_repeated).map(|test| one_line(&test.name)).collect();
    let all = count(names.len(), "case");
    (!names.is_empty()).then(|| {
        format!("`retry` repeated runs of {all}, as the agent was not reached: {}", names.join(", "))
    })
}

/// Rules of cases that none of several runs needed: without them the golden values are tested.
fn unneeded_rules(results: &RunResults<'_>) -> Vec<String> {
    const MAX_SHOWN_RULES: usize = 5;
    let of_test = |test: &TestResult<'_>| {
        let name = one_line(&test.name);
        let lines = test.unneeded_rules().into_iter().map(|rule| rule.unneeded());
        lines.map(|line| format!("no run needed a rule of `{name}`, {}", one_line(&line))).collect::<Vec<_>>()
    };
    let mut notes: Vec<String> = results.tests.iter().flat_map(of_test).collect();
    let more = notes.len().saturating_sub(MAX_SHOWN_RULES);
    notes.truncate(MAX_SHOWN_RULES);
    if more > 0 {
        notes.push(format!("no run needed {} either", count(more, "more rule")));
    }
    notes
}

pub fn notes(results: &RunResults<'_>) -> Vec<String> {
    let mut notes: Vec<String> = skipped(results).into_iter().collect();
    if results.totals.retried > 0 {
        notes.push(format!(
            "{} passed only when the runner tried again; retries hide failures, `runs = ..` and `pass = ..` count them",
            count(results.totals.retried, "case")
        ));
    }
    notes.extend(changed_requests(results));
    notes.extend(recordings(results));
    notes.extend(idle_faults(results));
    notes.extend(repeated(results));
    notes.extend(unneeded_rules(results));
    // The missing tests of a run in progress may still begin.
    let has_ended = !results.totals.is_running;
    if has_ended && results.totals.missing > results.of_programs {
        let place = |problem: &Problem| {
            Some(one_line(&format!("{}::{}", problem.package.as_deref()?, problem.binary.as_deref()?)))
        };
        let binaries: BTreeSet<String> = results.problems.iter().filter_map(place).collect();
        let binaries = Vec::from_iter(binaries);
        let of =
            if binaries.is_empty() { String::new() } else { format!(" (of {})", short_code_list(&binaries)) };
        notes.push(format!(
            "`rerun --unfinished` runs what never began{of}; if tests were left out on purpose, `report --partial` says so"
        ));
    }
    if has_ended && results.of_programs > 0 {
        let cases = count(results.of_programs, "case");
        notes.push(format!(
            "a program was to run {cases} more; it ended before, or is still running, and only the program can run them"
        ));
    }
    notes.extend(results.doubts.iter().cloned());
    if results.totals.is_doubtful {
        notes.push(format!(
            "run the tests again, or name the run if it is the one you mean: `{} report {}`",
            command::name(),
            results.loaded.run.ids.first().map(|id| one_line(id)).unwrap_or_default()
        ));
    }
    // An incomplete line of a run in progress may be one that is being written.
    let is_torn = usize::from(results.loaded.run.torn > 0);
    notes.extend(gaps(&results.loaded.run).into_iter().skip(if has_ended { 0 } else { is_torn }));
    notes
}

/// The output of a test; its reason and location if it printed nothing.
pub fn details(test: &TestResult<'_>) -> String {
    match &test.attempt.decided {
        Some(Decided { failure: Some(failure), .. }) => guard(failure.trim_end()).into_owned(),
        _ => {
            let location =
                test.location().map(|location| format!("\n  --> {}", one_line(&location.to_string())));
            format!("{}{}", one_line(&test.reason().unwrap_or_default()), location.unwrap_or_default())
        }
    }
}

/// Whether a golden in a file may be what keeps its case from passing.
pub(crate) fn may_be_out_of_date(test: &TestResult<'_>) -> bool {
    let Some(decided) = &test.attempt.decided else { return false };
    // If some runs passed, they differ, and none of them is the one to expect.
    let is_stable = test.runs.total == 1 || test.runs.passed == 0;
    is_stable
        && test.attempt.started.file.is_some()
        && !decided.as_expected
        && reads_the_golden(&decided.verdict, &decided.metrics)
}

/// The command that makes what happened the draft of a new golden of a case; `None` for cases of tests, whose output has it.
pub fn new_golden(results: &RunResults<'_>, test: &TestResult<'_>) -> Option<String> {
    let [id] = results.loaded.run.ids.as_slice() else { return None };
    // The runs of other cases are refused: they differ, or a secret would be masked.
    let can_replace = test.attempt.decided.as_ref().is_some_and(|decided| !decided.keeps_golden);
    let is_asked = test.attempt.started.of_program
        && results.loaded.is_recorded()
        && can_replace
        && may_be_out_of_date(test);
    let case = || shell::word(&format!("{id}:{}", test.name));
    is_asked.then(|| format!("{} import {} --replace", command::name(), case()))
}

/// The command that reviews these cases of a program; `None` if one of them has another cause than its golden.
pub fn review_of(results: &RunResults<'_>, tests: &[&TestResult<'_>]) -> Option<String> {
    let [id] = results.loaded.run.ids.as_slice() else { return None };
    let may_review = |test: &&TestResult<'_>| test.attempt.started.of_program && may_be_out_of_date(test);
    if !results.loaded.is_recorded() || !tests.iter().all(may_review) {
        return None;
    }
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for started in tests.iter().map(|test| &test.attempt.started) {
        sets.entry(started.file.as_deref()?).or_default().push(&started.eval_id);
    }
    let cases = sets.into_iter().map(|(set, cases)| shell::word(&format!("{set}:{}", cases.join(","))));
    let cases: Vec<String> = cases.collect();
    Some(format!("{} review {} --run {}", command::name(), cases.join(" "), shell::word(id)))
}

/// The line with the command that reviews goldens which may be out of date, one by one; `None` if there are none, and in CI, where
/// no person can be asked. `is_last` says that the run is the last one, which needs no name.
pub fn review(results: &RunResults<'_>, is_last: bool) -> Option<String> {
    let [_] = results.loaded.run.ids.as_slice() else { return None };
    let is_asked = !is_ci() && results.loaded.is_recorded() && results.tests.iter().any(may_be_out_of_date);
    let run = results.loaded.args();
    let named = if is_last || run.is_empty() { String::new() } else { format!(" --run {}", run.trim_end()) };
    is_asked.then(|| format!("review        {} review{named}\n", command::name()))
}

/// A command that runs cases again.
#[derive(Clone, Debug)]
pub struct Again<'r> {
    pub command: String,
    /// Whether it runs cases of a program.
    pub of_program: bool,
    /// The missing answers that it records beside.
    pub lacking: Lacking,
    /// The files of the sets that it runs whole; empty if it names its cases.
    pub sets: BTreeSet<&'r str>,
}

pub fn rerun<'r>(results: &'r RunResults<'_>) -> Vec<Again<'r>> {
    let run = results.loaded.args();
    // Cases of programs are not tests: `cargo evalset run` runs its own cases again.
    let of_tests = |state| {
        let tests = results.tests.iter().filter(|test| !test.attempt.started.of_program);
        tests.filter(|test| test.state == state).count()
    };
    let mut commands = Vec::new();
    let unfinished = of_tests(State::Unfinished) + results.totals.missing.saturating_sub(results.of_programs);
    for (number, flag) in [
        (of_tests(State::Failed), "failed"),
        (of_tests(State::Error) + of_tests(State::NotEvaluated), "errors"),
        (if results.totals.is_running { 0 } else { unfinished }, "unfinished"),
    ] {
        if number > 0 {
            let is_run = |test: &&TestResult<'_>| {
                let is_error = matches!(test.state, State::Error | State::NotEvaluated);
                flag == "errors" && is_error && !test.attempt.started.of_program
            };
            let lacking = Lacking::of_all(results.tests.iter().filter(is_run).map(TestResult::lacking));
            let command = lacking.recorded_by(&format!("{} rerun {run}--{flag}", command::name()));
            commands.push(Again { command, of_program: false, lacking, sets: BTreeSet::new() });
        }
    }
    commands.extend(rerun_of_programs(results));
    commands
}

/// The commands that run again the cases of programs that did not pass, for programs that recorded how.
pub fn rerun_of_programs<'r>(results: &'r RunResults<'_>) -> Vec<Again<'r>> {
    let mut programs: BTreeMap<&[String], (Vec<CaseOfFile<'_>>, Vec<&TestResult<'_>>)> = BTreeMap::new();
    for test in results.needing_attention().filter(|test| test.attempt.started.of_program) {
        let started = &test.attempt.started;
        if let (Some(again), Some(file)) = (&test.attempt.head.again, started.file.as_deref()) {
            let (cases, tests) = programs.entry(again).or_default();
            cases.push((file, &started.eval_id));
            tests.push(test);
        }
    }
    for (again, case) in unbegun(results) {
        programs.entry(again).or_default().0.push(case);
    }
    let commands = programs.into_iter().map(|(options, (cases, tests))| {
        let lacking = Lacking::of_all(tests.into_iter().map(TestResult::lacking));
        let is_whole = cases.len() > MAX_NAMED_CASES;
        let sets: BTreeSet<&str> = cases.iter().filter(|_| is_whole).map(|(file, _)| *file).collect();
        let command = if is_whole {
            rerun_sets_command(options, sets.iter().copied())
        } else {
            rerun_command(options, cases)
        };
        Again { command: lacking.recorded_by(&command), of_program: true, lacking, sets }
    });
    commands.collect()
}

/// The cases of programs that never began, with the options of their program. Their journal names sets by their ids: the file is
/// known if another case of the set began.
fn unbegun<'r>(results: &'r RunResults<'_>) -> Vec<(&'r [String], CaseOfFile<'r>)> {
    let missing = results.loaded.run.never_began.iter().filter(|_| !results.totals.is_running);
    let begun = results.tests.iter().filter(|test| test.attempt.started.of_program);
    let mut sets: BTreeMap<&str, (&[String], &str)> = BTreeMap::new();
    for test in begun {
        let started = &test.attempt.started;
        let set = started.name.strip_suffix(started.eval_id.as_str());
        if let (Some(set), Some(again), Some(file)) = (set, &test.attempt.head.again, started.file.as_deref())
        {
            sets.insert(set, (again, file));
        }
    }
    let named = |name: &'r String| {
        let of_set = |(set, (again, file)): (&&str, &(&'r [String], &'r str))| {
            Some((*again, (*file, name.strip_prefix(*set)?)))
        };
        sets.iter().find_map(of_set)
    };
    missing.filter_map(named).collect()
}

/// The most cases that a command names. For more cases it names whole sets, to stay readable.
pub(crate) const MAX_NAMED_CASES: usize = 30;

#[cfg(test)]
mod tests {
    use eval_support::message::changed_call;

    use super::*;

    #[test]
    fn questions_to_judges_are_told_with_how_they_were_answered() {
        let usage_of = |agent_tokens, judge_tokens, asked, unanswered| {
            let mut usage = RunUsage::default();
            (usage.agent_tokens, usage.judge_tokens) = (agent_tokens, judge_tokens);
            (usage.asked, usage.unanswered) = (asked, unanswered);
            usage
        };
        for (given, said) in [
            (usage_of(None, None, 0, 0), None),
            (usage_of(Some(12), None, 0, 0), Some("agent 12 tokens")),
            (
                usage_of(Some(1), None, 1, 1),
                Some(
                    "agent 1 token; judges 1 question (0 replayed, 0 asked, 1 without an answer), unknown tokens",
                ),
            ),
            (
                usage_of(None, Some(7), 3, 1),
                Some("judges 3 questions (0 replayed, 2 asked, 1 without an answer), 7 tokens"),
            ),
            (usage_of(None, Some(7), 3, 0), Some("judges 3 questions (0 replayed, 3 asked), 7 tokens")),
        ] {
            assert_eq!(usage(given).as_deref(), said);
        }
    }

    #[test]
    fn one_thing_has_another_verb() {
        assert_eq!([0, 1, 2].map(have), ["have", "has", "have"]);
    }

    #[test]
    fn the_repetition_of_runs_is_told_in_plain_words() {
        for (k, pass_at, pass_all, said) in [
            (5, 1.0, 0.8, "at least one of 5 runs passes: 100%; all 5 runs pass: 80% (pass@5, pass^5)"),
            (1, 0.5, 0.5, "a run passes: 50% (pass@1)"),
        ] {
            let over = PassEstimates { k, pass_at, pass_all, cases: 4 };
            assert_eq!(plain_repetition(over, 4), said);
            let of_some = format!("of the 4 of 5 cases whose runs all have a verdict: {said}");
            assert_eq!(plain_repetition(over, 5), of_some);
        }
    }

    #[test]
    fn calls_that_changed_in_one_way_are_one_note() {
        let line = |parts: &str| {
            format!("recording error in turn 1: {}", changed_call("call 1 of a model (gemini, g)", parts))
        };
        let of = |parts: &[&str]| {
            let lines: Vec<String> =
                parts.iter().map(|part| line(part)).chain(["another error".to_owned()]).collect();
            common_change(lines.iter().map(String::as_str))
        };
        let told = of(&["the system prompt", "the system prompt"]).unwrap();
        assert!(
            told.starts_with(
                "calls of models are not recorded in 2 cases, and in all of them the system prompt changed"
            ),
            "{told}"
        );
        assert_eq!(of(&["the system prompt", "the tools"]), None);
        assert_eq!(of(&["the system prompt"]), None);
    }

    #[test]
    fn a_probability_never_looks_like_certainty() {
        for (of, shown) in [(0.0, "0.00"), (0.5, "0.50"), (0.999, "0.999"), (1.0, "1.00"), (1e-6, "0.000001")]
        {
            assert_eq!(probability(of), shown);
        }
    }
}
