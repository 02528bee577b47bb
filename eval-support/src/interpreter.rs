//! The Python interpreter of agents and metrics.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use crate::untrusted::one_line;
use crate::variables;

/// The places in which interpreters are looked for.
#[derive(Debug, Default)]
struct Surroundings {
    /// The value of `EVALSET_PYTHON`.
    named: Option<OsString>,
    /// This program, as it was started and without links.
    programs: Vec<PathBuf>,
    /// The value of `VIRTUAL_ENV`.
    environment: Option<OsString>,
}

impl Surroundings {
    fn of_this_process() -> Self {
        let value = |name| env::var_os(name).filter(|value| !value.is_empty());
        let program = env::current_exe().ok();
        let real = program.as_deref().and_then(|program| program.canonicalize().ok());
        Self {
            named: value(variables::PYTHON),
            programs: program.into_iter().chain(real).collect(),
            environment: value("VIRTUAL_ENV"),
        }
    }
}

/// An interpreter, and the reason why it was chosen.
#[derive(Debug, PartialEq)]
pub struct Interpreter {
    /// Its path, or its name in the `PATH`.
    pub path: PathBuf,
    why: &'static str,
}

impl Interpreter {
    /// The interpreter of this process: the variable goes before the environment that has this program, and that before the
    /// active one.
    pub fn of_this_process() -> Self {
        Self::find(&Surroundings::of_this_process())
    }

    fn find(surroundings: &Surroundings) -> Self {
        if let Some(named) = &surroundings.named {
            return Self { path: named.into(), why: "`EVALSET_PYTHON` names it" };
        }
        let of_folder = |folder: &Path| folder.ends_with(FOLDER).then(|| in_folder(folder)).flatten();
        let mut folders = surroundings.programs.iter().filter_map(|program| program.parent());
        if let Some(path) = folders.find_map(of_folder) {
            return Self { path, why: "it is beside this program" };
        }
        let environment = surroundings.environment.as_ref().map(|folder| Path::new(folder).join(FOLDER));
        if let Some(path) = environment.as_deref().and_then(in_folder) {
            return Self { path, why: "`VIRTUAL_ENV` names its folder" };
        }
        Self { path: NAMES[0].into(), why: "the first one in the `PATH`" }
    }
}

impl fmt::Display for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the Python interpreter `{}` ({})", one_line(&self.path.display().to_string()), self.why)
    }
}

/// The names of interpreters. The first one is looked for in the `PATH` too.
#[cfg(not(windows))]
const NAMES: [&str; 2] = ["python3", "python"];
#[cfg(windows)]
const NAMES: [&str; 1] = ["python"];

/// The folder of an environment that has its programs.
const FOLDER: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The interpreter in the folder of programs of an environment. On Windows, only virtual environments have it
/// there: others have it in the folder above.
fn in_folder(folder: &Path) -> Option<PathBuf> {
    let above = folder.parent().filter(|_| cfg!(windows));
    let folders = [Some(folder), above];
    let mut all = folders.into_iter().flatten().flat_map(|folder| {
        NAMES.iter().map(|name| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX)))
    });
    all.find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A file, with the folders around it.
    fn file(path: PathBuf) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn the_variable_goes_before_the_environment_of_the_program_and_that_before_the_active_one() {
        let root = tempfile::tempdir().unwrap();
        let python = |folder: &str| {
            let name = format!("{}{}", NAMES[0], env::consts::EXE_SUFFIX);
            file(root.path().join(folder).join(FOLDER).join(name))
        };
        let (own, active) = (python("own"), python("active"));
        let installed = own.with_file_name("evalset");
        let elsewhere =
            [root.path().join("target/evalset"), root.path().join("empty").join(FOLDER).join("evalset")];
        let (active_folder, empty) = (root.path().join("active"), root.path().join("empty"));
        for (named, programs, environment, found, why) in [
            (
                Some("py"),
                &[installed.clone()][..],
                Some(&active_folder),
                Path::new("py"),
                "`EVALSET_PYTHON` names it",
            ),
            (None, &[installed.clone()][..], Some(&active_folder), &own, "it is beside this program"),
            // A link in another folder of programs leads to it.
            (
                None,
                &[elsewhere[1].clone(), installed][..],
                Some(&active_folder),
                &own,
                "it is beside this program",
            ),
            (None, &elsewhere[..], Some(&active_folder), &active, "`VIRTUAL_ENV` names its folder"),
            (None, &elsewhere[..], Some(&empty), Path::new(NAMES[0]), "the first one in the `PATH`"),
            (None, &[][..], None, Path::new(NAMES[0]), "the first one in the `PATH`"),
        ] {
            let surroundings = Surroundings {
                named: named.map(OsString::from),
                programs: programs.to_vec(),
                environment: environment.map(OsString::from),
            };
            assert_eq!(
                Interpreter::find(&surroundings),
                Interpreter { path: found.into(), why },
                "{surroundings:?}"
            );
        }
    }

    #[test]
    fn an_interpreter_beside_a_program_that_is_no_folder_of_programs_is_not_its_own() {
        let root = tempfile::tempdir().unwrap();
        let beside = file(root.path().join("target").join(NAMES[0]));
        let surroundings =
            Surroundings { programs: vec![beside.with_file_name("evalset")], ..Surroundings::default() };
        assert_eq!(Interpreter::find(&surroundings).why, "the first one in the `PATH`");
    }
}
