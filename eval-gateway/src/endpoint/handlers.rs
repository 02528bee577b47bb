//! The handlers of the endpoint, by their tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, OnceLock};

use eval_support::id::fresh_token;
use eval_support::mutex::Mutex;
use eval_support::secrets;

use crate::handler::Handler;

/// The path of an address, up to its token.
pub(super) const PREFIX: &str = "/c/";

static HANDLERS: Mutex<BTreeMap<String, Arc<dyn Handler>>> = Mutex::new(BTreeMap::new());

/// The tokens of handlers that left. Work that one of them left behind is no mistake of another one.
static LEFT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Registers a handler, and returns its token.
pub(super) fn register(handler: Arc<dyn Handler>) -> io::Result<String> {
    let token = token()?;
    HANDLERS.lock().insert(token.clone(), handler);
    Ok(token)
}

/// Removes a handler.
pub(crate) fn unregister(token: &str) {
    HANDLERS.lock().remove(token);
    LEFT.lock().insert(token.to_owned());
}

/// Whether a token belonged to a handler that has left.
pub(super) fn has_left(token: &str) -> bool {
    LEFT.lock().contains(token)
}

/// All handlers: any of them may have sent a call that names none.
pub(super) fn all() -> Vec<Arc<dyn Handler>> {
    HANDLERS
        .lock()
        .iter()
        .filter(|(token, _)| is_told(token))
        .map(|(_, handler)| Arc::clone(handler))
        .collect()
}

#[cfg(not(test))]
const fn is_told(_: &str) -> bool {
    true
}

/// The tokens that are told in tests. Other tests of the process have conversations beside them.
#[cfg(test)]
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

#[cfg(test)]
fn is_told(token: &str) -> bool {
    TOLD.lock().contains(token)
}

/// Lets a handler hear of calls that name none.
#[cfg(test)]
pub(super) fn tell(token: &str) {
    TOLD.lock().insert(token.to_owned());
}

pub(super) fn handler(token: &str) -> Option<Arc<dyn Handler>> {
    HANDLERS.lock().get(token).cloned()
}

/// A fresh token. Its first half is the same in all tokens of the process, and masked wherever texts are written down: each
/// value that is masked costs a search in every text.
fn token() -> io::Result<String> {
    static HALF: OnceLock<String> = OnceLock::new();
    let own = fresh_token()?;
    let half = match HALF.get() {
        Some(half) => half,
        None => {
            let fresh = fresh_token()?;
            HALF.get_or_init(|| {
                secrets::hide(&fresh);
                fresh
            })
        }
    };
    Ok(format!("{half}{own}"))
}
