//! An open store. Each operation is one request with its retries.

use std::path::Path;
use std::time::Duration;
use std::{env, fmt, fs, io};

use eval_support::shell;
use eval_support::untrusted::one_line;
use opendal::layers::{RetryLayer, TimeoutLayer};
use opendal::services::{Fs, Gcs, S3};
use opendal::{ErrorKind, Operator};
use tokio::task::JoinError;

use super::error::{self, Doing, MAX_RETRIES, REQUEST_TIMEOUT};
use super::url::{Place, StoreUrl};
use crate::output::{self, CommandError, hide};

pub(super) const JSON: &str = "application/json";

/// A store. It is cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    objects: Operator,
    pub(super) url: StoreUrl,
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    output::runtime("the store")
}

pub(super) fn broke(error: &JoinError) -> CommandError {
    CommandError::new(format!("a request to the store broke: {error}"), "run the command again")
}

impl Store {
    /// The store of a URL, for reading. A folder must be there.
    pub(super) fn open_to_read(url: StoreUrl) -> Result<Self, CommandError> {
        match &url.place {
            Place::Folder(path) if !path.is_dir() => Err(CommandError::new(
                format!("{}: there is no such folder", one_line(&url.to_string())),
                "correct the name; `cargo evalset store push` and `run --store` make a folder",
            )),
            _ => Self::from_url(url, false),
        }
    }

    /// The store of a URL. If it `writes`, a folder is made if it is not there.
    fn from_url(url: StoreUrl, writes: bool) -> Result<Self, CommandError> {
        opendal::install_default();
        let objects = match &url.place {
            Place::Google(bucket) => google(bucket, &url.prefix),
            Place::S3(bucket) => s3(bucket, &url.prefix),
            Place::Folder(path) => folder(path, writes),
        };
        let objects = objects.map_err(|error| error::named(&url, Doing::Open, &error))?;
        let repeated = RetryLayer::new()
            .with_max_times(MAX_RETRIES)
            .with_min_delay(Duration::from_millis(500))
            .with_factor(2.0)
            .with_jitter();
        let limited = TimeoutLayer::new().with_timeout(REQUEST_TIMEOUT).with_io_timeout(REQUEST_TIMEOUT);
        Ok(Self { objects: objects.layer(limited).layer(repeated), url })
    }

    /// Lists a few names, so that wrong credentials and a missing bucket are found before anything is done.
    pub(crate) async fn check(&self) -> Result<(), CommandError> {
        // No store has this folder, so the answer is short.
        let listed = self.objects.list("evalset/nothing/").await;
        listed.map(drop).map_err(|error| error::named(&self.url, Doing::List, &error))
    }

    /// Stores an object. It appears whole, or not at all.
    pub(super) async fn put(&self, path: &str, bytes: Vec<u8>, kind: &str) -> Result<(), CommandError> {
        let written = self.objects.write_with(path, bytes).content_type(kind).await;
        written.map(drop).map_err(|error| error::named(&self.url, Doing::Write(path), &error))
    }

    pub(super) async fn get(&self, path: &str) -> Result<Vec<u8>, CommandError> {
        let read = self.objects.read(path).await;
        read.map(|bytes| bytes.to_vec()).map_err(|error| error::named(&self.url, Doing::Read(path), &error))
    }

    pub(super) async fn find(&self, path: &str) -> Result<Option<Vec<u8>>, CommandError> {
        match self.objects.read(path).await {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(error) if error.kind() == ErrorKind::NotFound && !error::is_of_bucket(&error) => Ok(None),
            Err(error) => Err(error::named(&self.url, Doing::Read(path), &error)),
        }
    }

    pub(super) async fn delete(&self, path: &str) -> Result<(), CommandError> {
        self.objects.delete(path).await.map_err(|error| error::named(&self.url, Doing::Write(path), &error))
    }

    /// The sorted names below a folder, and with `recursive` below its subfolders. Folders end with `/`.
    pub(super) async fn list(&self, folder: &str, recursive: bool) -> Result<Vec<String>, CommandError> {
        let mut names = match &self.url.place {
            Place::Folder(root) => {
                let mut names = Vec::new();
                local_names(root, folder.trim_start_matches('/'), recursive, &mut names)
                    .map_err(|error| {
                        let kind = match error.kind() {
                            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                            _ => ErrorKind::Unexpected,
                        };
                        opendal::Error::new(kind, error.to_string())
                    })
                    .map(|()| names)
            }
            Place::Google(_) | Place::S3(_) => {
                let listed = self.objects.list_with(folder).recursive(recursive).await;
                listed.map(|listed| listed.into_iter().map(|entry| entry.path().to_owned()).collect())
            }
        }
        .map_err(|error| error::named(&self.url, Doing::List, &error))?;
        names.retain(|name| name != folder && name != "/");
        names.sort_unstable();
        Ok(names)
    }

    /// The URL as a word for a shell.
    pub(super) fn word(&self) -> String {
        shell::word(&self.shown())
    }

    pub(crate) fn shown(&self) -> String {
        self.url.to_string()
    }
}

/// The names below a folder, for a store on the disk. Links are skipped.
fn local_names(root: &Path, below: &str, recursive: bool, names: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(root.join(below)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let folder = name + "/";
            if recursive {
                local_names(root, &folder, true, names)?;
            }
            names.push(folder);
        } else if kind.is_file() {
            names.push(name);
        }
    }
    Ok(())
}

fn google(bucket: &str, prefix: &str) -> opendal::Result<Operator> {
    let service = Gcs::default().bucket(bucket).root(&format!("/{prefix}"));
    let Some(host) = variable("STORAGE_EMULATOR_HOST") else { return Operator::new(service) };
    // An emulator asks for no credentials. Google's clients take its address with and without `http://`.
    let address = if host.contains("://") { host } else { format!("http://{host}") };
    Operator::new(service.endpoint(address.trim_end_matches('/')).skip_signature().disable_vm_metadata())
}

fn s3(bucket: &str, prefix: &str) -> opendal::Result<Operator> {
    let mut service = S3::default().bucket(bucket).root(&format!("/{prefix}"));
    // As in Amazon's tools, the address of one service takes precedence over the address of all.
    let address = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
    if let Some(address) = &address {
        service = service.endpoint(address.trim_end_matches('/'));
    }
    let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
    if let Some(region) = region.or_else(|| address.map(|_| "us-east-1".to_owned())) {
        service = service.region(&region);
    }
    Operator::new(service)
}

/// A store on the disk. Files are written in a temporary folder and renamed, so that they appear whole.
fn folder(path: &Path, writes: bool) -> opendal::Result<Operator> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let service = Fs::default().root(&text(path));
    if !writes {
        return Operator::new(service);
    }
    Operator::new(service.atomic_write_dir(&text(&path.join("evalset/unfinished"))))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The URL of a store, as it is given. It is parsed when the command runs: clap would quote a wrong URL, and
/// URLs may contain credentials.
#[derive(Clone)]
pub(crate) struct StoreArg(String);

impl From<String> for StoreArg {
    fn from(text: String) -> Self {
        let authority = text.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        if let Some((credentials, _)) = authority.and_then(|authority| authority.rsplit_once('@')) {
            hide(credentials);
        }
        Self(text)
    }
}

impl fmt::Debug for StoreArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreArg")
    }
}

impl StoreArg {
    /// The store, to write into it. No request is sent yet; a missing folder is made.
    pub(crate) fn open(&self) -> Result<Store, CommandError> {
        Store::from_url(StoreUrl::parse(&self.0)?, true)
    }

    pub(crate) fn open_to_read(&self) -> Result<Store, CommandError> {
        Store::open_to_read(StoreUrl::parse(&self.0)?)
    }

    pub(crate) fn word(&self) -> String {
        shell::word(&self.0)
    }
}
