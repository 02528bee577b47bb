//! The revision of a git checkout, read from its files. No program is started: tests may run where there is no `git`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The commit that is checked out, and its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The hash of the commit.
    pub commit: String,
    /// The branch; `None` if the commit is checked out without one.
    pub branch: Option<String>,
}

impl Revision {
    /// The beginning of the hash of a commit, as git shows it.
    pub fn short(commit: &str) -> String {
        commit.chars().take(7).collect()
    }

    /// The revision of the checkout that holds this folder; `None` without a checkout, and if its `HEAD` cannot be read
    /// without git.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let git = folder.ancestors().find_map(git_folder)?;
        let head = line_of(&git.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else {
            return is_hash(&head).then_some(Self { commit: head, branch: None });
        };
        let name = name.trim();
        if !name.starts_with("refs/") || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return None;
        }
        // A linked worktree has its own HEAD, and the branches of the repository.
        let common = line_of(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
        let commit = line_of(&common.join(name)).or_else(|| packed(&common, name))?;
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
        is_hash(&commit).then_some(Self { commit, branch: Some(branch) })
    }
}

fn git_folder(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(".git");
    let found = fs::metadata(&path).ok()?;
    if found.is_dir() {
        return Some(path);
    }
    let named = line_of(&path)?;
    Some(folder.join(named.strip_prefix("gitdir: ")?))
}

fn line_of(path: &Path) -> Option<String> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty())
}

fn packed(git: &Path, name: &str) -> Option<String> {
    let file = BufReader::new(File::open(git.join("packed-refs")).ok()?.take(MAX_LIST_BYTES));
    let found = file.lines().map_while(Result::ok).find_map(|line| {
        let (commit, of) = line.split_once(' ')?;
        (of == name).then(|| commit.to_owned())
    });
    found.filter(|commit| is_hash(commit))
}

const MAX_LIST_BYTES: u64 = 16 << 20;

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const A: &str = "05cde3d0c2b1a09f8e7d6c5b4a39281706f5e4d3";
    const B: &str = "99999999c2b1a09f8e7d6c5b4a39281706f5e4d3";

    fn repository(files: &[(&str, &str)]) -> TempDir {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn on(commit: &str, branch: &str) -> Revision {
        Revision { commit: commit.to_owned(), branch: Some(branch.to_owned()) }
    }

    #[test]
    fn the_commit_and_the_branch_are_read() {
        let packed = format!("# pack-refs with: peeled\n{B} refs/heads/other\n{A} refs/heads/main\n^{B}\n");
        for (files, expected) in [
            (vec![(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", A)], Some(on(A, "main"))),
            (vec![(".git/HEAD", "ref: refs/heads/a/b\n"), (".git/refs/heads/a/b", A)], Some(on(A, "a/b"))),
            (
                vec![(".git/HEAD", "ref: refs/heads/main\n"), (".git/packed-refs", &packed)],
                Some(on(A, "main")),
            ),
            (vec![(".git/HEAD", A)], Some(Revision { commit: A.to_owned(), branch: None })),
            // A repository without a commit.
            (vec![(".git/HEAD", "ref: refs/heads/main\n")], None),
            // Branches in another form.
            (vec![(".git/HEAD", "ref: refs/heads/.invalid\n")], None),
            (vec![(".git/HEAD", "ref: refs/../../secret\n"), ("secret", A)], None),
            (vec![(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", "hello")], None),
            (vec![(".git/HEAD", "\u{0}")], None),
            (vec![(".git/HEAD", "")], None),
            (vec![(".git", "nothing")], None),
        ] {
            let folder = repository(&files);
            fs::create_dir_all(folder.path().join("crates/evals")).unwrap();
            assert_eq!(Revision::from_folder(&folder.path().join("crates/evals")), expected, "{files:?}");
        }
    }

    #[test]
    fn a_linked_worktree_has_its_own_commit_on_a_branch_of_the_repository() {
        let folder = repository(&[
            ("main/.git/HEAD", "ref: refs/heads/main"),
            ("main/.git/refs/heads/main", B),
            ("main/.git/refs/heads/fix", A),
            ("main/.git/worktrees/fix/HEAD", "ref: refs/heads/fix"),
            ("main/.git/worktrees/fix/commondir", "../.."),
            ("fix/.git", "gitdir: ../main/.git/worktrees/fix\n"),
        ]);
        assert_eq!(Revision::from_folder(&folder.path().join("fix")), Some(on(A, "fix")));
        assert_eq!(Revision::from_folder(&folder.path().join("main")), Some(on(B, "main")));
    }
}
