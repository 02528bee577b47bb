//! Fetching stored runs into folders with the layout of `target/evalset`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use eval_core::journal::{file_names, runs};
use eval_support::secrets::mask;
use eval_support::untrusted::one_line;
use eval_support::words::{count, did_you_mean};
use tokio::task::{JoinError, JoinSet};

use super::layout::{self, Named, RUNS, hash};
use super::manifest::{self, Chunk, Manifest};
use super::open::{Store, broke};
use crate::files::{private_beside, replace_private};
use crate::output::CommandError;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredRun {
    pub(crate) id: String,
    /// The uploads that ended, the first one first.
    pub(crate) uploads: Vec<String>,
    /// The uploads that began and are not known to have ended.
    pub(crate) began: Vec<String>,
}

impl StoredRun {
    fn last(&self) -> Option<&String> {
        self.uploads.iter().chain(&self.began).max()
    }

    pub(crate) fn stored_at(&self) -> String {
        self.last().map(|upload| layout::time_of(upload)).unwrap_or_default()
    }
}

/// The stored runs, the last stored first.
pub(crate) async fn runs(store: &Store) -> Result<Vec<StoredRun>, CommandError> {
    let mut runs: BTreeMap<String, StoredRun> = BTreeMap::new();
    for name in store.list(RUNS, true).await? {
        let Some(Named { run, upload, has_ended }) = layout::named(&name) else { continue };
        let stored = runs.entry(run.to_owned()).or_default();
        run.clone_into(&mut stored.id);
        let uploads = if has_ended { &mut stored.uploads } else { &mut stored.began };
        uploads.push(upload.to_owned());
    }
    let mut runs: Vec<_> = runs.into_values().collect();
    for run in &mut runs {
        run.began.retain(|began| !run.uploads.contains(began));
    }
    runs.sort_by(|a, b| b.last().cmp(&a.last()));
    Ok(runs)
}

#[derive(Debug, Default)]
pub(super) struct Manifests {
    pub(super) ended: BTreeMap<String, Manifest>,
    /// Manifests of uploads that have not ended, and whose journals no other upload brought.
    pub(super) unfinished: BTreeMap<String, Manifest>,
}

/// The number of manifests that are requested at a time. A run may have hundreds.
const MAX_CONCURRENT_READS: usize = 16;

pub(super) async fn manifests(store: &Store, run: &str) -> Result<Manifests, CommandError> {
    let mut found = Manifests::default();
    let mut asked = JoinSet::new();
    for name in store.list(&layout::run(run), false).await? {
        if layout::named(&name).is_none() {
            continue;
        }
        if asked.len() == MAX_CONCURRENT_READS {
            found.add(asked.join_next().await, store)?;
        }
        let its = store.clone();
        asked.spawn(async move {
            // The mark of an upload's beginning is removed at its end: it may be gone.
            let bytes = its.find(&name).await?;
            Ok((name, bytes))
        });
    }
    while !asked.is_empty() {
        found.add(asked.join_next().await, store)?;
    }
    let stored = longest(&found.ended);
    let is_stored = |manifest: &Manifest| {
        let journals = &mut manifest.journals.iter();
        journals.all(|it| stored.get(it.head_hash.as_str()).is_some_and(|(bytes, _)| *bytes >= it.bytes))
    };
    let ended = &found.ended;
    found.unfinished.retain(|upload, manifest| !ended.contains_key(upload) && !is_stored(manifest));
    Ok(found)
}

/// The name of a manifest, and its bytes if it exists.
type Asked = Result<(String, Option<Vec<u8>>), CommandError>;

impl Manifests {
    fn add(&mut self, asked: Option<Result<Asked, JoinError>>, store: &Store) -> Result<(), CommandError> {
        let Some(asked) = asked else { return Ok(()) };
        let (name, Some(bytes)) = asked.map_err(|error| broke(&error))?? else { return Ok(()) };
        let Some(Named { run, upload, has_ended }) = layout::named(&name) else { return Ok(()) };
        let manifest = Manifest::parse(&bytes, has_ended, run).map_err(|why| {
            CommandError::new(
                format!("{}: `{}` is not a manifest of a run: {why}", store.shown(), one_line(&name)),
                "store the run again, or update cargo-evalset",
            )
        })?;
        let manifests = if has_ended { &mut self.ended } else { &mut self.unfinished };
        manifests.insert(upload.to_owned(), manifest);
        Ok(())
    }
}

/// The size of the longest copy of each journal and the upload with it, by head hash.
pub(super) fn longest(ended: &BTreeMap<String, Manifest>) -> HashMap<&str, (u64, &str)> {
    let mut longest: HashMap<&str, (u64, &str)> = HashMap::new();
    for (upload, manifest) in ended {
        for journal in &manifest.journals {
            let known = longest.entry(&journal.head_hash).or_insert((journal.bytes, upload));
            if known.0 < journal.bytes {
                *known = (journal.bytes, upload);
            }
        }
    }
    longest
}

#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) folder: PathBuf,
    /// The number of machines that stored their part of it.
    pub(crate) parts: usize,
}

/// The folder with copies of a store's objects. It is hidden, so that searches for sets leave it out.
pub(crate) fn cache(store: &Store, root: &Path) -> PathBuf {
    root.join(".store").join(store.url.cache_name())
}

/// Fetches a run: the run with this id, else the run that `EVALSET_RUN_ID` names, else the last stored run.
pub(crate) async fn fetch_run(store: &Store, id: Option<&str>, root: &Path) -> Result<Fetched, CommandError> {
    let of_variable = std::env::var(eval_support::variables::RUN_ID).ok().filter(|id| !id.is_empty());
    let id = id.or(of_variable.as_deref());
    // A known id is looked up directly: a list of all runs may have thousands.
    if let Some(id) = id.filter(|id| runs::is_id(id))
        && !store.list(&layout::run(id), false).await?.is_empty()
    {
        return fetch(store, id, root).await;
    }
    let runs = runs(store).await?;
    let run = match id {
        Some(id) => runs.iter().find(|run| run.id == id).ok_or_else(|| {
            let known = did_you_mean(id, runs.iter().map(|run| run.id.as_str()));
            let list = format!("cargo evalset store list {}", store.word());
            let list = || format!("`{list}` lists them; `cargo evalset store push` stores one");
            let message = format!("{} holds no run `{}`", store.shown(), one_line(id));
            CommandError::new(message, known.unwrap_or_else(list))
        })?,
        None => runs.first().ok_or_else(|| {
            let help = "`cargo evalset store push` stores one, and so does `cargo evalset run --store`";
            CommandError::new(format!("{} holds no run", store.shown()), help)
        })?,
    };
    fetch(store, &run.id, root).await
}

/// Fetches a run. If that fails, an existing copy is marked as incomplete: it is not the whole run.
pub(super) async fn fetch(store: &Store, id: &str, root: &Path) -> Result<Fetched, CommandError> {
    let folder = cache(store, root).join("runs").join(id);
    let fetched = fetch_into(store, id, &folder).await;
    if let Err(error) = &fetched {
        mark_incomplete(&folder, error);
    }
    fetched.map(|parts| Fetched { folder, parts })
}

async fn fetch_into(store: &Store, id: &str, folder: &Path) -> Result<usize, CommandError> {
    let manifests = manifests(store, id).await?;
    let unfinished: Vec<String> = manifests
        .unfinished
        .iter()
        .map(|(upload, manifest)| {
            format!(
                "an upload of {} that began at {} has not ended; wait for it, or store them again where they were written: `cargo evalset \
                 store push`",
                count(manifest.journals.len(), "journal"),
                layout::time_of(upload),
            )
        })
        .collect();
    let Some(first) = manifests.ended.values().next() else {
        let none = || "no upload of it is there".to_owned();
        let why = if unfinished.is_empty() { none() } else { unfinished.join("; ") };
        let help = format!("store it again where it ran: `cargo evalset store push {} {id}`", store.word());
        let message = format!("{}: the run `{id}` is not complete: {why}", store.shown());
        return Err(CommandError::new(message, help));
    };
    let cannot = |error: io::Error| {
        let help = "let `EVALSET_DIR` name a folder in which this user can write";
        CommandError::new(format!("cannot write a copy of the run in `{}`: {error}", folder.display()), help)
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    let longest = longest(&manifests.ended);
    let mut kept = BTreeSet::new();
    let mut uploads = Vec::new();
    for (upload, manifest) in &manifests.ended {
        let mut wanted = Vec::new();
        for journal in &manifest.journals {
            let is_longest = longest.get(journal.head_hash.as_str()).is_some_and(|(_, its)| its == upload);
            let path = folder.join(local_name(&journal.name, &journal.head_hash));
            let is_here = fs::metadata(&path).is_ok_and(|found| found.len() == journal.bytes);
            if is_longest {
                kept.insert(path.clone());
            }
            let copy = (is_longest && !is_here).then_some(path);
            wanted.push(ChunkedJournal { bytes: journal.bytes, copy });
        }
        if wanted.iter().any(|journal| journal.copy.is_some()) {
            uploads.push((upload, manifest, wanted));
        }
    }
    // This is written first: readers must know that the copy is incomplete, even if this process is killed.
    let absent =
        uploads.iter().flat_map(|(_, _, wanted)| wanted).filter(|journal| journal.copy.is_some()).count();
    let absent = (absent > 0).then(|| {
        let journals = count(absent, "journal");
        format!("{journals} of the store not copied yet; `cargo evalset report --store` copies them")
    });
    write_missing_parts(folder, &[&unfinished[..], absent.as_slice()].concat()).map_err(cannot)?;
    for (upload, manifest, wanted) in &uploads {
        let name = |number| layout::chunk(id, upload, number);
        get_chunks(store, &manifest.chunks, wanted, name, cannot).await?;
    }
    // A journal that is no longer stored is no part of the run.
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if file_names::is_journal(&path) && !kept.contains(&path) {
            fs::remove_file(&path).map_err(cannot)?;
        }
    }
    // The marker comes last: it makes the folder a run once all journals are there. `serve` reads a run again
    // when its marker changes.
    let marker = folder.join(file_names::MARKER);
    if !fs::read(&marker).is_ok_and(|found| found == first.marker.as_bytes()) {
        replace_private(&marker, &first.marker).map_err(cannot)?;
    }
    if absent.is_some() {
        write_missing_parts(folder, &unfinished).map_err(cannot)?;
    }
    Ok(manifest::parts(&manifests.ended))
}

struct ChunkedJournal {
    bytes: u64,
    /// The path for its copy, if it is wanted.
    copy: Option<PathBuf>,
}

/// The file name of a journal's copy: two machines may share a name, and names in a store are untrusted.
fn local_name(name: &str, head_hash: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let stem: String = name.trim_end_matches(".jsonl").chars().take(80).map(plain).collect();
    format!("{stem}-{}.jsonl", &head_hash[..16])
}

/// Writes the wanted journals from the chunks of an upload, which may hold other journals too.
async fn get_chunks(
    store: &Store,
    chunks: &[Chunk],
    journals: &[ChunkedJournal],
    name: impl Fn(usize) -> String,
    cannot: impl Fn(io::Error) -> CommandError,
) -> Result<(), CommandError> {
    let mut chunks = chunks.iter().enumerate();
    let mut chunk: Vec<u8> = Vec::new();
    let mut read = 0;
    for journal in journals {
        let (path, mut left) = (journal.copy.as_ref(), journal.bytes);
        let mut file = path.map(|path| private_beside(path)).transpose().map_err(&cannot)?;
        while left > 0 {
            if read == chunk.len() {
                let broken = |why: String| {
                    CommandError::new(format!("{}: {why}", store.shown()), "store the run again where it ran")
                };
                let Some((number, expected)) = chunks.next() else {
                    return Err(broken("the chunks of an upload end before its journals".to_owned()));
                };
                chunk = store.get(&name(number)).await?;
                read = 0;
                if chunk.len() as u64 != expected.bytes || hash(&chunk) != expected.sha256 {
                    let name = name(number);
                    return Err(broken(format!("`{name}` is not what was stored: its checksum differs")));
                }
                continue;
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len() - read);
            if let Some(file) = &mut file {
                file.write_all(&chunk[read..read + taken]).map_err(&cannot)?;
            }
            read += taken;
            left -= taken as u64;
        }
        if let (Some(file), Some(path)) = (file, path) {
            file.persist(path).map_err(|error| cannot(error.error))?;
        }
    }
    Ok(())
}

#[cfg(feature = "serve")]
const MAX_FETCHED_RUNS: usize = 100;

/// Fetches the last runs that ended. Returns their folder, and the errors of runs that cannot be read.
#[cfg(feature = "serve")]
pub(crate) async fn fetch_last(
    store: &Store,
    root: &Path,
) -> Result<(PathBuf, Vec<CommandError>), CommandError> {
    let mut broken = Vec::new();
    for run in runs(store).await?.into_iter().filter(|run| !run.uploads.is_empty()).take(MAX_FETCHED_RUNS) {
        if let Err(error) = fetch(store, &run.id, root).await {
            broken.push(error);
        }
    }
    Ok((cache(store, root).join("runs"), broken))
}

/// Writes a sentence for each missing part into a file of the copy, which every reader of runs checks.
/// Removes the file if no part is missing.
fn write_missing_parts(folder: &Path, missing: &[String]) -> io::Result<()> {
    let path = folder.join(file_names::MISSING_PARTS);
    if !missing.is_empty() {
        let text = missing.iter().map(|sentence| one_line(sentence)).collect::<Vec<_>>().join("\n");
        return replace_private(&path, &*mask(&text));
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes into an existing copy why it is incomplete. Otherwise it would look complete.
fn mark_incomplete(folder: &Path, error: &CommandError) {
    if !folder.is_dir() {
        return;
    }
    let why = format!("the run could not be copied from its store: {error}");
    if write_missing_parts(folder, &[why]).is_err() {
        // A folder without its marker is no run, which is better than a copy that looks complete.
        let _ = fs::remove_file(folder.join(file_names::MARKER));
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::StoredJournal;
    use super::*;

    fn manifest(journals: &[(&str, u64)]) -> Manifest {
        let stored = |&(head_hash, bytes): &(&str, u64)| StoredJournal {
            name: "a.jsonl".to_owned(),
            head_hash: head_hash.to_owned(),
            bytes,
        };
        Manifest { journals: journals.iter().map(stored).collect(), ..Manifest::default() }
    }

    #[test]
    fn the_longest_copy_of_a_journal_counts() {
        let ended = BTreeMap::from([
            ("1".to_owned(), manifest(&[("p", 10), ("q", 5)])),
            ("2".to_owned(), manifest(&[("p", 20)])),
            ("3".to_owned(), manifest(&[("p", 15), ("q", 5)])),
        ]);
        assert_eq!(longest(&ended), HashMap::from([("p", (20, "2")), ("q", (5, "1"))]));
    }

    #[test]
    fn a_copy_has_a_name_that_leads_nowhere() {
        let head_hash = "0123456789abcdef".repeat(4);
        for (name, expected) in [
            ("pkg-bin-12-00.jsonl", "pkg-bin-12-00-0123456789abcdef.jsonl"),
            ("../../x.jsonl", "______x-0123456789abcdef.jsonl"),
            ("", "-0123456789abcdef.jsonl"),
        ] {
            assert_eq!(local_name(name, &head_hash), expected);
        }
        assert!(local_name(&"x".repeat(1000), &head_hash).len() < 110);
    }

    #[test]
    fn a_copy_that_cannot_say_what_it_lacks_is_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, marker) = (folder.path().join("missing-parts.txt"), folder.path().join("run.json"));
        fs::write(&marker, "{}").unwrap();
        let error = CommandError::new("the part\nis not there", "store it again");
        mark_incomplete(folder.path(), &error);
        let said = fs::read_to_string(&missing).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.ends_with("is not there; store it again") && marker.exists(), "{said}");
        write_missing_parts(folder.path(), &[]).unwrap();
        assert!(!missing.exists());
        // A folder in its place acts as a disk that takes nothing.
        fs::create_dir(&missing).unwrap();
        mark_incomplete(folder.path(), &error);
        assert!(!marker.exists());
        mark_incomplete(&folder.path().join("none"), &error);
        assert!(!folder.path().join("none").exists());
    }

    #[test]
    fn no_credential_is_written() {
        crate::output::hide("wJalrXUtnFEMI-of-the-store");
        let folder = tempfile::tempdir().unwrap();
        write_missing_parts(folder.path(), &["the store said wJalrXUtnFEMI-of-the-store".to_owned()])
            .unwrap();
        let said = fs::read_to_string(folder.path().join("missing-parts.txt")).unwrap();
        assert!(said.starts_with("the store said ") && !said.contains("wJalr"), "{said}");
    }
}
