//! Calls of forbidden tools in runs that `retry` repeated. No metric scores such a run, but the calls did
//! happen.

use std::collections::BTreeSet;

use eval_format::Criterion;
use eval_support::untrusted::name;
use eval_support::words::count;

use crate::agent::Event;
use crate::report::RunReport;

/// The forbidden calls in repeated runs, in a sentence; `None` if there are none.
pub(crate) fn forbidden(criterion: Option<&Criterion>, repeated: &[RunReport]) -> Option<String> {
    let tools: &BTreeSet<&str> = &criterion?.forbidden_tools().collect();
    let attempts =
        repeated.chunk_by(|one, next| one.number == next.number).flat_map(|of_run| (1_usize..).zip(of_run));
    let mut calls = attempts.flat_map(|(attempt, run)| {
        let turns = (1_usize..).zip(&run.transcript.turns);
        turns.flat_map(move |(turn, record)| {
            let of_events = record.events.iter().flat_map(Event::parts);
            let of_events = of_events.filter_map(|part| part.function_call.as_ref());
            // A call that is streamed is in several events.
            let called: BTreeSet<&str> = of_events
                .chain(record.invocation.tool_calls())
                .filter_map(|call| call.name.as_deref())
                .filter(|name| tools.contains(name))
                .collect();
            called.into_iter().map(move |tool| (run.number, attempt, turn, tool)).collect::<Vec<_>>()
        })
    });
    let (run, attempt, turn, tool) = calls.next()?;
    let more = match calls.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "more such call")),
    };
    let tool = name(tool);
    Some(format!(
        "run {run}, attempt {attempt}, turn {turn}: `{tool}` was called, which `forbidden_tools` forbids in attempts that \
         are repeated too{more}"
    ))
}
