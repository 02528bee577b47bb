//! The argument that names a store.

use std::fmt;

use eval_support::shell;

use super::open::Store;
use super::url::StoreUrl;
use crate::output::CommandError;
use crate::output::hide;

/// The URL of a store, as it is given. It is read when the command runs, because clap would quote one that is wrong, and
/// people put credentials into URLs.
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
    /// The store, to write into it. Nothing is asked of it yet; a folder is made if it is not there.
    pub(crate) fn open(&self) -> Result<Store, CommandError> {
        Store::open(StoreUrl::parse(&self.0)?)
    }

    /// The store, to read it.
    pub(crate) fn open_to_read(&self) -> Result<Store, CommandError> {
        Store::open_to_read(StoreUrl::parse(&self.0)?)
    }

    /// The URL as a word for a shell.
    pub(crate) fn word(&self) -> String {
        shell::word(&self.0)
    }
}
