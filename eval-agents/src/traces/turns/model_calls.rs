//! Calls of models: a span of a provider, with the spans of libraries around it.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::traces::anchors::Analysis;
use crate::traces::conversation::{self, Usage};
use crate::traces::view::{Class, Input, OTHER_ERROR, OfModel, Output, Slot, Span, Status, View};

/// A call of a model.
#[derive(Clone, Debug)]
pub(in crate::traces) struct ModelCall {
    /// The span that says most of it.
    pub(in crate::traces) span: String,
    pub(in crate::traces) start: Option<NonZeroU64>,
    pub(in crate::traces) end: Option<NonZeroU64>,
    pub(in crate::traces) duration: Option<Duration>,
    /// Whether a tool made it: what it says is not what the agent says.
    pub(in crate::traces) is_delegated: bool,
    pub(in crate::traces) agent: Option<String>,
    pub(in crate::traces) model: Option<String>,
    pub(in crate::traces) usage: Option<Usage>,
    pub(in crate::traces) finish: Vec<Box<str>>,
    pub(in crate::traces) input: Option<Input>,
    pub(in crate::traces) output: Option<Output>,
    pub(in crate::traces) has_unreadable_input: bool,
    pub(in crate::traces) has_unreadable_output: bool,
    /// Why it failed, if it failed.
    pub(in crate::traces) error: Option<String>,
}

impl ModelCall {
    /// What it said, if it said something.
    pub(in crate::traces) fn text(&self) -> Option<String> {
        self.output.as_ref()?.text()
    }

    /// The hash of what it was sent and put out; of what it was sent alone, if it failed before it said anything.
    pub(in crate::traces) fn tail(&self) -> Option<u64> {
        let history = &self.input.as_ref()?.history;
        match &self.output {
            Some(output) => history.then(&output.atoms),
            None => history.whole().filter(|_| self.error.is_some()),
        }
    }

    /// What is told of it.
    pub(super) fn into_public(self) -> conversation::ModelCall {
        let Self { agent, model, usage, duration, error, .. } = self;
        conversation::ModelCall { agent, model, usage: usage.unwrap_or_default(), duration, error }
    }

    /// Whether it ended to have tools called.
    pub(in crate::traces) fn asks_for_tools(&self) -> bool {
        const REASONS: &[&str] = &["tool_calls", "tool_call", "tool_use", "function_call"];
        self.finish.iter().any(|reason| REASONS.contains(&&**reason))
    }
}

/// The calls of models among the members of a turn, in the order of time.
pub(super) fn of(analysis: &Analysis, members: &[usize]) -> Vec<ModelCall> {
    let is_inference = |number: usize| analysis.nodes[number].class == Some(Class::Inference);
    let inference: Vec<usize> = members.iter().copied().filter(|number| is_inference(*number)).collect();
    let mut inner: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut tops = Vec::new();
    let places: HashMap<usize, usize> =
        inference.iter().enumerate().map(|(at, number)| (*number, at)).collect();
    for &number in &inference {
        match analysis.nodes[number].inference_parent.filter(|parent| places.contains_key(parent)) {
            Some(parent) => inner.entry(parent).or_default().push(number),
            None => tops.push(number),
        }
    }
    let mut calls: Vec<ModelCall> =
        chains(&inference, &tops, &inner).iter().map(|chain| call(analysis, chain)).collect();
    calls.sort_by_key(|call| (call.start, call.end));
    calls
}

/// The spans of each call, the innermost first. Spans around exactly one are one call with it. Of spans around several, each
/// inner one is a call.
fn chains(inference: &[usize], tops: &[usize], inner: &HashMap<usize, Vec<usize>>) -> Vec<Vec<usize>> {
    let below = |number: usize| inner.get(&number).map(Vec::as_slice).unwrap_or_default();
    // Depth first, so that those below come after.
    let mut leaves: HashMap<usize, usize> = HashMap::with_capacity(inference.len());
    for &number in inference.iter().rev() {
        let sum = below(number).iter().map(|inner| leaves.get(inner).copied().unwrap_or(1)).sum::<usize>();
        leaves.insert(number, sum.max(1));
    }
    let mut chains = Vec::new();
    let mut pending: Vec<usize> = tops.iter().rev().copied().collect();
    while let Some(number) = pending.pop() {
        if leaves.get(&number) == Some(&1) {
            let mut chain = vec![number];
            let mut next = below(number).first();
            while let Some(inner) = next {
                chain.push(*inner);
                next = below(*inner).first();
            }
            chain.reverse();
            chains.push(chain);
        } else {
            pending.extend(below(number).iter().rev());
        }
    }
    chains
}

fn call(analysis: &Analysis, chain: &[usize]) -> ModelCall {
    let spans = || chain.iter().map(|number| &analysis.tree.spans[*number]);
    let views = || spans().filter_map(|span| span.view.as_deref());
    let leaf = chain[0];
    let error = {
        let code = views().find_map(|view| view.error_type.as_deref()).map(str::to_owned);
        let status = spans().map(|span| span.status).find(|status| *status != Status::Unset);
        let failed =
            status == Some(Status::Error) || status.is_none() && views().any(|view| view.has_exception);
        code.or_else(|| failed.then(|| OTHER_ERROR.to_owned()))
    };
    let own_agent = || views().find_map(|view| view.agent.as_deref());
    let model = |slot: fn(&OfModel) -> &Slot<Arc<str>>| {
        views().find_map(|view| slot(view.model()).get()).map(ToString::to_string)
    };
    ModelCall {
        span: analysis.tree.spans[leaf].id.to_string(),
        start: spans().map(|span| span.start).min().flatten(),
        end: spans().map(Span::ends).max().flatten(),
        duration: conversation::duration(spans()),
        is_delegated: analysis.nodes[leaf].is_under_tool,
        agent: analysis.agent(leaf).or_else(own_agent).map(str::to_owned),
        model: model(|view| &view.response_model).or_else(|| model(|view| &view.request_model)),
        usage: views().find_map(usage),
        finish: views().find_map(|view| view.model().finish.get()).cloned().unwrap_or_default(),
        input: views().find_map(|view| view.model().input.get()).cloned(),
        output: views().find_map(|view| view.model().output.get()).cloned(),
        has_unreadable_input: views().any(|view| view.model().input.is_unreadable()),
        has_unreadable_output: views().any(|view| view.model().output.is_unreadable()),
        error,
    }
}

/// The tokens of a span; `None` if it has neither those of the input nor of the output.
fn usage(view: &View) -> Option<Usage> {
    let tokens = |kind| view.model().usage.get(kind);
    (tokens(0).is_some() || tokens(1).is_some()).then(|| Usage {
        input_tokens: tokens(0),
        output_tokens: tokens(1),
        cache_read_tokens: tokens(2),
        cache_write_tokens: tokens(3),
        reasoning_tokens: tokens(4),
    })
}
