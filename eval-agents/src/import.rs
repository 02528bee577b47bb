//! Drafts of cases from conversations that are stored.
//!
//! [`Import`] reads a file and knows what it is by its content:
//!
//! ```
//! use eval_agents::import::{Format, Import};
//!
//! let session = r#"{
//!   "id": "s-17", "appName": "weather", "userId": "anna", "state": { "last_city": "Paris" },
//!   "events": [
//!     { "invocationId": "e-1", "author": "user", "content": { "parts": [{ "text": "Weather in Paris?" }], "role": "user" } },
//!     { "invocationId": "e-1", "author": "weather_agent", "actions": { "stateDelta": { "last_city": "Paris" } },
//!       "content": { "parts": [{ "text": "It is sunny." }], "role": "model" } }
//!   ]
//! }"#;
//! let imported = Import::new().parse("session.json", session.as_bytes())?;
//! assert_eq!(imported.format, Format::AdkSession);
//! let draft = &imported.drafts[0];
//! assert_eq!(draft.case.conversation[0].user_text(), "Weather in Paris?");
//! assert_eq!(draft.case.final_session_state["last_city"], "Paris");
//! assert_eq!(draft.origin.details["session"], "s-17");
//! # Ok::<(), eval_agents::import::ImportError>(())
//! ```
//!
//! [`new_cases`](crate::draft::new_cases) gives the drafts ids that are free in a set, and drops conversations that it has
//! already; [`Draft::marked`](crate::draft::Draft::marked) is what is written. Runs that were recorded are read by `journal`
//! (feature `reports`).
//!
//! | [`Format`] | what it is |
//! | --- | --- |
//! | `AdkSession` | a session of ADK as JSON: what `adk api_server` answers, `adk web` downloads and `adk run --save_session` writes; also an array of sessions, an array of events, and JSON lines of sessions |
//! | `AdkDatabase` | a database of ADK's `SqliteSessionService` or `DatabaseSessionService`, in SQLite (feature `sqlite`) |
//! | `Set` | an eval set: of ADK, of agentevals' examples, of adk-rs, of adk-eval |
//! | `Trace` | traces of OpenTelemetry or Jaeger as JSON, also packed with gzip: what [`traces`](crate::traces) reads |
//! | `JsonLines` | questions and answers, an object a line or in an array, read as a [`Mapping`] says |
//! | `Csv` | the same as a table, whose first line names its columns (feature `csv`) |

#[cfg(feature = "sqlite")]
mod adk_database;
mod adk_session;
mod error;
mod eval_set;
mod format;
#[cfg(feature = "reports")]
mod from_journal;
mod from_traces;
mod mapping;
mod rows;
mod turns;

use std::path::Path;

use eval_support::file::{MAX_FILE_BYTES, open_file};
use eval_support::setters;

use crate::draft::Draft;

pub use error::ImportError;
use format::ReadDrafts;
pub use format::{Format, UnknownFormat};
#[cfg(feature = "reports")]
pub use from_journal::{journal, recorded};
pub use mapping::{Mapping, MappingError};

const LARGE_FILE_BYTES: u64 = 64 << 20;

/// Options of reading files.
#[derive(Clone, Debug, Default)]
pub struct Import {
    format: Option<Format>,
    mapping: Option<Mapping>,
    sessions: Vec<String>,
    from: Option<String>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// The kind of the file.
    pub format: Format,
    /// A draft for each conversation, in the order of the file.
    pub drafts: Vec<Draft>,
    /// The conversations that are not among the drafts, and the reasons: sessions in which the user said nothing.
    pub left_out: Vec<String>,
}

impl Import {
    /// Options for files of any format, with all conversations in them.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Reads files in this format, whatever they look like.
        format(format: Format) { format = Some(format) }

        /// Sets the roles of the columns of tables. Without a mapping, columns are recognized by common names.
        ///
        /// ```
        /// use eval_agents::import::Import;
        ///
        /// let import = Import::new().mapping("query=user,reply=answer,used=tools".parse()?);
        /// let lines = r#"{"query": "Weather in Paris?", "reply": "It is sunny.", "used": ["get_weather"]}"#;
        /// let draft = &import.parse("chats.jsonl", lines.as_bytes())?.drafts[0];
        /// assert_eq!(draft.case.conversation[0].tool_calls().count(), 1);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        mapping(mapping: Mapping) { mapping = Some(mapping) }

        /// Imports only the session or the conversation with this id. Further calls add further ids.
        session(id: impl Into<String>) { sessions.push(id.into()) }

        /// Sets the name of the file in messages and origins. The default is its path.
        called(from: impl Into<String>) { from = Some(from.into()) }
    }

    /// Reads a file.
    pub fn read(&self, path: &Path) -> Result<Imported, ImportError> {
        let from = self.from.clone().unwrap_or_else(|| path.to_string_lossy().into_owned());
        let failed = |source| ImportError::Io { from: from.clone(), source };
        let length = open_file(path).and_then(|file| file.metadata()).map_err(failed)?.len();
        let format = match self.format {
            Some(format) => Some(format),
            None => format::of_head(path, length > LARGE_FILE_BYTES).map_err(failed)?,
        };
        match format {
            #[cfg(feature = "sqlite")]
            Some(Format::AdkDatabase) => {
                found(&from, Format::AdkDatabase, adk_database::read(path, &from, &self.sessions)?)
            }
            #[cfg(not(feature = "sqlite"))]
            Some(Format::AdkDatabase) => Err(ImportError::NotCompiled { from, feature: "sqlite" }),
            Some(Format::Trace) => {
                let file = open_file(path).map_err(failed)?;
                found(&from, Format::Trace, from_traces::read(&from, file, &self.sessions)?)
            }
            _ if length > MAX_FILE_BYTES => Err(ImportError::TooLarge { from, bytes: length }),
            _ => self.parse(&from, &std::fs::read(path).map_err(failed)?),
        }
    }

    /// Reads the bytes of a file. `from` is its name in messages and origins. Databases are read by
    /// [`read`](Self::read).
    pub fn parse(&self, from: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            ImportError::unreadable(from, format!("byte {} is not UTF-8", error.valid_up_to()))
        });
        let text = text?.trim_start_matches('\u{feff}');
        let format = match self.format {
            Some(format) => format,
            None => format::of_text(text).ok_or_else(|| match format::broken_json(text) {
                Some(why) => ImportError::unreadable(from, why),
                None => ImportError::Unknown { from: from.to_owned() },
            })?,
        };
        let held = match format {
            Format::AdkSession => adk_session::read(from, text, &self.sessions)?,
            Format::AdkDatabase => {
                return Err(ImportError::unreadable(
                    from,
                    "a database is read from its file, not from a text",
                ));
            }
            Format::Trace => from_traces::read(from, bytes, &self.sessions)?,
            Format::Set => ReadDrafts { drafts: eval_set::read(from, text)?, left_out: Vec::new() },
            Format::JsonLines => rows::json_lines(from, text, self.mapping.as_ref())?,
            #[cfg(feature = "csv")]
            Format::Csv => rows::csv(from, text, self.mapping.as_ref())?,
            #[cfg(not(feature = "csv"))]
            Format::Csv => return Err(ImportError::NotCompiled { from: from.to_owned(), feature: "csv" }),
        };
        found(from, format, held)
    }
}

fn found(
    from: &str,
    format: Format,
    ReadDrafts { drafts, left_out }: ReadDrafts,
) -> Result<Imported, ImportError> {
    if drafts.is_empty() {
        return Err(ImportError::Nothing { from: from.to_owned(), left_out });
    }
    Ok(Imported { format, drafts, left_out })
}

#[cfg(test)]
mod tests;
