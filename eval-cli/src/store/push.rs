//! Storing the journals of a run, and its report: as a page, as JSON, and as ADK's results.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_core::journal::{file_names, runs};
use eval_report::formats;
use eval_support::untrusted::one_line;
use tokio::task::JoinSet;

use super::adk::put_results;
use super::fetch::{longest, manifests};
use super::layout::{self, hash};
use super::manifest::{Chunk, Manifest, StoredJournal, VERSION};
use super::open::{JSON, Store, broke};
use crate::output::{CommandError, mask};
use crate::recorded::RunResults;
use crate::run_page::{self, Against};

/// The size of a chunk. Memory holds [`MAX_CONCURRENT_CHUNKS`] of them on their way, and the next one.
const CHUNK_BYTES: usize = 8 << 20;
const MAX_CONCURRENT_CHUNKS: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pushed {
    /// The journals that were not there already.
    pub(crate) journals: usize,
    pub(crate) upload: String,
}

struct Journal {
    path: PathBuf,
    stored: StoredJournal,
}

/// Stores the journals of a run's folder that are not stored yet. Readers see them once all are there.
pub(crate) async fn push(store: &Store, folder: &Path) -> Result<Pushed, CommandError> {
    let unreadable = |error: io::Error| {
        let help = "name the folder of a run, or give this user permission to read it";
        CommandError::new(format!("cannot read the run in `{}`: {error}", folder.display()), help)
    };
    let run = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !runs::is_id(&run) {
        return Err(CommandError::new(
            format!("the folder `{}` has no name that a run can have", one_line(&run)),
            format!("a run is named like a folder on every system: {}", runs::id_rule()),
        ));
    }
    let marker = std::fs::read_to_string(folder.join(file_names::MARKER)).map_err(unreadable)?;
    let journals = journals_in(folder).map_err(unreadable)?;
    if journals.is_empty() {
        let message = format!("`{}` holds no journal (no file `*.jsonl`)", folder.display());
        return Err(CommandError::new(message, "run the tests or `cargo evalset run` first"));
    }
    if folder.join(file_names::MISSING_PARTS).exists() {
        return Err(CommandError::new(
            format!("`{}` is a copy that lacks parts of its run", folder.display()),
            "store the run from where it was recorded; `cargo evalset report` of the copy says what is missing",
        ));
    }
    let upload = layout::new_upload(SystemTime::now());
    let uploads = manifests(store, &run).await?.ended;
    let stored = longest(&uploads);
    let is_new = |journal: &Journal| {
        let stored = stored.get(journal.stored.head_hash.as_str());
        stored.is_none_or(|(bytes, _)| *bytes < journal.stored.bytes)
    };
    let known = journals.iter().find(|it| stored.contains_key(it.stored.head_hash.as_str()));
    let part = known.or(journals.first()).map(|journal| journal.stored.head_hash.clone());
    let journals: Vec<Journal> = journals.into_iter().filter(is_new).collect();
    if journals.is_empty() {
        return Ok(Pushed { journals: 0, upload });
    }
    let mut manifest = Manifest {
        version: VERSION,
        run: run.clone(),
        marker,
        journals: journals.iter().map(|journal| journal.stored.clone()).collect(),
        part,
        chunks: Vec::new(),
    };
    let began = layout::began(&run, &upload);
    store.put(&began, manifest.text(), JSON).await?;
    manifest.chunks = put_chunks(store, &journals, |number| layout::chunk(&run, &upload, number)).await?;
    store.put(&layout::manifest(&run, &upload), manifest.text(), JSON).await?;
    // Readers ignore this object once the manifest exists, so a failure does not matter.
    drop(store.delete(&began).await);
    Ok(Pushed { journals: journals.len(), upload })
}

fn journals_in(folder: &Path) -> io::Result<Vec<Journal>> {
    let mut journals = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if file_names::is_journal(&path) && path.is_file() {
            let mut first = Vec::new();
            let file = File::open(&path)?;
            // Later bytes are ignored, since another process may be appending.
            let bytes = file.metadata()?.len();
            BufReader::new(file.take(bytes)).read_until(b'\n', &mut first)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            journals.push(Journal { path, stored: StoredJournal { name, head_hash: hash(&first), bytes } });
        }
    }
    journals.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(journals)
}

/// Stores the journals, one behind the other, in chunks.
async fn put_chunks(
    store: &Store,
    journals: &[Journal],
    name: impl Fn(usize) -> String,
) -> Result<Vec<Chunk>, CommandError> {
    let mut on_their_way = JoinSet::new();
    let mut chunks = Vec::new();
    // Allocated at once: a growing vector may take twice the memory.
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let put = async |chunk: Vec<u8>, chunks: &mut Vec<Chunk>, on_their_way: &mut JoinSet<_>| {
        while on_their_way.len() >= MAX_CONCURRENT_CHUNKS {
            ended(on_their_way).await?;
        }
        let (store, path) = (store.clone(), name(chunks.len()));
        chunks.push(Chunk { bytes: chunk.len() as u64, sha256: hash(&chunk) });
        on_their_way.spawn(async move { store.put(&path, chunk, "application/x-ndjson").await });
        Ok::<(), CommandError>(())
    };
    for journal in journals {
        let changed = |error: io::Error| {
            let path = journal.path.display();
            CommandError::new(format!("cannot read the journal `{path}`: {error}"), "store the run again")
        };
        let mut left = journal.stored.bytes;
        let mut file = File::open(&journal.path).map_err(changed)?;
        while left > 0 {
            let wanted = left.min((CHUNK_BYTES - chunk.len()) as u64);
            let read = file.by_ref().take(wanted).read_to_end(&mut chunk).map_err(changed)?;
            if read == 0 {
                return Err(changed(io::ErrorKind::UnexpectedEof.into()));
            }
            left -= read as u64;
            if chunk.len() == CHUNK_BYTES {
                put(
                    std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK_BYTES)),
                    &mut chunks,
                    &mut on_their_way,
                )
                .await?;
            }
        }
    }
    if !chunk.is_empty() {
        put(chunk, &mut chunks, &mut on_their_way).await?;
    }
    while !on_their_way.is_empty() {
        ended(&mut on_their_way).await?;
    }
    Ok(chunks)
}

async fn ended(on_their_way: &mut JoinSet<Result<(), CommandError>>) -> Result<(), CommandError> {
    match on_their_way.join_next().await {
        Some(Ok(put)) => put,
        Some(Err(error)) => Err(broke(&error)),
        None => Ok(()),
    }
}

/// Stores the report of a run, and returns the lines to print. `upload` is the upload of the run and names
/// the report; without it, the report gets a new name. ADK's results are filed under `app`, else under the
/// app that the set names.
pub(crate) async fn publish(
    store: &Store,
    results: &RunResults<'_>,
    run: &str,
    upload: Option<&str>,
    app: Option<&str>,
    against: Option<&Against>,
) -> Result<String, CommandError> {
    let (page, document) = (run_page::text(results, against)?, formats::json(results)?);
    let upload = upload.map_or_else(|| layout::new_upload(SystemTime::now()), str::to_owned);
    let document = mask(&document).into_owned();
    store.put(&layout::report(run, &upload, "json"), document.into_bytes(), JSON).await?;
    let path = layout::report(run, &upload, "html");
    store.put(&path, page.into_bytes(), "text/html; charset=utf-8").await?;
    let mut lines = format!("stored        {}/{path}\n", store.shown());
    match formats::report(results) {
        Ok(report) => {
            let (places, notes) = put_results(store, report, app).await?;
            let places = places.iter().map(|path| format!("stored        {}/{path}\n", store.shown()));
            lines.extend(places);
            lines.extend(notes.iter().map(|note| format!("note          {note}\n")));
        }
        // The run is stored anyway, and its results can be stored later.
        Err(error) => {
            lines.push_str(&format!("note          no result for ADK is stored: {error}\n"));
        }
    }
    Ok(lines)
}
