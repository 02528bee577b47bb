//! What a reader of one of the forms returns.

use std::ops::Range;

use super::checked::Form;
use crate::model::{EvalSet, SessionInput};
use crate::problem::Problem;

/// What was read of a document.
pub(super) struct Reading {
    pub(super) form: Form,
    pub(super) set: Option<EvalSet>,
    /// Id, range of the id and range of the case, in the order of the text.
    pub(super) cases: Vec<(String, Range<usize>, Range<usize>)>,
    pub(super) problems: Vec<Problem>,
}

impl Reading {
    pub(super) fn broken(text: &str, problem: Problem) -> Self {
        let form = if text.trim_start().starts_with('[') { Form::TestFile } else { Form::EvalSet };
        Self { form, set: None, cases: Vec::new(), problems: vec![problem] }
    }

    pub(super) fn give_session(&mut self, session: Option<&SessionInput>) {
        let cases = self.set.iter_mut().flat_map(|set| &mut set.eval_cases);
        if let Some(session) = session {
            cases.for_each(|case| case.session_input = Some(session.clone()));
        }
    }
}
