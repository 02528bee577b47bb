use std::path::Path;
use std::sync::Arc;

use eval_format::EvalCase;
use eval_format::conventions::models_path;
#[doc(hidden)]
pub use eval_gateway::{
    Answer, Body, CaseRecording, Conversation as ModelCalls, Exchange, Lease, ModelsFolder, Router,
};
use eval_gateway::{CompiledModels, Ended, ModelSet, Settings};
pub use eval_gateway::{ModelMode, Provider};
use eval_support::{command, shell};
use tokio::task::JoinError;

use crate::blocking::outcome_of_blocking;
use crate::model_use::{ModelsEnded, PlannedRuns};

/// The recorded calls of models of a set while its cases run. Without a recording and without a variable there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Models(Option<Arc<Source>>);

#[derive(Debug)]
struct Source {
    set: ModelSet,
    command: Command,
}

/// The command that runs a case again.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Of a test.
    Test(String),
    /// Of `run`: the file, and the options after it.
    Program { file: String, again: Vec<String> },
    /// A program that is not known.
    Unknown,
}

impl PlannedRuns {
    /// Fails if a variant would change the recordings of the others.
    fn check(self, settings: &Settings) -> Result<(), String> {
        match settings.mode.filter(|_| self.is_variant) {
            Some(ModelMode::RecordAll) => Err(
                "`EVALSET_MODELS=record-all` would keep the recordings of the last variant alone; remove the recordings of these \
                 cases, and record all variants with `EVALSET_MODELS=record`"
                    .to_owned(),
            ),
            Some(ModelMode::Rebind) => Err(
                "`EVALSET_MODELS=rebind` would put answers of one variant under requests of another; record the requests that \
                 changed with `EVALSET_MODELS=record`"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
}

impl Command {
    fn of_case(&self, eval_id: &str) -> String {
        match self {
            Self::Test(line) => line.clone(),
            Self::Program { file, again } => {
                let words = [&["run".to_owned(), format!("{file}:{eval_id}")], &again[..]].concat();
                command::line(&shell::line(&words))
            }
            Self::Unknown => "and the same command again".to_owned(),
        }
    }
}

impl Models {
    /// The recordings beside a set in a file. Fails if a variable has a value that is not known, or that does not fit the plan.
    pub(crate) fn beside(set: Option<&Path>, command: Command, plan: PlannedRuns) -> Result<Self, String> {
        let settings = Settings::from_env()?;
        let Some(set) = set else { return Self::without_a_file(settings, command, plan) };
        plan.check(&settings)?;
        let path = models_path(&set.to_string_lossy());
        let folder = ModelsFolder::new(&path, &*path);
        Ok(Self::of(ModelSet::on_disk(settings, folder)?, command, plan))
    }

    /// The recordings of a set that was read from no file: none, so that a call is an error where models must not be asked.
    fn without_a_file(settings: Settings, command: Command, plan: PlannedRuns) -> Result<Self, String> {
        if settings.mode.is_some_and(ModelMode::asks) {
            return Ok(Self(None));
        }
        let mode = settings.mode.map(|_| ModelMode::Replay);
        let nowhere = ModelsFolder::new("", "(a set without a file)");
        let set = ModelSet::compiled(Settings { mode, ..settings }, nowhere, None)?;
        Ok(Self::of(set, command, plan))
    }

    /// The recordings that were compiled into a test; `None` if the set had none.
    pub(crate) fn compiled(
        root: &Path,
        set: &str,
        shown: &str,
        texts: Option<(Option<&'static str>, Option<&'static str>)>,
        command: String,
        plan: PlannedRuns,
    ) -> Result<Self, String> {
        let settings = Settings::from_env()?;
        plan.check(&settings)?;
        let folder =
            ModelsFolder::new(root.join(models_path(set)), models_path(shown)).touching(root.join(set));
        let texts = texts.map(|(shared, case)| CompiledModels { shared, case });
        Ok(Self::of(ModelSet::compiled(settings, folder, texts)?, Command::Test(command), plan))
    }

    fn of(set: Option<ModelSet>, command: Command, plan: PlannedRuns) -> Self {
        let PlannedRuns { runs, is_variant } = plan;
        Self(set.map(|set| Arc::new(Source { set: set.planned(runs, is_variant), command })))
    }

    /// Whether calls are recorded or replayed.
    pub(crate) fn mode(&self) -> Option<ModelMode> {
        self.0.as_ref().map(|source| source.set.mode())
    }

    /// The answers to calls of models in a run of a case; `None` if the agent asks them itself.
    pub(crate) async fn open(&self, case: &EvalCase, run: usize) -> Result<Option<ModelCalls>, String> {
        let Some(source) = self.0.clone() else {
            return match case.extra.get(EvalCase::MODELS_KEY) {
                None => Ok(None),
                Some(_) => Err(unplayed_faults(&case.eval_id, is_live())),
            };
        };
        let (eval_id, faults) = (case.eval_id.clone(), case.extra.get(EvalCase::MODELS_KEY).cloned());
        let open = move || source.set.open(&eval_id, run, faults.as_ref(), &source.command.of_case(&eval_id));
        outcome_of_blocking(open).await.map_err(broke_off)?.map(Some)
    }

    /// Fails if a case that is played without its models has faults of them: nothing could try these.
    #[expect(clippy::unused_self, reason = "without the feature `models` it says what is missing")]
    pub(crate) fn unasked(&self, case: &EvalCase) -> Result<(), String> {
        match case.extra.get(EvalCase::MODELS_KEY) {
            None => Ok(()),
            Some(_) => Err(format!(
                "case `{}` has faults of models (`{}`), which cannot be tried on what is stored: no model is asked; \
                 leave the case out, or run it against its agent",
                case.eval_id,
                EvalCase::MODELS_KEY
            )),
        }
    }
}

fn is_live() -> bool {
    Settings::from_env().is_ok_and(|settings| settings.mode == Some(ModelMode::Live))
}

/// The sentence about a case whose faults cannot be played, with what helps.
fn unplayed_faults(eval_id: &str, is_live: bool) -> String {
    let help = if is_live {
        "and EVALSET_MODELS=live reads none: run it without the variable, or take the faults out of the case"
    } else {
        "and there are none: EVALSET_MODELS=record records them"
    };
    format!(
        "case `{eval_id}` has faults of models (`{}`), which need recorded calls, {help}",
        EvalCase::MODELS_KEY
    )
}

/// Whether the tests of a set read the recordings that were compiled in.
pub(crate) fn replays() -> bool {
    Settings::from_env().is_ok_and(|settings| settings.mode.is_none_or(|mode| mode == ModelMode::Replay))
}

/// The mode that the variable asks for in every run; `None` without it. Fails if a variable has a value that is not known.
#[doc(hidden)]
pub fn asked_mode() -> Result<Option<ModelMode>, String> {
    Settings::from_env().map(|settings| settings.mode)
}

/// Ends the calls of a conversation.
pub(crate) async fn end(models: ModelCalls, is_whole: bool) -> ModelsEnded {
    let ended = outcome_of_blocking(move || models.end(is_whole)).await;
    ended.map_err(broke_off).unwrap_or_else(Ended::from).into()
}

#[expect(clippy::needless_pass_by_value, reason = "a function for `map_err`")]
fn broke_off(error: JoinError) -> String {
    format!("the recording of models broke off: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_do_not_change_the_recordings_of_each_other() {
        let check = |mode, is_variant| {
            PlannedRuns { runs: 1, is_variant }.check(&Settings { mode, ..Settings::default() })
        };
        for mode in [ModelMode::RecordAll, ModelMode::Rebind] {
            assert_eq!(check(Some(mode), false), Ok(()));
            let error = check(Some(mode), true).unwrap_err();
            assert!(error.contains("variant"), "{error}");
        }
        for mode in [None, Some(ModelMode::Record), Some(ModelMode::Replay)] {
            assert_eq!(check(mode, true), Ok(()));
        }
    }

    #[test]
    fn faults_that_are_not_played_are_told_with_what_helps() {
        let told = |is_live| unplayed_faults("paris", is_live);
        assert!(told(false).ends_with("and there are none: EVALSET_MODELS=record records them"));
        assert!(told(true).contains("EVALSET_MODELS=live reads none: run it without the variable"));
    }

    #[test]
    fn faults_of_models_are_refused_where_no_model_is_asked() {
        let models = Models::default();
        assert_eq!(models.unasked(&EvalCase::new("paris")), Ok(()));
        let text = r#"{"eval_id": "c", "_models": {"faults": []}, "conversation": [{"user_content": {}}]}"#;
        let error = models.unasked(&EvalCase::parse(text).unwrap()).unwrap_err();
        assert!(
            error.starts_with("case `c` has faults of models (`_models`), which cannot be tried"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_set_without_a_file_has_no_recording_and_asks_no_model_where_it_must_not() {
        let plan = PlannedRuns { runs: 1, is_variant: false };
        let models = |mode| {
            let settings = Settings { mode, ..Settings::default() };
            Models::without_a_file(settings, Command::Unknown, plan).unwrap()
        };
        for mode in [None, Some(ModelMode::Live), Some(ModelMode::Record)] {
            assert_eq!(models(mode).mode(), None);
        }
        for mode in [ModelMode::Replay, ModelMode::Rebind] {
            let models = models(Some(mode));
            assert_eq!(models.mode(), Some(ModelMode::Replay));
            let calls = models.open(&EvalCase::new("paris"), 1).await.unwrap().unwrap();
            let left = end(calls, true).await;
            assert_eq!(left.error, None);
            let expected = "the agent took no address for its models, so calls, if it makes any, went past the recording \
                            `(a set without a file)/paris.json`";
            assert!(left.notes[0].starts_with(expected), "{:?}", left.notes);
        }
    }
}
