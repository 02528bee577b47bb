// How long the page of many cases keeps a person waiting. `page.py` starts it, and says what the numbers are to be.
//
//   node benches/page.mjs CARGO-EVALSET FOLDER
//
// Writes them to FOLDER/page.json.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { WIDE, browser, evalset } from "../tests/page/browser.mjs";
import { journal } from "../tests/page/journals.mjs";

const root = mkdtempSync(join(tmpdir(), "evalset-page-"));

async function measured(count) {
  const folder = join(root, String(count));
  const words = "It is sunny in Paris today, and it will be cloudy tomorrow. ".repeat(8);
  journal(folder, count, { said: (n) => `${n}: ${words}` });
  const file = join(folder, "report.html");
  const env = { ...process.env, EVALSET_RUN_ID: "", EVALSET_DIR: join(folder, "target/evalset") };
  const ran = spawnSync(evalset, ["report", "--html", file], { cwd: folder, encoding: "utf8", env });
  if (ran.status !== 1) throw new Error(`${ran.status ?? ran.error}: ${ran.stderr}`);
  const context = await browser.newContext({ viewport: WIDE });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((all) => window.tasks.push(...all.getEntries().map((it) => it.duration))).observe({ type: "longtask", buffered: true });
  });
  // What the page keeps a processor busy with, whatever else this machine does.
  const metrics = await context.newCDPSession(page);
  await metrics.send("Performance.enable", { timeDomain: "threadTicks" });
  const began = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.locator("tr.case a").first().click();
  await page.locator("#detail h2").waitFor();
  const usable = performance.now() - began;
  const busy = (await metrics.send("Performance.getMetrics")).metrics.find((it) => it.name === "TaskDuration").value * 1000;
  // The observer hears of a task after it, so what loading took is complete only after a pause.
  const longest = async () => {
    await page.waitForTimeout(300);
    return Math.max(0, ...await page.evaluate(() => window.tasks.splice(0)));
  };
  const loading = await longest();
  await page.keyboard.press("Escape");
  const shows = (wanted) => page.waitForFunction((wanted) => document.querySelectorAll("tr.case:not([hidden])").length === wanted, wanted);
  const first = (anchor) => page.waitForFunction((anchor) => [...document.querySelectorAll("tr.case")].find((row) => !row.hidden).id === anchor, anchor);
  // Equal failures are one row; without groups all rows are shown.
  await shows(count - Math.floor(count / 7) + 1);
  await page.locator("#group").selectOption("");
  await shows(count);
  await page.locator("#sort").selectOption("name");
  await first("case-weather::case_1");
  await page.locator("#group").selectOption("state");
  await first("case-weather::case_1");
  await page.locator("#sort").selectOption("urgency");
  await first("case-weather::case_7");
  await page.locator("#group").selectOption("");
  await shows(count);
  await page.getByRole("searchbox").fill(`${count - 1}: it is sunny`);
  await shows(1);
  await page.getByRole("searchbox").fill("");
  await shows(count);
  for (const part of [0.25, 0.5, 0.75, 1, 0]) {
    await page.evaluate((part) => scrollTo(0, document.body.scrollHeight * part), part);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  const using = await longest();
  await context.close();
  return { cases: count, megabytes: statSync(file).size / 1e6, usable, busy, loading, using };
}

const all = [await measured(1000), await measured(10_000)];
writeFileSync(join(process.argv[3], "page.json"), JSON.stringify(all));
await browser.close();
rmSync(root, { recursive: true, force: true });
