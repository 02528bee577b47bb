//! The recordings of judges' answers beside the sets. They are checked and compiled in.

use std::collections::HashMap;

use eval_format::conventions::recording_path;
#[cfg(feature = "judges")]
use eval_format::recording::{CheckedRecording, check_recording};
use proc_macro2::Span;

use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};
#[cfg(feature = "judges")]
use crate::memory::{Memory, read_file};

#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Relative to the package, whether it exists or not.
    pub(crate) file: String,
    /// For each case, the byte ranges of its questions; `None` if the file does not exist.
    pub(crate) questions: Option<HashMap<String, Vec<(usize, usize)>>>,
}

impl Recording {
    /// Finds and checks the recording beside a set.
    pub(crate) fn beside(
        set: &SourceFile,
        folders: &Folders,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let file = folders.beside(set, &recording_path(set.name()));
        let questions = questions(&file, span, diagnostics);
        Self { file: file.relative, questions }
    }

    pub(crate) fn of_case(&self, eval_id: &str) -> &[(usize, usize)] {
        self.questions.as_ref().and_then(|by_case| by_case.get(eval_id)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(feature = "judges")]
fn questions(
    file: &SourceFile,
    span: Span,
    diagnostics: &mut Diagnostics,
) -> Option<HashMap<String, Vec<(usize, usize)>>> {
    if !file.absolute.is_file() {
        return None;
    }
    let mut by_case: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let checked = match MEMORY.get(&[file], || Ok(check_recording(&file.shown, &read_file(file)?))) {
        Ok(checked) => checked,
        Err(unreadable) => {
            unreadable.report(span, diagnostics);
            return Some(by_case);
        }
    };
    for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
        diagnostics.problem(span, problem, &checked.file, &checked.text);
    }
    for question in &checked.questions {
        for case in &question.cases {
            by_case.entry(case.clone()).or_default().push((question.range.start, question.range.end));
        }
    }
    Some(by_case)
}

/// Without the feature `judges`, no test reads a recording.
#[cfg(not(feature = "judges"))]
fn questions(_: &SourceFile, _: Span, _: &mut Diagnostics) -> Option<HashMap<String, Vec<(usize, usize)>>> {
    None
}

#[cfg(feature = "judges")]
static MEMORY: Memory<CheckedRecording> = Memory::new();
