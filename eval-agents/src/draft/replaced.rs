//! Drafts in place of goldens: the case with what the agent did as its expectations.

use std::collections::HashMap;
use std::fmt;

use eval_core::format::expect::{Rules, TurnRules};
use eval_core::format::{
    ArgsMatch, Content, EvalCase, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map,
    MatchType, Meaning, Part, Problems, Value,
};
use eval_core::metric::arithmetic::{Pair, RuledCalls};
use eval_core::report::Transcript;
use eval_support::secrets::shows_a_mask;
use eval_support::words::count;

use super::{Draft, Origin, masking, played, same};

/// The reason why runs of a case do not take the place of its expectations.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotReplaced {
    /// There is no run, or one ended in an error.
    #[non_exhaustive]
    Run {
        /// What is wrong with the runs.
        why: String,
    },
    /// The golden has other turns than the runs, or none, as a scenario has.
    Turns,
    /// The runs differ.
    #[non_exhaustive]
    Varied {
        /// What varied.
        what: Vec<String>,
    },
    /// A secret was masked in a part that would be expected, so that no agent could give it.
    #[non_exhaustive]
    Masked {
        /// The part.
        place: String,
    },
    /// The golden expects already what the agent did.
    Unchanged,
    /// The case would have errors.
    Case(Problems),
}

impl fmt::Display for NotReplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { why } => f.write_str(why),
            Self::Turns => f.write_str("the case has other turns than the run"),
            Self::Varied { what } => write!(f, "the runs differ: {}", what.join("; ")),
            Self::Masked { place } => {
                write!(f, "{place}: a secret was masked there, and what was said is lost")
            }
            Self::Unchanged => f.write_str("the case expects already what the agent did"),
            Self::Case(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for NotReplaced {}

impl Draft {
    /// The key of a mark that holds the expectations which the draft replaces.
    pub const GOLDEN_KEY: &'static str = "golden";

    /// A draft that takes the place of a golden: the same case, with what the agent did in all runs as its expectations. The
    /// key `golden` of its mark holds the expectations before.
    ///
    /// Calls and answers are replaced. Tool responses, texts before the answer and keys of the state at the end are replaced
    /// if the golden expects some. A turn without an expected answer gets one if nothing else changes, or if the golden expects
    /// nothing at all. Calls that the rules of the case (`_expect`) accept are no change: the golden keeps its own.
    ///
    /// ```
    /// use eval_agents::draft::{Draft, Origin};
    /// use eval_core::format::{EvalCase, Invocation};
    /// use eval_core::{EvalRunner, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let golden = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
    /// let report = EvalRunner::new().run_case(&golden, || Replay::new([["Clear skies."]])).await?;
    /// let runs: Vec<_> = report.runs.iter().map(|run| &run.transcript).collect();
    /// let draft = Draft::in_place_of(&golden, &runs, Origin::new("run 7"))?;
    /// assert_eq!(draft.case.conversation[0].response_text(), "Clear skies.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_place_of(golden: &EvalCase, runs: &[&Transcript], origin: Origin) -> Result<Self, NotReplaced> {
        let [first, others @ ..] = runs else {
            return Err(NotReplaced::Run { why: "no run of the case came to its end".to_owned() });
        };
        if let Some((at, error)) =
            runs.iter().enumerate().find_map(|(at, run)| Some((at, run.error.as_ref()?)))
        {
            let run = if others.is_empty() { String::new() } else { format!("run {}: ", at + 1) };
            return Err(NotReplaced::Run { why: format!("{run}{error}") });
        }
        let mut wanted = Wanted::of(golden);
        let rules = Rules::of(golden).map_err(NotReplaced::Case)?;
        let mut case = wanted.replaced(golden, first, &rules).ok_or(NotReplaced::Turns)?;
        if changes(golden, &case).is_empty() {
            wanted.new_answers = true;
            case = wanted.replaced(golden, first, &rules).ok_or(NotReplaced::Turns)?;
        }
        let meaning = Meaning::from_case(&case);
        for other in others {
            let other = wanted.replaced(golden, other, &rules).ok_or(NotReplaced::Turns)?;
            if Meaning::from_case(&other) != meaning {
                return Err(NotReplaced::Varied { what: varied(runs) });
            }
        }
        let changes = changes(golden, &case);
        if changes.is_empty() {
            return Err(NotReplaced::Unchanged);
        }
        refuse_masks(golden, &case)?;
        let is_changed = |turn: usize| changes.iter().any(|change| change.turn == Some(turn));
        let mut volatile = super::volatile_of(&case);
        volatile.retain(|volatile| is_changed(volatile.turn));
        let (_, gaps) = played(None, first).unwrap_or_default();
        let before: Value = changes.iter().map(|change| Value::Object(change.before.clone())).collect();
        let origin = origin.with(Self::GOLDEN_KEY, before);
        let draft = Self { case, origin, masked: Vec::new(), volatile, gaps: Vec::new(), varied: Vec::new() };
        Ok(draft.with_gaps(gaps))
    }
}

/// The kinds of expectations that a golden has.
#[expect(clippy::struct_excessive_bools, reason = "a golden has each kind or not, whatever the others")]
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Answers of turns that expect none too.
    new_answers: bool,
    results: bool,
    texts: bool,
    usage: bool,
    thoughts: bool,
    /// Events in order, rather than separate lists.
    events: bool,
}

impl Wanted {
    fn of(golden: &EvalCase) -> Self {
        let turns = || golden.conversation.iter();
        let events = || turns().flat_map(Invocation::events);
        let expects = |turn: &Invocation| turn.final_response.is_some() || turn.tool_calls().next().is_some();
        let answers = || turns().filter_map(|turn| turn.final_response.as_ref());
        Self {
            new_answers: !turns().any(expects),
            results: turns().any(|turn| turn.tool_responses().next().is_some()),
            texts: turns().any(|turn| !turn.intermediate_texts().is_empty()),
            usage: events().any(|event| event.usage_metadata.is_some()),
            thoughts: answers().flat_map(Content::parts).any(is_thought),
            events: events().next().is_some(),
        }
    }

    /// The golden with what happened in a run; `None` if the run has other turns.
    fn replaced(self, golden: &EvalCase, run: &Transcript, rules: &Rules) -> Option<EvalCase> {
        if golden.conversation.is_empty() || golden.conversation.len() != run.turns.len() {
            return None;
        }
        let (happened, _) = played(None, run)?;
        let mut case = golden.clone();
        for (at, (turn, happened)) in case.conversation.iter_mut().zip(happened.conversation).enumerate() {
            self.turn(turn, happened, rules.turn(at));
        }
        let now = |key: &str| Some((key.to_owned(), run.state.get(key)?.clone()));
        case.final_session_state = golden.final_session_state.keys().filter_map(now).collect();
        Some(case)
    }

    fn turn(self, turn: &mut Invocation, happened: Invocation, rules: &TurnRules) {
        let is_kept = accepts(rules, turn, &happened);
        let happened = self.wanted(turn, happened);
        if let Some(answer) = happened.final_response
            && (turn.final_response.is_some() || self.new_answers)
            && turn.final_response.as_ref().is_none_or(|old| !is_same_answer(old, &answer))
        {
            // The role is no expectation: it stays as the golden has it, or does not.
            let mut new = turn.final_response.take().unwrap_or_else(|| answer.clone());
            new.parts = answer.parts;
            turn.final_response = Some(new);
        }
        let mut now = turn.clone();
        now.intermediate_data = happened.intermediate_data;
        let (mut before, mut after) = (Side::of(turn, self), Side::of(&now, self));
        if is_kept {
            (before.calls, after.calls) = (Vec::new(), Vec::new());
        }
        if before != after {
            turn.intermediate_data = now.intermediate_data;
        }
    }

    /// What happened in a turn, in the form and with the kinds that the golden has. Calls of the golden keep their ids.
    fn wanted(self, golden: &Invocation, mut happened: Invocation) -> Invocation {
        let mut calls = Calls::of(golden, self.results);
        if let Some(parts) = happened.final_response.as_mut().and_then(|answer| answer.parts.as_mut()) {
            parts.retain(|part| self.thoughts || !is_thought(part));
            for part in parts {
                part.other.remove("thought_signature");
            }
        }
        let is_flat = match &golden.intermediate_data {
            Some(IntermediateData::Events(_)) => false,
            Some(IntermediateData::Tools { tool_uses, .. }) if !tool_uses.is_empty() => true,
            _ => !self.events,
        };
        if is_flat {
            let tool_uses = happened.tool_calls().map(|call| calls.named(call)).collect();
            let results = happened.tool_responses().filter(|_| self.results);
            let tool_responses = results.map(|result| calls.of_result(result)).collect();
            let texts = happened.events().iter().filter(|_| self.texts);
            let intermediate_responses = texts.filter_map(|event| {
                let parts = event.content.as_ref()?.parts().iter().filter(|part| part.text.is_some());
                let parts: Vec<Part> = parts.filter(|part| !is_thought(part)).cloned().collect();
                (!parts.is_empty()).then(|| (event.author.clone(), parts))
            });
            let intermediate_responses = intermediate_responses.collect();
            let data = IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses };
            happened.intermediate_data = Some(data);
            return happened;
        }
        if let Some(IntermediateData::Events(events)) = &mut happened.intermediate_data {
            for event in events.iter_mut() {
                if !self.usage {
                    event.usage_metadata = None;
                }
                let Some(parts) = event.content.as_mut().and_then(|content| content.parts.as_mut()) else {
                    continue;
                };
                parts.retain_mut(|part| {
                    if let Some(call) = &mut part.function_call {
                        *call = calls.named(call);
                        part.other.remove("thought_signature");
                        return true;
                    }
                    if let Some(result) = &mut part.function_response {
                        *result = calls.of_result(result);
                        return self.results;
                    }
                    self.texts && !is_thought(part)
                });
            }
            events.retain(|event| event.content.as_ref().is_some_and(|content| !content.parts().is_empty()));
        }
        happened
    }
}

/// Whether the rules of a turn accept the calls of a run.
fn accepts(rules: &TurnRules, golden: &Invocation, run: &Invocation) -> bool {
    if rules.is_literal() {
        return false;
    }
    let expected: Vec<&FunctionCall> = golden.tool_calls().collect();
    let actual: Vec<&FunctionCall> = run.tool_calls().collect();
    let calls = RuledCalls::new(&expected, &actual, rules, MatchType::Exact, ArgsMatch::Exact);
    let is_accepted =
        |pair: &Pair| matches!(pair, Pair::Same(..) | Pair::Loosened(..) | Pair::LeftOut(_) | Pair::Other(_));
    calls.align().iter().all(is_accepted)
}

fn is_thought(part: &Part) -> bool {
    part.thought == Some(true)
}

fn is_same_answer(old: &Content, new: &Content) -> bool {
    let seen = |content: &Content| -> Vec<Part> {
        let parts = content.parts().iter().filter(|part| !is_thought(part)).cloned();
        let plain = parts.map(|mut part| {
            part.thought = None;
            part.other.remove("thought_signature");
            part
        });
        plain.collect()
    };
    seen(old) == seen(new)
}

/// The calls of a golden. The ids of calls in a run are mapped to theirs.
struct Calls<'g> {
    golden: Vec<&'g FunctionCall>,
    ids: HashMap<String, Option<String>>,
    /// Whether calls that the golden does not have keep their ids, by which results find them.
    keeps_ids: bool,
}

impl<'g> Calls<'g> {
    fn of(golden: &'g Invocation, keeps_ids: bool) -> Self {
        Self { golden: golden.tool_calls().collect(), ids: HashMap::new(), keeps_ids }
    }

    /// A call of the run: as the golden has it, if it has this call.
    fn named(&mut self, call: &FunctionCall) -> FunctionCall {
        let is_same = |old: &&FunctionCall| old.name == call.name && old.args == call.args;
        let named = match self.golden.iter().position(is_same) {
            Some(at) => self.golden.remove(at).clone(),
            None => {
                let mut new = call.clone();
                new.id = new.id.filter(|_| self.keeps_ids);
                new
            }
        };
        if let Some(id) = &call.id {
            self.ids.insert(id.clone(), named.id.clone());
        }
        named
    }

    fn of_result(&self, result: &FunctionResponse) -> FunctionResponse {
        let mut named = result.clone();
        named.id = named.id.and_then(|id| self.ids.get(&id).cloned().unwrap_or(Some(id)));
        named
    }
}

/// What metrics compare of a turn besides its answer.
#[derive(PartialEq)]
struct Side<'t> {
    calls: Vec<(Option<&'t str>, Option<&'t Map>)>,
    results: Vec<(Option<&'t str>, Option<&'t Map>)>,
    texts: Vec<String>,
}

impl<'t> Side<'t> {
    fn of(turn: &'t Invocation, wanted: Wanted) -> Self {
        let results = turn.tool_responses().filter(|_| wanted.results);
        Self {
            calls: turn.tool_calls().map(|call| (call.name.as_deref(), call.args.as_ref())).collect(),
            results: results.map(|it| (it.name.as_deref(), it.response.as_ref())).collect(),
            texts: if wanted.texts { turn.intermediate_texts() } else { Vec::new() },
        }
    }
}

/// Expectations that were replaced, of a turn or of the session.
struct Change {
    /// From 1.
    turn: Option<usize>,
    /// The expectations before, in ADK's form; `null` where there were none.
    before: Map,
}

fn changes(golden: &EvalCase, case: &EvalCase) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, (old, new)) in golden.conversation.iter().zip(&case.conversation).enumerate() {
        let mut before = Map::new();
        if old.intermediate_data != new.intermediate_data {
            let data = old.intermediate_data.as_ref().map_or(Value::Null, IntermediateData::to_value);
            before.insert("intermediate_data", data);
        }
        if old.final_response != new.final_response {
            before
                .insert("final_response", old.final_response.as_ref().map_or(Value::Null, Content::to_value));
        }
        if !before.is_empty() {
            let mut of_turn = Map::from([("turn", i64::try_from(at + 1).unwrap_or(i64::MAX))]);
            of_turn.extend(before);
            changes.push(Change { turn: Some(at + 1), before: of_turn });
        }
    }
    if golden.final_session_state != case.final_session_state {
        let before = Map::from([("final_session_state", Value::from(golden.final_session_state.clone()))]);
        changes.push(Change { turn: None, before });
    }
    changes
}

/// A golden with what happened in a run, in the form that the golden has. `new_answers` says that turns which expect no answer get
/// one. `None` if the run has other turns.
#[doc(hidden)]
pub fn in_form_of(golden: &EvalCase, run: &Transcript, new_answers: bool) -> Option<EvalCase> {
    let wanted = Wanted::of(golden);
    Wanted { new_answers: wanted.new_answers || new_answers, ..wanted }.replaced(
        golden,
        run,
        &Rules::default(),
    )
}

/// Refuses a case in which a secret was masked, in a text that its golden does not have.
#[doc(hidden)]
pub fn refuse_masks(golden: &EvalCase, case: &EvalCase) -> Result<(), NotReplaced> {
    let is_new =
        |new: Value, old: Value| texts(&new).any(|it| shows_a_mask(it) && !texts(&old).any(|old| old == it));
    for (at, (old, new)) in golden.conversation.iter().zip(&case.conversation).enumerate() {
        if is_new(new.to_value(), old.to_value()) {
            return Err(NotReplaced::Masked { place: format!("turn {}", at + 1) });
        }
    }
    if is_new(case.final_session_state.clone().into(), golden.final_session_state.clone().into()) {
        return Err(NotReplaced::Masked { place: "the state at the end".to_owned() });
    }
    let (_, before) = masking::masked(golden.clone()).map_err(NotReplaced::Case)?;
    let (_, found) = masking::masked(case.clone()).map_err(NotReplaced::Case)?;
    match found.into_iter().find(|masked| !before.contains(masked)) {
        Some(masked) => Err(NotReplaced::Masked { place: masked.to_string() }),
        None => Ok(()),
    }
}

/// The texts in a value, and the keys.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts)),
        Value::Object(map) => Box::new(map.iter().flat_map(|(key, value)| texts(value).chain([key]))),
        _ => Box::new(std::iter::empty()),
    }
}

fn varied(runs: &[&Transcript]) -> Vec<String> {
    what_varied(runs.iter().filter_map(|run| Some(played(None, run)?.0)).collect())
}

/// The differences between what happened in runs, in words.
#[doc(hidden)]
pub fn what_varied(runs: Vec<EvalCase>) -> Vec<String> {
    let all = runs.len();
    let (_, what) = same(runs);
    if what.is_empty() { vec![format!("what happened in {}", count(all, "run"))] } else { what }
}

#[cfg(test)]
mod tests;
