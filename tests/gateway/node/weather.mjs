// Agents around real clients of models in node, as those of weather.py. `node weather.mjs NAME` serves one.

import { createInterface } from "node:readline";

const instructions = process.env.GATEWAY_INSTRUCTIONS ?? "You answer about weather.";
const stream = process.env.GATEWAY_STREAM === "1";
const swallows = process.env.GATEWAY_SWALLOW === "1";
const result = process.env.GATEWAY_RESULT ?? "sunny in {city}";

const description = "Gets the weather.";
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

async function getWeather({ city }) {
  await new Promise((wake) => setTimeout(wake, Math.random() * 50));
  return result.replace("{city}", city);
}

/** Runs the calls of one answer at the same time, and records them in their order. */
async function together(turn, calls) {
  const results = await Promise.all(calls.map(({ args }) => getWeather(args)));
  calls.forEach(({ name, args }, index) => turn({ type: "tool_call", name, args, result: results[index] }));
  return results;
}

/** OpenAI's client, Chat Completions. */
async function openaiChat() {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI();
  const messages = [{ role: "system", content: instructions }];
  const tools = [{ type: "function", function: { name: "get_weather", description, parameters } }];
  const ask = async () => {
    const request = { model: "gpt-5-mini", messages, tools };
    if (stream) return client.chat.completions.stream(request).finalMessage();
    return (await client.chat.completions.create(request)).choices[0].message;
  };
  return async (content, turn) => {
    messages.push({ role: "user", content });
    while (true) {
      const { content: text, tool_calls: calls } = await ask();
      if (!calls?.length) {
        messages.push({ role: "assistant", content: text });
        return text;
      }
      messages.push({ role: "assistant", tool_calls: calls.map(({ id, type, function: it }) => ({ id, type, function: { name: it.name, arguments: it.arguments } })) });
      const made = calls.map(({ function: it }) => ({ name: it.name, args: JSON.parse(it.arguments) }));
      (await together(turn, made)).forEach((content, index) => messages.push({ role: "tool", tool_call_id: calls[index].id, content }));
    }
  };
}

/** OpenAI's client, Responses. */
async function openaiResponses() {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI();
  const input = [];
  const tools = [{ type: "function", name: "get_weather", description, parameters, strict: true }];
  const ask = async () => {
    const request = { model: "gpt-5-mini", instructions, input, tools };
    return stream ? client.responses.stream(request).finalResponse() : client.responses.create(request);
  };
  return async (content, turn) => {
    input.push({ role: "user", content });
    while (true) {
      const response = await ask();
      // The stream adds what it parsed.
      input.push(...response.output.map(({ parsed_arguments, ...item }) => item));
      const calls = response.output.filter((item) => item.type === "function_call");
      if (!calls.length) return response.output_text;
      const made = calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) }));
      const results = await together(turn, made);
      results.forEach((output, index) => input.push({ type: "function_call_output", call_id: calls[index].call_id, output }));
    }
  };
}

/** Anthropic's client. */
async function anthropic() {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic();
  const messages = [];
  const tools = [{ name: "get_weather", description, input_schema: parameters }];
  return async (content, turn) => {
    messages.push({ role: "user", content });
    while (true) {
      const request = { model: "claude-sonnet-4-5", max_tokens: 1000, system: instructions, messages, tools };
      const said = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
      messages.push({ role: "assistant", content: said.content });
      const calls = said.content.filter((block) => block.type === "tool_use");
      if (!calls.length) return said.content.map((block) => block.text).join("");
      const results = await together(turn, calls.map((call) => ({ name: call.name, args: call.input })));
      messages.push({ role: "user", content: results.map((content, index) => ({ type: "tool_result", tool_use_id: calls[index].id, content })) });
    }
  };
}

/** Google's client. */
async function gemini() {
  const { GoogleGenAI } = await import("@google/genai");
  const client = new GoogleGenAI({});
  const contents = [];
  const config = {
    systemInstruction: instructions,
    tools: [{ functionDeclarations: [{ name: "get_weather", description, parametersJsonSchema: parameters }] }],
  };
  const ask = async () => {
    const request = { model: "gemini-2.5-flash", contents, config };
    if (!stream) return (await client.models.generateContent(request)).candidates[0].content.parts;
    const parts = [];
    for await (const chunk of await client.models.generateContentStream(request)) parts.push(...(chunk.candidates[0].content.parts ?? []));
    return parts;
  };
  return async (text, turn) => {
    contents.push({ role: "user", parts: [{ text }] });
    while (true) {
      const parts = await ask();
      contents.push({ role: "model", parts });
      const calls = parts.map((part) => part.functionCall).filter(Boolean);
      if (!calls.length) return parts.map((part) => part.text).join("");
      const results = await together(turn, calls);
      const answers = calls.map(({ id, name }, index) => ({ functionResponse: { id, name, response: { result: results[index] } } }));
      contents.push({ role: "user", parts: answers });
    }
  };
}

/** The `ai` package with a model of one of its providers. */
function ai(load) {
  return async () => {
    const { generateText, streamText, tool, jsonSchema, stepCountIs } = await import("ai");
    const model = await load();
    const tools = { get_weather: tool({ description, inputSchema: jsonSchema(parameters), execute: getWeather }) };
    const messages = [];
    return async (content, turn) => {
      messages.push({ role: "user", content });
      const request = { model, system: instructions, messages, tools, stopWhen: stepCountIs(5) };
      const said = stream ? streamText({ ...request, onError() {} }) : await generateText(request);
      for (const { toolCalls, toolResults } of await said.steps)
        // Results of a stream stand in the order in which they came.
        for (const { toolCallId, toolName: name, input: args } of toolCalls) {
          const { output } = toolResults.find((result) => result.toolCallId === toolCallId);
          turn({ type: "tool_call", name, args, result: output });
        }
      messages.push(...(await said.response).messages);
      return said.text;
    };
  };
}

/** The Agents SDK of OpenAI. */
async function agents() {
  const { Agent, run, tool } = await import("@openai/agents");
  const agent = new Agent({
    name: "weather",
    instructions,
    model: "gpt-5-mini",
    tools: [tool({ name: "get_weather", description, parameters, strict: true, execute: getWeather })],
  });
  let history = [];
  return async (content, turn) => {
    const said = await run(agent, [...history, { role: "user", content }], { stream });
    if (stream) await said.completed;
    history = said.history;
    const items = said.newItems.map((item) => item.rawItem);
    for (const call of items.filter((item) => item.type === "function_call")) {
      const { output } = items.find((item) => item.type === "function_call_result" && item.callId === call.callId);
      turn({ type: "tool_call", name: call.name, args: JSON.parse(call.arguments), result: output.text ?? output });
    }
    return said.finalOutput;
  };
}

/** ADK with Gemini. Its events are recorded as they are. */
async function adk() {
  const { FunctionTool, InMemoryRunner, LlmAgent, StreamingMode } = await import("@google/adk");
  const { z } = await import("zod");
  const tool = new FunctionTool({ name: "get_weather", description, parameters: z.object({ city: z.string() }), execute: getWeather });
  const agent = new LlmAgent({ name: "weather", model: "gemini-2.5-flash", instruction: instructions, tools: [tool] });
  const runner = new InMemoryRunner({ agent, appName: "weather" });
  const { id: sessionId } = await runner.sessionService.createSession({ appName: "weather", userId: "user" });
  const runConfig = stream ? { streamingMode: StreamingMode.SSE } : undefined;
  return async (text, turn) => {
    const newMessage = { role: "user", parts: [{ text }] };
    for await (const event of runner.runAsync({ userId: "user", sessionId, newMessage, runConfig })) turn({ type: "event", event });
  };
}

const AGENTS = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  gemini,
  "ai-chat": ai(async () => (await import("@ai-sdk/openai")).openai.chat("gpt-5-mini")),
  "ai-responses": ai(async () => (await import("@ai-sdk/openai")).openai("gpt-5-mini")),
  "ai-anthropic": ai(async () => (await import("@ai-sdk/anthropic")).anthropic("claude-sonnet-4-5")),
  // It reads no variable for the address, and its own for the key.
  "ai-google": ai(async () => {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    const { GOOGLE_GEMINI_BASE_URL: address, GOOGLE_API_KEY: apiKey } = process.env;
    return createGoogleGenerativeAI({ baseURL: `${address}/v1beta`, apiKey })("gemini-2.5-flash");
  }),
  agents,
  adk,
};

async function serve(make) {
  // The lines of the protocol have the output for themselves: ADK logs there.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const say = (message) => write(`${JSON.stringify(message)}\n`);
  const agent = await make();
  say({ type: "hello", protocol: 1 });
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    const { type, session_id } = message;
    const answer = (said) => say({ session_id, ...said });
    try {
      if (type === "start") answer({ type: "started" });
      else if (type === "turn") {
        const text = await agent(message.content.parts[0].text, answer);
        if (text !== undefined) answer({ type: "text", text });
        answer({ type: "turn_end" });
      }
    } catch (error) {
      if (type === "turn" && swallows) {
        answer({ type: "text", text: "It is sunny." });
        answer({ type: "turn_end" });
      } else answer({ type: "error", message: `${error.constructor.name}: ${error.message}` });
    }
  }
  process.exit(0);
}

await serve(AGENTS[process.argv[2]]);
