//! The file of faults that the attribute names: read, checked against the cases of all sets, and compiled in.

use eval_format::EvalCase;
use eval_format::tools::{CheckedInjections, check_injections};
use proc_macro2::Span;
use syn::LitStr;

use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};
use crate::memory::read_file;

#[derive(Debug)]
pub(crate) struct Faults {
    /// Relative to the package.
    pub(crate) file: String,
    checked: CheckedInjections,
    span: Span,
}

impl Faults {
    /// Reads and checks the file that the argument names. `None` if it is not there or cannot be read, which is reported.
    pub(crate) fn named(path: &LitStr, folders: &Folders, diagnostics: &mut Diagnostics) -> Option<Self> {
        let file: SourceFile = diagnostics.ok(folders.file(path, "file of faults"))?;
        let bytes = match read_file(&file) {
            Ok(bytes) => bytes,
            Err(unreadable) => {
                unreadable.report(path.span(), diagnostics);
                return None;
            }
        };
        let checked = check_injections(&file.shown, &bytes);
        for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
            diagnostics.problem(path.span(), problem, &checked.file, &checked.text);
        }
        Some(Self { file: file.relative, checked, span: path.span() })
    }

    /// Reports faults of calls that none of the cases expects.
    pub(crate) fn check<'c>(
        &self,
        cases: impl IntoIterator<Item = &'c EvalCase>,
        diagnostics: &mut Diagnostics,
    ) {
        for problem in self.checked.unexpected(cases) {
            diagnostics.problem(self.span, &problem, &self.checked.file, &self.checked.text);
        }
    }
}
