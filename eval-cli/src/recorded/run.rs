//! The recorded run that a command is about.

use std::io;
use std::path::PathBuf;

use eval_core::journal::{ReadRunError, RecordedRun};

use super::folder;
use crate::output::foreign::one_line;
use crate::output::{CommandError, shell};

/// The arguments that name a run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunArgs {
    /// The id or the folder of the run. Without it, the last run is meant.
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Merges the partitions of a test run that ran apart. Each is an id, the folder of a run, or a folder of runs, of
    /// which the last is meant.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "run")]
    merge: Vec<String>,

    /// The run, if it was fetched from a store.
    #[arg(skip)]
    fetched: Option<FetchedRun>,
}

/// A run that was fetched from a store.
#[derive(Clone, Debug)]
struct FetchedRun {
    folder: PathBuf,
    is_named: bool,
}

/// The folder of a run: the one with this id or folder, else the last one.
#[cfg(feature = "store")]
pub(crate) fn run_folder(name: Option<&str>) -> Result<PathBuf, CommandError> {
    name.map_or_else(folder::last, folder::named)
}

impl RunArgs {
    /// The run with this id or folder; without one, the last run.
    pub(crate) fn of(run: Option<String>) -> Self {
        Self { run, ..Self::default() }
    }

    /// The run in this folder, in place of the one that the arguments name.
    #[cfg(feature = "store")]
    pub(crate) fn fetched(&self, folder: PathBuf) -> Self {
        Self { fetched: Some(FetchedRun { folder, is_named: self.run.is_some() }), ..Self::default() }
    }

    /// The name of the run, if it has one.
    #[cfg(feature = "store")]
    pub(crate) fn id(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Reads the run.
    pub(crate) fn load(&self) -> Result<LoadedRun, CommandError> {
        self.read(RecordedRun::read_all)
    }

    /// Reads the run without what agents and judges said.
    pub(crate) fn load_outline(&self) -> Result<LoadedRun, CommandError> {
        self.read(RecordedRun::outline)
    }

    fn read(
        &self,
        read: impl FnOnce(&[PathBuf]) -> Result<RecordedRun, ReadRunError>,
    ) -> Result<LoadedRun, CommandError> {
        let (folders, args) = match (&self.fetched, &self.run) {
            (Some(FetchedRun { folder, .. }), _) => {
                (vec![folder.clone()], vec![folder.display().to_string()])
            }
            (None, None) if self.merge.is_empty() => (vec![folder::last()?], Vec::new()),
            (None, None) => {
                let folders: Result<_, _> = self.merge.iter().map(|name| folder::named(name)).collect();
                (folders?, [&["--merge".to_owned()], self.merge.as_slice()].concat())
            }
            (None, Some(name)) => (vec![folder::named(name)?], vec![name.clone()]),
        };
        let run = read(&folders).map_err(|error| {
            let is_missing = match &error {
                ReadRunError::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
                _ => true,
            };
            let help = if is_missing {
                "name the folder of a run; the tests of `#[eval_set]` record their runs below `target/evalset`"
            } else {
                "give this user permission to read it, or name another run"
            };
            CommandError::new(error.to_string(), help)
        })?;
        let is_named = self.fetched.as_ref().map_or(!args.is_empty(), |fetched| fetched.is_named);
        Ok(LoadedRun { run, folders, args, is_named })
    }
}

impl LoadedRun {
    /// The run that this process recorded in a folder.
    pub(crate) fn own(folder: PathBuf) -> Result<Self, ReadRunError> {
        let mut run = RecordedRun::read_all(std::slice::from_ref(&folder))?;
        // If the variables name the run, other processes may have written in it.
        let own = std::process::id();
        run.processes.retain(|head| head.pid == own);
        run.tests.iter_mut().for_each(|test| test.attempts.retain(|attempt| attempt.head.pid == own));
        run.tests.retain(|test| !test.attempts.is_empty());
        Ok(Self { args: run.ids.clone(), is_named: !run.ids.is_empty(), run, folders: vec![folder] })
    }
}

/// A run, and the folders that it was read from.
#[derive(Debug)]
pub(crate) struct LoadedRun {
    pub(crate) run: RecordedRun,
    pub(crate) folders: Vec<PathBuf>,
    /// The arguments that named it.
    args: Vec<String>,
    is_named: bool,
}

impl LoadedRun {
    /// The run in a folder, by its id. `outline` leaves out what agents and judges said.
    #[cfg(feature = "serve")]
    pub(crate) fn of_folder(id: String, folder: PathBuf, outline: bool) -> Result<Self, ReadRunError> {
        let folders = vec![folder];
        let read = if outline { RecordedRun::outline(&folders) } else { RecordedRun::read_all(&folders) };
        Ok(Self { run: read?, folders, args: vec![id], is_named: true })
    }

    /// Whether somebody named the run, rather than meaning the last one.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// A sentence for each part of the run that is known of and is not there.
    pub(crate) fn missing_parts(&self) -> &[String] {
        &self.run.missing_parts
    }

    /// The run, of which a part more is known to be missing, if any is.
    #[cfg(feature = "store")]
    pub(crate) fn lacking(mut self, part: Option<String>) -> Self {
        self.run.missing_parts.extend(part);
        self
    }

    /// The ids of the run.
    pub(crate) fn name(&self) -> String {
        match self.run.ids.as_slice() {
            [] => "(no id)".to_owned(),
            ids => one_line(&ids.join(" + ")),
        }
    }

    /// The arguments that name the run for another command, each followed by a space. Empty for the last run.
    pub(crate) fn args(&self) -> String {
        self.args.iter().map(|word| shell::word(word) + " ").collect()
    }
}
