//! A job of GitLab, as a runner with the executor `docker` takes it.

use std::collections::BTreeMap;
use std::fs;

use super::keys::{self, Keys};
use super::machine::{self, Machine};

/// A job that was read.
#[derive(Debug)]
pub(super) struct Job {
    variables: Vec<(String, String)>,
    cached: Vec<String>,
    script: String,
    after_script: String,
    artifacts: Vec<String>,
}

/// A job that has ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) log: String,
}

/// The text that a runner puts before the lines of a script.
const PREAMBLE: &str = "set -eo pipefail\nset +o noclobber\n";

impl Job {
    /// The only job of a file.
    pub(super) fn new(file: &str) -> Result<Self, String> {
        let file = keys::parse(file)?;
        let mut file = Keys::new("file", &file)?;
        let mut variables: Vec<_> = file.keys("variables")?.texts()?.into_iter().collect();
        let [name] =
            <[String; 1]>::try_from(file.names()).map_err(|names| format!("{names:?} are no one job"))?;
        let mut job = file.keys(&name)?;
        variables.extend(job.keys("variables")?.texts()?);
        job.only("image", &format!("rust:{}", env!("CARGO_PKG_RUST_VERSION")))?;
        let mut cache = job.keys("cache")?;
        let mut key = cache.keys("key")?;
        if key.list("files")? != ["Cargo.lock"] {
            return Err("the cache has another key than the locked versions".to_owned());
        }
        key.end()?;
        cache.only("when", "always")?;
        let cached = cache.list("paths")?;
        cache.end()?;
        let mut artifacts = job.keys("artifacts")?;
        artifacts.only("when", "always")?;
        let mut kept = artifacts.list("paths")?;
        let mut reports = artifacts.keys("reports")?;
        kept.extend(reports.text("junit")?);
        reports.end()?;
        artifacts.end()?;
        let [script, after_script] = [job.list("script")?, job.list("after_script")?].map(|it| it.join("\n"));
        job.end()?;
        Ok(Self { variables, cached, script, after_script, artifacts: kept })
    }

    pub(super) fn installs(&self) -> bool {
        machine::installs(&self.script)
    }

    /// Runs the job on a machine of its own. The script alone decides the exit code.
    pub(super) fn run(&self, machine: &Machine, job_id: u32) -> Result<Ended, String> {
        machine.begin_job();
        machine.checkout()?;
        for path in &self.cached {
            machine.restore(&format!("gitlab/{path}"), &machine.workspace().join(path))?;
        }
        let folder = machine.workspace().display().to_string();
        let mut variables: BTreeMap<_, _> = [
            ("CI", "true"),
            ("GITLAB_CI", "true"),
            ("CI_JOB_ID", &*job_id.to_string()),
            ("CI_PROJECT_DIR", &folder),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        for (name, value) in &self.variables {
            let expanded = ["CI_JOB_ID", "CI_PROJECT_DIR"]
                .iter()
                .fold(value.clone(), |value, name| value.replace(&format!("${name}"), &variables[*name]));
            if expanded.contains('$') {
                return Err(format!("`{value}` has a variable that is not known here"));
            }
            variables.insert(name.clone(), expanded);
        }
        let run = |script: &str| machine.run(&[], &format!("{PREAMBLE}{script}"), &variables);
        let script = run(&self.script);
        let after = run(&self.after_script);
        for path in &self.cached {
            machine.save(&format!("gitlab/{path}"), &machine.workspace().join(path))?;
        }
        let mut log = script.log + "\nRunning after_script\n" + &after.log;
        let folder = machine.artifact("job");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        for path in &self.artifacts {
            if fs::copy(machine.workspace().join(path), folder.join(path)).is_err() {
                log += &format!("WARNING: {path}: no matching files\n");
            }
        }
        Ok(Ended { code: script.code, log })
    }
}
