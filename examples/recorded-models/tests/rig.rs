//! Evals of an agent of rig that run without a model and without a key: `evals/rig.evalset.models` has what the model answered
//! when `EVALSET_MODELS=record cargo test` asked it.

use std::convert::Infallible;

use eval_core::format::Value;
use eval_core::models::Provider;
use eval_core::{Agent, BoxError, Recorder, Session, Turn, eval_set, json};
use rig_agent::AgentBuilder;
use rig_agent::agent::{AgentHook, HookContext, OutcomeAction, OutcomeEvent};
use rig_agent::tool::{Tool, ToolContext};
use rig_core::memory::InMemoryConversationMemory;
use rig_core::providers::openai::OpenAIConfig;

#[eval_set("evals/rig.evalset.json")]
fn rig_cases() -> impl Agent {
    Weather(None)
}

struct Weather(Option<rig_agent::Agent>);

impl Agent for Weather {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let key = std::env::var("OPENAI_API_KEY").unwrap_or("none".to_owned());
        let mut config = OpenAIConfig::new(key);
        if let Some(address) = session.model_url(Provider::OpenAi) {
            config = config.with_base_url(address);
        }
        let agent = AgentBuilder::new(config.client().completion("gpt-5-mini"))
            .preamble("You tell the weather.")
            .tool(GetWeather)
            .memory(InMemoryConversationMemory::new())
            .conversation("of this case")
            .default_max_turns(3);
        self.0 = Some(agent.build());
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let agent = self.0.as_ref().ok_or("the session was not opened")?;
        let watch = Watch(turn.recorder().clone());
        let said = agent.prompt(turn.text()).add_hook(watch).await?;
        turn.recorder().text(said.output());
        Ok(())
    }
}

/// Records what tools did, which rig calls itself.
struct Watch(Recorder);

impl AgentHook for Watch {
    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if let (Some(name), Some(args), Some(result)) =
            (event.tool_name(), event.tool_args(), event.tool_result())
        {
            let args = Value::parse(args).unwrap_or_else(|_| args.into());
            self.0.tool_call(name, args, result.output().render());
        }
        OutcomeAction::proceed()
    }
}

struct GetWeather;

impl Tool for GetWeather {
    const NAME: &'static str = "get_weather";
    type Error = Infallible;
    type Args = serde_json::Value;
    type Output = String;

    fn description(&self) -> String {
        "Tells the weather in a city.".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        })
    }

    async fn call(&self, _: &mut ToolContext, args: Self::Args) -> Result<String, Infallible> {
        Ok(format!(
            "sunny in {}",
            args["city"].as_str().unwrap_or("no city")
        ))
    }
}
