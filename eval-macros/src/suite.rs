//! The tests of one attribute: which files, which cases, which names.
//!
//! All problems of all files are collected on the way.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use eval_format::__private::{simulated_users, test_names};
use eval_format::compat::{Incompatibility, check_compatibility, check_tools};
use eval_format::conventions::tool_list_path;
use eval_format::reader::{CaseSpan, CheckedSet, check_set};
use eval_format::tools::check_declarations;
use eval_format::{EvalCase, ToolSource, TurnAggregation};
use syn::LitStr;

use crate::args::Args;
use crate::configs::{ConfigSource, Configs, SetConfig};
use crate::diagnostics::Diagnostics;
use crate::faults::Faults;
use crate::features::Feature;
use crate::files::{Folders, Found, SourceFile};
use crate::filter::{Case, Filter};
use crate::memory::{Memory, Unreadable, read_file};
use crate::models::Models;
use crate::modules::module_paths;
use crate::recordings::Recording;

#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) sets: Vec<SuiteSet>,
    /// The file of faults of golden tools, relative to the package.
    pub(crate) faults: Option<String>,
    /// For a directory or a glob: the path as written. `sets` has its files.
    pub(crate) pattern: Option<String>,
}

#[derive(Debug)]
pub(crate) struct SuiteSet {
    pub(crate) file: SourceFile,
    pub(crate) read: Arc<ReadSet>,
    /// The modules around the tests, below the module of the function.
    pub(crate) modules: Vec<String>,
    pub(crate) cases: Vec<SuiteCase>,
    pub(crate) config: ConfigSource,
    /// The session file that is compiled in beside the set, relative to the package.
    pub(crate) session: Option<String>,
    /// The recording of judges' answers; `None` if nothing may ask a judge.
    pub(crate) recording: Option<Recording>,
    /// The recorded calls of models; `None` in a build that replays none.
    pub(crate) models: Option<Models>,
    /// The declarations of golden tools that are compiled in beside the set, relative to the package.
    pub(crate) tool_list: Option<String>,
    /// Config files, and declarations of tools, that do not exist, relative to the package. The tests are stale once one of them exists.
    pub(crate) absent: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct SuiteCase {
    pub(crate) name: String,
    pub(crate) span: CaseSpan,
}

impl Suite {
    /// Reads the files that the arguments name and reports all their problems.
    ///
    /// `None` if there is no path or no file, which has been reported.
    pub(crate) fn new(args: &Args, diagnostics: &mut Diagnostics) -> Option<Self> {
        let path = args.path.as_ref()?;
        let folders = diagnostics.ok(Folders::of(path.span()))?;
        let session = args.session.as_ref().map(|at| (at, diagnostics.ok(folders.file(at, "session file"))));
        let session = session.map(|(at, file)| Some((at, file?)));
        let faults = args.faults.as_ref().and_then(|at| Faults::named(at, &folders, diagnostics));
        let filter = Filter::parse(&args.cases, diagnostics);
        let mut collector = Collector {
            path,
            session: session.flatten(),
            filter,
            metric_names: args.metric_names(),
            gate: args.running.gate,
            tools: args.running.tools,
            configs: Configs::new(args, &folders, diagnostics),
            folders: &folders,
            diagnostics,
        };
        let mut suite = collector.suite()?;
        collector.check_filter(&suite);
        if let Some(faults) = faults {
            let sets = suite.sets.iter().map(|set| set.read.checked.set.as_ref());
            // If a set has errors, which are reported, it may expect any tool.
            if let Some(sets) = sets.collect::<Option<Vec<_>>>() {
                faults.check(sets.into_iter().flat_map(|set| &set.eval_cases), diagnostics);
            }
            suite.faults = Some(faults.file);
        }
        suite.check_model_faults(args, path, diagnostics);
        Some(suite)
    }
}

impl Suite {
    /// Reports faults of models that no call of a case can reach, and faults in a build that replays no calls.
    fn check_model_faults(&self, args: &Args, path: &LitStr, diagnostics: &mut Diagnostics) {
        let cases = || {
            self.sets.iter().flat_map(|set| {
                let all = set.read.checked.set.iter().flat_map(|read| &read.eval_cases);
                all.filter(|case| set.cases.iter().any(|taken| taken.span.eval_id == case.eval_id))
            })
        };
        if let Some(faults) = &args.model_faults {
            faults.check(cases(), diagnostics);
        }
        if cfg!(feature = "models") {
            return;
        }
        let own = cases().find(|case| case.extra.get(EvalCase::MODELS_KEY).is_some_and(|own| !own.is_null()));
        let found = match (&args.model_faults, own) {
            (Some(_), _) => "`model_faults`".to_owned(),
            (None, Some(case)) => format!("the key `{}` of case `{}`", EvalCase::MODELS_KEY, case.eval_id),
            (None, None) => return,
        };
        diagnostics.error(
            path.span(),
            format!("{found} needs the feature `models` of `eval-core`"),
            crate::models::ADD_THE_FEATURE,
        );
    }
}

struct Collector<'a> {
    path: &'a LitStr,
    session: Option<(&'a LitStr, SourceFile)>,
    filter: Filter,
    /// The custom metrics of the attribute.
    metric_names: Vec<&'a str>,
    gate: TurnAggregation,
    tools: ToolSource,
    configs: Configs<'a>,
    folders: &'a Folders,
    diagnostics: &'a mut Diagnostics,
}

impl Collector<'_> {
    fn suite(&mut self) -> Option<Suite> {
        match self.diagnostics.ok(self.folders.sets(self.path))? {
            Found::One(file) => {
                let sets = self.set(file, None, Vec::new()).into_iter().collect();
                Some(Suite { sets, faults: None, pattern: None })
            }
            Found::Many(members) => {
                let below: Vec<&str> = members.iter().map(|member| member.below.as_str()).collect();
                let modules = module_paths(&below);
                let sets = members.into_iter().zip(modules).filter_map(|(member, path)| {
                    let top = member.top().map(Path::to_path_buf);
                    self.set(member.file, top.as_deref(), path)
                });
                Some(Suite { sets: sets.collect(), faults: None, pattern: Some(self.path.value()) })
            }
        }
    }

    /// `top` is the folder of the attribute, or the fixed part of its pattern; `None` if it names one file.
    fn set(&mut self, file: SourceFile, top: Option<&Path>, modules: Vec<String>) -> Option<SuiteSet> {
        let session = self.session.as_ref().map(|(_, file)| file.clone());
        let read = match read_set(&file, session.as_ref()) {
            Ok(read) => read,
            Err(unreadable) => {
                unreadable.report(self.path.span(), self.diagnostics);
                return None;
            }
        };
        self.report(&read);
        let taken = self.taken(&read.checked);
        self.report_drafts(&read, &taken);
        let session = session.filter(|_| read.session.is_some()).map(|file| file.relative);
        let recording = Recording::beside(&file, self.folders, self.path.span(), self.diagnostics);
        let models = Models::beside(&file, self.folders, self.path.span(), self.diagnostics);
        let (config, mut absent) = self.configs.of(&file, top, self.diagnostics);
        let tool_list = self.tool_list(&file, &mut absent);
        self.report_incompatibilities(&read, &config, &taken);
        self.report_simulated_users(&read, &taken);
        // All names are made before the filter: it must not change the names of the tests that it leaves.
        let names = test_names(read.checked.cases.iter().map(|case| case.eval_id.as_str()));
        let cases = names.into_iter().zip(&read.checked.cases);
        let cases = cases
            .filter(|(_, case)| taken.contains(case.eval_id.as_str()))
            .map(|(name, span)| SuiteCase { name, span: span.clone() })
            .collect();
        let may_ask = config.asks_judge()
            || !self.metric_names.is_empty()
            || recording.questions.is_some()
            || read.may_simulate_users();
        let (config, recording) = (config.source, may_ask.then_some(recording));
        Some(SuiteSet { file, read, modules, cases, config, session, recording, models, tool_list, absent })
    }

    /// The declarations of tools beside a set, checked, or the name of the file that is absent.
    fn tool_list(&mut self, set: &SourceFile, absent: &mut Vec<String>) -> Option<String> {
        if self.tools == ToolSource::Real {
            return None;
        }
        let file = self.folders.beside(set, &tool_list_path(set.name()));
        if file.absolute.symlink_metadata().is_err() {
            absent.push(file.relative);
            return None;
        }
        match read_file(&file) {
            Ok(bytes) => {
                let checked = check_declarations(&file.shown, &bytes);
                for problem in &checked.problems {
                    self.diagnostics.problem(self.path.span(), problem, &checked.file, &checked.text);
                }
            }
            Err(unreadable) => unreadable.report(self.path.span(), self.diagnostics),
        }
        Some(file.relative)
    }

    /// The ids of the cases that `cases` takes.
    fn taken<'s>(&self, checked: &'s CheckedSet) -> HashSet<&'s str> {
        cases(checked).filter(|case| self.filter.takes(case)).map(|case| case.id).collect()
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

    /// Reports the drafts of a file in one error, unless `cases` leaves them out.
    fn report_drafts(&mut self, read: &ReadSet, taken: &HashSet<&str>) {
        let checked = &read.checked;
        if let Some(problem) = checked.draft_problem(|eval_id| taken.contains(eval_id)) {
            self.diagnostics.problem(self.path.span(), &problem, &checked.file, &checked.text);
        }
    }

    /// Reports the cases that the criteria do not decide, or that lack data a criterion or golden tools need, unless
    /// `cases` leaves them out.
    fn report_incompatibilities(&mut self, read: &ReadSet, config: &SetConfig, taken: &HashSet<&str>) {
        let checked = &read.checked;
        let Some(set) = &checked.set else { return };
        let mut all: Vec<Incompatibility> = check_tools(self.tools, &set.eval_cases);
        if let Some(config) = &config.config {
            all.extend(check_compatibility(config, &self.metric_names, self.gate, &set.eval_cases));
        }
        for found in all {
            if found.eval_id.as_ref().is_none_or(|id| taken.contains(id.as_str())) {
                let problem = found.problem(checked);
                self.diagnostics.problem(self.path.span(), &problem, &checked.file, &checked.text);
            }
        }
    }

    /// Reports the cases with simulated users, which need the feature `judges`, unless `cases` leaves them
    /// out.
    fn report_simulated_users(&mut self, read: &ReadSet, taken: &HashSet<&str>) {
        let checked = &read.checked;
        for (case, problem) in simulated_users(checked) {
            if taken.contains(case.eval_id.as_str()) {
                let (file, text) = (&checked.file, &checked.text);
                self.diagnostics.file_needs(Feature::JUDGES, self.path.span(), problem, file, text);
            }
        }
    }

    /// Checks the filter against the cases of all files together.
    fn check_filter(&mut self, suite: &Suite) {
        let sets: Vec<&CheckedSet> = suite.sets.iter().map(|set| &set.read.checked).collect();
        let cases: Vec<Case<'_>> = sets.iter().flat_map(|checked| cases(checked)).collect();
        // If no case is known, the files have problems, which have been reported.
        if !cases.is_empty() {
            let tags_are_known = sets.iter().all(|checked| checked.set.is_some());
            self.filter.check(&cases, tags_are_known, self.diagnostics);
        }
    }
}

/// The cases of a set. If the set has errors, their tags are not known.
fn cases(checked: &CheckedSet) -> impl Iterator<Item = Case<'_>> {
    let placed = checked.cases.iter().filter(|_| checked.set.is_none());
    let placed = placed.map(|span| Case { id: &span.eval_id, tags: Vec::new() });
    checked.set.iter().flat_map(|set| &set.eval_cases).map(Case::new).chain(placed)
}

#[derive(Debug)]
pub(crate) struct ReadSet {
    pub(crate) checked: CheckedSet,
    /// The bytes of the session file that belongs to it.
    pub(crate) session: Option<Vec<u8>>,
}

impl ReadSet {
    /// Whether a model plays the user in some case. The cases of a file with errors are unknown, so they may
    /// have one.
    pub(crate) fn may_simulate_users(&self) -> bool {
        let set = self.checked.set.as_ref();
        set.is_none_or(|set| set.eval_cases.iter().any(|case| case.conversation_scenario.is_some()))
    }
}

/// Reads and checks a set, with the session file if one was named.
pub(crate) fn read_set(set: &SourceFile, session: Option<&SourceFile>) -> Result<Arc<ReadSet>, Unreadable> {
    let files: Vec<&SourceFile> = std::iter::once(set).chain(session).collect();
    MEMORY.get(&files, || {
        let bytes = read_file(set)?;
        let session_file = session.map(read_file).transpose()?;
        let named = session.zip(session_file.as_ref()).map(|(at, file)| (at.shown.as_str(), file.as_slice()));
        Ok(ReadSet { checked: check_set(&set.shown, &bytes, named), session: session_file })
    })
}

static MEMORY: Memory<ReadSet> = Memory::new();
