//! The criteria of each set: from a file that the attribute names, from the attribute itself, from a
//! file beside the set, or ADK's own.

use std::collections::HashMap;
use std::path::PathBuf;

use eval_format::{EvalConfig, check_config};
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
    /// What `criteria(...)` comes to, unless it has errors.
    inline: Option<EvalConfig>,
    read: HashMap<PathBuf, Found>,
}

/// The criteria of a set.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Where they come from.
    pub(crate) planned: PlannedConfig,
    /// What they are, unless they have errors; absent for ADK's own.
    pub(crate) config: Option<EvalConfig>,
    /// The files that would have given others.
    pub(crate) absent: Vec<String>,
}

impl Found {
    fn new(planned: PlannedConfig, config: Option<EvalConfig>) -> Self {
        Self { planned, config, absent: Vec::new() }
    }

    /// ADK's own, until one of these files exists.
    fn default_until(absent: Vec<String>) -> Self {
        Self { planned: PlannedConfig::Default, config: None, absent }
    }
}

impl<'a> Configs<'a> {
    /// Looks at what the attribute says.
    pub(crate) fn new(args: &'a Args, folders: &'a Folders, diagnostics: &mut Diagnostics) -> Self {
        let (mut named, mut written) = (None, None);
        match &args.criteria {
            Criteria::Beside => {}
            Criteria::File(path) => named = diagnostics.ok(folders.file(path, "config file")),
            Criteria::Inline(inline) => {
                let checked = check_config("criteria(..)", inline.json.as_bytes(), &args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    inline.report(problem, diagnostics);
                }
                written = checked.config;
            }
        }
        Self { args, folders, named, inline: written, read: HashMap::new() }
    }

    /// The criteria of a set.
    pub(crate) fn of(&mut self, set: &SourceFile, diagnostics: &mut Diagnostics) -> Found {
        match (&self.args.criteria, &self.named) {
            (Criteria::Inline(inline), _) => {
                Found::new(PlannedConfig::Inline(inline.json.clone()), self.inline.clone())
            }
            (Criteria::File(path), Some(file)) => self.read(&file.clone(), path.span(), diagnostics),
            // That it does not exist has been reported.
            (Criteria::File(_), None) => Found::default_until(Vec::new()),
            (Criteria::Beside, _) => {
                let beside = self.folders.beside(set, BESIDE);
                if !beside.absolute.is_file() {
                    return Found::default_until(vec![beside.relative]);
                }
                let span = self.args.path.as_ref().map_or_else(Span::call_site, LitStr::span);
                self.read(&beside, span, diagnostics)
            }
        }
    }

    fn read(&mut self, file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) -> Found {
        if let Some(found) = self.read.get(&file.absolute) {
            return found.clone();
        }
        let found = match read_file(file) {
            Ok(bytes) => {
                let checked = check_config(&file.shown, &bytes, &self.args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    diagnostics.problem(span, problem, &checked.file, &checked.text);
                }
                Found::new(PlannedConfig::File(file.relative.clone()), checked.config)
            }
            Err(error) => {
                report_unreadable(&error, span, diagnostics);
                Found::default_until(Vec::new())
            }
        };
        self.read.insert(file.absolute.clone(), found.clone());
        found
    }
}
