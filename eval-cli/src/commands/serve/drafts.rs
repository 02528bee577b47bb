//! Drafts of live sessions, written into sets below the folder in which the service runs.

use std::io;
use std::path::{Component, Path, PathBuf};

use eval_agents::draft::Draft;
use eval_format::conventions::{FileKind, SET_NAMES, is_passed_over};
use eval_format::find::is_left_out;
use eval_server::{DraftRefused, DraftStore, SavedDraft};
use eval_support::untrusted::one_line;

use crate::drafts::{self, Destination};

const DEFAULT_SET: &str = "sessions.evalset.json";

#[derive(Debug)]
pub(super) struct SetFolder {
    root: PathBuf,
}

impl SetFolder {
    /// The folder in which the service runs.
    pub(super) fn current() -> io::Result<Self> {
        Ok(Self { root: Path::new(".").canonicalize()? })
    }

    /// The path of a set, if it is below the folder after links are resolved.
    fn below(&self, set: &str) -> Result<PathBuf, DraftRefused> {
        let outside = || {
            let why = format!(
                "it is not below the folder of the service; name a file such as `evals/{DEFAULT_SET}`"
            );
            DraftRefused::set(one_line(set), why)
        };
        let named = Path::new(set);
        let is_plain = named.components().all(|part| matches!(part, Component::Normal(_)));
        if set.is_empty() || !is_plain {
            return Err(outside());
        }
        let path = self.root.join(named);
        if let Some(why) = self.unfound(named) {
            return Err(DraftRefused::set(one_line(set), why));
        }
        // Missing folders are made later, so the nearest existing folder is checked.
        let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok());
        let real = existing.and_then(|above| above.canonicalize().ok());
        if real.is_some_and(|real| real.starts_with(&self.root)) { Ok(path) } else { Err(outside()) }
    }

    /// The reason why neither tests nor the page of drafts would find a set of this name.
    fn unfound(&self, set: &Path) -> Option<String> {
        let folders =
            set.ancestors().skip(1).filter_map(|folder| Some((folder, folder.file_name()?.to_str()?)));
        let left_out = folders.filter(|(folder, name)| is_left_out(name, &self.root.join(folder))).last();
        if let Some((folder, _)) = left_out {
            return Some(format!(
                "no search for sets enters the folder `{}`; name a file such as `evals/{DEFAULT_SET}`",
                one_line(&folder.display().to_string())
            ));
        }
        let name = set.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_set = FileKind::from_name(name) == Some(FileKind::Set) && !is_passed_over(name);
        (!is_set)
            .then(|| format!("eval sets are named {SET_NAMES}; name a file such as `evals/{DEFAULT_SET}`"))
    }
}

impl DraftStore for SetFolder {
    fn save(&self, set: Option<&str>, draft: Draft) -> Result<SavedDraft, DraftRefused> {
        let set = set.unwrap_or(DEFAULT_SET);
        let path = self.below(set)?;
        let written =
            Destination::new(&path).and_then(|it| it.add(vec![draft])).map_err(DraftRefused::failed)?;
        let eval_id = written.new.drafts.into_iter().next().map(|draft| draft.case.eval_id);
        // The page of drafts knows the set by its path from the folder of the service.
        let named: PathBuf = Path::new(set).components().collect();
        let link = eval_id.as_deref().map(|id| format!("/drafts#{}", drafts::anchor(&named, id)));
        let saved = SavedDraft::new(set, eval_id);
        Ok(match link {
            Some(link) => saved.with_link(link),
            None => saved,
        })
    }
}

#[cfg(test)]
mod tests {
    use eval_agents::draft::Origin;
    use eval_core::format::{EvalCase, EvalSet, Invocation};

    use super::*;

    fn draft(words: &str) -> Draft {
        let turn = Invocation::user(words).response("It is sunny.");
        Draft::from_case(EvalCase::new("").turn(turn), Origin::new("a live session")).unwrap()
    }

    fn folder() -> (tempfile::TempDir, SetFolder) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (folder, SetFolder { root })
    }

    #[test]
    fn drafts_are_added_to_sets_below_the_folder() {
        let (_folder, sets) = folder();
        let saved = sets.save(None, draft("Paris?")).unwrap();
        let at = |set: &str, id: &str| {
            let link = format!("/drafts#{}", drafts::anchor(Path::new(set), id));
            SavedDraft::new(set, Some(id.to_owned())).with_link(link)
        };
        assert_eq!(saved, at(DEFAULT_SET, "paris"));
        assert_eq!(sets.save(None, draft("Paris?")).unwrap(), SavedDraft::new(DEFAULT_SET, None));
        let saved = sets.save(Some("evals/live.evalset.json"), draft("Rome?")).unwrap();
        assert_eq!(saved, at("evals/live.evalset.json", "rome"));
        let text = std::fs::read_to_string(sets.root.join("evals/live.evalset.json")).unwrap();
        let set = EvalSet::parse(&text).unwrap();
        assert!(set.eval_cases[0].draft().is_some(), "tests refuse it until it is accepted");
    }

    #[test]
    fn nothing_is_written_outside_the_folder_or_into_other_files() {
        let (folder, sets) = folder();
        let outside = tempfile::tempdir().unwrap();
        for name in [
            "",
            "..",
            "../x.evalset.json",
            "/tmp/x.evalset.json",
            "a/../../x.evalset.json",
            "./x.evalset.json",
        ] {
            let refused = sets.save(Some(name), draft("Paris?")).unwrap_err().to_string();
            assert!(refused.contains("not below the folder"), "{name}: {refused}");
        }
        std::fs::create_dir(folder.path().join("target")).unwrap();
        std::fs::write(
            folder.path().join("target/CACHEDIR.TAG"),
            "Signature: 8a477f597d28d172789f06886806bc55",
        )
        .unwrap();
        for (name, said) in [
            ("main.rs", "eval sets are named"),
            ("evals/foo.json", "eval sets are named"),
            ("evals/.hidden.evalset.json", "eval sets are named"),
            (".git/x.evalset.json", "no search for sets enters the folder `.git`"),
            ("a/.b/c/x.evalset.json", "no search for sets enters the folder `a/.b`"),
            ("target/a/x.evalset.json", "no search for sets enters the folder `target`"),
        ] {
            let refused = sets.save(Some(name), draft("Paris?")).unwrap_err().to_string();
            assert!(
                refused.contains(said) && refused.contains("evals/sessions.evalset.json"),
                "{name}: {refused}"
            );
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
            assert!(sets.save(Some("link/x.evalset.json"), draft("Paris?")).is_err());
            std::os::unix::fs::symlink(outside.path().join("y"), folder.path().join("y.evalset.json"))
                .unwrap();
            assert!(sets.save(Some("y.evalset.json"), draft("Paris?")).is_err());
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        std::fs::write(folder.path().join("broken.evalset.json"), "{").unwrap();
        let refused = sets.save(Some("broken.evalset.json"), draft("Paris?")).unwrap_err().to_string();
        assert!(refused.contains("cargo evalset check"), "{refused}");
    }
}
