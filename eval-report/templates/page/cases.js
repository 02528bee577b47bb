// The table of the cases. Without this script the page is the table alone; the script filters and searches it, and opens cases.

const rows = [...document.querySelectorAll("tr.case")];
const list = document.getElementById("list");
const detail = document.getElementById("detail");
const search = document.getElementById("search");
const shown = document.getElementById("shown");
const none = document.getElementById("none");
const printed = document.getElementById("printed");
const buttons = [...document.querySelectorAll("[data-filter]")];
const places = new Map(rows.map((row, at) => [row.id, at]));
let filter = "all";
let open = null;
let scrolled = 0;

// Cases that a server sent since the page was loaded, by their places.
const sent = new Map();

function jsonOf(at) {
  return sent.has(at) ? sent.get(at) : document.getElementById("data-" + at).textContent;
}

function detailsOf(at) {
  return JSON.parse(jsonOf(at));
}

// ---- The table

const words = [];

// Whether a text of a case contains this one, which is in lower case.
function says(at, query, inJson) {
  if (words[at] === undefined) {
    // Most cases do not have it, and need not be read.
    const json = jsonOf(at);
    if (!json.toLowerCase().includes(inJson)) return false;
    const found = [];
    const collect = (value) => {
      if (typeof value === "string") found.push(value);
      else if (value && typeof value === "object") Object.values(value).forEach(collect);
    };
    collect(JSON.parse(json));
    words[at] = found.join("\n").toLowerCase();
  }
  return words[at].includes(query);
}

// A text as the JSON of the page has it.
function asJson(text) {
  return JSON.stringify(text).slice(1, -1).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

let searching = 0;

// Shows the rows that fit. Ten thousand are looked at in parts, so that typing never waits.
function show() {
  const query = search.value.trim().toLowerCase();
  const inJson = asJson(query);
  const mine = ++searching;
  let at = 0;
  let count = 0;
  const part = () => {
    if (mine !== searching) return;
    const end = performance.now() + 30;
    // The browser lays out what changed in one go.
    let changed = 0;
    while (at < rows.length && changed < 1000 && performance.now() < end) {
      const row = rows[at];
      const fits = (filter === "all" || row.dataset.filters.split(" ").includes(filter))
        && (!query || row.textContent.toLowerCase().includes(query) || says(at, query, inJson));
      if (row.hidden === fits) {
        row.hidden = !fits;
        changed += 1;
      }
      count += fits;
      at += 1;
    }
    if (at < rows.length) {
      shown.textContent = "searching …";
      setTimeout(part, changed ? 20 : 0);
      return;
    }
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} cases`;
    none.hidden = count > 0;
  };
  part();
}

function choose(name) {
  filter = name;
  for (const it of buttons) it.setAttribute("aria-pressed", String(it.dataset.filter === name));
  show();
}

function firstBad(of) {
  const at = of.runs.findIndex((run) => run.state !== "passed");
  return Math.max(at, 0);
}

function openCase(at) {
  if (open === null) scrolled = scrollY;
  else rows[open].removeAttribute("aria-current");
  open = at;
  const of = detailsOf(at);
  openRun = firstBad(of);
  const title = el("h2", "", of.name);
  detail.replaceChildren(
    el("div", "case-head", el("span", "state " + of.state, of.word), title,
      el("span", "tabs", button("‹ previous", () => step(-1)), button("next ›", () => step(1)), button("Close", close)), jumps()),
    ...body(of, false));
  detail.hidden = false;
  document.body.classList.add("open");
  rows[at].setAttribute("aria-current", "true");
  detail.scrollTop = 0;
  if (getComputedStyle(list).display === "none") detail.scrollIntoView();
  else rows[at].scrollIntoView({ block: "nearest" });
  detail.focus({ preventScroll: true });
  reveal(detail);
}

function closeCase() {
  if (open === null) return;
  const row = rows[open];
  row.removeAttribute("aria-current");
  open = null;
  detail.hidden = true;
  detail.replaceChildren();
  document.body.classList.remove("open");
  scrollTo(0, scrolled);
  row.querySelector("a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function close() {
  location.hash = "cases";
}

// Goes to the next row that is shown, or to the first one.
function step(by) {
  let at = open === null ? (by > 0 ? 0 : rows.length - 1) : open + by;
  while (rows[at] && rows[at].hidden) at += by;
  if (rows[at]) location.hash = rows[at].id;
}

function follow() {
  const at = places.get(location.hash.slice(1));
  if (at === undefined) closeCase();
  else openCase(at);
}

// ---- Events

for (const it of buttons) it.addEventListener("click", () => choose(it.dataset.filter));
for (const dot of document.querySelectorAll("[data-case]")) {
  dot.addEventListener("click", () => { location.hash = dot.dataset.case; });
}
document.getElementById("reset").addEventListener("click", () => {
  search.value = "";
  choose("all");
});
let typing;
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(show, 120);
});
addEventListener("hashchange", follow);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === search) {
    if (event.key === "Escape") search.blur();
    return;
  }
  const action = { j: () => step(1), k: () => step(-1), "/": () => search.focus(), Escape: close }[event.key];
  if (!action || (event.key === "Escape" && open === null)) return;
  event.preventDefault();
  action();
});
// The open case is printed, else the first of those that failed.
addEventListener("beforeprint", () => {
  if (open !== null) return;
  const bad = rows.flatMap((row, at) => (row.matches(".failed, .error, .not_evaluated, .unfinished") && !row.hidden ? [at] : []));
  printed.replaceChildren(...bad.slice(0, 25).map((at) => {
    const of = detailsOf(at);
    return el("div", "", el("h2", "", `${of.word} ${of.name}`), ...body(of, true));
  }));
  printed.hidden = false;
});
addEventListener("afterprint", () => {
  printed.replaceChildren();
  printed.hidden = true;
});

document.querySelector(".tools").hidden = false;
follow();

// Tells a server's script of the page, so that it can change cases while tests run.
if (window.evalsetLive) window.evalsetLive({ 
  rows, places, words, sent, show, follow,
  list: list.querySelector("tbody"),
  opened: () => open,
  again() {
    const of = detailsOf(open);
    const head = detail.querySelector(".case-head .state");
    head.className = "state " + of.state;
    head.textContent = of.word;
    detail.replaceChildren(detail.firstElementChild, ...body(of, false));
    tellCount();
  },
  addFilter(it) {
    buttons.push(it);
    it.addEventListener("click", () => choose(it.dataset.filter));
    document.querySelector(".filters").append(it);
  },
});
