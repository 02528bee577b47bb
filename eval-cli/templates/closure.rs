//! Evals: each case of `evals/weather.evalset.json` is a test.

use eval_core::{Agent, BoxError, Recorder, agent_fn, eval_set, json};

#[eval_set("evals/weather.evalset.json")]
fn weather_cases() -> impl Agent {
    agent_fn(answer)
}

/// A placeholder for your agent: it answers the user, and shows the recorder which tools it calls.
async fn answer(message: String, recorder: Recorder) -> Result<String, BoxError> {
    let city = if message.contains("Oslo") {
        "Oslo"
    } else {
        "Paris"
    };
    let sky = recorder
        .tool("get_weather", json!({ "city": city }), get_weather(city))
        .await?;
    Ok(format!("It is {sky} in {city}."))
}

/// A placeholder for one of its tools.
async fn get_weather(city: &str) -> Result<String, BoxError> {
    Ok(if city == "Oslo" { "rainy" } else { "sunny" }.to_owned())
}
