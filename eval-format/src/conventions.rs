//! File names: which file is an eval set, a config, a session or a recording, and which one belongs to which set.
//!
//! | file | name |
//! | --- | --- |
//! | eval set | `*.evalset.json`, or `*.test.json` for an old test file |
//! | config | `test_config.json`, `eval_config.json`; `test_config.json` holds for all sets of its folder |
//! | session of an old test file | `*.session.json` |
//! | recording of judges' answers | `*.judge.json`, with the name of its set: `x.evalset.judge.json` |
//! | declarations of tools | `*.tools.json`, with the name of its set: `x.evalset.tools.json` |
//! | recorded calls of models | a folder with the name of its set, `x.evalset.models/`, with a file for each case |
//!
//! The attribute, `EvalRunner` and `cargo evalset` all go by these names.
//!
//! ```
//! use eval_format::conventions::{FileKind, SET_SUFFIX};
//!
//! let name = format!("weather{SET_SUFFIX}");
//! assert_eq!((name.as_str(), FileKind::from_name(&name)), ("weather.evalset.json", Some(FileKind::Set)));
//! ```

use std::path::{Path, PathBuf};

use eval_support::hash::content_hash;

/// The suffix of a new eval set's file name.
pub const SET_SUFFIX: &str = ".evalset.json";

/// The suffixes of eval sets' file names, as ADK's own tools write and look for them. Old test files have `.test.json`.
pub const SET_SUFFIXES: [&str; 2] = [SET_SUFFIX, ".test.json"];

/// The names of eval sets as messages list them.
pub const SET_NAMES: &str = "`*.evalset.json` or `*.test.json`";

/// The name of the config that holds for all sets of its folder, unless another one is named.
pub const SHARED_CONFIG: &str = "test_config.json";

/// The names under which ADK looks for a config. A name that ends with one of them is a config too.
pub const CONFIG_NAMES: [&str; 2] = [SHARED_CONFIG, "eval_config.json"];

/// The suffix of session files.
pub const SESSION_SUFFIX: &str = ".session.json";

/// The suffix of recordings.
pub const RECORDING_SUFFIX: &str = ".judge.json";

/// The suffix of declarations of tools.
pub const TOOL_LIST_SUFFIX: &str = ".tools.json";

/// The suffix of folders with recorded calls of models.
pub const MODELS_SUFFIX: &str = ".models";

/// The file of such a folder that has the prompts and the tools of all cases.
pub const SHARED_MODELS: &str = "shared.json";

/// The kind of a file, by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// An eval set, in the current form or in the old form of test files.
    Set,
    /// A config: the criteria that sets are scored with.
    Config,
    /// The initial session of an old test file.
    Session,
    /// A recording of judges' answers.
    Recording,
    /// Declarations of tools.
    ToolList,
}

impl FileKind {
    /// The kind of a file of this name; `None` if the name does not tell. `name` may be a path.
    ///
    /// ```
    /// use eval_format::conventions::FileKind;
    ///
    /// assert_eq!(FileKind::from_name("evals/weather.evalset.json"), Some(FileKind::Set));
    /// assert_eq!(FileKind::from_name("evals/strict.eval_config.json"), Some(FileKind::Config));
    /// assert_eq!(FileKind::from_name("evals/weather.json"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let kinds: [(Self, &[&str]); 5] = [
            (Self::Config, &CONFIG_NAMES),
            (Self::Session, &[SESSION_SUFFIX]),
            (Self::Recording, &[RECORDING_SUFFIX]),
            (Self::ToolList, &[TOOL_LIST_SUFFIX]),
            (Self::Set, &SET_SUFFIXES),
        ];
        let mut kinds = kinds.into_iter();
        kinds.find(|(_, ends)| ends.iter().any(|end| name.ends_with(end))).map(|(kind, _)| kind)
    }
}

/// Checks by ADK's rule whether a name can be a part of a path. The error says why it cannot.
#[doc(hidden)]
pub fn check_path_part(name: &str) -> Result<(), &'static str> {
    let has_drive = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name[1..].starts_with(':');
    match name {
        "" => Err("is empty"),
        "." | ".." => Err("is a folder of its own"),
        _ if name.contains('\0') => Err("contains a NUL"),
        _ if name.contains(['/', '\\']) => Err("contains a path separator"),
        _ if has_drive => Err("begins with a drive"),
        _ => Ok(()),
    }
}

/// Whether a search of a folder skips a file, or a whole folder: its name begins with a dot. Editors keep
/// locks and backups in hidden files.
///
/// `name` is the last part of the path.
#[doc(hidden)]
pub fn is_passed_over(name: &str) -> bool {
    name.starts_with('.')
}

/// The name of a set's file without folders and without `.evalset.json`, `.test.json` or `.json`.
///
/// ```
/// use eval_format::conventions::file_stem;
///
/// assert_eq!(file_stem("evals/weather.evalset.json"), "weather");
/// assert_eq!(file_stem("evals/weather.v2.json"), "weather.v2");
/// ```
pub fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut suffixes = SET_SUFFIXES.iter().chain(&[".json"]);
    suffixes.find_map(|suffix| name.strip_suffix(suffix)).filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// The path of the config that holds for a set unless another one is named: `test_config.json` in its folder.
///
/// ```
/// use std::path::Path;
/// use eval_format::conventions::shared_config_path;
///
/// let config = shared_config_path(Path::new("evals/weather.evalset.json"));
/// assert_eq!(config, Path::new("evals/test_config.json"));
/// ```
pub fn shared_config_path(set: &Path) -> PathBuf {
    set.with_file_name(SHARED_CONFIG)
}

/// The path of the recording of a set: `x.evalset.json` has `x.evalset.judge.json`. `set` may be a name or a path.
///
/// ```
/// use eval_format::conventions::recording_path;
///
/// assert_eq!(recording_path("evals/weather.evalset.json"), "evals/weather.evalset.judge.json");
/// assert_eq!(recording_path("evals/trip.test.json"), "evals/trip.test.judge.json");
/// ```
pub fn recording_path(set: &str) -> String {
    format!("{}{RECORDING_SUFFIX}", set.strip_suffix(".json").unwrap_or(set))
}

/// The folder with the recorded calls of models of a set: `x.evalset.json` has `x.evalset.models`. `set` may be a name or a
/// path.
///
/// ```
/// use eval_format::conventions::models_path;
///
/// assert_eq!(models_path("evals/weather.evalset.json"), "evals/weather.evalset.models");
/// ```
pub fn models_path(set: &str) -> String {
    format!("{}{MODELS_SUFFIX}", set.strip_suffix(".json").unwrap_or(set))
}

/// The name of the file in that folder that has the calls of a case. Ids of other characters get a hash.
///
/// ```
/// use eval_format::conventions::models_file;
///
/// assert_eq!(models_file("sunny_in_Paris"), "sunny_in_Paris.json");
/// assert_eq!(models_file("sunny in Paris"), "sunny_in_Paris-306a91d5.json");
/// ```
pub fn models_file(eval_id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = eval_id.chars().take(MAX_MODELS_NAME_CHARS).map(plain).collect();
    let is_taken = name.is_empty() || SHARED_MODELS.strip_suffix(".json") == Some(&*name);
    if name == eval_id && !is_taken {
        return format!("{name}.json");
    }
    format!("{name}-{:08x}.json", content_hash(eval_id.as_bytes()) >> 32)
}

const MAX_MODELS_NAME_CHARS: usize = 80;

/// The path of the declarations of a set's tools: `x.evalset.json` has `x.evalset.tools.json`. `set` may be a name or a path.
///
/// ```
/// use eval_format::conventions::tool_list_path;
///
/// assert_eq!(tool_list_path("evals/weather.evalset.json"), "evals/weather.evalset.tools.json");
/// ```
pub fn tool_list_path(set: &str) -> String {
    format!("{}{TOOL_LIST_SUFFIX}", set.strip_suffix(".json").unwrap_or(set))
}

/// The names of the sets that a session file may be named after, whether they exist or not.
///
/// ```
/// use eval_format::conventions::set_names_of_session;
///
/// assert_eq!(set_names_of_session("trip.session.json"), ["trip.evalset.json", "trip.test.json"]);
/// ```
pub fn set_names_of_session(session: &str) -> [String; 2] {
    let stem = session.strip_suffix(SESSION_SUFFIX).unwrap_or(session);
    SET_SUFFIXES.map(|suffix| format!("{stem}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        for (name, kind) in [
            ("evals/a.evalset.json", Some(FileKind::Set)),
            ("a.test.json", Some(FileKind::Set)),
            ("evals/test_config.json", Some(FileKind::Config)),
            ("strict.eval_config.json", Some(FileKind::Config)),
            ("trip.session.json", Some(FileKind::Session)),
            ("trip.evalset.judge.json", Some(FileKind::Recording)),
            ("trip.evalset.tools.json", Some(FileKind::ToolList)),
            ("a.json", None),
            ("", None),
        ] {
            assert_eq!(FileKind::from_name(name), kind, "{name}");
        }
    }

    #[test]
    fn the_stem_names_a_file() {
        for (file, stem) in [
            ("weather.evalset.json", "weather"),
            ("a/b.c/weather.test.json", "weather"),
            (r"a\weather.json", "weather"),
            ("weather", "weather"),
            (".json", ".json"),
            (".test.json", ".test.json"),
            ("", ""),
        ] {
            assert_eq!(file_stem(file), stem, "{file}");
        }
    }

    #[test]
    fn messages_name_every_suffix() {
        assert_eq!(SET_NAMES, SET_SUFFIXES.map(|suffix| format!("`*{suffix}`")).join(" or "));
    }

    #[test]
    fn names_are_refused_as_adk_refuses_them() {
        for (name, expected) in [
            ("weather", Ok(())),
            ("a b\u{e9}#?%", Ok(())),
            ("", Err("is empty")),
            (".", Err("is a folder of its own")),
            ("..", Err("is a folder of its own")),
            ("a/b", Err("contains a path separator")),
            ("a\\b", Err("contains a path separator")),
            ("a\0", Err("contains a NUL")),
            ("C:x", Err("begins with a drive")),
            ("1:x", Ok(())),
        ] {
            assert_eq!(check_path_part(name), expected, "{name:?}");
        }
    }
}
