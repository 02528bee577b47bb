//! A case with another id: its recording goes with it.

use std::fs;

use eval_format::conventions::models_file;
use eval_support::whole_file::replace;

use super::ModelsFolder;
use crate::recording::Shared;

impl ModelsFolder {
    /// Whether a file would be in the way of the recording of a case that gets another id.
    pub fn is_in_the_way(&self, old: &str, new: &str) -> bool {
        let is_file = |id: &str| self.path.join(models_file(id)).is_file();
        models_file(old) != models_file(new) && is_file(old) && is_file(new)
    }

    /// Gives the recording of a case to another id. Returns whether there was one. It may wait for the disk and for another
    /// process.
    pub fn rename(&self, old: &str, new: &str) -> Result<bool, String> {
        if !self.exists() {
            return Ok(false);
        }
        let (from, to) = (models_file(old), models_file(new));
        let failed = |error: &dyn std::fmt::Display| format!("cannot write `{}/{to}`: {error}", self.shown);
        let _lock = self.lock().map_err(|error| failed(&error))?;
        if self.is_in_the_way(old, new) {
            return Err(failed(&"it is there already"));
        }
        let loaded = self.load_now(old)?;
        if !loaded.exists {
            return Ok(false);
        }
        let mut recording = loaded.recording;
        new.clone_into(&mut recording.eval_id);
        // What it shares is in `shared.json` already.
        let text = recording.to_json(&mut Shared::default());
        replace(&self.path.join(&to), text).map_err(|error| failed(&error))?;
        if from != to {
            let left = |error| format!("cannot remove `{}/{from}`: {error}", self.shown);
            fs::remove_file(self.path.join(&from)).map_err(left)?;
        }
        Ok(true)
    }
}
