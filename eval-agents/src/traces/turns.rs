//! Turns: what the user said, what was done, and what was answered.

mod model_calls;
mod tool_calls;

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use super::anchors::Analysis;
use super::conversation::{Turn, Usage};
use super::gap::{Gap, GapKind};
use super::view::{Class, Input, OTHER_ERROR, Output, Span, Status};
use model_calls::ModelCall;
use tool_calls::SpanTool;

/// A turn with what it was made of, which is needed to join it with one that continues it.
#[derive(Debug)]
pub(super) struct Found {
    turn: Turn,
    /// In the order of time, but that those of turns that were joined stand behind the others.
    calls: Vec<ModelCall>,
    /// The one that ended last.
    last_call: Option<usize>,
    tools: Vec<SpanTool>,
    /// Whether no agent or workflow holds it.
    is_of_root: bool,
    /// What is not known, apart from what its calls of tools leave open.
    gaps: Vec<Gap>,
    /// How many of the gaps, from the first, are not that the answer is missing.
    answered: usize,
}

/// The turns of a trace.
pub(super) fn of(analysis: &Analysis, trace: &str) -> Vec<Found> {
    analysis.anchors.iter().map(|(anchor, members)| turn(analysis, trace, *anchor, members)).collect()
}

fn turn(analysis: &Analysis, trace: &str, anchor: usize, members: &[usize]) -> Found {
    let spans = || members.iter().map(|number| &analysis.tree.spans[*number]);
    let span = &analysis.tree.spans[anchor];
    let view = span.view.as_deref();
    let mut gaps: Vec<Gap> = spans().filter_map(Span::gap).collect();
    let calls = model_calls::of(analysis, members);
    let without_content = members.iter().any(|number| {
        let is_inference = analysis.nodes[*number].class == Some(Class::Inference);
        let view = analysis.tree.spans[*number].view.as_deref();
        is_inference && view.is_some_and(|view| view.adk_without_content)
    });
    let tools = tool_calls::of_spans(analysis, members, without_content, &mut gaps);

    let first_input = calls.iter().find_map(|call| call.input.as_ref());
    let input = view.and_then(|view| view.model().input.get()).or(first_input);
    let own: Vec<&ModelCall> = calls.iter().filter(|call| !call.is_delegated).collect();
    let own = if own.is_empty() { calls.iter().collect() } else { own };
    let said = Said::of(view.and_then(|view| view.model().output.get()), &own);
    let error = error_of(span, &own, said.answer.is_some());
    let user = input.and_then(|input| input.user.as_deref()).map(str::to_owned);
    note_user(&mut gaps, user.is_some(), input, &calls);
    note_outputs(&mut gaps, &own, &tools, &said, error.is_some());

    let is_agentic =
        |number: usize| matches!(analysis.nodes[number].class, Some(Class::Agent | Class::Workflow));
    let named = members.iter().filter(|number| is_agentic(**number));
    let named = named.filter_map(|number| analysis.tree.spans[*number].view.as_ref()?.agent.as_deref());
    let agents: BTreeSet<&str> = named
        .chain(calls.iter().filter_map(|call| call.agent.as_deref()))
        .chain(tools.iter().filter_map(|tool| tool.call.agent.as_deref()))
        .collect();
    let agent = view.and_then(|view| view.agent.as_deref()).filter(|_| is_agentic(anchor));
    let turn = Turn {
        trace_id: trace.to_owned(),
        span_id: span.id.to_string(),
        agent: agent.or_else(|| calls.iter().find_map(|call| call.agent.as_deref())).map(str::to_owned),
        agents: agents.into_iter().map(str::to_owned).collect(),
        user,
        intermediate: said.intermediate,
        answer: said.answer,
        usage: calls.iter().filter_map(|call| call.usage).fold(Usage::default(), Usage::plus),
        // Those inside it say nothing of how long the turn was, if the span that holds it does not.
        start_ns: span.start.and(spans().filter_map(|span| span.start).min()),
        end_ns: span.end.and(spans().filter_map(|span| span.end).max()),
        error,
        model_calls: Vec::new(),
        calls: Vec::new(),
        gaps: Vec::new(),
    };
    note_time(&mut gaps, &turn);
    let ends = |call: &ModelCall| (call.end, call.start);
    let last_call = (0..calls.len()).max_by_key(|at| ends(&calls[*at]));
    Found { turn, is_of_root: !is_agentic(anchor), calls, last_call, tools, gaps, answered: 0 }
}

/// What was said in a turn.
struct Said {
    answer: Option<String>,
    intermediate: Vec<String>,
}

impl Said {
    /// What the span of the turn puts out, else what its model calls said: the one that ended last has the answer.
    fn of(whole: Option<&Output>, own: &[&ModelCall]) -> Self {
        let speaking = || own.iter().filter(|call| call.text().is_some());
        let texts = |call: &ModelCall| -> Vec<String> {
            call.output.iter().flat_map(|output| &*output.texts).map(ToString::to_string).collect()
        };
        if let Some(whole) = whole {
            let answer = whole.text();
            let mut intermediate: Vec<String> = speaking().flat_map(|call| texts(call)).collect();
            if intermediate.last() == answer.as_ref() {
                intermediate.pop();
            }
            return Self { answer, intermediate };
        }
        let mut last: Option<&&ModelCall> = None;
        for call in speaking() {
            if last.is_none_or(|last| (call.end, call.start) > (last.end, last.start)) {
                last = Some(call);
            }
        }
        let is_last = |call: &ModelCall| last.is_some_and(|last| std::ptr::eq(*last, call));
        let others = speaking().filter(|call| !is_last(call));
        Self {
            intermediate: others.flat_map(|call| texts(call)).collect(),
            answer: last.and_then(|call| call.text()),
        }
    }
}

/// Why a turn failed: because its span says so, or because its last model call failed and there is no answer.
fn error_of(span: &Span, own: &[&ModelCall], is_answered: bool) -> Option<String> {
    let code = span.view.as_ref().and_then(|view| view.error_type.as_deref());
    if code.is_some() || span.status == Status::Error {
        return Some(code.unwrap_or(OTHER_ERROR).to_owned());
    }
    let last = own.iter().max_by_key(|call| (call.end, call.start)).filter(|_| !is_answered)?;
    last.error.clone()
}

/// Notes that it is not known how long a turn took, unless one of its spans says so already.
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
                "the messages that were sent are cut or no JSON: what the user said is not known",
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

fn note_outputs(gaps: &mut Vec<Gap>, own: &[&ModelCall], tools: &[SpanTool], said: &Said, failed: bool) {
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
    let is_lost = |call: &ModelCall| call.output.is_none() && call.error.is_none();
    for call in own.iter().filter(|call| is_lost(call) && call.has_unreadable_output) {
        let message = format!("what the model call {} put out is cut or no JSON", call.span);
        gaps.push(Gap::new(GapKind::Unreadable, message));
    }
    // A call that is not the last, or that says so, had tools called. Without spans of tools they are lost.
    let hides_calls = |(at, call): (usize, &&ModelCall)| {
        is_lost(call)
            && !call.has_unreadable_output
            && (call.asks_for_tools() || at + 1 < own.len() && call.finish.is_empty())
    };
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
    let last = own.iter().max_by_key(|call| (call.end, call.start));
    let is_last_lost = last.is_none_or(|call| is_lost(call) || is_redacted(call));
    if said.answer.is_none() && is_last_lost && !failed {
        gaps.push(Gap::new(GapKind::AnswerNotCaptured, "what the agent answered was not captured"));
    } else if said.answer.is_some()
        && last.is_some_and(|call| is_lost(call) && call.text().is_none())
        && !said_by_span(own, said)
    {
        let message = "what the last model call put out was not captured: the answer may be another one";
        gaps.push(Gap::new(GapKind::AnswerNotCaptured, message));
    }
}

/// Whether the answer comes from the span of the turn, and not from a model call.
fn said_by_span(own: &[&ModelCall], said: &Said) -> bool {
    own.iter().all(|call| call.text() != said.answer)
}

impl Found {
    pub(super) fn order(&self) -> (Option<NonZeroU64>, &str) {
        (self.turn.start_ns, &self.turn.span_id)
    }

    /// The turn.
    pub(super) fn end(self) -> Turn {
        let Self { mut turn, mut calls, tools, mut gaps, .. } = self;
        calls.sort_by_key(|call| (call.start, call.end));
        turn.agents.sort();
        turn.agents.dedup();
        turn.calls = tool_calls::of_turn(&tools, &calls, &mut gaps);
        turn.model_calls = calls.into_iter().map(ModelCall::into_public).collect();
        let mut seen = std::collections::HashSet::new();
        gaps.retain(|gap| seen.insert(gap.clone()));
        turn.gaps = gaps;
        turn
    }

    fn last_call(&self) -> Option<&ModelCall> {
        self.last_call.map(|at| &self.calls[at])
    }

    /// Whether this turn goes on with what `previous` began: it begins with results of the tools that were asked for.
    ///
    /// Where only providers are traced, each model call of a turn has a trace of its own.
    pub(super) fn continues(&self, previous: &Self) -> bool {
        let (Some(first), Some(last)) = (self.calls.first(), previous.last_call()) else { return false };
        let Some(input) = first.input.as_ref().filter(|input| self.is_of_root && input.ends_with_result)
        else {
            return false;
        };
        let asked = last.output.as_ref().map(|output| &*output.calls).unwrap_or_default();
        let ids: BTreeSet<&str> = asked.iter().filter_map(|call| call.id.as_deref()).collect();
        let mut answered = input.results.iter().filter_map(|result| result.id.as_deref()).peekable();
        if ids.is_empty() || answered.peek().is_none() {
            return !asked.is_empty();
        }
        answered.any(|id| ids.contains(id))
    }

    /// Whether this turn may go on with what `previous` began, and nothing says so or denies it.
    pub(super) fn may_continue(&self, previous: &Self) -> bool {
        let (Some(first), Some(last)) = (self.calls.first(), previous.last_call()) else { return false };
        self.is_of_root && first.input.is_none() && last.asks_for_tools()
    }

    pub(super) fn note(&mut self, gap: Gap) {
        self.gaps.push(gap);
    }

    pub(super) fn span_id(&self) -> &str {
        &self.turn.span_id
    }

    /// This turn with the one that continues it. It takes time for `next` alone, as thousands may follow one another.
    pub(super) fn joined(mut self, mut next: Self) -> Self {
        let turn = &mut self.turn;
        let later = next.turn;
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
        }
        turn.user = turn.user.take().or(later.user);
        turn.agent = turn.agent.take().or(later.agent);
        turn.agents.extend(later.agents);
        turn.usage = turn.usage.plus(later.usage);
        turn.start_ns = turn.start_ns.zip(later.start_ns).map(|(one, other)| one.min(other));
        turn.end_ns = turn.end_ns.zip(later.end_ns).map(|(one, other)| one.max(other));
        turn.error = turn.error.take().or(later.error);
        let ends = |call: Option<&ModelCall>| call.map(|call| (call.end, call.start));
        let last = next.last_call.map(|at| &next.calls[at]);
        if ends(last) >= ends(self.last_call.map(|at| &self.calls[at])) {
            self.last_call = next.last_call.map(|at| self.calls.len() + at).or(self.last_call);
        }
        self.calls.extend(next.calls);
        self.tools.extend(next.tools);
        self.gaps.extend(next.gaps);
        self
    }
}
