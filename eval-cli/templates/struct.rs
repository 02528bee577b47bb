//! Evals: each case of `evals/weather.evalset.json` is a test.

use eval_core::{Agent, BoxError, Turn, eval_set, json};

#[eval_set("evals/weather.evalset.json")]
fn weather_cases() -> impl Agent {
    WeatherAgent { heard: Vec::new() }
}

/// A placeholder for your agent. A value of it is one conversation.
struct WeatherAgent {
    heard: Vec<String>,
}

impl Agent for WeatherAgent {
    /// Answers the user, and shows the recorder which tools it calls.
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        self.heard.push(turn.text());
        let mentions_oslo = self.heard.iter().any(|message| message.contains("Oslo"));
        let city = if mentions_oslo { "Oslo" } else { "Paris" };
        let sky = turn
            .recorder()
            .tool("get_weather", json!({ "city": city }), get_weather(city))
            .await?;
        turn.recorder().text(format!("It is {sky} in {city}."));
        Ok(())
    }
}

/// A placeholder for one of its tools.
async fn get_weather(city: &str) -> Result<String, BoxError> {
    Ok(if city == "Oslo" { "rainy" } else { "sunny" }.to_owned())
}
