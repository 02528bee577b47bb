//! Errors of stores, with a name for each cause that a user can remove.

use std::error::Error as _;
use std::time::Duration;

use eval_support::message::truncated;
use eval_support::untrusted::one_line;
use opendal::{Error, ErrorKind};

use super::url::{Place, StoreUrl};
use crate::output::CommandError;

#[derive(Clone, Copy, Debug)]
pub(super) enum Doing<'p> {
    Open,
    List,
    Read(&'p str),
    Write(&'p str),
}

impl Doing<'_> {
    fn shown(self) -> String {
        match self {
            Self::Open => "cannot open the store".to_owned(),
            Self::List => "cannot list what the store holds".to_owned(),
            Self::Read(path) => format!("cannot read `{}`", one_line(path)),
            Self::Write(path) => format!("cannot write `{}`", one_line(path)),
        }
    }
}

/// The HTTP status of the answer, if there was one. opendal has it only in the text of the error.
fn status(error: &Error) -> Option<u16> {
    let text = error.to_string();
    let (_, after) = text.split_once("response: Parts { status: ")?;
    after.get(..3)?.parse().ok()
}

/// Whether an error says that the bucket is missing, rather than the object.
pub(super) fn is_of_bucket(error: &Error) -> bool {
    let said = error.message();
    error.kind() == ErrorKind::ConfigInvalid && said.contains("NoSuchBucket")
        || error.kind() == ErrorKind::NotFound && said.to_ascii_lowercase().contains("bucket does not exist")
}

pub(super) fn named(url: &StoreUrl, doing: Doing<'_>, error: &Error) -> CommandError {
    let status = status(error);
    let (why, help) = match &url.place {
        Place::Folder(_) => of_folder(error),
        Place::Google(bucket) => of_bucket(bucket, status, doing, error, &GOOGLE),
        Place::S3(bucket) => of_bucket(bucket, status, doing, error, &S3),
    };
    CommandError::new(format!("{}: {}: {why}", one_line(&url.to_string()), doing.shown()), help)
}

struct Service {
    name: &'static str,
    credentials: &'static str,
    permission: &'static str,
    address: &'static str,
}

const GOOGLE: Service = Service {
    name: "Google Cloud Storage",
    credentials: "run `gcloud auth application-default login`, or let `GOOGLE_APPLICATION_CREDENTIALS` name a key file",
    permission: "give the account the role `roles/storage.objectUser` on the bucket, or use another account",
    address: "check the network, and `STORAGE_EMULATOR_HOST` if it is set",
};

const S3: Service = Service {
    name: "S3",
    credentials: "set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`; a session needs `AWS_SESSION_TOKEN` too",
    permission: "allow `s3:ListBucket`, `s3:GetObject`, `s3:PutObject` and `s3:DeleteObject` on the bucket, or use other keys",
    address: "check the network, and `AWS_ENDPOINT_URL` and `AWS_REGION`",
};

fn of_bucket(
    bucket: &str,
    status: Option<u16>,
    doing: Doing<'_>,
    error: &Error,
    service: &Service,
) -> (String, &'static str) {
    let name = service.name;
    let said = || match error.message().trim() {
        "" => String::new(),
        said => format!(": {}", short(said)),
    };
    let is_of_object = matches!(doing, Doing::Read(_)) && !is_of_bucket(error);
    // The keys are unknown, have a wrong secret, or are expired.
    let is_of_keys = ["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"]
        .iter()
        .any(|code| error.message().contains(code));
    let repeated = MAX_RETRIES + 1;
    match (status, error.kind()) {
        (Some(status), _) if status == 401 || matches!(status, 400 | 403) && is_of_keys => {
            (format!("{name} does not accept the credentials ({status})"), service.credentials)
        }
        (Some(403), _) => {
            (format!("the credentials do not allow this in the bucket `{bucket}` (403)"), service.permission)
        }
        (Some(404), ErrorKind::NotFound) if is_of_object => (
            "there is no such object (404)".to_owned(),
            "it was removed while it was read; run the command again",
        ),
        (Some(404), _) | (_, ErrorKind::NotFound) => {
            (format!("there is no bucket `{bucket}` (404)"), "create the bucket, or correct its name")
        }
        (Some(429), _) | (_, ErrorKind::RateLimited) => (
            format!("{name} asks for fewer requests (429), the last of {repeated} times too"),
            "run the command again later",
        ),
        (Some(status @ 500..), _) => (
            format!("{name} answers with {status}, the last of {repeated} times too{}", said()),
            "run the command again later",
        ),
        (Some(status), _) => (format!("{name} answers with {status}{}", said()), service.address),
        (None, ErrorKind::ConfigInvalid) if error.message().contains("region") => {
            ("no region is known".to_owned(), "set `AWS_REGION`")
        }
        (None, kind)
            if matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ConfigInvalid)
                || error.message().contains("sign") =>
        {
            let none = "none are found, or their provider does not answer";
            (format!("no credentials for {name} can be used: {none}"), service.credentials)
        }
        (None, _) if error.message().contains("timeout") => {
            (format!("{name} does not answer within {} s", REQUEST_TIMEOUT.as_secs()), service.address)
        }
        (None, _) if ["send http request", "read data from http response"].contains(&error.message()) => {
            (format!("{name} cannot be reached: {}", short(&innermost(error))), service.address)
        }
        (None, _) => (format!("what answers is not {name}: {}", short(&innermost(error))), service.address),
    }
}

fn of_folder(error: &Error) -> (String, &'static str) {
    (short(&innermost(error)), "name a folder in which this user can write")
}

/// The cause behind all others: `Connection refused (os error 111)`.
fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = match error.source() {
        Some(source) => source,
        None => return error.message().to_owned(),
    };
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// A service's message, truncated and in one line. It may be a page of HTML.
fn short(said: &str) -> String {
    let line = one_line(said.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
    truncated(&line, 200, "..").into_owned()
}

/// The number of retries of a request that may succeed later: after 0.5 s, 1 s, 2 s and 4 s, give or take.
pub(super) const MAX_RETRIES: usize = 4;
/// The time limit of one request. A chunk has 8 MiB, which a slow line can transfer in this time.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
