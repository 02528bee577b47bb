//! The criteria of each set: from a file that the attribute names, from the attribute itself, from a
//! file beside the set, or ADK's own.

use std::collections::HashMap;
use std::path::PathBuf;

use eval_format::check_config;
use proc_macro2::Span;
use syn::LitStr;

use crate::args::{Args, Criteria};
use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};
use crate::plan::{PlannedConfig, report_unreadable};
use crate::sets::read_file;

/// The name that ADK looks for in the folder of a set.
const BESIDE: &str = "test_config.json";

/// Finds the criteria of each set; reads and checks each file once.
pub(crate) struct Configs<'a> {
    args: &'a Args,
    folders: &'a Folders,
    /// The file that `config = "..."` names, if it exists.
    named: Option<SourceFile>,
    read: HashMap<PathBuf, PlannedConfig>,
}

impl<'a> Configs<'a> {
    /// Looks at what the attribute says.
    pub(crate) fn new(args: &'a Args, folders: &'a Folders, diagnostics: &mut Diagnostics) -> Self {
        let mut named = None;
        match &args.criteria {
            Criteria::Beside => {}
            Criteria::File(path) => named = diagnostics.ok(folders.file(path, "config file")),
            Criteria::Inline(inline) => {
                let checked = check_config("criteria(..)", inline.json.as_bytes(), &args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    inline.report(problem, diagnostics);
                }
            }
        }
        Self { args, folders, named, read: HashMap::new() }
    }

    /// The criteria of a set, and the files that would have given others.
    pub(crate) fn of(
        &mut self,
        set: &SourceFile,
        diagnostics: &mut Diagnostics,
    ) -> (PlannedConfig, Vec<String>) {
        match (&self.args.criteria, &self.named) {
            (Criteria::Inline(inline), _) => (PlannedConfig::Inline(inline.json.clone()), Vec::new()),
            (Criteria::File(path), Some(file)) => {
                (self.read(&file.clone(), path.span(), diagnostics), Vec::new())
            }
            // That it does not exist has been reported.
            (Criteria::File(_), None) => (PlannedConfig::Default, Vec::new()),
            (Criteria::Beside, _) => {
                let beside = self.folders.beside(set, BESIDE);
                if !beside.absolute.is_file() {
                    return (PlannedConfig::Default, vec![beside.relative]);
                }
                let span = self.args.path.as_ref().map_or_else(Span::call_site, LitStr::span);
                (self.read(&beside, span, diagnostics), Vec::new())
            }
        }
    }

    fn read(&mut self, file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) -> PlannedConfig {
        if let Some(config) = self.read.get(&file.absolute) {
            return config.clone();
        }
        let config = match read_file(file) {
            Ok(bytes) => {
                let checked = check_config(&file.shown, &bytes, &self.args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    diagnostics.problem(span, problem, &checked.file, &checked.text);
                }
                PlannedConfig::File(file.relative.clone())
            }
            Err(error) => {
                report_unreadable(&error, span, diagnostics);
                PlannedConfig::Default
            }
        };
        self.read.insert(file.absolute.clone(), config.clone());
        config
    }
}
