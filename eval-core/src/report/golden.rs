//! A golden with what happened in a run in place of its expectations.

use std::collections::HashMap;

use eval_format::expect::{Rules, TurnRules};
use eval_format::{
    ArgsMatch, Content, EvalCase, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map,
    MatchType, Part,
};

use crate::score::align::Pair;
use crate::score::ruled::RuledCalls;
use crate::transcript::Transcript;

/// The golden with what happened in a run, in the form that the golden has; `None` if the run has other turns, or none.
///
/// Calls that the rules accept are no change: the golden keeps its own. `new_answers` says that turns which expect no answer get
/// one. They do in any case if the golden expects nothing at all.
pub fn with_run(golden: &EvalCase, run: &Transcript, rules: &Rules, new_answers: bool) -> Option<EvalCase> {
    if golden.conversation.is_empty() || golden.conversation.len() != run.turns.len() {
        return None;
    }
    let mut wanted = Wanted::of(golden);
    wanted.new_answers |= new_answers;
    let mut case = golden.clone();
    for (at, (turn, record)) in case.conversation.iter_mut().zip(&run.turns).enumerate() {
        wanted.turn(turn, turn_of_set(&record.invocation), rules.turn(at));
    }
    let now = |key: &str| Some((key.to_owned(), run.state.get(key)?.clone()));
    case.final_session_state = golden.final_session_state.keys().filter_map(now).collect();
    Some(case)
}

/// A turn in the form of a set, without the fields for metrics alone and without empty events.
pub fn turn_of_set(recorded: &Invocation) -> Invocation {
    let mut turn = recorded.clone();
    (turn.rubrics, turn.app_details) = (None, None);
    (turn.duration, turn.model_duration, turn.tool_duration) = (None, None, None);
    if let Some(IntermediateData::Events(events)) = &mut turn.intermediate_data {
        events.retain(|event| {
            let says = event.content.as_ref().is_some_and(|content| !content.parts().is_empty());
            says || event.grounding_metadata.is_some()
        });
    }
    turn
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
        let (mut before, mut after) = (ComparedParts::of(turn, self), ComparedParts::of(&now, self));
        if is_kept {
            (before.calls, after.calls) = (Vec::new(), Vec::new());
        }
        if before != after {
            turn.intermediate_data = now.intermediate_data;
        }
    }

    /// A run's turn in the golden's form. Calls of the golden keep their ids.
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

/// The parts of a turn, without its answer, that metrics compare.
#[derive(PartialEq)]
struct ComparedParts<'t> {
    calls: Vec<(Option<&'t str>, Option<&'t Map>)>,
    results: Vec<(Option<&'t str>, Option<&'t Map>)>,
    texts: Vec<String>,
}

impl<'t> ComparedParts<'t> {
    fn of(turn: &'t Invocation, wanted: Wanted) -> Self {
        let results = turn.tool_responses().filter(|_| wanted.results);
        Self {
            calls: turn.tool_calls().map(|call| (call.name.as_deref(), call.args.as_ref())).collect(),
            results: results.map(|it| (it.name.as_deref(), it.response.as_ref())).collect(),
            texts: if wanted.texts { turn.intermediate_texts() } else { Vec::new() },
        }
    }
}
