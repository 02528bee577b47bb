//! A weather assistant: two tools, a home city from the session, and a memory of the city talked about.

use eval_core::format::Value;
use eval_core::{Agent, BoxError, Recorder, Session, Turn, json};

/// The knowledge of the weather service: city, sky and degrees Celsius today, sky tomorrow.
const STATIONS: &[(&str, &str, i32, &str)] =
    &[("Paris", "sunny", 21, "cloudy"), ("Oslo", "cloudy", 9, "rainy"), ("Chicago", "windy", 12, "sunny")];

/// One conversation with the assistant.
#[derive(Debug, Default)]
pub(crate) struct WeatherAgent {
    home: Option<String>,
    in_fahrenheit: bool,
    last_city: Option<String>,
}

impl WeatherAgent {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The city that a message is about: one it names, home, or the one talked about before.
    fn city(&self, message: &str) -> Option<String> {
        let named = message
            .split(|c: char| !c.is_alphabetic())
            .skip(1)
            .find(|word| word.starts_with(char::is_uppercase) && *word != "I");
        match named {
            Some(city) => Some(city.to_owned()),
            None if message.contains("home") => self.home.clone(),
            None => self.last_city.clone(),
        }
    }

    async fn today(&self, city: &str, recorder: &Recorder) -> String {
        let unit = if self.in_fahrenheit { "fahrenheit" } else { "celsius" };
        let args = json!({ "city": city, "unit": unit });
        match recorder.tool("get_weather", args, async { get_weather(city, self.in_fahrenheit) }).await {
            Ok((sky, degrees)) => format!("It is {sky} in {city} today, {degrees} degrees {unit}."),
            Err(error) => format!("I am sorry, I cannot tell: {error}."),
        }
    }

    async fn tomorrow(city: &str, recorder: &Recorder) -> String {
        let args = json!({ "city": city, "days": 1 });
        match recorder.tool("get_forecast", args, async { get_forecast(city) }).await {
            Ok("rainy") => format!("Yes, take an umbrella: it will be rainy in {city} tomorrow."),
            Ok(sky) => format!("No umbrella needed: it will be {sky} in {city} tomorrow."),
            Err(error) => format!("I am sorry, I cannot tell: {error}."),
        }
    }
}

impl Agent for WeatherAgent {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let text = |key| session.state.get(key).and_then(Value::as_str);
        self.home = text("home_city").map(str::to_owned);
        self.in_fahrenheit = text("unit") == Some("fahrenheit");
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (message, recorder) = (turn.text(), turn.recorder());
        let Some(city) = self.city(&message) else {
            recorder.text("Which city do you mean?");
            return Ok(());
        };
        let answer = if message.contains("tomorrow") {
            Self::tomorrow(&city, recorder).await
        } else {
            self.today(&city, recorder).await
        };
        recorder.state("last_city", city.as_str());
        recorder.text(answer);
        self.last_city = Some(city);
        Ok(())
    }
}

/// The tool: sky and degrees of today. A real one would ask a service.
fn get_weather(city: &str, in_fahrenheit: bool) -> Result<(&'static str, i32), String> {
    let (_, sky, celsius, _) = station(city)?;
    Ok((sky, if in_fahrenheit { celsius * 9 / 5 + 32 } else { celsius }))
}

/// The tool: the sky of tomorrow.
fn get_forecast(city: &str) -> Result<&'static str, String> {
    station(city).map(|(.., tomorrow)| tomorrow)
}

fn station(city: &str) -> Result<(&'static str, &'static str, i32, &'static str), String> {
    let found = STATIONS.iter().find(|(name, ..)| *name == city).copied();
    found.ok_or_else(|| format!("there is no weather station in {city}"))
}
