//! Writing: one file per process, one write per record.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once, OnceLock};

use eval_support::lock::FileLock;
use eval_support::mutex::Mutex;
use eval_support::secrets::{Secrets, argument_without_assigned, secret_variables};
use eval_support::variables;

use super::file_names::{JOURNAL, binary, plain};
use super::folder::Joined;
use super::line::{Field, Line, seal};
use super::project::{self, Project};
use super::record::{Head, JOB_VARIABLES};
use super::{folder, listed, run_id, time};
use crate::compiled::SetSource;
use crate::target_dir::evalset_dir;

/// The journal that a process writes. If it cannot be written, one message says so, and verdicts stay the same.
pub(crate) struct Journal {
    pub(crate) run: String,
    pub(crate) path: PathBuf,
    file: Mutex<Option<Lines>>,
    failed: OnceLock<Arc<io::Error>>,
    tests: AtomicU32,
    secrets: Arc<Secrets>,
    /// While this process holds it, no other process removes the run.
    lock: Option<FileLock>,
    /// The folder whose surplus runs are removed when this journal is closed; `None` for tests, which end one
    /// by one.
    prunes: Option<PathBuf>,
}

impl Drop for Journal {
    fn drop(&mut self) {
        drop(self.lock.take());
        if let (Some(folder), Ok(kept)) = (&self.prunes, kept()) {
            // An error changes nothing: the next run removes old ones again.
            let _ = folder::prune(folder, kept);
        }
    }
}

/// Removes the oldest runs of a folder such as `target/evalset`, a few at a time. The newest `EVALSET_KEEP`
/// runs of each package stay, and so do runs that are still being written. Returns how many were removed.
///
/// `cargo evalset report` removes runs, and so does a program at the end of its run. Tests remove none.
pub fn prune(folder: &Path) -> io::Result<usize> {
    let kept = kept().map_err(io::Error::other)?;
    folder::prune(folder, kept)
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Journal").field(&self.path).finish()
    }
}

/// The journal of the tests of this process; `None` if journaling is off or the file cannot be opened. The package of
/// the set is the package of all sets in the test binary. Fails if a variable has an unknown value.
pub(super) fn of_tests(set: &SetSource) -> Result<Option<Arc<Journal>>, String> {
    static OPENED: OnceLock<Result<Option<Arc<Journal>>, String>> = OnceLock::new();
    let open = || {
        if is_off()? {
            return Ok(None);
        }
        let Some(folder) = evalset_dir()? else {
            say_once("this program is in no target folder; `EVALSET_DIR` names a folder");
            return Ok(None);
        };
        match Journal::open(&folder, None, |run| of_set(run, set), Some(Path::new(set.manifest_dir))) {
            Ok(journal) => Ok(Some(Arc::new(journal))),
            Err(OpenError::Environment(message)) => Err(message),
            Err(error @ OpenError::Folder { .. }) => {
                say_once(&error.to_string());
                Ok(None)
            }
        }
    };
    OPENED.get_or_init(open).clone()
}

pub(super) fn is_off() -> Result<bool, String> {
    turns_off(&std::env::var_os(variables::JOURNAL).unwrap_or_default())
}

fn turns_off(value: &OsStr) -> Result<bool, String> {
    match value.to_str() {
        Some("" | "on") => Ok(false),
        Some("off") => Ok(true),
        other => Err(format!(
            "`EVALSET_JOURNAL` is `{}`; it can be `on` (the default) or `off`",
            other.unwrap_or("not a text")
        )),
    }
}

const KEPT_RUNS: usize = 20;

fn kept() -> Result<usize, String> {
    number_kept(&std::env::var_os(variables::KEEP).unwrap_or_default())
}

fn number_kept(value: &OsStr) -> Result<usize, String> {
    if value.is_empty() {
        return Ok(KEPT_RUNS);
    }
    let value = value.to_string_lossy();
    value.parse().ok().filter(|kept| *kept > 0).ok_or_else(|| {
        format!("`EVALSET_KEEP` is `{value}`; it is the number of runs whose journals are kept, at least 1")
    })
}

#[derive(Clone, Debug)]
pub(crate) enum OpenError {
    Environment(String),
    Folder { folder: PathBuf, source: Arc<io::Error> },
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(message) => f.write_str(message),
            Self::Folder { folder, source } => write!(f, "cannot write in `{}`: {source}", folder.display()),
        }
    }
}

impl Journal {
    /// The journal of a program, in this run or in one of its own. Its folder is pruned when the journal is closed.
    pub(super) fn of_program(
        folder: &Path,
        project: Option<&Project>,
        again: Option<&[String]>,
        dirty: Option<bool>,
        run: Option<&str>,
    ) -> Result<Self, OpenError> {
        let found = project.cloned().unwrap_or_else(Project::of_program);
        let started_for = variable("CARGO_PKG_NAME").filter(|_| project.is_none());
        let package = started_for.or_else(|| found.package.map(|package| package.name));
        let head = |run| Head {
            again: again.map(<[_]>::to_vec),
            dirty,
            workspace: found.folder.to_str().map(str::to_owned),
            ..head(run, package.as_deref())
        };
        let mut journal = Self::open(folder, run, head, None)?;
        journal.prunes = Some(folder.to_owned());
        Ok(journal)
    }

    /// Opens the journal of this process in a folder such as `target/evalset`, in the run of this id or of the process. For a test binary, `package`
    /// is the folder of its package, and the journal lists the tests of this and the other test binaries of
    /// the package.
    fn open(
        folder: &Path,
        run: Option<&str>,
        head: impl FnOnce(String) -> Head,
        package: Option<&Path>,
    ) -> Result<Self, OpenError> {
        kept().map_err(OpenError::Environment)?;
        let run = run.map_or_else(|| run_id::of_this_process(folder), |run| Ok(run.to_owned()));
        let run = run.map_err(OpenError::Environment)?;
        let opened = folder::open(folder, &run).and_then(|joined| Self::create(joined, head(run), package));
        opened.map_err(|error| OpenError::Folder { folder: folder.to_owned(), source: Arc::new(error) })
    }

    fn create(joined: Joined, head: Head, package: Option<&Path>) -> io::Result<Self> {
        let secrets = Arc::new(Secrets::of(secret_variables()));
        let is_of_nextest = head.is_of_nextest();
        if let Some(package) = package.filter(|_| is_of_nextest) {
            listed::record_once(&joined.path, &head, package, &secrets)?;
        }
        let path = joined.path.join(file_name(&head));
        let file = folder::create_private(&path)?;
        let package = package.filter(|_| !is_of_nextest);
        let beside = package.map(|package| listed::beside(&head, package)).unwrap_or_default();
        let mut journal = Self::begin(head, path, Box::new(file), secrets)?;
        if let Some(listed) = package.and_then(|_| listed::of_this_program()) {
            journal.add(&listed);
        }
        for other in &beside {
            journal.add(other);
        }
        journal.lock = joined.lock;
        Ok(journal)
    }

    fn begin(
        head: Head,
        path: PathBuf,
        file: Box<dyn Write + Send>,
        secrets: Arc<Secrets>,
    ) -> io::Result<Self> {
        let line = Line::of(&head, Arc::clone(&secrets));
        let mut lines = Lines { file, written: 0 };
        lines.add(line)?;
        let (file, tests) = (Mutex::new(Some(lines)), AtomicU32::new(1));
        let failed = OnceLock::new();
        Ok(Self { run: head.run, path, file, failed, tests, secrets, lock: None, prunes: None })
    }

    pub(super) fn next_test(&self) -> u32 {
        self.tests.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a record as a line. The system has the line when this returns, so it stays even if the process is killed.
    pub(super) fn add(&self, record: &impl Field) {
        let line = Line::of(record, Arc::clone(&self.secrets));
        let mut file = self.file.lock();
        if let Some(Err(error)) = file.as_mut().map(|file| file.add(line)) {
            // A line after a partial line would be unreadable too.
            *file = None;
            say_first(&format!(
                "the journal of this process ends early: cannot write `{}`: {error} (what it lacks has no verdict in reports; free \
                 the disk, or let `{}` name another folder)",
                self.path.display(),
                variables::DIR
            ));
            let _ = self.failed.set(Arc::new(error));
        }
    }

    /// Adds the last record of the process. If another thread holds the lock of the file, there is none: this
    /// does not wait.
    pub(super) fn add_last(&self, record: &impl Field) {
        let Some(mut file) = self.file.try_lock() else { return };
        if let Some(file) = file.as_mut() {
            // A process without a last record is in doubt, which is right if its disk is full.
            let _ = file.add(Line::of(record, Arc::clone(&self.secrets)));
        }
    }

    /// The error of the write that failed. No record was written after it.
    pub(crate) fn failure(&self) -> Option<&Arc<io::Error>> {
        self.failed.get()
    }
}

/// A file to which lines are added.
struct Lines {
    file: Box<dyn Write + Send>,
    /// The number of lines that were written.
    written: usize,
}

impl Lines {
    fn add(&mut self, mut line: String) -> io::Result<()> {
        self.written += 1;
        seal(&mut line, self.written);
        self.file.write_all(line.as_bytes())
    }
}

/// Prints why there is no journal, once per process. The test harness, which hides the output of passing tests, does
/// not capture it.
fn say_once(why: &str) {
    say_first(&format!(
        "no journal of this process: {why} (verdicts are the same without it; `EVALSET_JOURNAL=off` keeps it quiet)"
    ));
}

fn say_first(text: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| eval_support::message::show_past_the_harness(text));
}

/// Variables that decide what runs and how. None of them is a secret.
const RECORDED_VARIABLES: [&str; 17] = [
    "CI",
    variables::ATTEMPT,
    variables::DIR,
    variables::JUDGE,
    variables::JUDGE_MODEL,
    variables::MISSING_JUDGE,
    variables::MODELS_PRICE,
    variables::RUN_ID,
    variables::NEXTEST_ATTEMPT,
    variables::NEXTEST_BINARY_ID,
    "NEXTEST_PROFILE",
    variables::NEXTEST_RUN_ID,
    "NEXTEST_STRESS_CURRENT",
    "NEXTEST_TEST_GROUP",
    "NEXTEST_TOTAL_ATTEMPTS",
    "NEXTEST_VERSION",
    "GITHUB_SHA",
];

/// The value of a variable; `None` if it is not set, or empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn head(run: String, package: Option<&str>) -> Head {
    let names = RECORDED_VARIABLES.iter().chain(&JOB_VARIABLES);
    let env = names.filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let program = std::env::current_exe().ok();
    let built = program.as_deref().and_then(|program| std::fs::metadata(program).ok()?.modified().ok());
    Head {
        run,
        package: package.map(str::to_owned),
        version: variable("CARGO_PKG_VERSION"),
        binary: program.as_deref().map(binary),
        args: without_values(
            HEADER,
            std::env::args_os()
                .skip(1)
                .map(|arg| argument_without_assigned(&arg.to_string_lossy()).into_owned()),
        ),
        program: program.and_then(|program| Some(program.to_str()?.to_owned())),
        built: built.map(time::in_millis),
        env: env.collect::<BTreeMap<_, _>>(),
        ..Head::unwritten(time::now())
    }
}

/// The head of a process that runs the tests of a set.
fn of_set(run: String, set: &SetSource) -> Head {
    let workspace = project::workspace_of_tests(set.manifest_dir);
    let runner = without_values(CONFIG, run_id::runner().into_iter());
    Head { workspace: workspace.to_str().map(str::to_owned), runner, ..head(run, Some(set.package)) }
}

/// The arguments with the values of an option masked. These values are secret even if they are short.
fn without_values(option: &str, args: impl Iterator<Item = String>) -> Vec<String> {
    let mut follows_option = false;
    args.map(|arg| {
        let follows = std::mem::replace(&mut follows_option, arg == option);
        let inline = arg.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
        let name = match (follows, inline) {
            (false, false) => return arg,
            (true, _) => arg.split('=').next().map(str::to_owned),
            (false, true) => Some(arg.split('=').take(2).collect::<Vec<_>>().join("=")),
        };
        format!("{}=(a hidden value)", name.unwrap_or_default())
    })
    .collect()
}

/// The option of `cargo evalset run` for a header, which may be a token.
const HEADER: &str = "--header";

/// The option of cargo for a value of a config, which may be a token.
const CONFIG: &str = "--config";

/// A file name that no other journal has, of this process or another one.
fn file_name(head: &Head) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let nonce = now.as_nanos() & 0xffff_ffff;
    let (package, binary, pid) = (plain(head.package.as_ref()), plain(head.binary.as_ref()), head.pid);
    format!("{package}-{binary}-{pid}-{nonce:08x}{}.{JOURNAL}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::record::Planned;
    use super::*;

    impl Journal {
        /// A journal whose disk is full after its first line.
        pub(crate) fn on_full_disk() -> Self {
            struct Full(bool);
            impl Write for Full {
                fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                    if std::mem::replace(&mut self.0, true) {
                        return Err(io::ErrorKind::StorageFull.into());
                    }
                    Ok(bytes.len())
                }

                fn flush(&mut self) -> io::Result<()> {
                    Ok(())
                }
            }
            let head = head("run".to_owned(), None);
            let secrets = Arc::default();
            Self::begin(head, PathBuf::from("full.jsonl"), Box::new(Full(false)), secrets)
                .expect("there is room for the head")
        }
    }

    /// A file that takes a number of bytes: a disk that fills up.
    #[derive(Clone, Default)]
    struct Disk {
        written: Arc<Mutex<Vec<u8>>>,
        calls: Arc<AtomicU32>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let mut written = self.written.lock().unwrap();
            match bytes.len().min(self.room - written.len()) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                room => {
                    written.extend_from_slice(&bytes[..room]);
                    Ok(room)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk {
        fn text(&self) -> String {
            String::from_utf8(self.written.lock().unwrap().clone()).unwrap()
        }
    }

    fn journal(disk: &Disk, secrets: &[(&str, &str)]) -> Journal {
        let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let secrets = Arc::new(Secrets::of(secrets));
        let head = head("run".to_owned(), Some("package"));
        Journal::begin(head, PathBuf::from("x.jsonl"), Box::new(disk.clone()), secrets).unwrap()
    }

    fn planned(case: &str) -> Planned {
        Planned { cases: vec![case.to_owned()] }
    }

    #[test]
    fn a_record_is_one_write() {
        let disk = Disk { room: 1 << 20, ..Disk::default() };
        let journal = journal(&disk, &[]);
        for case in ["a", "b"] {
            journal.add(&planned(case));
        }
        assert_eq!(disk.calls.load(Ordering::Relaxed), 3);
        let written = disk.text();
        let lines: Vec<&str> = written.lines().collect();
        assert!(lines[0].starts_with("{\"record\":\"head\","));
        assert!(serde_json::from_str::<Head>(lines[0]).is_ok());
        assert!(lines[1].starts_with("{\"record\":\"planned\",\"cases\":[\"a\"],\"n\":2,\"sum\":\""));
        assert!(lines[2].starts_with("{\"record\":\"planned\",\"cases\":[\"b\"],\"n\":3,\"sum\":\""));
        assert!(written.ends_with("\"}\n") && lines.len() == 3);
    }

    #[test]
    fn after_a_write_that_failed_nothing_follows_the_half_line() {
        let mut first = Line::of(&head("run".to_owned(), Some("package")), Arc::default());
        seal(&mut first, 1);
        let room = first.len() + 4;
        let disk = Disk { room, ..Disk::default() };
        let journal = journal(&disk, &[]);
        journal.add(&planned("a"));
        let calls = disk.calls.load(Ordering::Relaxed);
        journal.add(&planned("b"));
        assert_eq!(disk.calls.load(Ordering::Relaxed), calls, "it is not tried again");
        assert!(disk.text().ends_with("\n{\"re"));
    }

    #[test]
    fn values_of_secret_variables_are_left_out() {
        let disk = Disk { room: 1 << 20, ..Disk::default() };
        let journal = journal(&disk, &[("MY_API_KEY", "sk-\"12345"), ("A_TOKEN", "token678")]);
        journal.add(&planned("keys: sk-\"12345, token678, token67"));
        let written = disk.text();
        let said =
            "\"cases\":[\"keys: (the value of MY_API_KEY), (the value of A_TOKEN), token67\"],\"n\":2,";
        assert!(written.contains(said), "{written}");
    }

    #[test]
    fn arguments_lose_the_values_of_headers() {
        let args = ["run", "--header", "X-Key=a=b", "--header=X-Key=a=b", "--headers", "X-Key=a"];
        let expected = [
            "run",
            "--header",
            "X-Key=(a hidden value)",
            "--header=X-Key=(a hidden value)",
            "--headers",
            "X-Key=a",
        ];
        assert_eq!(without_values(HEADER, args.into_iter().map(str::to_owned)), expected);
    }

    #[test]
    fn a_variable_has_one_of_its_values() {
        for (value, is_off) in [("", Some(false)), ("on", Some(false)), ("off", Some(true)), ("no", None)] {
            assert_eq!(turns_off(OsStr::new(value)).ok(), is_off, "{value}");
        }
        for (value, kept) in
            [("", Some(KEPT_RUNS)), ("1", Some(1)), ("300", Some(300)), ("0", None), ("few", None)]
        {
            assert_eq!(number_kept(OsStr::new(value)).ok(), kept, "{value}");
        }
        for name in ["CARGO_PKG_NAME", "EVALSET_NO_SUCH_VARIABLE"] {
            let value = std::env::var(name).ok();
            assert_eq!(variable(name), value, "{name}");
        }
    }

    #[test]
    fn files_have_plain_names_that_differ() {
        let named = |package: &str| Head { binary: None, ..head("run".to_owned(), Some(package)) };
        let pid = std::process::id();
        let plain = named("my-crate_1/é x");
        let names = [&plain, &plain].map(file_name);
        assert_ne!(names[0], names[1]);
        for name in &names {
            let rest = name.strip_prefix(&format!("my-crate_1___x--{pid}-")).expect(name);
            let nonce = rest.strip_suffix(".jsonl").expect(name);
            assert!((9..16).contains(&nonce.len()) && nonce.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
        }
        let long = file_name(&named(&"x".repeat(100)));
        assert!(long.starts_with(&format!("{}--{pid}-", "x".repeat(60))), "{long}");
    }

    #[test]
    fn the_runs_that_are_too_many_go_when_a_program_ends_and_when_somebody_asks() {
        let temporary = tempfile::TempDir::new().unwrap();
        let folder = temporary.path();
        let Ok(kept) = kept() else { return };
        let fill = |more: usize| {
            for number in 0..kept + more {
                folder::open(folder, &format!("run-{number:04}")).unwrap();
            }
        };
        let count = || super::super::runs::runs(folder).unwrap().len();
        fill(2);
        let Ok(journal) = Journal::of_program(folder, None, None, None, None) else { return };
        assert!(journal.path.starts_with(folder.join(&journal.run)));
        assert_eq!(count(), kept + 3, "nothing goes while it runs");
        drop(journal);
        assert_eq!(count(), kept + 1, "the run of this package, and as many of nobody's");
        fill(2);
        let too_many = count() - kept - 1;
        assert!(too_many > 1);
        assert_eq!(prune(folder).unwrap(), too_many);
        assert_eq!((count(), prune(folder).unwrap()), (kept + 1, 0));
    }

    #[test]
    fn why_there_is_no_journal_is_said_with_the_folder() {
        let source = Arc::new(io::Error::other("it is locked"));
        let error = OpenError::Folder { folder: PathBuf::from("runs"), source };
        assert_eq!(error.to_string(), "cannot write in `runs`: it is locked");
        assert_eq!(OpenError::Environment("`A` is `b`".to_owned()).to_string(), "`A` is `b`");
    }
}
