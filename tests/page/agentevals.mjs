// Opens agentevals' own pages in a headless Chromium, in front of `cargo evalset serve`, and scores a trace with them.
//
//   node tests/page/agentevals.mjs CARGO-EVALSET SCREENSHOTS
//
// CARGO-EVALSET has the feature `serve`. AGENTEVALS names the folder `_static` of the package agentevals-cli. What else it needs,
// browser.mjs says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";

import { SLOW, WIDE, browser, evalset, runTests } from "./browser.mjs";

const pages = process.env.AGENTEVALS;
assert(pages, "AGENTEVALS names no folder");
const folder = mkdtempSync(join(tmpdir(), "evalset-agentevals-"));

const service = spawn(evalset, ["evalset", "serve", "--port", "0", "--no-otlp"], { cwd: folder });
process.on("exit", () => service.kill());
const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
const [, url] = (await lines.next()).value.match(/^serving on (\S+)\/\?token=\S+$/);

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const requests = [];

// Their pages, and our service behind them.
const front = createServer(async (request, response) => {
  const path = request.url.split("?")[0];
  if (!path.startsWith("/api/")) {
    try {
      const file = join(pages, normalize(path === "/" ? "/index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const headers = request.headers["content-type"] ? { "content-type": request.headers["content-type"] } : {};
  const reply = await fetch(url + request.url, { method: request.method, headers, body: body.length ? body : undefined });
  const answer = Buffer.from(await reply.arrayBuffer());
  requests.push({ path, body: body.toString(), status: reply.status, answer: answer.toString() });
  response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" }).end(answer);
});
await new Promise((listening) => front.listen(0, "127.0.0.1", listening));
const home = `http://127.0.0.1:${front.address().port}/`;

const message = (role, content) => JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
const span = (id, parent, attributes) => ({
  traceId: "1".padStart(32, "0"),
  spanId: String(id).padStart(16, "0"),
  parentSpanId: parent && String(parent).padStart(16, "0"),
  name: attributes["gen_ai.operation.name"],
  startTimeUnixNano: `17600000000000000${10 + id}`,
  endTimeUnixNano: "1760000001000000000",
  attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
});
const TRACE = { resourceSpans: [{ scopeSpans: [{ spans: [
  span(1, "", {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "weather",
    "gen_ai.input.messages": message("user", "Weather in Paris?"),
    "gen_ai.output.messages": message("assistant", "It is sunny."),
  }),
  span(2, 1, { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "gen_ai.tool.call.arguments": '{"city":"Paris"}' }),
] }] }] };
const SET = { eval_set_id: "weather", eval_cases: [{ eval_id: "paris", conversation: [{
  user_content: { role: "user", parts: [{ text: "Weather in Paris?" }] },
  final_response: { role: "model", parts: [{ text: "It is sunny." }] },
  intermediate_data: { tool_uses: [{ name: "get_weather", args: { city: "Paris" } }] },
}] }] };
writeFileSync(join(folder, "trace.json"), JSON.stringify(TRACE));
writeFileSync(join(folder, "weather.evalset.json"), JSON.stringify(SET));

const tests = {
  async "a trace that is scored with agentevals' pages gets its score"() {
    const page = await (await browser.newContext({ viewport: WIDE })).newPage();
    page.setDefaultTimeout(30_000 * SLOW);
    await page.goto(home);
    await page.getByText("Offline evaluations").click();
    const files = page.locator("input[type=file][accept*='.json']");
    await files.nth(0).setInputFiles(join(folder, "trace.json"));
    await page.getByText("1 file(s) sele").waitFor();
    await files.nth(1).setInputFiles(join(folder, "weather.evalset.json"));
    await page.getByRole("button", { name: /run evaluation/i }).click();
    await page.getByText(/^1\.0+$/).or(page.getByText(/100(\.0+)?%/)).first().waitFor();
    const asked = requests.find((it) => it.path === "/api/evaluate/stream");
    assert.match(asked.body, /"judgeModel":"[^"]+".*"trajectoryMatchType":"EXACT"/, "its pages add both to each evaluator");
    assert.match(asked.answer, /"metricName":"tool_trajectory_avg_score","score":1\.0.*"evalStatus":"PASSED"/);
  },
};

await runTests(tests, folder);
