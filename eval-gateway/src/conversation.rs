//! The calls of models in one run of a case: what answers each, and what the run learns beside its agent.

mod ended;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;
use eval_support::variables::{MODELS_CALLS, MODELS_TOKENS};
use tokio::sync::Notify;

use crate::book::Book;
use crate::endpoint;
use crate::faults::{Failure, Faults, Played, Twist, changed};
use crate::guest::{Call, Guest, Reply};
use crate::miss::{self, Known, Miss, Place};
use crate::mode::{ModelMode, Settings};
use crate::provider::Provider;
use crate::recording::{Answer, Exchange};
use crate::usage::Usage;
use crate::variables;
use crate::wire::{Asked, Incoming, NoWire, Wire};

pub use ended::Ended;

/// The calls of models in one run of a case. Clones are the same conversation.
#[derive(Clone)]
pub struct Conversation(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    book: Arc<Book>,
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
    turn: usize,
    /// The text of the user in the turn in progress.
    user_text: String,
    calls_of_turn: usize,
    calls: u64,
    usage: Usage,
    /// The number of answers that were given for each key.
    used: HashMap<String, usize>,
    /// The number of answers that were played for each key, with one that a fault cut off.
    seen: HashMap<String, usize>,
    /// What was asked of a model in this run.
    fresh: Vec<Exchange>,
    /// Requests that changed, each with its answer and the key of the request that had it.
    rebound: Vec<(String, Exchange)>,
    /// Failures of models by the key of the call, until a later call with this key has an answer.
    failures: BTreeMap<String, String>,
    /// The ids of answers, with the keys of their requests.
    answered: HashMap<String, String>,
    /// Ids and signed values in answers, which later requests of this conversation hold.
    handed_out: HashSet<String>,
    /// The calls that were made, by turn and number.
    reached: HashSet<(usize, usize)>,
    /// The number of answers that were given.
    given: u64,
    /// The number of calls that a model answers now.
    open: usize,
    misses: Vec<Miss>,
    is_halted: bool,
    /// Whether its program has variables of the gateway.
    redirects: bool,
    is_over: bool,
}

/// The keys of ids and signed values in answers.
const HANDED_OUT: [&str; 6] = ["id", "call_id", "thoughtSignature", "signature", "encrypted_content", "data"];

/// A call of this conversation that a model answers.
struct Ticket {
    conversation: Conversation,
    asked: Asked,
    place: Place,
    is_over: bool,
    twist: Option<Twist>,
}

impl Conversation {
    pub(crate) fn new(
        book: Arc<Book>,
        mode: ModelMode,
        settings: Settings,
        faults: Faults,
        run: usize,
        record: String,
    ) -> Self {
        Self(Arc::new(Shared {
            book,
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
        self.0.book.eval_id()
    }

    /// The mode in which the calls are answered.
    pub fn mode(&self) -> ModelMode {
        self.0.mode
    }

    /// The base URL for a client of a provider.
    pub fn url(&self, provider: Provider) -> Result<String, String> {
        Ok(format!("{}{}", self.address()?, provider.base()))
    }

    /// The address of the conversation, below which each provider has its base URL. The endpoint starts if it does not run.
    fn address(&self) -> Result<String, String> {
        let token = self.0.token.get_or_init(|| endpoint::admit(Arc::new(self.clone())));
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
        state.turn += 1;
        state.calls_of_turn = 0;
        user_text.clone_into(&mut state.user_text);
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
        if !self.0.state.lock().is_halted {
            told.await;
        }
    }

    /// Adds a miss of the turn in progress, and ends the turn.
    pub fn miss(&self, message: String) {
        let mut state = self.0.state.lock();
        if state.is_over {
            return;
        }
        let turn = state.turn;
        state.misses.push(Miss { turn, message });
        state.is_halted = true;
        drop(state);
        self.0.halted.notify_waiters();
    }

    pub(crate) fn read(&self, incoming: &Incoming<'_>) -> Result<Asked, NoWire> {
        let previous = |id: &str| self.0.state.lock().answered.get(id).cloned();
        Asked::read(incoming, self.0.book.masks(), &previous)
    }

    /// The next recorded answer to a request, if it is not used up.
    pub(crate) fn unused_answer(&self, asked: &Asked) -> Option<Answer> {
        let state = self.0.state.lock();
        let used = state.used.get(&asked.key).copied().unwrap_or(0);
        self.0.book.answer(&asked.key, self.0.run, used)
    }

    /// Whether an id or a signed value in a request comes from an answer of this conversation.
    pub(crate) fn handed_out(&self, asked: &Asked) -> bool {
        let state = self.0.state.lock();
        asked.ids.iter().any(|id| state.handed_out.contains(id))
    }

    /// Whether the message of the user in the turn in progress is in the last one of a request.
    pub(crate) fn said_last(&self, asked: &Asked) -> bool {
        let state = self.0.state.lock();
        !state.user_text.is_empty() && asked.user_text.contains(&state.user_text)
    }

    /// Decides what answers a call.
    pub(crate) fn answer(&self, asked: Asked) -> Reply {
        let mut state = self.0.state.lock();
        if state.is_over {
            return Reply::Refused(format!("the conversation of case `{}` is over", self.eval_id()));
        }
        state.calls_of_turn += 1;
        state.calls += 1;
        let place = Place { run: self.0.run, turn: state.turn, call: state.calls_of_turn };
        let (turn, call) = (place.turn, place.call);
        state.reached.insert((turn, call));
        let twist = match self.0.faults.at(turn, call) {
            Some(Played::Failure(failure)) => return self.fail(state, &asked, place, failure),
            Some(Played::Twist(twist)) => Some(twist),
            None => None,
        };
        if let Some(answer) = self.known(&state, &asked.key) {
            return self.give(state, &asked, place, answer, twist);
        }
        if self.0.mode == ModelMode::Rebind
            && let Some(answer) = self.rebound(&mut state, &asked, place)
        {
            return Reply::Recorded(Box::new(answer));
        }
        if !self.0.mode.asks() {
            drop(state);
            return self.not_recorded(&asked, place);
        }
        if let Some(limit) = self.over_the_limit(&state) {
            drop(state);
            self.miss(limit.clone());
            return Reply::Refused(limit);
        }
        state.open += 1;
        drop(state);
        let ticket = Ticket { conversation: self.clone(), asked, place, is_over: false, twist };
        Reply::Ask(Box::new(ticket), twist)
    }

    /// The next answer to a request, if one is recorded or was recorded in this run.
    fn known(&self, state: &State, key: &str) -> Option<Answer> {
        let Shared { book, mode, run, .. } = &*self.0;
        let used = state.used.get(key).copied().unwrap_or(0);
        let recorded = if mode.reads() { book.number(key, *run) } else { 0 };
        match used.checked_sub(recorded) {
            None => book.answer(key, *run, used),
            // An answer that a fault cut off is not used up.
            Some(at) => {
                let fresh = state.fresh.iter().filter(|exchange| exchange.key == key);
                fresh.flat_map(|exchange| &exchange.answers).nth(at).cloned()
            }
        }
    }

    /// Gives a recorded answer, as a fault has it.
    fn give(
        &self,
        mut state: MutexGuard<'_, State>,
        asked: &Asked,
        place: Place,
        answer: Answer,
        twist: Option<Twist>,
    ) -> Reply {
        state.use_up(&asked.key, twist);
        state.gave(asked, &answer);
        drop(state);
        match twist {
            Some(twist) => self.play(answer, twist, place),
            None => Reply::Recorded(Box::new(answer)),
        }
    }

    /// The reply with an answer as a fault has it. A fault that cannot be played is an error of the case.
    fn play(&self, answer: Answer, twist: Twist, place: Place) -> Reply {
        use crate::recording::Body;

        let is_stream = matches!(answer.body, Body::Events(_));
        let why = match twist {
            Twist::Cut { is_error: true, .. } if !is_stream => "needs a stream, and the answer is none",
            Twist::Cut { events, is_error } => {
                return Reply::Cut { answer: Box::new(answer), events, is_error };
            }
            Twist::Changed(change) => match changed(&answer, change) {
                Some(answer) => return Reply::Recorded(Box::new(answer)),
                None => "changes nothing of the answer: it has no calls, or says nothing",
            },
        };
        let message = format!("the fault {} {why}", self.0.faults.name(place.turn, place.call));
        self.miss(message.clone());
        Reply::Refused(message)
    }

    /// The reply to a call that has a failure in place of an answer. A replay has to know its request all the same: a
    /// changed one is a miss.
    fn fail(&self, mut state: MutexGuard<'_, State>, asked: &Asked, place: Place, failure: Failure) -> Reply {
        let is_known = self.0.book.recording().find(&asked.key).is_some();
        if !is_known && self.0.mode.records() {
            // The agent may never send it again.
            state.fresh.push(Exchange::new(place.turn, asked.wire, &asked.model, asked.parts.clone()));
        } else if !is_known && self.0.mode == ModelMode::Replay {
            drop(state);
            return self.not_recorded(asked, place);
        }
        Reply::Failed(failure)
    }

    /// Makes a call without an answer a miss.
    fn not_recorded(&self, asked: &Asked, place: Place) -> Reply {
        let exists = self.0.book.exists();
        let recording = self.0.book.recording().clone();
        let known =
            Known { recording: &recording, shown: self.0.book.shown(), exists, record: &self.0.record };
        let message = miss::not_recorded(asked, place, known);
        self.miss(message.clone());
        Reply::Refused(message)
    }

    /// The next answer of the same turn and wire, for a request that changed since it was recorded.
    fn rebound(&self, state: &mut State, asked: &Asked, place: Place) -> Option<Answer> {
        let recording = self.0.book.recording().clone();
        let of_turn = recording.exchanges.iter().filter(|it| it.turn == place.turn && it.wire == asked.wire);
        let (known, answer) = of_turn.into_iter().find_map(|known| {
            let used = state.used.get(&known.key).copied().unwrap_or(0);
            Some((known, known.answers_of(place.run).nth(used)?.clone()))
        })?;
        *state.used.entry(known.key.clone()).or_default() += 1;
        // From the end on the answer is under the new key.
        *state.used.entry(asked.key.clone()).or_default() += 1;
        state.gave(asked, &answer);
        let mut exchange = Exchange::new(place.turn, asked.wire, &asked.model, asked.parts.clone());
        exchange.answered = Some(known.answered.clone().unwrap_or_else(|| known.key.clone()));
        exchange.answers.push(answer.clone());
        state.rebound.push((known.key.clone(), exchange));
        Some(answer)
    }

    /// The sentence about a limit that the next call would exceed.
    fn over_the_limit(&self, state: &State) -> Option<String> {
        let limits = self.0.settings.limits;
        let (what, most, seen, variable) = match (limits.calls, limits.tokens) {
            (Some(most), _) if state.calls > most => ("calls", most, state.calls, MODELS_CALLS),
            (_, Some(most)) if state.usage.total() >= most => {
                ("tokens", most, state.usage.total(), MODELS_TOKENS)
            }
            _ => return None,
        };
        let so_far = if what == "calls" { seen - 1 } else { seen };
        Some(format!(
            "call {} of a model was not sent: run {} of case `{}` had {so_far} {what}, and `{variable}` allows {most}; is it a \
             loop? a higher limit lets it go on: {variable}={}",
            state.calls_of_turn,
            self.0.run,
            self.eval_id(),
            most.saturating_mul(2),
        ))
    }
}

impl State {
    /// Notes an answer that was given to a request.
    fn gave(&mut self, asked: &Asked, answer: &Answer) {
        self.usage += answer.usage(asked.wire).unwrap_or_default();
        self.given += 1;
        self.failures.remove(&asked.key);
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

impl Guest for Conversation {
    fn reply(&self, incoming: &Incoming<'_>) -> Result<(Wire, Reply), NoWire> {
        let asked = self.read(incoming)?;
        Ok((asked.wire, self.answer(asked)))
    }

    fn miss(&self, why: &str) {
        Self::miss(self, why.to_owned());
    }

    fn is_offline(&self) -> bool {
        self.0.settings.is_offline
    }
}

impl Call for Ticket {
    fn asked(&self) -> &Asked {
        &self.asked
    }

    fn address(&self) -> String {
        let Asked { provider, rest, .. } = &self.asked;
        let given = self.conversation.0.settings.upstreams.get(provider);
        provider.upstream(given.map(String::as_str), rest)
    }

    fn play(&self, answer: Answer, twist: Twist) -> Reply {
        self.conversation.play(answer, twist, self.place)
    }

    fn answered(mut self: Box<Self>, answer: Answer) {
        self.is_over = true;
        let Shared { settings, run, .. } = &*self.conversation.0;
        let mut state = self.conversation.0.state.lock();
        if let Some(failure) = failure_of(&answer)
            && !settings.keeps_failures
        {
            state.failures.insert(self.asked.key.clone(), failure);
            return;
        }
        let answer = Answer { run: *run, ..answer };
        state.use_up(&self.asked.key, self.twist);
        state.gave(&self.asked, &answer);
        let Asked { wire, model, parts, .. } = &self.asked;
        let mut exchange = Exchange::new(self.place.turn, *wire, model, parts.clone());
        exchange.answers.push(answer);
        state.fresh.push(exchange);
    }

    fn failed(mut self: Box<Self>, why: String) {
        self.is_over = true;
        let key = self.asked.key.clone();
        self.conversation.0.state.lock().failures.insert(key, why);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.conversation.0.state.lock();
        state.open -= 1;
        if !self.is_over {
            let why = "the agent left before the answer came".to_owned();
            state.failures.insert(self.asked.key.clone(), why);
        }
    }
}

/// What makes an answer a failure, which a retry may cure.
fn failure_of(answer: &Answer) -> Option<String> {
    use crate::recording::Body;

    match (&answer.body, answer.status) {
        (_, 401 | 402 | 403 | 408 | 409 | 429 | 500..) => {
            let said = match &answer.body {
                Body::Json(value) => value.to_string(),
                Body::Text { text, .. } => text.clone(),
                Body::Events(_) => String::new(),
            };
            let said = eval_support::untrusted::one_line(&eval_support::message::cut(&said, 300));
            Some(format!("the provider answered {}: {said}", answer.status))
        }
        (Body::Events(events), _) if Wire::broke(events) => {
            Some("the stream of the provider ended in an error".to_owned())
        }
        _ => None,
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
