//! Evals of an agent of rig: each case of `evals/weather.evalset.json` is a test.
//!
//! The glue takes 15 lines. The model is rig's mock model, so neither a network nor a key is needed.

use std::convert::Infallible;

use eval_core::format::Value;
use eval_core::{Agent, EvalCase, Recorder, agent_fn, eval_set, json};
use rig_core::agent::{AgentBuilder, AgentHook, Flow, HookContext, StepEvent};
use rig_core::completion::{CompletionModel, Prompt};
use rig_core::memory::InMemoryConversationMemory;
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use rig_core::tool::Tool;

// The glue.
#[eval_set("evals/weather.evalset.json")]
fn weather_cases(case: &EvalCase) -> impl Agent {
    let agent = weather_agent(model_of(case));
    agent_fn(move |text, recorder| agent.prompt(text).add_hook(Watch(recorder)).into_future())
}

/// Records what tools did, which rig calls itself.
struct Watch(Recorder);

#[rustfmt::skip]
impl<M: CompletionModel> AgentHook<M> for Watch {
    async fn on_event(&self, _: &HookContext, event: StepEvent<'_, M>) -> Flow {
        if let StepEvent::ToolResult { tool_name, args, result, .. } = event {
            self.0.tool_call(tool_name, Value::parse(args).unwrap_or_else(|_| args.into()), result);
        }
        Flow::Continue
    }
}
// End of the glue.

/// A fake of your agent. It remembers its conversation.
fn weather_agent<M: CompletionModel + 'static>(model: M) -> rig_core::agent::Agent<M> {
    AgentBuilder::new(model)
        .preamble("You tell the weather.")
        .tool(GetWeather)
        .memory(InMemoryConversationMemory::new())
        .conversation("of this case")
        .default_max_turns(3)
        .build()
}

/// A fake of your model: its answers in a case.
fn model_of(case: &EvalCase) -> MockCompletionModel {
    let city = if case.eval_id.contains("Oslo") {
        "Oslo"
    } else {
        "Paris"
    };
    let sky = if city == "Oslo" { "rainy" } else { "sunny" };
    MockCompletionModel::new([
        MockTurn::tool_call("call_1", GetWeather::NAME, json!({ "city": city })),
        MockTurn::text(format!("It is {sky} in {city}.")),
    ])
}

/// A fake of one of its tools.
struct GetWeather;

impl Tool for GetWeather {
    const NAME: &'static str = "get_weather";
    type Error = Infallible;
    type Args = serde_json::Value;
    type Output = String;

    fn description(&self) -> String {
        "Tells the weather of a city.".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        json!({ "type": "object", "properties": { "city": { "type": "string" } } })
    }

    async fn call(&self, args: Self::Args) -> Result<String, Infallible> {
        Ok(if args["city"] == "Oslo" {
            "rainy"
        } else {
            "sunny"
        }
        .to_owned())
    }
}
