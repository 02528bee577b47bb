//! Evals of an agent around async-openai: each case of `evals/weather.evalset.json` is a test.
//!
//! The glue takes 14 lines. A server on loopback takes the place of the model, so no key is needed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
    ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequestArgs, FunctionObject,
};
use eval_core::{Agent, BoxError, Recorder, Turn, eval_set};
use serde_json::{Value, json};

// The glue.
#[eval_set("evals/weather.evalset.json")]
fn weather_cases() -> io::Result<impl Agent> {
    Ok(WeatherAgent::new(model()?))
}

impl Agent for WeatherAgent {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let answer = self.answer(turn.text(), turn.recorder()).await?;
        turn.recorder().text(answer);
        Ok(())
    }
}
// End of the glue.

/// Stands in for your agent: a loop around the model, which remembers what was said.
struct WeatherAgent {
    client: Client<OpenAIConfig>,
    messages: Vec<ChatCompletionRequestMessage>,
}

impl WeatherAgent {
    /// The agent with the model at an address.
    fn new(address: String) -> Self {
        let config = OpenAIConfig::new();
        let config = config.with_api_base(address).with_api_key("none");
        Self {
            client: Client::with_config(config),
            messages: Vec::new(),
        }
    }

    async fn answer(&mut self, text: String, recorder: &Recorder) -> Result<String, BoxError> {
        self.messages
            .push(ChatCompletionRequestUserMessage::from(text).into());
        loop {
            let request = CreateChatCompletionRequestArgs::default()
                .model("gpt-5-mini")
                .messages(self.messages.clone())
                .tools(vec![get_weather_tool()])
                .build()?;
            let mut response = self.client.chat().create(request).await?;
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
                let run = get_weather(args["city"].as_str().unwrap_or_default());
                // The glue: this records the call and what comes of it.
                let result = recorder
                    .tool(&call.function.name, args.clone(), run)
                    .await?;
                // End of the glue.
                let content = result.into();
                let result = ChatCompletionRequestToolMessage {
                    content,
                    tool_call_id: call.id,
                };
                self.messages.push(result.into());
            }
        }
    }
}

/// Stands in for one of its tools.
async fn get_weather(city: &str) -> Result<String, BoxError> {
    Ok(if city == "Oslo" { "rainy" } else { "sunny" }.to_owned())
}

fn get_weather_tool() -> ChatCompletionTools {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let function = FunctionObject {
        name: "get_weather".to_owned(),
        description: Some("Tells the weather of a city.".to_owned()),
        parameters: Some(parameters),
        strict: None,
    };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

/// Stands in for the model: a server with the route for chat completions. Returns its address.
fn model() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || listener.incoming().flatten().try_for_each(complete));
    Ok(address)
}

/// Answers one request: with a tool call, and once the tool has run, with text.
fn complete(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    for line in reader.by_ref().lines() {
        let line = line?.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body)?;
    let city = if request["messages"][0]["content"] == "What is the weather in Oslo?" {
        "Oslo"
    } else {
        "Paris"
    };
    let message = match request["messages"]
        .as_array()
        .and_then(|messages| messages.last())
    {
        Some(last) if last["role"] == "tool" => {
            let sky = last["content"].as_str().unwrap_or_default();
            json!({ "role": "assistant", "content": format!("It is {sky} in {city}.") })
        }
        _ => {
            let function =
                json!({ "name": "get_weather", "arguments": json!({ "city": city }).to_string() });
            let call = json!({ "id": "call_1", "type": "function", "function": function });
            json!({ "role": "assistant", "tool_calls": [call] })
        }
    };
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    let reply = json!({
        "id": "1", "object": "chat.completion", "created": 0, "model": "none", "choices": [choice],
    });
    let reply = reply.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(
        stream,
        "{head}\r\ncontent-length: {}\r\n\r\n{reply}",
        reply.len()
    )
}
