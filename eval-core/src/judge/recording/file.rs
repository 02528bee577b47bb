//! The file of a recording, and the file of answers that wait to be merged into it.
//!
//! The recording is one sorted document, made to be read, so each change rewrites the whole file. An answer
//! is therefore first appended as a line to a second file beside it, `.x.evalset.judge.json.new`, in one
//! write. These lines belong to the recording. At intervals, and when the last user of the recording is done,
//! they are merged into a new file.
//!
//! Several processes do this at the same time, and each of them may be killed at any time. A writer holds the
//! [lock](eval_support::lock::FolderLock). A reader needs none: it reads the lines first, and they are removed only
//! after the recording has them.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_format::__private::{line_of, questions_of_lines};
use eval_format::recording::{RecordedQuestion, Recording, check_recording};
use eval_support::lock::FolderLockError;
use eval_support::whole_file::{check_replaceable, replace};

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

/// The error for a folder that cannot be locked. A missing folder is an error of writing.
pub(super) fn cannot_lock(path: &Path, error: &FolderLockError) -> String {
    match error {
        FolderLockError::Io { error, .. } if error.kind() == ErrorKind::NotFound => cannot_write(path, error),
        error => error.to_string(),
    }
}

#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) recording: Recording,
    /// The recording's file when it was last read or written; `None` if there was none.
    file: Option<Stamp>,
    /// The number of bytes of the added lines that were read. The recording does not have these lines yet.
    pub(super) lines: u64,
    /// Whether another process may have replaced the lines while they were read.
    is_unsure: bool,
    /// The indices of the questions of each case; `None` until a case needs them, and after a change.
    by_case: Option<HashMap<String, Vec<usize>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(found);
        #[cfg(not(unix))]
        let number = 0;
        Self { len: found.len(), modified: found.modified().ok(), number }
    }
}

impl Loaded {
    pub(super) fn exists(&self) -> bool {
        self.file.is_some() || self.lines > 0
    }

    /// The questions of a case. All cases of a test run ask for theirs, so the whole recording is searched once.
    pub(super) fn of_case(&mut self, case: &str) -> Vec<&RecordedQuestion> {
        let questions = self.recording.questions();
        let by_case = self.by_case.get_or_insert_with(|| {
            let mut by_case: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, question) in questions.iter().enumerate() {
                for case in &question.cases {
                    let of_case = by_case.entry(case.clone()).or_default();
                    // A file may name a case twice.
                    if of_case.last() != Some(&at) {
                        of_case.push(at);
                    }
                }
            }
            by_case
        });
        by_case.get(case).into_iter().flatten().filter_map(|at| questions.get(*at)).collect()
    }

    pub(super) fn read(&mut self, path: &Path) -> Result<(), String> {
        let lines = read_lines(path, 0)?;
        self.read_file(path)?;
        self.take(&lines);
        self.is_unsure = true;
        Ok(())
    }

    /// Reads what was added since the last read. Only a writer may call this: the files must not change
    /// meanwhile. If the recording cannot be read, the previous content is kept.
    pub(super) fn catch_up(&mut self, path: &Path) -> Result<(), String> {
        let is_other = self.file != stamp(path)?;
        if is_other || self.is_unsure {
            self.lines = 0;
        }
        if is_other {
            self.read_file(path)?;
        }
        self.is_unsure = false;
        let lines = read_lines(path, self.lines)?;
        self.take(&lines);
        Ok(())
    }

    fn read_file(&mut self, path: &Path) -> Result<(), String> {
        self.by_case = None;
        match open(path)? {
            None => {
                self.recording = Recording::default();
                self.file = None;
            }
            Some(mut file) => {
                let failed = |error| cannot_read(path, &error);
                let stamp = Stamp::of(&file.metadata().map_err(failed)?);
                let mut text = String::new();
                file.read_to_string(&mut text).map_err(failed)?;
                let shown = path.display().to_string();
                let read = check_recording(&shown, text.as_bytes()).into_result();
                self.recording = read.map_err(|problems| problems.to_string())?;
                self.file = Some(stamp);
            }
        }
        Ok(())
    }

    fn take(&mut self, lines: &Lines) {
        let (questions, whole) = questions_of_lines(&lines.text);
        for question in questions {
            if !self.holds(&question) {
                self.recording.add(question);
                self.by_case = None;
            }
        }
        self.lines = lines.from + whole as u64;
    }

    /// Whether the recording has a question with these cases and answers.
    fn holds(&self, question: &RecordedQuestion) -> bool {
        self.recording.find(question).is_some_and(|known| known.holds(question))
    }

    /// Adds a question as a line. Only a writer that has caught up may call this.
    pub(super) fn add(&mut self, path: &Path, question: RecordedQuestion) -> Result<(), String> {
        if self.holds(&question) {
            return Ok(());
        }
        let lines = lines_path(path);
        self.lines = append(&lines, &line_of(&question)).map_err(|error| cannot_write(&lines, &error))?;
        self.recording.add(question);
        self.by_case = None;
        Ok(())
    }

    /// Writes a whole new recording with all lines, and removes the lines. Only a writer that has caught up
    /// may call this. Returns whether the recording is new.
    pub(super) fn write(&mut self, path: &Path) -> Result<bool, String> {
        let is_new = self.file.is_none();
        replace(path, self.recording.to_json()).map_err(|error| cannot_write(path, &error))?;
        self.file = stamp(path)?;
        let lines = lines_path(path);
        match fs::remove_file(&lines) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(cannot_write(&lines, &error)),
            _ => {
                self.lines = 0;
                Ok(is_new)
            }
        }
    }
}

struct Lines {
    from: u64,
    text: String,
}

fn read_lines(path: &Path, from: u64) -> Result<Lines, String> {
    let path = lines_path(path);
    let failed = |error| cannot_read(&path, &error);
    let Some(mut file) = open(&path)? else { return Ok(Lines { from: 0, text: String::new() }) };
    // A file that became shorter was replaced.
    let from = if from <= file.metadata().map_err(failed)?.len() { from } else { 0 };
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    // A line that was cut within a character is lost, but no other line.
    Ok(Lines { from, text: String::from_utf8(bytes).unwrap_or_else(|error| whole_lines(error.as_bytes())) })
}

/// The lines as text. A line that is not UTF-8 becomes a blank one of the same length.
fn whole_lines(bytes: &[u8]) -> String {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| match str::from_utf8(line) {
        Ok(line) => line.to_owned(),
        Err(_) if line.ends_with(b"\n") => format!("{}\n", " ".repeat(line.len() - 1)),
        Err(_) => " ".repeat(line.len()),
    });
    lines.collect()
}

/// Appends a line in one write and returns the new length of the file. If a killed process left half a line,
/// a line break comes first.
fn append(path: &Path, line: &str) -> io::Result<u64> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.seek(SeekFrom::Start(len - 1))?;
        file.read_exact(&mut last)?;
    }
    let text = if last == *b"\n" { line.to_owned() } else { format!("\n{line}") };
    file.write_all(text.as_bytes())?;
    Ok(len + text.len() as u64)
}

/// The file with the lines of a recording: hidden, so that it is not taken for a set.
pub(super) fn lines_path(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.new", path.file_name().unwrap_or_default().display()))
}

fn open(path: &Path) -> Result<Option<File>, String> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

fn stamp(path: &Path) -> Result<Option<Stamp>, String> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(Stamp::of(&found))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

pub(super) fn check_writable(path: &Path) -> Result<(), String> {
    check_replaceable(path).map_err(|error| cannot_write(path, &error))
}

/// Sets the modification time of a file to now, so that cargo builds its tests again. If that is not allowed,
/// the tests report that they are stale.
pub(super) fn touch(path: &Path) {
    if let Ok(file) = OpenOptions::new().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use eval_format::recording::Recording;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_recording_is_a_file_like_any_other() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (recording, other) = (folder.path().join("x.judge.json"), folder.path().join("other"));
        fs::write(&other, "").unwrap();
        replace(&recording, "text").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&recording), mode(&other));
    }

    fn question(n: u32) -> RecordedQuestion {
        RecordedQuestion::new("m", format!("é {n}")).reply(n, "yes", None)
    }

    fn recorded(path: &Path) -> Vec<u32> {
        let mut loaded = Loaded::default();
        loaded.read(path).unwrap();
        let questions = loaded.recording.questions();
        let mut samples: Vec<u32> = questions.iter().map(|question| question.replies[0].sample).collect();
        samples.sort_unstable();
        samples
    }

    #[test]
    fn a_line_that_was_torn_when_its_process_was_killed_is_lost_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.judge.json");
        let lines = lines_path(&path);
        let mut before = Loaded::default();
        for n in 0..3 {
            before.catch_up(&path).unwrap();
            before.add(&path, question(n)).unwrap();
        }
        let whole = fs::read(&lines).unwrap();
        let two = whole.len() * 2 / 3;
        // Without its line break alone, the line is whole as soon as another one follows.
        for end in two..whole.len() - 1 {
            fs::write(&lines, &whole[..end]).unwrap();
            assert_eq!(recorded(&path), [0, 1], "{end}");
            let mut next = Loaded::default();
            next.catch_up(&path).unwrap();
            next.add(&path, question(7)).unwrap();
            assert_eq!(recorded(&path), [0, 1, 7], "{end}");
        }
        let mut next = Loaded::default();
        next.catch_up(&path).unwrap();
        assert!(next.write(&path).unwrap(), "it is new");
        assert!(!lines.exists());
        assert_eq!(recorded(&path), [0, 1, 7]);
        // A reader of the removed lines sees their replacement.
        before.catch_up(&path).unwrap();
        before.add(&path, question(9)).unwrap();
        assert_eq!(recorded(&path), [0, 1, 7, 9]);
    }

    #[test]
    fn the_questions_of_a_case_are_those_of_the_present_recording() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.judge.json");
        let of_case = |loaded: &mut Loaded, case: &str| -> Vec<u32> {
            loaded.of_case(case).iter().map(|question| question.replies[0].sample).collect()
        };
        let mut loaded = Loaded::default();
        loaded.add(&path, question(0).case("a").case("b").case("a")).unwrap();
        assert_eq!(["a", "b", "c"].map(|case| of_case(&mut loaded, case)), [vec![0], vec![0], vec![]]);
        // Added here: a question, and a case of a known one.
        loaded.add(&path, question(1).case("b")).unwrap();
        loaded.add(&path, question(0).case("c")).unwrap();
        assert_eq!(["a", "b", "c"].map(|case| of_case(&mut loaded, case)), [vec![0], vec![0, 1], vec![0]]);
        // Added by another process as a line.
        let mut other = Loaded::default();
        other.catch_up(&path).unwrap();
        other.add(&path, question(2).case("c")).unwrap();
        loaded.catch_up(&path).unwrap();
        assert_eq!(of_case(&mut loaded, "c"), [0, 2]);
        // Replaced by another file.
        let mut recording = Recording::default();
        recording.add(question(7).case("a"));
        fs::write(&path, recording.to_json()).unwrap();
        fs::remove_file(lines_path(&path)).unwrap();
        loaded.catch_up(&path).unwrap();
        assert_eq!(["a", "b", "c"].map(|case| of_case(&mut loaded, case)), [vec![7], vec![], vec![]]);
        fs::remove_file(&path).unwrap();
        loaded.read(&path).unwrap();
        assert!(loaded.of_case("a").is_empty());
    }

    #[test]
    fn lines_that_the_recording_has_already_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.judge.json");
        let mut loaded = Loaded::default();
        loaded.add(&path, question(0)).unwrap();
        let lines = fs::read(lines_path(&path)).unwrap();
        loaded.write(&path).unwrap();
        let text = fs::read(&path).unwrap();
        // Killed after the recording was written and before its lines were removed.
        fs::write(lines_path(&path), lines).unwrap();
        let mut next = Loaded::default();
        next.catch_up(&path).unwrap();
        assert!(next.lines > 0);
        next.write(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), text);
    }
}
