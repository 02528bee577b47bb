//! Everything the expansion needs to know: which files, which cases, which names.
//!
//! All problems of all files are collected on the way.

use std::io;
use std::sync::Arc;

use eval_format::{CaseSpan, check_compatibility, test_names};
use proc_macro2::Span;
use syn::LitStr;

use crate::args::Args;
use crate::cases::Filter;
use crate::configs::{Chosen, Configs};
use crate::diagnostics::{Diagnostics, code_list};
use crate::files::{Folders, Found, SourceFile};
use crate::modules::module_paths;
use crate::recordings::PlannedRecording;
use crate::sets::{ReadError, ReadSet, read_set};

/// The tests to generate.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) sets: Vec<PlannedSet>,
    /// For a directory or a glob: the path as written. Its files are those of `sets`.
    pub(crate) pattern: Option<String>,
}

/// The tests of one file.
#[derive(Debug)]
pub(crate) struct PlannedSet {
    pub(crate) file: SourceFile,
    pub(crate) read: Arc<ReadSet>,
    /// The modules around the tests, below that of the function.
    pub(crate) modules: Vec<String>,
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) config: PlannedConfig,
    /// Whether anything may ask a judge, or was recorded.
    pub(crate) may_ask: bool,
    /// The session file that is compiled in beside the set, relative to the package.
    pub(crate) session: Option<String>,
    pub(crate) recording: PlannedRecording,
    /// Files that would count if they existed, relative to the package.
    pub(crate) absent: Vec<String>,
}

/// One test.
#[derive(Debug)]
pub(crate) struct PlannedCase {
    pub(crate) name: String,
    pub(crate) place: CaseSpan,
}

/// Where the criteria come from.
#[derive(Clone, Debug)]
pub(crate) enum PlannedConfig {
    /// ADK's own.
    Default,
    /// `criteria(...)`, as JSON.
    Inline(String),
    /// A file that is compiled in beside the set, relative to the package.
    File(String),
}

impl Plan {
    /// Looks at the files that the arguments name and reports all that is wrong with them.
    ///
    /// Without a path there is nothing to look at, which has been reported.
    pub(crate) fn new(args: &Args, diagnostics: &mut Diagnostics) -> Option<Self> {
        let path = args.path.as_ref()?;
        let folders = diagnostics.ok(Folders::of(path.span()))?;
        let session = args.session.as_ref().map(|at| (at, diagnostics.ok(folders.file(at, "session file"))));
        let session = session.map(|(at, file)| Some((at, file?)));
        let filter = Filter::parse(&args.cases, diagnostics);
        let mut planner = Planner {
            path,
            session: session.flatten(),
            filter,
            metric_names: args.metric_names(),
            configs: Configs::new(args, &folders, diagnostics),
            folders: &folders,
            diagnostics,
        };
        let plan = planner.plan()?;
        planner.check_filter(&plan);
        Some(plan)
    }
}

struct Planner<'a> {
    path: &'a LitStr,
    session: Option<(&'a LitStr, SourceFile)>,
    filter: Filter,
    /// The custom metrics of the attribute.
    metric_names: Vec<&'a str>,
    configs: Configs<'a>,
    folders: &'a Folders,
    diagnostics: &'a mut Diagnostics,
}

impl Planner<'_> {
    fn plan(&mut self) -> Option<Plan> {
        match self.diagnostics.ok(self.folders.sets(self.path))? {
            Found::One(file) => {
                let sets = self.set(file, Vec::new()).into_iter().collect();
                Some(Plan { sets, pattern: None })
            }
            Found::Many(members) => {
                let below: Vec<&str> = members.iter().map(|member| member.below.as_str()).collect();
                let modules = module_paths(&below);
                let sets =
                    members.into_iter().zip(modules).filter_map(|(member, path)| self.set(member.file, path));
                Some(Plan { sets: sets.collect(), pattern: Some(self.path.value()) })
            }
        }
    }

    fn set(&mut self, file: SourceFile, modules: Vec<String>) -> Option<PlannedSet> {
        let session = self.session.as_ref().map(|(_, file)| file.clone());
        let read = match read_set(&file, session.as_ref()) {
            Ok(read) => read,
            Err(error) => {
                report_unreadable(&error, self.path.span(), self.diagnostics);
                return None;
            }
        };
        self.report(&read);
        let session = session.filter(|_| read.session.is_some()).map(|file| file.relative);
        let recording = PlannedRecording::beside(&file, self.folders, self.path.span(), self.diagnostics);
        let (chosen, absent) = self.configs.of(&file, self.diagnostics);
        self.report_misfits(&read, &chosen);
        // All names first: what is filtered out must not rename what is left.
        let names = test_names(read.checked.cases.iter().map(|case| case.eval_id.as_str()));
        let cases = names.into_iter().zip(&read.checked.cases);
        let cases = cases
            .filter(|(_, case)| self.filter.takes(&case.eval_id))
            .map(|(name, place)| PlannedCase { name, place: place.clone() })
            .collect();
        let may_ask = chosen.asks_judge()
            || !self.metric_names.is_empty()
            || recording.questions.is_some()
            || has_scenario(&read);
        let config = chosen.planned;
        Some(PlannedSet { file, read, modules, cases, config, may_ask, session, recording, absent })
    }

    fn report(&mut self, read: &ReadSet) {
        let checked = &read.checked;
        let span = self.path.span();
        for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
            self.diagnostics.problem(span, problem, &checked.file, &checked.text);
        }
        if let (Some((path, at)), Some(file)) = (&self.session, &read.session) {
            let text = String::from_utf8_lossy(file);
            for problem in checked.session_problems.iter().filter(|problem| problem.is_error()) {
                self.diagnostics.problem(path.span(), problem, &at.shown, &text);
            }
        }
    }

    /// Reports the cases that the criteria do not decide or that lack what a criterion needs, but for those
    /// that `cases` leaves out.
    fn report_misfits(&mut self, read: &ReadSet, chosen: &Chosen) {
        let checked = &read.checked;
        let (Some(config), Some(set)) = (&chosen.config, &checked.set) else { return };
        for misfit in check_compatibility(config, &self.metric_names, &set.eval_cases) {
            if misfit.eval_id.as_ref().is_none_or(|id| self.filter.takes(id)) {
                let problem = misfit.problem(checked);
                self.diagnostics.problem(self.path.span(), &problem, &checked.file, &checked.text);
            }
        }
    }

    /// Whether the filter fits can only be seen with all files at hand.
    fn check_filter(&mut self, plan: &Plan) {
        let cases = plan.sets.iter().flat_map(|set| &set.read.checked.cases);
        let mut ids: Vec<&str> = cases.map(|case| case.eval_id.as_str()).collect();
        // Files of a directory may use an id each.
        ids.sort_unstable();
        ids.dedup();
        // In a file that cannot be read no id is known, and its problems have been reported.
        if !ids.is_empty() {
            self.filter.check(&ids, self.diagnostics);
        }
    }
}

/// Whether a model plays the user in some case; where cases cannot be told, there may be one.
fn has_scenario(read: &ReadSet) -> bool {
    let set = read.checked.set.as_ref();
    set.is_none_or(|set| set.eval_cases.iter().any(|case| case.conversation_scenario.is_some()))
}

pub(crate) fn report_unreadable(error: &ReadError, span: Span, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        span,
        format!("cannot read {}: {}", code_list(&[&error.file]), error.error),
        match error.error.kind() {
            io::ErrorKind::NotFound => {
                "it is a link that leads nowhere: restore the file that it names, or remove it"
            }
            _ => "check that it is a file that you may read",
        },
    );
}
