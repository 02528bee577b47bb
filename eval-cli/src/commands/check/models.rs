//! Recorded calls of models beside a checked set.

use std::path::Path;

use eval_core::models::ModelsFolder;
use eval_format::Problem;
use eval_format::conventions::models_path;
use eval_format::reader::CheckedSet;

/// The errors of recordings that `run` and the tests could not read, each at its case.
pub(super) fn unreadable(path: &Path, checked: &CheckedSet) -> Vec<Problem> {
    let models = models_path(&path.to_string_lossy());
    let folder = ModelsFolder::new(&models, &*models);
    if !folder.exists() {
        return Vec::new();
    }
    // What all cases share is told once.
    if let Err(why) = folder.shared() {
        return vec![checked.unreadable_models(0, &why)];
    }
    let cases = checked.cases.iter().enumerate();
    let broken = cases.filter_map(|(at, case)| Some((at, folder.case(&case.eval_id).err()?)));
    broken.map(|(at, why)| checked.unreadable_models(at, &why)).collect()
}
