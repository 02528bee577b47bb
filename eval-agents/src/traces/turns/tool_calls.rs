//! Calls of tools: from the spans of tools, and from the messages of models.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use eval_core::format::Value;

use super::model_calls::ModelCall;
use crate::traces::anchors::Analysis;
use crate::traces::conversation::{ToolCall, duration};
use crate::traces::gap::{Gap, GapKind};
use crate::traces::message::Response;
use crate::traces::view::{Class, OTHER_ERROR, Source, Status, View};

/// A call of a tool that has a span.
#[derive(Clone, Debug)]
pub(in crate::traces) struct SpanTool {
    pub(in crate::traces) call: ToolCall,
    /// Whether the span has arguments, or a result, that cannot be read.
    has_unreadable: bool,
}

/// The calls that have spans, in the order of time. A tool span in a tool span of the same tool, or of the same call, is the
/// same call: a library around a protocol around a server.
pub(super) fn of_spans(
    analysis: &Analysis,
    members: &[usize],
    without_content: bool,
    gaps: &mut Vec<Gap>,
) -> Vec<SpanTool> {
    let mut outermost: HashMap<usize, usize> = HashMap::new();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let view = |number: usize| analysis.tree.spans[number].view.as_deref();
    for &number in members {
        if analysis.nodes[number].class != Some(Class::Tool) {
            continue;
        }
        let around = analysis.nodes[number].tool_parent.and_then(|parent| {
            let is_same =
                view(parent).zip(view(number)).is_some_and(|(outer, inner)| is_same_call(outer, inner));
            outermost.get(&parent).copied().filter(|_| is_same)
        });
        let chain = around.unwrap_or_else(|| {
            chains.push(Vec::new());
            chains.len() - 1
        });
        outermost.insert(number, chain);
        chains[chain].push(number);
    }
    chains.sort_by(|one, other| {
        analysis.tree.spans[one[0]].order().cmp(&analysis.tree.spans[other[0]].order())
    });
    chains.iter().map(|chain| of_chain(analysis, chain, without_content, gaps)).collect()
}

fn is_same_call(outer: &View, inner: &View) -> bool {
    let same = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
    let (outer, inner) = (outer.tool(), inner.tool());
    same(outer.name.as_deref(), inner.name.as_deref())
        || same(outer.call_id.as_deref(), inner.call_id.as_deref())
}

/// A value, and where it comes from.
type Sourced<'v> = (Option<Source>, Option<&'v Value>);

fn of_chain(analysis: &Analysis, chain: &[usize], without_content: bool, gaps: &mut Vec<Gap>) -> SpanTool {
    let spans = || chain.iter().map(|number| &analysis.tree.spans[*number]);
    let views = || spans().filter_map(|span| span.view.as_deref());
    let span = &analysis.tree.spans[chain[0]];
    let name = views().find_map(|view| view.tool().name.as_deref()).map_or_else(
        || {
            let mut words = span.name.split_whitespace();
            let name = match (words.next(), words.next()) {
                (Some("execute_tool"), Some(name)) => name,
                _ => &span.name,
            };
            let message =
                format!("the tool span {} names no tool; the name of the span was taken: {name}", span.id);
            gaps.push(Gap::new(GapKind::ToolNameMissing, message));
            name.to_owned()
        },
        str::to_owned,
    );
    let code = views().find_map(|view| view.error_type.as_deref()).map(str::to_owned);
    let failed =
        spans().map(|span| span.status).find(|status| *status != Status::Unset) == Some(Status::Error);
    // Without content, ADK writes empty objects, which are no arguments.
    let is_stand_in = |(source, value): &Sourced<'_>| {
        without_content
            && *source == Some(Source::Adk)
            && value.and_then(Value::as_object).is_some_and(eval_core::format::Map::is_empty)
    };
    let value = |sourced: fn(&View) -> Sourced<'_>| {
        let mut all = views().map(sourced).filter(|it| !is_stand_in(it));
        all.find_map(|(_, value)| value).filter(|it| !it.is_null()).cloned()
    };
    SpanTool {
        has_unreadable: views()
            .any(|view| view.tool().args.is_unreadable() || view.tool().result.is_unreadable()),
        call: ToolCall {
            id: views().find_map(|view| view.tool().call_id.as_deref()).map(str::to_owned),
            name,
            args: value(|view| (view.tool().args.source(), view.tool().args.get())),
            result: value(|view| {
                (view.tool().result.source(), view.tool().result.get().map(|value| &**value))
            }),
            agent: analysis.agent(chain[0]).map(str::to_owned),
            duration: duration(spans()),
            error: code.or_else(|| failed.then(|| OTHER_ERROR.to_owned())),
        },
    }
}

/// All calls of a turn, and what is not known of them.
pub(super) fn of_turn(spans: &[SpanTool], calls: &[ModelCall], gaps: &mut Vec<Gap>) -> Vec<ToolCall> {
    let from_parts = of_parts(calls, gaps);
    let tools = if spans.is_empty() { from_parts } else { filled(spans, from_parts, gaps) };
    for tool in &tools {
        if tool.args.is_none() {
            let message = format!("the arguments of the call of `{}` were not captured", tool.name);
            gaps.push(Gap::new(GapKind::ArgumentsNotCaptured, message));
        }
        if tool.result.is_none() && tool.error.is_none() {
            let message = format!("the result of the call of `{}` was not captured", tool.name);
            gaps.push(Gap::new(GapKind::ResultNotCaptured, message));
        }
    }
    for span in spans.iter().filter(|span| span.has_unreadable) {
        let message = format!(
            "the span of a call of `{}` has arguments or a result that are cut or no JSON",
            span.call.name
        );
        gaps.push(Gap::new(GapKind::Unreadable, message));
    }
    tools
}

/// Results that no call has yet.
struct Open<'r> {
    /// The call of a model that was first sent each result, and the result.
    results: Vec<(usize, &'r Arc<Response>)>,
    by_id: HashMap<&'r str, usize>,
    /// Results whose ids are of no call, by the name of the tool that they give, in order. The empty name is of those that give none.
    in_order: HashMap<&'r str, VecDeque<usize>>,
    taken: Vec<bool>,
}

impl<'r> Open<'r> {
    fn of(calls: &'r [ModelCall]) -> Self {
        let outputs = calls.iter().filter_map(|call| call.output.as_ref());
        let call_ids: HashSet<&str> =
            outputs.flat_map(|output| &*output.calls).filter_map(|call| call.id.as_deref()).collect();
        let mut seen = HashSet::new();
        let mut open =
            Self { results: Vec::new(), by_id: HashMap::new(), in_order: HashMap::new(), taken: Vec::new() };
        for (at, call) in calls.iter().enumerate() {
            for result in call.input.iter().flat_map(|input| &*input.results) {
                let key = match &result.id {
                    Some(id) => (Some(id.as_str()), None, 0),
                    // Each result is kept once, so the same one has the same place in memory.
                    None => (None, result.name.as_deref(), Arc::as_ptr(result).addr()),
                };
                if !seen.insert(key) {
                    continue;
                }
                let number = open.results.len();
                open.results.push((at, result));
                match result.id.as_deref() {
                    Some(id) if call_ids.contains(id) => {
                        open.by_id.insert(id, number);
                    }
                    _ => open
                        .in_order
                        .entry(result.name.as_deref().unwrap_or_default())
                        .or_default()
                        .push_back(number),
                }
            }
        }
        open.taken = vec![false; open.results.len()];
        open
    }

    /// The result of a call that the model call `at` asked for, and whether it was joined by order in spite of an id.
    fn take(&mut self, at: usize, id: Option<&str>, name: &str) -> Option<(Value, bool)> {
        let by_id = id.and_then(|id| self.by_id.get(id)).copied();
        let by_id = by_id.filter(|number| !self.taken[*number] && self.results[*number].0 > at);
        let number = match by_id {
            Some(number) => number,
            None => {
                let first = ["", name].into_iter().filter_map(|key| self.front(key, at)).min()?;
                for queue in self.in_order.values_mut().filter(|queue| queue.front() == Some(&first)) {
                    queue.pop_front();
                }
                first
            }
        };
        self.taken[number] = true;
        let response = self.results[number].1;
        Some(((*response.value).clone(), by_id.is_none() && response.id.is_some()))
    }

    /// The next result of these that came after a call. Calls are asked for in order, so earlier ones are of no use again.
    fn front(&mut self, name: &str, at: usize) -> Option<usize> {
        let queue = self.in_order.get_mut(name)?;
        while queue.front().is_some_and(|number| self.results[*number].0 <= at) {
            queue.pop_front();
        }
        queue.front().copied()
    }
}

/// The calls in what models put out, with the results in what models were sent later.
fn of_parts(calls: &[ModelCall], gaps: &mut Vec<Gap>) -> Vec<ToolCall> {
    let mut open = Open::of(calls);
    let mut tools = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        for part in call.output.iter().flat_map(|output| &*output.calls) {
            let found = open.take(at, part.id.as_deref(), &part.name);
            if let Some((_, true)) = found {
                let message =
                    format!("the result of `{}` was joined by order: its id is of no call", part.name);
                gaps.push(Gap::new(GapKind::ResultByOrder, message));
            }
            tools.push(ToolCall {
                id: part.id.clone(),
                name: part.name.clone(),
                args: part.args.clone(),
                result: found.map(|(value, _)| value),
                agent: call.agent.clone(),
                duration: None,
                error: None,
            });
        }
    }
    tools
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(_) => false,
    }
}

/// The calls that have spans, with what only messages say of them, and those that only messages have. Each of these stands
/// after the one that was asked for before it.
fn filled(spans: &[SpanTool], mut parts: Vec<ToolCall>, gaps: &mut Vec<Gap>) -> Vec<ToolCall> {
    let mut by_id: HashMap<String, VecDeque<usize>> = HashMap::new();
    let mut by_name: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        if let Some(id) = &part.id {
            by_id.entry(id.clone()).or_default().push_back(number);
        }
        by_name.entry(part.name.clone()).or_default().push_back(number);
    }
    let mut claimed: Vec<Option<usize>> = vec![None; parts.len()];
    let mut tools: Vec<ToolCall> = Vec::with_capacity(spans.len());
    for (at, span) in spans.iter().enumerate() {
        let mut tool = span.call.clone();
        let mut next = |queue: Option<&mut VecDeque<usize>>| {
            let queue = queue?;
            while let Some(number) = queue.pop_front() {
                if claimed[number].is_none() {
                    claimed[number] = Some(at);
                    return Some(number);
                }
            }
            None
        };
        let found = next(tool.id.as_ref().and_then(|id| by_id.get_mut(id)));
        let is_by_name = found.is_none();
        if let Some(number) = found.or_else(|| next(by_name.get_mut(&tool.name))) {
            let part = &mut parts[number];
            let takes_args = is_empty(tool.args.as_ref()) && !is_empty(part.args.as_ref());
            let takes_result = is_empty(tool.result.as_ref()) && !is_empty(part.result.as_ref());
            if takes_args || tool.args.is_none() {
                tool.args = part.args.take();
            }
            if takes_result || tool.result.is_none() {
                tool.result = part.result.take();
            }
            if is_by_name && (takes_args || takes_result) {
                let message = format!(
                    "arguments or result of `{}` are from messages, joined by name: the ids differ",
                    tool.name
                );
                gaps.push(Gap::new(GapKind::DataByName, message));
            }
        }
        tools.push(tool);
    }
    let mut first = Vec::new();
    let mut after: Vec<Vec<ToolCall>> = vec![Vec::new(); tools.len()];
    let mut previous = None;
    for (part, claimed) in parts.into_iter().zip(claimed) {
        if claimed.is_some() {
            previous = claimed;
            continue;
        }
        let message = format!("the call of `{}` stands in messages alone, without a span", part.name);
        gaps.push(Gap::new(GapKind::ToolWithoutSpan, message));
        match previous {
            Some(previous) => after[previous].push(part),
            None => first.push(part),
        }
    }
    let pairs = tools.into_iter().zip(after);
    first.into_iter().chain(pairs.flat_map(|(tool, after)| std::iter::once(tool).chain(after))).collect()
}
