//! Errors of reading a file of traces.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of reading a file of traces.
///
/// ```
/// use eval_agents::traces::{TraceError, Traces};
///
/// let texts = [&br#"{"resourceSpans": []}"#[..], &b"{"[..]];
/// let error = Traces::from_texts(texts).unwrap_err();
/// assert!(matches!(error, TraceError::Json { index: 1, .. }), "{error}");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened, read or unpacked.
    #[non_exhaustive]
    Io {
        /// The file; `None` if the traces come from a reader or a text.
        file: Option<PathBuf>,
        /// The number of the file, the reader or the text, from 0.
        index: usize,
        /// The cause.
        source: io::Error,
    },
    /// The text is no JSON, or ends in the middle.
    #[non_exhaustive]
    Json {
        /// The file; `None` if the traces come from a reader or a text.
        file: Option<PathBuf>,
        /// The number of the file, the reader or the text, from 0.
        index: usize,
        /// The cause, with the line and the column.
        source: serde_json::Error,
    },
    /// The text is JSON, and holds no traces in a form that is known.
    #[non_exhaustive]
    Form {
        /// The file; `None` if the traces come from a reader or a text.
        file: Option<PathBuf>,
        /// The number of the file, the reader or the text, from 0.
        index: usize,
        /// A description of the content.
        found: String,
    },
}

impl TraceError {
    pub(super) fn io(source: io::Error) -> Self {
        Self::Io { file: None, index: 0, source }
    }

    pub(super) fn of_json(source: serde_json::Error) -> Self {
        match source.classify() {
            serde_json::error::Category::Io => Self::io(source.into()),
            _ => Self::Json { file: None, index: 0, source },
        }
    }

    pub(super) fn form(found: impl Into<String>) -> Self {
        Self::Form { file: None, index: 0, found: found.into() }
    }

    pub(super) fn in_file(mut self, path: PathBuf) -> Self {
        let (Self::Io { file, .. } | Self::Json { file, .. } | Self::Form { file, .. }) = &mut self;
        *file = Some(path);
        self
    }

    pub(super) fn at_index(mut self, number: usize) -> Self {
        let (Self::Io { index, .. } | Self::Json { index, .. } | Self::Form { index, .. }) = &mut self;
        *index = number;
        self
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Io { file, .. } | Self::Json { file, .. } | Self::Form { file, .. }) = self;
        if let Some(file) = file {
            write!(f, "{}: ", file.display())?;
        }
        match self {
            Self::Io { source, .. } => write!(f, "cannot be read: {source}"),
            Self::Json { source, .. } => write!(f, "not readable as JSON: {source}"),
            Self::Form { found, .. } => write!(
                f,
                "no traces: {found}; what is read is OTLP as JSON (`resourceSpans`), spans of it, lines of either, and what \
                 Jaeger exports (`data`)"
            ),
        }
    }
}

impl std::error::Error for TraceError {}
