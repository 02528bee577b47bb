//! How far a run is: on a terminal a line that counts, elsewhere a line for each case that ends.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_core::{CaseReport, EvalCase, EvalRunner, Verdict};
use eval_report::price::{Cost, Prices};
use eval_support::untrusted::{guard_styled, one_line};
use eval_support::words::tokens;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::mask;
use crate::output::style::styled;
use crate::recorded::State;

/// How far a run is.
#[derive(Clone)]
pub(super) struct Progress {
    counts: Arc<Mutex<Counts>>,
    bar: ProgressBar,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    ended: usize,
    passed: usize,
    failed: usize,
    errors: usize,
    skipped: usize,
    tokens: Option<i128>,
    prices: Prices,
    cost: Cost,
    /// The cases in flight and when they began, the oldest first.
    running: Vec<(String, Instant)>,
}

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// A runner that tells of its cases here. What they cost is counted if there are prices.
    pub(super) fn of(runner: EvalRunner, prices: Prices) -> (Self, EvalRunner) {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let counts = Counts { prices, ..Counts::default() };
        let progress = Self { counts: Arc::new(Mutex::new(counts)), bar };
        let told = progress.clone();
        (progress, runner.on_case(move |case| told.ended(case)))
    }

    /// So many cases are about to run.
    pub(super) fn begin(&self, total: usize) {
        self.counts().total = total;
        if self.bar.is_hidden() {
            return;
        }
        let counts = Arc::clone(&self.counts);
        let line = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let line = counts.lock().unwrap_or_else(PoisonError::into_inner).line(Instant::now());
            // What cannot be shown is shown the next time.
            let _ = out.write_str(&line);
        };
        if let Ok(style) = ProgressStyle::with_template("{counts}") {
            self.bar.set_style(style.with_key("counts", line));
        }
        self.bar.enable_steady_tick(TICK);
    }

    /// A run of a case begins.
    pub(super) fn began(&self, case: &EvalCase) {
        let mut counts = self.counts();
        if !counts.running.iter().any(|(id, _)| *id == case.eval_id) {
            counts.running.push((case.eval_id.clone(), Instant::now()));
        }
    }

    fn ended(&self, case: &CaseReport) {
        let line = self.counts().ended(case);
        if self.bar.is_hidden() {
            say(&line);
        }
    }

    /// Clears the line, so that a report can follow.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// What the cases cost; `None` without prices.
    pub(super) fn cost(&self) -> Option<Cost> {
        let counts = self.counts();
        (!counts.prices.is_empty()).then_some(counts.cost)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints a line where progress goes.
pub(super) fn say(line: &str) {
    let text = guard_styled(&mask(line));
    // If nobody can be told how far it is, the cases run all the same.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

impl Counts {
    /// Counts a case, and says so in a line.
    fn ended(&mut self, case: &CaseReport) -> String {
        self.ended += 1;
        let counted = match case.verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed => &mut self.failed,
            Verdict::Skipped(_) => &mut self.skipped,
            _ => &mut self.errors,
        };
        *counted += 1;
        if let Some(at) = self.running.iter().position(|(id, _)| id == case.eval_id()) {
            self.running.remove(at);
        }
        let used = case.runs.iter().filter_map(|run| run.transcript.tokens()).map(i128::from);
        self.tokens = used.fold(self.tokens, |sum, more| Some(sum.unwrap_or_default().saturating_add(more)));
        self.cost.add(&self.prices.cost_of(case));
        let (word, style) = State::of(&case.verdict).label();
        let pad = " ".repeat(10_usize.saturating_sub(word.len()));
        let set = case.eval_set_id.as_ref().map(|id| format!("{id}/")).unwrap_or_default();
        let name = one_line(&format!("{set}{}", case.eval_id()));
        let seconds = case.elapsed.as_secs_f64();
        format!("{pad}{} [{seconds:>6.1}s] {name}  ({} of {})\n", styled(style, word), self.ended, self.total)
    }

    /// `3 of 200 cases  2 passed  1 failed  0 errors  1,234 tokens  slowest: sunny 12 s`.
    fn line(&self, now: Instant) -> String {
        let Self { total, ended, passed, failed, errors, skipped, .. } = self;
        let mut line = format!("{ended} of {total} cases  {passed} passed  {failed} failed  {errors} errors");
        if *skipped > 0 {
            let _ = write!(line, "  {skipped} skipped");
        }
        if let Some(used) = self.tokens {
            let _ = write!(line, "  {}", tokens(used));
        }
        if !self.prices.is_empty() {
            let _ = write!(line, "  cost {}", self.cost.amount());
        }
        if let Some((id, began)) = self.running.first() {
            let seconds = now.saturating_duration_since(*began).as_secs();
            let _ = write!(line, "  slowest: {} {seconds} s", one_line(&mask(id)));
        }
        line
    }
}
