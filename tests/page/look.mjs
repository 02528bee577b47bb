// Opens pages of `cargo evalset report --html` in a headless Chromium, and does with them what a person would.
//
//   node tests/page/look.mjs CARGO-EVALSET SCREENSHOTS [NAME]
//
// Needs Python 3, and what browser.mjs says. The folder `screenshots` beside this file has those of such a run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { PHONE, WIDE, accessible, browser, close, evalset, runTests, shot, watch } from "./browser.mjs";
import { caseTests } from "./case.mjs";
import { HOSTILE, journal } from "./journals.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = mkdtempSync(join(tmpdir(), "evalset-page-"));

// What `cargo evalset` did in a folder of its own.
function started(folder, args) {
  const env = { ...process.env, EVALSET_RUN_ID: "", EVALSET_DIR: join(folder, "target/evalset") };
  return spawnSync(evalset, args, { cwd: folder, encoding: "utf8", env });
}

function report(folder) {
  const page = join(folder, "report.html");
  const ran = started(folder, ["report", "--html", page]);
  assert(existsSync(page), `${ran.status ?? ran.error}: ${ran.stderr}`);
  return page;
}

// A page of the browser that fails the test when the page asks a network, logs an error or opens a dialog.
async function open(file, { hash = "", wait = "load", ...options } = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const url = pathToFileURL(file).href;
  const page = watch(await context.newPage(), (asked) => asked.split("#")[0] === url);
  await page.goto(url + hash, { waitUntil: wait });
  return page;
}

const visible = (page) => page.locator("tr.case:visible").count();

const tests = {
  async "a failing run is understood from the page alone"() {
    const page = await open(sample, { colorScheme: "light" });
    assert.equal(await page.locator("h1").innerText(), "2 failed, 1 error, 1 passed");
    assert.equal(await page.locator("header .cause").innerText(), "1 of 4 cases has no verdict");
    assert.equal(await page.title(), "2 failed, 1 error, 1 passed · cargo evalset");
    assert.match(await page.locator("link[rel=icon]").getAttribute("href"), /^data:image\/svg\+xml,.*b3261e/, "the icon is red");
    assert.match(await page.locator(".glance").innerText(), /05cde3d on main[^]*weather-2\.1/, "where it comes from");
    assert.match(await page.locator("tr.case").first().innerText(), /1,992[^]*0\.00/, "tokens, and what they cost");
    assert.equal(await visible(page), 4);
    // A row says what differs; marks of metrics that passed are folded.
    const differs = await page.locator("tr.case .why").allInnerTexts();
    assert.match(differs[0], /^(run 1 of \d, )?turn 2: get_weather called, not expected; get_forecast days expected 1 → actual 7; answer differs: “tomorrow: take” → “this week, so you might <b>consider<\/b>”, and more(; 1 more run failed)?$/);
    assert.match(differs[1], /^run 2 of 3, turn 1: get_weather unit expected fahrenheit → actual celsius; answer differs: “53 degrees fahrenheit” → “12 degrees celsius”/);
    assert.match(differs[2], /agent error in turn 1: .*503 Service Unavailable/);
    assert.equal(differs.length, 3, "a case that passed needs no words");
    assert.match(await page.locator("tr.case.failed .pill.failed").first().innerText(), /^\w+ 0\.\d+ < \d/, "the score and the threshold that it misses");
    // What an arrow means is in words at first, and in its title.
    assert.equal(await page.locator("tr.case .why [title='left: expected, right: actual']").first().innerText(), "→");
    // The filters of states sum up to all.
    const counted = await page.locator(".filters button:not([data-filter=all]):not([data-filter=flaky]) b").allInnerTexts();
    assert.equal(counted.reduce((sum, it) => sum + Number(it), 0), 4);
    assert.match(await page.locator(".numbers").innerText(), /at least one of 3 runs passes: \d+%; all 3 runs pass: \d+%/);
    assert.equal(await page.locator("tr.case.failed .pill.passed:visible").count(), 0);
    const folded = page.locator("tr.case.failed .pills summary").first();
    assert.match(await folded.innerText(), /^\d more metrics?$/);
    await folded.click();
    assert((await page.locator("tr.case.failed .pill.passed:visible").count()) > 0);
    // The command is for the cases that did not pass, though the run was of a folder.
    assert(await page.locator(".again code").first().evaluate((it) => it.scrollWidth <= it.clientWidth), "it is whole");
    assert.match(await page.locator(".again").innerText(), /cargo evalset run 'evals\/weather\.evalset\.json:[^']*umbrella for tomorrow[^']*' --agent-cmd 'python3 agent\.py' --runs 3/);
    await accessible(page, "the table");
    await shot(page, "table");
    await page.getByRole("link", { name: "umbrella for tomorrow" }).click();
    await page.locator("#detail h2").waitFor();
    const detail = await page.locator("#detail").innerText();
    for (const part of [
      "turn 2: get_weather called, not expected; get_forecast days expected 1 → actual 7", "And tomorrow, should I take an umbrella?", "~ differs",
      "get_forecast", "days\t1 → 7", "+ not expected", "<b>consider</b> an umbrella.",
      "cargo evalset run 'evals/weather.evalset.json:umbrella for tomorrow' --agent-cmd",
    ]) assert(detail.includes(part), `${part}\n--\n${detail}`);
    // Lines below tell the sides apart without colours, and hide no underscore.
    for (const [tag, line] of [["del", "dotted"], ["ins", "solid"]]) {
      const looks = await page.locator(`#detail .turn ${tag}`).evaluateAll((all) => all.map((it) => getComputedStyle(it)).map((it) => `${it.textDecorationLine} ${it.borderBottomStyle}`));
      assert(looks.length > 0 && looks.every((it) => it === `none ${line}`), `${tag}: ${looks}`);
    }
    assert.match((await page.locator(".compared").innerText()).replace(/\s+/g, " "), /^2 still failing 1 still without a verdict since the run before/, "an error is no failure");
    assert.equal(await page.locator("#detail .turn.bad").first().evaluate((it) => it.previousElementSibling.innerText), "Turn 1 of 2 user: “How is the weather in Oslo?”");
    await page.locator("#detail").getByText("Last runs: passed in 0 of 1 before this one").click();
    assert.equal(await page.locator("#detail caption").innerText(), "Last runs of this case, the newest first");
    await accessible(page, "a case");
    await page.locator("#detail").getByText("Last runs: passed in").click();
    await page.locator("#detail").evaluate((it) => { it.scrollTop = 0; scrollTo(0, 0); });
    await shot(page, "case");
    await close(page);
  },

  async "plots lead to cases, and say what they show"() {
    const page = await open(sample);
    await page.locator(".plots summary").first().click();
    const titles = await page.locator("figcaption b:visible").allInnerTexts();
    for (const title of ["tool_trajectory_avg_score", "response_match_score", "Time against score, of cases with a score", "Cost against score, of cases with a score", "Last 2 runs"]) {
      assert(titles.includes(title), `${title}: ${titles}`);
    }
    const dots = page.locator("circle.dot.below");
    assert((await dots.count()) > 0);
    const name = (await dots.first().locator("title").textContent()).split(":")[0];
    await dots.first().click();
    await page.locator("#detail h2", { hasText: name }).waitFor({ timeout: 5000 });
    await close(page);
  },

  async "a turn has a timeline, and calls that differ say in what"() {
    const page = await open(sample);
    await page.getByRole("link", { name: "umbrella for tomorrow" }).click();
    await page.locator("#detail h2").waitFor();
    assert.deepEqual(await page.locator("#detail .changed del").allInnerTexts(), ["1"]);
    assert.deepEqual(await page.locator("#detail .changed ins").allInnerTexts(), ["7"]);
    const turn = page.locator("#detail .turn.bad").first();
    await turn.getByText("Timeline").click();
    const bars = await turn.locator(".bar rect:not(.all)").evaluateAll((all) => all.map((it) => [it.getAttribute("class"), +it.getAttribute("x") + +it.getAttribute("width")]));
    assert(bars.length >= 4 && bars.every(([by, end]) => ["model", "tool"].includes(by) && end <= 100.8), JSON.stringify(bars));
    await accessible(page, "a timeline");
    await close(page);
  },

  async "the votes of a judge stand beside what it was asked"() {
    const folder = join(root, "judged");
    const vote = (verdict, reasoning) => JSON.stringify({ reasoning, is_the_agent_response_valid: verdict });
    const question = {
      model: "gemini-2.5-flash",
      template: "final_response_match_v2/2",
      prompt: "You compare two answers to the same request.\n\nThe reference answer:\n\nIt is sunny in Paris.\n\nThe agent's answer:\n\nIt is windy in Paris.",
      answers: [vote("invalid", "The reference names sunshine, the answer wind."), vote("valid", "Both name Paris."), "no answer: the judge did not answer in time"],
    };
    journal(folder, 7, {
      said: () => "It is windy in Paris.", events: 1, metric: "final_response_match_v2", asked: () => question,
      rubric: () => "The answer says what the reference says.", why: () => "One of two votes holds the answer for valid.",
    });
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(report(folder), { colorScheme });
      await page.keyboard.press("j");
      await page.locator("#detail h2").waitFor();
      const lead = "turn 1: final_response_match_v2 0.5 < 0.8, 1 of 3 says invalid: The reference names sunshine, the answer wind";
      assert.deepEqual([await page.locator("#detail .lead").innerText(), await page.locator("tr.case .why").first().innerText()], [lead, lead]);
      // The rectangle of the focus is off the texts.
      assert((await page.locator("#detail").evaluate((it) => it.matches(":focus-visible") && parseFloat(getComputedStyle(it).outlineOffset))) >= 6);
      const judge = page.locator("#detail .judge");
      await judge.getByText("The prompt: final_response_match_v2/2").click();
      for (const it of await judge.locator(".votes summary").all()) await it.click();
      const said = await judge.innerText();
      for (const part of ["3 questions, 1 without an answer", "Vote 1 of 3", "reasoning: The reference names sunshine", "is_the_agent_response_valid: invalid", "Vote 3 of 3: no answer", "You compare two answers"]) {
        assert(said.includes(part), `${part}\n--\n${said}`);
      }
      await accessible(page, "what a judge was asked, " + colorScheme);
      if (colorScheme === "light") {
        await judge.scrollIntoViewIfNeeded();
        await shot(page, "judge");
      }
      await close(page);
    }
  },

  async "runs stand side by side, with their state, and turns that they did not come to"() {
    const folder = join(root, "odd");
    const said = (value) => ({ parts: [{ text: value }] });
    const turn = (user, answer) => ({ user_content: said(user), final_response: said(answer), intermediate_data: { tool_uses: [{ name: "look", args: { at: user } }] } });
    mkdirSync(folder, { recursive: true });
    const key = (part) => "sk-ant-" + part.repeat(60);
    writeFileSync(join(folder, "odd.evalset.json"), JSON.stringify({ eval_set_id: "odd", eval_cases: [
      { eval_id: "odd", conversation: [turn("the key", key("a1")), turn("second", "Two."), turn("third", "Three.")], final_session_state: { ready: 1, left: 3 } },
    ] }));
    // The first run goes through, the second breaks in its second turn.
    writeFileSync(join(folder, "agent.py"), `
import json, os, sys
def say(**message): print(json.dumps(message), flush=True)
say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        run = 1 + os.path.exists("first")
        open("first", "w").close()
        say(type="started")
    elif message["type"] == "turn":
        text = message["content"]["parts"][0]["text"]
        if run == 2 and text == "second":
            say(type="error", message="gone")
            continue
        answer = {"the key": "${key("b2")}", "second": "Two.", "third": "Three."}[text]
        say(type="tool_call", name="look", args={"at": text}, result={})
        say(type="event", event={"author": "odd", "content": {"role": "model", "parts": [{"text": answer}]}, "actions": {"stateDelta": {"ready": True, "left": 2}}})
        say(type="turn_end")
`);
    const ran = started(folder, ["run", "odd.evalset.json", "--agent-cmd", "python3 agent.py", "--runs", "2", "--concurrency", "1"]);
    assert.equal(ran.status, 2, `${ran.error ?? ""}${ran.stdout}${ran.stderr}`);
    const page = await open(report(folder));
    await page.keyboard.press("j");
    await page.locator("#detail h2").waitFor();
    // The failure of one run is not hidden behind the error of the other.
    const lead = /^1 of 2 runs failed, 1 ended in an error: run 1: state left expected 3 → actual 2; run 2: agent error in turn 2: the agent failed: gone$/;
    for (const place of ["#detail .lead", "tr.case .why"]) assert.match(await page.locator(place).first().innerText(), lead);
    assert.equal(await page.locator("#detail .tabs [aria-pressed=true]").last().innerText(), "run 1: failed");
    // What to do tells both, each with its runs.
    const box = (await page.locator("#detail .next").innerText()).replace(/\s+/g, " ");
    assert.match(box, /^What to do: run 1 of 2 failed\. .*What to do: run 2 of 2 ended in an error\. Fix the agent, then run the case again\. Turn 3 of 3 was not played\. Run it again/);
    // Its head counts the differences of the run, and no error among them.
    const status = page.locator(".jumps [role=status]");
    assert.equal(await status.innerText(), "run 1: 2 differences");
    // What made the run fail is first: its state, and not a turn that the mean makes up for.
    assert.match(await page.locator("#detail").innerText(), /Session state of run 1[^]*~ differs[^]*Turn 1 of 3\s*response_match_score: the mean passes/);
    await accessible(page, "a failure beside an error");
    await shot(page, "failed-and-error", { kept: false });
    const tab = (name) => page.locator("#detail .tabs").getByRole("button", { name }).click();
    const cells = (table) => table.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
    await tab(/^run 1/);
    const block = page.locator("#detail h3", { hasText: "Session state" }).locator("..");
    // 1 is true, as the metric has it.
    assert.deepEqual(await cells(block.locator("table")), [["~ differs", "left", "–", "3", "2"], ["≈ equal", "ready", "–", "1", "true"]]);
    assert.match(await block.innerText(), /equal, as in ADK: 1, 1\.0 and true\./);
    const first = page.locator("#detail .turn").first();
    assert.match(await first.textContent(), /They differ in what is masked or cut here/);
    assert(!(await first.textContent()).includes("word for word"));
    assert.match(await page.locator("#detail .turn").nth(1).textContent(), /Answer, word for word as expected/);
    await tab(/^run 2/);
    assert.equal(await status.innerText(), "run 2: 1 error, 2 differences");
    assert.match(await page.locator("#detail .run").innerText(), /The conversation ended early: 1 of 3 turns was not played\./);
    const turns = page.locator("#detail .turn");
    assert.deepEqual(await turns.evaluateAll((all) => all.map((it) => it.open)), [false, true, false]);
    assert.match(await turns.nth(1).locator("summary").first().textContent(), /^Turn 2 of 3 user: “second”/);
    const third = await turns.nth(2).textContent();
    assert.match(third, /Turn 3 of 3 not played[^]*What the user would have said[^]*third[^]*look\(at: "third"\)[^]*Answer that was expected[^]*Three\./);
    assert(!third.includes("no answer"));
    const beside = page.locator("#detail details", { has: page.locator("summary", { hasText: "Runs side by side" }) });
    assert(await beside.evaluate((it) => it.open), "the runs differ");
    const lines = new Map((await cells(beside.locator("table"))).map(([name, ...runs]) => [name, runs]));
    assert.deepEqual(lines.get("verdict"), ["failed", "error"]);
    assert.deepEqual(lines.get("turn 2: answer"), ["Two.", "none"]);
    assert.deepEqual(lines.get("turn 3: calls"), ['look(at: "third")', "not played"]);
    assert.deepEqual(lines.get("turn 3: answer"), ["Three.", "not played"]);
    assert.deepEqual(await beside.locator("tr", { hasText: "turn 2: answer" }).locator(".odd").allInnerTexts(), ["none"], "cells that differ are marked");
    assert.deepEqual(await beside.locator("th").allInnerTexts(), ["", "run 1", "run 2"]);
    await turns.nth(2).locator("summary").first().click();
    await accessible(page, "a turn that was not played");
    await shot(page, "not-played");
    await close(page);
  },

  async "a link leads to a case, and back leads out of it"() {
    const page = await open(sample);
    const anchor = await page.locator("tr.case").nth(1).getAttribute("id");
    await page.goto(pathToFileURL(sample).href + "#" + anchor);
    await page.locator("#detail h2").waitFor();
    assert.match(await page.locator("#detail h2").innerText(), /degrees at home/);
    assert.equal(await page.locator("tr[aria-current]").count(), 1);
    await page.goBack();
    await page.locator("#detail").waitFor({ state: "hidden" });
    await page.goForward();
    await page.locator("#detail").waitFor();
    const fresh = await open(sample, { hash: "#" + anchor });
    assert.match(await fresh.locator("#detail h2").innerText(), /degrees at home/);
    assert(await fresh.locator(".case-head").evaluate((it) => it.getBoundingClientRect().top > -1), "its head is in sight");
    await close(fresh);
    const nowhere = await open(sample, { hash: "#case-nobody%" });
    assert.equal(await visible(nowhere), 4);
    await close(nowhere);
    await close(page);
  },

  async "filters and the search say how many cases they show"() {
    const page = await open(sample);
    for (const [name, count] of [["Failed", 2], ["Errors", 1], ["Flaky 1 \\(of the failed\\)", 1], ["All", 4]]) {
      await page.getByRole("button", { name: new RegExp("^" + name) }).click();
      assert.equal(await visible(page), count, name);
    }
    const search = page.getByRole("searchbox");
    for (const [query, count] of [["ATLANTIS", 1], ["consider</b>", 1], ["get_weather", 4], ["nobody said this", 0]]) {
      await search.fill(query);
      await page.waitForFunction((count) => document.querySelectorAll("tr.case:not([hidden])").length === count, count);
    }
    assert(await page.locator("#none").isVisible());
    await page.getByRole("button", { name: "Show all cases" }).click();
    assert.equal(await visible(page), 4);
    await close(page);
  },

  async "the keyboard is enough"() {
    const page = await open(sample);
    const names = await page.locator("tr.case a").allTextContents();
    // What follows a key comes with the next event.
    const shows = (name) => page.locator("#detail h2", { hasText: name }).waitFor({ timeout: 5000 });
    await page.keyboard.press("j");
    await shows(names[0]);
    await page.keyboard.press("j");
    await shows(names[1]);
    await page.keyboard.press("k");
    await shows(names[0]);
    await page.keyboard.press("Escape");
    await page.locator("#detail").waitFor({ state: "hidden" });
    assert.equal(await page.evaluate(() => document.activeElement.closest("tr").id), await page.locator("tr.case").first().getAttribute("id"));
    await page.keyboard.press("/");
    await page.keyboard.type("jk/");
    assert.equal(await page.getByRole("searchbox").inputValue(), "jk/");
    await close(page);
  },

  async "dark, a phone and paper"() {
    const dark = await open(sample, { colorScheme: "dark" });
    await accessible(dark, "the table in the dark");
    await dark.getByRole("link", { name: "degrees at home" }).click();
    await accessible(dark, "a case in the dark");
    await shot(dark, "dark-case");
    await close(dark);
    const phone = await open(sample, { viewport: PHONE });
    const fits = () => phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert(await fits(), "the table is as wide as the phone");
    await accessible(phone, "the table on a phone");
    assert.equal(await phone.locator("tr.case.failed .label-of:visible", { hasText: "last runs" }).count(), 2, "what the marks are");
    await phone.getByRole("link", { name: "umbrella for tomorrow" }).click();
    await phone.locator("#list").waitFor({ state: "hidden" });
    assert(await fits(), "a case is as wide as the phone");
    await accessible(phone, "a case on a phone");
    const grids = phone.locator("#detail .scroll:has(> .grid):visible");
    assert((await grids.count()) > 1 && (await grids.evaluateAll((all) => all.every((it) => it.scrollWidth <= it.clientWidth))), "no table is cut off");
    assert.equal(await phone.locator("#detail .grid td[data-label=needed]").first().evaluate((it) => getComputedStyle(it, "::before").content.replaceAll('"', "").trim()), "needed");
    assert.equal(await phone.locator(".hints:visible").count(), 0, "a phone has no keys");
    // Its buttons lead from difference to difference, and stay in sight.
    assert.equal(await phone.locator(".jumps .tabs:visible").count(), 0, "both sides are below each other");
    for (const said of ["difference 1 of", "difference 2 of"]) {
      await phone.getByRole("button", { name: "↓ difference" }).click();
      assert((await phone.locator(".jumps [role=status]").innerText()).startsWith(said), said);
      assert(await phone.locator(".here").evaluate((it) => it.getBoundingClientRect().top > document.querySelector(".jumps").getBoundingClientRect().bottom && it.getBoundingClientRect().top < innerHeight), said);
    }
    assert(await phone.locator(".jumps").evaluate((it) => it.getBoundingClientRect().top === 0), "they are at the top");
    await phone.evaluate(() => scrollTo(0, 0));
    assert.equal(await phone.evaluate(() => [...document.querySelectorAll("body *")].filter((it) => getComputedStyle(it).position === "fixed").length), 0, "nothing covers the case");
    assert.doesNotMatch(await phone.locator("#detail .next:not(.below)").innerText(), /cargo evalset/, "what differs is before the commands");
    await phone.getByRole("button", { name: "Commands" }).click();
    assert.match(await phone.locator(".next.below").innerText(), /^Commands[^]*cargo evalset run [^]*cargo evalset review /);
    await accessible(phone, "the commands on a phone");
    await phone.evaluate(() => scrollTo(0, 0));
    await shot(phone, "phone-case", { fullPage: true });
    await phone.getByRole("button", { name: "Close" }).click();
    await phone.locator("#list").waitFor();
    await close(phone);
    const paper = await open(sample);
    await paper.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await paper.emulateMedia({ media: "print" });
    assert.match(await paper.locator("#printed").innerText(), /umbrella for tomorrow[^]*no station in Atlantis/);
    assert(await paper.locator(".tools").isHidden());
    assert(await paper.locator("#printed").isVisible());
    assert(await paper.locator("#below .facts dl").isVisible(), "where it comes from");
    assert((await paper.pdf()).length > 0);
    await close(paper);
  },

  async "what needs attention is in sight at once"() {
    const folder = join(root, "sight");
    const why = () => "The answer is another one than was expected. ".repeat(8);
    journal(folder, 1000, { said: (n) => `${n}: It is sunny.`, why, events: 1, id: "before", began: "2026-11-21T02:31:07.250Z" });
    journal(folder, 1000, { said: (n) => `${n}: It is sunny.`, why, events: 1 });
    for (const file of [sample, report(folder)]) {
      for (const viewport of [WIDE, PHONE, { width: 768, height: 1024 }]) {
        const page = await open(file, { viewport });
        const first = await page.locator("tr.case").first().boundingBox();
        assert(first.y + first.height <= viewport.height, `${file} ${viewport.width}: ${JSON.stringify(first)}`);
        assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is as wide as the screen");
        await close(page);
      }
    }
  },

  async "equal failures are one row that opens, and rows are sorted and grouped by keyboard"() {
    const folder = join(root, "equal");
    const why = (n) => (n % 2 ? `the agent failed: 503 Service Unavailable of request ${n}` : `no city: '${n}'`);
    journal(folder, 84, { said: (n) => `${n} sunny`, why, events: 1 });
    const page = await open(report(folder));
    const names = () => page.locator("tr.case:visible a").allInnerTexts();
    const failed = page.locator("tr.case.failed:visible");
    await page.getByRole("button", { name: "and 5 more with the same cause" }).first().waitFor();
    assert.equal(await failed.count(), 2, "twelve failures have two causes");
    assert.equal(await visible(page), 2 + 72);
    await accessible(page, "folded causes");
    const fold = page.locator(".fold-cause").first();
    await fold.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("tr.case.failed:not([hidden])").length === 7);
    assert.equal(await fold.getAttribute("aria-expanded"), "true");
    assert(await fold.evaluate((it) => it === document.activeElement), "the focus stays");
    assert.deepEqual((await names()).slice(0, 7), [7, 21, 35, 49, 63, 77, 14].map((n) => `weather::case_${n}`));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("tr.case.failed:not([hidden])").length === 2);
    // A link to a folded case unfolds its cause.
    await page.evaluate(() => { location.hash = "case-weather::case_63"; });
    await page.locator("#detail h2", { hasText: "case_63" }).waitFor();
    await page.waitForFunction(() => !document.getElementById("case-weather::case_63").hidden);
    await page.keyboard.press("Escape");
    // What is searched for is shown, whatever is folded.
    await page.getByRole("searchbox").fill("no city: '84'");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 1);
    await page.getByRole("searchbox").fill("");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length > 50);
    await page.getByRole("searchbox").blur();
    await page.keyboard.press("g");
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 84);
    assert.equal(await page.locator("#group").inputValue(), "", "no groups");
    await page.keyboard.press("Escape");
    await page.keyboard.press("s");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.locator("#sort").inputValue(), "name");
    await page.waitForFunction(() => document.querySelector("tr.case").id === "case-weather::case_1");
    assert.deepEqual((await names()).slice(0, 3), [1, 2, 3].map((n) => `weather::case_${n}`), "in the order of people");
    await page.locator("#sort").selectOption("score");
    await page.waitForFunction(() => document.querySelector("tr.case").id === "case-weather::case_7");
    await page.locator("#sort").selectOption("urgency");
    const heads = page.locator("tr.fold-group:visible button");
    for (const [group, expected] of [["set", ["weather: 84 cases, 12 to look at"]], ["metric", ["response_match_score: 12 cases, 12 to look at", "no metric failed: 72 cases"]], ["state", ["FAIL: 12 cases, 12 to look at", "PASS: 72 cases"]]]) {
      await page.locator("#group").selectOption(group);
      await page.waitForFunction((count) => document.querySelectorAll("tr.fold-group:not([hidden])").length === count, expected.length);
      assert.deepEqual(await heads.allInnerTexts(), expected, group);
    }
    await accessible(page, "groups");
    await heads.last().press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 12);
    await page.keyboard.press("j");
    await page.locator("#detail h2", { hasText: "case_7" }).waitFor();
    await close(page);
  },

  async "cases are shown and grouped by their tags"() {
    const folder = join(root, "tags");
    const tags = (n) => [n % 2 ? "smoke" : [], n % 3 ? [] : "no \"rain\""].flat();
    journal(folder, 12, { said: (n) => `${n} sunny`, events: 1, tags });
    const page = await open(report(folder));
    const heads = page.locator("tr.fold-group:visible button");
    await page.getByLabel("Group").selectOption("tags");
    await page.waitForFunction(() => document.querySelectorAll("tr.fold-group:not([hidden])").length === 4);
    assert.deepEqual((await heads.allInnerTexts()).sort(), [
      'no "rain", smoke: 2 cases', 'no "rain": 2 cases', "no tags: 4 cases", "smoke: 4 cases, 1 to look at",
    ]);
    const tag = page.getByRole("combobox", { name: "Tag", exact: true });
    assert.deepEqual(await tag.locator("option").allInnerTexts(), ["all", 'no "rain"', "smoke"]);
    await tag.selectOption('no "rain"');
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 4);
    assert.equal(await page.locator("#shown").innerText(), "4 of 12 cases");
    await accessible(page, "tags");
    await page.locator("tr.case:visible a").first().click();
    assert.match(await page.locator("#detail").textContent(), /Tags(smoke, )?no "rain"/);
    await close(page);
    // Without a run before there is no column for it, and its room is given to the others.
    const alone = await open(report(folder));
    const columns = await alone.locator("#cases th").allInnerTexts();
    assert.deepEqual([columns.length, columns.at(-1), await alone.locator("tr.case").first().locator("td").count()], [6, "Time", 6]);
    assert.equal(await alone.locator("tr.case").first().evaluate((it) => getComputedStyle(it).gridTemplateColumns.split(" ").length), 6);
    await close(alone);
    // Without tags there is nothing to choose.
    const without = await open(sample);
    assert.equal(await without.locator("#tag").count(), 1);
    assert(!(await without.locator("#tag").isVisible()));
    await close(without);
  },

  async "a run is compared with the one before of the same sets"() {
    const folder = join(root, "compared");
    const said = (n) => `${n} sunny`;
    const run = (id, day, fails, set = "weather") => journal(folder, 6, { said, events: 1, id, began: `2026-11-${day}T02:31:07.250Z`, fails, set, why: () => "Rain." });
    run("r1", 19, () => false);
    run("r2", 20, (n) => n <= 2);
    run("r3", 21, () => true, "other");
    run("r4", 22, (n) => n === 2 || n >= 5);
    const page = await open(report(folder));
    assert.equal((await page.locator(".compared").innerText()).replace(/\s+/g, " "), "2 new failures 1 fixed 1 still failing since the run before (2026-11-20 02:31:07 UTC)");
    const since = (n) => page.locator(`[id="case-weather::case_${n}"] .since`).textContent();
    assert.equal(await since(1), "fixed");
    assert.equal(await since(2), "still failing, last passed 2026-11-19 02:31:07 UTC");
    assert.equal(await since(5), "new failure, last passed 2026-11-20 02:31:07 UTC");
    // Sparks and the trend leave out the run of another set.
    assert.equal(await page.locator(`[id="case-weather::case_2"] .spark`).getAttribute("aria-label"), "passed, failed, failed");
    for (const [name, ids] of [["new failures", [5, 6]], ["fixed", [1]], ["still failing", [2]]]) {
      const button = page.locator(".compared").getByRole("button", { name });
      await button.press("Enter");
      await page.waitForFunction((count) => document.querySelectorAll("tr.case:not([hidden])").length === count, ids.length);
      assert.deepEqual(await page.locator("tr.case:visible a").allInnerTexts(), ids.map((n) => `weather::case_${n}`), name);
      assert.equal(await button.getAttribute("aria-pressed"), "true");
      await button.press("Enter");
      await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length >= 4);
    }
    await accessible(page, "a comparison");
    await page.locator(".plots summary").first().click();
    assert.match(await page.locator("figcaption", { hasText: "Last 3 runs" }).innerText(), /3\/6 cases passed in this run, 4\/6 in the one before/);
    await close(page);
  },

  async "the table needs no script"() {
    const page = await open(sample, { javaScriptEnabled: false });
    assert.equal(await visible(page), 4);
    assert.match(await page.locator("tr.case").first().textContent(), /FAIL[^]*umbrella for tomorrow[^]*0\/3/);
    assert(await page.locator(".tools").isHidden());
    assert.equal(await page.locator("#cases th").last().innerText(), "Last runs", "there is a run before");
    assert(await page.locator(".noscript").isVisible());
    await close(page);
  },

  async "what is foreign is text"() {
    const folder = join(root, "hostile");
    journal(folder, HOSTILE.length, { said: (n) => HOSTILE[n - 1], name: (n) => HOSTILE[n - 1], tags: (n) => [HOSTILE[n - 1]], asked: (n) => ({ model: HOSTILE[n - 1], template: HOSTILE[n - 1], prompt: HOSTILE[n - 1], answers: [HOSTILE[n - 1], JSON.stringify({ reasoning: HOSTILE[n - 1] })] }) });
    const page = await open(report(folder));
    assert.equal(await visible(page), HOSTILE.length);
    const anchors = await page.locator("tr.case").evaluateAll((rows) => rows.map((row) => row.id));
    for (const anchor of anchors) {
      await page.evaluate((anchor) => { location.hash = anchor; }, anchor);
      await page.waitForFunction((anchor) => document.querySelector("tr[aria-current]")?.id === anchor, anchor);
      const made = await page.evaluate(() => ({
        foreign: document.querySelectorAll("#detail :is(script, img, a, svg:not(.bar), b:not(td b):not(.steps b):not(.rubric b):not(.pill b):not(.judge b)), table img, [onerror], [onload], [onmouseover]").length,
        steering: /[\u202a-\u202e\u2066-\u2069\u001b\u0000\ud800-\udfff]/.test(document.body.innerText),
      }));
      assert.deepEqual(made, { foreign: 0, steering: false }, anchor);
    }
    const links = await page.locator("a").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
    assert(links.every((link) => link.startsWith("#")), String(links));
    assert.match(await page.title(), /cargo evalset$/, "nothing ran");
    await close(page);
  },

  async "what cannot be read of a journal is said"() {
    const folder = join(root, "surrogates");
    journal(folder, 3, { said: (n) => (n === 2 ? "half a pair \ud800" : "fine") });
    const page = await open(report(folder));
    assert.match(await page.locator("header").innerText(), /[^]*cannot be read/);
    await page.locator("header .notes summary").click();
    assert.match(await page.locator("header").innerText(), /surrogate/);
    await close(page);
  },

  async "the policy lets nothing else in"() {
    const page = await open(sample);
    const ran = await page.evaluate(() => new Promise((done) => {
      const refused = [];
      document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
      const script = document.createElement("script");
      try { script.text = "document.title = 'run'"; document.body.append(script); } catch { refused.push("trusted-types"); }
      const image = document.createElement("img");
      image.src = "http://127.0.0.1:9/x.png";
      document.body.append(image);
      fetch("http://127.0.0.1:9/x").catch(() => {});
      setTimeout(() => done({ title: document.title, refused: [...new Set(refused)] }), 300);
    }));
    assert.notEqual(ran.title, "run");
    assert(["img-src", "connect-src"].every((it) => ran.refused.includes(it)), String(ran.refused));
    page.problems = page.problems.filter((it) => !/Content Security Policy|TrustedScript|127\.0\.0\.1:9/.test(it));
    await close(page);
  },

  async "of ten thousand cases one is found and opened"() {
    const folder = join(root, "many");
    journal(folder, 10_000, { said: (n) => `${n}: It is sunny in Paris today.`, events: 1 });
    const page = await open(report(folder));
    // 1,428 failures have one cause.
    await page.getByRole("button", { name: "and 1427 more with the same cause" }).waitFor();
    // The rows are arranged in parts.
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 8573);
    await page.locator("#group").selectOption("");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 10_000);
    await page.getByRole("searchbox").fill("9999: it is sunny");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 1);
    await page.locator("tr.case:visible a").first().click();
    await page.locator("#detail h2", { hasText: "case_9999" }).waitFor();
    await page.getByRole("searchbox").fill("");
    await page.waitForFunction(() => document.querySelectorAll("tr.case:not([hidden])").length === 10_000);
    await close(page);
  },
};

// The samples' weather set, played by an agent that makes mistakes. Twice, so that there is a run before.
function sampleRun() {
  const folder = join(root, "sample");
  mkdirSync(join(folder, "evals"), { recursive: true });
  const set = join(here, "../../samples/weather/weather.evalset.json");
  copyFileSync(set, join(folder, "evals/weather.evalset.json"));
  copyFileSync(join(here, "agent.py"), join(folder, "agent.py"));
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git/packed-refs"), "05cde3d0c2b1a09f8e7d6c5b4a39281706f5e4d3 refs/heads/main\n");
  for (let run = 0; run < 2; run += 1) {
    const ran = started(folder, ["run", "evals", "--agent-cmd", "python3 agent.py", "--runs", "3", "--price", "0.30/2.50"]);
    assert.equal(ran.status, 2, `${ran.error ?? ""}${ran.stderr}`);
  }
  return report(folder);
}

const sample = sampleRun();
await runTests({ ...tests, ...caseTests({ root, open, report, started }) }, root);
