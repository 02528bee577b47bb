//! The criteria of each set: from a file that the attribute names, from the attribute itself, from a file beside the
//! set, or ADK's own.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eval_format::__private::judged_criteria;
use eval_format::compat::OverlookedConfig;
use eval_format::config::{CheckedConfig, check_config};
use eval_format::conventions::{CONFIG_NAMES, SHARED_CONFIG};
use eval_format::metric::{Need, metric};
use eval_format::problem::ProblemCode;
use eval_format::{EvalConfig, Problem};
use proc_macro2::Span;
use syn::LitStr;

use crate::args::{Args, Criteria};
use crate::diagnostics::Diagnostics;
use crate::features::Feature;
use crate::files::{Folders, SourceFile};
use crate::memory::read_file;

#[derive(Clone, Debug)]
pub(crate) struct SetConfig {
    /// The place where the test finds them.
    pub(crate) source: ConfigSource,
    pub(crate) config: Option<Arc<EvalConfig>>,
}

#[derive(Clone, Debug)]
pub(crate) enum ConfigSource {
    /// ADK's own.
    Default,
    /// `criteria(...)`, as JSON.
    Inline(String),
    /// A file that is compiled in beside the set, relative to the package.
    File(String),
}

impl SetConfig {
    fn adk_default() -> Self {
        Self { source: ConfigSource::Default, config: Some(Arc::new(EvalConfig::adk_default())) }
    }

    /// The placeholder for criteria that could not be read. The error has been reported.
    fn unread() -> Self {
        Self { source: ConfigSource::Default, config: None }
    }

    pub(crate) fn asks_judge(&self) -> bool {
        let names = self.config.iter().flat_map(|config| config.criteria.iter().map(|(name, _)| name));
        names.filter_map(|name| metric(name)).any(|info| info.needs.contains(&Need::Judge))
    }
}

/// Finds the criteria of each set; reads and checks each file once.
pub(crate) struct Configs<'a> {
    args: &'a Args,
    folders: &'a Folders,
    /// The file that `config = "..."` names, if it exists.
    named: Option<SourceFile>,
    /// The config in `criteria(..)`, unless it has errors.
    inline: Option<Arc<EvalConfig>>,
    read: HashMap<PathBuf, SetConfig>,
    /// The reported configs that sets pass over, by the paths at which they would be used.
    overlooked: HashSet<PathBuf>,
}

impl<'a> Configs<'a> {
    /// Finds the file, or checks the criteria, in the arguments.
    pub(crate) fn new(args: &'a Args, folders: &'a Folders, diagnostics: &mut Diagnostics) -> Self {
        let (mut named, mut inline) = (None, None);
        match &args.criteria {
            Criteria::Beside => {}
            Criteria::File(path) => named = diagnostics.ok(folders.file(path, "config file")),
            Criteria::Inline(criteria) => {
                let metrics = args.metric_names();
                let checked = check_config("criteria(..)", criteria.json.as_bytes(), &metrics);
                // ADK accepts a threshold that no score can reach, so a file with one loads. In an attribute
                // it is an error.
                let is_wrong =
                    |problem: &&Problem| problem.is_error() || problem.code == ProblemCode::ThresholdRange;
                for problem in checked.problems.iter().filter(is_wrong) {
                    criteria.report(problem, diagnostics);
                }
                for judged in judged_criteria(&checked, &metrics) {
                    let key = criteria.span_of(&judged.range);
                    diagnostics.needs(Feature::JUDGES, key, format!("{}, which", judged.message));
                }
                inline = checked.config.map(Arc::new);
            }
        }
        Self { args, folders, named, inline, read: HashMap::new(), overlooked: HashSet::new() }
    }

    /// The criteria of a set, and the absent files that would change them if they existed. `top` is the
    /// folder of the attribute, unless it names a single file.
    pub(crate) fn of(
        &mut self,
        set: &SourceFile,
        top: Option<&Path>,
        diagnostics: &mut Diagnostics,
    ) -> (SetConfig, Vec<String>) {
        match (&self.args.criteria, &self.named) {
            (Criteria::Inline(inline), _) => {
                let source = ConfigSource::Inline(inline.json.clone());
                (SetConfig { source, config: self.inline.clone() }, Vec::new())
            }
            (Criteria::File(path), Some(file)) => {
                (self.read(&file.clone(), path.span(), diagnostics), Vec::new())
            }
            // The missing file has been reported.
            (Criteria::File(_), None) => (SetConfig::unread(), Vec::new()),
            (Criteria::Beside, _) => {
                let beside = self.folders.beside(set, SHARED_CONFIG);
                let span = self.args.path.as_ref().map_or_else(Span::call_site, LitStr::span);
                if !beside.absolute.exists() {
                    self.report_overlooked(set, top, span, diagnostics);
                    return (SetConfig::adk_default(), self.absent(set, top));
                }
                (self.read(&beside, span, diagnostics), Vec::new())
            }
        }
    }

    /// A set without a config is scored with ADK's criteria. A config that only seems to apply to the set is
    /// an error.
    fn report_overlooked(
        &mut self,
        set: &SourceFile,
        top: Option<&Path>,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(found) = OverlookedConfig::of_set(&set.absolute, top) else { return };
        // All sets of a folder pass over the same config.
        if self.overlooked.insert(found.wanted.clone()) {
            let named = |path: &Path| self.folders.named(path);
            let help = format!("{}; without a config ADK's default criteria hold", found.help(named));
            diagnostics.error(span, found.message(named), help);
        }
    }

    /// The absent configs that the set would use, or pass over, if they existed.
    fn absent(&self, set: &SourceFile, top: Option<&Path>) -> Vec<String> {
        let beside = CONFIG_NAMES.iter().map(|name| self.folders.beside(set, name).relative);
        let folders = set.absolute.ancestors().skip(2);
        let above = folders.take_while(|folder| top.is_some_and(|top| folder.starts_with(top)));
        beside.chain(above.map(|folder| self.folders.relative(&folder.join(SHARED_CONFIG)))).collect()
    }

    fn read(&mut self, file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) -> SetConfig {
        if let Some(known) = self.read.get(&file.absolute) {
            return known.clone();
        }
        let config = match read_file(file) {
            Ok(bytes) => {
                let checked = check_config(&file.shown, &bytes, &self.args.metric_names());
                self.report(&checked, span, diagnostics);
                let source = ConfigSource::File(file.relative.clone());
                SetConfig { source, config: checked.config.map(Arc::new) }
            }
            Err(unreadable) => {
                unreadable.report(span, diagnostics);
                SetConfig::unread()
            }
        };
        self.read.insert(file.absolute.clone(), config.clone());
        config
    }

    fn report(&self, checked: &CheckedConfig, span: Span, diagnostics: &mut Diagnostics) {
        let (file, text) = (&checked.file, &checked.text);
        for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
            diagnostics.problem(span, problem, file, text);
        }
        for judged in judged_criteria(checked, &self.args.metric_names()) {
            diagnostics.file_needs(Feature::JUDGES, span, judged, file, text);
        }
    }
}
