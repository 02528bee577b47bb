// The list of runs: rows change while tests run, and a run can be started.
(() => {
"use strict";
const { ask, el, on } = evalset;
const table = document.querySelector("#runs tbody");

function cell(name, ...children) {
  const node = el("td", name, ...children);
  node.setAttribute("role", "cell");
  return node;
}

function progress(run, done) {
  if (!run.running) return null;
  const bar = el("progress", "");
  bar.max = Math.max(run.planned || run.cases, 1);
  bar.value = done;
  bar.setAttribute("aria-label", `${done} of ${bar.max} cases decided`);
  return bar;
}

function fill(row, run, done) {
  const link = row.querySelector("a") || el("a", "");
  link.href = "/runs/" + encodeURIComponent(run.id);
  link.textContent = run.when;
  const had = row.contains(document.activeElement);
  row.replaceChildren(
    cell("", el("span", "state " + run.outcome, run.outcome)),
    cell("name", link, run.reason ? el("span", "why", run.reason) : null),
    cell("number", `${run.passed} of ${run.planned || run.cases}`, progress(run, done)),
    cell("number", run.took),
    cell("what", run.what ? el("code", "", run.what) : null));
  if (had) link.focus({ preventScroll: true });
}

const known = new Map();
let asking = null;
let askAgain = false;

// Asks for all runs. Rows stay where they are; new ones come first.
async function refresh() {
  if (asking) { askAgain = true; return; }
  asking = ask("/runs");
  try {
    const { runs } = await asking;
    const rows = new Map([...table.children].map((row) => [row.dataset.run, row]));
    table.replaceChildren(...runs.map((run) => {
      known.set(run.id, run);
      const row = rows.get(run.id) || el("tr", "");
      row.setAttribute("role", "row");
      row.dataset.run = run.id;
      const text = JSON.stringify(run);
      if (row.shownAs !== text) fill(row, run, run.decided);
      row.shownAs = text;
      return row;
    }));
    document.getElementById("no-runs").hidden = runs.length > 0;
  } catch { /* The line at the top says that there is no connection. */ }
  asking = null;
  if (askAgain) { askAgain = false; refresh(); }
}

on("all", refresh);
on("run", (news) => {
  const run = known.get(news.run);
  const row = [...table.children].find((it) => it.dataset.run === news.run);
  if (!run || !row || run.running !== news.running || !news.running) { refresh(); return; }
  const parts = [[news.passed, "passed"], [news.failed, "failed"], [news.others, "without a verdict"], [news.skipped, "skipped"],
    [news.unfinished, "in work"], [news.planned - news.cases, "to begin"]];
  const reason = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`).join(", ");
  Object.assign(run, { reason, passed: news.passed, cases: news.cases, planned: news.planned });
  fill(row, run, news.passed + news.failed + news.others + news.skipped);
  row.shownAs = "";
});

// ---- The run that is started here

const form = document.getElementById("start");
if (form) {
  const cancel = document.getElementById("cancel");
  const status = document.getElementById("job");
  const output = document.getElementById("output");
  const said = output.querySelector("pre");
  const begin = form.querySelector("[type=submit]");

  const show = (job) => {
    begin.disabled = job.running;
    cancel.hidden = !job.running;
    output.hidden = !job.said.length && !job.running;
    if (job.running) output.open = true;
    said.textContent = job.said.map((line) => line + "\n").join("");
    if (!job.run) { status.replaceChildren(); return; }
    const link = el("a", "", "Open the run");
    link.href = "/runs/" + encodeURIComponent(job.run);
    status.replaceChildren(job.running ? "The run is in work. " : `The run ended: ${job.ended || "its end is not known"}. `, link);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sets = [...form.querySelectorAll("[name=set]:checked")].map((box) => box.value);
    if (!sets.length) { status.textContent = "Choose one or more sets."; return; }
    status.textContent = "Starting …";
    begin.disabled = true;
    try {
      await ask("/run", { sets, runs: Number(form.elements.runs.value) });
    } catch (error) {
      status.textContent = error.message;
      begin.disabled = false;
    }
  });
  cancel.addEventListener("click", () => ask("/run/cancel", {}).catch((error) => { status.textContent = error.message; }));
  on("job", show);
  on("said", ({ line }) => {
    said.append(line + "\n");
    said.scrollTop = said.scrollHeight;
  });
}
})();
