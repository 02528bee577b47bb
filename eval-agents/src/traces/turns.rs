//! Turns: the user's message, the events, and the answer.

mod model_calls;
mod tool_calls;

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use super::anchors::Analysis;
use super::conversation::{Turn, Usage};
use super::gap::{Gap, GapKind};
use super::message::Response;
use super::view::{Class, Input, OTHER_ERROR, Output, Span, Status};
use model_calls::ModelCall;
use tool_calls::SpanTool;

/// A turn with the calls that it was made from. They are needed to join it with a turn that continues it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) turn: Turn,
    pub(super) users: Box<[Arc<str>]>,
    /// Model calls by start time; calls of joined turns come last.
    calls: Vec<ModelCall>,
    /// The index of the call that ended last.
    last_call: Option<usize>,
    tools: Vec<SpanTool>,
    /// The names of the calls in the messages of the turn's span itself.
    named_calls: Vec<String>,
    /// Whether no agent or workflow holds it.
    is_of_root: bool,
    /// The gaps, except the gaps of tool calls: [`end`](Self::end) adds them.
    pub(super) gaps: Vec<Gap>,
    /// The number of leading gaps that are known not to be about a missing answer.
    answered: usize,
}

pub(super) fn find(analysis: &Analysis, trace: &str) -> Vec<Found> {
    analysis.anchors.iter().map(|(anchor, members)| turn(analysis, trace, *anchor, members)).collect()
}

fn turn(analysis: &Analysis, trace: &str, anchor: usize, members: &[usize]) -> Found {
    let spans = || members.iter().map(|number| &analysis.tree.spans[*number]);
    let span = &analysis.tree.spans[anchor];
    let view = span.view.as_deref();
    let mut gaps: Vec<Gap> = spans().flat_map(Span::gaps).collect();
    let calls = model_calls::find(analysis, members);
    let without_content = members.iter().any(|number| {
        let is_inference = analysis.nodes[*number].class == Some(Class::Inference);
        let view = analysis.tree.spans[*number].view.as_deref();
        is_inference && view.is_some_and(|view| view.adk_without_content)
    });
    let tools = tool_calls::of_spans(analysis, members, without_content);

    let first_input = calls.iter().find_map(|call| call.input.as_ref());
    let input = view.and_then(|view| view.model().input.get()).or(first_input);
    let own: Vec<&ModelCall> = calls.iter().filter(|call| !call.is_delegated).collect();
    let own = if own.is_empty() { calls.iter().collect() } else { own };
    let whole = view.and_then(|view| view.model().output.get());
    let (answer, intermediate) = said(whole, &own);
    let named_calls = whole.iter().flat_map(|output| &*output.calls).map(|call| call.name.clone()).collect();
    let error = error_of(span, &own, answer.is_some());
    let users = input.map(|input| input.users.clone()).unwrap_or_default();
    let user = (!users.is_empty()).then(|| users.concat());
    note_user(&mut gaps, user.is_some(), input, &calls);
    note_outputs(&mut gaps, &own, &tools, answer.as_ref(), error.is_some());
    if calls.is_empty() && tools.is_empty() && input.is_some_and(|input| input.ends_with_result) {
        let message =
            format!("the messages of the span {} end with a tool's result, and no call has a span", span.id);
        gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
    }
    let is_agentic =
        |number: usize| matches!(analysis.nodes[number].class, Some(Class::Agent | Class::Workflow));
    let is_of_root = !is_agentic(anchor);
    if is_of_root && has_several_turns(&own) {
        let message = format!("the span {} holds model calls of several turns", span.id);
        gaps.push(Gap::new(GapKind::SeveralTurns, message));
    }

    let named = members.iter().filter(|number| is_agentic(**number));
    let named = named.filter_map(|number| analysis.tree.spans[*number].view.as_ref()?.agent.as_deref());
    let agents: BTreeSet<&str> = named
        .chain(calls.iter().filter_map(|call| call.told.agent.as_deref()))
        .chain(tools.iter().filter_map(|tool| tool.call.agent.as_deref()))
        .collect();
    let agent = view.and_then(|view| view.agent.as_deref()).filter(|_| !is_of_root);
    let turn = Turn {
        trace_id: trace.to_owned(),
        span_id: span.id.to_string(),
        agent: agent.or_else(|| calls.iter().find_map(|call| call.told.agent.as_deref())).map(str::to_owned),
        agents: agents.into_iter().map(str::to_owned).collect(),
        user,
        intermediate,
        answer,
        usage: calls.iter().map(|call| call.told.usage).fold(Usage::default(), Usage::plus),
        // If the span that holds the turn has no times, the spans inside it do not tell its duration.
        start_ns: span.start.and(spans().filter_map(|span| span.start).min()),
        end_ns: span.end.and(spans().filter_map(|span| span.end).max()),
        error,
        model_calls: Vec::new(),
        calls: Vec::new(),
        gaps: Vec::new(),
    };
    note_time(&mut gaps, &turn);
    let last_call = (0..calls.len()).max_by_key(|at| calls[*at].ended());
    Found { turn, users, is_of_root, calls, last_call, tools, named_calls, gaps, answered: 0 }
}

/// Whether the user says something after the answer of a model call.
fn has_several_turns(own: &[&ModelCall]) -> bool {
    let mut answered: HashSet<u64> = HashSet::new();
    own.iter().any(|call| {
        let goes_on = call.input.as_ref().is_some_and(|input| {
            !input.ends_with_result && input.history.beginnings().any(|(point, _)| answered.contains(&point))
        });
        let is_answer = call.output.as_ref().is_some_and(|output| output.calls.is_empty());
        answered.extend(call.tail().filter(|_| is_answer));
        goes_on
    })
}

/// The answer, and the texts before it. The answer is the output of the turn's span, else of the model call with text that
/// ended last.
fn said(whole: Option<&Output>, own: &[&ModelCall]) -> (Option<String>, Vec<String>) {
    let mut speaking: Vec<&Output> = Vec::new();
    let mut last = None;
    for call in own {
        let Some(output) = call.output.as_ref().filter(|output| !output.texts.is_empty()) else { continue };
        if last.as_ref().is_none_or(|(_, ended)| call.ended() > *ended) {
            last = Some((speaking.len(), call.ended()));
        }
        speaking.push(output);
    }
    let answer = match (whole, last) {
        (Some(whole), _) => whole.text(),
        (None, last) => last.and_then(|(at, _)| speaking.remove(at).text()),
    };
    let texts = speaking.into_iter().flat_map(|output| &*output.texts);
    let mut intermediate: Vec<String> = texts.map(ToString::to_string).collect();
    if whole.is_some() && intermediate.last() == answer.as_ref() {
        intermediate.pop();
    }
    (answer, intermediate)
}

/// The error of a turn: its span's, or the last model call's if there is no answer.
fn error_of(span: &Span, own: &[&ModelCall], is_answered: bool) -> Option<String> {
    let code = span.view.as_ref().and_then(|view| view.error_type.as_deref());
    if code.is_some() || span.status == Status::Error {
        return Some(code.unwrap_or(OTHER_ERROR).to_owned());
    }
    let last = own.iter().max_by_key(|call| call.ended()).filter(|_| !is_answered)?;
    last.told.error.clone()
}

fn note_time(gaps: &mut Vec<Gap>, turn: &Turn) {
    if turn.duration().is_some() || gaps.iter().any(|gap| gap.kind == GapKind::NoTime) {
        return;
    }
    let is_timed = turn.start_ns.is_some() && turn.end_ns.is_some();
    let why = if is_timed { "ends before it begins" } else { "has no time of its beginning or end" };
    gaps.push(Gap::new(GapKind::NoTime, format!("the span {}, which holds the turn, {why}", turn.span_id)));
}

fn note_user(gaps: &mut Vec<Gap>, is_known: bool, input: Option<&Input>, calls: &[ModelCall]) {
    if !is_known {
        let unreadable = calls.iter().any(|call| call.has_unreadable_input);
        let (kind, why) = if unreadable {
            (
                GapKind::Unreadable,
                "the messages that were sent are cut, no JSON, or have a key twice: what the user said is not known",
            )
        } else {
            (GapKind::UserNotCaptured, "what the user said was not captured")
        };
        gaps.push(Gap::new(kind, why));
    }
    if let Some(kind) = input.and_then(|input| input.unknown.as_deref()) {
        gaps.push(Gap::new(
            GapKind::UnknownPart,
            format!("the user's message has a part of an unknown kind: {kind}"),
        ));
    }
    if input.is_some_and(|input| input.has_data) {
        gaps.push(Gap::new(GapKind::NotText, "the user's message has data beside its text"));
    }
}

fn note_outputs(
    gaps: &mut Vec<Gap>,
    own: &[&ModelCall],
    tools: &[SpanTool],
    answer: Option<&String>,
    failed: bool,
) {
    for call in own {
        if let Some(kind) = call.output.as_ref().and_then(|output| output.unknown.as_deref()) {
            let message = format!("the model call {} put out a part of an unknown kind: {kind}", call.span);
            gaps.push(Gap::new(GapKind::UnknownPart, message));
        }
        if call.output.as_ref().is_some_and(|output| output.has_data) {
            gaps.push(Gap::new(
                GapKind::NotText,
                format!("the model call {} put out data beside text", call.span),
            ));
        }
    }
    let is_lost = |call: &ModelCall| call.output.is_none() && call.told.error.is_none();
    for call in own.iter().filter(|call| is_lost(call) && call.has_unreadable_output) {
        let message =
            format!("what the model call {} put out is cut, no JSON, or has a key twice", call.span);
        gaps.push(Gap::new(GapKind::Unreadable, message));
    }
    // A call asked for tools if its finish reason says so, or if it has none and is not the last call.
    // Without tool spans these tool calls are lost.
    let hides_calls = |(at, call): (usize, &&ModelCall)| {
        is_lost(call)
            && !call.has_unreadable_output
            && (call.asks_for_tools() || at + 1 < own.len() && call.finish.is_empty())
    };
    let shows_none = |call: &&&ModelCall| {
        call.asks_for_tools() && call.output.as_ref().is_some_and(|output| output.calls.is_empty())
    };
    if tools.is_empty()
        && let Some(call) = own.iter().find(shows_none)
    {
        let message =
            format!("the model call {} ended to call tools, and what it put out has no call", call.span);
        gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
    }
    if tools.is_empty()
        && let Some((_, call)) = own.iter().enumerate().find(|it| hides_calls(*it))
    {
        let message =
            format!("what the model call {} put out was not captured, and no tool has a span", call.span);
        gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
    }
    let is_redacted = |call: &ModelCall| {
        call.output
            .as_ref()
            .is_some_and(|output| output.is_redacted && output.texts.is_empty() && output.calls.is_empty())
    };
    let last = own.iter().max_by_key(|call| call.ended());
    let is_last_lost = last.is_none_or(|call| is_lost(call) || is_redacted(call));
    if answer.is_none() && is_last_lost && !failed {
        gaps.push(Gap::new(GapKind::AnswerNotCaptured, "what the agent answered was not captured"));
    } else if answer.is_some()
        && last.is_some_and(|call| is_lost(call))
        // Otherwise the answer comes from the span of the turn.
        && own.iter().any(|call| call.text().as_ref() == answer)
    {
        let message = "what the last model call put out was not captured: the answer may be another one";
        gaps.push(Gap::new(GapKind::AnswerNotCaptured, message));
    }
}

impl Found {
    pub(super) fn order(&self) -> (Option<NonZeroU64>, &str) {
        (self.turn.start_ns, &self.turn.span_id)
    }

    pub(super) fn end(self) -> Turn {
        let Self { mut turn, users, mut calls, tools, named_calls, mut gaps, .. } = self;
        if users.len() > 1 {
            let message = format!("what the user said is {} messages in a row, put together", users.len());
            gaps.push(Gap::new(GapKind::SeveralMessages, message));
        }
        calls.sort_by_key(|call| (call.start, call.end));
        turn.agents.sort();
        turn.agents.dedup();
        turn.calls = tool_calls::of_turn(&tools, &calls, &mut gaps);
        if let Some(name) = named_calls.iter().find(|name| turn.calls.iter().all(|call| call.name != **name))
        {
            let message = format!(
                "the messages of the span {} have a call of `{name}`, and neither a model call nor a tool's span has it",
                turn.span_id
            );
            gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
        }
        turn.model_calls = calls.into_iter().map(|call| call.told).collect();
        let mut seen = HashSet::new();
        gaps.retain(|gap| seen.insert(gap.clone()));
        turn.gaps = gaps;
        turn
    }

    fn last_call(&self) -> Option<&ModelCall> {
        self.last_call.map(|at| &self.calls[at])
    }

    pub(super) fn input(&self) -> Option<&Input> {
        self.own().next()?.input.as_ref()
    }

    fn own(&self) -> impl Iterator<Item = &ModelCall> {
        self.calls.iter().filter(|call| !call.is_delegated)
    }

    /// The hash of all that was said in the conversation up to the end of this turn, if all was captured.
    pub(super) fn tail(&self) -> Option<u64> {
        self.own().max_by_key(|call| call.ended())?.tail()
    }

    /// The results in the input of the last model call, including results of earlier turns.
    pub(super) fn results(&self) -> &[Arc<Response>] {
        self.last_call().and_then(|call| call.input.as_ref()).map(|input| &*input.results).unwrap_or_default()
    }

    /// The ids of the tool calls that the last model call asked for.
    pub(super) fn asked(&self) -> impl Iterator<Item = &str> {
        let asked = self.last_call().and_then(|call| call.output.as_ref()).map(|output| &*output.calls);
        asked.unwrap_or_default().iter().filter_map(|call| call.id.as_deref())
    }

    /// The ids of the results that it begins with: the user said nothing after them.
    pub(super) fn answered(&self) -> impl Iterator<Item = &str> {
        let begins = self.input().map(Input::last_results).unwrap_or_default();
        begins.iter().filter_map(|result| result.id.as_deref())
    }

    pub(super) fn begins_with_results(&self) -> bool {
        self.input().is_some_and(|input| input.ends_with_result)
    }

    /// Whether this turn continues `previous`, decided without ids: it begins with results, and `previous`
    /// asked for tools. If both have ids, the ids decide instead.
    ///
    /// Where only providers are traced, each model call of a turn has a trace of its own.
    pub(super) fn continues_without_ids(&self, previous: &Self) -> bool {
        let asked = previous.last_call().and_then(|call| call.output.as_ref());
        let has_ids = previous.asked().next().is_some() && self.answered().next().is_some();
        self.is_of_root
            && self.begins_with_results()
            && !has_ids
            && asked.is_some_and(|output| !output.calls.is_empty())
    }

    /// Removes the user's messages of `previous`, if they had no answer and the model was sent them again.
    pub(super) fn forget_users_of(&mut self, previous: &Self) {
        let before = previous.input().and_then(|input| input.history.whole());
        let new = before.and_then(|before| self.input()?.history.after(before));
        if let Some(new) = new.filter(|new| *new < self.users.len()) {
            self.users = self.users[self.users.len() - new..].into();
            self.turn.user = Some(self.users.concat());
        }
    }

    pub(super) fn may_continue(&self, previous: &Self) -> bool {
        let (Some(first), Some(last)) = (self.calls.first(), previous.last_call()) else { return false };
        self.is_of_root && first.input.is_none() && last.asks_for_tools()
    }

    /// Adds a turn that continues this one. The time depends on `next` alone, as thousands may be joined.
    pub(super) fn join(&mut self, mut next: Self) {
        let turn = &mut self.turn;
        let later = std::mem::take(&mut next.turn);
        if later.answer.is_some() {
            turn.intermediate.extend(turn.answer.take());
            turn.answer = later.answer;
            let open = self.gaps.split_off(self.answered);
            self.gaps.extend(open.into_iter().filter(|gap| gap.kind != GapKind::AnswerNotCaptured));
            self.answered = self.gaps.len();
        }
        turn.intermediate.extend(later.intermediate);
        if turn.user.is_some() {
            next.gaps.retain(|gap| gap.kind != GapKind::UserNotCaptured);
        } else {
            turn.user = later.user;
            self.users = std::mem::take(&mut next.users);
        }
        turn.agent = turn.agent.take().or(later.agent);
        turn.agents.extend(later.agents);
        turn.usage = turn.usage.plus(later.usage);
        turn.start_ns = turn.start_ns.zip(later.start_ns).map(|(one, other)| one.min(other));
        turn.end_ns = turn.end_ns.zip(later.end_ns).map(|(one, other)| one.max(other));
        turn.error = turn.error.take().or(later.error);
        if next.last_call().map(ModelCall::ended) >= self.last_call().map(ModelCall::ended) {
            self.last_call = next.last_call.map(|at| self.calls.len() + at).or(self.last_call);
        }
        self.calls.extend(next.calls);
        self.tools.extend(next.tools);
        self.named_calls.extend(next.named_calls);
        self.gaps.extend(next.gaps);
    }
}
