//! A team of agents that hands a message on. It knows nothing of evals: it tells a listener what it does.

/// The events: each agent with its deed.
#[derive(Debug)]
pub struct Step {
    pub agent: &'static str,
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    /// The agent said something.
    Said(String),
    /// The agent searched for something in a city, and found it.
    Searched {
        with: &'static str,
        city: &'static str,
        found: &'static str,
    },
    /// The agent handed the message on to another one.
    HandedTo(&'static str),
}

/// Answers a message, and tells the listener each step.
pub fn answer(message: &str, mut on_step: impl FnMut(Step)) {
    let mut step = |agent, what| on_step(Step { agent, what });
    let city = if message.contains("Vienna") {
        "Vienna"
    } else {
        "Lisbon"
    };
    let mut plan = Vec::new();
    for (word, agent, with, found) in [
        ("fly", "flight_agent", "search_flights", "EV 204"),
        ("stay", "hotel_agent", "search_hotels", "Casa do Rio"),
    ] {
        if message.contains(word) {
            step("planner", What::HandedTo(agent));
            step(agent, What::Searched { with, city, found });
            step(agent, What::Said(format!("I found {found}.")));
            plan.push(found);
        }
    }
    step(
        "planner",
        What::Said(format!("Your plan for {city}: {}.", plan.join(", then "))),
    );
}
