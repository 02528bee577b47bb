//! The recorded calls of models beside the sets: a folder with a file for each case. They are compiled in.

use eval_format::conventions::{SHARED_MODELS, models_file, models_path};
use proc_macro2::Span;

use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};

#[derive(Clone, Debug)]
pub(crate) struct Models {
    folder: SourceFile,
    /// Whether the folder exists.
    exists: bool,
}

impl Models {
    /// The folder beside a set, whether it exists or not. `None` in a build that replays no calls.
    pub(crate) fn beside(
        set: &SourceFile,
        folders: &Folders,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let folder = folders.beside(set, &models_path(set.name()));
        let exists = folder.absolute.join(SHARED_MODELS).is_file();
        if cfg!(feature = "models") {
            return Some(Self { folder, exists });
        }
        if exists {
            diagnostics.error(
                span,
                format!(
                    "the recorded calls of models in `{}` need the feature `models` of `eval-core`",
                    folder.shown
                ),
                "add `features = [\"models\"]` to the line of `eval-core` in `Cargo.toml`",
            );
        }
        None
    }

    /// The folder, relative to the package.
    pub(crate) fn folder(&self) -> &str {
        &self.folder.relative
    }

    /// The file that cases share, relative to the package.
    pub(crate) fn shared(&self) -> Option<String> {
        self.exists.then(|| format!("{}/{SHARED_MODELS}", self.folder.relative))
    }

    /// The file of a case, relative to the package.
    pub(crate) fn of_case(&self, eval_id: &str) -> Option<String> {
        let name = models_file(eval_id);
        let exists = self.exists && self.folder.absolute.join(&name).is_file();
        exists.then(|| format!("{}/{name}", self.folder.relative))
    }
}
