//! Calls of tools: from the spans of tools, and from the messages of models.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use eval_core::format::Value;

use super::model_calls::ModelCall;
use crate::traces::anchors::Analysis;
use crate::traces::conversation::{ToolCall, duration};
use crate::traces::gap::{Gap, GapKind};
use crate::traces::message::Response;
use crate::traces::overlay;
use crate::traces::view::{Class, OTHER_ERROR, Source, Status, View};

#[derive(Clone, Debug)]
pub(in crate::traces) struct SpanTool {
    pub(in crate::traces) call: ToolCall,
    /// Whether the span has arguments, or a result, that cannot be read.
    has_unreadable: bool,
    /// Whether the arguments are only the span's input. Arguments in a message are better.
    has_input_only: bool,
    /// The id of the span, if it names no tool.
    unnamed: Option<String>,
}

/// The calls that have spans, in the order of time. A tool span in a tool span with the same tool or call id
/// is the same call: a library, a protocol and a server may each write one.
pub(super) fn of_spans(analysis: &Analysis, members: &[usize], without_content: bool) -> Vec<SpanTool> {
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
    chains.iter().map(|chain| of_chain(analysis, chain, without_content)).collect()
}

fn is_same_call(outer: &View, inner: &View) -> bool {
    let same = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
    let (outer, inner) = (outer.tool(), inner.tool());
    same(outer.name.as_deref(), inner.name.as_deref())
        || same(outer.call_id.as_deref(), inner.call_id.as_deref())
}

type Sourced<'v> = (Option<Source>, Option<&'v Value>);

fn of_chain(analysis: &Analysis, chain: &[usize], without_content: bool) -> SpanTool {
    let spans = || chain.iter().map(|number| &analysis.tree.spans[*number]);
    let views = || spans().filter_map(|span| span.view.as_deref());
    let span = &analysis.tree.spans[chain[0]];
    let name = views().find_map(|view| view.tool().name.as_deref());
    let unnamed = name.is_none().then(|| span.id.to_string());
    let name = name.or_else(|| overlay::named(&span.name)).unwrap_or(&span.name).to_owned();
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
        has_input_only: views()
            .find(|view| view.tool().args.get().is_some())
            .is_some_and(|view| view.tool().args.is_of(Source::ToolInput)),
        unnamed,
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

pub(super) fn of_turn(spans: &[SpanTool], calls: &[ModelCall], gaps: &mut Vec<Gap>) -> Vec<ToolCall> {
    let tools = filled(spans, of_parts(calls), gaps);
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
            "the span of a call of `{}` has arguments or a result that are cut, no JSON, or have a key twice",
            span.call.name
        );
        gaps.push(Gap::new(GapKind::Unreadable, message));
    }
    tools
}

struct Open<'r> {
    /// The number of the model call that was sent a result first, and the result.
    results: Vec<(usize, &'r Arc<Response>)>,
    by_id: HashMap<&'r str, usize>,
    /// Results without the id of a call, in order, by the tool that they name, or under an empty name.
    in_order: HashMap<&'r str, VecDeque<usize>>,
}

impl<'r> Open<'r> {
    fn new(calls: &'r [ModelCall]) -> Self {
        let outputs = calls.iter().filter_map(|call| call.output.as_ref());
        let call_ids: HashSet<&str> =
            outputs.flat_map(|output| &*output.calls).filter_map(|call| call.id.as_deref()).collect();
        let mut seen = HashSet::new();
        let mut open = Self { results: Vec::new(), by_id: HashMap::new(), in_order: HashMap::new() };
        for (at, call) in calls.iter().enumerate() {
            let mut equal: HashMap<usize, usize> = HashMap::new();
            for result in call.input.iter().flat_map(|input| &*input.results) {
                let key = match &result.id {
                    Some(id) => (Some(id.as_str()), 0, 0),
                    // Equal results share one address. They are counted, as several calls may have equal
                    // results.
                    None => {
                        let place = Arc::as_ptr(result).addr();
                        let count = equal.entry(place).or_default();
                        *count += 1;
                        (None, place, *count)
                    }
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
        open
    }

    /// The result of a call that the model call `at` asked for, and whether it was joined by order in spite of an id.
    fn take(&mut self, at: usize, id: Option<&str>, name: &str) -> Option<(Value, bool)> {
        let is_later = |id: &&str| self.by_id.get(id).is_some_and(|number| self.results[*number].0 > at);
        let by_id = id.filter(is_later).and_then(|id| self.by_id.remove(id));
        let number = match by_id {
            Some(number) => number,
            None => {
                let first = |key| Some((self.front(key, at)?, key));
                let (number, key) = ["", name].into_iter().filter_map(first).min()?;
                self.in_order.get_mut(key)?.pop_front();
                number
            }
        };
        let response = self.results[number].1;
        Some(((*response.value).clone(), by_id.is_none() && response.id.is_some()))
    }

    /// The next result under a name that was first sent after the model call `at`, which never decreases.
    fn front(&mut self, name: &str, at: usize) -> Option<usize> {
        let queue = self.in_order.get_mut(name)?;
        while queue.front().is_some_and(|number| self.results[*number].0 <= at) {
            queue.pop_front();
        }
        queue.front().copied()
    }
}

struct Asked {
    call: ToolCall,
    by: usize,
    is_by_order: bool,
}

fn of_parts(calls: &[ModelCall]) -> Vec<Asked> {
    let mut open = Open::new(calls);
    let mut tools = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        for part in call.output.iter().flat_map(|output| &*output.calls) {
            let found = open.take(at, part.id.as_deref(), &part.name);
            tools.push(Asked {
                by: at,
                is_by_order: found.as_ref().is_some_and(|(_, is_by_order)| *is_by_order),
                call: ToolCall {
                    id: part.id.clone(),
                    name: part.name.clone(),
                    args: part.args.clone(),
                    result: found.map(|(value, _)| value),
                    agent: call.told.agent.clone(),
                    duration: None,
                    error: None,
                },
            });
        }
    }
    tools
}

fn note_order(gaps: &mut Vec<Gap>, name: &str) {
    let message = format!("the result of `{name}` was joined by order: its id is of no call");
    gaps.push(Gap::new(GapKind::ResultByOrder, message));
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

/// The call in messages that a span belongs to: its number, and whether both have the same id.
type Claim = Option<(usize, bool)>;

/// The id or name, and the arguments. A span and a call in messages share them if they are the same call.
type Key = (Option<String>, Option<String>);
type OfCall<'f> = &'f dyn Fn(&ToolCall) -> Option<Key>;

/// The claim of each span: first by ids, then by the name and equal arguments, then by the name, then by order if it names no tool.
fn claims(spans: &[SpanTool], parts: &[Asked]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = vec![None; spans.len()];
    let mut is_claimed = vec![false; parts.len()];
    let args = |call: &ToolCall| call.args.as_ref().map(ToString::to_string);
    let by_id: OfCall<'_> = &|call| Some((Some(call.id.clone()?), None));
    let by_args: OfCall<'_> = &|call| Some((Some(call.name.clone()), Some(args(call)?)));
    let by_name: OfCall<'_> = &|call| Some((Some(call.name.clone()), None));
    let by_order: OfCall<'_> = &|_| Some((None, None));
    for (of_call, is_by_id, is_unnamed) in
        [(by_id, true, false), (by_args, false, false), (by_name, false, false), (by_order, false, true)]
    {
        let mut queues: HashMap<Key, VecDeque<usize>> = HashMap::new();
        for (number, part) in parts.iter().enumerate().filter(|(number, _)| !is_claimed[*number]) {
            if let Some(key) = of_call(&part.call) {
                queues.entry(key).or_default().push_back(number);
            }
        }
        for (span, claim) in spans.iter().zip(&mut claims).filter(|(_, claim)| claim.is_none()) {
            let key = of_call(&span.call).filter(|_| !is_unnamed || span.unnamed.is_some());
            if let Some(number) = key.and_then(|key| queues.get_mut(&key)?.pop_front()) {
                is_claimed[number] = true;
                *claim = Some((number, is_by_id));
            }
        }
    }
    claims
}

/// The spans with their claims, in the order of time. Calls of one output have its order: threads decide in which order
/// they begin.
fn as_asked<'s>(spans: &'s [SpanTool], claims: &[Claim], parts: &[Asked]) -> Vec<(&'s SpanTool, Claim)> {
    let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, claim) in claims.iter().enumerate() {
        if let Some((number, _)) = claim {
            places.entry(parts[*number].by).or_default().push(place);
        }
    }
    let mut order: Vec<usize> = (0..spans.len()).collect();
    for places in places.values() {
        let mut asked = places.clone();
        asked.sort_by_key(|place| claims[*place]);
        for (place, from) in places.iter().zip(asked) {
            order[*place] = from;
        }
    }
    order.into_iter().map(|from| (&spans[from], claims[from])).collect()
}

/// The calls with spans, completed from messages, and the calls that only messages have. Each call without a span follows
/// the call that was asked for before it.
fn filled(spans: &[SpanTool], mut parts: Vec<Asked>, gaps: &mut Vec<Gap>) -> Vec<ToolCall> {
    let mut claimed: Vec<Option<usize>> = vec![None; parts.len()];
    // Each call with the number of its span, or of the span before it, from 1.
    let mut tools: Vec<(usize, ToolCall)> = Vec::with_capacity(spans.len());
    for (at, (span, claim)) in (1..).zip(as_asked(spans, &claims(spans, &parts), &parts)) {
        let mut tool = span.call.clone();
        if let Some((number, is_by_id)) = claim {
            claimed[number] = Some(at);
            let part = &mut parts[number];
            let takes_args = !is_empty(part.call.args.as_ref())
                && (span.has_input_only || is_empty(tool.args.as_ref()))
                && tool.args != part.call.args;
            let takes_result = is_empty(tool.result.as_ref()) && !is_empty(part.call.result.as_ref());
            if takes_args || tool.args.is_none() || span.has_input_only && part.call.args.is_some() {
                tool.args = part.call.args.take();
            }
            if takes_result && part.is_by_order {
                note_order(gaps, &part.call.name);
            }
            if takes_result || tool.result.is_none() {
                tool.result = part.call.result.take();
            }
            if span.unnamed.is_some() {
                tool.name.clone_from(&part.call.name);
            } else if is_by_id && !may_be_one_tool(&tool.name, &part.call.name) {
                let (id, asked) = (tool.id.as_deref().unwrap_or_default(), &part.call.name);
                let message = format!(
                    "the call `{id}` is one of `{asked}` in messages, and of `{}` in its span",
                    tool.name
                );
                gaps.push(Gap::new(GapKind::Contradiction, message));
            }
            if !is_by_id && (takes_args || takes_result) {
                let message = format!(
                    "arguments or result of `{}` are from messages, joined by name: the ids differ",
                    tool.name
                );
                gaps.push(Gap::new(GapKind::DataByName, message));
            }
        }
        note_name(gaps, span, claim.is_some(), &tool.name);
        tools.push((at, tool));
    }
    let mut previous = 0;
    for (Asked { call, is_by_order, .. }, claimed) in parts.into_iter().zip(claimed) {
        if let Some(at) = claimed {
            previous = at;
            continue;
        }
        if is_by_order {
            note_order(gaps, &call.name);
        }
        if !spans.is_empty() {
            let message = format!("the call of `{}` is in messages alone, without a span", call.name);
            gaps.push(Gap::new(GapKind::ToolWithoutSpan, message));
        }
        tools.push((previous, call));
    }
    tools.sort_by_key(|(at, _)| *at);
    tools.into_iter().map(|(_, tool)| tool).collect()
}

/// Whether two names may be of one tool. A framework may add the name of a server, or write words in another way.
fn may_be_one_tool(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let (one, other) = (plain(one), plain(other));
    one.contains(&other) || other.contains(&one)
}

/// Notes where the name of a call comes from, if its span does not say it.
fn note_name(gaps: &mut Vec<Gap>, span: &SpanTool, is_in_messages: bool, name: &str) {
    let Some(id) = &span.unnamed else { return };
    let (kind, whose) = if is_in_messages {
        (GapKind::ToolNameMissing, "the name in the messages was taken")
    } else if name.contains(char::is_whitespace) {
        // No tool has such a name.
        (GapKind::CallsNotCaptured, "no message shows the call; the name of the span is")
    } else {
        (GapKind::ToolNameMissing, "the name of the span was taken")
    };
    gaps.push(Gap::new(kind, format!("the tool span {id} names no tool; {whose}: {name}")));
}
