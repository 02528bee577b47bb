//! A report with each kind of case and result, the same on every run.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eval_format::{
    Content, Criterion, EvalCase, EvalSet, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map,
    Part, Rubric, UsageMetadata, Value,
};
use serde_json::json;

use eval_core::EvalRunner;
use eval_core::agent::{Agent, BoxError, Event, Turn};
use eval_core::metric::arithmetic::INVOCATION_DURATION;
use eval_core::report::TurnRecord;
use eval_core::report::{EvalReport, MetricOutcome, RunReport};
use eval_core::{Metric, MetricInput, Score, Scores};

/// The time of the report.
pub(super) fn time() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_760_000_000_125)
}

/// Plays each case its own part.
struct Scripted(String);

impl Agent for Scripted {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let recorder = turn.recorder();
        let text = turn.text();
        match (self.0.as_str(), text.as_str()) {
            ("forecast", "And tomorrow?") => forecast().into_iter().for_each(|event| recorder.event(event)),
            ("breaks", "again") => {
                recorder.text("wait");
                return Err("connection refused,\n\"twice\"".into());
            }
            ("quiet" | "forecast", _) => {
                recorder.state("last_city", "Paris");
                recorder.text("It is sunny in Paris.");
            }
            _ => recorder.text("It's \"fine\",\nsays 天気 🎉"),
        }
        Ok(())
    }
}

fn forecast() -> Vec<Event> {
    let args = json!({
        "city": "Côte d'Or", "days": 2, "wind": null, "limit": 1e-7, "hard": [true, { "big": 1.5e300 }],
    });
    let Value::Object(args) = Value::from(args) else { return Vec::new() };
    let other = Map::from([
        ("partial_args", Value::from(json!([{ "json_path": "$.city", "string_value": "Côte" }]))),
        ("will_continue", Value::Bool(false)),
    ]);
    let mut call = FunctionCall::new("forecast", args).with_id("call-1");
    call.other = other;
    let signed = Part::call(call).with_other("thought_signature", "_-8=");
    let result = FunctionResponse::new("forecast", json!({ "sky": "rain" }));
    let usage = UsageMetadata::default()
        .with_prompt_token_count(12)
        .with_candidates_token_count(7)
        .with_thoughts_token_count(3)
        .with_other("prompt_tokens_details", json!([{ "modality": "text", "token_count": 12 }]));
    let grounding =
        json!({ "web_search_queries": ["rain"], "grounding_chunks": [{ "web": { "uri": "u" } }] });
    let Value::Object(grounding) = Value::from(grounding) else { return Vec::new() };
    let mut asks = Event::new("planner", Content::new("model", vec![signed]));
    asks.usage = Some(usage);
    asks.model_version = Some("model-1".to_owned());
    asks.long_running_tool_ids = vec!["b".to_owned(), "a".to_owned(), "b".to_owned()];
    let mut gets = Event::new("planner", Content::new("user", vec![Part::response(result)]));
    gets.state_delta = Map::from([("seen", Value::from(json!([1, null])))]);
    let mut begins = Event::from("It wi");
    begins.partial = true;
    let mut says = Event::from("It will rain, sadly.");
    says.grounding_metadata = Some(grounding);
    vec![asks, gets, begins, says]
}

/// A metric that gives no score to one turn, and fails for one case.
struct Picky;

impl Metric for Picky {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        match input.case.eval_id.as_str() {
            "metric breaks" => Err("no, \"not\" today".into()),
            "unscored" => {
                Ok([Score::from(1.0), Score::not_evaluated("nothing to go by")].into_iter().collect())
            }
            _ => Ok(input.actual.iter().map(|_| Score::from(0.1 + 0.2)).collect()),
        }
    }
}

pub(super) fn set() -> EvalSet {
    let rubric = Rubric::new("kind", "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
    let flat = IntermediateData::Tools {
        tool_uses: vec![FunctionCall::new("forecast", json!({ "days": 2, "city": "Côte d'Or" }))],
        tool_responses: vec![FunctionResponse::new("forecast", json!("rain"))],
        intermediate_responses: vec![("planner".to_owned(), vec![Part::text("let me see")])],
    };
    let forecast = EvalCase::new("forecast")
        .turn(Invocation::user("Weather in Paris?").response("It is sunny in Paris."))
        .turn(
            Invocation::user("And tomorrow?")
                .with_intermediate_data(flat)
                .response("It will rain.")
                .with_rubrics([rubric]),
        )
        .state(Map::from([("unit", "celsius")]))
        .final_state(Map::from([("last_city", "Paris")]));
    let two_turns = |id: &str| {
        EvalCase::new(id)
            .turn(Invocation::user("once").response("It's \"fine\",\nsays 天気 🎉"))
            .turn(Invocation::user("again").response("no"))
    };
    EvalSet::new("weather")
        .case(forecast)
        .case(EvalCase::new("quiet").turn(Invocation::user("Paris?")))
        .case(two_turns("breaks"))
        .case(two_turns("metric breaks"))
        .case(two_turns("unscored"))
        .case(EvalCase::new("no setup").turn(Invocation::user("hi").response("hi")))
}

pub(super) fn report() -> EvalReport {
    let trajectory = Criterion::new(1.0).with("match_type", "IN_ORDER").with("ignore_args", true);
    let runner = EvalRunner::new()
        .criterion("tool_trajectory_avg_score", trajectory)
        .criterion("response_match_score", Criterion::new(0.5))
        .criterion("picky", Criterion::new(0.3))
        .metric("picky", Picky)
        .runs(2);
    let setup = |case: &EvalCase| match case.eval_id.as_str() {
        "no setup" => Err("no key"),
        id => Ok(Scripted(id.to_owned())),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = runtime.block_on(runner.run_set(&set(), setup, 1)).unwrap();
    for case in &mut report.cases {
        let duration = case.metrics.iter().position(|metric| metric.name == INVOCATION_DURATION).unwrap();
        for (number, run) in case.runs.iter_mut().enumerate() {
            fix(run, &format!("session-{}-{number}", case.case.eval_id), duration);
        }
    }
    report
}

/// Puts fixed values where each run has its own.
fn fix(run: &mut RunReport, session: &str, duration: usize) {
    if !run.transcript.session.session_id.is_empty() {
        Arc::make_mut(&mut run.transcript.session).session_id = session.to_owned();
    }
    for (at, TurnRecord { events, invocation }) in (0_u32..).zip(&mut run.transcript.turns) {
        invocation.creation_timestamp = 1_760_000_000.0 + f64::from(at);
        invocation.duration = Some(1.2345);
        invocation.model_duration = Some(1.0);
        invocation.tool_duration = Some(0.1);
        for (number, event) in (1..).zip(events) {
            event.at = Duration::from_millis(125 * number);
        }
    }
    if let Some(score) = run.metrics.get_mut(duration) {
        let turns = run.transcript.turns.iter().map(|_| Score::from(1.2345));
        score.outcome = MetricOutcome::Scored(turns.collect::<Scores>().with_overall(Some(1.234)));
    }
}
