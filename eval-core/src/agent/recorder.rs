//! Recording what an agent does.

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_format::{Content, FunctionCall, FunctionResponse, Map, Part, UsageMetadata, Value};
use serde_core::Serialize;
use serde_json::json;

use super::event::Event;

/// Records what an agent does in one turn. It is cheap to clone and safe to share with tools.
///
/// ```
/// use eval_core::{BoxError, Recorder, json};
///
/// async fn handle(recorder: &Recorder) -> Result<(), BoxError> {
///     let sky: String = recorder.tool("get_weather", json!({ "city": "Paris" }), async {
///         Ok::<_, BoxError>("sunny".to_owned())
///     }).await?;
///     recorder.state("last_city", "Paris");
///     recorder.text(format!("It is {sky} in Paris."));
///     Ok(())
/// }
/// ```
///
/// Each event carries the time since the turn began. What is recorded after the turn has ended, by a task that outlived
/// it, is dropped. A turn can have 100,000 events. More of them are an error, so that an agent in an endless loop does not
/// fill the machine's memory.
#[derive(Clone, Debug)]
pub struct Recorder {
    log: Arc<Mutex<Log>>,
    started: Instant,
    author: Arc<str>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Event>,
    tools: Duration,
    closed: bool,
    overflowed: bool,
}

/// The most events that a turn may have.
pub(crate) const MOST_EVENTS: usize = 100_000;

/// Everything that was recorded in a turn.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<Event>,
    /// Time spent in tools that were run through the recorder.
    pub(crate) tools: Duration,
    /// Whether there were more events than a turn may have. The rest was dropped.
    pub(crate) overflowed: bool,
}

impl Recorder {
    /// A recorder whose clock starts now.
    pub(crate) fn new() -> Self {
        Self { log: Arc::default(), started: Instant::now(), author: "agent".into() }
    }

    /// Records an event.
    pub fn event(&self, mut event: Event) {
        event.at = self.started.elapsed();
        let mut log = self.log();
        if log.events.len() == MOST_EVENTS {
            log.overflowed = true;
        } else if !log.closed {
            log.events.push(event);
        }
    }

    /// Records text that the agent says. The last text of a turn is its answer.
    pub fn text(&self, text: impl Into<String>) {
        self.event(Event::new(&*self.author, Content::model(text)));
    }

    /// Records the tokens of a model call.
    ///
    /// ```
    /// # fn record(recorder: &eval_core::Recorder) {
    /// use eval_core::format::UsageMetadata;
    ///
    /// recorder.usage(UsageMetadata::default().with_prompt_token_count(812).with_candidates_token_count(64));
    /// # }
    /// ```
    ///
    /// ADK drops the usage of calls that returned no content. Here it counts.
    pub fn usage(&self, usage: UsageMetadata) {
        self.event(Event { author: self.author.to_string(), usage: Some(usage), ..Event::default() });
    }

    /// Records a change of the session state.
    pub fn state(&self, key: impl Into<String>, value: impl Into<Value>) {
        let state_delta = Map::from([(key.into(), value.into())]);
        self.event(Event { author: self.author.to_string(), state_delta, ..Event::default() });
    }

    /// The same recorder for a sub-agent: what it records carries this author.
    ///
    /// ```
    /// # fn record(recorder: &eval_core::Recorder) {
    /// let flights = recorder.author("flight_agent");
    /// flights.text("Flight EV 204 leaves at 9:40.");
    /// recorder.text("Here is your plan. Flight EV 204 leaves at 9:40.");
    /// # }
    /// ```
    #[must_use]
    pub fn author(&self, name: &str) -> Self {
        Self { author: name.into(), ..self.clone() }
    }

    /// Records a tool call, runs it, records its result, and returns that unchanged.
    ///
    /// `args` are the arguments that the model passed, as an object; any other value is recorded as `{"value": ..}`. A
    /// result that is not an object is recorded as `{"result": ..}`, as in ADK, and an error as `{"error": ..}`.
    pub async fn tool<T, E>(
        &self,
        name: &str,
        args: impl Into<Value>,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        T: Serialize,
        E: Display,
    {
        self.call(FunctionCall::new(name, args));
        let begun = Instant::now();
        let result = run.await;
        self.log().tools += begun.elapsed();
        self.response(FunctionResponse::new(name, as_response(&result)));
        result
    }

    /// Records a tool call alone, for agents that run their tools elsewhere.
    pub fn call(&self, call: FunctionCall) {
        self.event(Event::new(&*self.author, Content::new("model", vec![Part::call(call)])));
    }

    /// Records the result of a tool alone.
    pub fn response(&self, response: FunctionResponse) {
        self.event(Event::new(&*self.author, Content::new("user", vec![Part::response(response)])));
    }

    /// Takes everything that was recorded so far. What is recorded later is dropped.
    pub(crate) fn finish(&self) -> Recorded {
        let mut log = self.log();
        log.closed = true;
        Recorded { events: std::mem::take(&mut log.events), tools: log.tools, overflowed: log.overflowed }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing that can panic halfway happens under the lock, so a poisoned log is complete.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_response<T: Serialize, E: Display>(result: &Result<T, E>) -> Value {
    let response = match result {
        Ok(value) => {
            serde_json::to_value(value).unwrap_or_else(|error| json!({ "error": error.to_string() }))
        }
        Err(error) => json!({ "error": error.to_string() }),
    };
    response.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_leaves_its_call_and_its_result() {
        let recorder = Recorder::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let results = runtime.block_on(async {
            let good = recorder.tool("f", json!({ "x": 1 }), async { Ok::<_, String>(7) }).await;
            let bad = recorder.author("sub").tool("g", json!(3), async { Err::<(), _>("no") }).await;
            (good, bad)
        });
        assert_eq!(results, (Ok(7), Err("no")));
        let events = recorder.finish().events;
        let shown: Vec<String> = events
            .iter()
            .map(|event| {
                let part = &event.parts()[0];
                match (&part.function_call, &part.function_response) {
                    (Some(call), _) => format!("{}: {call}", event.author),
                    (_, Some(response)) => {
                        format!(
                            "{}: {}",
                            event.author,
                            Value::from(response.response.clone().unwrap_or_default())
                        )
                    }
                    _ => String::new(),
                }
            })
            .collect();
        assert_eq!(
            shown,
            ["agent: f(x: 1)", r#"agent: {"result":7}"#, "sub: g(value: 3)", r#"sub: {"error":"no"}"#]
        );
    }

    #[test]
    fn nothing_is_recorded_after_the_turn() {
        let recorder = Recorder::new();
        let late = recorder.clone();
        recorder.text("in time");
        assert_eq!(recorder.finish().events.len(), 1);
        late.text("too late");
        assert!(late.finish().events.is_empty());
    }
}
