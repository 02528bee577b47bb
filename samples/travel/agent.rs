//! A travel planner that hands over to two sub-agents, each of which records under its own name.

use eval_core::{Agent, BoxError, Recorder, Turn, json};

/// The planner. It has no memory: each message names its destination.
#[derive(Debug)]
pub(crate) struct Planner;

impl Agent for Planner {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let planner = turn.recorder().author("planner");
        let message = turn.text();
        let destination = destination(&message).ok_or("the message names no destination")?;
        let mut answers = Vec::new();
        if message.contains("fly") || message.contains("trip") {
            hand_over(&planner, "flight_agent").await?;
            answers.push(find_flight(&planner.author("flight_agent"), destination).await?);
        }
        if message.contains("stay") || message.contains("trip") {
            hand_over(&planner, "hotel_agent").await?;
            answers.push(find_hotel(&planner.author("hotel_agent"), destination).await?);
        }
        planner.text(format!("Here is your plan. {}", answers.join(" ")));
        Ok(())
    }
}

/// In ADK a hand-over is a tool call like any other.
async fn hand_over(planner: &Recorder, to: &str) -> Result<(), BoxError> {
    planner.tool("transfer_to_agent", json!({ "agent_name": to }), async { Ok(()) }).await
}

async fn find_flight(recorder: &Recorder, to: &str) -> Result<String, BoxError> {
    let args = json!({ "from": "Berlin", "to": to, "cabin": "economy" });
    let number = recorder.tool("search_flights", args, async { Ok::<_, BoxError>("EV 204") }).await?;
    let found = format!("Flight {number} leaves Berlin for {to} at 9:40.");
    recorder.text(found.as_str());
    Ok(found)
}

async fn find_hotel(recorder: &Recorder, city: &str) -> Result<String, BoxError> {
    let hotel = recorder.tool("search_hotels", json!({ "city": city }), async { lookup(city) }).await?;
    let found = format!("The {hotel} in {city} has a room.");
    recorder.text(found.as_str());
    Ok(found)
}

fn lookup(city: &str) -> Result<&'static str, BoxError> {
    match city {
        "Lisbon" => Ok("Casa do Rio"),
        "Vienna" => Ok("Hotel am Park"),
        _ => Err(format!("no hotel is known in {city}").into()),
    }
}

fn destination(message: &str) -> Option<&'static str> {
    ["Lisbon", "Vienna"].into_iter().find(|city| message.contains(city))
}
