//! Servers and programs in the attribute, as users write it.

use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Answer, Stub, file};
use eval_agents::{AdkServer, Process};
use eval_core::{Agent, eval_set};

#[eval_set("evals/weather.evalset.json")]
fn program() -> impl Agent {
    Process::new(Command::new("python3").arg(file("samples/weather.py")))
}

#[eval_set("evals/weather.evalset.json", runs = 2)]
fn shared_program() -> impl Agent {
    Process::new(Command::new("python3").arg(file("samples/weather.py"))).concurrency(4)
}

/// A server that is not reachable now and then: each second session is not opened.
static SERVER: LazyLock<Stub> = LazyLock::new(|| {
    let sessions = AtomicUsize::new(0);
    Stub::new(move |request| match request.line.as_str() {
        "GET /apps/weather/app-info" => Answer::not_found(),
        "POST /run_sse" => {
            let city = request.body.split("weather in ").nth(1).unwrap_or_default();
            let city: String = city.chars().take_while(|c| c.is_alphabetic()).collect();
            let call = format!(
                r#"{{"author": "a", "content": {{"parts": [{{"functionCall": {{"name": "get_weather", "args": {{"city": "{city}"}}}}}}]}}}}"#
            );
            let text = format!(
                r#"{{"author": "a", "content": {{"parts": [{{"text": "It is sunny in {city}."}}]}}}}"#
            );
            Answer::events(&[&call, &text])
        }
        line if line.starts_with("POST ") => {
            if sessions.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                Answer::Whole(503, "text/plain", "nobody is here".to_owned())
            } else {
                let state = &request.body;
                Answer::json(&format!(
                    r#"{{"id": "{}", "created": {state}}}"#,
                    sessions.load(Ordering::Relaxed)
                ))
            }
        }
        line if line.starts_with("GET ") => {
            let last = if line.contains("anna") {
                r#""unit": "C", "last_city": "Lima""#
            } else {
                r#""last_city": "Paris""#
            };
            Answer::json(&format!(r#"{{"state": {{{last}}}}}"#))
        }
        _ => Answer::Whole(204, "text/plain", String::new()),
    })
});

// Two cases at the same time may take turns in being refused.
#[eval_set("evals/weather.evalset.json", retry = 5)]
fn server_that_is_not_always_reached() -> impl Agent {
    AdkServer::at(&SERVER.url, "weather")
}
