//! The criteria of each set: from a file that the attribute names, from the attribute itself, from a
//! file beside the set, or ADK's own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use eval_format::{EvalConfig, Need, check_config, metric};
use proc_macro2::Span;
use syn::LitStr;

use crate::args::{Args, Criteria};
use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};
use crate::plan::{PlannedConfig, report_unreadable};
use crate::sets::read_file;

/// The name that ADK looks for in the folder of a set.
const BESIDE: &str = "test_config.json";

/// The criteria of a set.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Where the test finds them.
    pub(crate) planned: PlannedConfig,
    /// What they say, unless they have errors.
    pub(crate) config: Option<Arc<EvalConfig>>,
}

impl Chosen {
    fn adk_default() -> Self {
        Self { planned: PlannedConfig::Default, config: Some(Arc::new(EvalConfig::adk_default())) }
    }

    /// Whether they name a metric that asks a judge.
    pub(crate) fn asks_judge(&self) -> bool {
        let names = self.config.iter().flat_map(|config| config.criteria.iter().map(|(name, _)| name));
        names.filter_map(|name| metric(name)).any(|info| info.needs.contains(&Need::Judge))
    }

    /// What stands for criteria that could not be read, which has been reported.
    fn nothing() -> Self {
        Self { planned: PlannedConfig::Default, config: None }
    }
}

/// Finds the criteria of each set; reads and checks each file once.
pub(crate) struct Configs<'a> {
    args: &'a Args,
    folders: &'a Folders,
    /// The file that `config = "..."` names, if it exists.
    named: Option<SourceFile>,
    /// What `criteria(..)` says.
    inline: Option<Arc<EvalConfig>>,
    read: HashMap<PathBuf, Chosen>,
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
                written = checked.config.map(Arc::new);
            }
        }
        Self { args, folders, named, inline: written, read: HashMap::new() }
    }

    /// The criteria of a set, and the files that would have given others.
    pub(crate) fn of(&mut self, set: &SourceFile, diagnostics: &mut Diagnostics) -> (Chosen, Vec<String>) {
        match (&self.args.criteria, &self.named) {
            (Criteria::Inline(inline), _) => {
                let planned = PlannedConfig::Inline(inline.json.clone());
                (Chosen { planned, config: self.inline.clone() }, Vec::new())
            }
            (Criteria::File(path), Some(file)) => {
                (self.read(&file.clone(), path.span(), diagnostics), Vec::new())
            }
            // That it does not exist has been reported.
            (Criteria::File(_), None) => (Chosen::nothing(), Vec::new()),
            (Criteria::Beside, _) => {
                let beside = self.folders.beside(set, BESIDE);
                if !beside.absolute.is_file() {
                    return (Chosen::adk_default(), vec![beside.relative]);
                }
                let span = self.args.path.as_ref().map_or_else(Span::call_site, LitStr::span);
                (self.read(&beside, span, diagnostics), Vec::new())
            }
        }
    }

    fn read(&mut self, file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) -> Chosen {
        if let Some(known) = self.read.get(&file.absolute) {
            return known.clone();
        }
        let chosen = match read_file(file) {
            Ok(bytes) => {
                let checked = check_config(&file.shown, &bytes, &self.args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    diagnostics.problem(span, problem, &checked.file, &checked.text);
                }
                let planned = PlannedConfig::File(file.relative.clone());
                Chosen { planned, config: checked.config.map(Arc::new) }
            }
            Err(error) => {
                report_unreadable(&error, span, diagnostics);
                Chosen::nothing()
            }
        };
        self.read.insert(file.absolute.clone(), chosen.clone());
        chosen
    }
}
