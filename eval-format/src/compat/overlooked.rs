//! Configs that seem to apply to a set, but do not.

use std::fs;
use std::path::{Path, PathBuf};

use eval_support::file::read_file;
use eval_support::spelling::osa_distance;

use crate::conventions::{CONFIG_NAMES, SHARED_CONFIG, shared_config_path};
use crate::problem::{JsonPath, Problem, ProblemCode};

/// A config that a set passes over, so that ADK's default criteria silently apply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverlookedConfig {
    /// The file.
    pub path: PathBuf,
    /// The path at which it would be used: `test_config.json` in the folder of the set.
    pub wanted: PathBuf,
}

impl OverlookedConfig {
    /// The config that a set passes over. `None` if the set uses the `test_config.json` of its folder, and if there is nothing to
    /// pass over.
    ///
    /// It is one of these files, which ADK passes over as well:
    ///
    /// - `eval_config.json` beside the set, or a file there whose name looks misspelt: `test-config.json`
    /// - `test_config.json` in a folder above the folder of the set, up to `top`, the folder that is searched
    /// - `test_config.json` beside the set, as a link to a file that does not exist
    ///
    /// ```
    /// # let base = std::env::temp_dir().join(format!("evalset-doc-configs-{}", std::process::id()));
    /// # std::fs::create_dir_all(base.join("evals"))?;
    /// # std::fs::write(base.join("evals/eval_config.json"), "{}")?;
    /// use eval_format::compat::OverlookedConfig;
    ///
    /// let found = OverlookedConfig::of_set(&base.join("evals/weather.evalset.json"), None).unwrap();
    /// assert_eq!(found.path, base.join("evals/eval_config.json"));
    /// # std::fs::remove_dir_all(base)?;
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn of_set(set: &Path, top: Option<&Path>) -> Option<Self> {
        let wanted = shared_config_path(set);
        if wanted.symlink_metadata().is_ok() {
            return (!wanted.exists()).then(|| Self { path: wanted.clone(), wanted });
        }
        let folder = wanted.parent()?;
        let path = beside(folder).or_else(|| above(folder, top?))?;
        Some(Self { path, wanted })
    }

    /// Whether it has the right name, in a folder above the folder of the set.
    pub fn is_above(&self) -> bool {
        self.path.file_name() == self.wanted.file_name() && !self.is_dangling()
    }

    /// Whether it is beside the set, as a link to a file that does not exist.
    fn is_dangling(&self) -> bool {
        self.path == self.wanted
    }

    /// The problem in a line. `show` gives the path as the reader knows it.
    pub fn message(&self, show: impl Fn(&Path) -> String) -> String {
        let path = show(&self.path);
        if self.is_dangling() {
            let target = fs::read_link(&self.path).unwrap_or_default();
            format!("`{path}` is a link to `{}`, which does not exist", target.display())
        } else if self.is_above() {
            let folder = show(self.wanted.parent().unwrap_or(&self.wanted));
            format!(
                "`{path}` is passed over: a config holds for its own folder, and not for the sets in `{folder}`"
            )
        } else {
            format!("`{path}` is passed over: the config of a folder is named `{SHARED_CONFIG}`")
        }
    }

    /// The remedy. `show` gives the path as an attribute would name it.
    pub fn help(&self, show: impl Fn(&Path) -> String) -> String {
        if self.is_dangling() {
            return "restore that file, or remove the link".to_owned();
        }
        let to = if self.is_above() { "copy it to" } else { "rename it to" };
        format!(
            "{to} `{}`, or name it in the attribute: `config = \"{}\"`",
            show(&self.wanted),
            show(&self.path)
        )
    }

    /// The config as a problem of the set. A `config = ".."` in an attribute would make it obsolete.
    pub fn problem(&self, show: impl Fn(&Path) -> String) -> Problem {
        let kind = if self.is_dangling() { Problem::error } else { Problem::warning };
        kind(ProblemCode::OverlookedConfig, JsonPath::default(), 0..1, self.message(&show))
            .label(if self.is_dangling() {
                "its criteria are unknown"
            } else {
                "ADK's default criteria hold for this set"
            })
            .help(self.help(&show))
    }
}

fn beside(folder: &Path) -> Option<PathBuf> {
    // The folder of a name without a folder.
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let listing = fs::read_dir(listed).ok()?;
    let names = listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut near: Vec<(usize, String)> = names.filter_map(|name| Some((distance(&name)?, name))).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| folder.join(name)).find(|path| is_config(path))
}

/// The edit distance of a name to the nearest name of a config: 0 for ADK's own names. `None` if it is above
/// 2.
fn distance(name: &str) -> Option<usize> {
    let plain = name.to_ascii_lowercase();
    // Editors for plain text add it, and file managers hide it.
    let plain = plain.strip_suffix(".txt").unwrap_or(&plain);
    let far = CONFIG_NAMES.iter().map(|known| osa_distance(plain, known)).min()?;
    (far <= 2).then_some(far)
}

/// Whether a file with the name of a config, or a similar name, is a config. A file with a similar name has
/// to contain `criteria`.
fn is_config(path: &Path) -> bool {
    let exact =
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| CONFIG_NAMES.contains(&name));
    path.is_file()
        && (exact || read_file(path).is_ok_and(|bytes| bytes.windows(8).any(|text| text == b"criteria")))
}

/// The nearest `test_config.json` in the folders above, up to `top`.
fn above(folder: &Path, top: &Path) -> Option<PathBuf> {
    let folders = folder.ancestors().skip(1).take_while(|above| above.starts_with(top));
    folders.map(|above| above.join(SHARED_CONFIG)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Severity;

    /// A folder of its own for each test, gone when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str, files: &[(&str, &str)]) -> Self {
            let root =
                std::env::temp_dir().join(format!("eval-format-configs-{}-{test}", std::process::id()));
            for (file, text) in files {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }

        fn found(&self, set: &str, top: Option<&str>) -> Option<String> {
            let top = top.map(|top| self.0.join(top));
            let found = OverlookedConfig::of_set(&self.0.join(set), top.as_deref())?;
            Some(found.path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_config_under_another_name_is_found() {
        let criteria = r#"{"criteria": {"safety_v1": 0.5}}"#;
        for (name, text, is_found) in [
            ("eval_config.json", "{}", true),
            ("test-config.json", criteria, true),
            ("testconfig.json", criteria, true),
            ("Test_Config.JSON", criteria, true),
            ("tset_config.json", r#"{"criterias": {}}"#, true),
            ("test_configs.json", criteria, true),
            ("test_config.json.txt", criteria, true),
            ("text_config.json", r#"{"font": "serif"}"#, false),
            ("strict.test_config.json", criteria, false),
            ("strict.json", criteria, false),
        ] {
            let folder = Folder::new(name, &[(name, text)]);
            assert_eq!(folder.found("a.evalset.json", None).as_deref(), is_found.then_some(name), "{name}");
            fs::write(folder.0.join("test_config.json"), criteria).unwrap();
            assert_eq!(folder.found("a.evalset.json", None), None, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_config_that_does_not_exist_is_an_error() {
        let folder = Folder::new("dangling", &[("eval_config.json", "{}")]);
        std::os::unix::fs::symlink("gone/config.json", folder.0.join("test_config.json")).unwrap();
        let found = OverlookedConfig::of_set(&folder.0.join("a.evalset.json"), None).unwrap();
        let shown = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let problem = found.problem(shown);
        assert_eq!(problem.severity, Severity::Error);
        assert_eq!(
            problem.message,
            "`test_config.json` is a link to `gone/config.json`, which does not exist"
        );
    }

    #[test]
    fn a_config_above_counts_up_to_the_folder_that_is_searched() {
        let folder = Folder::new("above", &[("evals/test_config.json", "{}"), ("evals/a/b/y.json", "{}")]);
        let set = "evals/a/b/x.evalset.json";
        let above = Some("evals/test_config.json".to_owned());
        for (top, expected) in
            [(Some("evals"), &above), (Some(""), &above), (Some("evals/a"), &None), (None, &None)]
        {
            assert_eq!(&folder.found(set, top), expected, "{top:?}");
        }
    }
}
