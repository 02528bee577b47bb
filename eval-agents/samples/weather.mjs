// An agent in JavaScript: the protocol of eval-agents' `Process` on standard input and output.

import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function getWeather(city) {
  return { sky: "sunny", city };
}

/** Says what the agent does about one message of the user. */
async function answer(session_id, content) {
  const text = content.parts.map((part) => part.text ?? "").join(" ");
  const city = text.match(/[Ww]eather in (\w+)/)?.[1];
  if (!city) {
    write({ type: "text", session_id, text: "Ask me about the weather." });
    return;
  }
  write({ type: "tool_call", session_id, name: "get_weather", args: { city }, result: await getWeather(city) });
  const event = {
    author: "weather_agent",
    content: { role: "model", parts: [{ text: `It is sunny in ${city}.` }] },
    actions: { stateDelta: { last_city: city } },
  };
  write({ type: "event", session_id, event });
}

write({ type: "hello", protocol: 1 });
for await (const line of createInterface({ input: process.stdin })) {
  const { type, session_id, content } = JSON.parse(line);
  if (type === "start") {
    write({ type: "started", session_id });
  } else if (type === "turn") {
    try {
      await answer(session_id, content);
      write({ type: "turn_end", session_id });
    } catch (error) {
      write({ type: "error", session_id, message: String(error) });
    }
  }
}
