//! Everything the expansion needs to know: which files, which cases, which names.
//!
//! All problems of all files are collected on the way.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use eval_format::{CasePlace, Code, EvalConfig, Problem, check_config, test_names};
use proc_macro2::Span;
use syn::LitStr;

use crate::args::{Args, Criteria, CustomMetric};
use crate::cases::Filter;
use crate::diagnostics::{Diagnostics, code_list};
use crate::files::{Folders, Found, SourceFile};
use crate::modules::module_paths;
use crate::sets::{ReadError, ReadSet, read_file, read_set};

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
    pub(crate) session: Option<PlannedFile>,
    /// Files that would count if they existed, relative to the package.
    pub(crate) absent: Vec<String>,
}

/// One test.
#[derive(Debug)]
pub(crate) struct PlannedCase {
    pub(crate) name: String,
    pub(crate) place: CasePlace,
}

/// A file that is compiled in beside the set.
#[derive(Clone, Debug)]
pub(crate) struct PlannedFile {
    pub(crate) relative: String,
    pub(crate) hash: u64,
}

/// Where the criteria come from.
#[derive(Clone, Debug)]
pub(crate) enum PlannedConfig {
    /// ADK's own.
    Default,
    /// `criteria(...)`, as JSON.
    Inline(String),
    File(PlannedFile),
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
            configs: Configs::new(args, &folders, diagnostics),
            folders: &folders,
            diagnostics,
        };
        let plan = planner.plan()?;
        planner.finish(&plan, &args.metrics);
        Some(plan)
    }
}

struct Planner<'a> {
    path: &'a LitStr,
    session: Option<(&'a LitStr, SourceFile)>,
    filter: Filter,
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
        let session = session.zip(read.session.as_ref());
        let session = session.map(|(at, file)| PlannedFile { relative: at.relative, hash: file.hash });
        let (config, absent) = self.configs.of(&file, self.diagnostics);
        // All names first: what is filtered out must not rename what is left.
        let names = test_names(read.checked.cases.iter().map(|case| case.eval_id.as_str()));
        let cases = names.into_iter().zip(&read.checked.cases);
        let cases = cases
            .filter(|(_, case)| self.filter.takes(&case.eval_id))
            .map(|(name, place)| PlannedCase { name, place: place.clone() })
            .collect();
        Some(PlannedSet { file, read, modules, cases, config, session, absent })
    }

    fn report(&mut self, read: &ReadSet) {
        let checked = &read.checked;
        let span = self.path.span();
        for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
            if !self.is_left_out(problem, &checked.cases) {
                self.diagnostics.problem(span, problem, &checked.file, &checked.text);
            }
        }
        if let (Some((path, at)), Some(file)) = (&self.session, &read.session) {
            let text = String::from_utf8_lossy(&file.bytes);
            for problem in checked.session_problems.iter().filter(|problem| problem.is_error()) {
                self.diagnostics.problem(path.span(), problem, &at.shown, &text);
            }
        }
    }

    /// A case that this version cannot run is no problem where `cases` leaves it out.
    fn is_left_out(&self, problem: &Problem, cases: &[CasePlace]) -> bool {
        problem.code == Code::NotAvailable
            && cases.iter().any(|case| {
                case.range.start <= problem.range.start
                    && problem.range.end <= case.range.end
                    && !self.filter.takes(&case.eval_id)
            })
    }

    /// Checks what can only be seen with all files at hand.
    fn finish(&mut self, plan: &Plan, metrics: &[CustomMetric]) {
        let cases = plan.sets.iter().flat_map(|set| &set.read.checked.cases);
        let mut ids: Vec<&str> = cases.map(|case| case.eval_id.as_str()).collect();
        // Files of a directory may use an id each.
        ids.sort_unstable();
        ids.dedup();
        // In a file that cannot be read no id is known, and its problems have been reported.
        if !ids.is_empty() {
            self.filter.check(&ids, self.diagnostics);
        }
        self.configs.check_use(metrics, self.diagnostics);
    }
}

/// The criteria of each set, each file of them read once.
struct Configs<'a> {
    args: &'a Args,
    folders: &'a Folders,
    explicit: Option<SourceFile>,
    read: HashMap<PathBuf, Rc<ReadConfig>>,
    /// Whether a config could not be used, so that nothing can be said about the others.
    broken: bool,
}

/// A config that was read, and what it became.
struct ReadConfig {
    planned: PlannedConfig,
    config: Option<EvalConfig>,
}

impl<'a> Configs<'a> {
    fn new(args: &'a Args, folders: &'a Folders, diagnostics: &mut Diagnostics) -> Self {
        let mut configs = Self { args, folders, explicit: None, read: HashMap::new(), broken: false };
        match &args.criteria {
            Criteria::Beside => {}
            Criteria::File(path) => {
                configs.explicit = diagnostics.ok(folders.file(path, "config file"));
                configs.broken = configs.explicit.is_none();
            }
            Criteria::Inline(inline) => {
                let checked = check_config("criteria", inline.json.as_bytes(), &args.metric_names());
                for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
                    inline.report(problem, diagnostics);
                }
                configs.broken = checked.config.is_none();
                let planned = PlannedConfig::Inline(inline.json.clone());
                let read = ReadConfig { planned, config: checked.config };
                configs.read.insert(PathBuf::new(), Rc::new(read));
            }
        }
        configs
    }

    /// The criteria of a set, and the files that would have given others.
    fn of(&mut self, set: &SourceFile, diagnostics: &mut Diagnostics) -> (PlannedConfig, Vec<String>) {
        let (file, span) = match (&self.args.criteria, &self.explicit, &self.args.path) {
            (Criteria::Inline(inline), ..) => {
                return (PlannedConfig::Inline(inline.json.clone()), Vec::new());
            }
            (Criteria::File(path), Some(file), _) => (file.clone(), path.span()),
            (Criteria::File(_), None, _) => return (PlannedConfig::Default, Vec::new()),
            (Criteria::Beside, _, path) => {
                let beside = self.folders.beside(set, "test_config.json");
                if !beside.absolute.is_file() {
                    return (PlannedConfig::Default, vec![beside.relative]);
                }
                (beside, path.as_ref().map_or_else(Span::call_site, LitStr::span))
            }
        };
        if let Some(read) = self.read.get(&file.absolute) {
            return (read.planned.clone(), Vec::new());
        }
        let read = Rc::new(self.read(&file, span, diagnostics));
        self.read.insert(file.absolute, Rc::clone(&read));
        (read.planned.clone(), Vec::new())
    }

    fn read(&mut self, file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) -> ReadConfig {
        let bytes = match read_file(file) {
            Ok(read) => read,
            Err(error) => {
                report_unreadable(&error, span, diagnostics);
                self.broken = true;
                return ReadConfig { planned: PlannedConfig::Default, config: None };
            }
        };
        let checked = check_config(&file.shown, &bytes.bytes, &self.args.metric_names());
        for problem in checked.problems.iter().filter(|problem| problem.is_error()) {
            diagnostics.problem(span, problem, &checked.file, &checked.text);
        }
        self.broken |= checked.config.is_none();
        let planned = PlannedFile { relative: file.relative.clone(), hash: bytes.hash };
        ReadConfig { planned: PlannedConfig::File(planned), config: checked.config }
    }

    /// Reports custom metrics that no criteria ask for: they would never be computed.
    fn check_use(&self, metrics: &[CustomMetric], diagnostics: &mut Diagnostics) {
        if self.broken {
            return;
        }
        for metric in metrics {
            let configs = self.read.values().filter_map(|read| read.config.as_ref());
            if !configs.into_iter().any(|config| config.criterion(&metric.name).is_some()) {
                let name = &metric.name;
                diagnostics.error(
                    metric.span,
                    format!("no criterion asks for the metric `{name}`"),
                    format!("give it a threshold: `criteria({name} = 0.8)`, or the same in the config file"),
                );
            }
        }
    }
}

fn report_unreadable(error: &ReadError, span: Span, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        span,
        format!("cannot read {}: {}", code_list(&[&error.file]), error.error),
        "check that it is a file that you may read",
    );
}
