//! What a program is told while its cases run.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::report::CaseReport;

type Call = Box<dyn FnMut(&CaseReport) + Send>;

/// The functions that are called with each case that has its verdict.
#[derive(Default)]
pub(super) struct OnCase(Vec<Mutex<Call>>);

impl OnCase {
    pub(super) fn add(&mut self, call: impl FnMut(&CaseReport) + Send + 'static) {
        self.0.push(Mutex::new(Box::new(call)));
    }

    pub(super) fn tell(&self, case: &CaseReport) {
        for call in &self.0 {
            call.lock().unwrap_or_else(PoisonError::into_inner)(case);
        }
    }
}

impl fmt::Debug for OnCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnCase({})", self.0.len())
    }
}
