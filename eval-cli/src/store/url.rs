//! The URLs of stores.

use std::fmt;
use std::path::PathBuf;

use eval_support::untrusted::one_line;

use super::layout::hash;
use crate::output::CommandError;

/// A place for objects, and the prefix of all our objects in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreUrl {
    pub(super) place: Place,
    /// Names with `/` between them; none for the whole bucket.
    pub(super) prefix: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Google(String),
    /// A bucket of S3, or of a server that speaks its protocol.
    S3(String),
    Folder(PathBuf),
}

const HELP: &str = "write `gs://BUCKET/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`";

/// Whether an argument is the URL of an object rather than a path.
pub(super) fn is_url(text: &str) -> bool {
    ["gs://", "s3://", "file://"].iter().any(|scheme| text.starts_with(scheme))
}

impl StoreUrl {
    /// Parses a URL. Prefixes of buckets are not decoded: `%20` is not a blank there, as in the tools of both
    /// services.
    pub(super) fn parse(text: &str) -> Result<Self, CommandError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(CommandError::new(format!("`{}` is not the URL of a store", one_line(text)), HELP));
        };
        if text.chars().any(char::is_control) {
            return Err(CommandError::new("the URL of the store holds a control character", HELP));
        }
        match scheme {
            "gs" => Self::bucket(scheme, rest, Place::Google),
            "s3" => Self::bucket(scheme, rest, Place::S3),
            "file" => Self::folder(rest),
            _ => Err(CommandError::new(format!("there are no stores with `{}://`", one_line(scheme)), HELP)),
        }
    }

    fn bucket(scheme: &str, rest: &str, place: fn(String) -> Place) -> Result<Self, CommandError> {
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        // The text may hold credentials: it is not repeated.
        if bucket.contains(['@', ':']) {
            return Err(CommandError::new(
                format!("`{scheme}://..` has more than the name of a bucket before its first `/`"),
                "give credentials and addresses in the environment (docs/store.md lists the variables)",
            ));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if bucket.is_empty() || !bucket.bytes().all(is_plain) || bucket.starts_with('.') {
            let message = format!("`{}` is not the name of a bucket", one_line(bucket));
            return Err(CommandError::new(message, HELP));
        }
        Ok(Self { place: place(bucket.to_owned()), prefix: prefix_of(prefix)? })
    }

    fn folder(rest: &str) -> Result<Self, CommandError> {
        let wrong = |why: &str| Err(CommandError::new(format!("`file://{}` {why}", one_line(rest)), HELP));
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            return wrong("names no absolute path: `file://` is followed by a third `/`");
        }
        let Some(path) = decoded(path) else { return wrong("has a `%` without two hexadecimal digits") };
        // A drive of Windows: `file:///C:/runs`.
        let drive = path[1..].starts_with(|c: char| c.is_ascii_alphabetic()) && path[2..].starts_with(":/");
        let path = if cfg!(windows) && drive { path[1..].to_owned() } else { path };
        if path.contains('\0') || path.split('/').any(|name| name == "..") {
            return wrong("has a part `..`");
        }
        Ok(Self { place: Place::Folder(PathBuf::from(path)), prefix: String::new() })
    }

    /// The name of the folder for copies of this store's objects: the same for the same URL.
    pub(super) fn cache_name(&self) -> String {
        let text = self.to_string();
        let hash = hash(text.as_bytes());
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = text.replace("://", "-").chars().map(plain).take(40).collect();
        format!("{name}-{}", &hash[..8])
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Google(bucket) => write!(f, "gs://{bucket}")?,
            Place::S3(bucket) => write!(f, "s3://{bucket}")?,
            // Encoded, since `parse` decodes it.
            Place::Folder(path) => {
                return write!(f, "file://{}", path.display().to_string().replace('%', "%25"));
            }
        }
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

/// A prefix without the `/` at its end.
fn prefix_of(prefix: &str) -> Result<String, CommandError> {
    let trimmed = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_odd = |name: &str| matches!(name, "" | "." | "..") || name != name.trim();
    if !trimmed.is_empty() && trimmed.split('/').any(is_odd) {
        let why = "is not a prefix of a store: a part is empty, a dot, or begins or ends with a blank";
        return Err(CommandError::new(format!("`{}` {why}", one_line(prefix)), HELP));
    }
    Ok(trimmed.to_owned())
}

/// A path of a `file:` URL; `None` for a `%` without two digits, or if it is not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit()? * 16 + digit()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(place: Place, prefix: &str) -> StoreUrl {
        StoreUrl { place, prefix: prefix.to_owned() }
    }

    #[test]
    fn urls_name_a_bucket_or_a_folder() {
        let google = |prefix| url(Place::Google("b".to_owned()), prefix);
        for (text, expected) in [
            ("gs://b", google("")),
            ("gs://b/", google("")),
            ("gs://b/x/y/", google("x/y")),
            ("gs://b/a b/100%/#1?v=2+3/\u{e9}", google("a b/100%/#1?v=2+3/\u{e9}")),
            ("gs://b/%20", google("%20")),
            ("s3://my.b-1_x/p", url(Place::S3("my.b-1_x".to_owned()), "p")),
        ] {
            assert_eq!(StoreUrl::parse(text).unwrap(), expected, "{text}");
        }
        let folder = |path: &str| url(Place::Folder(path.into()), "");
        for (text, path) in [
            ("file:///runs", "/runs"),
            ("file://localhost/runs/", "/runs/"),
            ("file:///my%20runs/100%25", "/my runs/100%"),
            ("file:///caf%C3%A9", "/caf\u{e9}"),
        ] {
            let read = StoreUrl::parse(text).unwrap();
            assert_eq!(read, folder(path), "{text}");
            assert_eq!(StoreUrl::parse(&read.to_string()).unwrap(), read, "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_named() {
        for (text, said) in [
            ("target/runs", "`target/runs` is not the URL of a store"),
            ("", "`` is not the URL of a store"),
            ("gcs://b", "there are no stores with `gcs://`"),
            ("https://storage.googleapis.com/b", "there are no stores with `https://`"),
            ("gs://", "`` is not the name of a bucket"),
            ("gs:///x", "`` is not the name of a bucket"),
            ("gs://b c/x", "`b c` is not the name of a bucket"),
            ("gs://../x", "`..` is not the name of a bucket"),
            ("gs://b/x//y", "`x//y` is not a prefix of a store"),
            ("gs://b/../y", "`../y` is not a prefix of a store"),
            ("gs://b/ y", "` y` is not a prefix of a store"),
            ("gs://b/a\nb", "the URL of the store holds a control character"),
            ("file://runs", "`file://runs` names no absolute path"),
            ("file://host/runs", "`file://host/runs` names no absolute path"),
            ("file:///a%2", "`file:///a%2` has a `%` without two hexadecimal digits"),
            ("file:///a%ff", "`file:///a%ff` has a `%` without two hexadecimal digits"),
            ("file:///a/../b", "`file:///a/../b` has a part `..`"),
        ] {
            let error = StoreUrl::parse(text).unwrap_err();
            assert!(error.message.starts_with(said), "{text}: {}", error.message);
            assert_eq!(error.help, HELP);
        }
    }

    #[test]
    fn credentials_in_a_url_are_refused_and_not_repeated() {
        for text in ["s3://AKIA123:topsecret@bucket/x", "gs://topsecret@bucket", "s3://localhost:9000/b"] {
            let error = StoreUrl::parse(text).unwrap_err();
            assert!(error.message.contains("more than the name of a bucket"), "{}", error.message);
            assert!(
                !error.shown().contains("secret") && !error.shown().contains("AKIA"),
                "{}",
                error.shown()
            );
        }
    }

    #[test]
    fn copies_of_different_stores_do_not_mix() {
        let name = |text| StoreUrl::parse(text).unwrap().cache_name();
        assert_eq!(name("gs://b/x"), name("gs://b/x/"));
        assert_ne!(name("gs://b/x"), name("gs://b/y"));
        assert_ne!(name("gs://b/x-y"), name("gs://b/x/y"));
        assert!(name("gs://b/x").starts_with("gs-b-x-"));
    }
}
