//! What people see while cases run: on a terminal a line that counts them, elsewhere a line for each.

use std::io::{IsTerminal, Write};

use eval_core::Verdict;
use eval_core::report::CaseReport;
use eval_support::secrets::mask;
use eval_support::untrusted::guard;
use eval_support::words::count;

use crate::price::{Cost, Prices};

/// How far the cases are.
pub(super) struct Progress {
    out: Box<dyn Write + Send>,
    is_terminal: bool,
    total: usize,
    ended: usize,
    passed: usize,
    prices: Prices,
    cost: Cost,
}

/// Goes to the beginning of the line, and clears it.
const CLEAR: &str = "\r\x1b[K";

impl Progress {
    pub(super) fn on_stderr() -> Self {
        let out = std::io::stderr();
        let is_terminal = out.is_terminal();
        Self::new(Box::new(out), is_terminal)
    }

    pub(super) fn new(out: Box<dyn Write + Send>, is_terminal: bool) -> Self {
        Self {
            out,
            is_terminal,
            total: 0,
            ended: 0,
            passed: 0,
            prices: Prices::default(),
            cost: Cost::default(),
        }
    }

    /// Begins with so many cases. Their tokens are counted if there are prices.
    pub(super) fn of(mut self, total: usize, prices: Prices) -> Self {
        (self.total, self.prices) = (total, prices);
        self.count();
        self
    }

    /// Tells of a case that has its verdict.
    pub(super) fn ended(&mut self, case: &CaseReport) {
        self.ended += 1;
        self.passed += usize::from(case.verdict == Verdict::Passed);
        if !self.prices.is_empty() {
            self.cost.add(&self.prices.cost_of(case));
        }
        if self.is_terminal {
            return self.count();
        }
        let set = case.eval_set_id.as_ref().map(|id| format!("{id}/")).unwrap_or_default();
        let name = format!("{set}{}", case.eval_id()).replace('\n', " ");
        let line = format!("{:>13} {name}  ({} of {})\n", case.verdict.to_string(), self.ended, self.total);
        self.write(&guard(&mask(&line)));
    }

    /// Clears the line that counts, so that a report can follow.
    pub(super) fn clear(&mut self) {
        if self.is_terminal {
            self.write(CLEAR);
        }
    }

    /// What all cost; `None` without prices.
    pub(super) fn cost(&self) -> Option<Cost> {
        (!self.prices.is_empty()).then_some(self.cost)
    }

    fn count(&mut self) {
        if self.is_terminal {
            let total = count(self.total, "case");
            let cost =
                if self.prices.is_empty() { String::new() } else { format!(", cost {}", self.cost.amount()) };
            self.write(&format!("{CLEAR}{} of {total}, {} passed{cost}", self.ended, self.passed));
        }
    }

    /// An error changes nothing: the cases run without anybody who watches.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}
