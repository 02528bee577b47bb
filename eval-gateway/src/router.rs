//! The conversations of one program that serves several of them, such as a server: the program has one address, and the
//! conversation of a call is found by what the call says.
//!
//! A conversation that may ask a model, has no recording yet, or has faults has the program alone, and so has each run of a case
//! among the runs of that case. Others share it while they are replayed, and a call that may belong to several cases is an error of all
//! of them: no case is guessed.

mod attributions;
mod owner;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;
use tokio::sync::{OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use self::attributions::Attributions;
use crate::conversation::Conversation;
use crate::endpoint;
use crate::handler::{Handler, Reply};
use crate::mode::{ModelMode, Settings};
use crate::variables;
use crate::wire::{Incoming, NoWire, Wire};

/// The time for which a conversation is remembered whose turn was left: its calls may still come.
const REMEMBERED_FOR: Duration = Duration::from_mins(1);

/// The address of a program for many conversations.
#[derive(Clone)]
pub struct Router(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    mode: ModelMode,
    is_offline: bool,
    token: Mutex<String>,
    state: Mutex<State>,
    attributions: Mutex<Attributions>,
    /// Held alone by a conversation that has to be alone, and together by the others.
    program: Arc<RwLock<()>>,
}

#[derive(Default)]
struct State {
    active: Vec<Conversation>,
    /// Conversations whose turn was left unfinished, with the time.
    left: Vec<(Conversation, Instant)>,
    /// A lock for each case: one of its runs at a time has a lease.
    cases: HashMap<usize, Arc<tokio::sync::Mutex<()>>>,
    /// Whether a conversation had a lease.
    has_begun: bool,
    /// Mistakes of calls that came while no conversation had a lease.
    unheard: Vec<String>,
}

/// The use of a program by a conversation, until this is dropped.
#[must_use = "the conversation leaves as soon as this is dropped"]
pub struct Lease {
    router: Router,
    conversation: Conversation,
    _alone: Alone,
}

/// The locks of a lease.
#[expect(dead_code, reason = "they are held, and not read")]
enum Alone {
    InTheProgram(OwnedRwLockWriteGuard<()>),
    InItsCase(OwnedMutexGuard<()>, OwnedRwLockReadGuard<()>),
}

impl Router {
    /// Opens a router for a program whose calls are answered in this mode. The endpoint starts if it does not run.
    pub fn open(mode: ModelMode) -> Result<Self, String> {
        let router = Self(Arc::new(Shared {
            mode,
            is_offline: Settings::from_env()?.is_offline,
            token: Mutex::default(),
            state: Mutex::default(),
            attributions: Mutex::default(),
            program: Arc::default(),
        }));
        *router.0.token.lock() = endpoint::register(Arc::new(router.clone()))?;
        Ok(router)
    }

    /// The variables that redirect the clients of the program.
    pub fn variables(&self) -> Result<Vec<(&'static str, String)>, String> {
        let address = endpoint::address(&self.0.token.lock())?;
        Ok(variables::of_child(&address, &endpoint::proxy(&address), self.0.mode, self.0.is_offline))
    }

    /// Lets a conversation use the program. Waits while another one has it alone, and while another run of the same case uses it.
    pub async fn lease(&self, conversation: &Conversation) -> Lease {
        let program = Arc::clone(&self.0.program);
        let alone = if conversation.has_to_be_alone() {
            Alone::InTheProgram(conversation.waits(program.write_owned()).await)
        } else {
            let case = Arc::clone(self.0.state.lock().cases.entry(conversation.case()).or_default());
            let locks = async { Alone::InItsCase(case.lock_owned().await, program.read_owned().await) };
            conversation.waits(locks).await
        };
        conversation.redirects();
        let mut state = self.0.state.lock();
        for why in std::mem::take(&mut state.unheard) {
            // What the program did before its first case is a mistake of that one. Later it may be of a case that is over.
            if state.has_begun {
                conversation.note(format!("between two cases: {why}"));
            } else {
                conversation.miss(why);
            }
        }
        state.has_begun = true;
        state.active.push(conversation.clone());
        drop(state);
        Lease { router: self.clone(), conversation: conversation.clone(), _alone: alone }
    }

    /// The active conversations, and those that left in the midst of a turn.
    fn present(&self) -> (Vec<Conversation>, Vec<Conversation>) {
        let mut state = self.0.state.lock();
        state.left.retain(|(_, since)| since.elapsed() < REMEMBERED_FOR);
        (state.active.clone(), state.left.iter().map(|(conversation, _)| conversation.clone()).collect())
    }
}

impl Handler for Router {
    fn reply(&self, incoming: &Incoming<'_>) -> Result<(Wire, Reply), NoWire> {
        let (active, left) = self.present();
        let mut read = Vec::new();
        for conversation in active {
            let asked = conversation.read(incoming)?;
            read.push((conversation, asked));
        }
        match (read.first(), left.first()) {
            (Some((_, first)), _) => Ok((first.wire, owner::reply(&read, &left, &mut self.0.attributions.lock()))),
            (None, Some(over)) => Ok((over.read(incoming)?.wire, owner::of_a_left_turn(over))),
            (None, None) => Err(NoWire(
                "no case is in progress: the call was made before the first case, after the last one, or by work that a turn \
                 left behind"
                    .to_owned(),
            )),
        }
    }

    fn miss(&self, why: &str) {
        let (active, _) = self.present();
        if active.is_empty() {
            self.0.state.lock().unheard.push(why.to_owned());
        }
        for conversation in active {
            conversation.miss(why.to_owned());
        }
    }

    fn may_ask(&self, said: &str) -> bool {
        self.present().0.iter().any(|conversation| conversation.may_ask(said))
    }

    fn is_offline(&self) -> bool {
        self.0.is_offline && !self.0.mode.asks()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.router.0.state.lock();
        state.active.retain(|active| !Arc::ptr_eq(&active.0, &self.conversation.0));
        let active = state.active.clone();
        if self.conversation.is_in_turn() {
            state.left.push((self.conversation.clone(), Instant::now()));
        }
        drop(state);
        self.router.0.attributions.lock().settle(&self.conversation, &active);
    }
}

/// The token is not shown.
impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Router(..)")
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease(..)")
    }
}

#[cfg(test)]
mod tests;
