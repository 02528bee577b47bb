//! A golden turn with some of the calls of a run: in both of ADK's forms, a call with its response.

use std::collections::BTreeMap;

use eval_core::metric::arithmetic::Answered;
use eval_format::{
    Content, FunctionCall, FunctionResponse, IntermediateData, Invocation, InvocationEvent, Map,
};

use super::lines::{CallLine, arguments};

/// The side of a line that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Take {
    Golden,
    Run,
    /// The golden call with these arguments of the run.
    Arguments(Vec<String>),
}

/// A place in events: the event, and the part of its content.
type Place = (usize, usize);

/// The merged events of a turn: for each line, by its number, those that `take` names.
pub(super) fn merged(
    golden: &Invocation,
    run: &Invocation,
    lines: &[CallLine],
    take: impl Fn(usize) -> Take,
) -> Option<IntermediateData> {
    let takes: Vec<(CallLine, Take)> = (0..).map(take).zip(lines).map(|(take, line)| (*line, take)).collect();
    if takes.iter().all(|(line, take)| matches!(line, CallLine::Kept(_)) || *take == Take::Golden) {
        return golden.intermediate_data.clone();
    }
    let sides = Sides {
        golden: golden.tool_calls().collect(),
        run: run.tool_calls().collect(),
        responses: responses(golden),
        new_responses: responses(run),
    };
    let is_events = match (&golden.intermediate_data, &run.intermediate_data) {
        (Some(IntermediateData::Tools { tool_uses, .. }), _) if !tool_uses.is_empty() => false,
        (Some(IntermediateData::Events(events)), _) if !events.is_empty() => true,
        (_, Some(IntermediateData::Events(_))) => true,
        _ => false,
    };
    Some(if is_events { events(golden, run, &sides, &takes) } else { flat(golden, &sides, &takes) })
}

struct Sides<'t> {
    golden: Vec<&'t FunctionCall>,
    run: Vec<&'t FunctionCall>,
    /// The response to each call.
    responses: Vec<Option<&'t FunctionResponse>>,
    new_responses: Vec<Option<&'t FunctionResponse>>,
}

impl Sides<'_> {
    /// The golden call as it is now; `None` if it is dropped.
    fn call(&self, line: CallLine, take: &Take) -> Option<FunctionCall> {
        match (line, take) {
            (CallLine::Missing(_), Take::Run) | (CallLine::Extra(_), Take::Golden) => None,
            (CallLine::Changed(golden, run), Take::Run) => {
                let mut call = self.golden[golden].clone();
                call.args.clone_from(&self.run[run].args);
                Some(call)
            }
            (CallLine::Changed(golden, run), Take::Arguments(keys)) => {
                let mut call = self.golden[golden].clone();
                call.args = Some(with_arguments(self.golden[golden], self.run[run], keys));
                Some(call)
            }
            (CallLine::Extra(run), _) => Some(self.new_call(run)),
            (CallLine::Kept(golden) | CallLine::Changed(golden, _) | CallLine::Missing(golden), _) => {
                Some(self.golden[golden].clone())
            }
        }
    }

    /// A call that only the run has. The golden, in which responses are found by ids, does not have its id.
    fn new_call(&self, run: usize) -> FunctionCall {
        let mut call = self.run[run].clone();
        call.id = call.id.map(|id| self.free(id));
        call
    }

    fn new_response(&self, run: usize) -> Option<FunctionResponse> {
        let mut response = self.new_responses[run]?.clone();
        response.id = response.id.map(|id| self.free(id));
        Some(response)
    }

    fn free(&self, id: String) -> String {
        let is_taken = |id: &str| self.golden.iter().any(|call| call.id.as_deref() == Some(id));
        if is_taken(&id) { format!("{id}-new") } else { id }
    }

    /// The response that takes the place of a golden one: the call has other arguments, and got another answer.
    fn other_response(&self, line: CallLine, take: &Take) -> Option<(usize, Map)> {
        let CallLine::Changed(golden, run) = line else { return None };
        let new = self.new_responses[run].filter(|_| *take == Take::Run)?;
        Some((golden, new.response.clone()?))
    }
}

/// The response to each call of a turn.
fn responses(turn: &Invocation) -> Vec<Option<&FunctionResponse>> {
    let answered = Answered::in_turn(turn);
    let of = |call: &FunctionCall| {
        answered.iter().find(|it| it.call.is_some_and(|of| std::ptr::eq(of, call))).map(|it| it.response)
    };
    turn.tool_calls().map(of).collect()
}

fn with_arguments(golden: &FunctionCall, run: &FunctionCall, keys: &[String]) -> Map {
    let mut args = golden.args.clone().unwrap_or_default();
    for (key, _, new) in
        arguments(golden, run).into_iter().filter(|(key, ..)| keys.iter().any(|it| it == key))
    {
        match new {
            Some(value) => drop(args.insert(key, value.clone())),
            None => drop(args.remove(key)),
        }
    }
    args
}

fn flat(golden: &Invocation, sides: &Sides<'_>, takes: &[(CallLine, Take)]) -> IntermediateData {
    let (mut uses, mut results, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(IntermediateData::Tools { tool_responses, intermediate_responses, .. }) =
        &golden.intermediate_data
    {
        results = tool_responses.iter().cloned().map(Some).collect();
        texts.clone_from(intermediate_responses);
    }
    let all: Vec<&FunctionResponse> = golden.tool_responses().collect();
    let place = |golden: usize| {
        let response = sides.responses[golden]?;
        all.iter().position(|it| std::ptr::eq(*it, response))
    };
    let mut inserted: BTreeMap<usize, Vec<FunctionResponse>> = BTreeMap::new();
    let mut next = 0;
    for (line, take) in takes {
        uses.extend(sides.call(*line, take));
        match *line {
            CallLine::Missing(golden) if *take == Take::Run => {
                if let Some(at) = place(golden) {
                    results[at] = None;
                }
            }
            CallLine::Kept(golden) | CallLine::Changed(golden, _) | CallLine::Missing(golden) => {
                next = place(golden).map_or(next, |at| at + 1);
            }
            CallLine::Extra(run) if *take == Take::Run => {
                inserted.entry(next).or_default().extend(sides.new_response(run));
            }
            CallLine::Extra(_) => {}
        }
        if let Some((golden, response)) = sides.other_response(*line, take)
            && let Some(result) = place(golden).and_then(|at| results[at].as_mut())
        {
            result.response = Some(response);
        }
    }
    let mut tool_responses = Vec::new();
    for (at, result) in results.into_iter().map(Some).chain([None]).enumerate() {
        tool_responses.extend(inserted.remove(&at).unwrap_or_default());
        tool_responses.extend(result.flatten());
    }
    IntermediateData::Tools { tool_uses: uses, tool_responses, intermediate_responses: texts }
}

fn events(
    golden: &Invocation,
    run: &Invocation,
    sides: &Sides<'_>,
    takes: &[(CallLine, Take)],
) -> IntermediateData {
    let places = Places::of(golden, &sides.responses);
    let new_places = Places::of(run, &sides.new_responses);
    let mut events: Vec<InvocationEvent> = golden.events().to_vec();
    let mut dropped: Vec<Place> = Vec::new();
    let mut inserted: BTreeMap<usize, Vec<InvocationEvent>> = BTreeMap::new();
    // A call before all others comes before the first of them.
    let mut next = places.calls.first().map_or(events.len(), |(event, _)| *event);
    for (line, take) in takes {
        match *line {
            CallLine::Missing(golden) if *take == Take::Run => {
                dropped.push(places.calls[golden]);
                dropped.extend(places.responses[golden]);
            }
            CallLine::Kept(golden) | CallLine::Changed(golden, _) | CallLine::Missing(golden) => {
                let (event, part) = places.calls[golden];
                if let Some(part) = part_of(&mut events, (event, part)) {
                    part.function_call = sides.call(*line, take);
                }
                next = places.responses[golden].map_or(event, |(of, _)| of.max(event)) + 1;
            }
            CallLine::Extra(at) if *take == Take::Run => {
                let mut new = alone(run.events(), new_places.calls[at]);
                let parts = new.content.iter_mut().flat_map(|content| &mut content.parts).flatten();
                parts.for_each(|part| part.function_call = Some(sides.new_call(at)));
                let result = new_places.responses[at].map(|place| {
                    let mut event = alone(run.events(), place);
                    let parts = event.content.iter_mut().flat_map(|content| &mut content.parts).flatten();
                    parts.for_each(|part| part.function_response = sides.new_response(at));
                    event
                });
                inserted.entry(next).or_default().extend([new].into_iter().chain(result));
            }
            CallLine::Extra(_) => {}
        }
        if let Some((golden, response)) = sides.other_response(*line, take)
            && let Some(result) = places.responses[golden]
                .and_then(|place| part_of(&mut events, place)?.function_response.as_mut())
        {
            result.response = Some(response);
        }
    }
    dropped.sort_unstable();
    for (event, part) in dropped.into_iter().rev() {
        if let Some(parts) = events[event].content.as_mut().and_then(|content| content.parts.as_mut()) {
            parts.remove(part);
        }
    }
    let is_left = |at: usize, event: &InvocationEvent| {
        let had_parts =
            golden.events()[at].content.as_ref().is_some_and(|content| !content.parts().is_empty());
        !had_parts || event.content.as_ref().is_some_and(|content| !content.parts().is_empty())
    };
    let mut all = Vec::new();
    for (at, event) in events.into_iter().map(Some).chain([None]).enumerate() {
        all.extend(inserted.remove(&at).unwrap_or_default());
        all.extend(event.filter(|event| is_left(at, event)));
    }
    IntermediateData::Events(all)
}

/// The places of calls and of their responses in the events of a turn.
struct Places {
    calls: Vec<Place>,
    responses: Vec<Option<Place>>,
}

impl Places {
    fn of(turn: &Invocation, responses: &[Option<&FunctionResponse>]) -> Self {
        let parts = turn.events().iter().enumerate().flat_map(|(event, it)| {
            let parts = it.content.as_ref().map(Content::parts).unwrap_or_default();
            parts.iter().enumerate().map(move |(at, part)| ((event, at), part))
        });
        let parts: Vec<_> = parts.collect();
        let calls = parts.iter().filter(|(_, part)| part.function_call.is_some()).map(|(place, _)| *place);
        let of = |response: Option<&FunctionResponse>| {
            let response = response?;
            let is_it = |part: &eval_format::Part| {
                part.function_response.as_ref().is_some_and(|it| std::ptr::eq(it, response))
            };
            parts.iter().find(|(_, part)| is_it(part)).map(|(place, _)| *place)
        };
        Self { calls: calls.collect(), responses: responses.iter().copied().map(of).collect() }
    }
}

fn part_of(events: &mut [InvocationEvent], (event, part): Place) -> Option<&mut eval_format::Part> {
    events.get_mut(event)?.content.as_mut()?.parts.as_mut()?.get_mut(part)
}

/// An event with one of its parts alone.
fn alone(events: &[InvocationEvent], (event, part): Place) -> InvocationEvent {
    let mut event = events[event].clone();
    if let Some(parts) = event.content.as_mut().and_then(|content| content.parts.as_mut()) {
        *parts = vec![parts[part].clone()];
    }
    event
}
