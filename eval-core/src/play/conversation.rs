//! One run of one case: opens the session, plays each turn, and records everything.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use eval_format::{EvalCase, Invocation, Map};
use eval_support::id::fresh_id;
use eval_support::words::count;

use super::unscored;
use super::user::{Message, User};
use crate::agent::{Erased, Event, Log, Recorded, Recorder, Session, Turn, events_of, shows_something};
use crate::guard::{Fault, Waited, What, fenced, fenced_but_for, not_async};
use crate::model_use::ModelUse;
use crate::models::{self, ModelCalls};
use crate::score::mean::round_3;
use crate::tools::GoldenTools;
use crate::transcript::{RunError, Transcript, TurnRecord, invocation};
use crate::verdict::Role;

#[derive(Clone, Debug)]
pub(crate) struct Conditions<'a> {
    /// The app name for cases that name none.
    pub(crate) app_name: &'a str,
    /// The user id for cases that name none.
    pub(crate) user_id: &'a str,
    pub(crate) timeout: Duration,
    /// The name of this run for the watchdog: the test and the run.
    pub(crate) label: Arc<str>,
}

impl Conditions<'_> {
    fn what(&self) -> What {
        What::of(self.label.clone())
    }
}

/// Plays a case against an agent. Errors are in the transcript. Later, `log` shows events that came too late. `begins` is told
/// the number of each turn that begins.
pub(crate) async fn converse(
    mut agent: Box<dyn Erased + '_>,
    case: &EvalCase,
    user: User<'_>,
    conditions: &Conditions<'_>,
    log: &Arc<Log>,
    begins: &(dyn Fn(usize) + Sync),
) -> Transcript {
    let session = session(case, conditions);
    let mut transcript =
        Transcript { state: session.state.clone(), session: session.into(), ..Transcript::default() };
    let played = play(&mut *agent, user, conditions, log, &mut transcript, begins).await;
    let played = missed_model(log).map_or(played, Err);
    let has_broken = played.as_ref().is_err_and(|error| !error.is_failure);
    let ended = end(&mut *agent, conditions, played).await;
    // The state and the end of the agent may ask a tool or a model, too.
    let missed = missed_tool(log, 0).or_else(|| missed_model(log));
    let ended = missed.filter(|_| !has_broken).map_or(ended, Err);
    let error = end_models(log, ended, &mut transcript.models).await.err();
    for turn in &mut transcript.turns {
        add_rubrics(&mut turn.invocation, case);
    }
    let dropped = drop_agent(agent, conditions).err();
    settle(log).await;
    transcript.notes = log.notes();
    // What broke says more than a failure.
    let (broke, failed) = match error {
        Some(error) if error.is_failure => (None, Some(error)),
        error => (error, None),
    };
    transcript.error = broke.or(dropped).or_else(|| late(log)).or(failed);
    transcript
}

/// The error of the first call of a tool that no golden answers, after those that are known.
pub(super) fn missed_tool(log: &Log, known: usize) -> Option<RunError> {
    let miss = log.tools()?.misses().into_iter().nth(known)?;
    Some(RunError::new(Role::Tools, Some(miss.turn).filter(|turn| *turn > 0), miss.message))
}

/// The error of a call of a model that was not recorded. It goes before what the agent made of it.
fn missed_model(log: &Log) -> Option<RunError> {
    let miss = log.models()?.misses().into_iter().next()?;
    Some(RunError::new(Role::Recording, Some(miss.turn).filter(|turn| *turn > 0), miss.message))
}

/// Ends the calls of models: what was asked is written, what was never asked for is noted, and each model is in `uses`.
async fn end_models(
    log: &Log,
    ended: Result<(), RunError>,
    uses: &mut Vec<ModelUse>,
) -> Result<(), RunError> {
    let Some(models) = log.models() else { return ended };
    // A failure is a verdict on an agent that came to its end.
    let is_whole = ended.as_ref().err().is_none_or(|error| error.is_failure);
    let left = models::end(models, is_whole).await;
    left.notes.into_iter().for_each(|note| log.note(note));
    *uses = left.uses;
    // From here on no call is answered. One that came after the agent's end is seen here.
    let ended = match (missed_model(log), ended) {
        (Some(miss), Ok(())) => Err(miss),
        (Some(miss), Err(error)) if error.is_failure => Err(miss),
        (_, ended) => ended,
    };
    match left.error {
        Some(error) if is_whole => Err(RunError::new(Role::Recording, None, error)),
        Some(error) => {
            log.note(error);
            ended
        }
        None => ended,
    }
}

/// Drops the agent. Its `drop` may panic or block, which is an error.
pub(super) fn drop_agent<A>(agent: A, conditions: &Conditions<'_>) -> Result<(), RunError> {
    let what = conditions.what().doing("dropping the agent");
    not_async(conditions.timeout, &what, || drop(agent))
        .map_err(|fault| agent_error(None, &format!("dropping the agent: {fault}")))
}

/// The error of a run in which something was recorded too late; `None` if nothing was so far.
pub(crate) fn late(log: &Log) -> Option<RunError> {
    log.late().map(|late| agent_error(late.turn(), &late.to_string()))
}

/// Waits a moment if work that outlived its turn still holds a recorder, so that its late events are seen.
pub(super) async fn settle(log: &Arc<Log>) {
    for _ in 0..SETTLING_YIELDS {
        if !log.has_recorders() {
            return;
        }
        tokio::task::yield_now().await;
    }
    for _ in 0..MAX_SETTLING_PAUSES {
        if !log.has_recorders() {
            return;
        }
        tokio::time::sleep(SETTLING_PAUSE).await;
    }
}

/// The number of yields, for tasks that are ready.
const SETTLING_YIELDS: usize = 8;
/// The number of pauses, for other threads, and the length of each.
const MAX_SETTLING_PAUSES: usize = 10;
const SETTLING_PAUSE: Duration = Duration::from_millis(5);

/// Puts the rubrics of the case before the turn's own. ADK's metrics read both from the turn.
fn add_rubrics(turn: &mut Invocation, case: &EvalCase) {
    let Some(of_case) = case.rubrics.as_ref().filter(|rubrics| !rubrics.is_empty()) else { return };
    let of_turn = turn.rubrics.take().unwrap_or_default();
    turn.rubrics = Some(of_case.iter().cloned().chain(of_turn).collect());
}

pub(crate) fn renew_rubrics(transcript: &mut Transcript, case: &EvalCase) {
    for (at, turn) in transcript.turns.iter_mut().enumerate() {
        turn.invocation.rubrics = case.conversation.get(at).and_then(|expected| expected.rubrics.clone());
        add_rubrics(&mut turn.invocation, case);
    }
}

async fn play(
    agent: &mut (dyn Erased + '_),
    mut user: User<'_>,
    conditions: &Conditions<'_>,
    log: &Arc<Log>,
    transcript: &mut Transcript,
    begins: &(dyn Fn(usize) + Sync),
) -> Result<(), RunError> {
    start(agent, conditions, log, &transcript.session).await?;
    while let Some(message) = user.next(&transcript.turns).await? {
        begins(transcript.turns.len() + 1);
        turn(agent, &message, conditions, log, transcript).await?;
    }
    let mut unreached = None;
    if let Some(tools) = log.tools() {
        if let Some(missed) = missed_tool(log, 0) {
            return Err(missed);
        }
        unreached = tools.unreached().map(|(turn, message)| RunError::failure(Role::Tools, turn, message));
        tools.unused().into_iter().for_each(|note| log.note(note));
    }
    read_state(agent, conditions, transcript).await?;
    unreached.map_or(Ok(()), Err)
}

pub(super) async fn start(
    agent: &mut (dyn Erased + '_),
    conditions: &Conditions<'_>,
    log: &Arc<Log>,
    session: &Session,
) -> Result<(), RunError> {
    let session = session.recording_into(log);
    let what = conditions.what().doing("opening the session");
    // While calls of models are recorded, conversations of one server come one after the other.
    let models = log.models();
    let waited = || {
        let (total, still) = models.as_ref().map(ModelCalls::waited).unwrap_or_default();
        Waited { total, still }
    };
    let opened = fenced_but_for(waited, conditions.timeout, what, || log.during(agent.start(&session))).await;
    opened.map_err(|fault| agent_fault(None, "opening the session: ", &fault))
}

pub(super) async fn read_state(
    agent: &mut (dyn Erased + '_),
    conditions: &Conditions<'_>,
    transcript: &mut Transcript,
) -> Result<(), RunError> {
    let what = conditions.what().doing("reading the session state");
    match fenced(conditions.timeout, what, || agent.state()).await {
        Ok(Some(state)) => transcript.state = state,
        Ok(None) => {}
        Err(fault) => return Err(agent_fault(None, "reading the session state: ", &fault)),
    }
    Ok(())
}

/// Ends the conversation, whether it failed or not. If both fail, the message is the error of the
/// conversation, then the error of its end.
pub(super) async fn end(
    agent: &mut (dyn Erased + '_),
    conditions: &Conditions<'_>,
    played: Result<(), RunError>,
) -> Result<(), RunError> {
    let what = conditions.what().doing("ending the conversation");
    let ended = fenced(conditions.timeout, what, || agent.end()).await;
    let Err(fault) = ended else { return played };
    // A broken connection is told once.
    if let Err(error) = &played
        && error.message.contains(&fault.to_string())
    {
        return played;
    }
    let fault = format!("ending the conversation: {fault}");
    match played {
        Ok(()) => Err(agent_error(None, &fault)),
        Err(error) if error.is_failure => Err(agent_error(None, &fault)),
        Err(mut error) => {
            error.message = format!("{} (then, {fault})", error.message);
            Err(error)
        }
    }
}

/// Plays one turn. What was recorded is kept, also if the turn fails.
pub(super) async fn turn(
    agent: &mut (dyn Erased + '_),
    message: &Message<'_>,
    conditions: &Conditions<'_>,
    log: &Arc<Log>,
    transcript: &mut Transcript,
) -> Result<(), RunError> {
    let number = transcript.turns.len() + 1;
    let begun = Instant::now();
    let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let turn = Turn::new(&message.content, Recorder::of_next_turn(log));
    let what = conditions.what().turn(number);
    let (golden, models) = (log.tools(), log.models());
    if let Some(models) = &models {
        models.begin_turn(&message.content.text());
    }
    let played = fenced(conditions.timeout, what, || {
        let played = log.during(agent.turn(&turn));
        let (golden, models) = (golden.clone(), models.clone());
        async move {
            if golden.is_none() && models.is_none() {
                return played.await;
            }
            let of_turn = models.as_ref();
            let mut played = std::pin::pin!(async move {
                let played = played.await;
                of_turn.into_iter().for_each(ModelCalls::end_turn);
                played
            });
            let ended = || Err("the turn was ended".into());
            tokio::select! {
                biased;
                () = golden_halted(golden.as_ref()) => return ended(),
                played = &mut played => return played,
                () = models_halted(models.as_ref()) => {}
            }
            // An agent that hears of the error ends its turn: what it began is then over, and its program is of further use.
            tokio::select! {
                biased;
                () = golden_halted(golden.as_ref()) => ended(),
                played = tokio::time::timeout(LAST_WORDS, played) => played.unwrap_or_else(|_| ended()),
            }
        }
    })
    .await;
    let elapsed = begun.elapsed();

    let Recorded { events, tools, took, overflow } = log.end();
    let elapsed = took.unwrap_or(elapsed);
    for event in &events {
        // As in ADK, a fragment changes nothing.
        if !event.partial && !event.state_delta.is_empty() {
            transcript.state.extend(event.state_delta.clone());
        }
    }
    let what = conditions.what().turn(number).doing("reading the agent's details");
    let details = not_async(conditions.timeout, &what, || agent.details());
    let mut invocation = invocation(&message.content, &events)
        .with_invocation_id(format!("turn-{number}"))
        .with_creation_timestamp(started_at.as_secs_f64())
        .with_duration(round_3(elapsed.as_secs_f64()));
    invocation.tool_duration = (!tools.is_zero()).then(|| round_3(tools.as_secs_f64()));
    invocation.rubrics = message.rubrics.cloned();
    invocation.app_details =
        details.as_ref().ok().filter(|details| !details.agent_details.is_empty()).cloned();
    let is_unreached = played.as_ref().is_err_and(Fault::is_unreachable);
    let is_late = matches!(played, Err(Fault::TimedOut(_)));
    let verdict = overflow
        .map_or_else(
            || check(played, &events, &invocation, &transcript.turns, log),
            |overflow| Err(overflow.to_string()),
        )
        .and_then(|()| details.map(drop).map_err(|fault| format!("reading the agent's details: {fault}")));
    if let Some(golden) = &golden {
        golden.check_recorded(invocation.tool_calls(), verdict.is_err());
    }
    let waiting = golden.as_ref().filter(|_| is_late).map(GoldenTools::waiting).unwrap_or_default();
    transcript.turns.push(TurnRecord { events, invocation });
    if let Some(missed) = missed_tool(log, 0).map(|missed| RunError { turn: Some(number), ..missed }) {
        return Err(missed);
    }
    if let Some(missed) = missed_model(log) {
        return Err(missed);
    }
    verdict.map_err(|mut message| {
        for fault in waiting {
            message.push_str(&format!("; {fault}"));
        }
        RunError { unreachable: is_unreached, ..agent_error(Some(number), &message) }
    })
}

/// The time in which an agent may end its turn by itself, once a call of a model got no answer.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Ends once a tool would run.
async fn golden_halted(golden: Option<&GoldenTools>) {
    match golden {
        Some(golden) => golden.halted().await,
        None => std::future::pending().await,
    }
}

/// Ends once a call of a model was not recorded.
async fn models_halted(models: Option<&ModelCalls>) {
    match models {
        Some(models) => models.halted().await,
        None => std::future::pending().await,
    }
}

/// Fails if the turn failed, reported an error of its model, did something that is not scored, or answered nothing.
fn check(
    played: Result<(), Fault>,
    events: &[Event],
    invocation: &Invocation,
    earlier: &[TurnRecord],
    log: &Log,
) -> Result<(), String> {
    played.map_err(|fault| fault.to_string())?;
    if let Some(event) = events.iter().find(|event| event.error_code.is_some()) {
        let code = event.error_code.as_deref().unwrap_or_default();
        let message = event.error_message.as_deref().unwrap_or("(no message)");
        return Err(format!("`{}` reported model error {code}: {message}", event.author));
    }
    check_recorded(events, invocation, earlier, log.how_to_answer())?;
    for note in unscored::notes(events) {
        log.note(note);
    }
    Ok(())
}

/// Fails if a turn did something that is not scored, or answered nothing.
fn check_recorded(
    events: &[Event],
    invocation: &Invocation,
    earlier: &[TurnRecord],
    how_to_answer: &str,
) -> Result<(), String> {
    unscored::check(events, earlier.iter().flat_map(|turn| turn.invocation.tool_calls()))?;
    let answer = invocation.final_response.as_ref();
    if !answer.is_some_and(|answer| answer.parts().iter().any(shows_something)) {
        let what = match answer {
            Some(_) => "nothing that a user would see",
            None => "nothing",
        };
        return Err(format!(
            "the agent answered {what} ({} and {} recorded); {how_to_answer}",
            count(events.len(), "event"),
            count(invocation.tool_calls().count(), "tool call"),
        ));
    }
    Ok(())
}

/// The error of the first turn without events that would be an error if it were played. A turn without events
/// was given by the caller, not played.
pub(crate) fn check_given(turns: &[TurnRecord]) -> Option<RunError> {
    let mut given = turns.iter().enumerate().filter(|(_, turn)| turn.events.is_empty());
    given.find_map(|(at, TurnRecord { invocation, .. })| {
        let events = events_of(invocation);
        let checked = check_recorded(
            &events,
            invocation,
            &turns[..at],
            "the answer is the `final_response` of the turn",
        );
        checked.err().map(|message| agent_error(Some(at + 1), &message))
    })
}

fn agent_error(turn: Option<usize>, message: &str) -> RunError {
    RunError::new(Role::Agent, turn, if message.trim().is_empty() { "(no message)" } else { message })
}

fn agent_fault(turn: Option<usize>, what: &str, fault: &Fault) -> RunError {
    RunError { unreachable: fault.is_unreachable(), ..agent_error(turn, &format!("{what}{fault}")) }
}

/// The number of turns of a case; `None` if a simulated user decides when the conversation ends.
pub(crate) fn turns_of(case: &EvalCase) -> Option<usize> {
    case.conversation_scenario.is_none().then_some(case.conversation.len())
}

/// The session of a case. Names that the case does not set are the runner's defaults.
fn session(case: &EvalCase, conditions: &Conditions<'_>) -> Session {
    let input = case.session_input.as_ref();
    let or = |text: Option<&String>, default: &str| {
        text.filter(|text| !text.is_empty()).map_or_else(|| default.to_owned(), Clone::clone)
    };
    let mut session = Session::default();
    session.app_name = or(input.map(|input| &input.app_name), conditions.app_name);
    session.user_id = or(input.map(|input| &input.user_id), conditions.user_id);
    session.session_id = input
        .and_then(|input| input.session_id.clone())
        .filter(|id| !id.trim().is_empty())
        .unwrap_or_else(|| fresh_id("eval-session"));
    session.state = input.map_or_else(Map::new, |input| input.state.clone());
    session.eval_id = Some(case.eval_id.clone());
    session.turns = turns_of(case);
    session
}
