//! Evals of an agent of adk-rust, played by adk-rust's own runner: each case of `evals/weather.evalset.json` is a test.
//!
//! The glue takes 99 lines. The model follows a script, so neither a network nor a key is needed.

use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{Llm, LlmRequest, LlmResponse, LlmResponseStream, Part as AdkPart};
use adk_core::{RunConfig, SessionId, StreamingMode, Tool, ToolContext, UserId, async_trait};
use adk_runner::Runner;
use adk_session::{CreateRequest, GetRequest, InMemorySessionService};
use eval_core::agent::Event;
use eval_core::format::{Content, FunctionCall, FunctionResponse, Map, Part, UsageMetadata};
use eval_core::testing::Conversation;
use eval_core::{Agent, BoxError, Session, Turn, eval_set, json};
use futures::{StreamExt, stream};

// The glue.
#[eval_set("evals/weather.evalset.json")]
fn weather_cases() -> impl Agent {
    AdkRust(weather_runner(), None)
}

/// A runner, and the user and the id of its session.
struct AdkRust(Runner, Option<(UserId, SessionId)>);

impl Agent for AdkRust {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let (app_name, user_id) = (self.0.app_name().to_owned(), session.user_id.clone());
        let state = session.state.clone().into_iter();
        let state = state.map(|(key, value)| (key, value.into())).collect();
        let wanted = CreateRequest {
            app_name,
            user_id,
            session_id: None,
            state,
        };
        let made = self.0.session_service().create(wanted).await?;
        self.1 = Some((made.user_id().try_into()?, made.id().try_into()?));
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (user, session) = self.1.clone().ok_or("the session was not opened")?;
        let message = adk_core::Content::new("user").with_text(turn.only_text()?);
        // adk-rust streams unless it is told not to.
        let config = RunConfig {
            streaming_mode: StreamingMode::None,
            ..self.0.run_config().clone()
        };
        let mut events = self
            .0
            .run_with_config(user, session, message, Some(config))
            .await?;
        while let Some(event) = events.next().await {
            turn.recorder().event(recorded(event?)?);
        }
        Ok(())
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        let (user, session) = self.1.clone().ok_or("the session was not opened")?;
        let (app_name, user_id, session_id) = (
            self.0.app_name().into(),
            user.to_string(),
            session.to_string(),
        );
        let wanted = GetRequest {
            app_name,
            user_id,
            session_id,
            num_recent_events: Some(0),
            after: None,
        };
        let state = self.0.session_service().get(wanted).await?.state().all();
        Ok(Some(state.into_iter().collect()))
    }
}

fn recorded(event: adk_core::Event) -> Result<Event, BoxError> {
    let said = event.llm_response;
    let mut to = Event::empty(event.author).with_partial(said.partial);
    if let Some(content) = said.content {
        let mut parts: Vec<Part> = Vec::new();
        for part in content.parts {
            match (part, parts.last_mut()) {
                // The pieces that a model streamed are one text. adk-rust keeps them apart.
                (
                    AdkPart::Text { text },
                    Some(Part {
                        text: Some(begun),
                        thought: None,
                        ..
                    }),
                ) => begun.push_str(&text),
                (part, _) => parts.push(converted(part)?),
            }
        }
        to.content = Some(Content::new(content.role, parts));
    }
    to.usage = said.usage_metadata.map(|used| {
        let mut usage = UsageMetadata::default();
        usage.prompt_token_count = Some(used.prompt_token_count.into());
        usage.candidates_token_count = Some(used.candidates_token_count.into());
        usage.total_token_count = Some(used.total_token_count.into());
        usage
    });
    (to.error_code, to.error_message) = (said.error_code, said.error_message);
    to.state_delta = event.actions.state_delta.into_iter().collect();
    to.skip_summarization = event.actions.skip_summarization;
    to.long_running_tool_ids = event.long_running_tool_ids;
    Ok(to)
}

fn converted(part: AdkPart) -> Result<Part, BoxError> {
    Ok(match part {
        AdkPart::Text { text } => Part::text(text),
        AdkPart::Thinking { thinking, .. } => Part::thought(thinking),
        AdkPart::FunctionCall { name, args, .. } => Part::call(FunctionCall::new(name, args)),
        AdkPart::FunctionResponse {
            function_response: result,
            ..
        } => Part::response(FunctionResponse::new(result.name, result.response)),
        other => return Err(format!("nothing here reads a part such as {other:?}").into()),
    })
}
// End of the glue.

/// Your runner and your agent, faked.
fn weather_runner() -> Runner {
    let agent = LlmAgentBuilder::new("weather_agent")
        .instruction("You tell the weather.")
        .model(Arc::new(Script))
        .tool(Arc::new(GetWeather));
    Runner::builder()
        .app_name("weather")
        .agent(Arc::new(agent.build().expect("a whole agent")))
        .session_service(Arc::new(InMemorySessionService::new()))
        .build()
        .expect("a whole runner")
}

/// A fake of your model. It calls the tool for the city that was named last, and says what the tool found.
struct Script;

#[async_trait]
impl Llm for Script {
    fn name(&self) -> &str {
        "script"
    }

    async fn generate_content(
        &self,
        request: LlmRequest,
        _: bool,
    ) -> adk_core::Result<LlmResponseStream> {
        let parts = request.contents.iter().flat_map(|content| &content.parts);
        let cities = ["Paris", "Oslo"];
        let named = |text: &str| cities.into_iter().find(|city| text.contains(city));
        let mut city = None;
        let mut answer = None;
        for part in parts {
            match part {
                AdkPart::Text { text } if text.contains("blackout") => {
                    return Err(adk_core::AdkError::model("the model is not there"));
                }
                AdkPart::Text { text } => (city, answer) = (named(text).or(city), None),
                AdkPart::FunctionResponse {
                    function_response: found,
                    ..
                } => answer = Some(found),
                _ => {}
            }
        }
        let city = city.unwrap_or("no city");
        let chunk = |part: AdkPart| {
            let mut content = adk_core::Content::new("model");
            content.parts.push(part);
            LlmResponse {
                content: Some(content),
                ..LlmResponse::default()
            }
        };
        let mut said = match answer {
            Some(found) => {
                let sky = found.response["sky"].as_str().unwrap_or("unknown");
                // Models cut words in pieces where they stream.
                let pieces = [
                    "It is ".to_owned(),
                    sky[..2].to_owned(),
                    format!("{} in {city}.", &sky[2..]),
                ];
                pieces
                    .map(|text| LlmResponse {
                        partial: true,
                        ..chunk(AdkPart::Text { text })
                    })
                    .into()
            }
            None => vec![chunk(AdkPart::FunctionCall {
                name: "get_weather".to_owned(),
                args: json!({ "city": city }),
                id: Some("call".to_owned()),
                thought_signature: None,
            })],
        };
        if let Some(last) = said.last_mut() {
            (last.partial, last.turn_complete) = (false, true);
            last.usage_metadata = Some(adk_core::UsageMetadata {
                prompt_token_count: 20,
                candidates_token_count: 5,
                total_token_count: 25,
                ..adk_core::UsageMetadata::default()
            });
        }
        Ok(Box::pin(stream::iter(said.into_iter().map(Ok))))
    }
}

/// A fake of one of its tools.
struct GetWeather;

#[async_trait]
impl Tool for GetWeather {
    fn name(&self) -> &str {
        "get_weather"
    }

    fn description(&self) -> &str {
        "Tells the weather of a city."
    }

    async fn execute(
        &self,
        context: Arc<dyn ToolContext>,
        args: serde_json::Value,
    ) -> adk_core::Result<serde_json::Value> {
        let mut actions = context.actions();
        actions
            .state_delta
            .insert("last_city".to_owned(), args["city"].clone());
        context.set_actions(actions);
        Ok(json!({ "sky": if args["city"] == "Oslo" { "rainy" } else { "sunny" } }))
    }
}

#[tokio::test]
async fn tokens_are_counted_and_what_the_model_fails_with_is_an_error() {
    let mut talk = Conversation::new(AdkRust(weather_runner(), None))
        .with_session(Session::new("weather", "anna"));
    let turn = talk.say("What is the weather in Oslo?").await.unwrap();
    assert_eq!(
        turn.events
            .iter()
            .filter_map(|event| event.usage.as_ref()?.total_token_count)
            .sum::<i64>(),
        50
    );
    let error = talk.say("blackout").await.unwrap_err().to_string();
    assert!(error.contains("the model is not there"), "{error}");
}
