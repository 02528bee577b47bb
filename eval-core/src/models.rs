use std::path::Path;
use std::sync::Arc;

use eval_format::EvalCase;
use eval_format::conventions::models_path;
#[doc(hidden)]
pub use eval_gateway::{
    Answer, Body, CaseRecording, Conversation as ModelCalls, Desk, Exchange, ModelsFolder, Seat,
};
use eval_gateway::{CompiledModels, Ended, FAULTS_KEY, ModelSet, Settings};
pub use eval_gateway::{ModelMode, Provider};
use eval_support::{command, shell};

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
    /// The recordings beside a set in a file. Fails if a variable has a value that is not known.
    pub(crate) fn beside(set: Option<&Path>, command: Command) -> Result<Self, String> {
        let settings = Settings::from_env()?;
        let Some(set) = set else { return Ok(Self(None)) };
        let path = models_path(&set.to_string_lossy());
        let folder = ModelsFolder::new(&path, &*path);
        Ok(Self::of(ModelSet::on_disk(settings, folder), command))
    }

    /// The recordings that were compiled into a test; `None` if the set had none.
    pub(crate) fn compiled(
        root: &Path,
        set: &str,
        shown: &str,
        texts: Option<(Option<&'static str>, Option<&'static str>)>,
        command: String,
    ) -> Result<Self, String> {
        let folder =
            ModelsFolder::new(root.join(models_path(set)), models_path(shown)).touching(root.join(set));
        let texts = texts.map(|(shared, case)| CompiledModels { shared, case });
        let set = ModelSet::compiled(Settings::from_env()?, folder, texts);
        Ok(Self::of(set, Command::Test(command)))
    }

    fn of(set: Option<ModelSet>, command: Command) -> Self {
        Self(set.map(|set| Arc::new(Source { set, command })))
    }

    /// Whether calls are recorded or replayed.
    pub(crate) fn mode(&self) -> Option<ModelMode> {
        self.0.as_ref().map(|source| source.set.mode())
    }

    /// What answers calls of models in a run of a case; `None` if the agent asks them itself.
    pub(crate) async fn open(&self, case: &EvalCase, run: usize) -> Result<Option<ModelCalls>, String> {
        let Some(source) = self.0.clone() else {
            return match case.extra.get(FAULTS_KEY) {
                None => Ok(None),
                Some(_) => Err(format!(
                    "case `{}` has faults of models (`{FAULTS_KEY}`), which need recorded calls; EVALSET_MODELS=record records them",
                    case.eval_id
                )),
            };
        };
        let (eval_id, faults) = (case.eval_id.clone(), case.extra.get(FAULTS_KEY).cloned());
        let open = move || source.set.open(&eval_id, run, faults.as_ref(), &source.command.of_case(&eval_id));
        blocking(open).await?.map(Some)
    }
}

/// Whether the tests of a set read the recordings that were compiled in.
pub(crate) fn replays() -> bool {
    Settings::from_env().is_ok_and(|settings| settings.mode.is_none_or(|mode| mode == ModelMode::Replay))
}

/// Ends the calls of a conversation.
pub(crate) async fn end(models: ModelCalls, is_whole: bool) -> Ended {
    blocking(move || models.end(is_whole)).await.unwrap_or_else(Ended::from)
}

/// Does work that may wait for a disk on a thread that may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| format!("the recording of models broke off: {error}"))
}
