//! Jobs of GitHub Actions: their steps, one after the other, as a runner of Linux takes them.

use std::collections::BTreeMap;
use std::fs;

use saphyr::Yaml;

use super::actions::Action;
use super::expression::Context;
use super::keys::{self, Keys};
use super::machine::Machine;

type Texts = BTreeMap<String, String>;

/// A job of a workflow that was read.
#[derive(Debug)]
pub(super) struct Job {
    name: String,
    variables: [Texts; 2],
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    /// Its id, else its command or its action.
    name: String,
    id: Option<String>,
    condition: Option<String>,
    variables: Texts,
    may_fail: bool,
    does: Does,
}

#[derive(Debug)]
enum Does {
    Run { script: String, shell: Vec<&'static str> },
    Use(Action),
}

/// A job that has ended.
pub(super) struct Ended {
    /// The steps with their outcomes.
    pub(super) steps: Vec<(String, &'static str)>,
    pub(super) has_failed: bool,
    pub(super) log: String,
    pub(super) summary: String,
}

impl Job {
    /// The only job of a workflow. `replaced` are steps in place of the step of this id.
    pub(super) fn new(workflow: &str, replaced: Option<(&str, &str)>) -> Result<Self, String> {
        let workflow = keys::parse(workflow)?;
        let mut workflow = Keys::new("workflow", &workflow)?;
        // Its events, each without filters.
        workflow.need("on")?;
        let mut permissions = workflow.keys("permissions")?;
        permissions.only("contents", "read")?;
        permissions.end()?;
        let of_all = workflow.keys("env")?.texts()?;
        let mut jobs = workflow.keys("jobs")?;
        workflow.end()?;
        let [name] =
            <[String; 1]>::try_from(jobs.names()).map_err(|names| format!("{names:?} are no one job"))?;
        let mut job = jobs.keys(&name)?;
        job.only("runs-on", "ubuntu-latest")?;
        let minutes = job.text("timeout-minutes")?;
        minutes.and_then(|it| it.parse::<u8>().ok()).ok_or("a job has no time limit of minutes")?;
        let variables = [of_all, job.keys("env")?.texts()?];
        let mut steps = read_steps(job.need("steps")?)?;
        job.end()?;
        if let Some((id, with)) = replaced {
            let at = steps.iter().position(|step| step.id.as_deref() == Some(id));
            steps.splice(at.map(|at| at..=at).ok_or("no such step")?, read_steps(&keys::parse(with)?)?);
        }
        Ok(Self { name, variables, steps })
    }

    /// The scripts of the steps.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.does {
            Does::Run { script, .. } => Some(&**script),
            Does::Use(_) => None,
        })
    }

    /// Runs it on a machine of its own.
    pub(super) fn run(&self, machine: &Machine, run_id: u32, secrets: &[(&str, &str)]) -> Ended {
        machine.begin_job();
        let mut context = Context::default();
        let github = [("github.run_id", run_id.to_string()), ("github.run_attempt", "1".to_owned())];
        context.values.extend(github.map(|(name, value)| (name.to_owned(), value)));
        let secrets = secrets.iter().map(|(name, value)| (format!("secrets.{name}"), (*value).to_owned()));
        context.values.extend(secrets);
        let mut ended =
            Ended { steps: Vec::new(), has_failed: false, log: String::new(), summary: String::new() };
        let mut came_to = Vec::new();
        let mut exported = Exported::default();
        for step in &self.steps {
            let holds = context.holds(step.condition.as_deref()).expect("the condition is known");
            let outcome = if holds {
                came_to.push(&step.does);
                let done = self.step(step, machine, &context, &mut exported, &mut ended);
                if let Err(said) = &done {
                    ended.log += &format!("{said}\n");
                }
                context.has_failed |= done.is_err() && !step.may_fail;
                if done.is_ok() { "success" } else { "failure" }
            } else {
                "skipped"
            };
            if let Some(id) = &step.id {
                context.values.insert(format!("steps.{id}.outcome"), outcome.to_owned());
            }
            ended.steps.push((step.name.clone(), outcome));
        }
        for does in came_to.into_iter().rev() {
            if let Does::Use(action) = does {
                action.after(machine).expect("an action can end");
            }
        }
        ended.has_failed = context.has_failed;
        ended
    }

    fn step(
        &self,
        step: &Step,
        machine: &Machine,
        context: &Context,
        exported: &mut Exported,
        ended: &mut Ended,
    ) -> Result<(), String> {
        let (script, shell) = match &step.does {
            Does::Use(action) => return action.run(machine),
            Does::Run { script, shell } => (script, shell),
        };
        let mut variables: Texts = [
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_JOB", &self.name),
            ("GITHUB_RUN_ID", &context.values["github.run_id"]),
            ("GITHUB_RUN_ATTEMPT", "1"),
            ("RUNNER_OS", "Linux"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        variables.extend(exported.variables.clone());
        for level in self.variables.iter().chain([&step.variables]) {
            for (name, value) in level {
                variables.insert(name.clone(), context.fill(value)?);
            }
        }
        // Each step has files of its own.
        for file in ["GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH"] {
            fs::write(machine.file(file), "").map_err(|error| error.to_string())?;
            variables.insert(file.to_owned(), machine.file(file).display().to_string());
        }
        let prefixes = exported.paths.iter().rev();
        let path =
            prefixes.fold(String::new(), |path, folder| path + &format!("PATH='{folder}':\"$PATH\"\n"));
        let script = path + &context.fill(script)?;
        let run = machine.run(shell, &script, &variables);
        ended.log += &run.log;
        let read = |file| fs::read_to_string(machine.file(file)).map_err(|error| error.to_string());
        ended.summary += &read("GITHUB_STEP_SUMMARY")?;
        exported.paths.splice(0..0, read("GITHUB_PATH")?.lines().map(str::to_owned));
        for line in read("GITHUB_ENV")?.lines() {
            let (name, value) = line.split_once('=').ok_or_else(|| format!("`{line}` sets no variable"))?;
            exported.variables.insert(name.to_owned(), value.to_owned());
        }
        match run.code {
            Some(0) => Ok(()),
            Some(code) => Err(format!("Process completed with exit code {code}.")),
            None => Err("the process was killed".to_owned()),
        }
    }
}

/// Variables and folders of programs that steps gave to the steps after them.
#[derive(Default)]
struct Exported {
    variables: Texts,
    paths: Vec<String>,
}

fn read_steps(steps: &Yaml<'_>) -> Result<Vec<Step>, String> {
    steps.as_sequence().ok_or("the steps are no list")?.iter().map(read_step).collect()
}

fn read_step(step: &Yaml<'_>) -> Result<Step, String> {
    let mut step = Keys::new("step", step)?;
    let (id, script, uses) = (step.text("id")?, step.text("run")?, step.text("uses")?);
    let name = id.clone().or(script.clone()).or(uses.clone()).unwrap_or_default();
    let does = match (script, uses) {
        (Some(script), None) => {
            let shell = match step.text("shell")?.as_deref() {
                None => vec!["-e"],
                Some("bash") => vec!["--noprofile", "--norc", "-eo", "pipefail"],
                Some(shell) => return Err(format!("`{shell}` is no shell that is known here")),
            };
            Does::Run { script: script.trim_end().to_owned(), shell }
        }
        (None, Some(uses)) => Does::Use(Action::new(&uses, step.keys("with")?)?),
        _ => return Err(format!("the step `{name}` does nothing, or two things")),
    };
    let may_fail = match step.text("continue-on-error")?.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(value) => return Err(format!("`continue-on-error` is `{value}`")),
    };
    let (condition, variables) = (step.text("if")?, step.keys("env")?.texts()?);
    step.end()?;
    Ok(Step { name, id, condition, variables, may_fail, does })
}

impl Ended {
    /// The steps with this outcome.
    pub(super) fn with(&self, outcome: &str) -> Vec<&str> {
        self.steps.iter().filter(|step| step.1 == outcome).map(|step| &*step.0).collect()
    }

    /// The annotations: lines of the log that GitHub takes as commands. No other commands may be in it.
    pub(super) fn annotations(&self) -> Vec<&str> {
        let commands = self.log.lines().filter(|line| line.trim_start().starts_with("::"));
        let commands: Vec<_> = commands.collect();
        for command in &commands {
            assert!(command.starts_with("::error ") || command.starts_with("::warning "), "{command}");
        }
        commands
    }
}
