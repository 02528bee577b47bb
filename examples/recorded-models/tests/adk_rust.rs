//! Evals of an agent of adk-rust that run without a model and without a key: `evals/adk_rust.evalset.models` has what Gemini
//! streamed when `EVALSET_MODELS=record cargo test` asked it.

use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{Content, Part, SessionId, Tool, ToolContext, UserId, async_trait};
use adk_model::GeminiModel;
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService};
use eval_core::models::Provider;
use eval_core::{Agent, BoxError, Session, Turn, eval_set, json};
use futures::StreamExt;

#[eval_set("evals/adk_rust.evalset.json")]
fn adk_rust_cases() -> impl Agent {
    Weather(None)
}

/// A runner, and the user and the id of its session.
struct Weather(Option<(Runner, UserId, SessionId)>);

impl Agent for Weather {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let key = std::env::var("GOOGLE_API_KEY").unwrap_or("none".to_owned());
        let model = match session.model_url(Provider::Gemini) {
            Some(address) => {
                let address = format!("{address}/v1beta/");
                GeminiModel::new_with_base_url(key, "gemini-2.5-flash", address)?
            }
            None => GeminiModel::new(key, "gemini-2.5-flash")?,
        };
        let agent = LlmAgentBuilder::new("weather_agent")
            .instruction("You tell the weather.")
            .model(Arc::new(model))
            .tool(Arc::new(GetWeather))
            .build()?;
        let runner = Runner::builder()
            .app_name("weather")
            .agent(Arc::new(agent))
            .session_service(Arc::new(InMemorySessionService::new()))
            .build()?;
        let wanted = CreateRequest {
            app_name: "weather".to_owned(),
            user_id: session.user_id.clone(),
            session_id: None,
            state: Default::default(),
        };
        let made = runner.session_service().create(wanted).await?;
        let (user, id) = (made.user_id().try_into()?, made.id().try_into()?);
        self.0 = Some((runner, user, id));
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (runner, user, id) = self.0.as_ref().ok_or("the session was not opened")?;
        let message = Content::new("user").with_text(turn.only_text()?);
        let mut events = runner.run(user.clone(), id.clone(), message).await?;
        let (mut calls, mut answer) = (Vec::new(), String::new());
        while let Some(event) = events.next().await {
            let said = event?.llm_response;
            // The pieces of a stream come again, as a whole.
            let content = said.content.filter(|_| !said.partial);
            for part in content.into_iter().flat_map(|content| content.parts) {
                match part {
                    Part::Text { text } => answer.push_str(&text),
                    Part::FunctionCall { name, args, .. } => calls.push((name, args)),
                    Part::FunctionResponse {
                        function_response: result,
                        ..
                    } => {
                        let (name, args) = calls.remove(0);
                        turn.recorder().tool_call(&name, args, result.response);
                    }
                    _ => {}
                }
            }
        }
        turn.recorder().text(answer);
        Ok(())
    }
}

struct GetWeather;

#[async_trait]
impl Tool for GetWeather {
    fn name(&self) -> &str {
        "get_weather"
    }

    fn description(&self) -> &str {
        "Tells the weather in a city."
    }

    fn parameters_schema(&self) -> Option<serde_json::Value> {
        Some(json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        }))
    }

    async fn execute(
        &self,
        _: Arc<dyn ToolContext>,
        args: serde_json::Value,
    ) -> adk_core::Result<serde_json::Value> {
        Ok(json!({ "sky": "sunny", "city": args["city"] }))
    }
}
