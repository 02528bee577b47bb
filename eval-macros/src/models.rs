//! The recorded calls of models beside the sets: a folder with a file for each case. They are compiled in.

use eval_format::conventions::{SHARED_MODELS, models_file, models_path};
use proc_macro2::Span;

use crate::diagnostics::Diagnostics;
use crate::files::{Folders, SourceFile};

pub(crate) const ADD_THE_FEATURE: &str =
    "add `features = [\"models\"]` to the line of `eval-core` in `Cargo.toml`";

#[derive(Clone, Debug)]
pub(crate) struct Models {
    folder: SourceFile,
}

impl Models {
    /// The folder beside a set; `None` if it does not exist. In a build that replays no calls it is an error.
    pub(crate) fn beside(
        set: &SourceFile,
        folders: &Folders,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let folder = folders.beside(set, &models_path(set.name()));
        if !folder.absolute.is_dir() {
            if folder.absolute.symlink_metadata().is_ok() {
                diagnostics.error(
                    span,
                    format!(
                        "`{}` is to be the folder of recorded calls of models, and is a file, or a link that leads nowhere",
                        folder.shown
                    ),
                    "restore the folder, or remove what is in its place",
                );
            }
            return None;
        }
        if !folder.absolute.join(SHARED_MODELS).is_file() {
            // Without it the agents would ask their models, and no case would say so.
            diagnostics.error(
                span,
                format!("the recorded calls of models in `{}` lack their `{SHARED_MODELS}`", folder.shown),
                "restore the file, or remove the folder and record the cases again: `EVALSET_MODELS=record cargo test`",
            );
            return None;
        }
        if !cfg!(feature = "models") {
            diagnostics.error(
                span,
                format!(
                    "the recorded calls of models in `{}` need the feature `models` of `eval-core`",
                    folder.shown
                ),
                ADD_THE_FEATURE,
            );
        }
        Some(Self { folder })
    }

    /// The file that cases share, relative to the package.
    pub(crate) fn shared(&self) -> String {
        format!("{}/{SHARED_MODELS}", self.folder.relative)
    }

    /// The file of a case, relative to the package.
    pub(crate) fn of_case(&self, eval_id: &str) -> Option<String> {
        let name = models_file(eval_id);
        let exists = self.folder.absolute.join(&name).is_file();
        exists.then(|| format!("{}/{name}", self.folder.relative))
    }
}
