//! Calls of models: a span of a provider, with the spans of libraries around it.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use crate::traces::anchors::Analysis;
use crate::traces::conversation::{self, Usage};
use crate::traces::view::{Class, Input, OTHER_ERROR, OfModel, Output, Slot, Span, Status, View};

#[derive(Clone, Debug)]
pub(in crate::traces) struct ModelCall {
    /// The id of the innermost span.
    pub(in crate::traces) span: String,
    pub(in crate::traces) start: Option<NonZeroU64>,
    pub(in crate::traces) end: Option<NonZeroU64>,
    /// Whether a tool made it: its text is not the agent's.
    pub(in crate::traces) is_delegated: bool,
    pub(in crate::traces) told: conversation::ModelCall,
    pub(in crate::traces) finish: Vec<Box<str>>,
    pub(in crate::traces) input: Option<Input>,
    pub(in crate::traces) output: Option<Output>,
    pub(in crate::traces) has_unreadable_input: bool,
    pub(in crate::traces) has_unreadable_output: bool,
}

impl ModelCall {
    pub(in crate::traces) fn text(&self) -> Option<String> {
        self.output.as_ref()?.text()
    }

    /// The hash of its input and output; of its input alone, if it failed without an output.
    pub(in crate::traces) fn tail(&self) -> Option<u64> {
        let history = &self.input.as_ref()?.history;
        match &self.output {
            Some(output) => history.then(&output.atoms),
            None => history.whole().filter(|_| self.told.error.is_some()),
        }
    }

    pub(super) fn ended(&self) -> impl Ord + use<> {
        (self.end, self.start)
    }

    pub(in crate::traces) fn asks_for_tools(&self) -> bool {
        const REASONS: &[&str] = &["tool_calls", "tool_call", "tool_use", "function_call"];
        self.finish.iter().any(|reason| REASONS.contains(&&**reason))
    }
}

/// The model calls of a turn, in the order of time. A span around exactly one call is part of it.
pub(super) fn find(analysis: &Analysis, members: &[usize]) -> Vec<ModelCall> {
    let is_inference = |number: &usize| analysis.nodes[*number].class == Some(Class::Inference);
    let inference: Vec<usize> = members.iter().copied().filter(is_inference).collect();
    let known: HashSet<usize> = inference.iter().copied().collect();
    let around =
        |number: usize| analysis.nodes[number].inference_parent.filter(|around| known.contains(around));
    // By span, the number of calls in it. Members are depth first: in reverse, inner spans come first.
    let mut inside: HashMap<usize, usize> = HashMap::with_capacity(inference.len());
    let mut innermost = Vec::new();
    for &number in inference.iter().rev() {
        let calls = *inside.entry(number).or_insert_with(|| {
            innermost.push(number);
            1
        });
        if let Some(around) = around(number) {
            *inside.entry(around).or_default() += calls;
        }
    }
    let chain = |innermost: usize| {
        let around = |number: &usize| around(*number).filter(|around| inside[around] == 1);
        std::iter::successors(Some(innermost), around).collect::<Vec<_>>()
    };
    let mut calls: Vec<ModelCall> =
        innermost.into_iter().rev().map(|number| call(analysis, &chain(number))).collect();
    calls.sort_by_key(|call| (call.start, call.end));
    calls
}

/// The call of some spans, the innermost first.
fn call(analysis: &Analysis, chain: &[usize]) -> ModelCall {
    let spans = || chain.iter().map(|number| &analysis.tree.spans[*number]);
    let views = || spans().filter_map(|span| span.view.as_deref());
    let leaf = chain[0];
    let code = views().find_map(|view| view.error_type.as_deref()).map(str::to_owned);
    let status = spans().map(|span| span.status).find(|status| *status != Status::Unset);
    let failed = status == Some(Status::Error) || status.is_none() && views().any(|view| view.has_exception);
    let own_agent = || views().find_map(|view| view.agent.as_deref());
    let model = |slot: fn(&OfModel) -> &Slot<Arc<str>>| {
        views().find_map(|view| slot(view.model()).get()).map(ToString::to_string)
    };
    ModelCall {
        span: analysis.tree.spans[leaf].id.to_string(),
        start: spans().map(|span| span.start).min().flatten(),
        end: spans().map(Span::ends).max().flatten(),
        is_delegated: analysis.nodes[leaf].is_under_tool,
        told: conversation::ModelCall {
            agent: analysis.agent(leaf).or_else(own_agent).map(str::to_owned),
            model: model(|view| &view.response_model).or_else(|| model(|view| &view.request_model)),
            usage: views().find_map(usage).unwrap_or_default(),
            duration: conversation::duration(spans()),
            error: code.or_else(|| failed.then(|| OTHER_ERROR.to_owned())),
        },
        finish: views().find_map(|view| view.model().finish.get()).cloned().unwrap_or_default(),
        input: views().find_map(|view| view.model().input.get()).cloned(),
        output: views().find_map(|view| view.model().output.get()).cloned(),
        has_unreadable_input: views().any(|view| view.model().input.is_unreadable()),
        has_unreadable_output: views().any(|view| view.model().output.is_unreadable()),
    }
}

/// The tokens of a span; `None` if it has neither input nor output tokens.
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
