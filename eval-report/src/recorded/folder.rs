//! The folder of recorded runs, and the run in it that a command is about.
//!
//! A command without a name takes the newest run of this project, from the one folder where its runs are
//! recorded. It looks into no other folder, and never takes a run of another project, nor one in which suspects of a gate ran again:
//! only failing cases ran in that.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eval_core::journal::file_names::LATEST;
use eval_core::journal::project::{OWN_FOLDER, Project};
use eval_support::id::fresh_id;
use eval_support::untrusted::one_line;
use eval_support::variables::{self, RUN_ID};
use eval_support::words::did_you_mean;

use crate::cargo;
use crate::journal::{self, Owner, RunDir, find_run, owners};
use crate::output::CommandError;

#[derive(Clone, Debug)]
pub(super) struct Meant {
    pub(super) folder: PathBuf,
    /// A sentence about the owner, if the run is of another project, or of a project above the current folder.
    pub(super) foreign: Option<String>,
    /// Whether its id or its folder was named. The last run of a named folder of runs is not.
    pub(super) is_named: bool,
}

/// The run that a command is about: the run of this name, else the run that `EVALSET_RUN_ID` names, else the newest run of
/// this project.
///
/// A name is the id of a run, its folder, or a folder of runs such as `target/evalset`, which means its last
/// run.
pub(super) fn meant(name: Option<&str>) -> Result<Meant, CommandError> {
    let ours = Ours(Project::here());
    if let Some(name) = name {
        let path = Path::new(name);
        let last = if path.is_dir() { ours.last_in(path) } else { None };
        let is_named = last.is_none();
        let folder = match last {
            Some(last) => last,
            None if path.is_dir() => path.to_owned(),
            None => with_id(name)?,
        };
        return Ok(Meant { is_named, ..ours.meant(folder) });
    }
    let root = root();
    if let Some(id) = named_by_variable() {
        let found = journal::runs(&root).unwrap_or_default().into_iter().find(|run| run.id == id);
        let run = found.ok_or_else(|| {
            CommandError::new(
                format!("`{RUN_ID}` is `{id}`, and there is no such run in `{}`", root.display()),
                "the tests recorded nothing under this name: they did not build, did not start, or ran without the variable",
            )
        })?;
        return Ok(ours.meant(run.path));
    }
    let runs = newest_first(&root).unwrap_or_default();
    match runs.iter().find(|run| is_of_build(run) && ours.foreign(&run.path).is_none()) {
        Some(run) => Ok(Meant { folder: run.path.clone(), foreign: ours.above(&here()), is_named: false }),
        None => Err(ours.refused(&root, runs.first())),
    }
}

/// The separator before a round number: the id of a run is before it, and its suspects ran again in the round.
const SUSPECTS: &str = "-suspects-";

/// The prefix of rounds that a review ran.
const OF_REVIEW: &str = "review-";

/// A new id for a test run in which suspects of a run run again for a gate.
pub fn id_of_suspects(run: &str) -> String {
    fresh_id(&format!("{run}{}", SUSPECTS.trim_end_matches('-')))
}

/// A new id for a test run in which a case of a run runs again during a review.
pub fn id_of_reviewed(run: &str) -> String {
    fresh_id(&format!("{run}{SUSPECTS}{}", OF_REVIEW.trim_end_matches('-')))
}

/// The run whose suspects ran again in this one; `None` for every other run.
pub fn run_of_suspects(id: &str) -> Option<&str> {
    id.split_once(SUSPECTS).map(|(run, _)| run)
}

/// Whether a gate of this run ran its suspects again in the run with this id. What runs during a review is chosen by its reviewer.
pub fn is_of_gate(id: &str, run: &str) -> bool {
    id.split_once(SUSPECTS).is_some_and(|(of, rest)| of == run && !rest.starts_with(OF_REVIEW))
}

fn is_of_build(run: &RunDir) -> bool {
    run_of_suspects(&run.id).is_none()
}

/// The run that `EVALSET_RUN_ID` names.
pub(super) fn named_by_variable() -> Option<String> {
    let id = env::var_os(RUN_ID).filter(|id| !id.is_empty())?;
    Some(id.to_string_lossy().into_owned())
}

/// The owner of a run that is not of this project.
pub(super) fn foreign(run: &Path) -> Option<String> {
    Ours(Project::here()).foreign(run)
}

/// The run of this id in a folder of runs, or the newest one for `latest`. The inner error is the reason:
/// there is none, or it is of another project.
pub fn own_run(root: &Path, id: &str) -> io::Result<Result<RunDir, String>> {
    let found =
        if id == LATEST { own_runs(root)?.0.into_iter().find(is_of_build) } else { find_run(root, id)? };
    let Some(found) = found else { return Ok(Err("there is no such run".to_owned())) };
    let whose = if is_same(root, &self::root()) { foreign(&found.path) } else { None };
    Ok(whose.map_or(Ok(found), Err))
}

/// The runs of this project in a folder of runs, with the last joined first, and the number of other runs.
/// Any other folder than [`root`], such as a copy of a store, was chosen for all its runs.
pub fn own_runs(root: &Path) -> io::Result<(Vec<RunDir>, usize)> {
    let mut runs = newest_first(root)?;
    let all = runs.len();
    if is_same(root, &self::root()) {
        let ours = Ours(Project::here());
        runs.retain(|run| ours.foreign(&run.path).is_none());
    }
    let others = all - runs.len();
    Ok((runs, others))
}

fn with_id(id: &str) -> Result<PathBuf, CommandError> {
    let runs = journal::runs(&root()).unwrap_or_default();
    if let Some(run) = runs.iter().find(|run| run.id == id) {
        return Ok(run.path.clone());
    }
    let help = match (did_you_mean(id, runs.iter().map(|run| run.id.as_str())), runs.first()) {
        (Some(question), _) => question,
        (None, Some(last)) => format!("the last of {} is `{}`", runs.len(), last.id),
        (None, None) => NO_RUNS.to_owned(),
    };
    Err(CommandError::new(format!("there is no run `{id}`"), help))
}

const NO_RUNS: &str = "run the tests first: tests of `#[eval_set]` record their runs, unless `EVALSET_JOURNAL=off` is set; \
                       `EVALSET_DIR` names the folder";

/// The runs of a folder: the run that was joined last, then the others from the newest.
fn newest_first(root: &Path) -> io::Result<Vec<RunDir>> {
    let mut runs = journal::runs(root)?;
    let latest = journal::latest(root).and_then(|latest| runs.iter().position(|run| run.id == latest.id));
    if let Some(at) = latest {
        runs[..=at].rotate_right(1);
    }
    Ok(runs)
}

struct Ours(Project);

impl Ours {
    fn own(&self, owner: &Owner) -> bool {
        if let Some(member) = self.0.member()
            && owner.package.as_deref() != Some(&*member.name)
        {
            return false;
        }
        match &owner.workspace {
            Some(folder) if is_same(folder, &self.0.folder) => true,
            // A member with a `Cargo.lock` of its own looks like a workspace; cargo knows better.
            Some(folder) if folder.exists() => {
                self.0.is_of_cargo && members().any(|(_, member)| is_same(folder, Path::new(member)))
            }
            // Recorded on another machine, or before the folder was moved.
            _ => match (&self.0.package, &owner.package) {
                (Some(ours), Some(package)) if ours.name == *package => true,
                (_, Some(package)) => self.0.is_of_cargo && members().any(|(name, _)| name == package),
                _ => false,
            },
        }
    }

    fn last_in(&self, root: &Path) -> Option<PathBuf> {
        let runs = newest_first(root).unwrap_or_default();
        let is_ours = |run: &&RunDir| is_of_build(run) && self.foreign(&run.path).is_none();
        let run = runs.iter().find(is_ours).or(runs.first());
        run.map(|run| run.path.clone())
    }

    fn meant(&self, folder: PathBuf) -> Meant {
        Meant { foreign: self.foreign(&folder), folder, is_named: false }
    }

    /// A sentence about the project, if it is of a folder above this one: a folder without a manifest may be meant as a project
    /// of its own.
    fn above(&self, here: &Path) -> Option<String> {
        let folder = self.0.package.as_ref().map_or(&self.0.folder, |package| &package.folder);
        let is_above = !is_same(here, folder);
        is_above
            .then(|| format!("the run is of {}: the current folder has no manifest of its own", self.name()))
    }

    /// A sentence about the owner of a run that cannot be of this project: of the package of this folder, or in a
    /// workspace's folder of any of its packages. A run without a readable journal may be of it, so that no older
    /// run is taken in its place.
    fn foreign(&self, run: &Path) -> Option<String> {
        let owners = owners(run);
        let is_foreign = !owners.is_empty() && !owners.iter().any(|owner| self.own(owner));
        is_foreign.then(|| format!("the run is of {}, and not of {}", whose(&owners), self.name()))
    }

    fn name(&self) -> String {
        let folder = |folder: &Path| one_line(&folder.display().to_string());
        match &self.0.package {
            Some(package) => {
                format!("package `{}` in `{}`", one_line(&package.name), folder(&package.folder))
            }
            None if self.0.is_of_cargo => format!("the workspace `{}`", folder(&self.0.folder)),
            None => format!("the folder `{}`", folder(&self.0.folder)),
        }
    }

    fn refused(&self, root: &Path, newest: Option<&RunDir>) -> CommandError {
        let shown = root.display();
        let again = match (&self.0.package, self.0.is_of_cargo) {
            (Some(package), _) => format!("run its tests: `cargo test -p {}`", one_line(&package.name)),
            (None, true) => "run the tests of the workspace: `cargo test`".to_owned(),
            (None, false) => "run its sets: `cargo evalset run`".to_owned(),
        };
        let Some(newest) = newest else {
            let help = if self.0.is_of_cargo {
                NO_RUNS.to_owned()
            } else {
                format!("{again}; `EVALSET_DIR` names the folder")
            };
            return CommandError::new(format!("`{shown}` holds no recorded run"), help);
        };
        let (ours, newest_is) = (self.name(), whose(&owners(&newest.path)));
        let message = format!("`{shown}` holds no run of {ours}; the newest one is of {newest_is}");
        let help = format!("{again}; or name the run if it is the one you mean: `{}`", newest.id);
        CommandError::new(message, help)
    }
}

fn whose(owners: &BTreeSet<Owner>) -> String {
    const MAX_NAMED_OWNERS: usize = 3;
    let name = |Owner { workspace, package }: &Owner| {
        let package = package.as_ref().map(|name| format!("package `{}`", one_line(name)));
        let folder =
            workspace.as_ref().map(|folder| format!("`{}`", one_line(&folder.display().to_string())));
        match (package, folder) {
            (Some(package), Some(folder)) => format!("{package} in {folder}"),
            (Some(package), None) => package,
            (None, Some(folder)) => format!("a program in {folder}"),
            (None, None) => "a program in an unknown folder".to_owned(),
        }
    };
    let mut names: Vec<String> = owners.iter().take(MAX_NAMED_OWNERS).map(name).collect();
    if owners.is_empty() {
        return "an unknown package, since none of its journals can be read".to_owned();
    }
    if owners.len() > MAX_NAMED_OWNERS {
        names.push(format!("{} more", owners.len() - MAX_NAMED_OWNERS));
    }
    names.join(" and ")
}

/// Whether two paths lead to the same folder, with links followed.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

fn here() -> PathBuf {
    env::current_dir().unwrap_or_default()
}

fn members() -> impl Iterator<Item = (&'static str, &'static str)> {
    let packages = cargo::metadata().and_then(|metadata| metadata["packages"].as_array());
    packages.into_iter().flatten().filter_map(|package| {
        let manifest = package["manifest_path"].as_str()?;
        Some((package["name"].as_str()?, Path::new(manifest).parent()?.to_str()?))
    })
}

/// Removes a few surplus runs. Tests do not remove any.
pub fn prune() {
    // An error is ignored: a surplus run does no harm.
    drop(journal::prune(&root()));
}

/// The folder of the runs of this project: `EVALSET_DIR`, else `evalset` in cargo's target folder for it, else `.evalset` in a project
/// without cargo.
pub fn root() -> PathBuf {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let root = variable(variables::DIR).unwrap_or_else(|| {
        let Project { folder, is_of_cargo, .. } = Project::here();
        if !is_of_cargo {
            return folder.join(OWN_FOLDER);
        }
        let target = variable("CARGO_TARGET_DIR").or_else(cargo::target_directory);
        target.unwrap_or_else(|| folder.join("target")).join("evalset")
    });
    std::path::absolute(&root).unwrap_or(root)
}

/// The folder for runs that begin now. In a project without cargo, it gets a `.gitignore`.
pub fn new_root() -> PathBuf {
    let root = root();
    let ignored = root.join(".gitignore");
    if root.ends_with(OWN_FOLDER) && !ignored.exists() {
        // If this fails, the code that writes in the folder fails too and reports it.
        let _ = fs::create_dir_all(&root).and_then(|()| fs::write(ignored, "*\n"));
    }
    root
}

/// A path as it is shown: relative to the current folder if it is below that.
pub fn near(path: &Path) -> &Path {
    env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use eval_core::journal::project::Package;

    use super::*;

    fn project(folder: &Path, is_of_cargo: bool, package: Option<(&str, &Path)>) -> Ours {
        let package =
            package.map(|(name, folder)| Package { name: name.to_owned(), folder: folder.to_owned() });
        Ours(Project { folder: folder.to_owned(), is_of_cargo, package })
    }

    fn owner(workspace: Option<&Path>, package: Option<&str>) -> Owner {
        Owner { workspace: workspace.map(Path::to_owned), package: package.map(str::to_owned) }
    }

    #[test]
    fn a_run_is_ours_by_its_workspace_and_package() {
        let temporary = tempfile::tempdir().unwrap();
        let (shop, other) = (temporary.path().join("shop"), temporary.path().join("other"));
        let member = shop.join("cart");
        for folder in [&member, &other] {
            fs::create_dir_all(folder).unwrap();
        }
        let gone = temporary.path().join("gone");
        let plain = project(&shop, false, None);
        let whole = project(&shop, true, Some(("shop", &shop)));
        let cart = project(&shop, true, Some(("cart", &member)));
        for (ours, workspace, package, expected) in [
            (&plain, Some(&shop), None, true),
            (&plain, Some(&other), None, false),
            (&plain, Some(&gone), Some("shop"), false),
            (&whole, Some(&shop), Some("cart"), true),
            (&whole, Some(&other), Some("shop"), false),
            (&whole, Some(&gone), Some("shop"), true),
            (&whole, Some(&gone), Some("no such package"), false),
            (&whole, None, Some("shop"), true),
            (&whole, None, None, false),
            (&cart, Some(&shop), Some("cart"), true),
            (&cart, Some(&shop), Some("shop"), false),
            (&cart, Some(&gone), Some("cart"), true),
        ] {
            let owner = owner(workspace.map(|it| &**it), package);
            assert_eq!(ours.own(&owner), expected, "{owner:?} of {}", ours.name());
        }
        // The members of the workspace of this crate, which cargo knows.
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let [of_cargo, plain] = [true, false].map(|is_of_cargo| project(&shop, is_of_cargo, None));
        for (workspace, package) in [(Some(here), None), (Some(&*gone), Some("eval-report"))] {
            let owner = owner(workspace, package);
            assert_eq!([of_cargo.own(&owner), plain.own(&owner)], [true, false], "{owner:?}");
        }
    }

    #[test]
    fn a_project_without_a_run_is_told_how_to_get_one() {
        let temporary = tempfile::tempdir().unwrap();
        let (shop, root) = (Path::new("/w/shop"), temporary.path());
        let of_cargo = project(shop, true, Some(("shop", shop)));
        fs::create_dir(root.join("r7")).unwrap();
        fs::write(root.join("r7/run.json"), r#"{"run":"r7","started":"2026-11-22T02:31:07.000Z"}"#).unwrap();
        let newest = journal::runs(root).unwrap().remove(0);
        let said = |ours: &Ours, newest| {
            let error = ours.refused(Path::new("runs"), newest);
            format!("{error}")
        };
        for (ours, newest, words) in [
            (&of_cargo, None, ["`runs` holds no recorded run", "run the tests first"]),
            (
                &project(shop, false, None),
                None,
                ["`runs` holds no recorded run", "run its sets: `cargo evalset run`; `EVALSET_DIR`"],
            ),
            (
                &of_cargo,
                Some(&newest),
                [
                    "no run of package `shop` in `/w/shop`; the newest one is of an unknown package",
                    "run its tests: `cargo test -p shop`; or name the run if it is the one you mean: `r7`",
                ],
            ),
            (
                &project(shop, true, None),
                Some(&newest),
                [
                    "no run of the workspace `/w/shop`",
                    "run the tests of the workspace: `cargo test`; or name",
                ],
            ),
            (
                &project(shop, false, None),
                Some(&newest),
                ["no run of the folder `/w/shop`", "run its sets: `cargo evalset run`; or name"],
            ),
        ] {
            let said = said(ours, newest);
            assert!(words.iter().all(|words| said.contains(words)), "{said}");
        }
    }

    #[test]
    fn a_few_owners_are_named() {
        let of = |packages: &[&str]| whose(&packages.iter().map(|it| owner(None, Some(it))).collect());
        assert_eq!(of(&[]), "an unknown package, since none of its journals can be read");
        assert_eq!(of(&["a"]), "package `a`");
        assert_eq!(of(&["a", "b", "c"]), "package `a` and package `b` and package `c`");
        assert_eq!(of(&["a", "b", "c", "d", "e"]), "package `a` and package `b` and package `c` and 2 more");
        let folders =
            [owner(Some(Path::new("/w")), Some("a")), owner(Some(Path::new("/w")), None), owner(None, None)];
        assert_eq!(
            whose(&folders.into_iter().collect()),
            "a program in an unknown folder and a program in `/w` and package `a` in `/w`"
        );
    }

    #[test]
    fn a_folder_is_the_same_behind_a_link() {
        let temporary = tempfile::tempdir().unwrap();
        let (one, other) = (temporary.path().join("one"), temporary.path().join("other"));
        fs::create_dir_all(&one).unwrap();
        assert!(is_same(&one, &one) && is_same(&one, &one.join(".")) && !is_same(&one, &other));
        assert!(is_same(&other, &other), "neither is there");
    }

    /// A folder of runs of another kind, such as a copy of a store, shows runs of all projects.
    #[test]
    fn the_runs_of_a_folder_that_was_chosen_are_all_shown() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        for (id, package) in [("r1", "shop"), ("r2", "another")] {
            let run = root.join(id);
            fs::create_dir(&run).unwrap();
            fs::write(
                run.join("run.json"),
                format!("{{\"run\":\"{id}\",\"started\":\"2026-11-22T02:31:0{}.000Z\"}}", &id[1..]),
            )
            .unwrap();
            let head = format!("{{\"record\":\"head\",\"workspace\":\"/gone\",\"package\":\"{package}\"}}\n");
            fs::write(run.join("a-b-1-0.jsonl"), head).unwrap();
        }
        let (runs, others) = own_runs(root).unwrap();
        assert_eq!((runs.len(), others), (2, 0));
        assert_eq!(runs[0].id, "r2", "the newest comes first");
        assert_eq!(own_run(root, "r1").unwrap().unwrap().id, "r1");
        assert_eq!(own_run(root, "latest").unwrap().unwrap().id, "r2");
        assert_eq!(own_run(root, "r3").unwrap().unwrap_err(), "there is no such run");
    }
}
