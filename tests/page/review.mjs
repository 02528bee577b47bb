// Opens the review of `cargo evalset serve`, two runs side by side, and a run beside its baseline, in a headless Chromium.
//
//   node tests/page/review.mjs CARGO-EVALSET SCREENSHOTS [NAME]
//
// CARGO-EVALSET is built with the feature `serve`. What else it needs, browser.mjs says; Python 3 too.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { PHONE, SLOW, WIDE, accessible, browser, close, evalset, runTests, shot, watch } from "./browser.mjs";

const example = join(dirname(fileURLToPath(import.meta.url)), "../../eval-cli/tests/review");
const root = mkdtempSync(join(tmpdir(), "evalset-review-"));
const SET = "desk.evalset.json";
const DRAFT = { eval_id: "rain in Oslo", conversation: [{ user_content: { parts: [{ text: "Weather in Oslo?" }] }, final_response: { parts: [{ text: "It rains in Oslo." }] } }], _draft: { from: "a conversation of 3 May" } };

// Also where a test failed, no service is left over.
const services = new Set();
process.on("exit", () => services.forEach((child) => child.kill("SIGTERM")));

// A folder in which the example of the review ran, and a service.
async function serve(name) {
  const folder = mkdtempSync(join(root, name));
  for (const file of ["agent.py", SET]) copyFileSync(join(example, file), join(folder, file));
  writeFileSync(join(folder, "rain.evalset.json"), JSON.stringify({ eval_set_id: "rain", eval_cases: [DRAFT] }));
  const env = { ...process.env, EVALSET_RUN_ID: "", EVALSET_DIR: join(folder, "runs") };
  // A person blesses here.
  delete env.CI;
  const now = (...words) => spawnSync(evalset, words, { cwd: folder, env, encoding: "utf8" });
  const run = (runs = 5) => now("run", SET, "--agent-cmd", "python3 agent.py", "--runs", String(runs));
  assert.equal(run().status, 1);
  const child = spawn(evalset, ["serve", "--port", "0", "--no-otlp"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  services.add(child);
  const line = await new Promise((done, fail) => {
    createInterface(child.stdout).once("line", done);
    child.once("exit", () => fail(new Error("the service did not start")));
  });
  const url = line.replace("serving on ", "");
  const text = () => readFileSync(join(folder, SET), "utf8");
  const stop = () => new Promise((done) => { child.once("exit", done); child.kill("SIGTERM"); });
  const runs = () => readdirSync(join(folder, "runs")).filter((it) => /^\d/.test(it)).sort();
  return { folder, url, origin: new URL(url).origin, now, run, runs, text, stop };
}

async function open(service, path = "", options = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = watch(await context.newPage(), (asked) => asked.startsWith(service.origin + "/"));
  page.setDefaultTimeout(20_000 * SLOW);
  await page.goto(service.url);
  await page.goto(service.origin + path);
  return page;
}

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const picture = (page, name) => shot(page, `review-${name}`, { kept: false });
const card = (page, name) => page.locator(".review").filter({ has: page.getByRole("heading", { name, exact: true }) });

const tests = {
  async "what failed is accepted as it was shown"() {
    const service = await serve("accept");
    const page = await open(service);
    await page.getByRole("link", { name: "Review", exact: true }).click();
    assert.match(await page.locator("#count").innerText(), /: 6 cases wait, 5 can be accepted\./);
    await accessible(page, "the review");
    await picture(page, "list");

    // A call: its bytes come before it is written.
    const before = service.text();
    const call = card(page, "new_call");
    assert.match(await call.innerText(), /failed 5 of 5 runs, the same each time/);
    await call.getByRole("button", { name: /^Accept the call check_calendar\(id: 7\)/ }).click();
    assert.match(await call.locator(".bytes").innerText(), /^@@ line 13, 1711 -> 1758 bytes, 1 line\n- [^]*\n\+ [^]*check_calendar/);
    assert.match(await call.innerText(), /It would pass all of 5 runs of this record\./);
    assert.equal(service.text(), before, "nothing is written yet");
    await accessible(page, "what is written");
    await picture(page, "bytes");
    await call.getByRole("button", { name: "Back" }).click();
    await call.getByRole("button", { name: /^Accept the call/ }).click();
    await call.getByRole("button", { name: "Write it" }).click();
    await call.locator(".answer", { hasText: "written: the call check_calendar(id: 7)" }).waitFor();
    assert.equal(service.text(), before.replace('{"name": "book"', '{"name": "check_calendar", "args": {"id": 7}}, {"name": "book"'));

    // A warning that asks a second time.
    const answer = card(page, "answer");
    assert.match(await answer.locator(".warnings").first().innerText(), /23 November 2026/);
    await answer.getByRole("button", { name: /^Accept the answer of turn 1/ }).click();
    assert(await answer.getByRole("button", { name: "Write it" }).isDisabled());
    await answer.getByRole("checkbox").check();
    await answer.getByRole("button", { name: "Write it" }).click();
    await answer.locator(".answer", { hasText: "written" }).waitFor();

    // One of two turns.
    const turns = card(page, "two_turns");
    await turns.getByRole("button", { name: "Accept parts …" }).click();
    await turns.getByRole("checkbox", { name: "turn 1" }).check();
    await turns.getByRole("button", { name: "Show what is written" }).click();
    await turns.getByText(/It will still fail: response_match_score 0\.67/).waitFor();
    await turns.getByRole("button", { name: "Write it" }).click();
    await turns.locator(".answer", { hasText: "written: turn 1; will still fail" }).waitFor();
    assert(service.text().includes("Good morning to you.") && !service.text().includes("The refund of A-17"));

    // A rule, and a case that varies.
    const argument = card(page, "argument");
    await argument.getByRole("button", { name: "Loosen …" }).click();
    await argument.getByRole("radio").first().check();
    await argument.getByRole("button", { name: "Show what is written" }).click();
    await argument.locator(".bytes", { hasText: "_expect" }).waitFor();
    await argument.getByRole("button", { name: "Write it" }).click();
    await argument.locator(".answer", { hasText: "written" }).waitFor();
    const unstable = card(page, "unstable");
    assert.match(await unstable.innerText(), /Not offered: no behaviour is common to all 5 runs/);
    assert.equal(await unstable.getByRole("button", { name: /^Accept/ }).count(), 0);
    await unstable.getByRole("button", { name: "Reject" }).click();
    assert.match(await unstable.innerText(), /stays as it is/);

    // A draft.
    const draft = card(page, "rain in Oslo");
    await draft.getByRole("button", { name: "Accept the draft …" }).click();
    await draft.getByRole("button", { name: "Write it" }).click();
    await draft.locator(".answer", { hasText: "written" }).waitFor();
    assert(!readFileSync(join(service.folder, "rain.evalset.json"), "utf8").includes("_draft"));
    assert.equal(service.run().status, 1, "one turn and the case that varies still fail");
    await page.locator("#newer", { hasText: "A newer run has ended" }).waitFor();
    await close(page);
    await service.stop();
  },

  async "what changed since is not written, and the page says so"() {
    const service = await serve("stale");
    const page = await open(service, "/review");
    const call = card(page, "new_call");
    await call.getByRole("button", { name: /^Accept the call/ }).click();
    const edited = service.text().replace("Book Anna a table", "Book Anna a seat");
    writeFileSync(join(service.folder, SET), edited);
    await call.getByRole("button", { name: "Write it" }).click();
    await call.locator(".answer.refused", { hasText: "was edited since it ran" }).waitFor();
    assert(await call.getByRole("link", { name: "Load the page again" }).isVisible());
    assert.equal(service.text(), edited);
    page.problems = page.problems.filter((it) => !/409/.test(it));
    await close(page);
    await service.stop();
  },

  async "the pages fit a phone, are readable in the dark, and say what they are without a script"() {
    const service = await serve("looks");
    assert.equal(service.now("bless", "--only", service.runs()[0]).status, 0);
    const agent = join(service.folder, "agent.py");
    writeFileSync(agent, readFileSync(agent, "utf8").replace("Booked.", "All is booked.").replace('"Bye": "Goodbye."', '"Bye": "So long."'));
    service.run();
    const [before, now] = service.runs();
    const paths = { list: "/review", diff: `/diff?before=${before}&now=${now}`, run: `/runs/${now}` };
    for (const [name, path] of Object.entries(paths)) {
      for (const [look, options] of [["phone", { viewport: PHONE }], ["dark", { colorScheme: "dark" }], ["phone-dark", { viewport: PHONE, colorScheme: "dark" }]]) {
        const page = await open(service, path, options);
        // The first cases that changed are there by themselves.
        if (name === "diff") await page.locator(".beside .turn").first().waitFor();
        await accessible(page, `${path}, ${look}`);
        await picture(page, `${name}-${look}`);
        assert(await fits(page), `${path}, ${look}`);
        await close(page);
      }
      const plain = await open(service, path, { javaScriptEnabled: false });
      assert.match(await plain.locator("main").innerText(), /new_call/);
      await close(plain);
    }
    await service.stop();
  },

  async "two runs are side by side, and a run beside its baseline"() {
    const service = await serve("beside");
    const [before] = service.runs();
    assert.equal(service.now("bless", "--only", before).status, 0);
    const agent = join(service.folder, "agent.py");
    writeFileSync(agent, readFileSync(agent, "utf8").replace("Booked.", "All is booked."));
    service.run();
    const now = service.runs()[1];
    const page = await open(service, `/runs/${now}`);
    await page.locator("#connection.on").waitFor();
    assert.match(await page.locator(".baseline").innerText(), /same[^]*since the baseline evalset-baseline\.jsonl \(/);
    await page.locator(".baseline").getByRole("button", { name: /same$/ }).click();
    assert.equal(new URL(page.url()).hash, "#show-same");
    const shown = await page.locator("tr.case:visible").count();
    await page.reload();
    await page.waitForFunction((count) => [...document.querySelectorAll("tr.case")].filter((row) => !row.hidden).length === count, shown);
    await page.getByRole("combobox", { name: "Group" }).selectOption("category");
    await page.locator("tr.fold-group:visible button", { hasText: "same: 6 cases, 5 to look at" }).waitFor();
    await accessible(page, "a run beside its baseline");
    await picture(page, "run");
    await page.getByRole("link", { name: "desk/new_call" }).click();
    const detail = page.locator("#detail");
    assert.match(await detail.innerText(), /Since the baseline[^]*The baseline holds no transcripts\. It was measured in/);
    await detail.getByText("Last runs: passed in 0 of 1 before this one").click();
    await accessible(page, "a case beside its baseline");
    await detail.getByRole("link", { name: /UTC/ }).click();
    await page.waitForURL(/\/diff\?before=/);
    const side = page.locator(".beside", { hasText: "desk.evalset.json:new_call" });
    // A case that changed is open, and loads its conversations by itself. One that did not is closed.
    await side.locator("ins", { hasText: "All" }).first().waitFor();
    await accessible(page, "two runs side by side");
    await picture(page, "diff");
    // Both answers are beside each other, and below each other on a phone. The same verdict is no same answer.
    assert.deepEqual((await page.locator("h2").allInnerTexts()).filter((it) => it.startsWith("same")), ["same verdict, but fewer runs passed a metric", "same verdict: failed, same answer", "same verdict: flaky, same answer", "same verdict: passed, same answer"]);
    assert.match(await side.innerText(), /before\s+failed 0\/5\s+→ now\s+failed 0\/5[^]*Review what the agent does now:\s+cargo evalset review \S*desk\.evalset\.json:new_call --run \S+\s+Copy[^]*Verdicts, and what judges said/);
    assert.deepEqual(await page.locator("details.beside").evaluateAll((all) => all.map((it) => it.open)), [true, false, false, false, false, false], "what changed is first and open");
    const calm = page.locator(".beside").last();
    await calm.locator("summary").first().click();
    await calm.getByRole("button", { name: "Side by side" }).click();
    await calm.locator(".turn").first().waitFor();
    await accessible(page, "a case that did not change");
    const columns = () => side.locator(".pair > div").evaluateAll((all) => all.slice(0, 2).map((it) => it.getBoundingClientRect()).map(({ left, top, width }) => ({ left, top, width })));
    const [one, other] = await columns();
    assert(one.top === other.top && other.left >= one.left + one.width, JSON.stringify([one, other]));
    assert.match(await side.locator(".pair").first().innerText(), /before\s+Booked\.\s+now\s+All is booked\./);
    await page.setViewportSize(PHONE);
    const [above, below] = await columns();
    assert(above.left === below.left && below.top > above.top, JSON.stringify([above, below]));
    assert(await fits(page), "it is as wide as the phone");
    await picture(page, "diff-phone-open");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("combobox", { name: "Before" }).selectOption("baseline");
    await page.waitForURL(/before=baseline/);
    await close(page);
    await service.stop();
  },
};

await runTests(tests, root);
