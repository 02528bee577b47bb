// Opens the pages of `cargo evalset serve` in a headless Chromium, and does with them what a person would.
//
//   node tests/page/live.mjs CARGO-EVALSET SCREENSHOTS [NAME]
//
// CARGO-EVALSET is built with the feature `serve`. What else it needs, browser.mjs says; Python 3 too.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { PHONE, SLOW, WIDE, accessible, browser, close, evalset, runTests, shot, watch } from "./browser.mjs";
import { HOSTILE, journal } from "./journals.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = mkdtempSync(join(tmpdir(), "evalset-live-"));
const WAIT = 20_000 * SLOW;

// Also where a test failed, no service is left over.
const services = new Set();
process.on("exit", () => services.forEach((child) => child.kill("SIGTERM")));

// A folder with the weather set, an agent that waits where it is told to, and a service.
async function serve(name, { agent = true, options = [] } = {}) {
  const folder = join(root, name);
  mkdirSync(join(folder, "evals"), { recursive: true });
  copyFileSync(join(here, "../../samples/weather/weather.evalset.json"), join(folder, "evals/weather.evalset.json"));
  copyFileSync(join(here, "agent.py"), join(folder, "agent.py"));
  const env = { ...process.env, EVALSET_RUN_ID: "", EVALSET_DIR: join(folder, "target/evalset"), PACE: "gate" };
  const args = ["serve", "--port", "0", ...(agent ? ["--agent-cmd", "python3 agent.py"] : []), ...options];
  const child = spawn(evalset, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  services.add(child);
  const line = await new Promise((done, fail) => {
    createInterface(child.stdout).once("line", done);
    child.once("exit", () => fail(new Error("the service did not start")));
  });
  const url = line.replace("serving on ", "");
  const evaluate = (...words) => spawn(evalset, words, { cwd: folder, env, stdio: "ignore" });
  const now = (...words) => spawnSync(evalset, words, { cwd: folder, env, encoding: "utf8" });
  const stop = () => new Promise((done) => { child.once("exit", done); child.kill("SIGTERM"); });
  return { folder, url, origin: new URL(url).origin, run: evaluate, now, stop, open: (turns) => writeFileSync(join(folder, "gate"), String(turns)) };
}

// A page of the browser that fails the test when it asks another host, logs an error or opens a dialog.
async function open(service, path = "", { first = service.url, ...options } = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = watch(await context.newPage(), (asked) => asked.startsWith(service.origin + "/"));
  page.setDefaultTimeout(WAIT);
  await page.goto(first);
  if (path) await page.goto(service.origin + path);
  return page;
}

// Those that stand in the folder `screenshots` beside this file.
const KEPT = ["running", "drafts", "check", "run-phone"];
const picture = (page, name, options) => shot(page, `live-${name}`, { kept: KEPT.includes(name), ...options });
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const ended = (child) => new Promise((done) => child.once("exit", done));
const text = (value) => ({ parts: [{ text: value }] });

function drafts(folder, name, ids) {
  const cases = ids.map((id) => ({
    eval_id: id, session_input: { app_name: "weather", user_id: "u", state: { unit: "celsius" } },
    conversation: [{ user_content: text("Weather in Rome?"), final_response: text("It is sunny in Rome."), intermediate_data: { tool_uses: [{ name: "get_weather", args: { city: "Rome" } }], tool_responses: [{ name: "get_weather", response: { sky: "clear" } }] } }],
    _draft: { from: "recorded with `python3 agent.py`" },
  }));
  writeFileSync(join(folder, "evals", name), JSON.stringify({ eval_set_id: name.split(".")[0], eval_cases: cases }, null, 2));
}

const tests = {
  async "a run appears and progresses while it runs"() {
    const service = await serve("progress");
    const page = await open(service);
    assert.equal(page.url(), service.origin + "/", "the token is not in the URL");
    assert.match(await page.locator("#no-runs").innerText(), /No run is recorded yet/);
    await page.locator("#connection.on").waitFor();
    service.open(1);
    const child = service.run("run", "evals", "--agent-cmd", "python3 agent.py", "--concurrency", "1");
    const row = page.locator("#runs tbody tr");
    await row.locator(".state.running").waitFor();
    await page.getByText("1 passed", { exact: false }).first().waitFor();
    assert(await row.locator("progress").isVisible());
    await accessible(page, "a run in the list");
    await picture(page, "running");
    await row.getByRole("link").click();
    await page.locator("header.running").waitFor();
    await page.locator("#connection.on").waitFor();
    await page.locator("tr.case.passed a").click();
    await page.locator("#detail h2").waitFor();
    await page.locator("#detail summary", { hasText: "About the case" }).click();
    await page.getByRole("searchbox").fill("weather");
    await page.locator("#detail").evaluate((it) => { it.scrollTop = 40; });
    const scrolled = await page.locator("#detail").evaluate((it) => it.scrollTop);
    const opened = await page.locator("#detail h2").innerText();
    service.open(3);
    await page.locator("tr.case.failed").first().waitFor();
    assert.equal(await page.locator("#detail h2").innerText(), opened, "the open case stays");
    assert(await page.locator("#detail dt", { hasText: "Package" }).or(page.locator("#detail dt", { hasText: "File" })).first().isVisible(), "what is unfolded stays");
    assert.equal(await page.getByRole("searchbox").inputValue(), "weather", "what is typed stays");
    assert.equal(await page.locator("#detail").evaluate((it) => it.scrollTop), scrolled, "it is where it was scrolled to");
    // The turn in work is told, in the row and in the open case, since when it is.
    const working = page.locator("tr.case", { hasText: "IN WORK" }).first();
    await working.getByText(/turn \d of \d, since \d+ s/).waitFor();
    const seconds = async () => Number((await working.locator("[data-began]").innerText()).match(/(\d+) s$/)[1]);
    const then = await seconds();
    await page.waitForFunction((then) => Number(document.querySelector("tr.case [data-began]").textContent.match(/(\d+) s$/)?.[1]) > then, then);
    assert.match(await page.locator(".progress").innerText(), /^Running: \d of 4 cases decided/);
    assert.doesNotMatch(await page.locator("body").innerText(), /ended before|was killed|has ended\.|did not run|--unfinished|nmeasurable|never began/, "nothing says that it has ended");
    assert(await page.locator("tr.case").first().evaluate((it) => it.matches(".failed")), "what failed comes first by itself");
    await picture(page, "run-running");
    await working.getByRole("link").click();
    await page.locator("#detail .lead", { hasText: /^turn \d of \d, since \d+ s$/ }).waitFor();
    await page.goBack();
    service.open(99);
    await ended(child);
    await page.locator("header.unmeasurable, header.failed").waitFor();
    assert.equal(await page.locator("[data-began]").count(), 0, "no turn is in work");
    assert.match(await page.locator("h1").innerText(), /^1 failed, 1 error, 2 passed$/);
    assert.equal(await page.title(), "1 failed, 1 error, 2 passed · cargo evalset");
    assert.equal(await page.locator("progress").count(), 0, "there is nothing to wait for");
    // As the report says it.
    const report = JSON.parse(service.now("report", "--format", "json").stdout);
    assert(report.summary.failed > 0, JSON.stringify(report.summary));
    assert.equal(await page.locator("tr.case.failed").count(), report.summary.failed);
    await page.getByRole("button", { name: /^Failed/ }).click();
    assert.equal(await page.locator("tr.case:visible").count(), Number(await page.locator("[data-filter=failed] b").innerText()));
    await page.getByRole("button", { name: /^All/ }).click();
    await page.getByRole("searchbox").fill("atlantis");
    await page.locator("#shown", { hasText: "1 of 4 cases" }).waitFor();
    await page.goBack();
    await page.locator("#detail").waitFor({ state: "hidden" });
    await page.goBack();
    await page.locator("#runs tbody tr .state").filter({ hasNotText: "running" }).waitFor();
    // A deep link of another tab, with the cookie alone.
    const other = await page.context().newPage();
    await other.goto(service.origin + "/runs/latest");
    await other.locator("tr.case a").first().click();
    const deep = other.url();
    await other.goto(service.origin + "/drafts");
    await other.goto(deep);
    await other.locator("#detail h2").waitFor();
    await accessible(other, "a run");
    await close(page);
    await service.stop();
  },

  async "a row that is updated says all that a page says that was loaded"() {
    for (const name of ["service", "run"]) {
      const price = (of) => (name === of ? ["--price", "0.30/2.50"] : []);
      const service = await serve("priced-" + name, { agent: false, options: price("service") });
      service.open(0);
      const child = service.run("run", "evals", "--agent-cmd", "python3 agent.py", "--runs", "3", ...price("run"));
      const page = await open(service);
      await page.locator("#runs .state.running").waitFor();
      await page.locator("#runs").getByRole("link").first().click();
      await page.locator("header.running").waitFor();
      await page.locator("#connection.on").waitFor();
      service.open(99);
      await ended(child);
      await page.locator("header.unmeasurable").waitFor();
      const said = async () => {
        const rows = await page.locator("tr.case").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, " ").trim()).join(" | ")));
        const head = await page.locator("body > header").evaluate((it) => it.textContent.replace(/uncommitted.*?written|\s+/g, " ").trim());
        return { rows, head, below: await page.locator("#below").textContent(), filters: await page.locator(".filters").textContent(), cost: await page.locator("#cases th").nth(4).textContent(), title: await page.title() };
      };
      const updated = await said();
      assert(updated.rows.some((row) => row.includes("flaky")), updated.rows.join("\n"));
      assert(updated.rows.some((row) => row.includes("cost 0.0")), updated.rows.join("\n"));
      await page.waitForTimeout(500);
      await page.reload();
      await page.locator("#connection.on").waitFor();
      assert.deepEqual(updated, await said(), "as a page that is loaded");
      await close(page);
      await service.stop();
    }
  },

  async "the commands that run tests again follow what became of them"() {
    const service = await serve("again", { agent: false });
    journal(service.folder, 7, { said: () => "It is windy." });
    const file = join(service.folder, "target/evalset/run-of-7/app-evals-4711-0.jsonl");
    const whole = readFileSync(file, "utf8");
    const begins = whole.indexOf('{"record":"started","test":7');
    const began = whole.indexOf("\n", begins) + 1;
    writeFileSync(file, whole.slice(0, begins));
    const page = await open(service, "/runs/latest");
    await page.locator("#connection.on").waitFor();
    const commands = page.locator(".again");
    // The test was to run and never began; it began and has no verdict; it failed.
    const parts = [["", "unfinished"], [whole.slice(begins, began), "unfinished"], [whole.slice(began), "failed"]];
    for (const [part, flag] of parts) {
      appendFileSync(file, part);
      await commands.filter({ hasText: "--" + flag }).waitFor();
      assert.match((await commands.innerText()).replace(/\s+/g, " "), new RegExp(`^Run again what did not pass: cargo evalset rerun (run-of-7 )?--${flag} Copy`));
    }
    await close(page);
    await service.stop();
  },

  async "while a page is read, rows come and move and nothing else does"() {
    const service = await serve("read", { agent: false });
    journal(service.folder, 60, { said: (n) => `${n} sunny`, fails: (n) => n > 55, why: (n) => "It is windy in " + "abcde"[n % 5], events: 1 });
    const file = join(service.folder, "target/evalset/run-of-60/app-evals-4711-0.jsonl");
    const whole = readFileSync(file, "utf8");
    const cut = (n) => whole.indexOf(`{"record":"started","test":${n},`);
    writeFileSync(file, whole.slice(0, cut(50)));
    const page = await open(service, "/runs/latest");
    await page.locator("#connection.on").waitFor();
    assert.equal(await page.locator("tr.case").count(), 49);
    const link = page.getByRole("link", { name: "case_40" });
    await link.scrollIntoViewIfNeeded();
    await page.evaluate(() => scrollTo(0, document.getElementById("case-weather::case_40").getBoundingClientRect().top + scrollY - innerHeight / 2 + 20));
    await link.focus();
    const top = () => page.evaluate(() => Math.round(document.getElementById("case-weather::case_40").getBoundingClientRect().top));
    const before = await top();
    appendFileSync(file, whole.slice(cut(50)));
    await page.locator("tr.case.failed").nth(4).waitFor();
    assert.deepEqual(await page.locator("tr.case").evaluateAll((all) => all.slice(0, 5).map((row) => row.className)), Array(5).fill("case failed"), "what failed comes first by itself");
    await page.waitForTimeout(300);
    assert(Math.abs((await top()) - before) <= 2, `${before} is ${await top()}: what is read stays where it is`);
    assert(await link.evaluate((it) => it === document.activeElement), "the focus stays");
    assert.equal(await page.title(), "5 failed, 55 passed · cargo evalset");
    await page.locator("header.bad").waitFor();
    await page.locator("[data-filter=failed]").first().click();
    await page.locator("#shown", { hasText: "5 of 60 cases" }).waitFor();
    await close(page);
    await service.stop();
  },

  async "a run whose process is killed is not running any more"() {
    const service = await serve("killed");
    const page = await open(service);
    service.open(1);
    const child = service.run("run", "evals", "--agent-cmd", "python3 agent.py", "--concurrency", "1");
    await page.getByText("1 passed", { exact: false }).first().waitFor();
    await page.getByRole("link", { name: /UTC/ }).click();
    await page.locator("header.running").waitFor();
    await page.locator("tr.case [data-began]").waitFor();
    child.kill("SIGKILL");
    await page.locator("header.unmeasurable").waitFor();
    assert.equal(await page.locator("[data-began]").count(), 0, "no turn of a dead run is in work");
    assert.match(await page.locator("h1").innerText(), /1 unfinished/);
    assert.match(await page.locator(".cause").innerText(), /^1 of \d cases? has no verdict/);
    assert.equal(await page.locator("progress").count(), 0, "a dead run makes no progress");
    assert.doesNotMatch(await page.locator("main").innerText(), /IN WORK|Running/);
    await close(page);
    await service.stop();
  },

  async "a draft is accepted and another rejected"() {
    const service = await serve("drafts");
    drafts(service.folder, "rome.evalset.json", ["rome", "it's \"x\" </script>", "naples", "milan"]);
    const page = await open(service);
    await page.getByRole("link", { name: "Drafts" }).click();
    assert.match(await page.locator("#count").innerText(), /4 drafts wait/);
    const card = (name) => page.locator(".draft", { hasText: name });
    const shown = await card("rome").first().innerText();
    for (const part of ["recorded with", "Weather in Rome?", "get_weather(city: \"Rome\")", "returned {\"sky\":\"clear\"}", "It is sunny in Rome.", "celsius"]) assert(shown.includes(part), `${part}: ${shown}`);
    await accessible(page, "drafts");
    await picture(page, "drafts");
    await page.locator("[data-case='rome']").getByRole("button", { name: "Accept" }).click();
    await page.getByText("accepted `rome`: it is a test in the next build").waitFor();
    const odd = page.locator(".draft").nth(1);
    await odd.getByRole("button", { name: "Accept" }).click();
    await odd.getByText("it is a test in the next build").waitFor();
    const naples = page.locator("[data-case='naples']");
    await naples.getByRole("button", { name: "Reject" }).click();
    assert(await naples.getByRole("button", { name: "Keep it" }).evaluate((it) => it === document.activeElement));
    await naples.getByRole("button", { name: "Keep it" }).click();
    assert(service.now("list", "evals/rome.evalset.json").stdout.includes("naples"));
    await naples.getByRole("button", { name: "Reject" }).click();
    await naples.getByRole("button", { name: "Remove it" }).click();
    await page.getByText("removed `naples` from").waitFor();
    // The last one is edited meanwhile.
    const file = join(service.folder, "evals/rome.evalset.json");
    const before = readFileSync(file, "utf8");
    const edited = before.replaceAll("sunny in Rome", "rainy in Rome");
    writeFileSync(file, edited);
    page.expected = 409;
    await page.locator("[data-case='milan']").getByRole("button", { name: "Accept" }).click();
    await page.getByText("the case `milan` was changed meanwhile").waitFor();
    assert.equal(readFileSync(file, "utf8"), edited);
    page.problems = page.problems.filter((it) => !/409/.test(it));
    await picture(page, "decided");
    await accessible(page, "decided drafts");
    const listed = JSON.parse(service.now("list", "evals/rome.evalset.json", "--format", "json").stdout);
    const cases = listed.sets[0].cases.map((it) => [it.eval_id, Boolean(it.draft)]);
    assert.deepEqual(cases, [["rome", false], ["it's \"x\" </script>", false], ["milan", true]]);
    await page.getByRole("link", { name: "Load the page again" }).click();
    await page.locator("[data-case='milan']").getByRole("button", { name: "Accept" }).click();
    await page.getByText("accepted `milan`").waitFor();
    assert.equal(service.now("check", "evals").status, 0);
    // What is accepted runs.
    service.open(99);
    const ran = service.now("run", "evals/rome.evalset.json:rome", "--agent-cmd", "python3 agent.py");
    assert([0, 1].includes(ran.status), ran.stdout + ran.stderr);
    await close(page);
    await service.stop();
  },

  async "a draft is edited before it is accepted"() {
    const service = await serve("edited");
    const file = join(service.folder, "evals/rome.evalset.json");
    drafts(service.folder, "rome.evalset.json", ["rome", HOSTILE[0]]);
    const hostile = readFileSync(file, "utf8").replaceAll("It is sunny in Rome.", JSON.stringify(HOSTILE.join(" ")).slice(1, -1));
    writeFileSync(file, hostile);
    const page = await open(service, "/drafts");
    const card = page.locator("[data-case='rome']");
    const status = card.locator(".answer");
    assert.equal(await page.locator(".draft img, .draft script:not([type='application/json']), .draft svg").count(), 0);
    assert((await card.innerText()).includes(HOSTILE[1]));
    const edit = card.getByRole("button", { name: "Edit" });
    await edit.click();
    // The message of the user has the focus. What is masked or escaped here is edited in the file.
    const user = card.getByLabel("The user says");
    assert(await user.evaluate((it) => it === document.activeElement));
    await card.getByText("edit it in the file: some of it is masked, escaped or left out here").waitFor();
    await page.keyboard.press("Escape");
    assert(await edit.evaluate((it) => it === document.activeElement));
    await page.keyboard.press("Enter");
    await user.fill("Weather in <b>Naples</b>?");
    const args = card.getByLabel("Arguments of call 1, get_weather, as JSON");
    assert.deepEqual(JSON.parse(await args.inputValue()), { city: "Rome" });
    await args.fill('{\n  "city": Naples\n}');
    await accessible(page, "a draft that is edited");
    await page.keyboard.press("Control+Enter");
    await status.filter({ hasText: "the arguments of call 1 of turn 1 (`get_weather`) cannot be read as JSON: line 2, column 11" }).waitFor();
    // What was typed is not lost by a link that loads the page again.
    assert.equal(await card.getByRole("link").count(), 0);
    assert.equal(readFileSync(file, "utf8"), hostile, "nothing is written");
    await picture(page, "edit");
    await args.fill('{"city": "Naples"}');
    await card.getByRole("button", { name: "Save the draft" }).click();
    await status.filter({ hasText: "`rome` is written; it waits for your decision" }).waitFor();
    // Every other byte stays.
    assert.equal(readFileSync(file, "utf8"), hostile.replace("Weather in Rome?", "Weather in <b>Naples</b>?").replace('"city": "Rome"', '"city": "Naples"'));
    assert.match(await card.innerText(), /Weather in <b>Naples<\/b>\?[^]*get_weather\(city: "Naples"\)/);
    // Calls are added and removed, and every other byte stays.
    const whole = readFileSync(file, "utf8");
    const shows = (text, is) => page.waitForFunction(([text, is]) => document.querySelector("[data-case='rome'] .conversation:not([hidden])")?.innerText.includes(text) === is, [text, is]);
    await edit.click();
    await card.getByRole("button", { name: "Add a call" }).click();
    await page.keyboard.type("get_forecast");
    await card.getByLabel("Its arguments as JSON").fill('{"days": 2}');
    await card.getByRole("button", { name: "Add a call" }).click();
    await card.getByRole("button", { name: "Remove the new call" }).last().click();
    await accessible(page, "a draft whose calls are edited");
    await picture(page, "edit-calls");
    await card.getByRole("button", { name: "Save the draft" }).click();
    await shows("get_forecast(days: 2)", true);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).eval_cases[0].conversation[0].intermediate_data.tool_uses.map((it) => it.name), ["get_weather", "get_forecast"]);
    await edit.click();
    await card.getByRole("button", { name: "Remove call 1, get_weather" }).click();
    await card.getByRole("button", { name: "Remove call 1, get_weather" }).click();
    await card.getByRole("button", { name: "Remove call 2, get_forecast" }).press("Enter");
    await card.getByRole("button", { name: "Save the draft" }).click();
    await shows("get_forecast", false);
    assert.equal(readFileSync(file, "utf8"), whole);
    // The file is changed while it is edited here.
    await edit.click();
    await user.fill("Weather in Bari?");
    const meanwhile = readFileSync(file, "utf8").replace("Naples</b>?", "Turin</b>?");
    writeFileSync(file, meanwhile);
    await card.getByRole("button", { name: "Save the draft" }).click();
    await status.filter({ hasText: "the case `rome` was changed meanwhile" }).waitFor();
    assert.equal(readFileSync(file, "utf8"), meanwhile);
    page.problems = page.problems.filter((it) => !/400|409/.test(it));
    await card.getByRole("link", { name: "Load the page again" }).click();
    await card.filter({ hasText: "Turin" }).waitFor();
    // An answer that is emptied is expected no more; what is edited on one page is told on another.
    const other = await page.context().newPage();
    await other.goto(service.origin + "/drafts");
    await other.locator("#connection.on").waitFor();
    await edit.click();
    await user.fill("Weather in Bari?");
    await card.getByRole("button", { name: "Save the draft" }).click();
    await status.filter({ hasText: "is written" }).waitFor();
    await other.locator("[data-case='rome'] .answer", { hasText: "It was changed on another page." }).waitFor();
    await other.close();
    await card.getByRole("button", { name: "Accept" }).click();
    await status.filter({ hasText: "accepted `rome`" }).waitFor();
    await close(page);
    await service.stop();
  },

  async "all drafts of a set are accepted after a list"() {
    const service = await serve("all");
    const file = join(service.folder, "evals/rome.evalset.json");
    const ids = ["rome", HOSTILE[0], "naples", "milan"];
    drafts(service.folder, "rome.evalset.json", ids);
    drafts(service.folder, "one.evalset.json", ["one"]);
    const page = await open(service, "/drafts");
    const section = page.locator(".of-set", { has: page.locator("[data-case='rome']") });
    assert.equal(await page.getByRole("button", { name: "Accept all" }).count(), 1, "one draft has its own button");
    const all = section.getByRole("button", { name: "Accept all 4 of rome.evalset.json" });
    const before = readFileSync(file, "utf8");
    await all.click();
    assert.deepEqual(await section.locator(".list a").allInnerTexts(), ["rome", HOSTILE[0].trim(), "naples", "milan"].map((it) => it.replace(/\s+/g, " ")));
    await section.getByRole("button", { name: "Cancel" }).click();
    assert(await all.evaluate((it) => it === document.activeElement));
    assert.equal(readFileSync(file, "utf8"), before, "the list is asked first");
    await page.keyboard.press("Enter");
    await accessible(page, "the list of drafts");
    await picture(page, "all");
    // One of them is edited meanwhile: the others are accepted, and it is said which was not.
    const at = before.lastIndexOf("It is sunny in Rome.");
    writeFileSync(file, before.slice(0, at) + before.slice(at).replace("sunny", "rainy"));
    await section.getByRole("button", { name: "Accept these 4" }).click();
    await section.getByText("accepted 3 drafts: they are tests in the next build; 1 is left").waitFor();
    await page.locator("[data-case='milan'] .answer", { hasText: "the case `milan` was changed meanwhile" }).waitFor();
    assert.equal(await section.locator(".decided").count(), 3);
    assert.match(await page.locator("#count").innerText(), /^2 drafts wait/);
    const listed = JSON.parse(service.now("list", "evals/rome.evalset.json", "--format", "json").stdout);
    assert.deepEqual(listed.sets[0].cases.filter((it) => it.draft).map((it) => it.eval_id), ["milan"]);
    await accessible(page, "accepted drafts");
    await close(page);
    await service.stop();
  },

  async "a draft that replaces a golden is beside it"() {
    const service = await serve("replaced");
    const call = (city) => ({ tool_uses: [{ name: "get_weather", args: { city } }] });
    const turn = { user_content: text("Weather in Rome?"), final_response: text("It is rainy in Rome."), intermediate_data: call("Rome") };
    const golden = [{ turn: 1, final_response: text("It is sunny in Rome."), intermediate_data: call("Paris") }];
    const set = { eval_set_id: "rome", eval_cases: [{ eval_id: "rome", conversation: [turn], _draft: { from: "run 7", golden } }] };
    const file = join(service.folder, "evals/rome.evalset.json");
    writeFileSync(file, JSON.stringify(set, null, 2));
    const page = await open(service, "/drafts");
    const card = page.locator(".draft");
    assert.deepEqual(await card.locator(":not(.side) > del").allInnerTexts(), ["Paris", "sunny"]);
    assert.deepEqual(await card.locator(":not(.side) > ins").allInnerTexts(), ["Rome", "rainy"]);
    assert.match(await card.innerText(), /It replaces a golden[^]*~ changed[^]*before\s+now/);
    await accessible(page, "a draft that replaces a golden");
    await picture(page, "replaced");
    await card.getByRole("button", { name: "Edit" }).click();
    await card.getByText("the golden that the draft replaces asks this too").waitFor();
    await card.getByLabel("The answer").fill("It snows in Rome.");
    await card.getByRole("button", { name: "Save the draft" }).click();
    await card.locator("ins", { hasText: "snows" }).waitFor();
    await card.getByRole("button", { name: "Reject" }).click();
    await card.getByText("Puts the golden back.").waitFor();
    await card.getByRole("button", { name: "Remove it" }).click();
    await card.getByText("is the golden again that it was").waitFor();
    assert(readFileSync(file, "utf8").includes("It is sunny in Rome."));
    await close(page);
    await service.stop();
  },

  async "files are dropped, checked and scored"() {
    const service = await serve("check");
    const page = await open(service, "/check");
    await accessible(page, "the page to check files");
    const set = JSON.stringify({ eval_set_id: "paris", eval_cases: [{ eval_id: "paris", conversation: [{ user_content: text("Paris?"), final_response: text("It is sunny."), intermediate_data: { tool_uses: [{ name: "get_weather", args: { city: "Paris" } }] } }] }] });
    const message = (role, said) => JSON.stringify([{ role, parts: [{ type: "text", content: said }] }]);
    const span = (id, parent, attributes) => ({ traceId: "1".padStart(32, "0"), spanId: String(id).padStart(16, "0"), parentSpanId: parent, name: "s", startTimeUnixNano: String(1760000000000000000n + BigInt(id)), endTimeUnixNano: "1760000000500000000", attributes });
    const trace = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [
      span(1, "", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather" }),
      span(2, "1".padStart(16, "0"), { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "gen_ai.tool.call.arguments": JSON.stringify({ city: "Paris" }), "gen_ai.tool.call.result": "{}" }),
      span(3, "1".padStart(16, "0"), { "gen_ai.operation.name": "chat", "gen_ai.input.messages": message("user", "Paris?"), "gen_ai.output.messages": message("assistant", "It is sunny.") }),
    ] }] }] });
    journal(join(service.folder, "other"), 3, { said: (n) => HOSTILE[n - 1], name: (n) => HOSTILE[n - 1] });
    const folder = join(service.folder, "other/target/evalset/run-of-3");
    const record = readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))), "utf8");
    const files = [
      ["broken.evalset.json", "{\"eval_set_id\": \"x\",\n  \"eval_cases\": [{\"eval_id\": 1}]}"], ["torn.json", "{\"eval_set_id\": "],
      ["trace.json", trace], ["paris.evalset.json", set], ["<img src=x onerror=alert(1)>.jsonl", record],
    ];
    const drop = async (files) => {
      await page.evaluate((files) => {
        document.getElementById("working").textContent = "";
        const all = new DataTransfer();
        for (const [name, text] of files) all.items.add(new File([text], name));
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: all, bubbles: true, cancelable: true }));
      }, files);
      await page.locator("#working", { hasText: `${files.length} file` }).filter({ hasText: "read." }).waitFor();
      return page.locator("#scores").innerText();
    };
    const verdict = () => page.locator("#scores p > .state").allInnerTexts();
    const scored = await drop(files);
    const of = (name) => page.locator("#results .card", { hasText: name }).innerText();
    assert.match(await of("broken.evalset.json"), /line 2, column \d+/);
    assert.match(await of("torn.json"), /line 1, column \d+/);
    assert.match(await of("paris.evalset.json"), /eval set paris, 1 case[^]*no problems/);
    assert.match(await of("trace.json"), /1 conversation[^]*1 turn/);
    assert.match(scored, /ADK’s default criteria[^]*tool_trajectory_avg_score[^]*passed[^]*response_match_score/);
    assert.deepEqual(await verdict(), ["passed"]);
    await accessible(page, "checked files");
    await picture(page, "check", { fullPage: true });
    // A config that cannot be used is not taken for none.
    const config = (criteria, more = {}) => ["test_config.json", JSON.stringify({ criteria, ...more })];
    const wrong = config({ tool_trajectory_avg_score: 1, response_matc_score: 1 });
    const custom = config({ tool_trajectory_avg_score: 1, brevity: 1 }, { custom_metrics: { brevity: { code_config: { name: "m.brevity" } } } });
    for (const broken of [custom, ["other_config.json", "{"], wrong]) {
      assert.match(await drop([broken]), new RegExp(`Nothing is scored: the config ${broken[0]} cannot be used`));
      assert.equal(await page.locator("#scores .state").count(), 0);
    }
    assert.match(await page.locator("#results .card", { hasText: "test_config.json" }).first().innerText(), /response_match_score/);
    await accessible(page, "nothing is scored");
    // The config too, by the button.
    await page.locator("#files").setInputFiles({ name: "test_config.json", mimeType: "application/json", buffer: Buffer.from("{\"criteria\": {\"tool_trajectory_avg_score\": {\"threshold\": 1.0, \"match_type\": \"IN_ORDER\"}}}") });
    await page.locator("#scores", { hasText: "and the config test_config.json" }).waitFor();
    assert(!(await page.locator("#scores").innerText()).includes("response_match_score"));
    assert.deepEqual(await verdict(), ["passed"]);
    // What the service cannot be told of a config is no pass.
    const whole = { threshold: 1, match_type: "IN_ORDER" };
    for (const [dropped, missing] of [
      [config({ tool_trajectory_avg_score: { ...whole, args_match: "subset" }, response_match_score: 0.8 }), /response_match_score[^]*tool_trajectory_avg_score[^]*not applied here: args_match/],
      [config({ tool_trajectory_avg_score: { ...whole, args_match: "subset" } }), /not applied here: args_match/],
    ]) {
      assert.match(await drop([dropped]), missing);
      assert.deepEqual(await verdict(), ["no verdict"], dropped[1]);
    }
    assert.match(await drop([config({ tool_trajectory_avg_score: { ...whole, args_match: "subset" }, response_match_score: 0.8 }), ["paris.evalset.json", set.replace("It is sunny.", "Snow and storms.")]]), /response_match_score[^]*failed/);
    assert.deepEqual(await verdict(), ["not passed"]);
    assert.match(await drop([config({})]), /the config test_config.json cannot be used/);
    // A set with errors does not leave the earlier one in use.
    assert.match(await drop([wrong, ["paris.evalset.json", set.replace("eval_id", "eval_ids")]]), /the eval set paris.evalset.json cannot be used[^]*the config test_config.json cannot be used/);
    assert.match(await drop([["paris.evalset.json", set]]), /the config test_config.json cannot be used/);
    assert.match(await drop([config({ tool_trajectory_avg_score: whole })]), /tool_trajectory_avg_score[^]*passed/);
    assert.deepEqual(await verdict(), ["passed"]);
    await page.locator("#results .card", { hasText: "onerror" }).getByRole("link", { name: "Open the run" }).click();
    assert.equal(await page.locator("tr.case").count(), 3);
    await page.locator("tr.case a").first().click();
    await page.locator("#detail h2").waitFor();
    assert.match(await page.title(), /evalset$/, "nothing ran");
    await close(page);
    await service.stop();
  },

  async "a run is started, seen and cancelled"() {
    const service = await serve("started");
    const page = await open(service);
    service.open(1);
    await page.locator("#connection.on").waitFor();
    await page.getByRole("spinbutton").fill("1");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#job", { hasText: "in work" }).waitFor();
    await page.locator("#runs tr", { has: page.locator(".state.running") }).getByText(/\d in work/).waitFor();
    await picture(page, "started");
    await accessible(page, "a run that was started");
    service.open(99);
    await page.locator("#job", { hasText: "The run ended" }).waitFor();
    assert.match(await page.locator("#job").innerText(), /not measurable/);
    assert.match(await page.locator("#output pre").innerText(), /FAIL/);
    await page.locator("#job").getByRole("link").click();
    await page.locator("tr.case a").first().waitFor();
    assert.equal(await page.locator("tr.case").count(), 4);
    assert(await page.locator("#job").isHidden(), "there is nothing to cancel");
    await page.goBack();
    rmSync(join(service.folder, "gate"));
    // It is cancelled on its own page too.
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#job", { hasText: "in work" }).getByRole("link").click();
    await page.locator("header.running").waitFor();
    await accessible(page, "a run that can be cancelled");
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.locator("#job", { hasText: "cancelled: cases that were in progress have no verdict" }).waitFor();
    await page.locator("header.unmeasurable").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.locator("#job", { hasText: "cancelled" }).waitFor();
    await page.locator("#runs .state.running").waitFor({ state: "detached" });
    // The service takes its run with it.
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#job", { hasText: "in work" }).waitFor();
    await close(page);
    assert.equal(await service.stop(), 0);
    const left = spawnSync("pgrep", ["-f", service.folder], { encoding: "utf8" }).stdout.trim();
    assert.equal(left, "", "nothing is left over");
  },

  async "dark, a phone, paper and no script"() {
    const service = await serve("looks", { agent: false });
    drafts(service.folder, "rome.evalset.json", ["rome"]);
    service.open(99);
    for (let run = 0; run < 3; run += 1) service.now("run", "evals/weather.evalset.json", "--agent-cmd", "python3 agent.py");
    const pages = [["runs", "/"], ["run", "/runs/latest"], ["drafts-one", "/drafts"], ["check-empty", "/check"]];
    for (const [name, path] of pages) {
      const dark = await open(service, path, { colorScheme: "dark" });
      await accessible(dark, name + " in the dark");
      await picture(dark, `${name}-dark`);
      await close(dark);
      const phone = await open(service, path, { viewport: PHONE, deviceScaleFactor: 2 });
      assert(await fits(phone), `${name} is as wide as a phone`);
      await accessible(phone, name + " on a phone");
      const tablet = await open(service, path, { viewport: { width: 768, height: 1024 } });
      assert(await fits(tablet), `${name} is as wide as a tablet`);
      await picture(tablet, `${name}-tablet`);
      await close(tablet);
      await picture(phone, `${name}-phone`);
      await close(phone);
      const paper = await open(service, path);
      await picture(paper, name);
      await paper.emulateMedia({ media: "print" });
      assert(await paper.locator(".site").isHidden());
      assert((await paper.pdf()).length > 0);
      await close(paper);
      const plain = await open(service, path, { javaScriptEnabled: false });
      assert(await plain.locator("main").isVisible());
      if (path === "/") assert.equal(await plain.locator("#runs tbody tr").count(), 3);
      if (path === "/drafts") assert.match(await plain.locator(".draft").innerText(), /It is sunny in Rome/);
      await close(plain);
    }
    const runs = await open(service);
    assert.match(await runs.getByText("Start runs from this page").locator("..").textContent(), /serve --agent-cmd/);
    await runs.keyboard.press("Tab");
    assert.equal(await runs.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await close(runs);
    await service.stop();
  },

  async "without the token there is nothing to see"() {
    const service = await serve("token");
    const page = await open(service, "", { first: service.origin + "/" });
    assert.match(await page.locator("body").innerText(), /open the whole URL/);
    for (const path of ["/drafts", "/?token=" + "0".repeat(32), "/runs/x?token=of-a-service-before"]) {
      const answer = await page.goto(service.origin + path);
      assert.equal(answer.status(), 401, path);
      assert.match(await page.locator("body").innerText(), /open the whole URL/, path);
    }
    page.problems = page.problems.filter((it) => !/401/.test(it));
    await close(page);
    await service.stop();
  },
};

await runTests(tests, root);
