// Opens the page of live sessions of `cargo evalset serve` in a headless Chromium, and does with it what a person would.
//
//   node tests/page/sessions.mjs CARGO-EVALSET SCREENSHOTS [NAME]
//
// CARGO-EVALSET has the feature `serve`. What else it needs, browser.mjs says. The folder `screenshots` has those of such a run.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { PHONE, WIDE, accessible, browser, close, evalset, runTests, shot, watch } from "./browser.mjs";
import { HOSTILE } from "./journals.mjs";

const folder = mkdtempSync(join(tmpdir(), "evalset-sessions-"));

const service = spawn(evalset, ["evalset", "serve", "--port", "0", "--otlp-port", "0"], { cwd: folder });
const services = [service];
const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
const [, url, token] = (await lines.next()).value.match(/^serving on (\S+)\/\?token=(\S+)$/);
const [, otlp] = (await lines.next()).value.match(/^receiving traces on (\S+)$/);

/** Exports spans. */
async function send(spans, to = otlp) {
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const reply = await fetch(`${to}/v1/traces`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(reply.status, 200);
}

/** A turn of an agent with a tool call, as it is exported. */
async function turn(id, asked, city, answer, to) {
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
      "gen_ai.tool.call.result": JSON.stringify({ sky: "clear" }),
    }),
    span(3, 1, {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "m",
      "gen_ai.input.messages": messages("user", asked),
      "gen_ai.output.messages": messages("assistant", answer),
    }),
  ];
  await send(spans, to);
}

/** A span of no agent in the trace of a session. */
const later = (id, number) => send([{
  traceId: String(id).padStart(32, "0"),
  spanId: String(number).padStart(16, "0"),
  parentSpanId: "1".padStart(16, "0"),
  name: "later",
  startTimeUnixNano: "1760000000000000020",
  endTimeUnixNano: "1760000000000000030",
}]);

// Also where a test failed, no service is left over.
process.on("exit", () => services.forEach((child) => child.kill()));

const tests = {
  async "sessions appear, one is golden, the others are scored against it"() {
    const context = await browser.newContext({ viewport: WIDE });
    const page = watch(await context.newPage(), (asked) => asked.startsWith(url));

    await page.goto(`${url}/sessions?token=${token}`);
    await page.getByText("No session has arrived.").waitFor();
    assert((await page.textContent("#about")).includes(new URL(otlp).port));
    assert.deepEqual(await page.locator(".site a").allInnerTexts(), ["evalset", "Runs", "Review", "Drafts", "Sessions", "Check"]);
    assert.equal(await page.locator(".site [aria-current=page]").innerText(), "Sessions");

    // Sessions appear by themselves.
    await turn(1, "Paris?", "Paris", "It is sunny.");
    await page.locator("#rows tr").waitFor();
    await turn(2, "Paris?", "Paris", "It is sunny.");
    await turn(3, "Paris?", "Rome", "It is sunny.");
    // Characters that steer, a key, and a text that nobody reads to its end.
    const key = `sk-ant-${"abcde01234".repeat(6)}`;
    const foreign = `${HOSTILE.join(" ")} \u202e\u001b[2J ${key}`;
    const long = `${foreign} ${"y".repeat(1 << 20)}`;
    await turn(4, foreign, long, long);
    await page.waitForFunction(() => document.querySelectorAll("#rows .complete").length === 4);

    // One is golden, the others are scored.
    const row = (id) => page.locator("#rows tr", { hasText: String(id).padStart(32, "0") });
    await row(1).locator(".name").click();
    await page.locator("#detail .turn").waitFor();
    const said = await page.textContent("#detail");
    for (const part of ['get_weather(city: "Paris")', 'returned {"sky":"clear"}', "It is sunny.", "Took 1.00 s"]) assert(said.includes(part), `${part}: ${said}`);
    await page.locator("#mark").click();
    await row(1).locator(".golden").waitFor();
    await page.getByRole("button", { name: "Score", exact: true }).click();
    await row(2).locator(".passed", { hasText: "tool_trajectory_avg_score 1" }).waitFor();
    await row(3).locator(".failed", { hasText: "tool_trajectory_avg_score 0" }).waitFor();
    await row(4).locator(".not_evaluated").first().waitFor();

    // The trajectory beside the golden one.
    await row(3).locator(".name").click();
    const changed = page.locator("#detail .calls > tbody > tr.changed");
    await changed.waitFor();
    assert.deepEqual([await changed.locator("del").innerText(), await changed.locator("ins").innerText()], ["Paris", "Rome"]);
    // Thresholds are beside the scores, of the session and of the turn.
    await page.locator("#detail .pills .failed", { hasText: "tool_trajectory_avg_score 0.0 < 1" }).waitFor();
    await page.locator("#detail .turn .score", { hasText: "tool_trajectory_avg_score 0" }).waitFor();
    assert.match(await page.locator("#detail .grid", { hasText: "needed" }).innerText(), /tool_trajectory_avg_score[^]*failed\s+0\.0\s+≥ 1[^]*response_match_score[^]*passed\s+1\.0\s+≥ 0\.8/);
    // The turn that failed is marked, the head says what differs, and the keys lead there.
    await page.locator("#detail .turn.bad[open]").waitFor();
    assert.equal(await page.locator("#detail .lead").innerText(), "turn 1: get_weather `city` expected Paris → actual Rome".replaceAll("`", ""));
    assert.equal(await page.locator(".jumps [role=status]").innerText(), "1 difference");
    assert(await changed.evaluate((it) => it.getBoundingClientRect().bottom < innerHeight), "the first difference is in sight");
    await page.keyboard.press("n");
    await page.locator("#detail .here").waitFor();
    assert.equal(await page.locator(".jumps [role=status]").innerText(), "difference 1 of 1");
    await page.keyboard.press("Shift+Tab");
    await page.locator("#detail .here").evaluate((it) => it.classList.remove("here"));
    await shot(page, "sessions");

    // Paper has what was found, and nothing to press.
    await page.emulateMedia({ media: "print" });
    assert(await row(3).isVisible() && await changed.isVisible());
    assert.equal(await page.locator("nav:visible, button:not(.name):visible, input:visible").count(), 0);
    await page.emulateMedia({ media: "screen" });

    // A draft.
    await page.locator("#detail input[type=text]").fill("evals/live.evalset.json");
    await page.locator("#save").click();
    await page.getByText("is in evals/live.evalset.json").waitFor();
    const link = await page.locator("#detail .saving a", { hasText: "review it" }).getAttribute("href");
    assert(readFileSync(join(folder, "evals/live.evalset.json"), "utf8").includes("_draft"));
    await page.locator("#detail input[type=text]").fill("../x.evalset.json");
    await page.locator("#save").click();
    await page.getByText("is not below the folder of the service").waitFor();
    // The session leads to its draft.
    const review = await context.newPage();
    await review.goto(url + link);
    await review.locator(":target", { hasText: "paris" }).waitFor();
    await review.close();

    // What comes from agents is text.
    await row(4).locator(".name").click();
    await page.locator("#detail h2", { hasText: "4" }).waitFor();
    await page.locator("#detail .said.user", { hasText: HOSTILE[0] }).waitFor();
    assert.equal(await page.locator("#detail img, #detail script, #rows img, #rows script").count(), 0);
    assert((await page.textContent("#detail .said")).includes(HOSTILE[0]));
    const [all, longest] = await page.evaluate(() => {
      const texts = [];
      const walk = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) texts.push(walk.currentNode.data);
      return [texts.join("\n"), Math.max(...texts.map((it) => it.length))];
    });
    assert(all.includes("\\u{202e}\\u{1b}[2J") && /the record has (\d+ )?more/.test(all), "escaped, and cut");
    assert(!/[\u202a-\u202e\u2066-\u2069\u001b]/.test(all) && !all.includes("abcde01234"));
    assert(longest < 21_000, `${longest} characters in one text`);
    // The draft has all of it but the key.
    await page.locator("#detail input[type=text]").fill("evals/foreign.evalset.json");
    await page.locator("#save").click();
    await page.getByText("is in evals/foreign.evalset.json").waitFor();
    const draft = readFileSync(join(folder, "evals/foreign.evalset.json"), "utf8");
    assert(draft.includes("y".repeat(1 << 20)) && !draft.includes("abcde01234"));

    // No score outlives what it was made of: neither in the list nor beside the open session.
    const passed = page.locator(".passed");
    const scored = async () => {
      await page.waitForFunction(() => document.querySelectorAll("#rows .complete").length === 4);
      // The page asks for a second try where a session has become complete meanwhile.
      const shown = row(2).locator(".passed", { hasText: "tool_trajectory_avg_score 1" });
      for (let tries = 0; tries < 20 && !(await shown.isVisible()); tries += 1) {
        await page.getByRole("button", { name: "Score", exact: true }).click();
        await shown.waitFor({ timeout: 1000 }).catch(() => {});
      }
      await shown.waitFor();
      await page.locator("#detail .passed").first().waitFor();
    };
    const gone = () => page.waitForFunction(() => document.querySelectorAll(".passed, .failed").length === 0);
    const api = async (method, path) => {
      const reply = await fetch(`${url}/api/v1/sessions${path}`, { method, headers: { authorization: `Bearer ${token}` } });
      assert.equal(reply.status, 200);
    };
    await row(2).locator(".name").click();
    await page.locator("#detail h2", { hasText: "2" }).waitFor();
    await scored();
    // More spans of the session: its own score goes, the others stay. What is unfolded, focused or typed stays too.
    const about = page.locator("#detail summary", { hasText: "About the case" });
    await page.locator("#detail .saving input").fill("evals/mine.evalset.json");
    await about.click();
    await later(2, 10);
    await row(2).locator(".passed").first().waitFor({ state: "detached" });
    await page.locator("#detail .passed").first().waitFor({ state: "detached" });
    await page.locator("#detail .facts dd", { hasText: /^4$/ }).waitFor();
    assert(await about.evaluate((it) => it.parentNode.open && it === document.activeElement));
    assert.equal(await page.locator("#detail .saving input").inputValue(), "evals/mine.evalset.json");
    await row(3).locator(".failed", { hasText: "tool_trajectory_avg_score 0" }).waitFor();
    await scored();
    // More spans of the golden one: all go.
    await later(1, 10);
    await gone();
    await scored();
    // It is unmarked in another window, and marked again.
    await api("DELETE", "/1/golden");
    await gone();
    await api("PUT", "/1/golden");
    await row(1).locator(".golden").waitFor();
    assert.equal(await passed.count(), 0);
    await scored();
    // A score that is on its way when the golden session changes is not shown.
    await page.route("**/api/v1/sessions/score", async (route) => {
      const answer = await route.fetch();
      await later(1, 11);
      await page.waitForFunction(() => document.querySelectorAll(".passed, .failed").length === 0);
      await route.fulfill({ response: answer });
    });
    await page.getByRole("button", { name: "Score", exact: true }).click();
    await page.getByText("the golden session changed while the others were scored").waitFor();
    assert.equal(await passed.count(), 0);
    await page.unroute("**/api/v1/sessions/score");

    // The address names the open session, and the way back leads to the one before.
    const heading = (id) => page.locator("#detail h2", { hasText: String(id).padStart(32, "0") }).waitFor();
    await page.goto(`${url}/sessions#3`);
    await heading(3);
    await page.locator("#save").waitFor();
    await row(3).and(page.locator("[aria-current=true]")).waitFor();
    await row(2).locator(".name").click();
    await heading(2);
    assert(page.url().endsWith("/sessions#2"), page.url());
    await page.goBack();
    await heading(3);
    await page.goForward();
    await heading(2);
    await page.getByRole("button", { name: "Close" }).click();
    assert(page.url().endsWith("/sessions") && await page.locator("#detail").isHidden());
    await page.goBack();
    await heading(2);
    await page.evaluate(() => { location.hash = "99"; });
    await page.getByText("there is no such session").waitFor();
    assert(await page.locator("#detail").isHidden());
    await page.goBack();
    await heading(2);
    // A place on the page is no session.
    await page.evaluate(() => { location.hash = "list"; });
    await page.waitForFunction(() => location.hash === "#list");
    await heading(2);

    // Contrast and names, in the light and in the dark, and on a phone.
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await accessible(page, colorScheme);
    }
    await page.setViewportSize({ width: 768, height: 1024 });
    await shot(page, "tablet-sessions", { kept: false });
    await page.setViewportSize(PHONE);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    assert(!wide, "a phone has to scroll sideways");
    // A phone shows the list or a session. Escape closes the session, and leads back to its row.
    assert(await page.locator("#list").isHidden());
    await page.keyboard.press("Escape");
    await row(2).locator(".name:focus").waitFor();
    await accessible(page, "the list on a phone");
    await shot(page, "phone-list-sessions", { kept: false });
    await row(3).locator(".name").focus();
    await page.keyboard.press("Enter");
    await heading(3);
    await accessible(page, "a session on a phone");
    await shot(page, "phone-sessions");
    // The refused draft, and that there is no session, are answers that the browser logs.
    page.problems = page.problems.filter((it) => !it.includes("409") && !it.includes("404"));
    await close(page);
  },

  async "a service that is started again forgets"() {
    const context = await browser.newContext({ viewport: WIDE });
    // A service that is started again counts sessions from 1: what was scored before it is forgotten.
    const secret = "0123456789abcdef0123456789abcdef";
    writeFileSync(join(folder, "token"), secret);
    const begin = async (port) => {
      const started = spawn(evalset, ["evalset", "serve", "--port", port, "--otlp-port", "0", "--token-file", "token"], { cwd: folder });
      services.push(started);
      const said = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
      const [, at] = (await said.next()).value.match(/^serving on (http:\/\/[^/\s?]+)/);
      const [, to] = (await said.next()).value.match(/^receiving traces on (\S+)$/);
      return { started, at, to };
    };
    const first = await begin("0");
    await turn(1, "Paris?", "Paris", "It is sunny.", first.to);
    await turn(2, "Paris?", "Paris", "It is sunny.", first.to);
    const other = await context.newPage();
    await other.goto(`${first.at}/sessions?token=${secret}`);
    await other.waitForFunction(() => document.querySelectorAll("#rows .complete").length === 2);
    await other.locator("#rows tr .name").last().click();
    await other.locator("#mark").click();
    await other.locator("#rows .golden").waitFor();
    await other.locator("#rows tr .name").first().click();
    await other.getByRole("button", { name: "Score", exact: true }).click();
    await other.locator("#detail .passed").first().waitFor();
    const events = "**/api/v1/sessions/events*";
    await other.route(events, (route) => route.abort("connectionrefused"));
    first.started.kill();
    await once(first.started, "exit");
    const second = await begin(new URL(first.at).port);
    await turn(1, "Paris?", "Paris", "It is sunny.", second.to);
    await turn(7, "Rome?", "Rome", "It rains.", second.to);
    // The browser is known to the service again.
    const third = await context.newPage();
    await third.goto(`${second.at}/sessions?token=${secret}`);
    await third.locator("#rows tr", { hasText: "7".padStart(32, "0") }).waitFor();
    await third.close();
    await other.unroute(events);
    await other.locator("#rows tr", { hasText: "7".padStart(32, "0") }).waitFor({ timeout: 60_000 });
    assert.equal(await other.locator(".passed, .failed, #rows .golden").count(), 0);
    // The open session is not there any more, though there is one with its id.
    await other.locator("#detail").waitFor({ state: "hidden" });
    assert.match(await other.textContent("#message"), /is no longer there|there is no such session/);
    // The same for a service that does not know the browser: nothing is left that was true of the one before.
    await other.waitForFunction(() => document.querySelectorAll("#rows .complete").length === 2);
    second.started.kill();
    await once(second.started, "exit");
    await begin(new URL(first.at).port);
    await other.getByText("the service does not answer").waitFor({ timeout: 60_000 });
    assert.equal(await other.locator("#rows tr").count(), 0);
    await context.close();
  },
};

await runTests(tests, folder);
