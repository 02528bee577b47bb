//! Formats of files, recognized by their content.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use eval_core::format::Value;

use eval_support::file::GZIP;

use crate::draft::Draft;
use crate::wire;

/// The drafts of a file.
pub(super) struct ReadDrafts {
    pub(super) drafts: Vec<Draft>,
    /// A sentence for each part that is left out.
    pub(super) left_out: Vec<String>,
}

/// The format of a file of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A session of ADK as JSON, several of them, or events.
    AdkSession,
    /// A database of ADK's sessions.
    AdkDatabase,
    /// An eval set: of ADK, of agentevals' examples, of adk-rs, of adk-eval.
    Set,
    /// Traces of OpenTelemetry or Jaeger.
    Trace,
    /// Questions and answers, an object a line.
    JsonLines,
    /// Questions and answers as a table.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::AdkSession, Self::AdkDatabase, Self::Set, Self::Trace, Self::JsonLines, Self::Csv];

    /// The name, as it is written on a command line and in the origin of a draft.
    pub fn name(self) -> &'static str {
        match self {
            Self::AdkSession => "adk-session",
            Self::AdkDatabase => "adk-database",
            Self::Set => "set",
            Self::Trace => "trace",
            Self::JsonLines => "json-lines",
            Self::Csv => "csv",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}

/// A name that no [`Format`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownFormat {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Format::ALL.map(Format::name).join(", ");
        write!(f, "there is no format `{}`: the formats are {known}", self.name)
    }
}

impl std::error::Error for UnknownFormat {}

const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

const HEAD_BYTES: u64 = 1 << 16;

/// Keys near the beginning of traces. They identify traces in files that are too large to be read whole.
const KEYS_OF_TRACES: [&str; 6] =
    ["\"resourceSpans\"", "\"resource_spans\"", "\"batches\"", "\"spanId\"", "\"span_id\"", "\"traceID\""];

/// The format of a file by its first bytes; `None` if the whole file has to be read.
pub(super) fn of_head(path: &Path, is_large: bool) -> io::Result<Option<Format>> {
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    if head.starts_with(SQLITE_MAGIC) {
        return Ok(Some(Format::AdkDatabase));
    }
    let text = String::from_utf8_lossy(&head);
    let is_trace = head.starts_with(&GZIP) || is_large && KEYS_OF_TRACES.iter().any(|key| text.contains(key));
    Ok(is_trace.then_some(Format::Trace))
}

pub(super) fn of_text(text: &str) -> Option<Format> {
    let begin = text.trim_start();
    if !begin.starts_with(['{', '[']) {
        let header = text.lines().next()?;
        return header.contains([',', ';', '\t']).then_some(Format::Csv);
    }
    match Value::parse(text) {
        Ok(whole) => of_value(&whole),
        // JSON lines: the first line alone is a document. A line with a repeated key is refused when it is read.
        Err(_) => {
            let first = serde_json::Deserializer::from_str(begin).into_iter::<serde_json::Value>().next()?;
            of_value(&first.ok()?.into())
        }
    }
}

/// The error of a text that begins as JSON does and is not JSON.
pub(super) fn broken_json(text: &str) -> Option<String> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json.then(|| wire::parse(text).err()).flatten()
}

fn of_value(value: &Value) -> Option<Format> {
    let first = value.as_array().and_then(<[Value]>::first);
    let one = first.unwrap_or(value);
    let has = |keys: &[&str]| keys.iter().any(|key| !one[*key].is_null());
    if has(&["events", "invocationId", "invocation_id"]) {
        return Some(Format::AdkSession);
    }
    if first.is_none() && has(&["eval_cases", "evalCases"]) {
        return Some(Format::Set);
    }
    let whole = if value["trace"].as_object().is_some() { &value["trace"] } else { value };
    let is_document = ["resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "batches"]
        .iter()
        .any(|key| !whole[*key].is_null());
    let of_jaeger = &value["data"][0];
    if is_document
        || has(&["spanId", "span_id"])
        || ["traceID", "spans"].iter().any(|key| !of_jaeger[*key].is_null())
    {
        return Some(Format::Trace);
    }
    one.as_object().map(|_| Format::JsonLines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_its_content() {
        use Format::{AdkSession, Csv, JsonLines, Set, Trace};
        for (text, format) in [
            (r#"{"id": "s", "events": []}"#, Some(AdkSession)),
            (r#" [{"id": "s", "events": []}]"#, Some(AdkSession)),
            ("{\"id\": \"s\", \"events\": []}\n{\"id\": \"t\", \"events\": []}\n", Some(AdkSession)),
            (r#"[{"author": "user", "invocationId": "e-1"}]"#, Some(AdkSession)),
            (r#"{"eval_set_id": "s", "eval_cases": []}"#, Some(Set)),
            (r#"{"id": "s", "evalCases": []}"#, Some(Set)),
            (r#"{"resourceSpans": []}"#, Some(Trace)),
            (r#"{"trace": {"batches": []}}"#, Some(Trace)),
            (r#"{"data": [{"traceID": "1"}]}"#, Some(Trace)),
            ("{\"traceId\": \"1\", \"spanId\": \"2\"}\n{\"traceId\": \"1\"}\n", Some(Trace)),
            ("{\"question\": \"a\"}\n{\"question\": \"b\"}\n", Some(JsonLines)),
            (r#"[{"question": "a"}]"#, Some(JsonLines)),
            ("question,answer\na,b\n", Some(Csv)),
            ("question;answer\n", Some(Csv)),
            ("[1, 2]", None),
            ("hello", None),
            ("", None),
            ("{", None),
        ] {
            assert_eq!(of_text(text), format, "{text}");
        }
    }

    #[test]
    fn formats_are_named() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("adk".parse::<Format>().unwrap_err().to_string().contains("adk-session, adk-database"));
    }
}
