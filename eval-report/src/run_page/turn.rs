//! A turn of a run, beside what was expected of it.

use std::collections::HashMap;
use std::time::Duration;

use eval_core::agent::Event;
use eval_core::metric::arithmetic::{Pair, RuledCalls, comparison};
use eval_core::report::TurnRecord;
use eval_format::expect::{Relation, Rules};
use eval_format::metric::metric;
use eval_format::{ArgsMatch, Criterion, EvalCase, FunctionCall, FunctionResponse, Invocation, MatchType};
use eval_support::words;

use super::aligned::{CallLine, aligned};
use crate::output::time;
use crate::page::{
    self, Budget, Call, CallState, Media, Step, ToolResult, Turn, TurnScore, keys_of_calls, line, media,
    media_labels, same_media, text, tool_result,
};
use crate::recorded::TestResult;

const MAX_STEPS: usize = 200;

const MAX_STEP_CHARS: usize = 300;

#[derive(Clone)]
pub(super) struct CallComparison {
    match_type: MatchType,
    args: ArgsMatch,
    words: String,
    /// The rules of the case; none if calls were judged as ADK does.
    rules: Rules,
}

impl CallComparison {
    pub(super) fn new(test: &TestResult<'_>) -> Self {
        let of_metric =
            test.deciding().find_map(|report| Self::of_metric(&report.name, report.criterion.as_ref()));
        of_metric.unwrap_or_else(|| Self::in_words("which no metric compares"))
    }

    /// The comparison of a metric; `None` if it compares no calls.
    pub(super) fn of_metric(name: &str, criterion: Option<&Criterion>) -> Option<Self> {
        let (match_type, args) = comparison(name, criterion)?;
        let words = compared(name, match_type, args);
        Some(Self { match_type, args, words, rules: Rules::default() })
    }

    /// The comparison under the rules of a case.
    pub(super) fn under(self, case: Option<&EvalCase>) -> Self {
        Self { rules: case.and_then(|case| Rules::of(case).ok()).unwrap_or_default(), ..self }
    }

    /// In words, of a turn.
    fn of_turn(&self, at: usize) -> String {
        let rules = if self.rules.turn(at).is_literal() { "" } else { ", but for the rules of the case" };
        format!("{}{rules}", self.words)
    }

    /// A comparison in order, which no metric makes.
    pub(super) fn in_words(words: &str) -> Self {
        Self {
            match_type: MatchType::InOrder,
            args: ArgsMatch::default(),
            words: words.to_owned(),
            rules: Rules::default(),
        }
    }
}

/// The comparison of a metric, after the word "calls".
fn compared(name: &str, match_type: MatchType, args: ArgsMatch) -> String {
    let counts_others = metric(name).is_none_or(|info| info.counts_others_under(match_type));
    let order = match (match_type, counts_others) {
        (MatchType::Exact, _) | (MatchType::InOrder, true) => "which must be the same, in the same order",
        (MatchType::InOrder, false) => "which must have these in this order, and may have others",
        (MatchType::AnyOrder, true) => "which must all be expected, in any order",
        (MatchType::AnyOrder, false) => "which must have these in any order, and may have others",
    };
    match args {
        ArgsMatch::Exact => order.to_owned(),
        ArgsMatch::Subset => format!("{order}, more arguments allowed"),
        ArgsMatch::Ignore => format!("{order}, whatever their arguments"),
    }
}

/// A turn, counted from 0.
pub(super) fn turn(
    at: usize,
    record: &TurnRecord,
    expected: Option<&Invocation>,
    comparison: &CallComparison,
    scores: Vec<TurnScore>,
    budget: &Budget,
) -> Turn {
    let actual = &record.invocation;
    let answer = answer(expected, actual, budget);
    let calls = calls(at, record, expected, comparison, budget);
    let bad = scores.iter().any(is_bad);
    let turn = Turn {
        played: true,
        user: text(&actual.user_text()),
        user_media: media(&actual.user_content, budget),
        compared: expected.map(|_| comparison.of_turn(at)),
        bad,
        calls,
        scores,
        took: took(actual),
        steps: steps(&record.events).take(MAX_STEPS).collect(),
        more_steps: steps(&record.events).count().saturating_sub(MAX_STEPS),
        ..answer
    };
    Turn { differs: differs(&turn), ..turn }
}

/// Marks the calls that an ended run did not come to: they are no fault of the agent.
pub(super) fn mark_unreached(turn: &mut Turn) {
    for call in turn.calls.iter_mut().filter(|call| call.is == CallState::Missing) {
        call.is = CallState::Unreached;
    }
    turn.differs = differs(turn);
}

fn differs(turn: &Turn) -> bool {
    turn.bad || turn.calls.iter().any(|call| call.is.differs()) || turn.expected.is_some() && !turn.same
}

/// Whether a score is the fault of its turn. An error of a metric without a reason is the fault of another turn.
pub(super) fn is_bad(score: &TurnScore) -> bool {
    match score.state {
        "failed" | "not_evaluated" => true,
        "error" => score.reason.is_some(),
        _ => false,
    }
}

/// The part of a turn that is about its answer.
fn answer(expected: Option<&Invocation>, actual: &Invocation, budget: &Budget) -> Turn {
    let wanted = expected.and_then(|turn| Some((turn, turn.final_response.as_ref()?)));
    let shown = actual.final_response.as_ref().map(|_| text(&actual.response_text()));
    let mut answer = Turn {
        actual: shown,
        actual_media: actual.final_response.iter().flat_map(|content| media(content, budget)).collect(),
        ..Turn::default()
    };
    let Some((turn, content)) = wanted else { return answer };
    answer.expected = Some(text(&turn.response_text()));
    answer.expected_media = media(content, budget);
    if let (Some(one), Some(other), Some(found)) = (&answer.expected, &answer.actual, &actual.final_response)
    {
        let same_text = turn.response_text() == actual.response_text();
        answer.other_parts = !same_media(content, found);
        answer.same = same_text && !answer.other_parts;
        // Shown texts may be masked or truncated, so that two different answers look the same.
        answer.hidden = !same_text && one == other;
        if one != other {
            answer.diff = page::texts(&one.shown, &other.shown);
        }
    }
    answer
}

/// A turn that the run did not come to, with what was expected of it.
pub(super) fn not_played(
    expected: &Invocation,
    comparison: &CallComparison,
    scores: Vec<TurnScore>,
    budget: &Budget,
) -> Turn {
    let calls = expected.tool_calls().map(|call| Call {
        is: CallState::Missing,
        name: name(call),
        expected: Some(line(&call.to_string())),
        ..Call::default()
    });
    Turn {
        user: text(&expected.user_text()),
        user_media: media(&expected.user_content, budget),
        compared: Some(comparison.words.clone()),
        calls: calls.collect(),
        expected: expected.final_response.as_ref().map(|_| text(&expected.response_text())),
        expected_media: expected.final_response.iter().flat_map(|content| media(content, budget)).collect(),
        bad: scores.iter().any(is_bad),
        differs: true,
        scores,
        ..Turn::default()
    }
}

fn calls(
    turn: usize,
    record: &TurnRecord,
    expected: Option<&Invocation>,
    comparison: &CallComparison,
    budget: &Budget,
) -> Vec<Call> {
    let actual: Vec<&FunctionCall> = record.invocation.tool_calls().collect();
    let mut results = results(&record.events, &actual, budget);
    let shown = |call: &FunctionCall| line(&call.to_string());
    let Some(expected) = expected else {
        let made = actual.iter().zip(results);
        return made
            .map(|(call, result)| {
                let (result, result_media) = shown_result(result);
                let (name, actual) = (name(call), Some(shown(call)));
                Call { is: CallState::Made, name, actual, result, result_media, ..Call::default() }
            })
            .collect();
    };
    let expected: Vec<&FunctionCall> = expected.tool_calls().collect();
    let rules = comparison.rules.turn(turn);
    let ruled = RuledCalls::new(&expected, &actual, rules, comparison.match_type, comparison.args);
    let lines = aligned(&expected, &actual, comparison.match_type, comparison.args, rules);
    let lines = lines.into_iter().map(|line| {
        let (is, e, a) = match line {
            CallLine::Pair(Pair::Same(e, a)) => (CallState::Same, Some(e), Some(a)),
            CallLine::Pair(Pair::Loosened(e, a)) => (CallState::Loosened, Some(e), Some(a)),
            CallLine::Pair(Pair::LeftOut(e)) => (CallState::LeftOut, Some(e), None),
            CallLine::Pair(Pair::Other(a)) => (CallState::Other, None, Some(a)),
            CallLine::Pair(Pair::Changed(e, a)) => (CallState::Changed, Some(e), Some(a)),
            CallLine::Pair(Pair::Missing(e)) => (CallState::Missing, Some(e), None),
            CallLine::Pair(Pair::Extra(a)) => (CallState::Extra, None, Some(a)),
            CallLine::Moved(e, a) => (CallState::Moved, Some(e), Some(a)),
        };
        let args = |call: &FunctionCall| call.args.clone().unwrap_or_default();
        let keys = e.zip(a).filter(|_| is == CallState::Changed).map(|(e, a)| {
            let allows_more = comparison.args == ArgsMatch::Subset;
            let keys = keys_of_calls(&args(expected[e]), &args(actual[a]), allows_more);
            match ruled.relation(e, a) {
                Relation::Mismatch(reasons) if rules.has_rules(e) => {
                    keys.under_rules(&reasons.iter().map(|reason| reason.path.as_str()).collect::<Vec<_>>())
                }
                _ => keys,
            }
        });
        let (result, result_media) = shown_result(a.and_then(|a| results[a].take()));
        Call {
            is,
            name: e.map(|e| name(expected[e])).or_else(|| a.map(|a| name(actual[a]))).unwrap_or_default(),
            keys,
            expected: e.map(|e| shown(expected[e])),
            actual: a.map(|a| match e {
                Some(e) => shown(&in_order_of(expected[e], actual[a])),
                None => shown(actual[a]),
            }),
            result,
            result_media,
            note: match (is, e, a) {
                (CallState::Moved, Some(e), Some(a)) => {
                    Some(format!("expected as call {}, made as call {}", e + 1, a + 1))
                }
                (CallState::Loosened | CallState::Changed, Some(e), Some(a)) if rules.has_rules(e) => {
                    by_rule(&ruled, e, a)
                }
                _ => None,
            },
            differences: 0,
        }
    });
    lines.collect()
}

/// The rules by which two calls match, or the reasons why they do not.
fn by_rule(ruled: &RuledCalls<'_>, expected: usize, actual: usize) -> Option<String> {
    let said: Vec<String> = match ruled.relation(expected, actual) {
        Relation::Loosened(points) => {
            let needed = points.iter().filter(|point| point.needed);
            let place =
                |path: &str| if path.is_empty() { "the whole".to_owned() } else { format!("`{path}`") };
            needed.map(|point| format!("{} matches <{}>", place(&point.path), point.matcher)).collect()
        }
        Relation::Mismatch(reasons) => reasons.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    (!said.is_empty()).then(|| line(&said.join(", ")))
}

fn name(call: &FunctionCall) -> String {
    line(call.name.as_deref().unwrap_or("(no name)"))
}

/// A call with its arguments in the order of the expected ones: their order is no difference.
fn in_order_of(expected: &FunctionCall, actual: &FunctionCall) -> FunctionCall {
    let mut ordered = actual.clone();
    if let (Some(wanted), Some(args)) = (&expected.args, &actual.args) {
        let first = wanted.keys().filter_map(|key| Some((key, args.get(key)?)));
        let rest = args.iter().filter(|(key, _)| !wanted.contains_key(key));
        ordered.args = Some(first.chain(rest).map(|(key, value)| (key.to_owned(), value.clone())).collect());
    }
    ordered
}

fn shown_result(result: Option<ToolResult>) -> (Option<String>, Vec<Media>) {
    result.map_or_else(Default::default, |result| (Some(result.shown), result.media))
}

/// The result of each call: the next response with its id and its tool.
fn results(events: &[Event], calls: &[&FunctionCall], budget: &Budget) -> Vec<Option<ToolResult>> {
    let responses = events.iter().flat_map(Event::parts).filter_map(|part| part.function_response.as_ref());
    let mut left: HashMap<(Option<&str>, Option<&str>), Vec<&FunctionResponse>> = HashMap::new();
    for response in responses {
        left.entry((response.id.as_deref(), response.name.as_deref())).or_default().push(response);
    }
    for of_call in left.values_mut() {
        of_call.reverse();
    }
    let of_calls = calls.iter().map(|call| {
        let response = left.get_mut(&(call.id.as_deref(), call.name.as_deref()))?.pop()?;
        Some(tool_result(response, budget))
    });
    of_calls.collect()
}

fn took(turn: &Invocation) -> Option<String> {
    let part = |seconds: Option<f64>, of: &str| {
        let time = Duration::try_from_secs_f64(seconds?).ok()?;
        Some(format!("{}{of}", time::latency(time)))
    };
    let parts = [
        part(turn.duration, ""),
        part(turn.model_duration, " in the model"),
        part(turn.tool_duration, " in tools"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[derive(Clone, Copy, Default)]
struct Clock {
    called: f64,
    last: f64,
}

impl Clock {
    /// The start of the work that led to this event, and who did it. Work on a result begins at its call, other work
    /// at the event before: events tell when they arrived, and not when work on them began.
    fn from(&mut self, event: &Event) -> (f64, &'static str) {
        let at = event.at.as_secs_f64();
        let returns = event.parts().iter().any(|part| part.function_response.is_some());
        let calls = event.parts().iter().any(|part| part.function_call.is_some());
        let from = if returns { self.called } else { self.last }.min(at);
        if calls {
            self.called = at;
        }
        self.last = at;
        (from, if returns { "tool" } else { "model" })
    }
}

fn steps(events: &[Event]) -> impl Iterator<Item = Step> {
    let mut clock = Clock::default();
    events.iter().flat_map(move |event| {
        let (from, by) = clock.from(event);
        let step = |what, text: String| Step {
            at: event.at.as_secs_f64(),
            from,
            by,
            author: line(&event.author),
            what,
            text,
            tokens: None,
            model: None,
        };
        let of_parts = event.parts().iter().flat_map(|part| {
            let is_thought = part.thought == Some(true);
            let word = match (is_thought, event.partial) {
                (true, _) => "thinks",
                (false, true) => "says in part",
                (false, false) => "says",
            };
            let said = part.text.as_deref().filter(|text| !text.is_empty());
            // Secrets are masked first: a truncated secret would not be recognised.
            let said = said.map(|text| (word, line(text).chars().take(MAX_STEP_CHARS).collect()));
            let call = part.function_call.as_ref().map(|call| ("calls", line(&call.to_string())));
            let result = part.function_response.as_ref();
            let result = result.map(|it| ("returns", line(it.name.as_deref().unwrap_or_default())));
            let sent = media_labels(part).into_iter().map(|label| ("sends", label));
            [said, call, result].into_iter().flatten().chain(sent).collect::<Vec<_>>()
        });
        let error =
            event.error_code.iter().chain(&event.error_message).map(String::as_str).collect::<Vec<_>>();
        let error = (!error.is_empty()).then(|| ("fails", line(&error.join(": "))));
        let state = (!event.state_delta.is_empty())
            .then(|| ("sets", line(&event.state_delta.keys().collect::<Vec<_>>().join(", "))));
        let mut steps: Vec<Step> =
            of_parts.chain(error).chain(state).map(|(what, text)| step(what, text)).collect();
        if steps.is_empty() {
            steps.push(step("reports", String::new()));
        }
        let tokens = event.usage.as_ref().and_then(|usage| usage.total_token_count);
        if let Some(last) = steps.last_mut() {
            last.tokens = tokens.map(|tokens| words::tokens(tokens.into()));
            last.model = event.model_version.as_deref().map(line);
        }
        steps
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use eval_format::{Content, Part, UsageMetadata, Value};
    use serde_json::json;

    use super::*;

    fn call(id: Option<&str>, name: &str) -> FunctionCall {
        let call = FunctionCall::new(name, json!({}));
        match id {
            Some(id) => call.with_id(id),
            None => call,
        }
    }

    fn event(at: u64, parts: Vec<Part>) -> Event {
        let mut event = Event::new("agent", Content::new("model", parts));
        event.at = Duration::from_millis(at);
        event
    }

    #[test]
    fn a_result_is_that_of_its_id_and_else_the_next_one_of_its_tool() {
        let response = |id: Option<&str>, name: &str, n: i64| {
            let mut response = FunctionResponse::new(name, json!({ "n": n }));
            response.id = id.map(str::to_owned);
            Part::response(response)
        };
        let events = [
            event(1, vec![response(Some("b"), "f", 2), response(None, "g", 3)]),
            event(2, vec![response(Some("a"), "f", 1), response(None, "g", 4)]),
        ];
        let calls =
            [call(Some("a"), "f"), call(Some("b"), "f"), call(None, "g"), call(None, "g"), call(None, "g")];
        let found = results(&events, &calls.iter().collect::<Vec<_>>(), &Budget::default());
        let found: Vec<_> = found.into_iter().map(|result| result.map(|it| it.shown)).collect();
        let n = |n: i64| Some(format!(r#"{{"n":{n}}}"#));
        assert_eq!(found, [n(1), n(2), n(3), n(4), None]);
    }

    #[test]
    fn arguments_stand_in_the_order_of_the_expected_ones_and_others_behind_them() {
        let of = |args: Value| FunctionCall::new("f", args);
        let wanted = of(json!({ "a": 1, "b": 2, "c": 3 }).into());
        let made = of(Value::parse(r#"{"x": 0, "c": 3, "a": 1}"#).unwrap());
        let keys: Vec<String> = in_order_of(&wanted, &made).args.unwrap().keys().map(str::to_owned).collect();
        assert_eq!(keys, ["a", "c", "x"]);
    }

    #[test]
    fn the_duration_of_a_turn_is_told_as_far_as_it_is_recorded() {
        let turn = |all, model, tool| {
            let mut turn = Invocation::user("x");
            (turn.duration, turn.model_duration, turn.tool_duration) = (all, model, tool);
            turn
        };
        assert_eq!(took(&turn(None, None, None)), None);
        assert_eq!(took(&turn(Some(f64::NAN), None, None)), None);
        assert_eq!(took(&turn(Some(1.5), None, Some(0.25))).as_deref(), Some("1.50 s, 250 ms in tools"));
        assert_eq!(took(&turn(None, Some(1.0), None)).as_deref(), Some("1.00 s in the model"));
    }

    #[test]
    fn steps_tell_who_worked_since_when_and_what_came_of_it() {
        let mut calls = event(1000, vec![Part::text("Let me see."), Part::call(call(None, "f"))]);
        calls.usage = Some(UsageMetadata::default().with_total_token_count(7));
        calls.model_version = Some("m".to_owned());
        let mut thinks = event(500, vec![Part::text("hm"), Part::text("")]);
        if let Some(content) = &mut thinks.content {
            content.parts.iter_mut().flatten().take(1).for_each(|part| part.thought = Some(true));
        }
        let returned = event(1500, vec![Part::response(FunctionResponse::new("f", json!({})))]);
        let mut partial = event(2000, vec![Part::text("It i")]);
        partial.partial = true;
        let mut failed = event(2500, Vec::new());
        (failed.error_code, failed.error_message) = (Some("E1".to_owned()), Some("gone".to_owned()));
        let mut set = event(3000, Vec::new());
        set.state_delta.insert("k", 1);
        let all = [thinks, calls, returned, partial, failed, set, event(3500, Vec::new())];
        let told: Vec<String> = steps(&all)
            .map(|step| {
                let of_model = step.tokens.into_iter().chain(step.model).collect::<Vec<_>>().join(" ");
                format!("{}-{} {} {} {} {of_model}", step.from, step.at, step.by, step.what, step.text)
            })
            .collect();
        assert_eq!(
            told,
            [
                "0-0.5 model thinks hm ",
                "0.5-1 model says Let me see. ",
                "0.5-1 model calls f() 7 tokens m",
                "1-1.5 tool returns f ",
                "1.5-2 model says in part It i ",
                "2-2.5 model fails E1: gone ",
                "2.5-3 model sets k ",
                "3-3.5 model reports  ",
            ]
        );
    }

    #[test]
    fn it_is_said_how_calls_are_compared() {
        let plain = Criterion::new(1.0);
        let in_order = plain.clone().with_match_type(MatchType::InOrder);
        for (metric, criterion, said) in [
            ("tool_trajectory_avg_score", &plain, "which must be the same, in the same order"),
            (
                "tool_trajectory_avg_score",
                &in_order,
                "which must have these in this order, and may have others",
            ),
            ("trajectory_match_ratio", &plain, "which must be the same, in the same order"),
            ("trajectory_precision", &plain, "which must all be expected, in any order"),
            ("trajectory_recall", &plain, "which must have these in any order, and may have others"),
        ] {
            let (match_type, args) = comparison(metric, Some(criterion)).unwrap();
            assert_eq!(compared(metric, match_type, args), said);
        }
    }
}
