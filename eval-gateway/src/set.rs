//! The recordings of one set while its cases run: the mode, and a conversation for each run of a case.

use std::collections::HashMap;
use std::sync::Arc;

use eval_format::Value;
use eval_support::mutex::Mutex;
use eval_support::variables::MODELS;
use eval_support::words::code_list;

use crate::cassette::{Cassette, PlannedRuns};
use crate::conversation::Conversation;
use crate::faults::Faults;
use crate::mode::{ModelMode, Settings};
use crate::store::{CompiledModels, Loaded, ModelsFolder};

/// The recorded calls of models of a set.
#[derive(Debug)]
pub struct ModelSet {
    settings: Settings,
    mode: ModelMode,
    folder: ModelsFolder,
    /// The texts of this case, if they are compiled in.
    compiled: Option<CompiledModels>,
    plan: PlannedRuns,
    cassettes: Mutex<HashMap<String, Arc<Cassette>>>,
}

impl ModelSet {
    /// The recordings in a folder beside a set. `None` if there are none and no variable asks for any, and if the agents are to
    /// ask their models themselves: then nothing of the gateway starts. Fails if something else is in the folder's place, and if
    /// limits would not be kept.
    pub fn on_disk(settings: Settings, folder: ModelsFolder) -> Result<Option<Self>, String> {
        let exists = settings.mode != Some(ModelMode::Live) && folder.is_there()?;
        Ok(mode(&settings, exists, &folder)?.map(|mode| Self::of(settings, mode, folder, None)))
    }

    /// The recordings that were compiled into a test, in whose place the folder is read while calls are recorded. Fails if
    /// limits would not be kept.
    pub fn compiled(
        settings: Settings,
        folder: ModelsFolder,
        compiled: Option<CompiledModels>,
    ) -> Result<Option<Self>, String> {
        let Some(mode) = mode(&settings, compiled.is_some(), &folder)? else { return Ok(None) };
        let absent = CompiledModels { shared: None, case: None };
        let compiled = (mode == ModelMode::Replay).then(|| compiled.unwrap_or(absent));
        Ok(Some(Self::of(settings, mode, folder, compiled)))
    }

    fn of(
        settings: Settings,
        mode: ModelMode,
        folder: ModelsFolder,
        compiled: Option<CompiledModels>,
    ) -> Self {
        let (plan, cassettes) = (PlannedRuns::default(), Mutex::default());
        Self { settings, mode, folder, compiled, plan, cassettes }
    }

    /// The recordings for cases with this number of runs, by one of several variants of an agent or by the only one.
    #[must_use]
    pub fn planned(self, runs: usize, is_variant: bool) -> Self {
        Self { plan: PlannedRuns { runs: Some(runs), is_variant }, ..self }
    }

    /// The mode in which calls are answered.
    pub fn mode(&self) -> ModelMode {
        self.mode
    }

    /// The conversation of a run of a case, with the faults under its key `_models`. `command` runs the case again. Fails if the recording cannot be read. It may
    /// wait for the disk.
    pub fn open(
        &self,
        eval_id: &str,
        run: usize,
        faults: Option<&Value>,
        command: &str,
    ) -> Result<Conversation, String> {
        let faults =
            faults.map(Faults::read).transpose().map_err(|why| format!("case `{eval_id}`: {why}"))?;
        let cassette = self.cassette(eval_id).map_err(|why| self.with_help(eval_id, why, command))?;
        let record = format!("EVALSET_MODELS=record {command}");
        Ok(Conversation::new(
            cassette,
            self.mode,
            self.settings.clone(),
            faults.unwrap_or_default(),
            run,
            record,
        ))
    }

    /// The error of a recording, with the command that replaces it if it is of the case alone.
    fn with_help(&self, eval_id: &str, why: String, command: &str) -> String {
        let file = self.folder.shown_file(eval_id);
        let shared = self.folder.shown_shared();
        if why.starts_with(&format!("`{shared}`")) {
            return format!(
                "{why}\nrestore `{shared}`; or remove it, and record all cases of the set again with EVALSET_MODELS=record-all"
            );
        }
        if !why.starts_with(&format!("`{file}`")) {
            return why;
        }
        if self.plan.is_variant {
            return format!(
                "{why}\nremove `{file}`, and record all variants  EVALSET_MODELS=record {command}"
            );
        }
        format!("{why}\nrecord the case again  EVALSET_MODELS=record-all {command}")
    }

    fn cassette(&self, eval_id: &str) -> Result<Arc<Cassette>, String> {
        let mut cassettes = self.cassettes.lock();
        if let Some(cassette) = cassettes.get(eval_id) {
            return Ok(Arc::clone(cassette));
        }
        let loaded = match (self.mode, self.compiled) {
            // A recording that cannot be read is replaced.
            (ModelMode::RecordAll, _) => self.folder.load(eval_id).or_else(|_| {
                Ok::<_, String>(Loaded { shared: self.folder.shared()?, ..Loaded::of(eval_id) })
            })?,
            (_, Some(texts)) => self.folder.load_compiled(eval_id, texts)?,
            (_, None) => self.folder.load(eval_id)?,
        };
        let cassette = Arc::new(Cassette::new(self.folder.clone(), loaded).planned(self.plan));
        cassettes.insert(eval_id.to_owned(), Arc::clone(&cassette));
        Ok(cassette)
    }
}

/// The mode of a set; `None` if its agents ask their models themselves. Offline, an unrecorded call is an error. Fails if there are limits, and nothing would count the calls, and if the
/// recordings may be there under another name.
fn mode(settings: &Settings, exists: bool, folder: &ModelsFolder) -> Result<Option<ModelMode>, String> {
    let limits = settings.limits.variables();
    match settings.mode {
        Some(ModelMode::Live) => Ok(None),
        Some(mode) => Ok(Some(mode)),
        None if exists || settings.is_offline => Ok(Some(ModelMode::Replay)),
        None if limits.is_empty() => match folder.without_a_set() {
            None => Ok(None),
            Some(other) => Err(format!(
                "the set has no recorded calls of models, and `{other}` beside it has no set: if the set was renamed, rename the \
                 folder to `{}`, else remove it; {MODELS}=live asks the models",
                folder.shown()
            )),
        },
        None => Err(format!(
            "{} {} calls that are recorded, and the set has no recording: {MODELS}=record makes one",
            code_list(&limits),
            if limits.len() == 1 { "limits" } else { "limit" }
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limit, Limits};

    #[test]
    fn a_recording_that_was_edited_is_told_with_the_command_that_replaces_it() {
        let parent = tempfile::tempdir().unwrap();
        let folder = ModelsFolder::new(parent.path(), "models");
        std::fs::write(
            parent.path().join("c.json"),
            r#"{"model_recordings": 1, "eval_id": "c", "exchanges": [{}]}"#,
        )
        .unwrap();
        let open = |mode, is_variant| {
            let settings = Settings { mode: Some(mode), ..Settings::default() };
            let set = ModelSet::on_disk(settings, folder.clone()).unwrap().unwrap().planned(1, is_variant);
            set.open("c", 1, None, "run x:c")
        };
        let why = "`models/c.json`: exchange 1 has no `wire`\n";
        for mode in [ModelMode::Replay, ModelMode::Record, ModelMode::Rebind] {
            let error = open(mode, false).unwrap_err();
            assert_eq!(error, format!("{why}record the case again  EVALSET_MODELS=record-all run x:c"));
        }
        let error = open(ModelMode::Replay, true).unwrap_err();
        let remove = "remove `models/c.json`, and record all variants  EVALSET_MODELS=record run x:c";
        assert_eq!(error, format!("{why}{remove}"));
        assert!(open(ModelMode::RecordAll, false).is_ok(), "the command works");
        // What all cases share is not of the case.
        std::fs::write(parent.path().join("shared.json"), "{}").unwrap();
        let error = open(ModelMode::Replay, false).unwrap_err();
        let help = "restore `models/shared.json`; or remove it, and record all cases of the set again with EVALSET_MODELS=record-all";
        assert!(error.starts_with("`models/shared.json`: ") && error.ends_with(help), "{error}");
        std::fs::remove_file(parent.path().join("shared.json")).unwrap();
        assert!(open(ModelMode::RecordAll, false).is_ok(), "the help works");
    }
    #[test]
    fn a_set_without_a_recording_keeps_limits_and_stays_offline() {
        let limits = |calls| Limits { of_run: Limit { calls, ..Limit::default() }, ..Limits::default() };
        let settings =
            |calls, is_offline| Settings { limits: limits(calls), is_offline, ..Settings::default() };
        let parent = tempfile::tempdir().unwrap();
        let folder = ModelsFolder::new(parent.path().join("new.evalset.models"), "new.evalset.models");
        let mode = |settings: &Settings, exists| mode(settings, exists, &folder);
        assert_eq!(mode(&settings(None, false), false), Ok(None));
        assert_eq!(mode(&settings(None, true), false), Ok(Some(ModelMode::Replay)));
        assert_eq!(mode(&settings(Some(9), false), true), Ok(Some(ModelMode::Replay)));
        let error = "`EVALSET_MODELS_CALLS` limits calls that are recorded, and the set has no recording: EVALSET_MODELS=record \
                     makes one";
        assert_eq!(mode(&settings(Some(9), false), false), Err(error.to_owned()));
    }

    #[test]
    fn recordings_of_a_set_that_was_renamed_are_told() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        std::fs::create_dir(path("old.evalset.models")).unwrap();
        let folder = ModelsFolder::new(path("new.evalset.models"), "evals/new.evalset.models");
        let of = |mode| ModelSet::on_disk(Settings { mode, ..Settings::default() }, folder.clone());
        assert!(of(None).unwrap().is_none(), "an empty folder holds no recording");
        std::fs::write(path("old.evalset.models/c.json"), "{}").unwrap();
        let error = of(None).unwrap_err();
        assert_eq!(
            error,
            "the set has no recorded calls of models, and `old.evalset.models` beside it has no set: if the set was renamed, rename \
             the folder to `evals/new.evalset.models`, else remove it; EVALSET_MODELS=live asks the models"
        );
        assert!(of(Some(ModelMode::Live)).unwrap().is_none());
        assert!(of(Some(ModelMode::Record)).unwrap().is_some());
        std::fs::write(path("old.evalset.json"), "{}").unwrap();
        assert!(of(None).unwrap().is_none(), "the other set is there");
    }
}
