//! The destination of drafts, which the owner of a server sets.

use std::error::Error;
use std::fmt;

use eval_agents::draft::Draft;

/// Saves drafts of cases into sets.
///
/// ```
/// use std::sync::Mutex;
///
/// use eval_agents::draft::Draft;
/// use eval_server::{DraftRefused, DraftStore, SavedDraft, ServerOptions};
///
/// /// Keeps them in memory.
/// #[derive(Debug, Default)]
/// struct Kept(Mutex<Vec<Draft>>);
///
/// impl DraftStore for Kept {
///     fn save(&self, set: Option<&str>, draft: Draft) -> Result<SavedDraft, DraftRefused> {
///         let mut kept = self.0.lock().map_err(|error| DraftRefused::failed(error.to_string()))?;
///         let id = format!("draft-{}", kept.len());
///         kept.push(draft);
///         Ok(SavedDraft::new(set.unwrap_or("memory"), Some(id)))
///     }
/// }
///
/// let options = ServerOptions::new().drafts(Kept::default());
/// ```
pub trait DraftStore: fmt::Debug + Send + Sync {
    /// Saves a draft into a set, or into a default set if `set` is `None`. It may wait for the disk.
    fn save(&self, set: Option<&str>, draft: Draft) -> Result<SavedDraft, DraftRefused>;
}

/// A draft that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedDraft {
    /// The set, as it is shown.
    pub set: String,
    /// The id of the case; `None` if the set has an equal one already, and nothing was written.
    pub eval_id: Option<String>,
    /// The address of the page on which the draft is reviewed, on the same server; `None` if there is none.
    pub link: Option<String>,
}

impl SavedDraft {
    /// A draft that was saved into a set under an id. `eval_id` is `None` if the set has an equal case
    /// already.
    pub fn new(set: impl Into<String>, eval_id: Option<String>) -> Self {
        Self { set: set.into(), eval_id, link: None }
    }

    /// Sets the address of the page on which the draft is reviewed: a path on the same server.
    #[must_use]
    pub fn with_link(self, link: impl Into<String>) -> Self {
        Self { link: Some(link.into()), ..self }
    }
}

/// An error of saving a draft.
#[derive(Debug)]
#[non_exhaustive]
pub enum DraftRefused {
    /// The set that was named is no place for drafts.
    Set {
        /// The set, as it was named.
        set: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// The draft could not be saved.
    Failed(Box<dyn Error + Send + Sync>),
}

impl DraftRefused {
    /// The set that was named is no place for drafts: why, and what helps.
    pub fn set(set: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Set { set: set.into(), why: why.into() }
    }

    /// A failure to save a draft: an error that names a remedy.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }
}

impl fmt::Display for DraftRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { set, why } => write!(f, "`{set}` takes no drafts: {why}"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for DraftRefused {}
