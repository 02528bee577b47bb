// The weather agent of the samples, as an agent of ADK for TypeScript whose model is a script.

import { BaseLlm, FunctionTool, LlmAgent } from "@google/adk";
import { z } from "zod";

class Script extends BaseLlm {
  constructor() {
    super({ model: "script" });
  }

  async *generateContentAsync(request) {
    const last = request.contents.at(-1).parts.at(-1);
    if (last.text?.includes("break")) {
      throw new Error("the script is broken");
    }
    if (last.text?.includes("refuse")) {
      yield { errorCode: "SAFETY", errorMessage: "blocked" };
      return;
    }
    const result = last.functionResponse?.response;
    const text = (words) => ({ text: words });
    let part;
    if (result?.error) {
      part = text(`It failed: ${result.error}`);
    } else if (result) {
      part = text(`It is sunny in ${result.city}.`);
    } else {
      part = { functionCall: { name: "get_weather", args: { city: last.text.match(/weather in (\w+)/)[1] } } };
    }
    yield {
      content: { role: "model", parts: [part] },
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    };
  }

  async connect() {
    throw new Error("it has no live mode");
  }
}

const getWeather = new FunctionTool({
  name: "get_weather",
  description: "The weather in a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, context) => {
    if (city === "Nowhere") {
      throw new Error("no such city");
    }
    context.state.set("last_city", city);
    return { sky: "sunny", city };
  },
});

export const rootAgent = new LlmAgent({
  name: "weather_agent",
  model: new Script(),
  instruction: "Answer questions on the weather.",
  tools: [getWeather],
});
