//! The start of a program that a config names.

use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use eval_format::config::MetricCommand;
use eval_support::interpreter::Interpreter;

use crate::group::Launch;

/// The program that runs files of JavaScript and TypeScript.
const NODE: &str = "node";

/// The start of the program in the folder of its config. As in agentevals, the ending of a file names what runs it.
pub(super) fn of_config(config: &MetricCommand) -> Launch {
    let [first, arguments @ ..] = config.words.as_slice() else { return Launch::new(&Command::new("")) };
    let folder =
        config.folder.as_deref().map(|folder| absolute(folder).unwrap_or_else(|_| folder.to_owned()));
    let ending = Path::new(first).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let interpreter = match ending {
        "py" => Some(findable(&Interpreter::of_this_process().path, None)),
        "js" | "mjs" | "cjs" | "ts" => Some(NODE.into()),
        _ => None,
    };
    let mut command = match interpreter {
        Some(interpreter) => {
            let mut command = Command::new(interpreter);
            command.arg(first);
            command
        }
        None => Command::new(findable(Path::new(first), folder.as_deref())),
    };
    command.args(arguments);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    Launch::new(&command)
}

/// A path that means the same in every folder: it begins in `folder`, or in the folder of this process. A name without a
/// separator is looked for in the `PATH`.
fn findable(program: &Path, folder: Option<&Path>) -> PathBuf {
    let is_name = program.components().count() == 1 && program.is_relative() && !program.starts_with(".");
    if is_name || program.is_absolute() {
        return program.to_owned();
    }
    match folder {
        Some(folder) => folder.join(program),
        None => absolute(program).unwrap_or_else(|_| program.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str], folder: Option<&str>) -> String {
        let entry = format!("{words:?}");
        let text =
            format!(r#"{{"criteria": {{"b": 1}}, "custom_metrics": {{"b": {{"command": {entry}}}}}}}"#);
        let config = eval_format::EvalConfig::parse(&text).unwrap();
        let config =
            folder.iter().fold(config, |config, folder| config.in_folder_of(format!("{folder}/c.json")));
        of_config(&config.metric_command("b").unwrap()).typed("")
    }

    #[cfg(unix)]
    #[test]
    fn a_file_runs_with_the_interpreter_of_its_ending_in_the_folder_of_the_config() {
        assert_eq!(typed(&["node", "b.js"], Some("/evals")), "cd /evals && node b.js");
        assert_eq!(typed(&["b.ts", "a b"], Some("/evals")), "cd /evals && node b.ts 'a b'");
        assert_eq!(typed(&["./b", "x"], Some("/evals")), "cd /evals && /evals/./b x");
        assert_eq!(typed(&["bin/b.sh"], Some("/evals")), "cd /evals && /evals/bin/b.sh");
        assert_eq!(typed(&["/bin/b"], Some("/evals")), "cd /evals && /bin/b");
        assert_eq!(typed(&["b"], None), "b");
        let python = typed(&["m/b.py"], None);
        assert!(python.ends_with(" m/b.py") && python.contains("python"), "{python}");
    }
}
