//! The samples as evals: what a user's `tests/evals.rs` looks like, one attribute per way to use it.
//!
//! ```text
//! cargo test --test samples
//! cargo test --test samples weather::sunny
//! ```

use std::error::Error;

use eval_core::testing::Fixture;
use eval_core::{Agent, BoxError, EvalCase, EvalRun, EvalRunner, Replay, agent_fn, eval_set};
use tokio::runtime::Handle;

#[path = "../samples/greenhouse/agent.rs"]
mod greenhouse_agent;
#[path = "../samples/hotel/agent.rs"]
mod hotel_agent;
#[path = "samples/recorded.rs"]
mod recorded;
#[path = "../samples/cluster/recording.rs"]
mod recording;
#[path = "../samples/weather/style.rs"]
mod style;
#[path = "../samples/support/agent.rs"]
mod support_agent;
#[path = "../samples/support/model.rs"]
mod support_model;
#[path = "../samples/travel/agent.rs"]
mod travel_agent;
#[path = "../samples/units/agent.rs"]
mod units_agent;
#[path = "../samples/weather/agent.rs"]
mod weather_agent;

use greenhouse_agent::Keeper;
use support_agent::SupportAgent;
use weather_agent::WeatherAgent;

/// Tools, two turns, session state: ADK's default criteria.
#[eval_set("samples/weather/weather.evalset.json")]
fn weather() -> impl Agent {
    WeatherAgent::new()
}

/// The same conversations, held to metrics of our own; each case runs twice.
#[eval_set(
    "samples/weather/weather.evalset.json",
    criteria(brevity(threshold = 1.0, max_words = 15), tone = 1.0),
    metrics(style::brevity, tone = style::tone),
    cases = ["*in*", "!degrees*"],
    runs = 2,
    pass = "all",
    timeout = "5s"
)]
fn weather_style() -> impl Agent {
    WeatherAgent::new()
}

/// The same conversations, scored by a program, which runs in the folder of its config.
#[cfg(unix)]
#[eval_set("samples/weather/weather.evalset.json", config = "samples/weather/calm.json", cases = "sunny*")]
fn weather_calm() -> impl Agent {
    WeatherAgent::new()
}

/// The same conversations once more: a tool call more than expected and other words are fine, within limits.
#[eval_set(
    "samples/weather/weather.evalset.json",
    criteria(
        trajectory_recall = 1.0,
        trajectory_precision = 0.5,
        response_similarity(threshold = 0.8, algorithm = "rouge_l")
    )
)]
fn weather_leniently() -> impl Agent {
    WeatherAgent::new()
}

/// The same conversations, judged by a model: its answers are replayed from the recording beside the set.
#[eval_set(
    "samples/weather/weather.evalset.json",
    config = "samples/weather/judged.json",
    cases = ["sunny*", "umbrella*"]
)]
fn weather_judged() -> impl Agent {
    WeatherAgent::new()
}

/// Sub-agents: events and intermediate responses, hand-overs between the expected calls.
#[eval_set(
    "samples/travel/travel.evalset.json",
    criteria(
        tool_trajectory_avg_score(threshold = 1.0, match_type = "IN_ORDER"),
        response_match_score = 0.9
    )
)]
fn travel() -> impl Agent {
    travel_agent::Planner
}

/// ADK's old format, with the session file that belongs to it.
#[eval_set(
    "samples/greenhouse/watering.test.json",
    session = "samples/greenhouse/initial.session.json",
    gate = "every_turn"
)]
fn greenhouse() -> impl Agent {
    Keeper::default()
}

/// A directory: one module per file, each with the `test_config.json` beside it.
#[eval_set("samples/support/evals")]
async fn support() -> Result<impl Agent, BoxError> {
    SupportAgent::connect().await
}

/// Simulated guests beside a recorded one: scenarios, replayed from the recording beside the set.
#[eval_set("samples/hotel/hotel.evalset.json")]
fn hotel() -> impl Agent {
    hotel_agent::FrontDesk::default()
}

/// A set as adk-rs writes it, and a closure as the agent.
#[eval_set("samples/units/units.evalset.json")]
fn units() -> impl Agent {
    agent_fn(units_agent::convert)
}

/// The value that all tests share: made once, in a runtime that outlives the test that asked first. The tools of each case run there.
static TOOLS: Fixture<Handle> = Fixture::new(|| Box::pin(async { Ok(Handle::current()) }));

#[eval_set("samples/units/units.evalset.json")]
async fn units_shared() -> Result<impl Agent, BoxError> {
    let tools = TOOLS.get().await?;
    Ok(agent_fn(
        move |text, recorder| async move { tools.spawn(units_agent::convert(text, recorder)).await? },
    ))
}

/// The same set for each variant of an agent: the tests are `units_as::whole::polite::..` and so on.
#[eval_set(
    "samples/units/units.evalset.json",
    criteria(tool_trajectory_avg_score = 1.0),
    matrix(
        rounding = ["whole", "exact"],
        tone = ["polite", "short"],
        exclude = [(rounding = "exact", tone = "short")]
    )
)]
fn units_as(_case: &EvalCase, variant: &units_as::Variant) -> Result<impl Agent, BoxError> {
    let units_as::Variant { rounding, tone } = *variant;
    if (rounding, tone) == ("exact", "short") {
        return Err("the matrix leaves this variant out".into());
    }
    Ok(agent_fn(units_agent::convert))
}

/// A set as agentevals writes it, and the recording of each case as the agent.
#[eval_set("samples/cluster/cluster.evalset.json")]
fn cluster(case: &EvalCase) -> Result<Replay, BoxError> {
    recording::of(&case.eval_id)
}

/// A test body of our own: it runs the case and asserts on the report.
#[eval_set("samples/units/units.evalset.json", cases = "miles_*")]
async fn units_body(run: EvalRun) -> Result<(), BoxError> {
    let report = run.evaluate(agent_fn(units_agent::convert)).await;
    let calls = report.metric("tool_call_count_v1").and_then(|metric| metric.score);
    if calls == Some(1.0) { Ok(()) } else { Err(format!("expected one tool call, saw {calls:?}").into()) }
}

/// Without the attribute: the same directory from a program, four cases at a time.
#[tokio::test]
async fn a_runner_runs_a_directory_too() -> Result<(), Box<dyn Error>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/support/evals");
    let report = EvalRunner::new().run_dir(directory, SupportAgent::connect, 4).await?;
    let ids: Vec<&str> = report.cases.iter().map(eval_core::CaseReport::eval_id).collect();
    assert_eq!(
        ids,
        ["where_is_my_order", "delivered_order_can_go_back", "shipped_order_cannot_yet", "greets"]
    );
    assert!(report.all_passed(), "{report}");
    Ok(())
}
