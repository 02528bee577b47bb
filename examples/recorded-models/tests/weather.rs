//! Evals of an agent around async-openai that run without a model and without a key: `evals/weather.evalset.models` has what
//! the model answered when `EVALSET_MODELS=record cargo test` asked it.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
    ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequestArgs, FunctionObject,
};
use eval_core::models::Provider;
use eval_core::{Agent, BoxError, Recorder, Session, Turn, eval_set};
use serde_json::{Value, json};

#[eval_set("evals/weather.evalset.json")]
fn weather_cases() -> impl Agent {
    WeatherAgent::default()
}

/// A loop around the model, which remembers the conversation.
#[derive(Default)]
struct WeatherAgent {
    client: Option<Client<OpenAIConfig>>,
    messages: Vec<ChatCompletionRequestMessage>,
}

impl Agent for WeatherAgent {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        // Without a recording this is the configuration of the environment: OpenAI, and its key.
        let config = match session.model_url(Provider::OpenAi) {
            Some(address) => OpenAIConfig::new().with_api_base(address),
            None => OpenAIConfig::new(),
        };
        let key = std::env::var("OPENAI_API_KEY").unwrap_or("none".to_owned());
        self.client = Some(Client::with_config(config.with_api_key(key)));
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let answer = self.answer(turn.text(), turn.recorder()).await?;
        turn.recorder().text(answer);
        Ok(())
    }
}

impl WeatherAgent {
    async fn answer(&mut self, text: String, recorder: &Recorder) -> Result<String, BoxError> {
        let client = self.client.as_ref().ok_or("the session was not opened")?;
        self.messages
            .push(ChatCompletionRequestUserMessage::from(text).into());
        loop {
            let request = CreateChatCompletionRequestArgs::default()
                .model("gpt-5-mini")
                .messages(self.messages.clone())
                .tools(vec![get_weather_tool()])
                .build()?;
            let mut response = client.chat().create(request).await?;
            let message = response
                .choices
                .pop()
                .ok_or("the model said nothing")?
                .message;
            let mut said = ChatCompletionRequestAssistantMessageArgs::default();
            let Some(calls) = message.tool_calls else {
                let answer = message.content.unwrap_or_default();
                self.messages
                    .push(said.content(answer.clone()).build()?.into());
                return Ok(answer);
            };
            self.messages
                .push(said.tool_calls(calls.clone()).build()?.into());
            for call in calls {
                let ChatCompletionMessageToolCalls::Function(call) = call else {
                    continue;
                };
                let args: Value = serde_json::from_str(&call.function.arguments)?;
                let city = args["city"].as_str().unwrap_or_default().to_owned();
                let sky = recorder
                    .tool(&call.function.name, args, get_weather(city))
                    .await?;
                let result = ChatCompletionRequestToolMessage {
                    content: sky.into(),
                    tool_call_id: call.id,
                };
                self.messages.push(result.into());
            }
        }
    }
}

fn get_weather_tool() -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: "get_weather".to_owned(),
            description: Some("Tells the weather in a city.".to_owned()),
            parameters: Some(json!({
                "type": "object",
                "properties": { "city": { "type": "string" } },
                "required": ["city"],
            })),
            strict: None,
        },
    })
}

async fn get_weather(city: String) -> Result<String, BoxError> {
    Ok(format!("sunny in {city}"))
}
