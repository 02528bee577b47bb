//! Two builds side by side: as text, as Markdown and as a page.

use std::fmt;
use std::time::SystemTime;

use eval_core::EvalReport;
use eval_support::secrets::mask;
use eval_support::untrusted::{markdown as escaped, one_line};

use super::compared::{ComparedCase, Comparison};
use super::gated::{GateOptions, Gated, passes, row, shown};
use super::said::{chips, counts_as_markdown, listed, usage};
use super::scores::{ScoreChange, changed_scores};
use super::side::Side;
use crate::baseline::{Origin, remarks, shared_runs};
use crate::decide::gate::Policy;
use crate::output::{BOLD, WARNING, styled};

/// Two builds side by side. `Display` prints what `cargo evalset diff` prints.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
/// use eval_report::Compare;
/// use eval_report::comparison::Category;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
/// let runner = EvalRunner::new().runs(10);
/// let one = runner.run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
/// let other = runner.run_set(&set, || Replay::new([["No idea."]]), 1).await?;
///
/// let diff = other.compare(&one);
/// assert_eq!(diff.comparison.cases[0].category, Category::Regressed);
/// // Two-sided: twice 1 / C(20, 10).
/// assert!((diff.comparison.p - 2.0 / 184_756.0).abs() < 1e-12);
/// assert!(diff.to_string().contains("\nregressed\n  weather:sunny  10/10 -> 0/10  p = 0.000011\n"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diff {
    /// The build before.
    pub before: Side,
    /// The build now.
    pub now: Side,
    /// All cases of both, each in a category.
    pub comparison: Comparison,
    /// The metrics with scores from 0 to 1, over the cases in which they can be compared.
    #[doc(hidden)]
    pub scores: Vec<ScoreChange>,
    /// Remarks on both sides: an old baseline, another version of evalset, how runs were counted.
    pub notes: Vec<String>,
}

/// A report compared with an earlier build.
pub trait Compare {
    /// Compares with an earlier build: another report, a [`Baseline`](crate::Baseline), or a recorded run ([`Side::of_run`]).
    ///
    /// [`Diff::gate`] decides whether the report shows a drop. A case that comes from no file is the same case if its set has the
    /// same id, and if it asks and expects the same.
    fn compare(&self, before: impl Into<Side>) -> Diff;
}

impl Compare for EvalReport {
    fn compare(&self, before: impl Into<Side>) -> Diff {
        Diff::new(before, self)
    }
}

impl Diff {
    /// Compares two builds.
    pub fn new(before: impl Into<Side>, now: impl Into<Side>) -> Self {
        let (before, now) = (before.into(), now.into());
        let comparison = Comparison::new(&before.cases, &now.cases, &now.cases, Policy::default());
        let mut notes = [before.notes.as_slice(), &now.notes].concat();
        notes.extend(remarks(&before.cases, &now.cases, SystemTime::now()));
        let scores = ScoreChange::all(&before.cases, &now.cases);
        Self { before, now, comparison, scores, notes }
    }

    /// The decision whether the build now shows a drop, with its reasons. Suspects are not run again.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
    /// use eval_report::comparison::GateVerdict;
    /// use eval_report::{Baseline, Compare};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("baseline.jsonl");
    /// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
    /// // Once, with a build that works: ten runs, in a file to commit.
    /// let good = EvalRunner::new().runs(10).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    /// std::fs::write(&file, Baseline::from(&good).text()?)?;
    ///
    /// // With each later build.
    /// let report = EvalRunner::new().runs(3).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    /// let gate = report.compare(Baseline::read(&file)?).gate();
    /// assert_eq!(gate.verdict, GateVerdict::Pass, "{gate}");
    /// assert!(gate.reasons[0].starts_with("3 of 3 runs passed; 10 of 10 in the baseline. No drop is shown (1 case;"));
    ///
    /// let worse = EvalRunner::new().runs(3).run_set(&set, || Replay::new([["No idea."]]), 1).await?;
    /// let gate = worse.compare(Baseline::read(&file)?).gate();
    /// assert_eq!(gate.verdict, GateVerdict::Regression);
    /// assert!(gate.reasons[0].starts_with("weather:sunny passed 10 of 10 before and none of 3 now (p = 0.0035;"));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn gate(&self) -> Gated {
        let of_side = |side: &Side| -> Vec<String> {
            side.doubts.iter().map(|doubt| format!("{}: {doubt}", side.name)).collect()
        };
        let mut doubts = [of_side(&self.before), of_side(&self.now)].concat();
        doubts.extend(shared_runs(&self.before.cases, &self.now.cases));
        let options = GateOptions { doubts, notes: self.notes.clone(), ..GateOptions::default() };
        Gated::new(self.comparison.clone(), &options)
    }

    /// Reasons why a side may not be all runs of its build.
    pub fn doubts(&self) -> impl Iterator<Item = &String> {
        self.before.doubts.iter().chain(&self.now.doubts)
    }

    /// The origins of both sides.
    #[doc(hidden)]
    pub fn origins(&self) -> [Origin; 2] {
        [&self.before, &self.now].map(|side| side.cases.origin())
    }

    /// The text for people, with styles.
    #[doc(hidden)]
    pub fn text(&self) -> String {
        let mut text = format!("{} -> {}\n", self.before.name, self.now.name);
        for (side, origin) in ["before", "now   "].iter().zip(self.origins()) {
            text += &format!("  {side}  {}\n", origin.words());
        }
        text.extend(self.doubts().map(|doubt| format!("  {doubt}\n")));
        text.extend(self.notes.iter().map(|note| format!("  {}: {note}\n", styled(WARNING, "note"))));
        text += &format!("\n{}\n", chips(&self.comparison));
        text.extend(self.numbers().map(|line| format!("{line}\n")));
        for (heading, cases, more) in listed(&self.comparison) {
            text += &format!("\n{}\n", styled(BOLD, heading));
            let p = |case: &ComparedCase| case.p.map(|p| format!("  p = {}", shown(p))).unwrap_or_default();
            text.extend(cases.iter().map(|case| format!("  {}{}\n", row(case), p(case))));
            text.extend(more.map(|more| format!("  {more}\n")));
        }
        text
    }

    /// The comparison as Markdown, for a comment on a pull request. Its first line is a mark by which a script finds the comment again.
    pub fn to_markdown(&self) -> String {
        let line = |text: &str| escaped(&one_line(text));
        let (before, now) = (line(&self.before.name), line(&self.now.name));
        let [of_before, of_now] = self.origins().map(|origin| line(&origin.words()));
        let mut text = format!(
            "<!-- evalset-diff -->\n## {before} -> {now}\n\n| before | now |\n| --- | --- |\n| {of_before} | {of_now} |\n\n"
        );
        text.extend(self.doubts().map(|doubt| format!("Warning: {}\n\n", line(doubt))));
        text.extend(self.notes.iter().map(|note| format!("Note: {}\n\n", line(note))));
        text += &counts_as_markdown(&self.comparison);
        text.extend(self.numbers().map(|number| format!("\n{}\n", line(&number))));
        for (heading, cases, more) in listed(&self.comparison) {
            text += &format!(
                "\n**{heading}**\n\n| case | before | now | p | why |\n| --- | --- | --- | --- | --- |\n"
            );
            text.extend(cases.iter().map(|case| {
                let Row { name, before, now, p, why } = Row::new(case);
                format!("| {} | {before} | {now} | {p} | {} |\n", line(&name), line(&why))
            }));
            text.extend(more.map(|more| format!("\n{more}\n")));
        }
        mask(&text).into_owned()
    }

    /// The lines with p over the cases, tokens, calls and scores, as far as cases are compared.
    pub(super) fn numbers(&self) -> impl Iterator<Item = String> {
        let is_compared = self.comparison.cases.iter().any(|case| case.p.is_some());
        let p = is_compared.then(|| format!("p = {} over the cases, two-sided", shown(self.comparison.p)));
        p.into_iter().chain(usage(&self.comparison)).chain(changed_scores(&self.scores))
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&anstream::adapter::strip_str(&mask(&self.text())), f)
    }
}

/// A case as the tables of a comment show it.
struct Row {
    name: String,
    before: String,
    now: String,
    p: String,
    why: String,
}

impl Row {
    fn new(case: &ComparedCase) -> Self {
        Self {
            name: case.key.to_string(),
            before: passes(case.before.as_ref()),
            now: passes(case.now.as_ref()),
            p: case.p.map(shown).unwrap_or_default(),
            why: case.why().unwrap_or_default(),
        }
    }
}
