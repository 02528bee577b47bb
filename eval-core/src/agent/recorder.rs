//! Recording what an agent does.

use std::any::type_name;
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Content, FunctionCall, FunctionResponse, Map, Part, UsageMetadata, Value};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use serde_json::json;

use super::event::Event;
use super::log::{Log, Target};
use crate::tools::{GoldenError, GoldenTools};

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
/// Each event carries the time since the turn began. A recorder that comes from a turn belongs to that turn:
/// events that a task records after the turn has ended make the case an ERROR. Tools that are built once and
/// serve all turns use [`Session::recorder`](super::Session::recorder).
///
/// A turn can have 100,000 events and 64 MiB. Recording more is an error and unwinds, which ends the turn: an
/// agent in an endless loop must not fill the machine's memory.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(super) log: Arc<Log>,
    target: Target,
    author: Arc<str>,
}

impl Recorder {
    /// A recorder of a turn of its own, to test a tool or an agent without a case.
    ///
    /// ```
    /// use eval_core::{Recorder, json};
    ///
    /// let recorder = Recorder::new();
    /// recorder.tool_call("get_weather", json!({ "city": "Paris" }), "sunny");
    /// assert_eq!(recorder.events()[0].calls().count(), 1);
    /// ```
    ///
    /// Its events are part of no case. If the agent of a case records into such a recorder, and its
    /// [`events`](Self::events) are not read before the verdict, the case is an ERROR.
    #[must_use]
    pub fn new() -> Self {
        Self::of_next_turn(&Log::detached())
    }

    /// The events of its turn so far, by this recorder or another one.
    pub fn events(&self) -> Vec<Event> {
        self.log.so_far(self.target)
    }

    pub(crate) fn of_next_turn(log: &Arc<Log>) -> Self {
        Self::into_log(log, Target::Turn(log.begin()))
    }

    pub(crate) fn of_session(log: &Arc<Log>) -> Self {
        Self::into_log(log, Target::InProgress)
    }

    fn into_log(log: &Arc<Log>, target: Target) -> Self {
        Self { log: Arc::clone(log), target, author: DEFAULT_AUTHOR.into() }
    }

    /// Records an event.
    pub fn event(&self, event: Event) {
        self.add(event, false);
    }

    /// Unwinds if the turn is at a limit. Recording is not async, so a loop around it may never wait, and the timer
    /// cannot end it. The panic hook does not run, since the report shows the overflow.
    fn add(&self, event: Event, is_chunk: bool) {
        // A program that aborts on panics, and code that runs while another panic unwinds, go on until the time
        // limit.
        let unwinds = || cfg!(panic = "unwind") && !std::thread::panicking();
        if self.log.add(self.target, event, is_chunk).is_err() && unwinds() {
            std::panic::resume_unwind(Box::new("the recorder is full"));
        }
    }

    /// Records a chunk of streamed text. The chunks of a turn are joined: together they are one text.
    ///
    /// ```
    /// # use eval_core::Recorder;
    /// # let recorder = Recorder::new();
    /// for chunk in ["It is ", "sunny ", "in Paris."] {
    ///     recorder.chunk(chunk);
    /// }
    /// # assert_eq!(recorder.events()[3].content.as_ref().unwrap().text(), "It is sunny in Paris.");
    /// ```
    ///
    /// A chunk is a fragment: an event that is [`partial`](Event::partial), as in ADK. ADK's agents record
    /// the whole text after its fragments. Where it is missing, it is added after the last chunk, once the
    /// agent records something else that it says or does, or the turn ends. If the agent records a text that
    /// repeats the chunks, that is their whole text.
    pub fn chunk(&self, text: impl Into<String>) {
        let event = Event::new(&*self.author, Content::model(text)).with_partial(true);
        self.add(event, true);
    }

    /// Records text that the agent says. The last text of a turn is its answer. Text that comes in pieces is recorded
    /// by [`chunk`](Self::chunk).
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

    /// Sets the original duration of the turn, for agents that replay one. Otherwise it is the time until the
    /// agent returns.
    ///
    /// ```
    /// # fn record(recorder: &eval_core::Recorder) {
    /// use std::time::Duration;
    ///
    /// recorder.text("It is sunny.");
    /// recorder.took(Duration::from_millis(4170));
    /// # }
    /// ```
    pub fn took(&self, took: Duration) {
        self.log.set_took(self.target, took);
    }

    /// Records a change of the session state.
    pub fn state(&self, key: impl Into<String>, value: impl Into<Value>) {
        let state_delta = Map::from([(key.into(), value.into())]);
        self.event(Event { author: self.author.to_string(), state_delta, ..Event::default() });
    }

    /// Adds a remark to the run. The report shows it with the case, and no metric reads it. A remark that is
    /// there already is not repeated. After 20 remarks, one more says that further ones are left out.
    ///
    /// ```
    /// # fn record(recorder: &eval_core::Recorder) {
    /// recorder.note("the fallback model answered");
    /// # }
    /// ```
    pub fn note(&self, note: impl Into<String>) {
        self.log.note(note.into());
    }

    /// Sets the advice in messages on how an agent of this conversation records its answer.
    #[doc(hidden)]
    pub fn answers_by(&self, how: &'static str) {
        self.log.set_how_to_answer(how);
    }

    /// This recorder for a sub-agent: its events carry this author.
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
    ///
    /// Now and then this yields to the runtime. So the time limit ends a turn that calls tools forever, even
    /// if none of them ever waits.
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
        let id = self.called(name, args.into()).await;
        if let Some(tools) = self.log.tools() {
            tools.refuse(runs_its_own_code(name));
            // The turn ends meanwhile. The tool is never polled.
            return std::future::pending().await;
        }
        let begun = Instant::now();
        let result = run.await;
        self.log.add_tool_time(self.target, begun.elapsed());
        self.response(FunctionResponse::new(name, as_response(&result)).with_id(id));
        result
    }

    /// Records a call and returns its id.
    async fn called(&self, name: &str, args: Value) -> String {
        let id = self.log.next_call_id();
        self.call(FunctionCall::new(name, args).with_id(&*id));
        if self.log.count_call(self.target) {
            // A tool that is ready at once never lets the runtime look at its timer.
            tokio::task::yield_now().await;
        }
        id
    }

    /// Records a tool call and its result, as [`tool`](Self::tool) does. With [golden tools](crate::tools) the case
    /// answers, and `run` is not polled.
    ///
    /// ```
    /// use eval_core::tools::GoldenError;
    /// use eval_core::{BoxError, Recorder, json};
    ///
    /// async fn handle(recorder: &Recorder) -> Result<(), BoxError> {
    ///     let sky: String = recorder.golden("get_weather", json!({ "city": "Paris" }), async {
    ///         Ok::<_, BoxError>("sunny".to_owned())
    ///     }).await?;
    ///     recorder.text(format!("It is {sky} in Paris."));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// The golden becomes the value of the tool: the object that the case has, or what is below its only key `result`, as
    /// `tool` records values that are no objects. A golden that is `{"error": ..}` or a fault becomes the error of the
    /// tool, unless it fits the type of its value. A golden that fits neither makes the case an ERROR. A recorder of no case
    /// ([`new`](Self::new)) finds no golden tools in a task or a thread that the agent started, and `run` runs there.
    pub async fn golden<T, E>(
        &self,
        name: &str,
        args: impl Into<Value>,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: Display + From<GoldenError>,
    {
        let Some(tools) = self.log.tools() else { return self.tool(name, args, run).await };
        let call = FunctionCall::new(name, args);
        let args = call.args.clone().unwrap_or_default();
        let id = self.called(name, args.clone().into()).await;
        let answered = self.answered(&tools, name, &args).await;
        let response = match &answered {
            Ok(response) => response.clone(),
            Err(error) => json!({ "error": error.message }).into(),
        };
        self.response(FunctionResponse::new(name, response).with_id(id));
        let response = answered?;
        fitted(&response).map_err(|why| {
            let failed = failure_of(&response);
            let message = failed.clone().unwrap_or_else(|| {
                format!(
                    "the golden answer of {call} does not fit the type of the tool, `{}`: {why}: {response}",
                    type_name::<T>()
                )
            });
            if failed.is_none() {
                tools.miss(&*message);
            }
            E::from(GoldenError {
                message,
                is_miss: failed.is_none(),
                response: Some(response),
                state: Map::new(),
            })
        })
    }

    /// The answer of the case to a call; `None` if the tools of the agent run. For frameworks that run tools themselves: the
    /// call and its result are recorded as ever.
    ///
    /// ```
    /// use eval_core::format::{Map, Value};
    /// use eval_core::{BoxError, Recorder};
    ///
    /// /// The hook of a framework around each tool.
    /// async fn around(recorder: &Recorder, name: &str, args: &Map) -> Result<Value, BoxError> {
    ///     match recorder.answer(name, args).await {
    ///         Some(answered) => Ok(answered?),
    ///         None => run_tool(name, args).await,
    ///     }
    /// }
    /// # async fn run_tool(_: &str, _: &Map) -> Result<Value, BoxError> { Ok(Value::Null) }
    /// ```
    ///
    /// With [golden tools](crate::tools), a call that is recorded and was not asked for makes the case an ERROR. A recorder of no
    /// case answers `None` in a task or a thread that the agent started, as with [`golden`](Self::golden).
    pub async fn answer(&self, name: &str, args: &Map) -> Option<Result<Value, GoldenError>> {
        let tools = self.log.tools()?;
        Some(self.answered(&tools, name, args).await)
    }

    /// The [golden tools](crate::tools) of the conversation; `None` if the tools of the agent run.
    pub fn golden_tools(&self) -> Option<GoldenTools> {
        self.log.tools()
    }

    /// The answer of a golden. The state that its tool changes is recorded.
    async fn answered(&self, tools: &GoldenTools, name: &str, args: &Map) -> Result<Value, GoldenError> {
        let answered = tools.answer(name, args).await;
        let state = match &answered {
            Ok(answered) => &answered.state,
            Err(error) => &error.state,
        };
        for (key, value) in state {
            self.state(key, value.clone());
        }
        answered.map(|answered| answered.response)
    }

    /// Records a call of a tool that a framework ran itself, with its result.
    ///
    /// ```
    /// use eval_core::format::Value;
    /// use eval_core::{Recorder, json};
    ///
    /// /// Called by a framework after each tool, with the arguments as the model wrote them.
    /// fn on_tool_result(recorder: &Recorder, name: &str, args: &str, result: &str) {
    ///     let args = Value::parse(args).unwrap_or_else(|_| args.into());
    ///     recorder.tool_call(name, args, result);
    /// }
    /// # let recorder = Recorder::new();
    /// # on_tool_result(&recorder, "f", r#"{"x": 1}"#, "done");
    /// # assert_eq!(recorder.events()[0].calls().next().unwrap().to_string(), "f(x: 1)");
    /// ```
    ///
    /// Arguments and result are recorded as by [`tool`](Self::tool); both take values of `serde_json` too.
    /// The result of a tool that failed is `json!({ "error": .. })`. The call and its response share a new
    /// id, which pairs them if tools run at the same time. To record an id of the framework, use
    /// [`call`](Self::call) and [`response`](Self::response).
    pub fn tool_call(&self, name: &str, args: impl Into<Value>, result: impl Into<Value>) {
        let id = self.log.next_call_id();
        self.call(FunctionCall::new(name, args).with_id(&*id));
        self.response(FunctionResponse::new(name, result).with_id(id));
    }

    /// Records a tool call alone, for agents that learn of its result later. [`tool_call`](Self::tool_call) records
    /// both.
    pub fn call(&self, call: FunctionCall) {
        self.event(Event::new(&*self.author, Content::new("model", vec![Part::call(call)])));
    }

    /// Records the result of a tool alone. Its id is the id of its call, if the call has one.
    pub fn response(&self, response: FunctionResponse) {
        self.event(Event::new(&*self.author, Content::new("user", vec![Part::response(response)])));
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

fn as_response<T: Serialize, E: Display>(result: &Result<T, E>) -> Value {
    let failed = |error: &dyn Display| json!({ "error": error.to_string() });
    let response = match result {
        Ok(value) => serde_json::to_value(value).unwrap_or_else(|error| failed(&error)),
        Err(error) => failed(error),
    };
    response.into()
}

fn runs_its_own_code(name: &str) -> String {
    format!(
        "`{name}` was not run: `recorder.tool(..)` runs the code of the tool; `recorder.golden(..)` takes the answer of the \
         case instead"
    )
}

/// The value of a golden: its object, or the value of its only key `result`.
fn fitted<T: DeserializeOwned>(response: &Value) -> Result<T, serde_json::Error> {
    let of = |value: &Value| serde_json::to_value(value).and_then(serde_json::from_value);
    of(response).or_else(|error| match only(response, "result") {
        Some(result) => of(result),
        None => Err(error),
    })
}

/// The message of a golden that is the failure of a tool: `{"error": ..}`, or an error in ADK's shape.
fn failure_of(response: &Value) -> Option<String> {
    if let Some(error) = only(response, "error") {
        return Some(error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    }
    let is_adks = !response["error_code"].is_null() || !response["error_message"].is_null();
    is_adks.then(|| response.to_string())
}

fn only<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().filter(|map| map.len() == 1)?.get(key)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::log::{MAX_CONVERSATION_BYTES, MAX_EVENTS, Overflow};
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn a_tool_leaves_its_call_and_its_result() {
        let log = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        let results = run(async {
            let good = recorder.tool("f", json!({ "x": 1 }), async { Ok::<_, String>(7) }).await;
            let bad = recorder.author("sub").tool("g", json!(3), async { Err::<(), _>("no") }).await;
            (good, bad)
        });
        assert_eq!(results, (Ok(7), Err("no")));
        let shown: Vec<String> =
            log.end().events.iter().map(|event| format!("{}: {}", event.author, event.in_short())).collect();
        assert_eq!(
            shown,
            [
                "agent: the call `f(x: 1)`",
                r#"agent: the result of `f`, {"result":7}"#,
                "sub: the call `g(value: 3)`",
                r#"sub: the result of `g`, {"error":"no"}"#
            ]
        );
    }

    #[test]
    fn a_tool_that_a_framework_ran_leaves_its_call_and_its_result_under_one_id() {
        let recorder = Recorder::new();
        let args = json!({ "city": "Paris" });
        recorder.tool_call("f", &args, json!({ "sky": "sunny" }));
        recorder.author("sub").tool_call("g", Value::from(args), "sunny");
        let shown = recorder.events().into_iter().map(|event| {
            let part = &event.parts()[0];
            let id = part.function_call.as_ref().map_or_else(
                || part.function_response.as_ref().and_then(|response| response.id.clone()),
                |call| call.id.clone(),
            );
            format!("{} {}: {}", id.unwrap_or_default(), event.author, event.in_short())
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                r#"call-1 agent: the call `f(city: "Paris")`"#,
                r#"call-1 agent: the result of `f`, {"sky":"sunny"}"#,
                r#"call-2 sub: the call `g(city: "Paris")`"#,
                r#"call-2 sub: the result of `g`, {"result":"sunny"}"#,
            ]
        );
    }

    #[test]
    fn tools_at_the_same_time_keep_their_results_apart() {
        let recorder = Recorder::new();
        run(async {
            let slow = recorder.tool("f", json!({ "x": 1 }), async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                Ok::<_, String>("slow")
            });
            let quick = recorder.tool("f", json!({ "x": 2 }), async { Ok::<_, String>("quick") });
            let _ = tokio::join!(slow, quick);
        });
        let events = recorder.events();
        let ids = |of: fn(&Part) -> Option<String>| {
            events.iter().flat_map(Event::parts).filter_map(of).collect::<Vec<_>>()
        };
        assert_eq!(ids(|part| part.function_call.as_ref()?.id.clone()), ["call-1", "call-2"]);
        assert_eq!(ids(|part| part.function_response.as_ref()?.id.clone()), ["call-2", "call-1"]);
    }

    #[test]
    fn what_is_recorded_after_its_turn_is_counted_with_its_turn_and_the_first_event() {
        let log = Arc::default();
        let first = Recorder::of_next_turn(&log);
        first.text("in time");
        assert_eq!((log.end().events.len(), log.late()), (1, None));
        first.call(FunctionCall::new("delete_account", json!({ "id": 7 })));

        // The next turn does not take it either.
        let second = Recorder::of_next_turn(&log);
        first.author("sub").text("still here");
        second.text("in time");
        assert_eq!(log.end().events.len(), 1);

        let late = log.late().unwrap();
        assert_eq!(late.turn(), Some(1));
        let text = late.to_string();
        let begin =
            "2 events recorded after the turn had ended, the first: the call `delete_account(id: 7)`; await";
        assert!(text.starts_with(begin), "{text}");

        second.text("too late as well");
        let text = log.late().unwrap().to_string();
        assert!(
            text.starts_with("3 events recorded after their turns had ended, the first: the call"),
            "{text}"
        );
    }

    #[test]
    fn the_recorder_of_the_session_follows_the_turn_in_progress() {
        let log = Arc::default();
        let recorder = Recorder::of_session(&log).author("tools");
        for turn in 1..=2 {
            let _of_turn = Recorder::of_next_turn(&log);
            recorder.state("turn", i64::from(turn));
            assert_eq!(log.end().events[0].state_delta.get("turn"), Some(&Value::from(i64::from(turn))));
        }
        assert_eq!(log.late(), None);
        recorder.text("too late");
        let late = log.late().unwrap();
        assert_eq!(late.turn(), None);
        assert!(late.to_string().contains("while no turn was in progress, the first: the text \"too late\""));
    }

    #[test]
    fn the_recorders_that_are_left_are_known() {
        let log = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        assert!(log.has_recorders());
        drop(recorder);
        assert!(!log.has_recorders());
    }

    #[test]
    fn a_full_recorder_unwinds_and_keeps_what_it_has() {
        let text = "x".repeat(MAX_CONVERSATION_BYTES / 8);
        for (overflow, text, kept) in [(Overflow::Events, "", MAX_EVENTS), (Overflow::Bytes, &*text, 7)] {
            let log = Arc::default();
            let recorder = Recorder::of_next_turn(&log);
            let unwound = std::panic::catch_unwind(|| {
                loop {
                    recorder.text(text);
                }
            });
            assert!(unwound.is_err());
            let recorded = log.end();
            assert_eq!((recorded.overflow, recorded.events.len()), (Some(overflow), kept));
        }
    }

    #[test]
    fn a_loop_of_tools_that_never_wait_lets_the_timer_end_it() {
        let log = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        let forever = async {
            loop {
                let _ = recorder.tool("f", json!({}), async { Ok::<_, String>(1) }).await;
            }
        };
        let ended = run(async { tokio::time::timeout(Duration::from_millis(20), forever).await });
        assert!(ended.is_err());
        assert!(log.end().overflow.is_none());
    }

    #[cfg(feature = "multi-thread")]
    #[test]
    fn so_does_one_on_the_multi_threaded_runtime() {
        let log = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        let forever = async move {
            loop {
                let _ = recorder.tool("f", json!({}), async { Ok::<_, String>(1) }).await;
            }
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let ended = runtime.block_on(async {
            let task = tokio::spawn(tokio::time::timeout(Duration::from_millis(20), forever));
            task.await.unwrap()
        });
        assert!(ended.is_err());
    }
}
