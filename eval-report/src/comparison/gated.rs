//! The verdict of a gate on a build, and its sentences.

use std::collections::HashSet;

use eval_support::untrusted::one_line;
use eval_support::words::{are, count, short_code_list};

use super::category::Category;
use super::compared::{ComparedCase, Comparison};
use super::pair::metrics_that_fell;
use super::power::Power;
use crate::baseline::Line;
use crate::decide::gate::{Counts, GateVerdict};
use crate::output::Outcome;
use crate::statistics::{PassCount, percent};

/// A comparison with the verdict of a gate. `Display` prints what `cargo evalset gate` prints.
///
/// [`Diff::gate`](super::Diff::gate) has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gated {
    /// The comparison.
    pub comparison: Comparison,
    /// The verdict.
    pub verdict: GateVerdict,
    /// The sentences that give the reasons, the first one first.
    pub reasons: Vec<String>,
    /// Remarks for the reader beside them.
    pub notes: Vec<String>,
    /// The drops that a gate without one would find; `None` for other verdicts, and without a compared case.
    pub power: Option<Power>,
    /// Whether suspects were run again.
    is_retried: bool,
}

/// A gate that finds a dead case in fewer builds is told how to find it in more.
const GOOD_POWER: f64 = 0.9;

/// The input of a gate beside the runs.
#[derive(Clone, Debug, Default)]
pub struct GateOptions {
    /// Whether cases of the baseline may be missing now.
    pub allow_removed: bool,
    /// Whether suspects are run again.
    pub retried: bool,
    /// Reasons why the runs may not be all runs of this build, or not of this build at all.
    pub doubts: Vec<String>,
    /// Limits of which nothing tells whether they are broken, a sentence each.
    pub unknown: Vec<String>,
    /// Remarks for the reader beside the reasons.
    pub notes: Vec<String>,
    /// Limits that are broken, a sentence each: the build fails whatever the comparison says, if it is the build that is meant.
    pub broken: Vec<String>,
}

impl Gated {
    /// Decides. A regression that is shown counts whatever else is unknown, but for doubts that the runs are of this build, and all
    /// of them: then it is told beside them.
    #[doc(hidden)]
    pub fn new(comparison: Comparison, options: &GateOptions) -> Self {
        let decision = &comparison.decision;
        let named =
            |category| -> Vec<String> { comparison.of(category).map(|case| case.key.to_string()).collect() };
        let (removed, broken) = (named(Category::OnlyBefore), named(Category::ErrorNow));
        let untested = Untested::new(&comparison);
        let mut notes = options.notes.clone();
        let mut worse = options.broken.clone();
        worse.extend(regressions(&comparison));
        let mut reasons: Vec<String> = Vec::new();
        let verdict = if !options.doubts.is_empty() {
            reasons.extend(options.doubts.iter().cloned());
            reasons.extend(worse.iter().map(|why| format!("what ran would be a regression: {why}")));
            GateVerdict::Unmeasurable
        } else if !worse.is_empty() {
            reasons = worse;
            notes.extend(options.unknown.iter().cloned());
            GateVerdict::Regression
        } else if !options.unknown.is_empty() {
            reasons.extend(options.unknown.iter().cloned());
            GateVerdict::Unmeasurable
        } else if !removed.is_empty() && !options.allow_removed {
            reasons.push(format!(
                "{} of the baseline did not run: {}; a complete run has every case, and `--allow-removed` says that {} removed on \
                 purpose",
                count(removed.len(), "case"),
                short_code_list(&removed),
                if removed.len() == 1 { "it was" } else { "they were" }
            ));
            GateVerdict::Unmeasurable
        } else if !broken.is_empty() {
            reasons.push(format!(
                "no run of {} has a verdict, and the baseline has: {}; repair what broke, and run the cases again",
                count(broken.len(), "case"),
                short_code_list(&broken)
            ));
            GateVerdict::Unmeasurable
        } else if !untested.broken.is_empty() {
            reasons.push(format!(
                "no run of {} has a verdict: {}; repair what broke, and run the cases again",
                count(untested.broken.len(), "case"),
                short_code_list(&untested.broken)
            ));
            GateVerdict::Unmeasurable
        } else if comparison.is_mostly_incomparable() {
            reasons.push(incomparable(&comparison));
            GateVerdict::CannotTell
        } else if untested.fails() && decision.verdict == GateVerdict::Pass {
            reasons.extend(untested.reasons());
            GateVerdict::CannotTell
        } else {
            match decision.verdict {
                GateVerdict::Unmeasurable => reasons.extend(undecided(&comparison)),
                GateVerdict::CannotTell => reasons.extend(not_shown(&comparison, options)),
                _ => reasons.push(no_drop(&comparison)),
            }
            decision.verdict
        };
        notes.extend(untested.note());
        let power = (verdict == GateVerdict::Pass)
            .then(|| Power::new(&comparison.policy, &comparison.counts(), options.retried));
        Self { comparison, verdict, reasons, notes, power: power.flatten(), is_retried: options.retried }
    }

    /// Passed if no drop is shown, failed for a regression, else unmeasurable.
    #[doc(hidden)]
    pub fn outcome(&self) -> Outcome {
        match self.verdict {
            GateVerdict::Pass => Outcome::Passed,
            GateVerdict::Regression => Outcome::Failed,
            GateVerdict::CannotTell | GateVerdict::Unmeasurable => Outcome::Unmeasurable,
        }
    }

    /// The verdict in capitals: `CANNOT TELL`.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            GateVerdict::Pass => "PASS",
            GateVerdict::Regression => "REGRESSION",
            GateVerdict::CannotTell => "CANNOT TELL",
            GateVerdict::Unmeasurable => "UNMEASURABLE",
        }
    }

    /// The sizes of a drop that the gate finds, and that it does not.
    pub fn power_text(&self) -> Option<String> {
        let Power { dead, all_by_tenth, half } = self.power?;
        let is_weak = dead < GOOD_POWER;
        let [dead, all, half] = [dead, all_by_tenth, half].map(percent);
        let help = match self.can_retries_show() {
            _ if !is_weak => "",
            true if !self.is_retried => {
                " A case that passed most of its runs and now passes none is CANNOT TELL, not PASS, if it is not shown. `--retry-suspects` \
                 runs what failed again, which finds more."
            }
            true => "",
            false => {
                " A case that passed most of its runs and now passes none is CANNOT TELL, not PASS, if it is not shown. More runs in the \
                 baseline find more: bless ten of a build that works."
            }
        };
        Some(format!(
            "This gate finds a case that stopped working in {dead} of builds, all cases 10 points worse in {all}, one case at half in \
             {half}.{help}"
        ))
    }

    /// Whether further runs could show any case by itself.
    fn can_retries_show(&self) -> bool {
        let (policy, counts) = (self.comparison.policy, self.comparison.counts());
        let before: HashSet<PassCount> = counts.iter().map(|case| case.before.judged).collect();
        let needed = |before| policy.failures_needed(before, counts.len(), policy.max_runs);
        before.into_iter().any(|before| needed(before).is_some())
    }
}

/// Cases that ran and are in no test, as no run before can be compared with theirs: they are new, were edited, or had no verdict.
/// Their own verdict counts. Those that passed all runs are left out.
#[derive(Default)]
struct Untested {
    /// No run has a verdict.
    broken: Vec<String>,
    /// No run passed.
    failing: Vec<String>,
    /// Some runs passed, and the case failed by its own rule, with their passes.
    failed: Vec<String>,
    /// Some runs passed and others did not, with their passes. The case passed by its own rule.
    varying: Vec<String>,
}

impl Untested {
    fn new(comparison: &Comparison) -> Self {
        let mut untested = Self::default();
        for case in comparison.cases.iter().filter(|case| case.compared.is_none()) {
            let Some(line) = &case.now else { continue };
            let name = case.key.to_string();
            match (line.with_verdict().total(), line.passed) {
                (0, _) => untested.broken.push(name),
                (_, 0) => untested.failing.push(name),
                _ if line.failed => untested.failed.push(format!("`{name}` passed {}", passes(Some(line)))),
                (_, passed) if passed < line.runs => {
                    untested.varying.push(format!("`{name}` passed {}", passes(Some(line))));
                }
                _ => {}
            }
        }
        untested
    }

    fn fails(&self) -> bool {
        !self.failing.is_empty() || !self.failed.is_empty()
    }

    /// A sentence for the cases that passed no run, and one for the others that failed.
    fn reasons(&self) -> Vec<String> {
        const HELP: &str =
            "fix the case or the agent, or accept that it fails: `cargo evalset bless SET:CASE`";
        let failing = (!self.failing.is_empty()).then(|| {
            let (cases, named) = (count(self.failing.len(), "case"), short_code_list(&self.failing));
            format!("no run of {cases} passed, and no run before is comparable: {named}; {HELP}")
        });
        let failed = (!self.failed.is_empty()).then(|| {
            let (cases, named) = (count(self.failed.len(), "case"), listed(&self.failed));
            format!("{cases} failed, and no run before is comparable: {named}; {HELP}")
        });
        failing.into_iter().chain(failed).collect()
    }

    fn note(&self) -> Option<String> {
        let cases = self.varying.len();
        let named = listed(&self.varying);
        let verb = if cases == 1 { "fails" } else { "fail" };
        (cases > 0).then(|| {
            let cases = count(cases, "case");
            format!("{cases} without comparable runs before {verb} in some runs: {named}")
        })
    }
}

/// The most untested cases that a sentence names with their passes.
const MAX_UNTESTED_NAMED: usize = 3;

/// The first of these, and the number of the others.
fn listed(cases: &[String]) -> String {
    let named = cases.iter().take(MAX_UNTESTED_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match cases.len().saturating_sub(MAX_UNTESTED_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// `passed 10 of 10 runs before and none of 13 now`.
fn runs(case: &ComparedCase) -> String {
    let passed = |line: Option<&Line>| line.map(Line::with_verdict).unwrap_or_default();
    let (before, now) = (passed(case.before.as_ref()), passed(case.now.as_ref()));
    let of = |runs: PassCount| match (runs.passed(), runs.total()) {
        (1, 1) => "its only run".to_owned(),
        (0, 1) => "not its only run".to_owned(),
        (0, total) => format!("none of {total}"),
        (passed, total) => format!("{passed} of {total}"),
    };
    let errors = case.now.as_ref().map(|line| line.errors).unwrap_or_default();
    let errors =
        if errors == 0 { String::new() } else { format!(", and {} without a verdict", count(errors, "run")) };
    format!("passed {} before and {} now{errors}", of(before), of(now))
}

/// A sentence for each drop that is shown.
pub(crate) fn regressions(comparison: &Comparison) -> Vec<String> {
    let policy = comparison.policy;
    let cases = comparison.compared().count();
    let mut said: Vec<String> = Vec::new();
    for (case, counts, decision) in comparison.compared().filter(|(_, _, decision)| decision.is_shown) {
        let left = policy.planned(&counts, cases).saturating_sub(counts.now.made());
        let p = if left > 0 {
            let more = count(left, "more run");
            format!("p at most {}, whatever {more} would have been", shown(decision.p))
        } else {
            format!("p = {}", shown(decision.p))
        };
        let fell = metrics_that_fell(&case.metrics).map(|fell| format!("; {fell}")).unwrap_or_default();
        said.push(format!(
            "{} {} ({p}; limit {}: {} over {}, Holm){fell}",
            case.key,
            runs(case),
            shown(decision.limit),
            level(policy.level_of_test()),
            count(cases, "case")
        ));
    }
    if comparison.decision.is_shown {
        said.push(format!(
            "{} (p = {} over the cases; limit {})",
            totals(comparison),
            shown(comparison.decision.p),
            level(policy.level_of_test())
        ));
    }
    said
}

/// `58 of 60 runs passed; 195 of 200 in the baseline`.
fn totals(comparison: &Comparison) -> String {
    let counts = comparison.counts();
    let sum = |of: fn(&Counts) -> PassCount| {
        counts
            .iter()
            .map(of)
            .fold((0, 0), |(passed, total), runs| (passed + runs.passed(), total + runs.total()))
    };
    let (passed, total) = sum(|counts| counts.first.judged);
    let (before, total_before) = sum(|counts| counts.before.judged);
    format!("{passed} of {} passed; {before} of {total_before} in the baseline", count(total, "run"))
}

fn no_drop(comparison: &Comparison) -> String {
    let cases = comparison.compared().count();
    let left_out = match comparison.cases.len() - cases {
        0 => String::new(),
        more => {
            let (cases, are) = (count(more, "case"), are(more));
            format!(" {cases} {are} not compared ({}).", not_compared(comparison))
        }
    };
    format!(
        "{}. No drop is shown ({}; p = {} over the cases, no case by itself).{left_out}",
        totals(comparison),
        count(cases, "case"),
        shown(comparison.decision.p)
    )
}

fn incomparable(comparison: &Comparison) -> String {
    if comparison.cases.is_empty() {
        return "no case ran, and the baseline has none; run the cases of a build that works, then bless them: `cargo evalset bless`"
            .to_owned();
    }
    format!(
        "only {} of {} can be compared ({}); bless the cases as they are now: `cargo evalset bless`",
        comparison.compared().count(),
        count(comparison.cases.len(), "case"),
        not_compared(comparison)
    )
}

/// `3 incomparable, 1 only now`.
fn not_compared(comparison: &Comparison) -> String {
    let counted = |category| comparison.of(category).count();
    let parts = [
        Category::Incomparable,
        Category::OnlyBefore,
        Category::OnlyNow,
        Category::NoVerdict,
        Category::Recovered,
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|category| counted(*category) > 0)
        .map(|category| format!("{} {}", counted(category), category.words()))
        .collect();
    parts.join(", ")
}

fn undecided(comparison: &Comparison) -> Vec<String> {
    let mut said: Vec<String> = comparison
        .compared()
        .filter(|(_, _, decision)| decision.may_be_worse)
        .map(|(case, _, decision)| {
            format!(
                "{} {}: p is from {} to {}, depending on what they would have been",
                case.key,
                runs(case),
                shown(decision.p_of_worst),
                shown(decision.p)
            )
        })
        .collect();
    let decision = &comparison.decision;
    if said.is_empty() {
        said.push(format!(
            "{}, and runs without a verdict: p over the cases is from {} to {}, depending on what they would have been",
            totals(comparison),
            shown(decision.p_of_worst),
            shown(decision.p)
        ));
    }
    said.push("repair what kept these runs from a verdict, and run the cases again".to_owned());
    said
}

/// The most failures that are counted to show a dead case.
const MAX_FAILURES: usize = 3_000;

fn not_shown(comparison: &Comparison, options: &GateOptions) -> Vec<String> {
    let policy = comparison.policy;
    let cases = comparison.compared().count();
    let mut said = Vec::new();
    let (mut can_retry, mut has_few_before) = (false, false);
    for (case, counts, decision) in comparison.compared().filter(|(_, _, decision)| decision.is_dead) {
        let (before, now) = (counts.before.judged, counts.now.judged);
        let needed = policy.failures_needed(before, cases, MAX_FAILURES);
        let is_in_reach = needed.is_some_and(|needed| needed <= policy.max_runs);
        can_retry |= is_in_reach && !options.retried;
        has_few_before |= !is_in_reach;
        let why = if is_in_reach {
            format!("{} now {} too few to show it", count(now.total(), "run"), are(now.total()))
        } else {
            format!("{} before cannot show it", count(before.total(), "run"))
        };
        let needed = needed
            .map_or_else(|| format!("more than {MAX_FAILURES} failures"), |needed| count(needed, "failure"));
        said.push(format!(
            "{} {} (p = {}). {why} for one of {}: it would take {needed}.",
            case.key,
            runs(case),
            shown(decision.p),
            count(cases, "case")
        ));
    }
    if can_retry {
        said.push("`--retry-suspects` runs what failed again".to_owned());
    }
    if has_few_before {
        said.push(
            "bless a build that works with 10 runs: `cargo evalset run .. --runs 10`, then `cargo evalset bless`"
                .to_owned(),
        );
    }
    if !can_retry && !has_few_before {
        said.push("run the cases again, and name all runs: `cargo evalset gate RUN RUN ..`".to_owned());
    }
    said
}

/// `2.5%`.
fn level(share: f64) -> String {
    format!("{}%", share * 100.0)
}

/// A p-value in few digits: two that count below 0.1.
pub fn shown(p: f64) -> String {
    match p {
        p if p >= 0.995 => "1".to_owned(),
        p if p >= 0.1 => format!("{p:.2}"),
        p if p >= 1e-6 => {
            let digits = (1..12).find(|digits| p * 10_f64.powi(*digits) >= 1.0).unwrap_or(6);
            let digits = usize::try_from(digits).unwrap_or(6) + 1;
            format!("{p:.digits$}")
        }
        _ => "below 0.000001".to_owned(),
    }
}

/// The passes of a case in a build: `9/9 +1 error`.
pub(crate) fn passes(line: Option<&Line>) -> String {
    let Some(line) = line else { return "-".to_owned() };
    match line.errors {
        0 => line.with_verdict().to_string(),
        errors => format!("{} +{}", line.with_verdict(), count(errors, "error")),
    }
}

/// `10/10 -> 0/13`, and why it cannot be compared.
pub(super) fn change(case: &ComparedCase) -> String {
    let why = case.incomparable.as_deref().map(|why| format!("  {}", one_line(why))).unwrap_or_default();
    format!("{} -> {}{why}", passes(case.before.as_ref()), passes(case.now.as_ref()))
}

/// A case with what became of it in one line, for lists.
pub(super) fn row(case: &ComparedCase) -> String {
    let fell = metrics_that_fell(&case.metrics).filter(|_| case.is_same_but_for_a_metric());
    format!("{}  {}{}", case.key, change(case), fell.map(|fell| format!("; {fell}")).unwrap_or_default())
}
