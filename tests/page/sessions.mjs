// Opens the page of live sessions of `cargo evalset serve` in a headless Chromium, and does with it what a person would.
//
//   node tests/page/sessions.mjs CARGO-EVALSET SCREENSHOTS
//
// CARGO-EVALSET has the feature `serve`. The rest is as for look.mjs.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { HOSTILE } from "./journals.mjs";

const require = createRequire(process.env.NODE_MODULES ? join(resolve(process.env.NODE_MODULES), "x") : import.meta.url);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const evalset = resolve(process.argv[2]);
const screenshots = resolve(process.argv[3]);
mkdirSync(screenshots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "evalset-sessions-"));

const service = spawn(evalset, ["evalset", "serve", "--port", "0", "--otlp-port", "0"], { cwd: folder });
const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
const [, url, token] = (await lines.next()).value.match(/^serving on (\S+)\/\?token=(\S+)$/);
const [, otlp] = (await lines.next()).value.match(/^receiving traces on (\S+)$/);

/** A turn of an agent with a tool call, as it is exported. */
async function turn(id, asked, city, answer) {
  const trace = String(id).padStart(32, "0");
  const messages = (role, content) => JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
  const span = (number, parent, attributes) => ({
    traceId: trace,
    spanId: String(number).padStart(16, "0"),
    parentSpanId: parent && String(parent).padStart(16, "0"),
    name: "s",
    startTimeUnixNano: `17600000000000000${10 + number}`,
    endTimeUnixNano: "1760000001000000000",
    attributes,
  });
  const spans = [
    span(1, "", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather" }),
    span(2, 1, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "get_weather",
      "gen_ai.tool.call.arguments": JSON.stringify({ city }),
    }),
    span(3, 1, {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "m",
      "gen_ai.input.messages": messages("user", asked),
      "gen_ai.output.messages": messages("assistant", answer),
    }),
  ];
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const reply = await fetch(`${otlp}/v1/traces`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(reply.status, 200);
}

const onPath = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
const executablePath = process.env.CHROMIUM || onPath("chromium") || onPath("google-chrome");
assert(executablePath, "there is no Chromium: install it, or name it in CHROMIUM");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: false });
  const page = await context.newPage();
  const problems = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) problems.push("asked for " + request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push("opened a dialog");
    dialog.dismiss();
  });

  await page.goto(`${url}/sessions?token=${token}`);
  await page.getByText("No session has arrived.").waitFor();
  assert((await page.textContent("#about")).includes(new URL(otlp).port));

  // Sessions appear by themselves.
  await turn(1, "Paris?", "Paris", "It is sunny.");
  await page.locator("#rows tr").waitFor();
  await turn(2, "Paris?", "Paris", "It is sunny.");
  await turn(3, "Paris?", "Rome", "It is sunny.");
  const foreign = HOSTILE.join(" ");
  await turn(4, foreign, foreign, foreign);
  await page.waitForFunction(() => document.querySelectorAll("#rows .complete").length === 4);

  // One is golden, the others are scored.
  const row = (id) => page.locator("#rows tr", { hasText: String(id).padStart(32, "0") });
  await row(1).locator(".name").click();
  await page.locator("#detail .turn").waitFor();
  assert((await page.textContent("#detail")).includes('get_weather({"city":"Paris"})'));
  await page.locator("#mark").click();
  await row(1).locator(".golden").waitFor();
  await page.getByRole("button", { name: "Score", exact: true }).click();
  await row(2).locator(".passed", { hasText: "tool_trajectory_avg_score 1" }).waitFor();
  await row(3).locator(".failed", { hasText: "tool_trajectory_avg_score 0" }).waitFor();
  await row(4).locator(".not_evaluated").first().waitFor();

  // The trajectory beside the golden one.
  await row(3).locator(".name").click();
  const changed = page.locator("#detail tr.changed");
  await changed.waitFor();
  assert((await changed.textContent()).includes('"Paris"') && (await changed.textContent()).includes('"Rome"'));
  await page.screenshot({ path: join(screenshots, "sessions.png") });

  // A draft.
  await page.locator("#detail input[type=text]").fill("evals/live.evalset.json");
  await page.locator("#save").click();
  await page.getByText("is in evals/live.evalset.json").waitFor();
  assert(readFileSync(join(folder, "evals/live.evalset.json"), "utf8").includes("_draft"));
  await page.locator("#detail input[type=text]").fill("../x.evalset.json");
  await page.locator("#save").click();
  await page.getByText("is not below the folder of the service").waitFor();

  // What comes from agents is text.
  await row(4).locator(".name").click();
  await page.locator("#detail h2", { hasText: "4" }).waitFor();
  assert.equal(await page.locator("#detail img, #detail script, #rows img, #rows script").count(), 0);
  assert((await page.textContent("#detail .said")).includes(HOSTILE[0]));

  // Contrast and names, in the light and in the dark, and on a phone.
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate("axe.run()");
    const serious = violations.filter((it) => ["serious", "critical"].includes(it.impact));
    assert.deepEqual(serious.map((it) => `${it.id}: ${it.nodes[0].html}`), []);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert(!wide, "a phone has to scroll sideways");
  await page.screenshot({ path: join(screenshots, "sessions-phone.png") });
  // The refused draft is an answer that the browser logs.
  assert.deepEqual(problems.filter((it) => !it.includes("409")), []);
  console.log("the page of live sessions: all right");
} finally {
  await browser.close();
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}
