//! Strategies for reports: anything that can be recorded and scored.

use std::time::Duration;

use eval_format::{
    Content, Criterion, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map, Part,
    UsageMetadata, Value,
};
use proptest::prelude::*;

use crate::agent::{Event, Session};
use crate::decide::verdicts_of_turns;
use crate::metric::arithmetic::TOKEN_USAGE;
use crate::metric::{Score, Scores};
use crate::report::{JudgeUse, MetricOutcome, MetricReport, ModelUse, RunReport, ScoredMetric};
use crate::transcript::{RunError, Transcript, TurnRecord, invocation};
use crate::verdict::{Role, Verdict};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(",\"\r\n'".to_owned()),
        Just("thought_signature".to_owned()),
        Just("é\u{2028}🎉".to_owned())
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), Just(f64::NAN), Just(f64::INFINITY), Just(1e-7), Just(0.5)]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..3)
                .prop_map(|entries| Value::Object(Map::from_iter(entries)))
        ]
    })
}

fn map() -> impl Strategy<Value = Map> {
    prop::collection::vec((text(), value()), 0..3).prop_map(Map::from_iter)
}

/// Keys that ADK knows, with values that it may not take.
fn other(keys: &'static [&'static str]) -> impl Strategy<Value = Map> {
    prop::collection::vec((prop::sample::select(keys), value()), 0..2).prop_map(Map::from_iter)
}

fn part() -> impl Strategy<Value = Part> {
    let keys = &["thought_signature", "inline_data", "media_processing", "part_metadata", "nonsense"];
    let call = (text(), map(), other(&["partial_args", "will_continue"])).prop_map(|(name, args, other)| {
        let mut call = FunctionCall::new(name, args);
        call.other = other;
        call
    });
    let result = (text(), map()).prop_map(|(name, result)| FunctionResponse::new(name, result));
    (prop::option::of(text()), prop::option::of(call), prop::option::of(result), other(keys)).prop_map(
        |(text, function_call, function_response, other)| {
            let mut part = Part::default();
            part.text = text;
            part.function_call = function_call;
            part.function_response = function_response;
            part.other = other;
            part
        },
    )
}

fn content() -> impl Strategy<Value = Content> {
    (prop::option::of(text()), prop::option::of(prop::collection::vec(part(), 0..3))).prop_map(
        |(role, parts)| {
            let mut content = Content::default();
            content.role = role;
            content.parts = parts;
            content
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let grounding = other(&["web_search_queries", "retrieval_metadata", "search_entry_point", "nonsense"]);
    (text(), prop::option::of(content()), prop::option::of(grounding), map(), any::<bool>(), any::<u32>())
        .prop_map(|(author, content, grounding_metadata, state_delta, partial, at)| Event {
            author,
            content,
            grounding_metadata,
            state_delta,
            partial,
            at: Duration::from_micros(u64::from(at)),
            ..Event::default()
        })
}

fn turn() -> impl Strategy<Value = TurnRecord> {
    (content(), prop::collection::vec(event(), 0..3), number(), prop::option::of(number())).prop_map(
        |(user, events, creation_timestamp, duration)| {
            let mut invocation = invocation(&user, &events).with_creation_timestamp(creation_timestamp);
            invocation.duration = duration;
            TurnRecord { events, invocation }
        },
    )
}

pub(crate) fn expected() -> impl Strategy<Value = Invocation> {
    (content(), prop::option::of(content()), prop::collection::vec((text(), map()), 0..2), number()).prop_map(
        |(user_content, final_response, calls, creation_timestamp)| {
            let tool_uses = calls.into_iter().map(|(name, args)| FunctionCall::new(name, args)).collect();
            let flat = IntermediateData::Tools {
                tool_uses,
                tool_responses: Vec::new(),
                intermediate_responses: Vec::new(),
            };
            let mut turn = Invocation::new(user_content)
                .with_intermediate_data(flat)
                .with_creation_timestamp(creation_timestamp);
            turn.final_response = final_response;
            turn
        },
    )
}

fn outcome() -> impl Strategy<Value = MetricOutcome> {
    let scores = prop::collection::vec(number(), 0..4);
    prop_oneof![
        scores.prop_map(|scores| MetricOutcome::Scored(scores.into_iter().map(Score::from).collect())),
        number().prop_map(|score| MetricOutcome::Scored(Scores::whole_run(score))),
        text().prop_map(MetricOutcome::Skipped),
        text().prop_map(MetricOutcome::Unjudged),
        (prop_oneof![Just(Role::Metric), Just(Role::Judge)], text())
            .prop_map(|(role, message)| MetricOutcome::Error { role, message })
    ]
}

/// A metric for each outcome, named `m0`, `m1`, ...
fn scored(outcomes: impl Strategy<Value = Vec<MetricOutcome>>) -> impl Strategy<Value = Vec<ScoredMetric>> {
    let metric = |(at, outcome): (usize, MetricOutcome)| ScoredMetric {
        name: named(at),
        custom: true,
        criterion: None,
        verdict: Verdict::Informational,
        turns: verdicts_of_turns(None, &outcome),
        outcome,
        judge: vec![JudgeUse { model: "gemini".to_owned(), asked: 5, failed: 1, ..JudgeUse::default() }],
    };
    outcomes.prop_map(move |outcomes| outcomes.into_iter().enumerate().map(metric).collect())
}

fn named(at: usize) -> String {
    format!("m{at}")
}

pub(crate) fn run() -> impl Strategy<Value = RunReport> {
    let error = text().prop_map(|message| RunError::new(Role::Agent, Some(1), message));
    let turns = prop::collection::vec(turn(), 0..3);
    let metrics = scored(prop::collection::vec(outcome(), 0..4));
    let models = prop::collection::vec(model_use(), 0..3);
    (text(), text(), map(), turns, prop::option::weighted(0.2, error), metrics, models).prop_map(
        |(session_id, app_name, state, turns, error, metrics, models)| {
            let mut session = Session::default();
            (session.app_name, session.session_id, session.state) = (app_name, session_id, state.clone());
            RunReport {
                number: 1,
                transcript: Transcript {
                    session: session.into(),
                    turns,
                    state,
                    error: error.clone(),
                    notes: Vec::new(),
                    models,
                },
                error,
                metrics,
            }
        },
    )
}

fn model_use() -> impl Strategy<Value = ModelUse> {
    (text(), any::<usize>(), any::<i64>()).prop_map(|(model, calls, tokens)| {
        let usage = UsageMetadata::default().with_prompt_token_count(tokens);
        ModelUse { model, requests: calls + 1, calls, asked: calls / 2, usage }
    })
}

pub(crate) fn metric() -> impl Strategy<Value = MetricReport> {
    let criterion = (number(), map()).prop_map(|(threshold, options)| {
        let mut criterion = Criterion::new(threshold);
        criterion.options = options;
        criterion
    });
    let name = prop_oneof![text(), Just(TOKEN_USAGE.to_owned())];
    (name, prop::option::of(criterion), prop::option::of(number()), text()).prop_map(
        |(name, criterion, score, reason)| MetricReport {
            // A metric without a criterion is one of the built-in ones that only inform.
            name: if criterion.is_some() { name } else { TOKEN_USAGE.to_owned() },
            criterion,
            score,
            scored: 0,
            total: 0,
            passed_runs: None,
            loosened: None,
            arithmetic: score.map(|_| 2),
            verdict: Verdict::NotEvaluated(reason),
            notes: Vec::new(),
        },
    )
}
