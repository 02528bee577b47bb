//! Progress of cases that run: on a terminal a line that counts, elsewhere a line for each case that ends.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use eval_core::{CaseReport, EvalCase, EvalRunner, Verdict};
use eval_support::mutex::Mutex;
use eval_support::secrets::mask;
use eval_support::untrusted::one_line;
use eval_support::words::tokens;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::{styled, tell_to};
use crate::price::{Cost, Prices};
use crate::recorded::State;

#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it is a place to write to")]
pub struct Progress {
    counts: Arc<Mutex<Counts>>,
    bar: ProgressBar,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
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

const DRAW_PAUSE: Duration = Duration::from_millis(100);

impl Progress {
    /// Progress on standard error. The cost of cases is counted if there are prices.
    pub fn on_stderr(prices: Prices) -> Self {
        Self::new(Box::new(anstream::stderr()), ProgressDrawTarget::stderr(), prices)
    }

    pub(crate) fn new(out: Box<dyn Write + Send>, line: ProgressDrawTarget, prices: Prices) -> Self {
        Self {
            counts: Arc::new(Mutex::new(Counts { prices, ..Counts::default() })),
            bar: ProgressBar::with_draw_target(None, line),
            out: Arc::new(Mutex::new(out)),
        }
    }

    pub fn follow(&self, runner: EvalRunner) -> EvalRunner {
        let told = self.clone();
        runner.on_case(move |case| told.ended(case))
    }

    pub fn begin(&self, total: usize) {
        self.counts().total = total;
        if self.bar.is_hidden() {
            return;
        }
        let counts = Arc::clone(&self.counts);
        let line = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let line = counts.lock().line(Instant::now());
            // If the line cannot be written, the next drawing writes it.
            let _ = out.write_str(&line);
        };
        if let Ok(style) = ProgressStyle::with_template("{counts}") {
            self.bar.set_style(style.with_key("counts", line));
        }
        self.bar.enable_steady_tick(DRAW_PAUSE);
    }

    pub fn began(&self, case: &EvalCase) {
        let mut counts = self.counts();
        if !counts.running.iter().any(|(id, _)| *id == case.eval_id) {
            counts.running.push((case.eval_id.clone(), Instant::now()));
        }
    }

    fn ended(&self, case: &CaseReport) {
        let line = self.counts().ended(case);
        if self.bar.is_hidden() {
            self.say(&line);
        }
    }

    /// Clears the line, so that a report can follow.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// The line that says what the cases cost; `None` without prices.
    pub fn cost(&self) -> Option<String> {
        let counts = self.counts();
        (!counts.prices.is_empty()).then(|| format!("cost          {}\n", counts.cost))
    }

    /// Prints lines to the same place as the progress.
    pub fn say(&self, lines: &str) {
        tell_to(&mut *self.out.lock(), lines);
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock()
    }
}

impl Counts {
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
        let (word, style) = State::from_verdict(&case.verdict).label();
        let pad = " ".repeat(10_usize.saturating_sub(word.len()));
        let set = case.eval_set_id.as_ref().map(|id| format!("{id}/")).unwrap_or_default();
        let label = case.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
        let name = one_line(&format!("{set}{}{label}", case.eval_id()));
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

#[cfg(test)]
mod tests {
    use eval_core::{Invocation, Replay};

    use super::*;

    #[tokio::test]
    async fn the_line_counts_the_cases_that_ended_and_names_the_oldest_in_flight() {
        let progress =
            Progress::new(Box::new(std::io::sink()), ProgressDrawTarget::hidden(), Prices::default());
        let case = |id: &str| EvalCase::new(id).turn(Invocation::user("Weather?").response("It is sunny."));
        progress.begin(3);
        progress.began(&case("sunny"));
        progress.began(&case("oslo"));
        let runner = progress.follow(EvalRunner::new());
        let set = eval_core::EvalSet::new("weather").case(case("sunny"));
        let report = runner.run_set(&set, || Replay::new([["It rains."]]), 1).await.unwrap();
        assert!(!report.all_passed());
        let began = progress.counts().running[0].1;
        let line = progress.counts().line(began + Duration::from_secs(12));
        assert_eq!(line, "1 of 3 cases  0 passed  1 failed  0 errors  slowest: oslo 12 s");
        assert_eq!(progress.cost(), None);
    }
}
