//! `--agent MODULE:OBJECT`, with interpreters that are scripts.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::folder::{Folder, Ran};
use crate::run::folder;

/// Writes an interpreter that runs a shell script. It writes its arguments into the file `called`.
fn interpreter(folder: &Folder, name: &str, script: &str) -> String {
    folder.write(name, format!("#!/bin/sh\necho \"$@\" >> called\n{script}\n"));
    let path = folder.path(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

/// The package is there, and each object is the agent `weather.py`.
const WEATHER: &str = "case \"$1\" in -c) exit 0;; esac\nexec python3 weather.py";

fn run(folder: &Folder, python: &str, args: &[&str]) -> Ran {
    folder.command(args).env("EVALSET_PYTHON", python).output().expect("the program runs").into()
}

#[test]
fn an_object_is_run_by_the_interpreter_as_a_program_of_each_case() {
    let folder = folder("python-run");
    let python = interpreter(&folder, "my python", WEATHER);
    let set = "evals/mixed.evalset.json:sunny,rain, again";
    let options = ["--end-within", "4s", "--ready-within", "20s"];
    let ran =
        run(&folder, &python, &[&["run", set, "--agent", "my_agents.weather:agent"], &options[..]].concat());
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let again = "--agent my_agents.weather:agent --ready-within 20000ms --end-within 4000ms";
    assert!(ran.out.contains(again), "{}", ran.out);
    let called = folder.read("called");
    assert_eq!(called.matches("-m evalset my_agents.weather:agent\n").count(), 2, "{called}");

    std::fs::remove_file(folder.path("called")).expect("it was written");
    let shared = ["--program-concurrency", "2", "--concurrency", "1"];
    let ran = run(&folder, &python, &[&["run", set, "--agent", "a:b"], &shared[..]].concat());
    assert!(ran.out.contains("--agent a:b --program-concurrency 2"), "{}", ran.out);
    assert_eq!(folder.read("called").matches("-m evalset a:b\n").count(), 1, "{}", folder.read("called"));
}

#[test]
fn a_failure_of_the_agent_shows_its_traceback_and_what_it_printed() {
    let folder = folder("python-traceback");
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
    let python =
        interpreter(&folder, "python", &format!("PYTHONPATH='{}' exec python3 \"$@\"", package.display()));
    folder.write(
        "raises.py",
        "def agent(message):\n    print('looking it up')\n    raise ValueError('no city')\n",
    );
    let ran = run(&folder, &python, &["run", "evals/mixed.evalset.json:sunny", "--agent", "raises:agent"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    for says in [
        "the agent failed: ValueError: no city",
        "    | it wrote to its standard error:\n",
        "| looking it up\n",
        "Traceback (most recent call last):\n",
        "    raise ValueError('no city')\n",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
}

#[test]
fn drafts_of_an_object_name_it() {
    let folder = folder("python-record");
    let python = interpreter(&folder, "python", WEATHER);
    folder.write("prompts.txt", "What is the weather in Lima?\n");
    let ran = run(
        &folder,
        &python,
        &["record", "prompts.txt", "--agent", "weather:root", "-o", "new.evalset.json"],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let set: Value = serde_json::from_str(&folder.read("new.evalset.json")).expect("it is JSON");
    assert_eq!(set["eval_cases"][0]["_draft"]["from"], "`weather:root`");
}

#[test]
fn an_active_environment_is_taken_unless_the_variable_names_another_interpreter() {
    let folder = folder("python-environment");
    interpreter(&folder, "venv/bin/python3", WEATHER);
    let args = ["run", "fine", "--agent", "a:b"];
    let mut command = folder.command(&args);
    let ran: Ran = command.env("VIRTUAL_ENV", folder.path("venv")).output().expect("it runs").into();
    assert_eq!((ran.code, folder.names().contains(&"called".to_owned())), (Some(0), true), "{}", ran.err);
    let mut command = folder.command(&args);
    command.env("VIRTUAL_ENV", folder.path("venv")).env("EVALSET_PYTHON", "/no/python");
    let ran: Ran = command.output().expect("it runs").into();
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let said = "error: cannot start the Python interpreter `/no/python` (`EVALSET_PYTHON` names it): ";
    assert!(ran.err.contains(said), "{}", ran.err);
}

#[test]
fn what_is_wrong_with_an_object_or_its_interpreter_ends_the_run_before_its_first_case() {
    let folder = folder("python-wrong");
    let missing = interpreter(&folder, "missing", "exit 3");
    let broken = interpreter(&folder, "broken", "echo 'Traceback:' >&2; echo 'SyntaxError: no' >&2; exit 1");
    let hidden = interpreter(&folder, "hidden", "echo /w/evalset.py; exit 4");
    let named = |python: &str| format!("the Python interpreter `{python}` (`EVALSET_PYTHON` names it)");
    for (python, object, said, help) in [
        (
            &missing,
            "weather",
            "names no object of Python: `weather`".to_owned(),
            "`--agent my_agents.weather:agent`",
        ),
        (
            &missing,
            ":agent",
            "names no object of Python: `:agent`".to_owned(),
            "`--agent-cmd` takes commands",
        ),
        (&missing, "python3 a.py:b", "names no object of Python".to_owned(), "`--agent-cmd` takes commands"),
        (
            &missing,
            "weather:agent",
            format!("{} has no package `evalset`", named(&missing)),
            &*format!(
                "install it: `{missing} -m pip install ../evalset/python`; or let `EVALSET_PYTHON` name"
            ),
        ),
        (
            &hidden,
            "weather:agent",
            format!(
                "{} finds another `evalset` in place of the package that runs agents of Python: /w/evalset.py",
                named(&hidden)
            ),
            "rename that file or its folder",
        ),
        (
            &broken,
            "weather:agent",
            format!(
                "{} cannot look for the package `evalset` (exit status: 1): SyntaxError: no",
                named(&broken)
            ),
            "let `EVALSET_PYTHON` name the interpreter of the agent",
        ),
    ] {
        let ran = run(&folder, python, &["run", "evals", "--agent", object]);
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{object}: {}", ran.err);
        assert!(ran.err.contains(&said) && ran.err.contains(help), "{object}: {}", ran.err);
    }
}

/// The real check, with the interpreter of this machine and none of the packages that are installed for it.
#[test]
fn a_python_without_the_package_is_named_with_what_installs_it() {
    let folder = folder("python-without");
    let python = interpreter(&folder, "bare", "exec python3 -S -E \"$@\"");
    let ran = run(&folder, &python, &["run", "fine", "--agent", "a:b"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let said = format!("`{python}` (`EVALSET_PYTHON` names it) has no package `evalset`");
    assert!(ran.err.contains(&said), "{}", ran.err);
    folder.write("evalset.py", "");
    let ran = run(&folder, &python, &["run", "fine", "--agent", "a:b"]);
    assert!(ran.err.contains("finds another `evalset`") && ran.err.contains("evalset.py"), "{}", ran.err);
    // A package of that name in the folder is found, as by `python -m`.
    folder.write("evalset/__init__.py", "").write("evalset/__main__.py", "exec(open('weather.py').read())");
    let ran = run(&folder, &python, &["run", "fine", "--agent", "a:b"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn options_of_programs_are_taken_with_an_object_and_those_of_servers_are_not() {
    let folder = folder("python-options");
    for (args, said) in [
        (&["--agent", "a:b", "--agent-cmd", "c"][..], "cannot be used with '--agent-cmd <COMMAND>'"),
        (&["--agent", "a:b", "--header", "K=v"], "cannot be used with '--header <NAME=VALUE>'"),
        (&["--agent", "a:b", "--trace", "t.json"], "cannot be used with '--trace <FILE>'"),
        (&["--agent", "a:b", "--allow-uncovered"], "cannot be used with '--allow-uncovered'"),
        (
            &["--agent-url", "http://h", "--app", "a", "--end-within", "1s"],
            "required arguments were not provided",
        ),
    ] {
        let ran = folder.run(&[&["run", "fine"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
}
