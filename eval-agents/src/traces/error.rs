//! Why a file of traces cannot be read.

use std::fmt;
use std::path::PathBuf;

/// Why a file of traces cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened, read or unpacked.
    Io {
        /// The file; `None` if the traces come from a reader.
        file: Option<PathBuf>,
        /// Why.
        source: std::io::Error,
    },
    /// The text is no JSON, or ends in the middle.
    Json {
        /// The file; `None` if the traces come from a reader.
        file: Option<PathBuf>,
        /// Why, with the line and the column.
        source: serde_json::Error,
    },
    /// The text is JSON, and holds no traces in a form that is known.
    Form {
        /// The file; `None` if the traces come from a reader.
        file: Option<PathBuf>,
        /// What it is instead.
        found: String,
    },
}

impl TraceError {
    pub(super) fn of_json(source: serde_json::Error) -> Self {
        match source.classify() {
            serde_json::error::Category::Io => Self::Io { file: None, source: source.into() },
            _ => Self::Json { file: None, source },
        }
    }

    pub(super) fn form(found: impl Into<String>) -> Self {
        Self::Form { file: None, found: found.into() }
    }

    pub(super) fn in_file(mut self, path: PathBuf) -> Self {
        let (Self::Io { file, .. } | Self::Json { file, .. } | Self::Form { file, .. }) = &mut self;
        *file = Some(path);
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

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
            Self::Form { .. } => None,
        }
    }
}
