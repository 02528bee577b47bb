// The list of runs: rows change while tests run, and a run can be started.
(() => {
"use strict";
const { ask, el, load, on, take } = evalset;
let asking = false;
let wanted = false;
// The page may ask for a ninth of the time: the list reads the runs that grow.
let earliest = 0;
let later;

// Takes the list as the service renders it now.
async function refresh() {
  clearTimeout(later);
  if (asking) { wanted = true; return; }
  const began = performance.now();
  if (began < earliest) { later = setTimeout(refresh, earliest - began); return; }
  asking = true;
  try {
    const news = await load("/?list");
    for (const part of ["#rate", "#runs tbody", "#no-runs"]) {
      const [old, fresh] = [document, news].map((of) => of.querySelector(part));
      old.hidden = fresh.hidden;
      take(old, fresh);
    }
  } catch { /* The line at the top says that there is no connection. */ }
  earliest = performance.now() + 8 * (performance.now() - began);
  asking = false;
  if (wanted) { wanted = false; refresh(); }
}

on("all", refresh);
on("run", refresh);

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
