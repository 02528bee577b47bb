//! The recorded run that a command is about.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use eval_core::EvalReport;
use eval_core::journal::Head;
use eval_core::journal::file_names::LATEST;
use eval_core::journal::runs::is_id;
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::variables::{ATTEMPT, DIR, RUN_ID};

use super::folder::{self, Meant};
use crate::journal::{ReadRunError, RecordedRun, RecordedTest, revision_of_run};
use crate::output::CommandError;

#[derive(Clone, Debug, Default)]
pub struct WhichRun {
    /// The id or the folder of the run; `None` for the last run of this package or workspace.
    pub run: Option<String>,
    /// The partitions of a test run that ran separately. Each is an id, the folder of a run, or a folder of
    /// runs, which means its last run.
    pub merge: Vec<String>,
    /// The run, if it was fetched from a store.
    pub fetched: Option<FetchedRun>,
}

#[derive(Clone, Debug)]
pub struct FetchedRun {
    folder: PathBuf,
    is_named: bool,
}

/// The folder of a run: the run with this id or folder, else the last run of this project.
pub fn run_folder(name: Option<&str>) -> Result<PathBuf, CommandError> {
    folder::meant(name).map(|meant| meant.folder)
}

impl WhichRun {
    /// The run with this id or folder; without one, the last run.
    pub fn named(run: Option<String>) -> Self {
        Self { run, ..Self::default() }
    }

    /// The run in this folder, in place of the run that the arguments name.
    #[must_use]
    pub fn fetched(&self, folder: PathBuf) -> Self {
        Self { fetched: Some(FetchedRun { folder, is_named: self.run.is_some() }), ..Self::default() }
    }

    pub fn load(&self) -> Result<LoadedRun, CommandError> {
        self.read(RecordedRun::read_all)
    }

    /// Reads the run without what agents and judges said.
    pub fn load_outline(&self) -> Result<LoadedRun, CommandError> {
        self.read(RecordedRun::outline)
    }

    fn read(
        &self,
        read: impl FnOnce(&[PathBuf]) -> Result<RecordedRun, ReadRunError>,
    ) -> Result<LoadedRun, CommandError> {
        let (meant, args) = match (&self.fetched, &self.run) {
            (Some(FetchedRun { folder, is_named }), _) => {
                let foreign = folder::foreign(folder);
                let meant = Meant { folder: folder.clone(), foreign, is_named: *is_named };
                (vec![meant], vec![folder.display().to_string()])
            }
            (None, None) if self.merge.is_empty() => (vec![folder::meant(None)?], Vec::new()),
            (None, None) => {
                let parts: Result<_, _> = self.merge.iter().map(|name| folder::meant(Some(name))).collect();
                (parts?, [&["--merge".to_owned()], self.merge.as_slice()].concat())
            }
            (None, Some(name)) => (vec![folder::meant(Some(name))?], vec![name.clone()]),
        };
        let is_named = meant.iter().all(|meant| meant.is_named);
        // If a name, a folder or the variable chose the run, another owner is a note and no doubt.
        let is_doubt = self.fetched.is_some() && !is_named && folder::named_by_variable().is_none();
        let whose = meant.iter().find_map(|meant| meant.foreign.clone()).map(|said| Whose { said, is_doubt });
        let folders: Vec<PathBuf> = meant.into_iter().map(|meant| meant.folder).collect();
        let run = read(&folders).map_err(|error| {
            let is_missing = match &error {
                ReadRunError::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
                _ => true,
            };
            let help = if matches!(error, ReadRunError::Repeated(_)) {
                "name each part of the run once"
            } else if !is_named && self.fetched.is_none() {
                "it is the newest run here; what began it was killed, or its disk was full: run the tests again, or name an \
                 older run"
            } else if is_missing {
                "name the folder of a run; the tests of `#[eval_set]` record their runs below `target/evalset`"
            } else {
                "give this user permission to read it, or name another run"
            };
            CommandError::new(error.to_string(), help)
        })?;
        Ok(LoadedRun { is_named, whose, ..LoadedRun::named(run, folders, args) })
    }
}

#[derive(Debug)]
pub struct LoadedRun {
    pub run: RecordedRun,
    pub folders: Vec<PathBuf>,
    args: Vec<String>,
    /// Whether the caller named the run, rather than meaning the last one.
    pub(super) is_named: bool,
    /// Whether a process writes in it: a test without a verdict may still get one.
    pub is_running: bool,
    /// The owner of the run, if it is of another project, or of a project above the current folder.
    pub(super) whose: Option<Whose>,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Journal,
    /// A journal whose cases were scored again. `added` has a sentence for each case that was added since.
    Rescored {
        added: Vec<String>,
    },
    /// A report in memory.
    Report {
        /// Whether the time of its beginning is known.
        is_timed: bool,
        /// Whether all questions to judges are known. The questions of simulated users are not.
        tells_questions: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Whose {
    pub(super) said: String,
    /// Whether that is a doubt: the run was not named.
    pub(super) is_doubt: bool,
}

impl LoadedRun {
    fn named(run: RecordedRun, folders: Vec<PathBuf>, args: Vec<String>) -> Self {
        Self { run, folders, args, is_named: true, is_running: false, whose: None, source: Source::Journal }
    }

    pub fn own(folder: PathBuf) -> Result<Self, ReadRunError> {
        let mut run = RecordedRun::read_all(std::slice::from_ref(&folder))?;
        // If the variables name the run, other processes may have written in it.
        let own = std::process::id();
        run.processes.retain(|head| head.pid == own);
        run.tests.iter_mut().for_each(|test| test.attempts.retain(|attempt| attempt.head.pid == own));
        run.tests.retain(|test| !test.attempts.is_empty());
        run.unlisted.retain(|head| head.pid == own);
        // This process has not ended yet.
        run.unended.clear();
        let ids = run.ids.clone();
        Ok(Self { is_named: !ids.is_empty(), ..Self::named(run, vec![folder], ids) })
    }

    /// The run in a folder, by its id, or as the newest one by `latest`. `outline` leaves out what agents and judges said.
    pub fn of_folder(id: String, folder: PathBuf, outline: bool) -> Result<Self, ReadRunError> {
        let whose = folder::foreign(&folder).map(|said| Whose { said, is_doubt: false });
        let folders = vec![folder];
        let read = if outline { RecordedRun::outline(&folders) } else { RecordedRun::read_all(&folders) };
        let (is_named, args) = if id == LATEST { (false, Vec::new()) } else { (true, vec![id]) };
        Ok(Self { is_named, whose, ..Self::named(read?, folders, args) })
    }

    /// The run of a report in memory, and when it began if that is known.
    pub fn of_report(report: &EvalReport, began: Option<SystemTime>) -> Self {
        let ended = SystemTime::now();
        let started = began.unwrap_or(ended);
        let tests = report.cases.iter().map(|case| RecordedTest::of_report(case, started, ended));
        let mut run = RecordedRun { tests: tests.collect(), ..RecordedRun::default() };
        run.processes.extend(began.map(|began| Arc::new(Head::unwritten(began))));
        let source = Source::Report {
            is_timed: began.is_some(),
            tells_questions: report.cases.iter().all(|case| case.case.conversation_scenario.is_none()),
        };
        Self { source, ..Self::named(run, Vec::new(), Vec::new()) }
    }

    /// The same run with the tests as they were scored again. `added` has a sentence for each case that was added since.
    #[must_use]
    pub fn rescored(&self, tests: Vec<RecordedTest>, added: Vec<String>) -> Self {
        Self { source: Source::Rescored { added }, ..self.reread(RecordedRun { tests, ..self.run.clone() }) }
    }

    /// Whether a journal records it, rather than a report in memory.
    pub fn is_recorded(&self) -> bool {
        !matches!(self.source, Source::Report { .. })
    }

    /// A sentence for each case that was added before the run was scored again; `None` if it was not scored again.
    pub(super) fn added(&self) -> Option<&[String]> {
        match &self.source {
            Source::Rescored { added } => Some(added),
            Source::Journal | Source::Report { .. } => None,
        }
    }

    /// Whether the time of its beginning is known.
    pub(crate) fn is_timed(&self) -> bool {
        !matches!(self.source, Source::Report { is_timed: false, .. })
    }

    /// Whether all questions to judges are known.
    pub(crate) fn tells_questions(&self) -> bool {
        !matches!(self.source, Source::Report { tells_questions: false, .. })
    }

    /// The same choice of a run, with other records.
    pub(super) fn reread(&self, run: RecordedRun) -> Self {
        Self {
            run,
            folders: self.folders.clone(),
            args: self.args.clone(),
            whose: self.whose.clone(),
            source: self.source.clone(),
            ..*self
        }
    }

    #[must_use]
    pub fn lacking(mut self, part: Option<String>) -> Self {
        self.run.missing_parts.extend(part);
        self
    }

    pub fn name(&self) -> String {
        match self.run.ids.as_slice() {
            [] => "(no id)".to_owned(),
            ids => one_line(&ids.join(" + ")),
        }
    }

    /// The commit that was checked out when it began; `None` if its folders do not tell.
    pub fn commit(&self) -> Option<String> {
        self.folders.iter().find_map(|folder| revision_of_run(folder)).map(|revision| revision.commit)
    }

    /// Whether tracked files differed from the commit when a process of the run began. An older record, and one of tests, does not
    /// tell.
    pub fn is_dirty(&self) -> bool {
        self.run.processes.iter().any(|head| head.dirty == Some(true))
    }

    /// The arguments that name the run for another command, each followed by a space. Empty for the last run.
    pub fn args(&self) -> String {
        self.args.iter().map(|word| shell::word(word) + " ").collect()
    }

    /// The variables with which test processes record the next attempt in this run. With several parts, the last one records it.
    ///
    /// Fails if the folder cannot be the folder of a run.
    pub fn next_attempt(&self) -> Result<[(&'static str, OsString); 3], CommandError> {
        let attempts = self.run.tests.iter().flat_map(|test| &test.attempts);
        let last = attempts.map(|attempt| attempt.started.attempt).max().unwrap_or(1);
        let attempt = u16::try_from(last).unwrap_or(u16::MAX).saturating_add(1);
        let folder = self.folders.last().and_then(|folder| folder.canonicalize().ok());
        let named = folder.as_deref().and_then(|folder| {
            let id = folder.file_name()?.to_str().filter(|id| is_id(id))?;
            Some([(DIR, folder.parent()?.into()), (RUN_ID, id.into()), (ATTEMPT, attempt.to_string().into())])
        });
        named.ok_or_else(|| {
            let shown = self.folders.last().map(|folder| one_line(&folder.display().to_string()));
            let shown = shown.unwrap_or_default();
            let message = format!("nothing can be recorded in `{shown}`, whose name is no name of a run");
            CommandError::new(message, "give the folder a plain name: `a-z`, `0-9`, `-`, `_` and `.`")
        })
    }

    /// The run as it is now, without what agents and judges said.
    pub fn read_again(&self) -> Result<Self, CommandError> {
        let run = RecordedRun::outline(&self.folders);
        let help = "the folder was changed while the tests ran: run all tests again";
        let run = run.map_err(|error| CommandError::new(error.to_string(), help))?;
        Ok(self.reread(run))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use eval_core::journal::{SCHEMA, sealed_line};
    use serde_json::json;

    use super::*;

    /// The folder of a run of a program, in which a case passed.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = "2026-11-22T02:31:07.250Z";
        let turn = json!({
            "invocation_id": "t", "user_content": { "parts": [{ "text": "?" }] }, "creation_timestamp": 1.0, "events": [],
        });
        let session = json!({ "app_name": "a", "user_id": "u", "session_id": "s" });
        let lines = [
            json!({ "record": "head", "schema": SCHEMA, "evalset": "0", "run": "r1", "pid": 1, "started": at }),
            json!({ "record": "started", "test": 1, "name": "s/c", "of_program": true, "eval_id": "c", "asks": "0", "expects": "1",
                "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1, "at": at }),
            json!({ "record": "ran", "test": 1, "run": 1, "evaluation": 1, "transcript": { "session": session, "turns": [turn] } }),
            json!({ "record": "decided", "test": 1, "verdict": { "is": "passed" }, "elapsed": 1.0, "at": at }),
            json!({ "record": "ended", "at": at }),
        ];
        let text: String = (1..).zip(&lines).map(|(number, line)| sealed_line(line, number)).collect();
        fs::write(folder.path().join("a-b-1-0.jsonl"), text).unwrap();
        folder
    }

    #[test]
    fn a_run_of_a_folder_is_named_unless_it_is_the_latest_and_its_outline_has_no_turns() {
        let folder = folder();
        for (id, is_outline, is_named, args) in [
            ("r1", false, true, "r1 "),
            ("r1", true, true, "r1 "),
            (LATEST, true, false, ""),
            ("r 1", false, true, "'r 1' "),
        ] {
            let run = LoadedRun::of_folder(id.to_owned(), folder.path().to_owned(), is_outline).unwrap();
            let turns = run.run.tests[0].attempts[0].evaluations[0].ran.transcript.turns.len();
            assert_eq!(
                (run.is_named, &*run.args(), turns),
                (is_named, args, usize::from(!is_outline)),
                "{id}"
            );
            assert_eq!(run.name(), "r1");
            assert!(run.is_recorded() && run.tells_questions() && run.is_timed());
        }
    }

    #[test]
    fn a_run_that_is_named_is_the_one_in_its_folder() {
        let folder = folder();
        let path = folder.path().to_str().unwrap().to_owned();
        assert_eq!(run_folder(Some(&path)).unwrap(), folder.path());
        let which = WhichRun::named(Some(path.clone()));
        assert_eq!(which.run.as_deref(), Some(&*path));
        assert_eq!(which.load_outline().unwrap().args(), shell::word(&path) + " ");
        assert_eq!(WhichRun::named(None).fetched(folder.path().to_owned()).run, None);
        // A store has many projects' runs: one that was not named has to be of this one.
        for (which, is_doubt) in
            [(WhichRun::named(None), true), (WhichRun::named(Some("r1".to_owned())), false)]
        {
            let whose = which.fetched(folder.path().to_owned()).load().unwrap().whose;
            assert_eq!(whose.map(|whose| whose.is_doubt), Some(is_doubt));
        }
    }

    #[test]
    fn a_run_that_cannot_be_read_is_an_error_with_advice() {
        let folder = tempfile::tempdir().unwrap();
        let named =
            |path: &std::path::Path| WhichRun::named(Some(path.display().to_string())).load().unwrap_err();
        let empty = named(folder.path());
        assert!(empty.message.contains("holds no journal"), "{empty}");
        assert!(empty.help.starts_with("name the folder of a run"), "{empty}");
        let missing =
            LoadedRun::of_folder("r1".to_owned(), folder.path().join("missing"), false).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read"), "{missing}");
    }

    #[test]
    fn a_report_in_memory_tells_no_times_unless_they_are_given() {
        let report = EvalReport::default();
        let [untimed, timed] =
            [None, Some(SystemTime::UNIX_EPOCH)].map(|began| LoadedRun::of_report(&report, began));
        assert_eq!([untimed.is_timed(), timed.is_timed()], [false, true]);
        assert!(!untimed.is_recorded() && untimed.name() == "(no id)");
    }
}
