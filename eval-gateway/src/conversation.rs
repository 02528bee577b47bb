//! The calls of models in one run of a case: what answers each, and what the run learns beside its agent.

mod answering;
mod attempts;
mod ended;
mod failure;
mod rebound;
mod unasked;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use eval_format::Value;
use eval_support::mutex::Mutex;
use tokio::sync::Notify;

use crate::canonical::hash;
use crate::cassette::{Cassette, Has, Rebound};
use crate::endpoint;
use crate::faults::{Faults, Twist};
use crate::limits::Spent;
use crate::miss::Miss;
use crate::mode::{ModelMode, Settings};
use crate::provider::Provider;
use crate::recording::{Answer, Exchange};
use crate::usage::{Usage, Uses};
use crate::variables;
use crate::wire::{Asked, Incoming, NoWire, Parts};

use attempts::Attempt;
pub use ended::Ended;

/// The calls of models in one run of a case. Clones are the same conversation.
#[derive(Clone)]
pub struct Conversation(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    cassette: Arc<Cassette>,
    mode: ModelMode,
    settings: Settings,
    faults: Faults,
    run: usize,
    /// The command that records the case.
    record: String,
    state: Mutex<State>,
    waiting: Mutex<Waiting>,
    /// Told when the turn in progress has to end.
    halted: Notify,
    /// The address, once it was asked for.
    token: OnceLock<Result<String, String>>,
}

/// Time in which another conversation used the program of this one.
#[derive(Default)]
struct Waiting {
    total: Duration,
    since: Option<Instant>,
}

#[derive(Default)]
struct State {
    /// The texts of the user so far, one a turn.
    said: Vec<String>,
    is_in_turn: bool,
    calls_of_turn: usize,
    /// The answers that were given.
    uses: Uses,
    /// The calls that were sent to a model, and what their answers took.
    spent: Spent,
    /// The number of answers that were given for each key.
    used: HashMap<String, usize>,
    /// The number of answers to each key that requests got which changed since.
    taken: HashMap<String, usize>,
    /// The prompts, tools, models and options of the calls so far.
    kinds: HashSet<String>,
    /// The number of answers that were played for each key, with one that a fault cut off.
    seen: HashMap<String, usize>,
    /// The calls that a model was asked in this run.
    fresh: Vec<Exchange>,
    rebound: Vec<Rebound>,
    /// The calls of models while answers are recorded: failures keep the case from being written, unless a retry cured them.
    attempts: Vec<Attempt>,
    /// The ids of answers, with the keys of their requests.
    answered: HashMap<String, String>,
    /// Ids and signed values in answers, which later requests of this conversation hold.
    handed_out: HashSet<String>,
    /// The calls that were made, by turn and number.
    reached: HashSet<(usize, usize)>,
    /// The number of calls that a model answers now.
    open: usize,
    misses: Vec<Miss>,
    notes: Vec<String>,
    /// Whether its program has variables of the gateway.
    redirects: bool,
    /// A remark on a proxy that may be before the gateway, once its agent took an address for a client in this process.
    before_gateway: Option<String>,
    is_over: bool,
}

/// The keys of ids and signed values in answers.
const HANDED_OUT: [&str; 6] = ["id", "call_id", "thoughtSignature", "signature", "encrypted_content", "data"];

impl Conversation {
    pub(crate) fn new(
        cassette: Arc<Cassette>,
        mode: ModelMode,
        settings: Settings,
        faults: Faults,
        run: usize,
        record: String,
    ) -> Self {
        Self(Arc::new(Shared {
            cassette,
            mode,
            settings,
            faults,
            run,
            record,
            state: Mutex::default(),
            waiting: Mutex::default(),
            halted: Notify::new(),
            token: OnceLock::new(),
        }))
    }

    /// The id of the case.
    pub fn eval_id(&self) -> &str {
        self.0.cassette.eval_id()
    }

    /// The mode in which the calls are answered.
    pub fn mode(&self) -> ModelMode {
        self.0.mode
    }

    /// The base URL for a client of a provider.
    pub fn url(&self, provider: Provider) -> Result<String, String> {
        let url = format!("{}{}", self.address()?, provider.base());
        self.0.state.lock().before_gateway = variables::note_of_here();
        Ok(url)
    }

    /// The address of the conversation, below which each provider has its base URL. The endpoint starts if it does not run.
    fn address(&self) -> Result<String, String> {
        let token = self.0.token.get_or_init(|| endpoint::register(Arc::new(self.clone())));
        endpoint::address(token.as_ref().map_err(Clone::clone)?)
    }

    /// The variables that redirect the clients of a program. What the program's own command sets goes before them.
    pub fn variables(&self) -> Result<Vec<(&'static str, String)>, String> {
        let address = self.address()?;
        self.redirects();
        let is_offline = self.0.settings.is_offline;
        Ok(variables::of_child(&address, &endpoint::proxy(&address), self.0.mode, is_offline))
    }

    /// Notes that a program with variables of the gateway has the conversation.
    pub(crate) fn redirects(&self) {
        self.0.state.lock().redirects = true;
    }

    /// The time for which it waited until another conversation left its program, and whether it waits now. It does not count
    /// towards time limits.
    pub fn waited(&self) -> (Duration, bool) {
        let waiting = self.0.waiting.lock();
        let now = waiting.since.map_or(Duration::ZERO, |since| since.elapsed());
        (waiting.total + now, waiting.since.is_some())
    }

    /// Waits for another conversation.
    pub(crate) async fn waits<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.waiting.lock().since = Some(Instant::now());
        let done = work.await;
        let mut waiting = self.0.waiting.lock();
        let waited = waiting.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        waiting.total += waited;
        done
    }

    /// Begins the next turn, with the message of the user. The runner calls this.
    pub fn begin_turn(&self, user_text: &str) {
        let mut state = self.0.state.lock();
        state.calls_of_turn = 0;
        state.is_in_turn = true;
        state.said.push(user_text.to_owned());
    }

    /// Notes that the agent has ended its turn. Without this the turn was left, and what it began may go on. The runner calls
    /// this.
    pub fn end_turn(&self) {
        self.0.state.lock().is_in_turn = false;
    }

    /// Whether a turn was not ended.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.0.state.lock().is_in_turn
    }

    /// Whether calls of this run are recorded, and no model may be asked.
    pub fn is_replayed(&self) -> bool {
        !self.0.mode.asks() && self.0.cassette.has_run(self.0.run)
    }

    /// The misses so far. One of them makes the case an ERROR.
    pub fn misses(&self) -> Vec<Miss> {
        self.0.state.lock().misses.clone()
    }

    /// Ends once the turn in progress has to end, because a call was not recorded.
    pub async fn halted(&self) {
        let mut told = std::pin::pin!(self.0.halted.notified());
        // From here on no call of `notify_waiters` is missed.
        told.as_mut().enable();
        if self.0.state.lock().misses.is_empty() {
            told.await;
        }
    }

    /// Adds a miss of the turn in progress, and ends the turn.
    pub fn miss(&self, message: String) {
        let mut state = self.0.state.lock();
        if state.is_over {
            return;
        }
        let turn = state.said.len();
        state.misses.push(Miss { turn, message });
        drop(state);
        self.0.halted.notify_waiters();
    }

    /// Adds a remark for the report.
    pub(crate) fn note(&self, note: String) {
        self.0.state.lock().notes.push(note);
    }

    pub(crate) fn read(&self, incoming: &Incoming<'_>) -> Result<Asked, NoWire> {
        let previous = |id: &str| self.0.state.lock().answered.get(id).cloned();
        Asked::read(incoming, self.0.cassette.masks(), &previous)
    }

    /// The state of a request now.
    pub(crate) fn has(&self, asked: &Asked) -> Has {
        self.0.has(&self.0.state.lock(), &asked.key)
    }

    /// Whether an id or a signed value in a request comes from an answer of this conversation.
    pub(crate) fn handed_out(&self, asked: &Asked) -> bool {
        let state = self.0.state.lock();
        asked.ids.iter().any(|id| state.handed_out.contains(id))
    }

    /// Notes an answer that this conversation or another one got: its ids say no longer which.
    pub(crate) fn may_hold(&self, asked: &Asked, answer: &Answer) {
        self.0.state.lock().holds(asked, answer);
    }

    /// The texts of the user so far, one a turn.
    pub(crate) fn said(&self) -> Vec<String> {
        self.0.state.lock().said.clone()
    }

    /// Whether calls of the conversation have to be told from all others: it may ask a model, has no recording that would tell
    /// them, or has faults at its calls.
    pub(crate) fn has_to_be_alone(&self) -> bool {
        self.0.mode != ModelMode::Replay
            || self.0.faults != Faults::default()
            || !self.0.cassette.has_run(self.0.run)
    }

    /// Whether the recording has an unused answer to a key.
    pub(crate) fn has_unused(&self, key: &str) -> bool {
        matches!(self.0.has(&self.0.state.lock(), key), Has::Unused(_))
    }

    /// Lets another conversation have got an answer in place of this one.
    pub(crate) fn got_less(&self, key: &str, other: &Self, model: &str, usage: Usage) {
        let mut state = self.0.state.lock();
        let State { used, seen, .. } = &mut *state;
        for counts in [used, seen] {
            counts.entry(key.to_owned()).and_modify(|number| *number = number.saturating_sub(1));
        }
        state.uses.take_back(model, usage);
        drop(state);
        let mut state = other.0.state.lock();
        state.use_up(key, None);
        state.uses.request(model);
        state.uses.add(model, usage, false);
    }

    /// A number that all runs of the case have, and no other case of the process.
    pub(crate) fn case(&self) -> usize {
        Arc::as_ptr(&self.0.cassette).addr()
    }
}

impl Shared {
    /// The state of the next request with a key.
    fn has(&self, state: &State, key: &str) -> Has {
        self.cassette.has(key, self.run, state.given_to(key))
    }

    /// Whether recorded answers are given. A run that plays the first one does so while that one is recorded anew, too.
    fn reads(&self) -> bool {
        self.mode.reads() || (self.is_copy() && self.cassette.is_fresh())
    }

    /// Whether asked calls are written.
    fn writes(&self) -> bool {
        self.mode.records() && !self.is_copy()
    }

    /// Whether the run plays the answers of another one.
    fn is_copy(&self) -> bool {
        self.cassette.played_by(self.run) != self.run
    }
}

/// A text that is the same for requests with the same model, options, prompt and tools.
fn kind(model: &str, parts: &Parts) -> String {
    let Parts { options, system, tools, messages: _ } = parts;
    let text = |part: &Option<Value>| part.as_ref().map(Value::to_string).unwrap_or_default();
    let options = Value::Object(options.clone());
    hash(format!("{model}\0{options}\0{}\0{}", text(system), text(tools)).as_bytes())
}

impl State {
    /// The number of answers to a key that were given, to it or to a request that changed.
    fn given_to(&self, key: &str) -> usize {
        self.used.get(key).unwrap_or(&0) + self.taken.get(key).unwrap_or(&0)
    }

    /// Notes an answer that was given to a request. `is_asked` says that the model gave it now.
    fn gave(&mut self, asked: &Asked, answer: &Answer, is_asked: bool) {
        self.uses.add(&asked.model, answer.usage(asked.wire).unwrap_or_default(), is_asked);
        self.holds(asked, answer);
    }

    /// Notes the ids and the signed values in an answer.
    fn holds(&mut self, asked: &Asked, answer: &Answer) {
        if let Some(id) = answer.id() {
            self.answered.insert(id.to_owned(), asked.key.clone());
        }
        self.handed_out.extend(answer.texts_under(&HANDED_OUT));
    }

    /// Counts an answer to a request. One that a fault cuts off is not used up: the next call with the request gets it.
    fn use_up(&mut self, key: &str, twist: Option<Twist>) {
        let used = self.used.entry(key.to_owned()).or_default();
        let seen = *used + 1;
        if !matches!(twist, Some(Twist::Cut { .. })) {
            *used = seen;
        }
        let most = self.seen.entry(key.to_owned()).or_default();
        *most = seen.max(*most);
    }
}

/// The token is not shown.
impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("case", &self.eval_id())
            .field("mode", &self.0.mode)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
