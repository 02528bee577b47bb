//! Agents that are objects of Python. The package `evalset` runs them as programs: `python -m evalset MODULE:OBJECT`.

use std::path::Path;
use std::process::{Command, Stdio};

use eval_support::interpreter::Interpreter;
use eval_support::untrusted::one_line;

use crate::output::CommandError;

/// The command that runs an object. Fails unless the interpreter starts and has the package.
pub(super) fn command(object: &str) -> Result<Command, CommandError> {
    let is_named = object.split_once(':').is_some_and(|(module, name)| {
        let is_file =
            module.contains(['/', '\\']) || Path::new(module).extension().is_some_and(|it| it == "py");
        [module, name].iter().all(|part| !part.is_empty() && !part.contains([' ', '\t', ':'])) && !is_file
    });
    if !is_named {
        return Err(CommandError::new(
            format!("`--agent` names no object of Python: `{}`", one_line(object)),
            "write its module, a colon and its name: `--agent my_agents.weather:agent` for `my_agents/weather.py`; `--agent-cmd` takes \
             commands",
        ));
    }
    let python = Interpreter::of_this_process();
    check(&python)?;
    let mut command = Command::new(&python.path);
    command.args(["-m", "evalset", object]);
    Ok(command)
}

/// Checks that the interpreter starts and finds the package. Otherwise every case would fail for it.
fn check(python: &Interpreter) -> Result<(), CommandError> {
    let mut command = Command::new(&python.path);
    let asked = command
        .args(["-c", HAS_THE_PACKAGE])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| CommandError::new(format!("cannot start {python}: {error}"), OTHERS))?;
    match asked.status.code() {
        Some(0) => Ok(()),
        Some(IS_MISSING) => Err(CommandError::new(
            format!("{python} has no package `evalset`, which runs agents of Python"),
            format!(
                "install it: `{} -m pip install ../evalset/python`; or {OTHERS}",
                eval_support::shell::word(&python.path.display().to_string())
            ),
        )),
        Some(IS_ANOTHER) => {
            let found = String::from_utf8_lossy(&asked.stdout);
            Err(CommandError::new(
                format!(
                    "{python} finds another `evalset` in place of the package that runs agents of Python: {}",
                    one_line(found.trim())
                ),
                "rename that file or its folder",
            ))
        }
        _ => {
            let said = String::from_utf8_lossy(&asked.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            Err(CommandError::new(
                format!(
                    "{python} cannot look for the package `evalset` ({}): {}",
                    asked.status,
                    one_line(last)
                ),
                OTHERS,
            ))
        }
    }
}

/// The remedy if another interpreter is meant: the variable goes before all others.
const OTHERS: &str = "let `EVALSET_PYTHON` name the interpreter of the agent";

/// The exit code of the check if the package is missing. Python itself ends with 1 or 2.
const IS_MISSING: i32 = 3;

/// The exit code of the check if a module of that name hides the package. Its file is printed.
const IS_ANOTHER: i32 = 4;

/// A file of the current folder such as `enum.py` may hide a module that the package needs. The last line of the error says so.
const HAS_THE_PACKAGE: &str = "import os, sys\n\
     try:\n\
     \x20from importlib.util import find_spec; found = find_spec('evalset')\n\
     \x20is_ours = found and found.submodule_search_locations is not None and find_spec('evalset.__main__')\n\
     except Exception as error:\n\
     \x20names = [it for it in sys.stdlib_module_names if repr(it) in str(error) and os.path.isfile(it + '.py')]\n\
     \x20if not names: raise\n\
     \x20sys.exit(f'{error}; `{names[0]}.py` of this folder hides a module of Python, so rename it')\n\
     sys.exit(0 if is_ours else 4 if found and found.origin and print(found.origin) is None else 3)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_module() {
        for object in
            ["agents.py:a", "agents/weather:a", r"agents\weather:a", "agents", "a:", ":a", "a b:c", "a:b:c"]
        {
            let error = command(object).expect_err(object);
            assert!(
                error.help.contains("`--agent my_agents.weather:agent` for `my_agents/weather.py`"),
                "{error}"
            );
        }
    }
}
