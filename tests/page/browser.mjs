// What the scripts of this folder share: their arguments, the browser, and what is asked of every page.
//
// Needs Chromium (its path in CHROMIUM, else on the PATH), and the packages of package.json in a folder node_modules above this
// file or in NODE_MODULES.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { small } from "./png.mjs";

const require = createRequire(process.env.NODE_MODULES ? join(resolve(process.env.NODE_MODULES), "x") : import.meta.url);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [, , program, folder, only] = process.argv;
export const evalset = resolve(program);
const screenshots = resolve(folder);
mkdirSync(screenshots, { recursive: true });

// A shared machine may be slow: the limits are those of a desk, times this. The program refuses variables that it does not know.
export const SLOW = Number(process.env.PAGE_SLOW || 1);
export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

const onPath = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
const executablePath = process.env.CHROMIUM || onPath("chromium") || onPath("google-chrome");
assert(executablePath, "there is no Chromium: install it, or name it in CHROMIUM");
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

/** Notes what a page must not do: ask what is not its own, log an error or open a dialog. */
export function watch(page, isOwn) {
  page.problems = [];
  page.on("request", (request) => {
    if (!isOwn(request.url()) && !request.url().startsWith("data:")) page.problems.push("asked for " + request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.problems.push(message.text());
  });
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("dialog", (dialog) => {
    page.problems.push("opened a dialog");
    dialog.dismiss();
  });
  return page;
}

/** Closes a page that did nothing of this. */
export async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

/** What axe-core finds that hinders people, contrast included. */
export async function accessible(page, what) {
  // The policy of the page lets no script in; the protocol of the browser does.
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
  const grave = found.violations.map((it) => `${it.id} (${it.impact}): ${it.help}: ${it.nodes.map((node) => node.html).slice(0, 3).join("  ")}`);
  assert.deepEqual(grave, [], what);
}

/** A picture. One that is kept can stand in a repository. */
export async function shot(page, name, { kept = true, ...options } = {}) {
  const picture = small(await page.screenshot(options));
  assert(!kept || picture.length <= 100_000, `${name}.png has ${picture.length} bytes`);
  writeFileSync(join(screenshots, name + ".png"), picture);
}

/** Runs the tests, or those with the third argument in their name, and ends the process. */
export async function runTests(tests, root) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    try {
      await test();
      console.log("ok   " + name);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  if (!process.env.KEEP) rmSync(root, { recursive: true, force: true });
  process.exit(failed ? 1 : 0);
}
