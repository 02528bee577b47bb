// Tests of an open case: its differences, what is folded, what to do, images, texts that are rendered, judges.
import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, accessible, close, shot } from "./browser.mjs";
import { HOSTILE, journal } from "./journals.mjs";

// An agent that does to each message what `script.json` says.
const AGENT = `
import json, sys, time
script = json.load(open("script.json"))
def say(**message): print(json.dumps(message), flush=True)
say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        golden = {"tools": "golden"} if message.get("tools") == "golden" else {}
        say(type="started", **golden)
    elif message["type"] == "turn":
        turn = script[message["content"]["parts"][0]["text"]]
        for call in turn.get("calls", []) if golden else []:
            say(type="tool", id="1", name=call[0], args=call[1])
            next(sys.stdin)
        for call in turn.get("calls", []): say(type="tool_call", name=call[0], args=call[1], result=call[2] if len(call) > 2 else {"ok": True})
        for part in turn.get("events", []): say(type="event", event={"author": "a", "content": {"role": "model", "parts": [part]}})
        if "hangs" in turn: time.sleep(60)
        if "error" in turn:
            say(type="error", message=turn["error"])
            continue
        say(type="event", event={"author": "a", "content": {"role": "model", "parts": turn["parts"]}})
        say(type="turn_end")
`;

const text = (value) => ({ text: value });
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const image = (data = PNG) => ({ inline_data: { mime_type: "image/png", data } });
const parts = (it) => (typeof it === "string" ? [text(it)] : it);

// The page of a set whose turns are [message, expected, actual]; each side is an answer, or { calls, parts, error }.
// `keys` are further keys of the case.
function played(tools, name, turns, options = [], criteria, keys = {}) {
  const folder = join(tools.root, name);
  mkdirSync(folder, { recursive: true });
  if (criteria) writeFileSync(join(folder, "test_config.json"), JSON.stringify({ criteria }));
  const side = (it) => (typeof it === "string" || Array.isArray(it) ? { parts: it } : it);
  const conversation = turns.map(([user, expected]) => {
    const { calls = [], parts: answer } = side(expected);
    return {
      user_content: { parts: [text(user)] }, ...(answer && { final_response: { role: "model", parts: parts(answer) } }),
      intermediate_data: { tool_uses: calls.map(([tool, args]) => ({ name: tool, args })), tool_responses: calls.filter((call) => call[2]).map(([name, , response]) => ({ name, response })) },
    };
  });
  writeFileSync(join(folder, `${name}.evalset.json`), JSON.stringify({ eval_set_id: name, eval_cases: [{ eval_id: name, conversation, ...keys }] }, null, 1));
  const script = Object.fromEntries(turns.map(([user, , actual]) => {
    const it = side(actual);
    return [user, { ...it, parts: it.parts && parts(it.parts) }];
  }));
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  writeFileSync(join(folder, "agent.py"), AGENT);
  const ran = tools.started(folder, ["run", `${name}.evalset.json`, "--agent-cmd", "python3 agent.py", ...options]);
  assert([1, 2].includes(ran.status), `${ran.error ?? ""}${ran.stdout}${ran.stderr}`);
  return tools.report(folder);
}

async function opened(tools, file, options) {
  const page = await tools.open(file, options);
  await page.keyboard.press("j");
  await page.locator("#detail h2").waitFor();
  return page;
}

// Each view counts the same differences.
async function counted(page, count) {
  for (const name of ["inline", "side by side", "raw", "inline"]) {
    await view(page, name);
    assert.equal(await page.locator(".jumps [role=status]").innerText(), `${count} differences`, name);
    // The places to which the keys lead, and the turns, have as many.
    const sums = await page.evaluate(() => {
      const sum = (all) => all.reduce((one, other) => one + other, 0);
      const places = [...document.querySelectorAll("#detail [data-diff]")].map((it) => Number(it.dataset.diff));
      const turns = [...document.querySelectorAll("#detail .turn > summary .count")].map((it) => parseInt(it.textContent, 10));
      return [sum(places), sum(turns)];
    });
    assert.deepEqual(sums, [count, count], name);
  }
}

const view = (page, name) => page.locator(".jumps").getByRole("button", { name }).click();
const inSight = (page, selector) => page.locator(selector).first().evaluate((it) => {
  const { top, bottom } = it.getBoundingClientRect();
  return top >= 0 && Math.min(bottom, top + 20) <= innerHeight;
});
const marks = async (page, within = "#detail") => [
  await page.locator(`${within} del`).allInnerTexts(), await page.locator(`${within} ins`).allInnerTexts(),
];

export const caseTests = (tools) => ({
  async "words differ in any script, inline, side by side and raw"() {
    const file = played(tools, "words", [
      ["en", "It is sunny in Paris.", "It is rainy in Paris today."],
      ["ja", "今日は晴れです", "今日は雨です"],
      ["ar", "الجو مشمس في باريس", "الجو ممطر في باريس"],
    ]);
    const page = await opened(tools, file);
    const [gone, came] = await marks(page, "#detail .inline .said");
    assert.deepEqual([gone, came], [["sunny", "晴れ", "مشمس"], ["rainy", " today", "雨", "ممطر"]]);
    await accessible(page, "words, inline");
    await counted(page, 4);
    await shot(page, "case-words", { kept: false });
    await view(page, "side by side");
    assert.match(await page.locator("#detail .pair").first().innerText(), /expected\s+It is sunny in Paris\.\s+actual\s+It is rainy in Paris today\./);
    await accessible(page, "words, side by side");
    await view(page, "raw");
    assert.equal(await page.locator("#detail .turn del").count(), 0);
    // The choice stays for the next case that is opened.
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.locator(".jumps").waitFor();
    assert.equal(await page.locator(".jumps button[aria-pressed=true]").innerText(), "raw");
    assert.equal(await page.locator("#detail .turn del").count(), 0);
    await close(page);
  },

  async "arguments and JSON answers differ by key, code by line"() {
    const args = { from: "OSL", to: "CDG", cabin: "business", date: "5 May", passengers: [{ name: "Ann", age: 30 }, { name: "Bo" }] };
    const { date, ...others } = args;
    const code = (value) => `def total(xs):\n    n = ${value}\n    return sum(xs) + n\n`;
    const file = played(tools, "keys", [
      ["book", { calls: [["search_flights", args]], parts: JSON.stringify({ ok: true, seats: 2 }) },
        { calls: [["search_flights", { ...others, cabin: "economy", passengers: [{ name: "Anna", age: 30 }, { name: "Bo" }] }]], parts: JSON.stringify({ ok: true, seats: 3 }) }],
      ["code", code(1), code(2)],
    ]);
    const page = await opened(tools, file);
    const openAll = () => page.evaluate(() => { for (const it of document.querySelectorAll("#detail .turn")) it.open = true; });
    await openAll();
    const keys = (at) => page.locator("#detail .keys").nth(at).locator("tbody tr:visible:not(.fold)").evaluateAll((rows) => rows.map((row) => row.innerText.replace(/\s+/g, " ").trim()));
    assert.deepEqual(await keys(0), ["cabin business → economy", "date 5 May missing", "passengers[0].name Ann → Anna"]);
    assert.deepEqual(await keys(1), ["ok true", "seats 2 → 3"]);
    await page.locator("#detail .keys .fold button").first().click();
    assert.deepEqual((await keys(0)).slice(0, 3), ["from OSL", "to CDG", "cabin business → economy"]);
    assert.deepEqual((await marks(page, "#detail .code")).flat().map((it) => it.trim()), ["n = 1", "n = 2"]);
    assert.deepEqual(await page.locator("#detail .code mark").allInnerTexts(), ["1", "2"]);
    await counted(page, 5);
    await view(page, "raw");
    await page.keyboard.press("n");
    assert.equal(await page.locator(".jumps [role=status]").innerText(), "differences 1 to 3 of 5");
    await view(page, "inline");
    await openAll();
    // A metric that is green for the case and red on a turn says why.
    assert.match(await page.locator("#detail .where").innerText(), /response_match_score: mean over turns 0\.82 ≥ 0\.8/);
    assert.match(await page.locator("#detail .turn.bad").first().innerText(), /response_match_score 0\.\d+\s*< 0\.8\s*the run passes: its mean over turns is 0\.82 ≥ 0\.8/);
    assert.match(await page.locator("#detail .turn.bad > summary").first().innerText(), /tool_trajectory_avg_score\s*response_match_score: the mean passes/);
    await accessible(page, "keys and code");
    await shot(page, "case-keys", { kept: false });
    await view(page, "side by side");
    const sides = await page.locator("#detail .calls tbody tr").first().locator("td").allInnerTexts();
    assert.match(sides[1], /search_flights[^]*cabin business[^]*date 5 May[^]*passengers\[0\]\.name Ann/);
    assert.match(sides[2], /search_flights[^]*cabin economy[^]*date missing[^]*passengers\[0\]\.name Anna/);
    assert.match(await page.locator("#detail .keys").innerText(), /seats\s+2\s+3/);
    await accessible(page, "keys, side by side");
    await shot(page, "case-keys-side", { kept: false });
    await view(page, "raw");
    assert.match(await page.locator("#detail .calls").first().innerText(), /search_flights\(from: "OSL"[^]*cabin: "business"[^]*cabin: "economy"/);
    await close(page);
    const phone = await opened(tools, file, { viewport: PHONE, colorScheme: "dark" });
    assert(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is as wide as the phone");
    await accessible(phone, "keys on a phone");
    await shot(phone, "case-keys-phone", { kept: false, fullPage: true });
    await close(phone);
  },

  async "a call that matches by a rule has a sign, its case a chip and a filter, and the score of ADK is there"() {
    const call = (day) => ["get_weather", { city: "Oslo", day }];
    const criteria = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };
    const rules = { _expect: { 1: { calls: { get_weather: { day: "date" } } } } };
    const file = played(tools, "ruled", [
      ["rule", { calls: [call("2026-11-22")], parts: "Rain." }, { calls: [call("2026-11-23")], parts: "Rain." }],
      ["words", "It is sunny.", "No idea."],
    ], [], criteria, rules);
    const page = await opened(tools, file);
    assert.match(await page.locator("tr.case .more").first().innerText(), /^≈ 1 rule, 1 needed$/);
    await page.evaluate(() => { for (const it of document.querySelectorAll("#detail .turn")) it.open = true; });
    assert.match(await page.locator("#detail .calls .loosened").first().innerText(), /≈ by a rule/);
    assert.match(await page.locator("#detail").innerText(), /1 point loosened \(ADK: 0\.5\)/);
    await accessible(page, "rules");
    await page.keyboard.press("Escape");
    await page.locator("[data-filter=loosened]").click();
    assert.equal(await page.locator("tr.case:visible").count(), 1);
    await close(page);
    // Without a rule there is neither.
    const strict = await opened(tools, played(tools, "strict", [["words", "It is sunny.", "No idea."]], [], criteria));
    assert.equal(await strict.locator("tr.case .more").count() + (await strict.locator("[data-filter=loosened]:visible").count()), 0);
    await close(strict);
  },

  async "what is equal is folded, and keys lead from difference to difference"() {
    const call = (at, days = 1) => ["get_weather", { city: `city ${at}`, days }];
    const all = Array.from({ length: 30 }, (_, at) => call(at));
    const other = all.map((it, at) => ([12, 20, 28].includes(at) ? call(at, 7) : it));
    const long = "All is well in the town today, as it was before. ".repeat(200);
    const file = played(tools, "wide", [
      ["one", "Fine.", "Fine."], ["two", "Fine.", "Fine."], ["three", "Fine.", "Fine."],
      ["many", { calls: all, parts: `${long}It is sunny. ${long}` }, { calls: other, parts: `${long}It is rainy. ${long}` }],
    ]);
    for (const [viewport, colorScheme] of [[undefined, "light"], [{ width: 768, height: 900 }, "dark"], [PHONE, "dark"]]) {
      const page = await opened(tools, file, { ...(viewport && { viewport }), colorScheme });
      assert(await inSight(page, "#detail [data-diff]"), "the first difference is in sight");
      assert.match(await page.locator("#detail").innerText(), /… 3 equal turns[^]*… 12 equal calls[^]*… 7 equal calls[^]*equal words/);
      await shot(page, `case-wide-${viewport ? viewport.width : 1440}`, { kept: false });
      await accessible(page, "what is folded");
      const status = page.locator(".jumps [role=status]");
      assert.equal(await status.innerText(), "4 differences");
      for (const [key, said, shown] of [["n", "difference 1 of 4", "1 → 7"], ["n", "difference 2 of 4", "1 → 7"], ["p", "difference 1 of 4", "1 → 7"], ["p", "difference 4 of 4", "sunny"]]) {
        await page.keyboard.press(key);
        assert.equal(await status.innerText(), said);
        assert.match(await page.locator("#detail .here").innerText(), new RegExp(shown));
        assert(await inSight(page, "#detail .here"), said);
        assert(await page.evaluate(() => document.activeElement.matches(".here")), "it has the focus");
      }
      // A key opens what was closed.
      await page.locator("#detail .turn.bad > summary").click();
      if (viewport === PHONE) await page.keyboard.press("n");
      else await page.locator(".jumps").getByRole("button", { name: "↓ difference" }).click();
      assert(await page.locator("#detail .turn.bad").evaluate((it) => it.open));
      await page.locator("#detail .calls .fold button").first().press("Enter");
      assert.match(await page.locator("#detail .calls").innerText(), /city 11/);
      await page.locator("#detail .said .folded").first().press("Enter");
      assert.equal(await page.locator("#detail .said .folded").count(), 1);
      await page.locator("#detail details.fold > summary").click();
      assert.equal(await page.locator("#detail .turn.equal:visible").count(), 3);
      await close(page);
    }
  },

  async "a box says what to do, and its commands are copied"() {
    const traceback = "Traceback (most recent call last):\n  File \"agent.py\", line 3, in run\n    raise ValueError(city)\nValueError: no such city: Atlantis";
    const wrong = played(tools, "wrong", [["x", "It is sunny.", "It is rainy and cold."]]);
    const broken = played(tools, "broken", [["x", "Fine.", { error: traceback }]]);
    for (const [file, name, said] of [
      [wrong, "wrong", /If what the agent did is wrong, change the agent[^]*Run it again\s+cargo evalset run wrong\.evalset\.json:wrong --agent-cmd[^]*Review it, and accept it as the new golden\s+cargo evalset review wrong\.evalset\.json:wrong --run \S+/],
      [broken, "broken", /Fix the agent, then run the case again\.\s+Run it again\s+cargo evalset run broken/],
    ]) {
      const page = await opened(tools, file, { permissions: ["clipboard-read", "clipboard-write"] });
      const box = page.locator("#detail .next");
      assert.match(await box.innerText(), said);
      assert.match(await page.locator("#detail .place").innerText(), new RegExp(`^${name}\\.evalset\\.json:\\d+$`));
      await accessible(page, "what to do");
      await shot(page, "case-" + name, { kept: false });
      const copy = box.getByRole("button", { name: /^Copy command/ }).last();
      await copy.press("Enter");
      // Where the page may not write to the clipboard, it selects the command.
      await page.waitForFunction(() => document.querySelector("#detail .next").innerText.includes("Copied") || getSelection().toString().includes("cargo evalset"));
      await close(page);
    }
    // The lines of one command hang below its first, and a name in quotes is one word.
    const narrow = await opened(tools, wrong, { viewport: PHONE });
    const command = narrow.locator("#detail .next.below pre").first();
    const hang = await command.locator(".word").evaluateAll((all) => all.map((it) => ({ word: it.textContent, left: Math.round(it.getBoundingClientRect().left), top: Math.round(it.getBoundingClientRect().top) })));
    const below = hang.filter((it) => it.top > hang[0].top + 8);
    assert(below.length > 0 && below.every((it) => it.left > hang[0].left + 10), JSON.stringify(hang));
    // An option stays with its value.
    assert(hang.some((it) => it.word === "--agent-cmd 'python3 agent.py'"), JSON.stringify(hang));
    await close(narrow);
    const page = await opened(tools, broken);
    // An error keeps its lines.
    const lines = await page.locator("#detail .error-text").innerText();
    assert.match(lines, /Traceback[^\n]*\n.*File "agent\.py", line 3[^\n]*\n[^\n]*raise ValueError\(city\)\n.*ValueError: no such city: Atlantis/);
    assert.match(await page.locator("#detail .lead").innerText(), /ValueError: no such city: Atlantis/);
    await close(page);
  },

  async "what to do is in sight when a case opens, and the first difference too where both fit"() {
    const call = (nights) => ["reserve_hotel", { hotel: "Casa do Rio", check_in: "2026-06-12", nights, board: "breakfast" }];
    const exact = { response_match_score: 1 };
    const long = "All is well in the town today, as it was before. ".repeat(100);
    const sentence = "Gift cards that were sold on the old plan expire soon.";
    const stay = played(tools, "stay", [
      ["A weekend?", "Sure.", "Sure."], ["Book it.", { calls: [call(3)], parts: "Done." }, { calls: [call(2)], parts: "Done." }], ["Thanks.", "Bye.", "Bye."],
    ]);
    const lacks = played(tools, "lacks", [["What changes?", `${long}\n\n${sentence}\n\nBye. ${sentence} Done`, `${long}\n\nBye. Done`]], [], exact);
    const words = /^turn 1: missing in the answer: “Gift cards that were sold on the old plan expire soon\.”, and more$/;
    for (const [file, said] of [[stay, /^turn 2: reserve_hotel nights expected 3 → actual 2$/], [lacks, words]]) {
      for (const viewport of [{ width: 1440, height: 900 }, { width: 768, height: 1024 }, PHONE]) {
        const page = await tools.open(file, { viewport });
        await page.locator("tr.case a").first().click();
        await page.locator("#detail h2").waitFor();
        assert.match(await page.locator("#detail .lead").innerText(), said);
        const at = await page.evaluate(() => {
          const of = (selector) => { const { top, bottom } = document.querySelector(selector).getBoundingClientRect(); return { top: Math.round(top), bottom: Math.round(bottom) }; };
          // On a phone the head is no box: its buttons alone stay in sight.
          const head = document.querySelector(".case-head").getBoundingClientRect().height ? ".case-head" : ".jumps";
          return { header: of("header"), top: of("#detail"), head: of(head), box: of(".next"), command: document.querySelector(".next:not(.below) pre") ? of(".next pre") : null, below: document.querySelector(".next.below") ? of(".next.below") : null, turn: of(".turn.bad"), diff: of("#detail [data-diff]") };
        });
        const told = `${viewport.width}: ${JSON.stringify(at)}`;
        assert(at.header.bottom <= 0 || at.header.top === 0, `the head of the page is whole or away, ${told}`);
        assert(at.top.top >= Math.max(at.header.bottom, 0) && at.top.top <= Math.max(at.header.bottom, 0) + 1, `no stripe above the head of the case, ${told}`);
        assert(at.box.top >= at.head.bottom && at.box.bottom <= viewport.height, `what to do is in sight, ${told}`);
        if (viewport === PHONE) assert(at.below.top >= at.diff.bottom, `its commands are below what differs, ${told}`);
        else assert(at.command.bottom <= viewport.height, `with its commands, ${told}`);
        assert(at.turn.top >= at.box.bottom && at.turn.top < viewport.height, `the turn begins in sight, ${told}`);
        if (file === stay) assert(at.diff.top < viewport.height, `so is the difference, ${told}`);
        // Commands are whole.
        assert(await page.locator(".next pre").evaluateAll((all) => all.every((it) => it.scrollWidth <= it.clientWidth)), told);
        // An end of a line has no stripe of colour.
        const gone = await page.locator("#detail .turn del").evaluateAll((all) => all.map((it) => it.textContent));
        assert(gone.every((it) => !/^\n|\n$/.test(it)), JSON.stringify(gone));
        // No row is marked because it moved under the pointer.
        const marked = () => page.locator("tr.case:visible").evaluateAll((all) => all.filter((it) => getComputedStyle(it).backgroundColor !== "rgba(0, 0, 0, 0)").length);
        assert((await marked()) <= 1, "the open case alone");
        await accessible(page, "an opened case, " + viewport.width);
        await close(page);
      }
    }
  },

  async "cases with one cause have a sentence and commands of their own"() {
    const folder = join(tools.root, "together");
    const cases = Array.from({ length: 34 }, (_, at) => ({ eval_id: `order ${at}`, conversation: [{ user_content: { parts: [text("x")] }, final_response: { parts: [text("It is sunny.")] } }] }));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "together.evalset.json"), JSON.stringify({ eval_set_id: "together", eval_cases: cases }));
    writeFileSync(join(folder, "script.json"), JSON.stringify({ x: { parts: [text("Rain and wind today")] } }));
    writeFileSync(join(folder, "agent.py"), AGENT);
    tools.started(folder, ["run", "together.evalset.json", "--agent-cmd", "python3 agent.py"]);
    const file = tools.report(folder);
    const page = await opened(tools, file);
    assert.match((await page.locator(".again").innerText()).replace(/\s+/g, " "), /^Run again what did not pass, with all 34 cases of the set: cargo evalset run together\.evalset\.json --agent-cmd/);
    assert.match(await page.locator("#detail .next").innerText(), /All 34 cases with this cause$/, "what differs stays in sight");
    await page.locator("#detail .next summary").click();
    const whole = (await page.locator("#detail .next").innerText()).replace(/\s+/g, " ");
    assert.match(whole, /^What to do about this case If what the agent did is wrong, change the agent and run it again\. If it is right, review it, and accept it as the new golden\. Run it again .* All 34 cases with this cause If what the agent did is right in all of them, change the set at once, for example with search and replace\. If it is wrong, change the agent, and run them again\. Run all 34 cases of the set again cargo evalset run together\.evalset\.json --agent-cmd/);
    await accessible(page, "what to do about a group");
    await close(page);
    const phone = await opened(tools, file, { viewport: PHONE });
    const said = async (box) => (await phone.locator(box).innerText()).replace(/\s+/g, " ");
    assert.match(await said("#detail .next:not(.below)"), /^What to do about this case If what the agent did is wrong, .* If it is right, .*golden\. All 34 cases with this cause Commands ↓$/);
    await phone.getByRole("button", { name: "Commands" }).press("Enter");
    assert(await phone.locator(".next.below pre").first().evaluate((it) => it.getBoundingClientRect().top < innerHeight), "the commands are in sight");
    assert.match(await said(".next.below"), /^Commands about this case Run it again .* All 34 cases with this cause Run all 34 cases of the set again/);
    assert(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is as wide as the phone");
    await close(phone);
  },

  async "no command records an answer of a judge before one that can ask is installed"() {
    const file = played(tools, "unasked", [["x", "It is sunny.", "The sun shines."]], [], { final_response_match_v2: 0.5 });
    const page = await opened(tools, file);
    const said = async (place) => (await page.locator(place).innerText()).replace(/\s+/g, " ");
    const [again, box, row] = [await said(".again"), await said("#detail .next"), await said("tr.case .why")];
    // A command with the feature `model-judge` needs no other.
    if (box.includes("Install a command that asks models cargo install")) {
      assert.match(again, /^First install a command that asks models: cargo install .* Then run again what did not pass: EVALSET_JUDGE=record cargo evalset run unasked/);
      assert.match(row, /there is no recording .*, and this command asks no judge: install one that does$/);
    } else {
      assert.match(again, /^Run again what did not pass, and record what it lacks: EVALSET_JUDGE=record cargo evalset run unasked/);
      assert.match(row, /a judge is asked only if EVALSET_JUDGE says so$/);
    }
    await close(page);
  },

  async "a call without a golden response is told with both sides, and once"() {
    const call = (time) => ["book_table", { people: 4, time }, { ok: true }];
    const file = played(tools, "missed", [["book", { calls: [call("20:45")], parts: "Done." }, { calls: [call("8:45 pm")], parts: "Done." }]], ["--tools", "golden"]);
    const page = await opened(tools, file);
    const words = /^turn 1: no golden response for the call book_table: time expected “20:45” → actual “8:45 pm”$/;
    for (const place of ["tr.case .why", "#detail .lead"]) {
      assert.match(await page.locator(place).innerText(), words, `${place}: ${await page.locator(place).innerText()}`);
      assert.equal(await page.locator(`${place} [title='the response that the case has for a call']`).innerText(), "golden", place);
    }
    assert.match(await page.locator("#detail .next").innerText(), /The case has no response for this call\. Fix the agent, or let the argument vary/);
    assert.equal(await page.locator("#detail .error-text").count(), 0, "it is said once");
    await close(page);
  },

  async "texts from right to left keep expected before actual, and a sign is marked in its clause"() {
    const file = played(tools, "scripts", [
      ["ar", "حجزت لك موعدا يوم الأربعاء صباحا", "حجزت لك موعدا يوم الخميس صباحا"],
      ["ja", "明日の京都は午後から雨が降りますので、傘をお持ちください。", "明日の京都は午前から雨が降りますので、傘をお持ちください。"],
    ], [], { response_match_score: 1 });
    const page = await opened(tools, file);
    for (const place of ["tr.case .why", "#detail .lead"]) {
      const line = page.locator(place).first();
      const quotes = await line.locator("bdi").evaluateAll((all) => all.map((it) => ({ said: it.textContent, left: it.getBoundingClientRect().left, top: it.getBoundingClientRect().top })));
      assert.deepEqual(quotes.map((it) => it.said), ["الأربعاء", "الخميس", "明日の京都は午後→前から雨が降りますので…"], place);
      assert.match(await line.innerText(), /answer differs: expected “.*” → actual “.*answer differs: expected → actual: “明日/, "the first difference has words");
      assert((await line.locator("[title='left: expected, right: actual']").count()) >= 2, "arrows have titles");
      assert(quotes[0].top + 8 < quotes[1].top || quotes[0].left < quotes[1].left, `${place}: expected comes first`);
      assert.deepEqual([await line.locator("del").innerText(), await line.locator("ins").innerText()], ["後", "前"], place);
    }
    await accessible(page, "scripts");
    await close(page);
  },

  async "the turn that ended a run is marked, with the call that had no response, and the frames of a traceback before the agent's own are folded"() {
    const wait = { function_call: { id: "c1", name: "get_warnings", args: { area: "Kiel Bight" } } };
    const late = played(tools, "late", [
      ["wind", { calls: [["get_wind", { area: "Kiel Bight" }]], parts: "4 knots." }, { calls: [["get_wind", { area: "Kiel Bight" }]], parts: "4 knots." }],
      ["warnings", { calls: [["get_warnings", { area: "Kiel Bight" }]], parts: "None." }, { events: [wait], hangs: true }],
    ], ["--timeout", "2s"]);
    let page = await opened(tools, late);
    assert.match(await page.locator(".next").innerText(), /get_warnings gave no response within 2s\. Whether it hangs or is slow cannot be told[^]*Run it again[^]*--timeout 2s[^]*Give it more time[^]*--timeout 20s/);
    const turn = page.locator("#detail .turn.bad");
    assert.match(await turn.innerText(), /Turn 2 of 2\s*error[^]*! no response\s+get_warnings\(area: "Kiel Bight"\)/);
    assert.equal((await page.locator("#detail").innerText()).split("timed out after 2s").length, 2, "it is said once");
    assert.equal(await page.locator("#detail .lead code").innerText(), "timeout", "a name is code");
    await accessible(page, "a time limit");
    await close(page);
    const frames = Array.from({ length: 40 }, (_, at) => `  File "frame${at}.py", line 3, in run`).join("\n");
    const raised = played(tools, "raised", [["one", "Fine.", "Fine."], ["two", "Fine.", { error: `Traceback (most recent call last):\n${frames}\nKeyError: 'child'` }], ["three", "Fine.", "Fine."]]);
    for (const viewport of [{ width: 1440, height: 900 }, PHONE]) {
      page = await opened(tools, raised, { viewport });
      const lines = page.locator(".error-text");
      assert(await lines.evaluate((it) => it.scrollHeight <= it.clientHeight), "it is whole");
      assert.match(await lines.innerText(), /Traceback[^\n]*\s+36 frames before\s+\|?\s*File "frame36\.py", line 3, in run\n[^]*frame39[^]*KeyError: 'child'/);
      assert(!(await lines.innerText()).includes("frame35.py"));
      await lines.locator("summary").click();
      assert.match(await lines.innerText(), /frame0\.py[^]*frame35\.py/);
      assert(await inSight(page, ".next"), "what to do is in sight");
      assert.match(await page.locator("#detail .turn.bad > summary").innerText(), /Turn 2 of 3\s*error/);
      await accessible(page, "a traceback");
      await close(page);
    }
  },

  async "images are shown, and an answer is word for word only with the same ones"() {
    const file = played(tools, "media", [
      ["sky", "Here it is.", [text("Here it is."), image()]],
      ["same", [text("Here."), image()], [text("Here."), image()]],
      ["other", [text("Here."), image()], [text("Here."), { inline_data: { mime_type: "image/svg+xml", data: btoa("<svg onload=alert(1)>") } }]],
      ["words", "It is sunny.", { calls: [["draw", {}, { content: [{ type: "image", data: PNG, mimeType: "image/png" }] }]], parts: "Rain and wind today" }],
    ]);
    const page = await opened(tools, file);
    const turn = (at) => page.locator("#detail .turn").nth(at);
    assert.deepEqual(await page.locator("#detail .turn").evaluateAll((all) => all.map((it) => it.open)), [false, false, false, true], "what failed is open alone");
    await shot(page, "case-media", { kept: false });
    for (const [at, said, thumbs] of [
      [0, /The text is the same, what is beside it is not\.[^]*nothing beside the text[^]*\[image\/png, 73 bytes\]/, 1],
      [1, /Answer, word for word as expected[^]*\[image\/png/, 1],
      [2, /The text is the same, what is beside it is not\.[^]*\[image\/png[^]*\[image\/svg\+xml, 21 bytes\]/, 1],
    ]) {
      assert.match(await turn(at).textContent(), said, String(at));
      assert.equal(await turn(at).locator("img").count(), thumbs, String(at));
    }
    // The image in a tool's result is a thumbnail, and its bytes are in no text.
    const drawn = turn(3).locator(".calls tr", { hasText: "draw" });
    assert.match(await drawn.textContent(), /returned {"content":\[{"type":"image","data":"\[image\/png, 73 bytes\]","mimeType":"image\/png"}\]}/);
    assert.equal(await drawn.locator("img").count(), 1);
    await turn(0).evaluate((it) => { for (let node = it; node; node = node.parentElement.closest("details")) node.open = true; });
    const thumb = turn(0).getByRole("button", { name: "[image/png, 73 bytes]" });
    await thumb.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector("#detail .turn img").naturalWidth === 2);
    await thumb.press("Enter");
    assert.equal(await thumb.getAttribute("aria-pressed"), "true");
    await accessible(page, "images");
    await close(page);
  },

  async "Markdown and JSON are rendered on demand, as elements without links"() {
    const markdown = "# Plan\n\nTake **two** days and `go`.\n\n- first\n  1. inner\n     - deepest\n       goes on\n  2. last\n- see [the map](javascript:alert(1))\n\n3. one\n\n> quoted *text*\n\n```js\nlet x = \"<b>\";\n```\n![alt](http://127.0.0.1:9/x.png)\n<img src=x onerror=alert(1)>";
    const file = played(tools, "marked", [
      ["# Please", markdown, markdown],
      ["json", "[1.0, {\"a\": \"<b>\"}]", "[1.0, {\"a\": \"<b>\"}]"],
      ["bad", "It is sunny.", "Rain and wind today"],
    ]);
    const page = await opened(tools, file);
    assert.deepEqual(await page.locator("#detail .turn").evaluateAll((all) => all.map((it) => it.open)), [false, false, true]);
    await shot(page, "case-markdown", { kept: false });
    for (const it of await page.locator("#detail details").all()) await it.evaluate((node) => { node.open = true; });
    const answer = page.locator("#detail .turn").first().locator(".message").nth(1);
    await answer.getByRole("button", { name: "rendered" }).press("Enter");
    const made = answer.locator(".rendered");
    for (const [tag, said] of [["h4", "Plan"], ["strong", "two"], ["ul > li > ol > li > ul > li", "deepest\ngoes on"], ["ul > li > ol > li:nth-child(2)", "last"], [":scope > ul > li:nth-child(2) u", "the map"], [":scope > ol[start=\"3\"] > li", "one"], ["blockquote em", "text"], ["pre code", "let x = \"<b>\";"]]) {
      assert.equal(await made.locator(tag).first().innerText(), said, tag);
    }
    assert.match(await made.innerText(), /the map \(javascript:alert\(1\)\)[^]*\[image: alt\] \(http[^]*<img src=x onerror/);
    assert.equal(await page.locator("#detail :is(a, img)").count(), 0);
    await accessible(page, "rendered Markdown");
    await answer.getByRole("button", { name: "as text" }).click();
    assert.equal(await made.count(), 0);
    const json = page.locator("#detail .turn").nth(1).locator(".message").last();
    await json.getByRole("button", { name: "rendered" }).click();
    assert.equal((await json.locator("code").innerText()).replace(/\s+/g, " "), "[ 1.0, { \"a\": \"<b>\" } ]");
    await close(page);
  },

  async "hostile texts stay texts in all views"() {
    const turns = HOSTILE.map((it, at) => [`${at}`, { calls: [["f", { [it]: it, same: it }]], parts: `# **x** ${it} \`${it}\`` }, { calls: [["f", { [it]: `${it}!`, same: it }]], parts: `# **y** ${it} [${it}](${it})` }]);
    const page = await opened(tools, played(tools, "foreign", turns));
    await page.locator("#detail .turn").first().waitFor();
    for (const name of ["inline", "side by side", "raw"]) {
      await view(page, name);
      await page.evaluate(() => {
        for (const it of document.querySelectorAll("#detail details")) it.open = true;
        for (const it of document.querySelectorAll("#detail .folded")) it.click();
        for (const it of document.querySelectorAll("#detail .copy")) if (it.textContent === "rendered") it.click();
      });
      const made = await page.evaluate(() => ({
        foreign: document.querySelectorAll("#detail :is(script, img, a, iframe, svg:not(.bar)), [onerror], [onload], [onmouseover], [onfocus]").length,
        steering: /[\u202a-\u202e\u2066-\u2069\u001b\u0000\ud800-\udfff]/.test(document.body.innerText),
      }));
      assert.deepEqual(made, { foreign: 0, steering: false }, name);
    }
    assert((await page.locator("#detail .rendered").count()) > 0, "texts are rendered");
    assert.match(await page.title(), /cargo evalset$/, "nothing ran");
    await close(page);
  },

  async "a judge has a card, with its votes, its reason and the rubrics"() {
    const folder = join(tools.root, "card");
    const vote = (verdict, reasoning) => JSON.stringify({ reasoning, is_the_agent_response_valid: verdict });
    journal(folder, 7, {
      said: () => "It is windy in Paris.", events: 1, metric: "final_response_match_v2", rubric: () => "kind", why: () => "It is not kind.",
      asked: () => ({ model: "gemini-2.5-flash", template: "final_response_match_v2/2", prompt: "You compare.\nTwo answers.", answers: [vote("invalid", "Wind is no sun."), vote("valid", "Both name Paris."), vote("invalid", "It is wrong.")] }),
    });
    const page = await opened(tools, tools.report(folder));
    const card = page.locator("#detail .judge");
    assert.match(await card.innerText(), /failed\s*final_response_match_v2\s*0\.5, needed ≥ 0\.8\s*2 of 3 say invalid\s+Wind is no sun\.\s+asked gemini-2\.5-flash/);
    assert.deepEqual(await card.locator(".rubrics tbody td").allInnerTexts(), ["kind", "0.5", "It is not kind."]);
    assert.equal(await card.locator(".prompt:visible").count(), 0, "the prompt is folded");
    await card.getByText("Vote 3 of 3: ").press("Enter");
    assert.match(await card.innerText(), /reasoning: It is wrong\./);
    await card.getByText("The prompt: final_response_match_v2/2").press("Enter");
    assert.match(await card.locator(".prompt").innerText(), /You compare\.\nTwo answers\./);
    await accessible(page, "the card of a judge");
    await close(page);
  },

  async "an answer of ten megabytes is cut"() {
    const folder = join(tools.root, "long");
    journal(folder, 1, { said: () => "word ".repeat(2_000_000), events: 0 });
    const file = tools.report(folder);
    assert(statSync(file).size < 2_000_000, "the page is small");
    const page = await tools.open(file);
    await page.keyboard.press("j");
    await page.locator("#detail h2").waitFor();
    assert.match(await page.locator("#detail").innerText(), /cut: the record has [\d]+ more characters/);
    await close(page);
  },
});
