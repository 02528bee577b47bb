//! The front desk of a hotel with rooms in three cities: it asks for what it is not told.

use eval_core::{Agent, BoxError, Recorder, Turn, json};

/// The desk's knowledge of its guest so far.
#[derive(Debug, Default)]
pub(crate) struct FrontDesk {
    city: Option<&'static str>,
    nights: Option<i64>,
    offered: bool,
}

impl Agent for FrontDesk {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (recorder, message) = (turn.recorder(), turn.text().to_lowercase());
        self.city = city_in(&message).or(self.city);
        self.nights = nights_in(&message).or(self.nights);
        let answer = match (self.city, self.nights) {
            (None, _) => "Which city are you travelling to?".to_owned(),
            (Some(_), _) if self.offered && is_no(&message) => "All right, nothing is booked.".to_owned(),
            (Some(city), Some(nights)) if self.offered => book(recorder, city, nights).await?,
            (Some(city), nights) => {
                self.offered = nights.is_some();
                offer(recorder, city, nights).await?
            }
        };
        recorder.text(answer);
        Ok(())
    }
}

async fn offer(recorder: &Recorder, city: &str, nights: Option<i64>) -> Result<String, BoxError> {
    let found = recorder.tool("find_room", json!({ "city": city }), async {
        Ok::<_, BoxError>(json!({ "euros": price(city) }))
    });
    let euros = found.await?["euros"].as_i64().unwrap_or_default();
    let question = match nights {
        Some(nights) => format!("Shall I book it for {}?", counted(nights)),
        None => "How many nights do you need?".to_owned(),
    };
    Ok(format!("There is a room in {city} for {euros} euros a night. {question}"))
}

async fn book(recorder: &Recorder, city: &str, nights: i64) -> Result<String, BoxError> {
    let booking = json!({ "city": city, "nights": nights });
    let booked = recorder.tool("book_room", booking.clone(), async {
        let letter = city.chars().next().unwrap_or('X');
        Ok::<_, BoxError>(format!("{letter}-{nights}"))
    });
    let number = booked.await?;
    recorder.state("booking", booking);
    Ok(format!("It is booked: {city}, {}. The number of your booking is {number}.", counted(nights)))
}

fn price(city: &str) -> i64 {
    match city {
        "Paris" => 140,
        "Vienna" => 110,
        _ => 90,
    }
}

fn counted(nights: i64) -> String {
    if nights == 1 { "1 night".to_owned() } else { format!("{nights} nights") }
}

fn city_in(message: &str) -> Option<&'static str> {
    ["Lisbon", "Paris", "Vienna"].into_iter().find(|city| message.contains(&city.to_lowercase()))
}

fn nights_in(message: &str) -> Option<i64> {
    let words = || message.split(|c: char| !c.is_alphanumeric());
    let named = ["one", "two", "three"];
    words().find_map(|word| match named.iter().position(|name| *name == word) {
        Some(at) => i64::try_from(at + 1).ok(),
        None => word.parse().ok().filter(|nights| (1..=14).contains(nights)),
    })
}

fn is_no(message: &str) -> bool {
    ["no,", "not ", "too "].iter().any(|word| message.contains(word))
}
