// The page of a run while tests run: the service renders the changes, and what is open, unfolded, chosen and typed stays.
window.evalsetLive = (page) => {
"use strict";
const { ask, load, on, take } = evalset;
const run = document.body.dataset.run;
if (!run) return;
let version = document.body.dataset.version;
let asking = false;
let wanted = false;
let later;

const connection = document.getElementById("connection");
const ahead = Date.now() - Number(document.body.dataset.now);

function lasted(seconds) {
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  return hours ? `${hours} h ${minutes % 60} min` : minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

// Says how long each turn has been in work. Without a connection it is not known whether it still is: then when it began.
function tick() {
  for (const it of document.querySelectorAll("[data-began]")) {
    const { began } = it.dataset;
    const seconds = Math.max(0, Math.floor((Date.now() - ahead - Date.parse(began)) / 1000));
    const text = connection.className === "on" ? `, since ${lasted(seconds)}` : `, since ${began.slice(0, 19).replace("T", " ")} UTC`;
    if (it.textContent !== text) it.textContent = text;
  }
}
setInterval(tick, 1000);

const foldsOf = (node) => [...node.querySelectorAll("details")];

// Shows the open case again: what was unfolded and where it was scrolled to stays.
function reopen() {
  const detail = document.getElementById("detail");
  const name = (fold) => fold.firstElementChild.firstChild.textContent;
  const folds = new Map(foldsOf(detail).map((fold) => [name(fold), fold.open]));
  const [inner, outer] = [detail.scrollTop, scrollY];
  page.again();
  for (const fold of foldsOf(detail)) fold.open = folds.get(name(fold)) ?? fold.open;
  detail.scrollTop = inner;
  scrollTo(scrollX, outer);
}

function apply(news) {
  version = news.body.dataset.version;
  document.title = news.title;
  document.querySelector("link[rel=icon]").href = news.querySelector("link[rel=icon]").href;
  for (const part of ["header", ".filters", "thead", "#below"]) take(document.querySelector(`body > ${part}, main ${part}`), news.querySelector(part));
  const details = news.querySelectorAll("script");
  // In the middle of what is read, a row keeps its place on the screen while others are sorted before it.
  const seen = scrollY > 0 ? document.elementFromPoint(innerWidth / 4, innerHeight / 2)?.closest("tr.case") : null;
  const top = seen?.getBoundingClientRect().top;
  let isOpen = false;
  news.querySelectorAll("tr.case").forEach((fresh, nth) => {
    let at = page.places.get(fresh.id);
    if (at === undefined) {
      at = page.rows.push(document.importNode(fresh, true)) - 1;
      page.places.set(fresh.id, at);
    } else take(page.rows[at], fresh);
    page.sent.set(at, details[nth].textContent);
    page.words[at] = undefined;
    isOpen ||= at === page.opened();
  });
  page.pressed();
  if (isOpen) reopen();
  else if (page.opened() === null && page.places.has(location.hash.slice(1))) page.follow();
  tick();
  if (!details.length) return;
  page.changed();
  page.show(() => { if (seen && !seen.hidden) scrollBy(0, seen.getBoundingClientRect().top - top); });
}

async function refresh() {
  clearTimeout(later);
  if (asking) { wanted = true; return; }
  asking = true;
  let pause = null;
  try {
    const news = await load(`/runs/${encodeURIComponent(run)}/changes?after=${version}`);
    apply(news);
    pause = news.body.dataset.again ?? null;
  } catch (error) {
    if (error.status === 404) document.querySelector("h1").textContent = "This run is not there any more";
    else if (error.status === undefined) throw error;
  }
  asking = false;
  if (wanted) { wanted = false; pause ??= 0; }
  if (pause !== null) later = setTimeout(refresh, Number(pause));
}

on("all", () => { refresh(); tick(); });
on("run", (news) => { if (news.run === run) refresh(); });

// The run that was started here can be cancelled here.
const started = document.getElementById("job");
const cancel = document.getElementById("cancel");
cancel.addEventListener("click", () => {
  cancel.disabled = true;
  ask("/run/cancel", {}).catch((error) => { started.lastElementChild.textContent = error.message; });
});
on("job", (job) => {
  started.hidden = job.run !== run || !(job.running || cancel.disabled);
  cancel.hidden = !job.running;
  if (!job.running) started.lastElementChild.textContent = job.ended || "";
});
};
